# SPDX-License-Identifier: Apache-2.0
"""A folder with a small C program for each failed case of an ICD, and a README that lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.build import build
from harness.escaping import markdown, markdown_code
from harness.report import CaseResult

_COUNT = re.compile(r"\d+ of \d+ calls")
FAILED = ("fail", "crash", "hang", "leak")

_README = """# What {name} does differently

{count} failed cases of `clharness icd`, on `{library}`{build}.

Each program needs a C compiler and the OpenCL-Headers, and nothing else. It loads the library, makes the calls of the
case in their order, and prints what each answers; where the driver crashes, so does the program. The comment at its
head says what was expected. Build and run one, or all:

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
        self.rows: list[str] = []
        self.without: list[str] = []
        self.names: set[str] = set()

    def add(self, result: CaseResult) -> None:
        """Copies the program of a case, where it failed and has one."""
        if result.verdict not in FAILED:
            return
        source = Path(result.sandbox) / "reproducer.c" if result.sandbox else None
        if source and not source.resolve().is_relative_to(
            build().folder / "failures"
        ):  # as a stranger's record may say
            source = None
        about = f"{result.verdict} | {', '.join(result.requirements)} ({result.strength})"
        if source is None or not source.exists():
            how = markdown_code(result.reproduce or "")
            self.without.append(f"* {markdown_code(result.name)}: {about.replace(' | ', ', ')}; run {how}")
            return
        name = self._name(result)
        text = source.read_text(encoding="utf-8", errors="replace")
        old, new = "cc reproducer.c -ldl -o reproducer && ./reproducer", f"cc -w {name}.c -ldl -o {name} && ./{name}"
        (self.folder / f"{name}.c").write_text(text.replace(old, new, 1), encoding="utf-8")
        must, *happened = result.message.splitlines() or [""]
        first = next((line for line in happened if line and not _COUNT.fullmatch(line)), "")
        cells = (f"`{name}.c`", *about.split(" | "), markdown(must), markdown(first[:160]))
        self.rows.append(f"| {' | '.join(cells)} |")

    def finish(self) -> None:
        """Writes the README."""
        name = " ".join(str(self.icd[key]) for key in ("name", "version")).strip()
        build = f", build-id {self.icd['build_id']}" if self.icd["build_id"] else ""
        count = len(self.rows) + len(self.without)
        library = markdown_code(str(self.icd["real_path"]))
        text = _README.format(name=markdown(name), count=count, library=library, build=build)
        if self.rows:
            columns = ("program", "verdict", "requirement", "what must hold", "what happened first")
            head = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
            text += "\n".join([*head, *sorted(self.rows)]) + "\n"
        if self.without:
            why = "Cases with threads, children, a loader, or no call at all have no program:"
            text += "\n".join(["", why, "", *sorted(self.without)]) + "\n"
        (self.folder / "README.md").write_text(text, encoding="utf-8")

    def _name(self, result: CaseResult) -> str:
        """Such as API-ARG-001_improper_argument_clCreateSampler; another one for each case."""
        case = re.sub(r"\W+", "_", result.name.removeprefix("test_")).strip("_")[:100]
        wanted = f"{result.requirements[0]}_{case}"
        name, number = wanted, 1
        while name in self.names:
            number += 1
            name = f"{wanted}_{number}"
        self.names.add(name)
        return name
