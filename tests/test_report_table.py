# SPDX-License-Identifier: Apache-2.0
"""Tables of text: in pipes to the byte, at terminals folded to what fits, and never a markup from what is shown."""

from __future__ import annotations

import io

import pytest

from harness.report.layout import section_title, summary_table
from harness.report.records import CaseResult
from harness.report.table import table
from harness.report.terminal import Terminal
from tests.test_report_terminal import Screen

ROWS = [["section", "cases", "ok"], ["one with a long title", "12", ""], ["two", "3456789", "1"]]


def results(*verdicts: str) -> list[CaseResult]:
    return [CaseResult("suites/x.py::t", ("DISC-LNX-013",), verdict) for verdict in verdicts]  # type: ignore[arg-type]


def test_table_is_not_folded_where_no_width_is_given() -> None:
    assert table(ROWS) == [
        "section                  cases  ok",
        "one with a long title       12",
        "two                    3456789   1",
    ]


def test_several_columns_of_text_are_flush_left() -> None:
    assert table([["a", "bb", "c"], ["dd", "e", "10"]], texts=2) == ["a   bb   c", "dd  e   10"]


def test_text_is_folded_within_its_column() -> None:
    assert table(ROWS, width=24) == [
        "section        cases  ok",
        "one with a        12",
        "long title",
        "two          3456789   1",
    ]


def test_nothing_is_folded_where_that_does_not_suffice() -> None:
    assert table(ROWS, width=16) == table(ROWS)


@pytest.mark.parametrize("cell", ["[red]x[/red]", ":smile:", "[link=file:///x]y[/link]", "https://a.b", "1.5 'x' None"])
def test_cells_are_not_interpreted(cell: str) -> None:
    assert table([[cell, "1"]]) == [f"{cell}  1"]


def test_wide_characters_keep_the_columns_in_line() -> None:
    assert table([["\u754c\u754c", "1"], ["abcd", "2"]]) == ["\u754c\u754c  1", "abcd  2"]


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"COLUMNS": "7", "LINES": "2"}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}]
)
def test_the_environment_changes_nothing(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    red = Terminal(io.StringIO(), "always", {}).style("title", "bad")
    assert table([[red, "12"], ["other", "3"]]) == ["\x1b[31mtitle\x1b[0m  12", "other   3"]


def test_the_summary_in_a_pipe() -> None:
    """Of one section the totals would say the same again."""
    title = section_title("DISC-LNX")
    style = Terminal(io.StringIO(), "auto", {}).style
    table_of_one = summary_table(results("pass", "fail"), style)
    assert table_of_one == [f"{'section':{len(title)}}  cases     ok", f"{title}      2      2"]
    other = CaseResult("suites/x.py::u", ("DISP-OBJ-001",), "pass")
    assert summary_table([*results("pass", "fail"), other], style)[-1].split() == ["total", "3", "3"]


def test_the_summary_by_group() -> None:
    style = Terminal(io.StringIO(), "auto", {}).style
    other = CaseResult("suites/x.py::u", ("DISC-GEN-001",), "pass")
    assert summary_table([*results("pass"), other], style, by_group=True) == [
        "group      cases     ok",
        "Discovery      2      2",
    ]


@pytest.mark.parametrize(
    ("stream", "environment", "folds"),
    [
        (Screen(), {}, True),
        (Screen(), {"CI": "1"}, False),
        (Screen(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_only_a_terminal_folds(
    stream: io.StringIO, environment: dict[str, str], folds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal(stream, "never", environment)
    lines = summary_table(results("pass", "crash"), terminal.style, terminal.table_width)
    assert (len(lines) > 2) == folds
    assert (max(map(len, lines)) <= 40) == folds


def test_the_summary_at_a_terminal_has_no_empty_columns() -> None:
    assert summary_table(results("pass"), Terminal(io.StringIO(), "auto", {}).style, 80)[0].split() == [
        "section",
        "cases",
        "ok",
    ]
