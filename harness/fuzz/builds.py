# SPDX-License-Identifier: Apache-2.0
"""The build folders with fuzz targets: made when they are missing, brought up to date when they are not."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.build import ROOT, build
from harness.errors import HarnessError, UsageError

FUZZ = ROOT / "fuzz"
_NAME = re.compile(r'target_name\s*=\s*"(\w+)"')
_LICENCE = re.compile(r"/\* SPDX-License-Identifier: .*? \*/\n")
_OPENING = re.compile(r"/\*\s*(.+?)(?:\.\s|\.?\s*\*/|\n\s*\*\s*\n)", re.S)
# Takes another library than a loader: not part of --all.
OF_ICD = "vendor_icd"
_OF_VULKAN = "vulkan_"  # how the names of those begin that take a Vulkan loader


@dataclass(frozen=True)
class Kind:
    """One way to build the targets."""

    folder: str  # below the ordinary build folder
    compiler: str
    engine: str
    package: str  # of Debian: where the compiler is


LIBFUZZER = Kind("fuzzing", "clang", "libfuzzer", "clang")
AFL = Kind("fuzzing-afl", "afl-clang-fast", "afl", "afl++")


@cache
def targets() -> dict[str, str]:
    """The fuzz targets by name, each with its sentence: the first of its source."""
    sentences = {}
    for source in sorted((FUZZ / "targets").glob("*.c")):
        text = _LICENCE.sub("", source.read_text(encoding="utf-8"), count=1)
        if name := _NAME.search(text):
            opening = _OPENING.match(text)
            sentences[name[1]] = " ".join(re.sub(r"\n\s*\*", " ", opening[1]).split()) if opening else ""
    if not sentences:
        raise HarnessError(f"there are no fuzz targets in {FUZZ / 'targets'}; is this checkout complete?")
    return sentences


def is_of_vulkan(target: str) -> bool:
    """Whether a target takes a Vulkan loader in the place of one for OpenCL."""
    return target.startswith(_OF_VULKAN)


def seeds(target: str) -> Path:
    """The folder of a target's seed corpus."""
    return FUZZ / "corpus" / target


def dictionary(target: str) -> Path | None:
    """A target's dictionary; None where it needs none."""
    path = FUZZ / "dictionaries" / f"{target}.dict"
    return path if path.exists() else None


def afl_mutator() -> Path | None:
    """The library by which AFL++ makes the targets' own mutations; None where this build does not have it."""
    library = build().folder / "fuzz" / "libclharness_afl_mutator.so"
    return library if library.exists() else None


@dataclass(frozen=True)
class FuzzBuild:
    """A folder in which the targets are built."""

    folder: Path

    def program(self, target: str) -> Path:
        """The program that fuzzes."""
        return self.folder / "fuzz" / f"fuzz_{target}"

    def replay(self, target: str) -> Path:
        """The program that runs one input, without an engine."""
        return self.folder / "fuzz" / f"replay_{target}"

    def reference_loader(self, vulkan: bool = False) -> Path:
        """The instrumented reference loader, of OpenCL or of Vulkan."""
        return self._loaders(vulkan) / _library(vulkan)

    def seeded_loader(self, vulkan: bool = False) -> Path:
        """The instrumented reference loader with all mutants, of OpenCL or of Vulkan."""
        return self._loaders(vulkan) / "seeded" / _library(vulkan)

    def planted_loader(self) -> Path:
        """The loader with the faults of planted.toml."""
        return self._loaders(False) / "planted" / _library(False)

    def _loaders(self, vulkan: bool) -> Path:
        folder = self.folder / "harness" / "reference_loader"
        return folder / "vulkan" if vulkan else folder


def _library(vulkan: bool) -> str:
    return "libvulkan.so.1" if vulkan else "libOpenCL.so.1"


def make(kind: Kind, names: Sequence[str], seeded: bool = False, planted: bool = False) -> FuzzBuild:
    """Builds the named targets and the instrumented reference loader, and its copies with faults that are asked for."""
    fuzz_build = FuzzBuild(build().folder / kind.folder)
    compiler = shutil.which(kind.compiler)
    if compiler is None:
        raise HarnessError(f"{kind.compiler} is not installed, and the fuzz targets need it: {install(kind.package)}")
    if kind.engine == "libfuzzer":
        _require_runtime(compiler)
    vulkan = any(map(is_of_vulkan, names))
    if vulkan:
        build().with_vulkan()
    loader = "clharness_vulkan" if vulkan else "clharness"
    targets = [f"clharness_fuzz_{name}" for name in names] + [f"{loader}_reference_loader"]
    if seeded:
        targets.append(f"{loader}_seeded_loader")
    if planted:
        targets.append("clharness_planted_loader")
    options = [f"-DCMAKE_C_COMPILER={compiler}", f"-DCLHARNESS_FUZZ_ENGINE={kind.engine}"]
    compile_folder(fuzz_build.folder, options, targets)
    return fuzz_build


def ordinary(names: Sequence[str]) -> FuzzBuild:
    """The ordinary build, in which the targets are without a fuzzer. Nothing is built there: runs may be using it."""
    ordinary_build = FuzzBuild(build().folder)
    if missing := [name for name in names if not ordinary_build.replay(name).exists()]:
        folder = ordinary_build.folder
        raise HarnessError(f"{ordinary_build.replay(missing[0])} is missing: build again, with cmake --build {folder}")
    return ordinary_build


def compile_folder(folder: Path, options: Sequence[str], targets: Sequence[str]) -> None:
    """Configures a build folder of this project where that is to be done, and builds some of its targets."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # the project's own tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        _compile_folder(folder, options, targets)


def _compile_folder(folder: Path, options: Sequence[str], targets: Sequence[str]) -> None:
    if not (folder / "CMakeCache.txt").exists():
        command = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCLHARNESS_BUILD_TESTS=OFF", "-DBUILD_TESTING=OFF"]
        command += [f"-DCLHARNESS_PYTHON={sys.executable}", *options]
        if headers := os.environ.get("CLHARNESS_OPENCL_HEADERS"):
            command.append(f"-DCLHARNESS_OPENCL_HEADERS={headers}")
        if shutil.which("ninja"):
            command += ["-G", "Ninja"]
        print(f"clharness: building the fuzz targets in {folder}", file=sys.stderr, flush=True)
        try:
            run_build(command, folder)
        except HarnessError:
            (folder / "CMakeCache.txt").unlink(missing_ok=True)
            raise
    run_build(["cmake", "--build", str(folder), "--parallel", _parallel(), "--target", *targets], folder)


def run_build(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Runs a command that builds into a folder. Raises HarnessError with the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        shown = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise HarnessError(f"the fuzz targets cannot be built in {folder}:\n{shown}\ncommand: {' '.join(command)}")


def install(package: str) -> str:
    """How to get a package on this machine, in words."""
    return f"apt-get install {package}" if Path("/etc/debian_version").exists() else f"install the package of {package}"


def _parallel() -> str:
    return os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))


def _require_runtime(compiler: str) -> None:
    """Debian has clang's sanitizers and libFuzzer in a package of their own, of the same version."""
    commands = [compiler, "-print-file-name=libclang_rt.fuzzer-x86_64.a"], [compiler, "-dumpversion"]
    path, version = (subprocess.run(command, capture_output=True, text=True).stdout.strip() for command in commands)
    here = Path(path).parent if "/" in path else _runtime_folder(compiler)
    if not any(here.glob("libclang_rt.fuzzer*")):
        package = f"libclang-rt-{version.partition('.')[0]}-dev"
        raise HarnessError(f"{compiler} has no libFuzzer, which the fuzz targets need: {install(package)}")


def _runtime_folder(compiler: str) -> Path:
    done = subprocess.run([compiler, "-print-runtime-dir"], capture_output=True, text=True)
    return Path(done.stdout.strip() or "/nonexistent")


def chosen_targets(names: Sequence[str], everything: bool, vulkan: bool = False) -> list[str]:
    """What the user asked for, in the order of the list; everything is all that takes such a loader.

    UsageError for an unknown one, and where they take different kinds of loaders.
    """
    known = targets()
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"{unknown[0]}: there is no such fuzz target; the targets are {', '.join(known)}")
    if everything:
        return [name for name in known if name != OF_ICD and is_of_vulkan(name) == vulkan]
    if len({is_of_vulkan(name) for name in names}) > 1:
        raise UsageError("targets of Vulkan loaders and of OpenCL's take different libraries: fuzz one kind at a time")
    return [name for name in known if name in names]
