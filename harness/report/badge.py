# SPDX-License-Identifier: Apache-2.0
"""A small picture (SVG) that says how a run ended, for a README."""

from __future__ import annotations

import html

from harness.errors import Exit
from harness.escaping import one_line, xml
from harness.report.ending import Ending

_COLORS = {"good": "#1b7540", "known": "#875d00", "bad": "#b71f32", "none": "#566074"}
_WIDTH = 6.6  # of a character, about
_PADDING = 12


def badge(ending: Ending) -> str:
    """The picture, whose text is also there for screen readers."""
    left, (right, color) = xml(one_line(ending.header.subject.title)), _said(ending)
    one, other = (round(len(text) * _WIDTH) + 2 * _PADDING for text in (left, right))
    name = html.escape(f"{left}: {right}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{one + other}" height="22" role="img" aria-label="{name}">'
        f"<title>{name}</title>"
        f'<rect width="{one + other}" height="22" rx="4" fill="#2d3542"/>'
        f'<path d="M{one} 0h{other - 4}a4 4 0 0 1 4 4v14a4 4 0 0 1-4 4h-{other - 4}z" fill="{color}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{one / 2}" y="15">{html.escape(left)}</text>'
        f'<text x="{one + other / 2}" y="15">{html.escape(right)}</text></g></svg>\n'
    )


def _said(ending: Ending) -> tuple[str, str]:
    if ending.code == Exit.AS_EXPECTED:
        judged = [r for r in ending.results if r.verdict != "unsupported"]
        passed = sum(r.verdict == "pass" for r in judged)
        words = f"{passed} of {len(judged)} pass"
        return words, _COLORS["good" if passed == len(judged) else "known"]
    if ending.code == Exit.UNEXPECTED:
        return f"{len(ending.unexpected)} unexpected", _COLORS["bad"]
    return {Exit.NOT_APPLICABLE: "not applicable", Exit.INTERRUPTED: "interrupted"}.get(
        Exit(ending.code), "no result"
    ), _COLORS["none"]
