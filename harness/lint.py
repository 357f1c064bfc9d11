"""What must be true of the suites before any check runs: known requirements, in the right folder, nothing twice."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cases import Case
from harness.requirements.catalogue import catalogue

# Groups of requirements that each suite's folder may prove.
GROUPS = {
    "discovery": ("DISC",),
    "dispatch": ("DISP",),
    "layers": ("LAY",),
    "interop": ("GL", "XM", "PL"),
}


def lint(cases: Sequence[Case]) -> list[str]:
    """Sentences that say what is wrong; none when all is well."""
    problems = []
    known = catalogue()
    for case in cases:
        where = case.id.partition("[")[0]
        if case.suite not in GROUPS:
            problems.append(f"{where}: there is no suite '{case.suite}'")
            continue
        if not case.requirements:
            problems.append(f'{where}: names no requirement; write @requirement("ID") above it')
        if not case.sentence:
            problems.append(f"{where}: has no docstring; say in one sentence what must hold")
        for identifier in case.requirements:
            if identifier not in known:
                problems.append(f"{where}: there is no requirement {identifier}")
            elif known[identifier].group not in GROUPS[case.suite]:
                problems.append(f"{where}: {identifier} is of group {known[identifier].group}, not of this folder")
        if "[NOTSET" in case.name:
            problems.append(f"{where}: its parametrisation yields nothing")
    return list(dict.fromkeys(problems))
