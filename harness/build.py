# SPDX-License-Identifier: Apache-2.0
"""Where the built parts of the harness are: read from `clharness.json`, which CMake writes into the build folder."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness import build_lock
from harness.errors import HarnessError, NotBuilt, UsageError

ROOT = Path(__file__).resolve().parent.parent
ABSENT = Path("/nonexistent")  # in the place of a part that the build's system does not have


class NoVulkan(HarnessError):
    """The build has no parts for Vulkan."""


@dataclass(frozen=True)
class VulkanBuild:
    """Paths of what was built for Vulkan; the mock drivers by variant name."""

    api: Path
    reference_loader: Path
    seeded_loader: Path | None
    drivers: dict[str, Path]


@dataclass(frozen=True)
class Build:
    """Paths of the built programs and libraries; the mocks by variant name. Windows lacks some: ABSENT."""

    folder: Path  # where runs leave what they keep
    api: Path
    probe: Path
    linked_probe: Path
    nest: Path | None  # a probe that has loaded a library and is forked for each session, where the build has it
    reference_loader: Path
    seeded_loader: Path | None  # the same with faults to choose, where the build has it
    at_secure: Path
    guard: Path
    guarded_heap: Path
    torture: Path  # the same, and calls for resources can be made to fail
    exit_watch: Path
    variables_watch: Path
    late_caller: Path  # a library whose destructor runs when all else is over
    calllog_bench: Path
    gl_objects: Path  # a library that makes OpenGL objects, for ICDs that share them
    compiler: str
    sanitize: str
    mock_icds: dict[str, Path]
    mock_layers: dict[str, Path]
    bits: int  # of an address in programs and libraries: 64, or 32
    machine: str  # for which they are, as uname would say it there; "": this one
    emulator: tuple[str, ...]  # the command in front of a program that is for another machine than this one
    windows: bool  # whether programs and libraries are those of Windows; on Linux, Wine runs them
    wine_prefix: Path  # Wine's folder of this build
    vulkan: VulkanBuild | None  # where Vulkan's headers and registry are there

    def with_vulkan(self) -> VulkanBuild:
        """What was built for Vulkan. Raises NoVulkan where it was not."""
        if self.vulkan is None:
            raise NoVulkan(
                "this build has nothing for Vulkan: install its headers with their registry, vk.xml "
                f"(Debian: libvulkan-dev), and build {self.folder} again"
            )
        return self.vulkan


def _keep_as_it_is(folder: Path) -> None:
    """Shares the lock that ./clharness has for itself when it builds (harness/setup/build.sh) from now on."""
    if os.environ.get("CLHARNESS_BUILD_IN_USE") == str(folder):
        return  # the command that started this process holds it
    try:
        lock = os.open(folder / "setup.lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return  # nobody can build there
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"clharness: waiting for a command that is building in {folder}", file=sys.stderr, flush=True)
        seconds = build_lock.limit()
        print(build_lock.said(folder / "setup.lock", seconds), end="", file=sys.stderr, flush=True)
        if not build_lock.share(lock, seconds):
            raise HarnessError(build_lock.refusal(folder, seconds)) from None
    os.environ["CLHARNESS_BUILD_IN_USE"] = str(folder)  # else a command that a test starts waits for the test


def command() -> str:
    """What a user types to run the command line that runs now."""
    return os.environ.get("CLHARNESS_COMMAND") or "./clharness"


def installed() -> bool:
    """Whether this is an installation: it has neither sources nor fuzz targets, and nothing is written into it."""
    return (_installed_parts() / "clharness.json").exists()


def _installed_parts() -> Path:
    """The folder of an installation's built parts; the installed command names one below it for 32-bit libraries."""
    return ROOT / os.environ.get("CLHARNESS_PARTS", "")


def require_checkout(what: str) -> None:
    """Raises UsageError in an installation, unless it uses the parts of a build that was made of a checkout."""
    if installed() and not os.environ.get("CLHARNESS_BUILD"):
        raise UsageError(f"{what} needs a checkout of clharness, with its sources: this is an installation, in {ROOT}")


def _read(folder: Path) -> dict[str, Any]:
    """The content of a folder's clharness.json; paths in it are absolute, or relative to it."""
    try:
        content = json.loads((folder / "clharness.json").read_text())
    except FileNotFoundError:
        raise NotBuilt(
            f"nothing is built in {folder}: run ./clharness loader, or cmake -B build && cmake --build build"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder / 'clharness.json'} cannot be read ({error}): build again") from None
    return dict(content)


def _vulkan(folder: Path, content: dict[str, Any] | None) -> VulkanBuild | None:
    if not content:
        return None
    seeded = content["seeded_loader"]
    return VulkanBuild(
        api=folder / content["api"],
        reference_loader=folder / content["reference_loader"],
        seeded_loader=folder / seeded if seeded else None,
        drivers={name: folder / path for name, path in content["drivers"].items()},
    )


def _output_folder(where: Path, installed: bool) -> Path:
    """The folder for what runs leave behind: $CLHARNESS_OUTPUT, else the build, else the user's cache."""
    if chosen := os.environ.get("CLHARNESS_OUTPUT"):
        folder = Path(chosen).absolute()
    elif not installed:
        return where
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clharness"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessError(
            f"cannot write to {folder} ({(error.strerror or str(error)).lower()}): "
            "set CLHARNESS_OUTPUT to a folder that can be written to"
        ) from None
    return folder


def _parts(folder: Path, content: dict[str, Any], output: Path) -> Build:
    """The parts that a clharness.json names. Raises KeyError where it lacks one."""
    windows = content.get("system") == "windows"

    def part(name: str) -> Path:
        return folder / str(content[name])

    def linux_part(name: str) -> Path:
        return ABSENT if windows else part(name)

    def mocks(kind: str) -> dict[str, Path]:
        return {name: folder / str(path) for name, path in content[kind].items()}

    return Build(
        folder=output,
        api=part("api"),
        probe=part("probe"),
        linked_probe=linux_part("linked_probe"),
        nest=part("nest") if content.get("nest") else None,
        reference_loader=part("reference_loader"),
        seeded_loader=part("seeded_loader") if content.get("seeded_loader") else None,
        at_secure=linux_part("at_secure"),
        guard=part("guard"),
        guarded_heap=linux_part("guarded_heap"),
        torture=linux_part("torture"),
        exit_watch=linux_part("exit_watch"),
        variables_watch=linux_part("variables_watch"),
        late_caller=linux_part("late_caller"),
        gl_objects=linux_part("gl_objects"),
        calllog_bench=linux_part("calllog_bench"),
        compiler=content["compiler"],
        sanitize=content["sanitize"],
        mock_icds=mocks("mock_icds"),
        mock_layers=mocks("mock_layers"),
        bits=content.get("bits", 64),
        machine=content.get("machine", ""),
        emulator=tuple(content.get("emulator", ())),
        windows=windows,
        wine_prefix=folder / "wine",
        vulkan=_vulkan(folder, content.get("vulkan")),
    )


@cache
def build() -> Build:
    """The build in $CLHARNESS_BUILD, else what was installed with this package, else `build` below the project's root.

    Nothing is built there from then on.
    """
    is_installed = not os.environ.get("CLHARNESS_BUILD") and installed()
    folder = _installed_parts() if is_installed else Path(os.environ.get("CLHARNESS_BUILD") or ROOT / "build")
    if not is_installed:
        _keep_as_it_is(folder)
    content = _read(folder)
    try:
        parts = _parts(folder, content, _output_folder(folder, is_installed))
    except KeyError:
        raise UsageError(f"the build in {folder} is of another version of clharness: build again") from None
    needed = [parts.probe, parts.api, parts.reference_loader, parts.guard]
    needed += [] if parts.windows else [parts.linked_probe, parts.at_secure]
    needed += [*parts.mock_icds.values(), *parts.mock_layers.values()]
    if missing := [path for path in needed if not path.exists()]:
        how = content.get("build_with") or f"cmake --build {folder}"
        raise UsageError(f"the build in {folder} is not complete ({missing[0]} is missing): {how}")
    return parts
