"""Where the built parts of the harness are: read from `clharness.json`, which CMake writes into the build folder."""

from __future__ import annotations

import json
import os
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
    linked_probe: Path
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


@cache
def build() -> Build:
    """The build in $CLHARNESS_BUILD, else in `build` below the project's root."""
    folder = Path(os.environ.get("CLHARNESS_BUILD") or ROOT / "build")
    try:
        found = json.loads((folder / "clharness.json").read_text())
    except FileNotFoundError:
        raise NotBuilt(
            f"nothing is built in {folder}: run ./clharness loader, or cmake -B build && cmake --build build"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder / 'clharness.json'} cannot be read ({error}): build again") from None
    parts = (found["probe"], found["api"], *found["mock_icds"].values(), *found["mock_layers"].values())
    missing = [p for p in parts if not Path(p).exists()]
    if missing:
        raise UsageError(f"the build in {folder} is not complete ({missing[0]} is missing): cmake --build {folder}")
    return Build(
        folder=folder,
        api=Path(found["api"]),
        probe=Path(found["probe"]),
        linked_probe=Path(found["linked_probe"]),
        reference_loader=Path(found["reference_loader"]),
        seeded_loader=Path(found["seeded_loader"]) if found.get("seeded_loader") else None,
        at_secure=Path(found["at_secure"]),
        guarded_heap=Path(found["guarded_heap"]),
        exit_watch=Path(found.get("exit_watch", "")),
        gl_objects=Path(found.get("gl_objects", "")),
        calllog_bench=Path(found["calllog_bench"]),
        compiler=found["compiler"],
        sanitize=found["sanitize"],
        mock_icds={k: Path(v) for k, v in found["mock_icds"].items()},
        mock_layers={k: Path(v) for k, v in found["mock_layers"].items()},
    )
