# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` brings: it runs from any folder, for any user, and nothing is written into it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.build import build
from harness.sandbox.machine import NOBODY, is_root
from harness.subject.library import read_library
from tests.consumers import CHECK, LOADER, SUITES, Consumer, done, failed, run

NAME = "clharness.discovery.OpenCL::OpenCL"
# A few cases. Each home is new to the command, which collects a suite anew there, and need not collect them all.
FIFO = ("--suite", "discovery", "-k", "fifo")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="clharness-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def installed(place: Path) -> Path:
    """An installation with DESTDIR, moved to a folder whose name has a blank."""
    if not (build().folder / "cmake_install.cmake").exists():
        pytest.skip("this build is part of another one, which has no rules to install")
    stage = place / "stage"
    done("cmake", "--install", build().folder, "--prefix", "/opt/somewhere", DESTDIR=str(stage))
    assert sorted(path.name for path in stage.iterdir()) == ["opt"]
    moved = place / "moved there"
    (stage / "opt" / "somewhere").rename(moved)
    return moved


def listing(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def as_ordinary_user(home: Path, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a home of its own, with an environment of a few variables; compiled modules are shared."""
    if is_root():
        os.chown(home, NOBODY, NOBODY)
    user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root() else {}
    return subprocess.run(
        command,
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPYCACHEPREFIX": str(shared(home.parent))} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        **user,
    )


def shared(place: Path) -> Path:
    """A folder for compiled modules that every user can write to."""
    compiled = place / "compiled"
    compiled.mkdir(exist_ok=True)
    compiled.chmod(0o777)
    return compiled


@pytest.fixture
def new_home(place: Path) -> Path:
    """That of a user who has not run the command."""
    return Path(tempfile.mkdtemp(prefix="home", dir=place))


@pytest.fixture
def home(place: Path, new_home: Path) -> Path:
    """In which there is what others of them have compiled, and nothing else."""
    kept = new_home / ".cache" / "clharness"
    kept.mkdir(parents=True)
    (kept / "pycache").symlink_to(shared(place))
    if is_root():
        for folder in (kept, kept.parent):
            os.chown(folder, NOBODY, NOBODY)
    return new_home


def paths_in(value: object) -> Iterator[str]:
    """Every text of a JSON value."""
    if isinstance(value, dict):
        for part in value.values():
            yield from paths_in(part)
    elif isinstance(value, str):
        yield value


def test_libraries_that_installed_ones_need_are_installed(installed: Path) -> None:
    """Where a library of the build needs another one of it, both are there; one is absent on purpose."""
    parts = installed / "lib" / "clharness" / "parts"
    libraries = {path.name: read_library(path, "a library", "") for path in parts.rglob("*.so")}
    needed = {name for library in libraries.values() for name in library.needed if name.startswith("libclharness_")}
    assert needed - libraries.keys() == {"libclharness_absent.so"}


def test_every_part_of_the_build_is_installed(installed: Path) -> None:
    here = json.loads((build().folder / "clharness.json").read_text())
    place = next(installed.rglob("clharness.json"))
    there = json.loads(place.read_text())
    assert here.keys() - there.keys() == {"source", "build_with", "seeded_loader"} & here.keys()
    for kind in ("mock_icds", "mock_layers"):
        assert there[kind].keys() == here[kind].keys()
    assert bool(there["vulkan"]) == bool(here["vulkan"])
    parts = [path for path in paths_in(there) if path.startswith("parts/")]
    assert len(parts) > 30 and [path for path in parts if not (place.parent / path).is_file()] == []


def test_command_runs_for_an_ordinary_user_and_writes_nothing_beside_itself(installed: Path, new_home: Path) -> None:
    before, home = listing(installed), new_home
    loader = next(installed.rglob("libOpenCL.so.1"))
    command: list[str | Path] = [
        installed / "bin" / "clharness",
        "loader",
        loader,
        "-k",
        f"{CHECK} and not ordinary",
        "--suite",
        "discovery",
        "--keep",
    ]

    ran = as_ordinary_user(home, *command, "--json", "records.jsonl", PYTHONPYCACHEPREFIX="")

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "as expected, 5 cases" in ran.stdout
    assert listing(installed) == before
    assert {path.name for path in home.iterdir()} == {".cache", "records.jsonl"}
    kept = sorted((home / ".cache" / "clharness" / "failures").rglob("replay.sh"))
    assert len(kept) == 5

    replayed = as_ordinary_user(home, installed / "bin" / "clharness", "replay", kept[0].parent)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


def test_folder_for_what_is_kept_can_be_chosen(installed: Path, new_home: Path) -> None:
    command: list[str | Path] = [
        installed / "bin" / "clharness",
        "loader",
        next(installed.rglob("libOpenCL.so.1")),
        *FIFO,
    ]
    ran = as_ordinary_user(new_home, *command, CLHARNESS_OUTPUT="out")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {path.name for path in new_home.iterdir()} == {"out"}


def test_home_that_cannot_be_written_to_is_one_sentence(installed: Path, home: Path) -> None:
    command: list[str | Path] = [
        installed / "bin" / "clharness",
        "loader",
        next(installed.rglob("libOpenCL.so.1")),
        *FIFO,
    ]
    ran = as_ordinary_user(home, *command, HOME="/proc")
    assert ran.returncode == 3
    assert ran.stderr.startswith("clharness: cannot write to /proc/.cache/clharness")
    assert "CLHARNESS_OUTPUT" in ran.stderr and len(ran.stderr.splitlines()) == 1


def test_python_that_cannot_run_it_is_named(installed: Path, home: Path) -> None:
    command = installed / "bin" / "clharness"
    absent = as_ordinary_user(home, command, "requirements", CLHARNESS_PYTHON="/nowhere/python3")
    assert (absent.returncode, absent.stderr) == (
        3,
        "clharness: CLHARNESS_PYTHON: there is no program /nowhere/python3\n",
    )


@pytest.mark.parametrize("command", [["fuzz", "icd_file"], ["selftest"], ["mutants"], ["coverage"]])
def test_what_needs_a_checkout_says_so(installed: Path, home: Path, command: list[str]) -> None:
    """And advises nothing that cannot work here."""
    ran = as_ordinary_user(home, installed / "bin" / "clharness", *command)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "needs a checkout of clharness" in ran.stderr and len(ran.stderr.splitlines()) == 1


def test_expectations_of_the_installation_are_not_rewritten(installed: Path, home: Path) -> None:
    """Refused before the run, for root, too; a copy of the file is what is advised and what works."""
    library = shutil.copy(build().reference_loader, home)
    own = installed / "lib" / "clharness" / "harness" / "expectations" / "reference.toml"
    arguments = ["loader", str(library), "--suite", "discovery", "-k", CHECK, "--update-expectations"]
    command: list[str | Path] = [installed / "bin" / "clharness", *arguments]
    ran = as_ordinary_user(home, *command)
    assert ran.returncode == 2 and "belongs to the installation" in ran.stderr, ran.stdout + ran.stderr
    shutil.copy(own, home)
    copy = home / own.name
    copy.chmod(0o666)
    again = as_ordinary_user(home, *command, "--expect", copy)
    assert again.returncode == 0, again.stdout + again.stderr


# --- find_package ---


def test_package_tests_a_loader(installed: Path, tmp_path: Path) -> None:
    text = f"find_package(clharness 0.1 REQUIRED)\nenable_testing()\n{LOADER}{SUITES}"
    project = Consumer(tmp_path, text)
    project.add_loader()
    configured = project.configure(f"-DCMAKE_PREFIX_PATH={installed}")
    assert configured.returncode == 0, configured.stdout
    project.compile()
    sound = project.ctest("-V")
    assert sound.returncode == 0 and str(project.build / "libOpenCL.so") in sound.stdout, sound.stdout

    project.make_faulty()
    project.compile()
    faulty = project.ctest()
    assert failed(faulty) == [NAME] and "DISC-LNX-013" in faulty.stdout
    assert (project.build / "clharness-output" / "failures").is_dir()
    results = project.build / "clharness-results"
    assert (results / "clharness.discovery.OpenCL-OpenCL.xml").is_file()

    shutil.rmtree(results)
    again = project.ctest()
    assert "DISC-LNX-013" in again.stdout and len(list(results.iterdir())) == 1, again.stdout


@pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")
def test_package_tests_a_loader_of_clangs_sanitizers(installed: Path, tmp_path: Path) -> None:
    project = Consumer(tmp_path, f"find_package(clharness REQUIRED)\nenable_testing()\n{LOADER}{SUITES}")
    project.add_loader()
    flags = ("-DCMAKE_C_COMPILER=clang", "-DCMAKE_C_FLAGS=-fsanitize=address")
    configured = project.configure(f"-DCMAKE_PREFIX_PATH={installed}", *flags)
    assert configured.returncode == 0, configured.stdout
    project.compile()
    sound = project.ctest()
    assert sound.returncode == 0, sound.stdout

    project.make_faulty()
    project.compile()
    faulty = project.ctest()
    assert failed(faulty) == [NAME] and "DISC-LNX-013" in faulty.stdout


def test_package_is_found_by_a_project_of_an_older_cmake(installed: Path, tmp_path: Path) -> None:
    """The policies of the project do not hold for what it calls."""
    version = run("cmake", "--version").stdout.split()[2]
    minimum = "3.5" if int(version.partition(".")[0]) > 3 else "2.8.12"
    text = "find_package(clharness REQUIRED)\nenable_testing()\nadd_library(OpenCL SHARED empty.c)\n"
    project = Consumer(tmp_path, f"{text}clharness_add_suites(TARGET OpenCL SUITES discovery)\n", minimum=minimum)
    (project.folder / "empty.c").write_text("int nothing;\n")
    configured = project.configure(f"-DCMAKE_PREFIX_PATH={installed}")
    assert configured.returncode == 0, configured.stdout
    assert project.entries() == ["clharness.discovery.OpenCL"]


# Compiled, and linked without a C library: few machines have one for 32 bits.
M32 = (
    "-DCMAKE_C_FLAGS=-m32",
    "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    "-DCMAKE_SHARED_LINKER_FLAGS=-nostdlib",
)
X86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="32-bit libraries for x86 are those of another machine")


def project_of_32_bits(folder: Path) -> Consumer:
    text = "find_package(clharness 0.1 REQUIRED)\nenable_testing()\nadd_library(OpenCL SHARED loader.c)\n"
    project = Consumer(folder, f"{text}clharness_add_suites(TARGET OpenCL SUITES discovery)\n")
    (project.folder / "loader.c").write_text("int clGetPlatformIDs(int a, void *b, int *c) { return -1001; }\n")
    return project


@X86
def test_project_of_32_bits_finds_the_package_and_hears_what_it_lacks(installed: Path, tmp_path: Path) -> None:
    """With its version, which is that of both; what cannot be tested does not configure."""
    configured = project_of_32_bits(tmp_path).configure(f"-DCMAKE_PREFIX_PATH={installed}", *M32)
    assert configured.returncode != 0
    assert (
        "'OpenCL' is a 32-bit library, and this installation of clharness tests 64-bit ones: install a build for "
        "32 bits into the same folder (cmake/x86_32.cmake), or make clharness part of the project with "
        "add_subdirectory() or FetchContent, which builds it for 32 bits"
    ) in " ".join(configured.stdout.split())


@X86
def test_parts_for_32_bits_beside_the_others_are_for_libraries_of_32_bits(
    installed: Path, place: Path, home: Path, tmp_path: Path
) -> None:
    """Here they are the others in disguise, which cannot load such a library: the entry is red."""
    both = place / "both"
    shutil.copytree(installed, both, symlinks=True)
    (root,) = both.glob("lib*/clharness")
    (root / "x86-32").mkdir()
    content = json.loads((root / "clharness.json").read_text()) | {"bits": 32}
    (root / "x86-32" / "clharness.json").write_text(json.dumps(content))
    (root / "x86-32" / "parts").symlink_to("../parts")

    project = project_of_32_bits(tmp_path)
    configured = project.configure(f"-DCMAKE_PREFIX_PATH={both}", *M32)
    assert configured.returncode == 0, configured.stdout
    project.compile()
    tested = project.ctest("-V")
    assert failed(tested) == ["clharness.discovery.OpenCL"]
    assert "wrong ELF class: ELFCLASS32" in tested.stdout, tested.stdout

    loader = next(root.glob("parts/libOpenCL.so*"))
    assert as_ordinary_user(home, both / "bin" / "clharness", "loader", loader, *FIFO).returncode == 0
    library = shutil.copy(project.build / "libOpenCL.so", home)
    for arguments in (["layer"], ["icd"], ["loader", "--torture"], ["loader", "--vulkan"]):
        refused = as_ordinary_user(home, both / "bin" / "clharness", *arguments, library)
        assert refused.returncode == 2 and "is a 32-bit library for 386" in refused.stderr, refused.stderr


def test_case_is_replayed_with_the_parts_that_it_had(installed: Path, place: Path, home: Path) -> None:
    """Here those that stand beside the others are the only ones that take the library."""
    both = place / "others"
    shutil.copytree(installed, both, symlinks=True)
    (root,) = both.glob("lib*/clharness")
    (root / "x86-32").mkdir()
    shutil.copy(root / "clharness.json", root / "x86-32")
    (root / "x86-32" / "parts").symlink_to("../parts")
    content = json.loads((root / "clharness.json").read_text()) | {"bits": 32}
    (root / "clharness.json").write_text(json.dumps(content))

    loader = next(root.glob("parts/libOpenCL.so*"))
    chosen = {"PYTHONPATH": str(root), "CLHARNESS_PARTS": "x86-32"}
    command = [sys.executable, "-P", "-m", "harness.cli", "loader", str(loader), *FIFO, "--keep"]
    ran = as_ordinary_user(home, *command, **chosen)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    kept = next((home / ".cache" / "clharness" / "failures").rglob("replay.sh")).parent
    replayed = as_ordinary_user(home, both / "bin" / "clharness", "replay", kept)
    assert replayed.returncode == 0 and "as before" in replayed.stdout, replayed.stdout + replayed.stderr


def test_package_of_another_release_is_refused(installed: Path, tmp_path: Path) -> None:
    project = Consumer(tmp_path, "find_package(clharness 99 REQUIRED)\n")
    assert project.configure(f"-DCMAKE_PREFIX_PATH={installed}").returncode != 0


# --- manual page and completions ---


def test_manual_page_is_well_formed_and_has_every_command(installed: Path) -> None:
    page = installed / "share" / "man" / "man1" / "clharness.1"
    text = page.read_text()
    for command in ("loader", "layer", "icd", "replay", "fuzz", "selftest"):
        assert f'.SS "clharness {command}"' in text
    assert r"\fB\-\-update\-expectations\fR" in text
    if shutil.which("groff"):
        shown = run("groff", "-man", "-Tascii", "-ww", "-z", page)
        assert (shown.returncode, shown.stdout) == (0, "")


def completed(installed: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    script = installed / "share" / "bash-completion" / "completions" / "clharness"
    text = (
        f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _clharness; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return done("bash", "-c", text, "bash", *words, cwd=installed).split()


def test_bash_completes_commands_options_words_and_files(installed: Path) -> None:
    assert completed(installed, "clharness", "lo") == ["loader"]
    assert completed(installed, "clharness", "loader", "--up") == ["--update-expectations"]
    assert completed(installed, "clharness", "loader", "--color", "al") == ["always"]
    assert completed(installed, "clharness", "loader", "sha") == ["share"]


def test_zsh_and_fish_have_every_option(installed: Path) -> None:
    zsh = (installed / "share" / "zsh" / "site-functions" / "_clharness").read_text()
    fish = (installed / "share" / "fish" / "vendor_completions.d" / "clharness.fish").read_text()
    assert zsh.startswith("#compdef clharness") and "'--time-limit[" in zsh and ":(auto always never)'" in zsh
    assert "-l time-limit -r" in fish and "-l color -x -a 'auto always never'" in fish
    for shell, text in (("zsh", zsh), ("fish", fish)):
        if shutil.which(shell):
            assert subprocess.run([shell, "-n"], input=text, text=True).returncode == 0
