"""Brings an expectation file up to what a run showed (`--update-expectations`).

What the run did not judge is left alone, and so are comments, order and layout of the other entries: the new
file is the old text with the blocks of changed entries edited. Entries that say of several cases what now
holds for some of them only are replaced by one entry for each that still deviates.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.expectations import Entry, Expectations, load
from harness.expectations.document import Document
from harness.requirements.catalogue import catalogue

if TYPE_CHECKING:
    from harness.report.records import CaseResult

Table = dict[str, Any]


def update(
    expectations: Expectations,
    results: Sequence[CaseResult],
    loader: Mapping[str, Any],
    whole_suite: bool,
    path: Path | None = None,
) -> tuple[Path, list[str]]:
    """Writes the file; returns its path and one sentence for each change.

    `loader` are the facts about the loader. `path` is where the file goes when there is none yet; by default
    it is named after the loader. Without `whole_suite`, entries that may stand for cases that did not run are
    kept.
    """
    document, target = _open(expectations, loader, path)
    judged = [r for r in results if r.requirements and _is_evidence(r)]
    sayings: list[str] = []
    _revise(document, expectations, judged, results, whole_suite, sayings)
    _append(document, expectations, judged, whole_suite, sayings)
    if whole_suite:
        for entry in expectations.stale((r.requirements, r.name) for r in results):
            document.remove(entry.kind, entry.number)
            sayings.append(f"removed {entry.id}: no case has it")
    if expectations.path is None:
        sayings.insert(0, f"new file for {loader.get('name')} {loader.get('version') or ''}".rstrip())
    if sayings:
        _write(target, document.render())
    return target, sayings


def _is_evidence(result: CaseResult) -> bool:
    """Whether a result says something about the loader, and not about the harness or this machine."""
    return result.verdict != "error" and result.unsupported != "machine"


def _open(expectations: Expectations, loader: Mapping[str, Any], path: Path | None) -> tuple[Document, Path]:
    if expectations.path is not None:
        return Document(expectations.path.read_text(encoding="utf-8")), expectations.path
    name, version = str(loader.get("name") or "unknown"), str(loader.get("version") or "")
    if name == "unknown" and path is None:
        raise UsageError(
            "--update-expectations: this loader does not tell its name, so no file would be found for it; "
            "name the file to write with --expect"
        )
    document = Document(f"# What is known about {name}: accepted deviations and outcomes in the grey areas.\n\n")
    document.head["loader"] = name
    if re.match(r"\d", version):
        document.head["versions"] = "==" + version
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
    if path is None:
        path = expectations.folder / f"{slug}.toml"
        if path.exists():
            path = expectations.folder / f"{slug}-{version}.toml"
    if path.exists():
        raise UsageError(f"{path} exists and does not hold for {name} {version}; correct its `versions`")
    return document, path


def _revise(
    document: Document,
    expectations: Expectations,
    judged: Sequence[CaseResult],
    results: Sequence[CaseResult],
    whole_suite: bool,
    sayings: list[str],
) -> None:
    """Edits the entries that decided a case of this run."""
    decided: dict[Entry, list[CaseResult]] = defaultdict(list)
    unjudged: set[Entry] = set()
    evidence = {id(r) for r in judged}
    for result in results:
        expected = expectations.expected(result.requirements, result.name)
        for entry in filter(None, (expected.deviation, expected.pin)):
            if id(result) in evidence and (entry.kind == "deviation" or result.outcome is not None):
                decided[entry].append(result)
            else:
                unjudged.add(entry)
    for entry, cases in decided.items():
        says = _verdict if entry.kind == "deviation" else _outcome
        deviating = [r for r in cases if says(r) != "pass" or entry.kind == "outcome"]
        accepted = entry.verdicts if entry.kind == "deviation" else (entry.outcome,)
        if all(says(r) in accepted for r in cases):
            continue
        pattern = entry.case is None or "*" in entry.case or "?" in entry.case
        if pattern and (not whole_suite or entry in unjudged):
            sayings.append(f"left {entry.id} alone, though it no longer holds: not all its cases were judged")
            continue
        if not deviating:
            document.remove(entry.kind, entry.number)
            sayings.append(f"removed {entry.id}: its cases pass")
        elif len({says(r) for r in cases}) == 1:
            key = "verdict" if entry.kind == "deviation" else "outcome"
            document.set(entry.kind, entry.number, key, says(cases[0]))
            sayings.append(f"changed {entry.id}: the {key} is now {says(cases[0])}")
        else:
            document.replace(entry.kind, entry.number, [_narrowed(entry, r) for r in deviating])
            sayings.append(f"narrowed {entry.id} to {len(deviating)} of its {len(cases)} cases")


def _narrowed(entry: Entry, result: CaseResult) -> Table:
    """The entry for one of its cases alone."""
    table: Table = {"requirement": entry.requirement, "case": result.name}
    if entry.kind == "outcome":
        table["outcome"] = result.outcome
    else:
        verdicts = list(entry.verdicts) if result.verdict in entry.verdicts else [result.verdict]
        table["verdict"] = verdicts[0] if len(verdicts) == 1 else verdicts
    optional = {"reason": entry.reason, "link": entry.link, "versions": entry.versions}
    return table | {key: value for key, value in optional.items() if value}


def _append(
    document: Document,
    expectations: Expectations,
    judged: Sequence[CaseResult],
    whole_suite: bool,
    sayings: list[str],
) -> None:
    """Adds entries for what no entry covers: first all deviations, then all outcomes."""
    expected = {id(r): expectations.expected(r.requirements, r.name) for r in judged}
    deviating = [r for r in judged if r.verdict != "pass" and not expected[id(r)].deviation]
    unpinned = [r for r in judged if r.outcome is not None and not expected[id(r)].pin]
    for case, result in _grouped(deviating, judged, _verdict, whole_suite):
        table = {"requirement": result.requirements[0], "case": case, "verdict": result.verdict}
        first = (result.reason or result.message).strip().partition("\n")[0]
        table["reason"] = f"to be explained: {first}" if first else "to be explained"
        document.append("deviation", {k: v for k, v in table.items() if v is not None})
        sayings.append(f"added {result.verdict} for {result.requirements[0]} {case or ''}".rstrip())
    for case, result in _grouped(unpinned, judged, _outcome, whole_suite):
        table = {"requirement": result.requirements[0], "case": case, "outcome": result.outcome}
        document.append("outcome", {k: v for k, v in table.items() if v is not None})
        sayings.append(f"pinned {result.outcome!r} for {result.requirements[0]} {case or ''}".rstrip())


def _verdict(result: CaseResult) -> str:
    return result.verdict


def _outcome(result: CaseResult) -> str | None:
    return result.outcome


def _grouped(
    wanted: Sequence[CaseResult],
    judged: Sequence[CaseResult],
    says: Callable[[CaseResult], Hashable],
    whole_suite: bool,
) -> list[tuple[str | None, CaseResult]]:
    """As few entries as say the same: one for a requirement or a family of cases, if all in it agree.

    Gives pairs of a case pattern (None for the whole requirement) and a result that stands for all it covers.
    """
    order = list(catalogue())
    wanted = sorted(wanted, key=lambda r: (order.index(r.requirements[0]), r.name))
    inside = {id(r) for r in wanted}
    entries: list[tuple[str | None, CaseResult]] = []
    done: set[int] = set()

    def agree(group: Sequence[CaseResult]) -> bool:
        return whole_suite and all(id(r) in inside for r in group) and len({says(r) for r in group}) == 1

    for result in wanted:
        if id(result) in done:
            continue
        kin = [r for r in judged if result.requirements[0] in r.requirements]
        stem, bracket, _ = result.name.partition("[")
        family = [r for r in kin if bracket and r.name.startswith(stem + "[")]
        if agree(kin):
            entries.append((None, result))
            done.update(map(id, kin))
        elif len(family) > 1 and agree(family):
            entries.append((f"{stem}[*]", result))
            done.update(map(id, family))
        else:
            entries.append((result.name, result))
            done.add(id(result))
    return entries


def _write(path: Path, content: str) -> None:
    """Replaces the file in one step, and only with a file that can be read back."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(content, encoding="utf-8")
        load(scratch)
        scratch.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; make it writable") from error
    finally:
        scratch.unlink(missing_ok=True)
