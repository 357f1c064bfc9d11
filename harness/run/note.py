# SPDX-License-Identifier: Apache-2.0
"""What a kept folder says of its case, in case.json: enough to run its check again (again.py)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import untrusted
from harness.errors import UsageError
from harness.report import CaseResult

NOTE = "case.json"
MAX_NOTE = 16 << 20
VARIABLES = {"build": "CLHARNESS_BUILD", "parts": "CLHARNESS_PARTS"}


@dataclass(frozen=True)
class Note:
    """What a kept folder says of its case: its record, pytest's root and options, and whose parts it was run with."""

    result: CaseResult
    root: str
    options: tuple[str, ...]
    build: str  # the build that was named
    parts: str  # of an installation, the folder below it


def write_note(folder: Path, result: CaseResult, root: Path, options: Sequence[str]) -> None:
    """Notes in the folder of a kept case what its check is run again with."""
    content = {"result": result.to_json(), "root": str(root), "options": list(options)}
    content |= {name: os.environ.get(variable, "") for name, variable in VARIABLES.items()}
    (folder / NOTE).write_text(json.dumps(content))


def read_note(folder: Path) -> Note:
    """The note of a kept case. Raises UsageError where there is none that can be read."""
    try:
        content = json.loads(untrusted.head(folder / NOTE, MAX_NOTE))
        options = tuple(map(str, content["options"]))
        named = [str(content.get(name, "")) for name in VARIABLES]
        return Note(CaseResult.from_json(content["result"]), str(content["root"]), options, *named)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{folder / NOTE} cannot be read ({error}): run the checks again for a new one") from None
