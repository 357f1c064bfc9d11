# SPDX-License-Identifier: Apache-2.0
"""What a loader answered about itself in an earlier run: it is asked again where anything changed that may matter.

Asking takes some thirty processes, which is more than one check takes. An answer holds for the loader's file and the
libraries beside it, for the built parts and the code that ask, and for this machine and user. What a loader did not
answer, or not in time, is asked each time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from harness import derived
from harness.build import ROOT, build
from harness.sandbox.sandbox import PASSED_ON
from harness.subject import neighbours
from harness.subject.facts import Facts

_CODE = ("subject", "sandbox", "probe", "calllog")  # rooms of the harness that ask
_MACHINE = ("/etc/ld.so.cache", "/etc/OpenCL", "/etc/OpenCL/vendors", "/etc/OpenCL/layers")


class Respondent(Protocol):
    """What was asked (harness.subject.loader.Loader)."""

    path: Path
    facts: Facts
    variables: dict[str, str]


def remembered(subject: Respondent, ask: Callable[[], tuple[dict[str, Any], bool]]) -> dict[str, Any]:
    """The answers of a subject. `ask` gives them, as JSON can hold them, and whether they are all certain."""
    if any(name in os.environ for name in PASSED_ON):
        return ask()[0]  # such as a seeded fault: who sets these wants to see what they do
    samples: list[dict[str, Any]] = []

    def make() -> dict[str, Any] | None:
        answers, certain = ask()
        samples.append(answers)
        return answers if certain else None

    answers = derived.kept("answers", str(subject.path), _digest(subject), make)
    return samples[0] if samples else dict(answers)


def _digest(subject: Respondent) -> str:
    on = [os.uname().release, os.uname().nodename, os.geteuid(), shutil.which("bwrap")]
    on += [sorted(subject.variables.items()), neighbours.folders(), neighbours.preloaded(subject.path)]
    parts = [list(_stamp(path)) for path in (*_libraries(subject), *_built(), *map(Path, _MACHINE), *_code())]
    with subject.path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(json.dumps([content, on, parts]).encode()).hexdigest()


def _stamp(path: Path) -> Iterator[object]:
    yield str(path)
    try:
        status = path.stat()
    except OSError:
        return
    yield from (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _libraries(subject: Respondent) -> Iterator[Path]:
    """Where libraries may lie that it needs; those of the system are in the linker's cache."""
    folder = str(subject.path.parent)
    for place in [folder, *subject.facts.search_paths, *neighbours.folders()]:
        for name in subject.facts.needed:
            yield Path(place.replace("${ORIGIN}", folder).replace("$ORIGIN", folder)) / name


def _built() -> Iterator[Path]:
    """What is started, or loaded by it."""
    parts = build()
    yield from (parts.probe, parts.linked_probe, parts.guard, parts.at_secure, parts.api)
    yield from parts.mock_icds.values()
    yield from parts.mock_layers.values()


def _code() -> Iterator[Path]:
    for room in _CODE:
        yield from sorted((ROOT / "harness" / room).glob("*.py"))
