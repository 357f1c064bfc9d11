# SPDX-License-Identifier: Apache-2.0
"""Explain a requirement: what it says, where that is written, and which checks prove it."""

from __future__ import annotations

import argparse
import difflib
import shutil
import textwrap
from collections.abc import Mapping, Sequence

from harness import expectations
from harness.build import ROOT
from harness.errors import Exit, UsageError
from harness.requirements.catalogue import Requirement, catalogue, grey_area_of, index
from harness.requirements.marks import Check, find_checks
from harness.requirements.sources import links_of, tags_of
from harness.requirements.state import checks_by_requirement, state_of

EXAMPLE = """\
  clharness explain DISC-LNX-011        one requirement
  clharness explain DISC-LNX            the requirements of a section
"""

_SUITES = ROOT / "suites"
_LABEL = 13


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="+", help="ID of a requirement or of a section")


def run(args: argparse.Namespace) -> int:
    checks = checks_by_requirement(find_checks(_SUITES)) if _SUITES.is_dir() else {}
    parts: list[str] = []
    for text in args.id:
        identifier = text.upper()
        if identifier in catalogue():
            places = [str(check) for check in checks.get(identifier, [])]
            parts.append("\n".join(_requirement(catalogue()[identifier], places)))
        elif identifier in index().titles:
            parts.append("\n".join(_section(identifier, checks)))
        else:
            raise UsageError(_unknown(text))
    print("\n\n".join(parts))
    return Exit.AS_EXPECTED


def _unknown(text: str) -> str:
    near = difflib.get_close_matches(text.upper(), [*catalogue(), *index().titles], n=3, cutoff=0.7)
    hint = f"did you mean {', '.join(near)}?" if near else "clharness requirements lists the sections"
    return f"{text}: no such requirement; {hint}"


def _section(key: str, checks: Mapping[str, Sequence[Check]]) -> list[str]:
    """One line for each requirement: its state and its statement."""
    lines = [f"{key}  {index().titles[key]}"]
    for requirement in catalogue().values():
        if requirement.key == key:
            state = state_of(requirement, checks)
            lines.append(f"  {requirement.id}  {requirement.strength:9}  {state:6}  {requirement.text}")
    return lines


def _requirement(requirement: Requirement, places: list[str]) -> list[str]:
    title = index().titles[requirement.key]
    lines = [f"{requirement.id}  {requirement.subject}, {requirement.strength}  ({requirement.key} {title})"]
    lines += _field("", requirement.text)
    if requirement.sentence:
        lines += _field("sentence", f'"{requirement.sentence}"')
    lines += _field("source", requirement.source)
    lines += _documents(requirement.source)
    lines += _field("checked by", requirement.check)
    lines += _field("fault", requirement.fault)
    if places:
        lines += _list("checks", places)
    elif requirement.no_check:
        lines += _field("no check", requirement.no_check)
    else:
        lines += _field("no check yet", requirement.later or "none, and no reason given")
    if area := grey_area_of(requirement.id):
        lines += _field("grey area", f"{area.topic}. Text: {area.text}. Policy: {area.policy}.")
    lines += _list("known", _known(requirement.id))
    return lines


def _documents(source: str) -> list[str]:
    """What the tags in a source stand for."""
    lines = [line for tag in tags_of(source) for line in _field("", f"{tag} = {index().documents[tag]}")]
    return lines + _list("read", list(dict.fromkeys(link.url for link in links_of(source))))


def _known(identifier: str) -> list[str]:
    """What the expectation files of known loaders say about a requirement."""
    lines: list[str] = []
    for file in expectations.known():
        for entry in file.all_entries:
            if entry.requirement != identifier:
                continue
            says = " or ".join(entry.verdicts) or str(entry.outcome)
            case = f" in {entry.case}" if entry.case else ""
            versions = entry.versions or file.versions
            reason = f": {entry.reason}" if entry.reason else ""
            link = f" <{entry.link}>" if entry.link else ""
            lines.append(f"{file.loader} {versions}".rstrip() + f": {entry.kind} {says}{case}{reason}{link}")
    return lines


def _field(label: str, text: str) -> list[str]:
    width = max(shutil.get_terminal_size((100, 24)).columns - _LABEL - 2, 30)
    wrapped = textwrap.wrap(text, min(width, 100), break_long_words=False)
    return [f"  {label if n == 0 else '':{_LABEL}}{line}" for n, line in enumerate(wrapped)]


def _list(label: str, items: list[str]) -> list[str]:
    return [line for n, item in enumerate(items) for line in _field(label if n == 0 else "", item)]
