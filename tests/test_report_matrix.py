# SPDX-License-Identifier: Apache-2.0
"""Several runs side by side as Markdown: who was tested when, and what not all of them pass."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.report import CaseResult, Header
from harness.report.ending import Ending
from harness.report.markdown_matrix import matrix
from harness.report.records import SubjectRecord, Verdict, to_line

FIFO, NEWLINE = "DISC-LNX-011", "DISC-LNX-013"


def ending(name: str, version: str, *cases: tuple[str, Verdict]) -> Ending:
    facts = {"name": name, "version": version, "build_id": "0123456789abcdef", "path": f"/{name}"}
    header = Header(SubjectRecord(facts=facts), started="2026-01-02T03:04:05.678+00:00")
    results = [CaseResult(f"suites/x/t.py::test_{n}", (i,), verdict) for n, (i, verdict) in enumerate(cases)]
    return Ending(header, results, 0)


GOOD = ending("Good", "1.0", (FIFO, "pass"), (NEWLINE, "pass"))
BAD = ending("Bad", "2.1", (FIFO, "hang"), (FIFO, "hang"), (FIFO, "pass"), (FIFO, "unsupported"), (NEWLINE, "pass"))
POOR = ending("Poor", "3", (FIFO, "unsupported"))


def rows(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_subjects_have_version_and_day() -> None:
    table = rows(matrix([GOOD, BAD]))
    assert table[2] == ["Good", "1.0", "0123456789ab", "2026-01-02", "2", "2", "0", "0"]
    assert table[3] == ["Bad", "2.1", "0123456789ab", "2026-01-02", "5", "2", "2", "1"]


def test_requirement_that_not_all_pass_has_a_row() -> None:
    text = matrix([GOOD, BAD, POOR])
    (row,) = [row for row in rows(text) if f"[{FIFO}]" in row[0]]
    assert row[1:5] == ["should", "pass", "**hang 2** of 3", "unsupported"]
    assert row[5].startswith("Special files")
    assert f"[{NEWLINE}]" not in text and "(1 more is passed by all that have them)" in text


def other(of: Ending, started: str = "", **facts: str) -> Ending:
    subject = SubjectRecord(facts={**of.header.subject.facts, **facts})
    header = dataclasses.replace(of.header, subject=subject, started=started or of.header.started)
    return dataclasses.replace(of, header=header)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([other(BAD, path="/opt/a/x.so"), other(BAD, path="/opt/b/x.so")], ["Bad 2.1 (a/x.so)", "Bad 2.1 (b/x.so)"]),
        ([BAD, other(BAD, build_id="fedc" * 10)], ["Bad 2.1 (build 0123456789ab)", "Bad 2.1 (build fedcfedcfedc)"]),
        ([BAD, other(BAD, "2026-02-03T04:05:06")], ["Bad 2.1 (2026-01-02)", "Bad 2.1 (2026-02-03)"]),
        ([BAD, other(BAD, "2026-01-02T04:05:06")], ["Bad 2.1 (2026-01-02 03:04:05)", "Bad 2.1 (2026-01-02 04:05:06)"]),
        ([BAD, BAD], ["Bad 2.1 (run 1)", "Bad 2.1 (run 2)"]),
        ([BAD, POOR], ["Bad 2.1", "Poor 3"]),
        ([other(BAD, name="", path="/home/me/build/libOpenCL.so.1")], ["unknown loader libOpenCL.so.1"]),
    ],
)  # fmt: skip
def test_columns_of_equal_names_are_told_apart(more: list[Ending], expected: list[str]) -> None:
    table = rows(matrix([GOOD, *more]))
    head = next(row for row in table if row[0] == "requirement")
    assert head[2:-1] == ["Good 1.0", *expected]
    assert len({row[0] for row in table[2 : 3 + len(more)]}) == 1 + len(more), "the rows of the subjects, too"


def test_command_writes_the_matrix(tmp_path: Path) -> None:
    files = []
    for number, one in enumerate((GOOD, BAD)):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(
            "".join(to_line(record) for record in (one.header.to_json(), *(r.to_json() for r in one.results)))
        )
        files.append(str(file))
    out = tmp_path / "matrix.md"
    assert main(["report", *files, "--markdown", str(out)]) in (0, 130)
    assert out.read_text() == matrix([GOOD, BAD])
