# SPDX-License-Identifier: Apache-2.0
"""Libraries that a driver opens by itself while it works, and that are not there: no file names them beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.doctor.ask import Answer, Asker
from harness.doctor.findings import Finding
from harness.doctor.packages import how_to_get

_ASKED = re.compile(r"\bfile=(\S+) \[\d+\];  (?:dynamically loaded|needed) by (.+) \[\d+\]")
_MAPPED = re.compile(r"\bfile=(\S+) \[\d+\];  generating link map")
_MOST = 3  # that are told


def missing_helpers(name: str, path: Path, where: str, asker: Asker) -> Iterator[Finding]:
    """What a driver that has nothing to offer looked for in vain. It is asked once more; `name` as its file has it."""
    for library, by in _in_vain(asker.ask("vendor", name, linker_tells="files"), name)[:_MOST]:
        yield Finding(
            "helper-missing",
            f"{path.name} has nothing to offer, and {library}, which {by} opens, cannot be loaded.",
            where,
            how_to_get(Path(library).name),
        )


def _in_vain(answer: Answer, name: str) -> list[tuple[str, str]]:
    """The libraries that were opened after the driver and not loaded, with who opened them. Where one of another
    version was loaded, the driver has what it looked for.
    """
    lines = answer.output.splitlines()
    begin = next((n for n, line in enumerate(lines) if (own := _MAPPED.search(line)) and own[1] == name), len(lines))
    mapped = {_stem(match[1]) for line in lines if (match := _MAPPED.search(line))}
    requests = {match[1]: match[2] for line in lines[begin:] if (match := _ASKED.search(line))}
    return [(library, by) for library, by in requests.items() if _stem(library) not in mapped]


def _stem(library: str) -> str:
    return Path(library).name.partition(".so")[0]
