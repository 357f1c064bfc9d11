# SPDX-License-Identifier: Apache-2.0
"""Brings an expectation file up to what a run showed (`--update-expectations`).

What the run did not judge is left alone, and so are comments, order and layout of the other entries: the new
file is the old text with the blocks of changed entries edited. Each entry says which calls or parameters deviate and
how. An entry whose cases no longer agree is replaced by one for each way in which they deviate; new entries, and
old ones that say the same of several cases, are as few as patterns allow.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.build import command as own_command
from harness.build import installed
from harness.errors import UsageError
from harness.escaping import one_line
from harness.expectations import TO_BE_EXPLAINED, Entry, Expectations, load, section_key
from harness.expectations.abilities import holds
from harness.expectations.document import Document
from harness.expectations.folding import fits, patterns
from harness.expectations.versions import leading_integers, matches
from harness.requirements.catalogue import catalogue, index

if TYPE_CHECKING:
    from harness.report.records import CaseResult

Table = dict[str, Any]

RED = ("fail", "crash", "hang", "leak")


def update(
    expectations: Expectations,
    results: Sequence[CaseResult],
    subject: Mapping[str, Any],
    whole_suite: bool,
    path: Path | None = None,
    day: str | None = None,
) -> tuple[Path, list[str]]:
    """Writes the file; returns its path and one sentence for each change.

    `subject` are the facts about what was tested. `path` is where the file goes when there is none yet: none is added
    to the checkout unasked. Without `whole_suite`, entries that may stand for cases that did not run are kept. With it,
    and with a `day`, the file says that it was confirmed then, and with which sections of the catalogue.
    """
    document, target = _open(expectations, subject, path)
    change = _Update(document, expectations, results, whole_suite)
    change.revise()
    change.append()
    if whole_suite:
        change.fold()
        change.remove_stale()
        if day:
            change.confirm(day)
    if expectations.path is None:
        change.sayings.insert(0, f"new file for {subject.get('name')} {subject.get('version') or ''}".rstrip())
    if change.sayings:
        _write(target, document.render())
    return target, change.sayings


def _open(expectations: Expectations, subject: Mapping[str, Any], path: Path | None) -> tuple[Document, Path]:
    if expectations.path is not None:
        return Document(expectations.path.read_text(encoding="utf-8")), expectations.path
    refuse_unasked(expectations, subject, path)
    assert path is not None
    name, version = str(subject.get("name") or "unknown"), str(subject.get("version") or "")
    document = Document(
        f"# What is known about {one_line(name)}: accepted deviations and outcomes in the grey areas.\n\n"
    )
    document.set_head("loader", name)
    if number := leading_integers(version):
        document.set_head("versions", "==" + number)
    if path.exists():
        raise UsageError(f"{path} exists and does not hold for {name} {version}; correct its `versions`")
    return document, path


def refuse_unasked(
    expectations: Expectations, subject: Mapping[str, Any], path: Path | None, command: str = "loader"
) -> None:
    """Raises UsageError where an update would have to add a file to the checkout: of a subject that none is about.

    `command` is the one of clharness that tests such a subject.
    """
    if path is not None:
        return
    if expectations.path is not None:
        if installed():
            raise UsageError(
                f"--update-expectations: {expectations.path} belongs to the installation, which stays as it is; "
                "copy it, and name the copy with --expect"
            )
        return
    name, version = str(subject.get("name") or "unknown"), str(subject.get("version") or "")
    file = (re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-") or command) + ".toml"
    words = [own_command(), command, str(subject.get("path") or "PATH"), "--update-expectations", "--expect", file]
    raise UsageError(
        f"--update-expectations: no file of this project is about {f'{name} {version}'.strip()}; "
        f"name the file to write with --expect: {shlex.join(words)}"
    )


class _Update:
    """The changes of one document by one run; `sayings` has a sentence for each."""

    def __init__(
        self, document: Document, expectations: Expectations, results: Sequence[CaseResult], whole_suite: bool
    ) -> None:
        self.document = document
        self.expectations = expectations
        self.results = results
        self.whole_suite = whole_suite
        self.judged = [r for r in results if r.requirements and _is_evidence(r)]
        self.sayings: list[str] = []

    # --- entries that decided a case of this run ---

    def revise(self) -> None:
        decided: dict[Entry, list[CaseResult]] = defaultdict(list)
        unjudged: set[Entry] = set()
        absent: set[Entry] = set()
        evidence = {id(r) for r in self.judged}
        for result in self.results:
            expected = self.expectations.expected(result.requirements, result.name)
            for entry in filter(None, (expected.deviation, expected.pin)):
                if result.unsupported == "loader" and result.verdict not in entry.verdicts:
                    absent.add(entry)  # of a capability that another version of the subject has
                elif id(result) in evidence and (entry.kind == "deviation" or result.outcome is not None):
                    decided[entry].append(result)
                else:
                    unjudged.add(entry)
        for entry, cases in decided.items():
            if all(_holds(entry, r) for r in cases):
                continue
            partly = _is_pattern(entry) and (not self.whole_suite or entry in unjudged)
            partly = partly or (entry in absent and all(r.verdict == "pass" for r in cases))
            if partly and all(_agrees(entry, r) for r in cases):
                continue  # it holds, and only lacks the list of what deviates
            if partly:
                self.sayings.append(f"left {entry.id} alone, though it no longer holds: not all its cases were judged")
            elif entry.kind == "outcome":
                self._revise_outcome(entry, cases)
            else:
                self._revise_deviation(entry, cases)

    def _revise_outcome(self, entry: Entry, cases: Sequence[CaseResult]) -> None:
        if len({r.outcome for r in cases}) == 1:
            self._set(entry, "outcome", cases[0].outcome)
        else:
            self._split(entry, cases, cases)

    def _revise_deviation(self, entry: Entry, cases: Sequence[CaseResult]) -> None:
        deviating = [r for r in cases if r.verdict != "pass"]
        if not deviating:
            self.document.remove(entry.kind, entry.number)
            self.sayings.append(f"removed {entry.id}: its cases pass")
        elif len(entry.verdicts) > 1 and all(r.verdict in entry.verdicts for r in cases):
            happened = [text for r in deviating for text in _texts(r)]
            if happened:
                self._set(entry, "deviates", list(dict.fromkeys([*(entry.deviates or ()), *happened])))
        elif len(deviating) == len(cases) and len({_cause(r) for r in cases}) == 1:
            if cases[0].verdict not in entry.verdicts:
                self._set(entry, "verdict", cases[0].verdict)
            if texts := _texts(cases[0]):
                self._set(entry, "deviates", texts)
        else:
            self._split(entry, deviating, cases)

    def _set(self, entry: Entry, key: str, value: str | list[str] | None) -> None:
        self.document.set(entry.kind, entry.number, key, value)
        shown = "; ".join(value) if isinstance(value, list) else value
        named = "what deviates" if key == "deviates" else f"the {key}"
        self.sayings.append(f"changed {entry.id}: {named} is now {shown}")

    def _split(self, entry: Entry, deviating: Sequence[CaseResult], cases: Sequence[CaseResult]) -> None:
        """Replaces an entry by one for each cause among the cases that deviate."""
        tables = []
        for group in _grouped(deviating, _outcome if entry.kind == "outcome" else _cause):
            for pattern, _ in self._patterns(entry.requirement, group):
                tables.append(_narrowed(entry, pattern, group[0]))
        self.document.replace(entry.kind, entry.number, tables)
        if len(deviating) < len(cases):
            self.sayings.append(f"narrowed {entry.id} to {len(deviating)} of its {len(cases)} cases")
        else:
            self.sayings.append(f"split {entry.id}: its cases deviate in {len(tables)} ways")

    # --- what no entry covers ---

    def append(self) -> None:
        """Adds entries: first all deviations, then all outcomes."""
        expected = {id(r): self.expectations.expected(r.requirements, r.name) for r in self.judged}
        order = list(catalogue())
        ordered = sorted(self.judged, key=lambda r: (order.index(r.requirements[0]), r.name))
        deviating = [r for r in ordered if self._deviates(r) and not expected[id(r)].deviation]
        unpinned = [r for r in ordered if r.outcome is not None and not expected[id(r)].pin]
        for group in _grouped(deviating, lambda r: (r.requirements[0], _cause(r), _lack(r))):
            first = (group[0].reason or group[0].message).strip().partition("\n")[0]
            table: Table = {"verdict": group[0].verdict, "deviates": _texts(group[0])}
            table["reason"] = f"{TO_BE_EXPLAINED}: {first}" if first else TO_BE_EXPLAINED
            self._append("deviation", group, table, f"added {group[0].verdict} for")
        for group in _grouped(unpinned, lambda r: (r.requirements[0], r.outcome)):
            self._append("outcome", group, {"outcome": group[0].outcome}, f"pinned {group[0].outcome!r} for")

    def _deviates(self, result: CaseResult) -> bool:
        """Whether a result needs an entry: of capabilities that the subject lacks, only those that it once had."""
        if result.verdict == "unsupported":
            return result.capability in self.expectations.capabilities
        return result.verdict != "pass"

    def _append(self, kind: str, group: Sequence[CaseResult], table: Table, saying: str) -> None:
        requirement = group[0].requirements[0]
        for pattern, _ in self._patterns(requirement, group):
            full = {"requirement": requirement, "case": pattern, **table}
            self.document.append(kind, {key: value for key, value in full.items() if value})
            self.sayings.append(f"{saying} {requirement} {pattern or ''}".rstrip())

    def _patterns(self, requirement: str, group: Sequence[CaseResult]) -> list[tuple[str | None, list[str]]]:
        names = [r.name for r in group]
        return patterns(names, self._kin(requirement)) if self.whole_suite else [(name, [name]) for name in names]

    def _kin(self, requirement: str) -> list[str]:
        return [r.name for r in self.judged if requirement in r.requirements]

    # --- the whole file ---

    def fold(self) -> None:
        """Makes as few entries as patterns allow of those that say the same. Entries with a comment stay."""
        decided = self._decided()
        alike: dict[Hashable, list[tuple[int, Table]]] = defaultdict(list)
        for number, table in self.document.single("deviation"):
            if decided[number] and "case" in table and not self.document.has_comment("deviation", number):
                keys = (key for key in sorted(table) if key != "case")
                alike[tuple((key, str(table[key])) for key in keys)].append((number, table))
        for entries in alike.values():
            requirement = str(entries[0][1]["requirement"])
            chosen = patterns([name for n, _ in entries for name in decided[n]], self._kin(requirement))
            if len(chosen) >= len(entries):
                continue
            rest = {key: value for key, value in entries[0][1].items() if key not in ("requirement", "case")}
            cases = ({"case": pattern} if pattern else {} for pattern, _ in chosen)
            tables = [{"requirement": requirement} | case | rest for case in cases]
            self.document.replace("deviation", entries[0][0], tables)
            for number, _ in entries[1:]:
                self.document.remove("deviation", number)
            self.sayings.append(f"folded {len(entries)} entries for {requirement} into {len(chosen)}")

    def _decided(self) -> dict[int, list[str]]:
        """The cases of this run that each entry for a case or a pattern decides, by its number."""
        decided: dict[int, list[str]] = defaultdict(list)
        of_requirement: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, table in self.document.single("deviation"):
            if "case" in table and self._is_about(table):
                of_requirement[table["requirement"]].append((number, table["case"]))
        for requirement, entries in of_requirement.items():
            for name in self._kin(requirement):
                first = next((number for number, pattern in entries if fits(name, pattern)), None)
                if first is not None:
                    decided[first].append(name)
        return decided

    def _is_about(self, table: Table) -> bool:
        """Whether an entry holds for what was tested."""
        in_range = matches(table.get("versions", ""), self.expectations.version)
        return in_range and holds(table.get("when", ()), self.expectations.able)

    def remove_stale(self) -> None:
        for entry in self.expectations.stale((r.requirements, r.name) for r in self.results):
            self.document.remove(entry.kind, entry.number)
            self.sayings.append(f"removed {entry.id}: no case has it")

    def confirm(self, day: str) -> None:
        covered = {section_key(r.requirements) for r in self.judged} | (self.expectations.sections or set())
        sections = [key for key in index().section_order if key in covered]
        head = self.document.head
        if head.get("confirmed") != day or head.get("sections") != sections:
            self.document.set_head("confirmed", day)
            self.document.set_head("sections", sections)
            self.sayings.append(f"confirmed on {day}, with {len(sections)} sections of the catalogue")


def _is_evidence(result: CaseResult) -> bool:
    """Whether a result says something about the subject, and not about the harness or this machine."""
    return result.verdict != "error" and result.unsupported != "machine" and result.status != "flaky"


def _is_pattern(entry: Entry) -> bool:
    return entry.case is None or "*" in entry.case or "?" in entry.case


def _agrees(entry: Entry, result: CaseResult) -> bool:
    """Whether a result is one that the entry accepts."""
    if entry.kind == "outcome":
        return result.outcome == entry.outcome
    red = result.verdict in RED
    return result.verdict in entry.verdicts and not (
        red and (entry.unlisted(result.deviations) or entry.gone(result.deviations))
    )


def _holds(entry: Entry, result: CaseResult) -> bool:
    """Whether it accepts the result, and lists what deviates in it."""
    lacks = entry.kind == "deviation" and entry.deviates is None and bool(result.deviations)
    return _agrees(entry, result) and not lacks


def _texts(result: CaseResult) -> list[str]:
    """What deviates in a case, as entries list it; an assertion without a text says nothing."""
    return [text for text in dict.fromkeys(map(str, result.deviations)) if text]


def _cause(result: CaseResult) -> Hashable:
    """What cases have to share for one entry."""
    return result.verdict, frozenset(_texts(result))


def _lack(result: CaseResult) -> Hashable:
    """Why a case is unsupported."""
    return result.reason if result.verdict == "unsupported" else None


def _outcome(result: CaseResult) -> Hashable:
    return result.outcome


def _grouped(results: Sequence[CaseResult], key: Callable[[CaseResult], Hashable]) -> Collection[list[CaseResult]]:
    groups: dict[Hashable, list[CaseResult]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return groups.values()


def _narrowed(entry: Entry, pattern: str | None, result: CaseResult) -> Table:
    """The entry for some of its cases alone; `result` is that of one of them."""
    table: Table = {"requirement": entry.requirement}
    if pattern:
        table["case"] = pattern
    if entry.kind == "outcome":
        table["outcome"] = result.outcome
    else:
        verdicts = list(entry.verdicts) if result.verdict in entry.verdicts else [result.verdict]
        table["verdict"] = verdicts[0] if len(verdicts) == 1 else verdicts
        table["deviates"] = _texts(result)
    optional = {"reason": entry.reason, "link": entry.link, "versions": entry.versions, "when": list(entry.when)}
    return {key: value for key, value in (table | optional).items() if value}


def _write(path: Path, content: str) -> None:
    """Replaces the file in one step, and only with a file that can be read back."""
    path = path.resolve()  # a link stays one
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(content, encoding="utf-8")
        load(scratch)
        scratch.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; make it writable") from error
    finally:
        scratch.unlink(missing_ok=True)
