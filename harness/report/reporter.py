# SPDX-License-Identifier: Apache-2.0
"""Takes the results of a run one by one and tells everybody: terminal, JSON Lines, JUnit, CI summary."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from harness import __version__
from harness.errors import Exit, UsageError
from harness.escaping import one_line, printable
from harness.expectations import Entry, Expectations, load
from harness.expectations.update import update as update_expectations
from harness.report import layout
from harness.report.jsonl import JsonLines
from harness.report.junit import write_junit
from harness.report.markdown import write_step_summary
from harness.report.records import CaseResult, Footer, Header, counts_of
from harness.report.status import judge
from harness.report.terminal import Color, Terminal

_FULL_BLOCKS = 20  # deviations shown in full; a loader that does nothing right should not bury the reader


class Reporter:
    """`start`, then `case` for every result as it comes, then `finish`, which gives the exit code.

    `terminal` is None where nothing should be printed. `live` says whether progress is shown while the run
    goes on. With `update`, the expectation file is rewritten at the end: that of `expectations`, or else
    `update_path`, or else one named after the loader.
    """

    def __init__(
        self,
        terminal: TextIO | None,
        jsonl: Path | None = None,
        junit: Path | None = None,
        *,
        expectations: Expectations | None = None,
        strict: bool = False,
        update: bool = False,
        update_path: Path | None = None,
        color: Color = "auto",
        live: bool = True,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._terminal = Terminal(terminal, color, environ) if terminal else None
        self._path = jsonl
        self._jsonl: JsonLines | None = None
        self._junit = junit
        self._expectations = expectations or Expectations()
        self._strict = strict
        self._update = update
        self._update_path = update_path
        self._live = live
        self._environ = environ
        self._header: Header | None = None
        self.results: list[CaseResult] = []
        self.unprinted: str | None = None  # why the report could not be printed, once that was tried

    def start(self, header: Header, kept: Sequence[CaseResult] = ()) -> None:
        """`kept` are results of an earlier run that this one goes on from."""
        self._header = header
        self.results = list(kept)
        if self._path:
            first = [header.to_json(), *(result.to_json() for result in kept)]
            self._jsonl = JsonLines(self._path, first if kept else ())
            if not kept:
                self._jsonl.write(header.to_json())
        path = one_line(str(header.tested.get("path")))
        known = f"expectations: {one_line(header.expectations or 'none')}"
        self._print(f"clharness {__version__}: {one_line(header.subject)}, {path}; {known}")

    def case(self, result: CaseResult) -> None:
        """Takes a judged result: see `harness.report.judge`."""
        self.results.append(result)
        if self._jsonl:
            self._jsonl.write(result.to_json())
        if self._terminal and self._live:
            if result.counts:
                title = self._terminal.style(f"{result.status} {result.verdict}", "bad")
                self._terminal.line(f"{title}  {one_line(result.case)}")
            planned = self._header.planned if self._header else None
            total = f"/{planned}" if planned else ""
            unexpected = sum(r.counts for r in self.results)
            self._terminal.progress(f"[{len(self.results)}{total}] {unexpected} unexpected  {result.case}")

    def finish(
        self,
        interrupted: bool = False,
        whole_suite: bool = False,
        collected: Sequence[tuple[Sequence[str], str]] | None = None,
    ) -> int:
        """Prints the report, completes the files, gives the exit code (see `harness.errors.Exit`).

        `whole_suite` says that every case was selected. `collected` are requirements and name of all cases that there
        are, selected or not: with either, stale expectations can be found.
        """
        header = self._header or Header(loader={})
        self.results.sort(key=lambda result: -1 if result.number is None else result.number)
        whole_suite = whole_suite and not interrupted
        if collected is None and whole_suite:
            collected = [(r.requirements, r.name) for r in self.results]
        stale = self._expectations.stale(collected) if collected is not None else []
        changes: list[str] = []
        troubles: list[str] = []
        judged: Sequence[CaseResult] = self.results
        if self._update and not interrupted:
            try:
                changes, judged = self._update_file(header, whole_suite)
                stale = [] if whole_suite else stale
            except UsageError as error:
                troubles.append(str(error))
        missing = (header.planned or 0) - len(self.results)
        if missing and header.planned is not None and not interrupted:
            troubles.append(f"{len(self.results)} of {header.planned} planned cases have a record")
        code = self._code(judged, stale, interrupted, bool(troubles))
        if self._jsonl:
            complete = not interrupted
            footer = Footer(counts_of(self.results), int(code), complete, header.planned, len(self.results))
            self._jsonl.write(footer.to_json())
            self._jsonl.close()
            troubles += filter(None, [self._jsonl.trouble])
        if self._junit:
            try:
                write_junit(self._junit, header, self.results, interrupted)
            except OSError as error:
                troubles.append(f"{self._junit}: cannot be written: {error.strerror}")
        if trouble := write_step_summary(self._environ, header, self.results, code):
            self._print(trouble)
        if troubles and code != Exit.INTERRUPTED:
            code = Exit.HARNESS
        self._print_report(header, stale, changes, troubles, code)
        unprinted = self._terminal.trouble if self._terminal and self._terminal.failed else None
        if unprinted and code == Exit.AS_EXPECTED:
            code = Exit.HARNESS
        self.unprinted = unprinted
        return code

    def _update_file(self, header: Header, whole_suite: bool) -> tuple[list[str], list[CaseResult]]:
        """Rewrites the expectation file; gives what changed, and the results as the new file judges them."""
        path, changes = update_expectations(
            self._expectations, self.results, header.tested, whole_suite, self._update_path, header.started[:10]
        )
        if not changes:
            return [f"{path}: nothing to change"], self.results
        self._expectations = load(path, header.tested.get("version") or None)
        judged = [judge(r, self._expectations, self._strict) for r in self.results]
        return [f"{path}: {change}" for change in changes], judged

    def _code(self, results: Sequence[CaseResult], stale: Sequence[Entry], interrupted: bool, trouble: bool) -> Exit:
        if interrupted:
            return Exit.INTERRUPTED
        if not results:
            return Exit.NOTHING_RAN
        if stale or any(r.counts and r.verdict != "error" for r in results):
            return Exit.UNEXPECTED
        if trouble or any(r.verdict == "error" for r in results):
            return Exit.HARNESS
        if all(r.verdict == "unsupported" for r in results):
            return Exit.NOT_APPLICABLE
        return Exit.AS_EXPECTED

    def _print_report(
        self,
        header: Header,
        stale: Sequence[Entry],
        changes: Sequence[str],
        troubles: Sequence[str],
        code: Exit,
    ) -> None:
        if not self._terminal:
            return
        self._terminal.end_progress()
        style, width = self._terminal.style, self._terminal.width
        results = self.results
        if results:
            self._print("", *layout.summary_table(results, style, self._terminal.table_width))
        if new := layout.unseen_sections(results, self._expectations):
            self._print("", new)
        counting = [r for r in results if r.counts]
        for result in counting[:_FULL_BLOCKS]:
            self._print("", *layout.deviation_block(result, width, style))
        rest = [f"{r.status} {layout.one_liner(r)}" for r in counting[_FULL_BLOCKS:]]
        self._section(f"{len(rest)} more unexpected, in full in the records (--json FILE)", rest)
        weak = [layout.one_liner(r) for r in results if r.status == "deviation"]
        self._section("Deviations that do not count (should and de-facto count with --strict)", weak)
        expected = [layout.one_liner(r) for r in results if r.status == "expected"]
        self._section("Expected deviations", expected)
        self._section("Unsupported", layout.unsupported_lines(results))
        grey = layout.grey_table(results, width - 2)
        self._section("Grey areas: the outcome that this loader shows", grey)
        lines = [f"{entry.id}: no case has it; --update-expectations removes it" for entry in stale]
        self._section(f"Stale entries in {self._expectations.path}", lines)
        self._section("Expectations updated", changes)
        lines = [f"{entry.id}: {printable(entry.reason or '')}" for entry in self._expectations.unexplained]
        self._section(f"To be explained in {self._expectations.path}: give each entry a reason", lines)
        for trouble in troubles:
            self._print("", style(f"clharness: {printable(trouble)}", "bad"))
        good = code in (Exit.AS_EXPECTED, Exit.NOT_APPLICABLE)
        self._print("", style(self._sentence(header, stale, code), "good" if good else "bad"))

    def _sentence(self, header: Header, stale: Sequence[Entry], code: Exit) -> str:
        if code == Exit.UNEXPECTED and not any(r.counts for r in self.results):
            return f"{one_line(header.subject)}: not as expected, {len(stale)} stale expectation(s)."
        return layout.verdict_sentence(header, self.results, code)

    def _section(self, title: str, lines: Sequence[str]) -> None:
        if lines:
            self._print("", f"{title}:", *(f"  {line}" for line in lines))

    def _print(self, *lines: str) -> None:
        if self._terminal:
            self._terminal.line("\n".join(lines))
