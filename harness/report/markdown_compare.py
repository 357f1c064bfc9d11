# SPDX-License-Identifier: Apache-2.0
"""A comparison of two runs as Markdown."""

from __future__ import annotations

from harness.escaping import markdown
from harness.report.compare import KINDS, Comparison, compared, groups, how_of, title_of
from harness.report.markdown import linked, table


def comparison_summary(comparison: Comparison) -> str:
    """The comparison as Markdown."""
    parts = [f"### clharness compare: {markdown(comparison.sentence())}", ""]
    parts += [
        f"* before: {markdown(compared(comparison.before))}",
        f"* after: {markdown(compared(comparison.after))}",
        "",
    ]
    for kind in KINDS:
        rows = [
            [title_of(group), how_of(group), str(len(group)), group[0].case.name, group[0].why]
            for group in groups(comparison.of(kind))
        ]
        if rows:
            parts += [f"#### {comparison.title(kind).capitalize()}", ""]
            parts += table(["requirement", "before and after", "cases", "first case", "why"], rows, linked)
    return "\n".join(parts) + "\n"
