# SPDX-License-Identifier: Apache-2.0
"""A folder with a small C program for each finding about an ICD, and a README that lists them.

A finding is all cases that fail for one cause (harness/report/causes.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.build import build
from harness.escaping import markdown, markdown_code
from harness.report import CaseResult
from harness.report.causes import Cause, actual, causes, sentence_of
from harness.run import reproducer
from harness.run.program import Part

FAILED = ("fail", "crash", "hang", "leak")
MOST = 48  # parts of a program

_README = """# What {name} does differently

{count} findings of `clharness icd` ({cases} failed cases), on `{library}`{build}.

Each program needs a C compiler and the OpenCL-Headers, and nothing else. It loads the library, makes the calls in which
the defect shows, each part in a process of its own, and prints what was expected and what came. It exits with 1 where
the defect is there, with 0 where it is gone, and with 125 where that cannot be judged, so it is a regression test, and
serves `git bisect run`. Build and run one, or all:

```
cc -w NAME.c -ldl -o NAME && ./NAME [LIBRARY]
for file in *.c; do cc -w "$file" -ldl -o "${{file%.c}}" && "./${{file%.c}}"; done
```

Without LIBRARY they load {library}.

"""


class Reproducers:
    """Collects failed cases while a run goes on. `icd` are the facts of the library."""

    def __init__(self, folder: Path, icd: Mapping[str, Any]) -> None:
        self.folder = folder
        self.icd = icd
        self.failed: list[CaseResult] = []

    def add(self, result: CaseResult) -> None:
        """Takes a case; those that did not fail are passed over."""
        if result.verdict in FAILED:
            self.failed.append(result)

    def finish(self) -> None:
        """Writes the programs and the README."""
        rows, without, names = [], [], set[str]()
        findings = causes(self.failed)
        for finding in findings:
            source = self._program(finding)
            if source is None:
                without.append(_without(finding))
                continue
            name = _name(finding, names)
            names.add(name)
            title = (
                finding.first.name if len(finding.cases) == 1 else f"{finding.first.name}, {len(finding.cases)} cases"
            )
            (self.folder / f"{name}.c").write_text(
                source.text(title, _message(finding), name), encoding="utf-8", errors="backslashreplace"
            )
            rows.append(_row(name, finding))
        self._write_readme(rows, without, len(findings))

    def _program(self, finding: Cause) -> reproducer.Reproducer | None:
        """One program of those of the cases."""
        parts: dict[str, Part] = {}
        first: reproducer.Reproducer | None = None
        for case in finding.cases:
            source = _of(case)
            if source is None:
                continue
            first = first or source
            for part in source.parts:
                label = (
                    part.label if part.label == case.name or len(finding.cases) == 1 else f"{case.name}: {part.label}"
                )
                parts.setdefault(part.body, Part.from_json(part.to_json() | {"label": label}))
        if first is None:
            return None
        return reproducer.Reproducer(first.library, first.variables, tuple(parts.values())[:MOST])

    def _write_readme(self, rows: list[str], without: list[str], count: int) -> None:
        name = " ".join(str(self.icd[key]) for key in ("name", "version")).strip()
        build = f", build-id {self.icd['build_id']}" if self.icd["build_id"] else ""
        text = _README.format(
            name=markdown(name),
            count=count,
            cases=len(self.failed),
            library=markdown_code(str(self.icd["real_path"])),
            build=build,
        )
        if rows:
            columns = ("program", "verdict", "requirement", "cases", "what must hold", "what happened")
            head = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
            text += "\n".join([*head, *sorted(rows)]) + "\n"
        if without:
            text += "\n".join(["", "Findings that no program of calls shows:", "", *sorted(without)]) + "\n"
        (self.folder / "README.md").write_text(text, encoding="utf-8")


def _kept(case: CaseResult) -> Path | None:
    """The folder that the run kept of a case, which is one of this build, whatever a stranger's record says."""
    folder = Path(case.sandbox) if case.sandbox else None
    return folder if folder and folder.resolve().is_relative_to(build().folder / "failures") else None


def _of(case: CaseResult) -> reproducer.Reproducer | None:
    folder = _kept(case)
    if folder is None:
        return None
    try:
        return reproducer.read(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _message(finding: Cause) -> str:
    first = finding.first
    others = [f"  {case.name}" for case in finding.cases[1:40]]
    return "\n".join(
        [
            f"{', '.join(first.requirements)} ({first.strength})",
            first.message,
            *(["", "also:"] if others else []),
            *others,
        ]
    )


def _row(name: str, finding: Cause) -> str:
    first = finding.first
    cells = (
        f"`{name}.c`",
        first.verdict,
        f"{', '.join(first.requirements)} ({first.strength})",
        str(len(finding.cases)),
        markdown(sentence_of(first)),
        markdown(actual(first, 1)[:160]),
    )
    return f"| {' | '.join(cells)} |"


def _without(finding: Cause) -> str:
    """The line of a finding without a program: why there is none, and how to run it."""
    first, folder = finding.first, _kept(finding.first)
    reason = "it is not about calls without a loader"
    if folder and (folder / reproducer.NONE).exists():
        reason = (folder / reproducer.NONE).read_text(encoding="utf-8").strip()
    about = f"{first.verdict}, {', '.join(first.requirements)} ({first.strength}), {len(finding.cases)} cases"
    how = markdown_code(first.reproduce or "")
    return f"* {markdown_code(first.name)}: {about}. No program: {markdown(reason)}. Run {how}"


def _name(finding: Cause, names: set[str]) -> str:
    """Such as API-ARG-001_improper_argument_clCreateSampler; another one for each finding."""
    case = re.sub(r"\W+", "_", finding.first.name.removeprefix("test_")).strip("_")[:100]
    base = f"{finding.first.requirements[0]}_{case}"
    name, number = base, 1
    while name in names:
        number += 1
        name = f"{base}_{number}"
    return name
