# SPDX-License-Identifier: Apache-2.0
"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """The number with its noun: "1 case", "2 cases".

    >>> counted(1, "reason"), counted(0, "stale expectation")
    ('1 reason', '0 stale expectations')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
