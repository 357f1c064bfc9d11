# SPDX-License-Identifier: Apache-2.0
"""Collects the suites with pytest, and runs the matrix in the place of pytest's own loop."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.build import ROOT
from harness.errors import ClharnessError, HarnessError, UsageError
from harness.run import torture
from harness.run.cases import CASE
from harness.selftest.matrix import Matrix
from harness.selftest.mutants import Mutant
from harness.selftest.worker import VARIABLE


class _Loop:
    """A pytest plugin: runs the cases against faults, as often as that needs."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        jobs: int,
        tick: Callable[[str], None],
        prove_checks: bool,
        all_own_cases: bool,
        programs: bool,
    ) -> None:
        self.mutants = mutants
        self.jobs = jobs
        self.tick = tick
        self.prove_checks = prove_checks
        self.all_own_cases = all_own_cases
        self.programs = programs
        self.matrix: Matrix | None = None
        self.error: ClharnessError | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = [item for item in session.items if CASE in item.stash]
        self.matrix = Matrix(items, self.mutants, self.jobs, self.programs)
        try:
            if not self.prove_checks:
                self.matrix.run_as_needed(self.tick, self.all_own_cases)
            elif self.matrix.run_without_fault(self.tick):
                self.matrix.run_faults(self.tick, self.all_own_cases)
        except ClharnessError as error:
            self.error = error
        return True


def run_matrix(
    suites: Path,
    folder: Path,
    subject: Sequence[str],
    mutants: Sequence[Mutant],
    jobs: int,
    tick: Callable[[str], None],
    prove_checks: bool,
    all_own_cases: bool = False,
    whole_lint: bool = True,
    keyword: Sequence[str] = (),
    programs: bool = False,
) -> Matrix:
    """Runs the checks in `folder`, which is `suites` or one of them, against faults. Raises where
    they cannot be collected, or hold no case. `subject` are the options that say what is tested. `keyword` is pytest's
    -k, or nothing. With `programs` the C program of each fault is tried."""
    os.environ.pop(VARIABLE, None)
    loop = _Loop(mutants, jobs, tick, prove_checks, all_own_cases, programs)
    arguments = [
        "-c",
        str(ROOT / "pytest.ini"),
        "--rootdir",
        str(suites.parent),
        "-p",
        "harness.run.plugin",
        "-q",
        "-s",
    ]
    arguments += ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:logging", "-p", "no:faulthandler", "-p", "no:xdist"]
    arguments += [
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        *subject,
    ]
    arguments += [torture.TOO, *keyword, str(folder)]
    if not whole_lint:
        arguments.append("--clharness-part")
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main(arguments, plugins=[loop])
    if loop.error is not None:
        raise loop.error
    if status == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if loop.matrix is None and status == pytest.ExitCode.USAGE_ERROR:
        raise UsageError(output.getvalue().strip().removeprefix("ERROR: "))
    if loop.matrix is None or status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise HarnessError("the suites could not be run:\n" + "\n".join(output.getvalue().splitlines()[-40:]))
    return loop.matrix
