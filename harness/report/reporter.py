# SPDX-License-Identifier: Apache-2.0
"""Takes the results of a run one by one and tells everybody: terminal, JSON Lines, JUnit, CI summary."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from harness.errors import Exit, UsageError
from harness.escaping import one_line, printable
from harness.expectations import Expectations, load
from harness.expectations.abilities import abilities
from harness.report import layout
from harness.report.annotations import error_lines
from harness.report.ending import Ending, exit_code
from harness.report.jsonl import JsonLines
from harness.report.markdown import write_step_summary
from harness.report.progress import Progress
from harness.report.records import CaseResult, Footer, Header, counts_of
from harness.report.screen import head, screen
from harness.report.status import judge
from harness.report.terminal import Color, Terminal

_LIVE = 10  # unexpected cases that are shown as they come; the report at the end has them all


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
        html: Path | None = None,
        sarif: Path | None = None,
        verbose: bool = False,
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
        self._html = html
        self._sarif = sarif
        self._verbose = verbose
        self._live = live
        self._environ = environ
        self._header: Header | None = None
        self._progress = Progress(None)
        self._runs = 0
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
        self._progress = Progress(header.planned, len(kept))
        self._progress.unexpected = sum(r.counts for r in kept)
        if self._terminal:
            self._print(*head(header, self._terminal.width))

    def note(self, text: str) -> None:
        """A sentence about the run, for the terminal alone."""
        self._print(f"clharness: {printable(text)}")

    def run(self, result: CaseResult, times: int) -> None:
        """Takes one of several runs of a case, the `times`-th; the case's own result comes after the last one."""
        self._runs += 1
        if self._jsonl:
            self._jsonl.write(result.run_to_json(times))
        if self._terminal and self._live:
            self._terminal.progress(f"[run {self._runs}] {result.case}")

    def case(self, result: CaseResult) -> None:
        """Takes a judged result: see `harness.report.judge`."""
        self.results.append(result)
        if self._jsonl:
            self._jsonl.write(result.to_json())
        self._progress.add(result.counts)
        if self._terminal and self._live:
            if result.counts:
                self._show_live(self._terminal, result)
            self._terminal.progress(self._progress.text(result.case))

    def _show_live(self, terminal: Terminal, result: CaseResult) -> None:
        if self._progress.unexpected <= _LIVE:
            title = terminal.style(f"{result.status} {result.verdict}", "bad")
            terminal.line(f"{title}  {one_line(result.case)}")
        elif self._progress.unexpected == _LIVE + 1:
            terminal.line("more are unexpected: the report at the end has them all")

    def finish(
        self,
        interrupted: bool = False,
        whole_suite: bool = False,
        collected: Sequence[tuple[Sequence[str], str]] | None = None,
        known_stale: Sequence[str] = (),
        *,
        stopped: bool = False,
        trouble: str = "",
    ) -> int:
        """Prints the report, completes the files, gives the exit code (see `harness.errors.Exit`).

        `whole_suite` says that every case was selected. `collected` are requirements and name of all cases that there
        are, selected or not: with either, stale expectations can be found. `known_stale` are those of the runs that
        a merged one is made of. `stopped` says that the run left cases out because of those that were unexpected.
        `trouble` is what the run had, "" for none: what is expected is not updated then.
        """
        header = self._header or Header()
        self.results.sort(key=lambda result: -1 if result.number is None else result.number)
        whole_suite = whole_suite and not interrupted and not stopped
        if collected is None and whole_suite:
            collected = [(r.requirements, r.name) for r in self.results]
        stale = list(known_stale)
        if collected is not None:
            stale = [entry.id for entry in self._expectations.stale(collected)]
        changes: list[str] = []
        troubles = [trouble] if trouble else []
        judged: Sequence[CaseResult] = self.results
        if self._update and not interrupted and not troubles:
            try:
                changes, judged = self._update_file(header, whole_suite)
                stale = [] if whole_suite else stale
            except UsageError as error:
                troubles.append(str(error))
        missing = (header.planned or 0) - len(self.results)
        if missing and header.planned is not None and not interrupted and not stopped:
            troubles.append(f"{len(self.results)} of {header.planned} planned cases have a record")
        code = exit_code(judged, bool(stale), interrupted, bool(troubles))
        ending = Ending(
            header,
            self.results,
            int(code),
            stale,
            changes,
            [f"{entry.id}: {one_line(entry.reason or '')}" for entry in self._expectations.unexplained],
            layout.unseen_sections(self.results, self._expectations),
            stopped=stopped,
        )
        # The records come last: their exit code is that of the run, also where another file cannot be written.
        for write in (self._write_page, self._write_sarif, self._end_records):
            troubles += write(ending)
            if troubles and code != Exit.INTERRUPTED:
                code = Exit.HARNESS
            ending = dataclasses.replace(ending, code=int(code))
        return self._show(dataclasses.replace(ending, troubles=troubles))

    def _end_records(self, ending: Ending) -> list[str]:
        """Ends the files of records; gives the troubles that there were."""
        header, interrupted = ending.header, ending.code == Exit.INTERRUPTED
        complete = not interrupted and not ending.stopped
        troubles: list[str] = []
        if self._jsonl:
            counts, recorded = counts_of(self.results), len(self.results)
            footer = Footer(counts, ending.code, complete, header.planned, recorded, list(ending.stale))
            self._jsonl.write(footer.to_json())
            self._jsonl.close()
            troubles += filter(None, [self._jsonl.trouble])
        if self._junit:
            from harness.report.junit import write_junit

            try:
                write_junit(self._junit, header, self.results, interrupted)
            except OSError as error:
                troubles.append(f"{self._junit}: cannot be written: {error.strerror}")
        return troubles

    def _show(self, ending: Ending) -> int:
        """Prints the report, where CI looks for it, too; gives the exit code, which a report that is lost changes."""
        if trouble := write_step_summary(self._environ, ending):
            self._print(trouble)
        self._print_report(ending)
        if self._terminal:
            self._terminal.commands(error_lines(ending, self._environ))
        self.unprinted = self._terminal.trouble if self._terminal and self._terminal.failed else None
        if self.unprinted and ending.code == Exit.AS_EXPECTED:
            return Exit.HARNESS
        return ending.code

    def _write_sarif(self, ending: Ending) -> list[str]:
        """Gives the trouble that there was."""
        try:
            if self._sarif:
                from harness.report.sarif import sarif, write_sarif

                write_sarif(self._sarif, sarif(ending))
        except OSError as error:
            return [f"{self._sarif}: cannot be written: {error.strerror}"]
        return []

    def _write_page(self, ending: Ending) -> list[str]:
        """Gives the trouble that there was."""
        if not self._html:
            return []
        from harness.report.page import write_page  # only here: few runs want it, and its templates take a while

        try:
            self._print(f"page: {write_page(self._html, [ending])}")
        except UsageError as error:
            return [str(error)]
        return []

    def _update_file(self, header: Header, whole_suite: bool) -> tuple[list[str], list[CaseResult]]:
        """Rewrites the expectation file; gives what changed, and the results as the new file judges them."""
        from harness.expectations.update import update as update_expectations  # its library of TOML takes a while

        path, changes = update_expectations(
            self._expectations, self.results, header.subject.facts, whole_suite, self._update_path, header.started[:10]
        )
        if not changes:
            return [f"{path}: nothing to change"], self.results
        able = self._expectations.able
        known = abilities(header.subject.facts, lambda: header.loaders) if able is None else able
        self._expectations = load(path, header.subject.version or None, known)
        judged = [judge(r, self._expectations, self._strict) for r in self.results]
        return [f"{path}: {change}" for change in changes], judged

    def _print_report(self, ending: Ending) -> None:
        if self._terminal:
            self._terminal.end_progress()
            terminal = self._terminal
            self._print(*screen(ending, terminal.style, terminal.width, terminal.table_width, self._verbose))

    def _print(self, *lines: str) -> None:
        if self._terminal:
            self._terminal.line("\n".join(lines))
