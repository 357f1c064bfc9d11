# SPDX-License-Identifier: Apache-2.0
"""The faults that the mocks can have, as the lists faults*.h in the folders of the mocks say it.

A fault is written `name`, `name=VALUE` or `name@PLATFORM` (or both). An unknown name is refused here, in a sentence,
and not by a mock in the middle of a case.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from harness.build import ROOT
from harness.errors import HarnessError, UsageError

Kind = Literal["icd", "layer", "vulkan"]
NAMES: dict[Kind, str] = {"icd": "mock ICD", "layer": "mock layer", "vulkan": "mock Vulkan driver"}
# Where the lists of faults and of settings of each mock are.
FOLDERS: dict[Kind, str] = {"icd": "mock_icds", "layer": "mock_layers", "vulkan": "mock_icds/vulkan"}

_ENTRY = re.compile(r"/\*((?:(?!\*/).)*)\*/\s*\nFAULT\((\w+)\)", re.S)
_WRITTEN = re.compile(r"(?P<name>[^=@]*)(?:@(?P<platform>[^=]*))?(?:=(?P<value>.*))?", re.S)
_NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")  # as strtol reads it with base 0


def fault_lists(kind: Kind, root: Path = ROOT) -> list[Path]:
    """The headers that list the faults of a mock: faults.h, and one for each field of its own."""
    return [root / FOLDERS[kind] / "faults.h", *sorted((root / FOLDERS[kind]).glob("faults_*.h"))]


@cache
def faults(kind: Kind) -> dict[str, str]:
    """Every fault of a mock, with the sentence that says what it makes the mock do."""
    listed = []
    for source in fault_lists(kind):
        try:
            listed += _ENTRY.findall(source.read_text())
        except OSError as error:
            raise HarnessError(f"{source}: cannot be read: {error.strerror}") from error
    return {name: re.sub(r"\s*\n\s*\*\s*", " ", sentence).strip() for sentence, name in listed}


def nearest(unknown: str, known: Collection[str]) -> str:
    """The end of a sentence that refuses a name: what was probably meant."""
    near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"


def check_faults(kind: Kind, written: Iterable[str]) -> list[str]:
    """Gives the faults as a list, or raises UsageError: unknown name, or a VALUE or PLATFORM that cannot be."""
    texts = list(written)
    for text in texts:
        _check(kind, text)
    return texts


def _check(kind: Kind, text: str) -> None:
    match = _WRITTEN.fullmatch(text)
    assert match is not None  # every text is a name, at least
    name, platform, value = match["name"], match["platform"], match["value"]
    sentence = faults(kind).get(name)
    if sentence is None:
        near = difflib.get_close_matches(name, faults(kind), n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}?" if near else "clharness mock --faults lists them all"
        raise UsageError(f"the {NAMES[kind]} has no fault {name!r}; {hint}")
    if value is not None and "VALUE" not in sentence:
        raise UsageError(f"fault {text!r}: {name} takes no value: {sentence}")
    if value is None and "VALUE" in sentence and "default" not in sentence:
        raise UsageError(f"fault {text!r}: needs a value, such as {text}=1: {sentence}")
    if value is not None and not _NUMBER.fullmatch(value):
        raise UsageError(f"fault {text!r}: the value {value!r} is not a whole number, such as -33, 4 or 0x1000")
    if platform is not None and (kind != "icd" or "platform" not in sentence.lower()):
        raise UsageError(f"fault {text!r}: {name} is not a matter of one platform: {sentence}")
    if platform is not None and not platform.isdecimal():
        raise UsageError(f"fault {text!r}: the platform {platform!r} is not a number from 0 up")
