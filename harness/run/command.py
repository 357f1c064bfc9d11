# SPDX-License-Identifier: Apache-2.0
"""A run of the clharness command: pytest collects in this process, the loop runs the cases and reports."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import Exit, HarnessError, UsageError
from harness.escaping import printable
from harness.run.interrupts import Interrupts
from harness.run.loop import Loop
from harness.run.plan import Plan
from harness.subject.neighbours import keep_environment

PLUGIN = "harness.run.plugin"  # takes the options
# A cache would be written into the checkout, which may be read-only or shared; the others cost time in each case.
WITHOUT = ("cacheprovider", "faulthandler", "logging")


def run(root: Path, arguments: Sequence[str], jobs: int, plan: Plan) -> int:
    """Runs the suites in `root` with pytest's `arguments`; gives the exit code of the run.

    Raises ClharnessError where there is no run.
    """
    output = io.StringIO()
    gc.disable()  # until the pool has its workers, nearly all that is made stays
    with Interrupts() as interrupts:
        loop = Loop(sys.stdout, ["clharness", *sys.argv[1:]], jobs, interrupts, plan)
        with _surroundings(root, output):
            interrupts.raises = True
            try:
                status = int(pytest.main([*_own_arguments(root), *arguments], plugins=[loop]))
            except KeyboardInterrupt:
                status = int(pytest.ExitCode.INTERRUPTED)
            loop.finish()
        if loop.error:
            raise loop.error
        if loop.unprinted:
            print(f"clharness: {printable(loop.unprinted)}", file=sys.stderr)
        if loop.code is not None:
            if status == pytest.ExitCode.INTERNAL_ERROR:
                print(f"clharness: the run broke off:\n{_end_of(output)}", file=sys.stderr)
            return loop.code
        if interrupts.happened:
            print("clharness: interrupted before any case ran", file=sys.stderr)
            return Exit.INTERRUPTED
    return _explain_failure(status, output)


def _own_arguments(root: Path) -> list[str]:
    options = ["-c", str(root / "pytest.ini"), "--rootdir", str(root), "-p", PLUGIN, "-q", "-s", "--tb=native"]
    for plugin in WITHOUT:
        options += ["-p", f"no:{plugin}"]
    return [*options, "-W", "ignore::pytest.PytestAssertRewriteWarning"]


@contextlib.contextmanager
def _surroundings(root: Path, output: io.StringIO) -> Iterator[None]:
    """What pytest finds around it: the root as current folder, none of the user's plugins; what it says is kept."""
    environment, folder = dict(os.environ), os.getcwd()
    prefix, no_bytecode = sys.pycache_prefix, sys.dont_write_bytecode
    keep_environment()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    # Compiled suites are kept, but not in the checkout, which may be read-only or shared.
    sys.pycache_prefix, sys.dont_write_bytecode = str(build().folder / "pycache"), False
    os.chdir(root)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            yield
    finally:
        os.chdir(folder)
        sys.pycache_prefix, sys.dont_write_bytecode = prefix, no_bytecode
        os.environ.clear()
        os.environ.update(environment)


def _explain_failure(status: int, output: io.StringIO) -> int:
    """Says why the run ended without a report, from what pytest printed. `status` is pytest's."""
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("clharness: nothing ran: no check matches the selection", file=sys.stderr)
        return Exit.NOTHING_RAN
    if status == pytest.ExitCode.USAGE_ERROR:
        lines = output.getvalue().splitlines()
        start = next((n for n, line in enumerate(lines) if line.startswith("ERROR:")), 0)
        why = "\n".join(lines[start:]).removeprefix("ERROR:").strip()
        raise UsageError(printable(why) or "pytest refused the options")
    raise HarnessError(f"the run ended with status {status} before it could report:\n{_end_of(output)}")


def _end_of(output: io.StringIO) -> str:
    """The last lines of what pytest printed."""
    return "\n".join(f"  {printable(line)}" for line in output.getvalue().splitlines()[-60:])
