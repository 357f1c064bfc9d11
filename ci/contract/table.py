# SPDX-License-Identifier: Apache-2.0
"""Writes docs/contract.md: on which real ICDs each row of the contract of the API was seen, and which on none.

python3 -m ci.contract.table FILE.json… --out FILE.md; the files are those of ci.contract.survey.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.api.contract import calls, queries, rules

READINGS = Path(__file__).with_name("readings.toml")

HEAD = """\
# The contract of the API, as real ICDs answer it

Mock ICD and checks share the tables in `harness/api/contract/`, so a row that is wrong would be right in both. Real
ICDs do not know the tables. `ci/icds contract` asks each of them every row and writes this page: a row that no real ICD
agrees with is a defect of all that were asked, or a wrong row. Somebody has to read the section that it names, and to
write into `ci/contract/readings.toml` what the text says; until then the command fails.

An ICD is not counted for rows about what it does not have. Proper calls of programs from bytes that are not a program
(`clCreateProgramWithBinary`, `WithIL`, `WithBuiltInKernels`) are not expected to succeed and not listed.
"""

_TITLES = {
    "rules": "Improper calls (rules.toml)",
    "states": "Calls that a state forbids (states.toml)",
    "calls": "Proper calls (calls.toml)",
    "queries": "Queries (queries.toml)",
}


@dataclass
class Row:
    """One row and what each ICD answered to it."""

    table: str
    function: str
    text: str
    expected: str
    agrees: list[str] = field(default_factory=list)
    differs: dict[str, str] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)  # ICDs that do not have what the row is about

    def add(self, icd: str, answer: str, agrees: bool | None) -> None:
        if agrees is None:
            self.without.append(icd)
        elif agrees:
            self.agrees.append(icd)
        else:
            self.differs[icd] = answer


def rows_of(surveys: list[dict[str, Any]]) -> list[Row]:
    """The rows in the order of the tables."""
    rows: dict[tuple[str, str, str], Row] = {}
    for survey in surveys:
        for answer in survey["answers"]:
            key = (answer["table"], answer["function"], answer["row"])
            row = rows.setdefault(key, Row(*key, answer["expected"]))
            row.add(survey["name"], answer["answer"], answer["agrees"])
    return list(rows.values())


def page(surveys: list[dict[str, Any]], sources: dict[tuple[str, str], str]) -> str:
    """The page. `sources` is document and section by table and function."""
    listed = rows_of(surveys)
    lines = [HEAD, "| ICD | platform | version | agrees | differs | does not have it |", "|---|---|---|---|---|---|"]
    for survey in surveys:
        answers = [answer["agrees"] for answer in survey["answers"]]
        counts = " | ".join(str(sum(answer is value for answer in answers)) for value in (True, False, None))
        lines.append(f"| {survey['name']} | {survey['platform']} | {survey['version']} | {counts} |")
    lines += ["", "## Rows that no real ICD agrees with", ""]
    alone = [row for row in listed if not row.agrees and row.differs]
    lines += _table(alone, sources) or ["None."]
    lines += ["", "## Rows that no real ICD here can be asked", ""]
    lines += _names([row for row in listed if not row.agrees and not row.differs]) or ["None."]
    for table, title in _TITLES.items():
        lines += ["", f"## {title}", "", *_counts([row for row in listed if row.table == table], len(surveys))]
    return "\n".join(lines) + "\n"


def _table(listed: list[Row], sources: dict[tuple[str, str], str]) -> list[str]:
    """Each row with its source and the answers that were seen."""
    if not listed:
        return []
    texts = readings()
    lines = ["| function | row | expected | answers | source | in the text |", "|---|---|---|---|---|---|"]
    for row in listed:
        answers = "; ".join(f"{_cell(answer)} ({', '.join(icds)})" for answer, icds in _by_answer(row).items())
        source = sources[row.table, row.function]
        reading = texts.get((row.function, row.text), "not read yet")
        lines.append(
            f"| {row.function} | `{_cell(row.text)}` | {_cell(row.expected)} | {answers} | {source} | {reading} |"
        )
    return lines


def _by_answer(row: Row) -> dict[str, list[str]]:
    answers: dict[str, list[str]] = defaultdict(list)
    for icd, answer in row.differs.items():
        answers[answer].append(icd)
    return answers


def _names(listed: list[Row]) -> list[str]:
    by_function: dict[str, list[str]] = defaultdict(list)
    for row in listed:
        by_function[row.function].append(f"`{_cell(row.text)}`")
    return [f"- {function}: {', '.join(texts)}" for function, texts in by_function.items()]


def _counts(listed: list[Row], icds: int) -> list[str]:
    """A line for each function: on how many ICDs its rows were seen, and the rows that some ICD contradicts."""
    lines = ["| function | rows | seen on | contradicted by |", "|---|---|---|---|"]
    for function in dict.fromkeys(row.function for row in listed):
        own = [row for row in listed if row.function == function]
        counts = [f"{sum(len(row.agrees) == n for row in own)} on {n}" for n in range(icds, -1, -1)]
        counts = [text for text in counts if not text.startswith("0 ")]
        against = [f"`{_cell(row.text)}`: {', '.join(row.differs)}" for row in own if row.differs and row.agrees]
        lines.append(f"| {function} | {len(own)} | {', '.join(counts)} | {'<br>'.join(against)} |")
    return lines


def _cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return text.replace("|", "\\|")


def readings() -> dict[tuple[str, str], str]:
    """What was found in the text, by function and row."""
    listed = tomllib.loads(READINGS.read_text())["reading"]
    return {(reading["function"], row): reading["found"] for reading in listed for row in reading["rows"]}


def sources_of_rows() -> dict[tuple[str, str], str]:
    """Document and section of each function's rows, by table and function."""
    sources = {("rules", rule.function): rule.source for rule in rules.rules()}
    sources |= {("states", rule.function): rule.source for rule in rules.states()}
    sources |= {("calls", name): recipe.source for name, recipe in calls.recipes().items()}
    return sources | {("queries", query.function): query.source for query in queries.queries()}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m ci.contract.table", description=__doc__)
    parser.add_argument("surveys", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    surveys = [json.loads(path.read_text()) for path in options.surveys]
    options.out.write_text(page(surveys, sources_of_rows()))
    alone = [row for row in rows_of(surveys) if not row.agrees and row.differs]
    unread = [row for row in alone if (row.function, row.text) not in readings()]
    print(
        f"{options.out}: {len(alone)} rows that no real ICD agrees with, {len(unread)} of them not in {READINGS.name}"
    )
    for row in unread:
        print(f"  {row.function} {row.text} -> {row.expected}, but {'; '.join(_by_answer(row))}")
    return 1 if unread else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
