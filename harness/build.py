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

from harness.errors import NotBuilt, UsageError

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Build:
    """Paths of the built programs and libraries; the mocks by variant name."""

    folder: Path
    api: Path
    probe: Path
    linked_probe: Path  # the following ones, where they have no name, are not there on this system
    reference_loader: Path
    seeded_loader: Path | None  # the same with faults to choose, where the build has it
    at_secure: Path
    guarded_heap: Path
    exit_watch: Path
    calllog_bench: Path
    gl_objects: Path  # a library that makes OpenGL objects, for ICDs that share them
    compiler: str
    sanitize: str
    mock_icds: dict[str, Path]
    mock_layers: dict[str, Path]
    windows: bool = False  # whether programs and libraries are those of Windows; on Linux, Wine runs them


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
        fcntl.flock(lock, fcntl.LOCK_SH)


@cache
def build() -> Build:
    """The build in $CLHARNESS_BUILD, else in `build` below the project's root; nothing is built there from then on."""
    folder = Path(os.environ.get("CLHARNESS_BUILD") or ROOT / "build")
    _keep_as_it_is(folder)
    try:
        content = json.loads((folder / "clharness.json").read_text())
    except FileNotFoundError:
        raise NotBuilt(
            f"nothing is built in {folder}: run ./clharness loader, or cmake -B build && cmake --build build"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder / 'clharness.json'} cannot be read ({error}): build again") from None
    parts = (content["probe"], content["api"], *content["mock_icds"].values(), *content["mock_layers"].values())
    missing = [p for p in parts if not Path(p).exists()]
    if missing:
        raise UsageError(f"the build in {folder} is not complete ({missing[0]} is missing): cmake --build {folder}")
    return Build(
        folder=folder,
        api=Path(content["api"]),
        probe=Path(content["probe"]),
        linked_probe=Path(content.get("linked_probe", "")),
        reference_loader=Path(content["reference_loader"]),
        seeded_loader=Path(content["seeded_loader"]) if content.get("seeded_loader") else None,
        at_secure=Path(content.get("at_secure", "")),
        guarded_heap=Path(content.get("guarded_heap", "")),
        exit_watch=Path(content.get("exit_watch", "")),
        gl_objects=Path(content.get("gl_objects", "")),
        calllog_bench=Path(content.get("calllog_bench", "")),
        compiler=content["compiler"],
        sanitize=content["sanitize"],
        mock_icds={k: Path(v) for k, v in content["mock_icds"].items()},
        mock_layers={k: Path(v) for k, v in content["mock_layers"].items()},
        windows=content.get("system") == "windows",
    )
