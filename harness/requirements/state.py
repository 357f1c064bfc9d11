# SPDX-License-Identifier: Apache-2.0
"""The state of the catalogue: which requirements have a check, which a reason why not, what is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.requirements.catalogue import Index, Requirement
from harness.requirements.marks import Check

# What can be said of a requirement. "open": neither a check, nor a reason, nor something it waits for.
STATES = ("check", "reason", "later", "open")


def checks_by_requirement(checks: Iterable[Check]) -> dict[str, list[Check]]:
    """The checks of each requirement's ID; checks without a requirement are left out."""
    by_requirement: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        if check.requirement is not None:
            by_requirement[check.requirement].append(check)
    return dict(by_requirement)


def state_of(requirement: Requirement, checked: Mapping[str, object]) -> str:
    """One of STATES; a check counts more than any reason."""
    if requirement.id in checked:
        return "check"
    if requirement.no_check:
        return "reason"
    return "later" if requirement.later else "open"


def section_states(requirements: Mapping[str, Requirement], checked: Mapping[str, object]) -> dict[str, Counter[str]]:
    """How many requirements of each section are in each state, in the order of the catalogue."""
    states: dict[str, Counter[str]] = defaultdict(Counter)
    for requirement in requirements.values():
        states[requirement.key][state_of(requirement, checked)] += 1
    return dict(states)


def without_proof(
    requirements: Mapping[str, Requirement], checked: Mapping[str, object], faults: Mapping[str, object]
) -> list[str]:
    """Requirements on loaders that are checked, and for which nothing shows that their checks can fail.

    `faults` holds the requirements that have a seeded fault, or a reason for none.
    """
    return [
        f"{requirement.id}: is checked, but has neither a mutant nor a reason why there is none (no_mutant)"
        for requirement in requirements.values()
        if requirement.id in checked
        and requirement.for_loader
        and requirement.strength in ("must", "should")
        and requirement.id not in faults
    ]


def checks_without_proof(checks: Iterable[Check], faults: Mapping[str, object]) -> list[str]:
    """Checks none of whose requirements, however weak, has a fault or a reason for none: nothing is there to turn
    them red. `faults` as above."""
    named: dict[tuple[str, str], list[Check]] = defaultdict(list)
    for check in checks:
        if check.name and check.requirement is not None:
            named[check.file, check.name].append(check)
    return [
        f"{own[0]}: none of {', '.join(str(c.requirement) for c in own)} has a mutant, or a reason for none (no_mutant)"
        for own in named.values()
        if not any(check.requirement in faults for check in own)
    ]


def not_proven(checks: Mapping[str, str]) -> list[str]:
    """Checks that a run of the whole self-test left open. `checks` gives the state of each by its pytest ID."""
    return [f"{name}: the self-test has no proof of it" for name, state in checks.items() if state == "unproven"]


def problems(requirements: Mapping[str, Requirement], index: Index, checks: Sequence[Check], suites: Path) -> list[str]:
    """What must not be: one sentence each, with the place to look at."""
    sentences: list[str] = []
    checked = checks_by_requirement(checks)
    for check in checks:
        if check.requirement is None:
            sentences.append(f"{check}: names its requirement by an expression; write the ID, so that it can be found")
        elif check.requirement not in requirements:
            sentences.append(f"{check}: names {check.requirement}, which is not in the catalogue")
    for name, group in index.groups.items():
        own = [c for c in checks if c.suite == group.suite and c.requirement and c.requirement.startswith(f"{name}-")]
        if group.later and own:
            sentences.append(f"index.toml: group {name} says it waits ({group.later}), but {own[0]} checks it")
    for requirement in requirements.values():
        state = state_of(requirement, checked)
        if state == "check" and requirement.no_check:
            first = checked[requirement.id][0]
            sentences.append(f"{requirement.id}: says that no check can be had, but {first} is one")
        if requirement.strength == "must" and not requirement.sentence:
            sentences.append(f"{requirement.id}: is a must without `sentence`: quote the text that demands it")
        suite = index.groups[requirement.group].suite
        if state == "open" and requirement.for_loader and (suites / suite).is_dir():
            sentences.append(
                f"{requirement.id}: has neither a check in {suites.name}/{suite} nor a reason why not: "
                f"{requirement.text}"
            )
    return sentences
