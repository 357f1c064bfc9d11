# SPDX-License-Identifier: Apache-2.0
"""What deviated in a red case, and how: `num_devices=0: CL_SUCCESS instead of CL_INVALID_VALUE`, `clFlush: SIGSEGV`.

A case may make many calls; expectations name those that are known to deviate, so that a new one is seen. What varies
from run to run (addresses, paths, what pytest leaves out of a long value) is written `*`, which is a wildcard there.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Deviation:
    """`what` is the call or the parameter, "" where the case has only one; `how` the answer by name, or the signal."""

    what: str
    how: str

    def __str__(self) -> str:
        return f"{self.what}: {self.how}" if self.what else self.how

    def fits(self, pattern: str) -> bool:
        """Whether a pattern names it, in which only `*` and `?` are special."""
        return fits_pattern(str(self), pattern)


def fits_pattern(text: str, pattern: str) -> bool:
    """Whether a text is what a pattern names, in which only `*` and `?` are special.

    A run asks this some ten thousand times, mostly of patterns with nothing but `*`: they need no regular expression.
    """
    if "?" in pattern:
        return pattern == text or fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    last = others.pop()
    place, end = len(first), len(text) - len(last)
    if place > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in others:
        place = text.find(piece, place, end)
        if place < 0:
            return False
        place += len(piece)
    return True
