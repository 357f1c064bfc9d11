# SPDX-License-Identifier: Apache-2.0
"""What doctor says: a finding is the reason why something does not show; a note is not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Why something is skipped or missing: what it is, where, and what to do, a sentence each.

    `name` is a stable word for scripts. `harmless`: a note; it says nothing against the machine as it is.
    """

    name: str
    what: str
    where: str
    do: str
    harmless: bool = False

    def as_note(self) -> Finding:
        """The same, as something that does no harm."""
        return Finding(self.name, self.what, self.where, self.do, True)

    def as_dict(self) -> dict[str, str]:
        """The fields of --json."""
        return {"name": self.name, "what": self.what, "where": self.where, "do": self.do}


def note(name: str, what: str, where: str, do: str) -> Finding:
    """A finding that is not a problem by itself."""
    return Finding(name, what, where, do, True)


def without_repeats(findings: Iterable[Finding]) -> list[Finding]:
    """In order, each once; what is a finding somewhere is not a note elsewhere."""
    result: dict[tuple[str, str, str], Finding] = {}
    for one in findings:
        key = (one.name, one.where, one.what)
        if key not in result or (result[key].harmless and not one.harmless):
            result[key] = one
    return list(result.values())


def listed(names: Iterable[str], most: int = 3) -> str:
    """Names as part of a sentence: a, b and c."""
    every = list(names)
    shown = every[:most] + ([f"{len(every) - most} more"] if len(every) > most else [])
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1] if shown else "") if part)


def count(number: int, word: str) -> str:
    """A number with its word, in the plural but for one."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
