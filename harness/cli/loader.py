"""Test a loader: run the suites against it and report what is not as expected."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from harness.build import build
from harness.errors import Exit, HarnessError, UsageError
from harness.report import channel
from harness.report.terminal import printable
from harness.subject.identify import identify, refusal
from harness.subject.library import file_format
from harness.subject.search import SONAME, system_loader

EXAMPLE = """\
  clharness loader                                     the system's loader, else the reference loader
  clharness loader build/libOpenCL.so.1 -k fifo        one that was just built, the checks named fifo
  clharness loader --json build/run.jsonl --junit build/run.xml --strict
"""

_ROOT = Path(__file__).resolve().parents[2]
_PLUGIN = "harness.run.plugin"  # takes the options below, and drives the report
_GRACE = 20.0  # seconds for an interrupted run to tell what it has


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="library to test; default: the system's loader, or where there is none the reference loader",
    )
    parser.add_argument("--suite", metavar="NAME", help="run only this suite: discovery, dispatch, layers, interop")
    add_run_arguments(parser)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """What every command takes that runs suites against a subject."""
    parser.add_argument("-k", metavar="EXPRESSION", help="run only the checks that match (as pytest's -k)")
    parser.add_argument("-j", metavar="N", type=positive, help="processes; default: one per processor")
    parser.add_argument("--json", metavar="FILE", help="write the records there, as JSON Lines")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML there")
    parser.add_argument("--expect", metavar="FILE", help="expectation file; default: found by the subject's name")
    parser.add_argument(
        "--update-expectations",
        action="store_true",
        help="rewrite the expectation file to what the run shows",
    )
    parser.add_argument("--strict", action="store_true", help="count deviations of should and de-facto, too")
    parser.add_argument("--time-limit", metavar="S", type=_seconds, help="seconds until a call counts as hung")
    parser.add_argument("--keep", action="store_true", help="keep the sandbox of every case")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(args: argparse.Namespace) -> int:
    suites = _ROOT / "suites"
    if not any(suites.glob("*/test_*.py")):
        raise HarnessError(f"there are no suites in {suites}; is this checkout complete?")
    return run_suites([*loader_option(args.path), *run_options(args), str(_suite_folder(suites, args.suite))])


def run_suites(arguments: Sequence[str]) -> int:
    """Runs pytest with the plugin, in the root; gives the exit code of the run."""
    own = ["-c", str(_ROOT / "pytest.ini"), "--rootdir", str(_ROOT), "-p", _PLUGIN, "-q", "--tb=native"]
    # A cache would be written into the checkout, which may be read-only or shared.
    command = [sys.executable, "-m", "pytest", *own, "-p", "no:cacheprovider", *arguments]
    with _captured() as output:
        status, code = _run_pytest(command, output)
        if code is not None:
            return code
        return _explain_failure(status, output)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; give 1 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time; give seconds, such as 5 or 0.5")
    return number


def run_options(args: argparse.Namespace) -> list[str]:
    """What pytest is told. Paths become absolute here: pytest runs in the root, wherever the user is."""
    arguments = [f"--color={_PYTEST_COLOR[args.color]}"]
    if args.k is not None:
        arguments += ["-k", args.k]
    if (jobs := _jobs(args.j)) > 1:
        arguments += ["-n", str(jobs)]
    for option, file in (("--clharness-json", args.json), ("--clharness-junit", args.junit)):
        if file is not None:
            arguments.append(f"{option}={output_path(option.replace('clharness-', ''), file)}")
    if args.expect is not None:
        arguments.append(f"--expect={_expectation_path(args.expect, args.update_expectations)}")
    if args.time_limit is not None:
        arguments.append(f"--time-limit={args.time_limit:g}")
    return arguments + [option for name, option in _FLAGS.items() if getattr(args, name)]


def _suite_folder(suites: Path, name: str | None) -> Path:
    if name is None:
        return suites
    present = sorted(folder.name for folder in suites.iterdir() if any(folder.glob("test_*.py")))
    if name not in present:
        raise UsageError(f"--suite {name}: there is no such suite; there is {', '.join(present)}")
    return suites / name


_FLAGS = {
    "update_expectations": "--update-expectations",
    "strict": "--clharness-strict",  # --strict is pytest's own
    "keep": "--keep",
}
_PYTEST_COLOR = {"auto": "auto", "always": "yes", "never": "no"}


def _jobs(asked: int | None) -> int:
    if importlib.util.find_spec("xdist") is None:
        if asked is not None and asked > 1:
            raise UsageError("-j needs pytest-xdist; install it, or leave -j out")
        return 1
    return asked or len(os.sched_getaffinity(0))


def loader_option(path: str | None) -> list[str]:
    """Which loader pytest is told to test: none for the system's, which it finds itself."""
    if path is not None:
        return [f"--loader={library_path(path)}"]
    if system_loader() is not None:
        return []
    print(f"clharness: there is no {SONAME} on this machine: this run tests clharness's own reference loader")
    return [f"--loader={build().reference_loader}"]


def library_path(text: str, example: str = "a loader, such as build/libOpenCL.so.1") -> Path:
    """The absolute path of a shared library. UsageError where it is none: what it is, or the `example` of one."""
    path = Path(text)
    try:
        form = file_format(path)
    except OSError as error:
        reason = "is a folder" if path.is_dir() else (error.strerror or str(error)).lower()
        raise UsageError(f"{text}: {reason}; give the path of {example}") from error
    if form != "ELF":
        if (identity := identify(path)).kind:
            raise UsageError(refusal(path, identity))
        raise UsageError(f"{text}: not a shared library; give the path of {example}")
    return path.absolute()


def output_path(option: str, text: str) -> Path:
    path = Path(text)
    if text in ("-", "/dev/stdout"):
        raise UsageError(f"{option} {text}: the report is printed there; name a file")
    if path.is_dir():
        raise UsageError(f"{option} {text}: is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {text}: there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {text}: cannot be written; name another file")
    return path.absolute()


def _expectation_path(text: str, will_be_written: bool) -> Path:
    path = Path(text)
    if not path.is_file() and not (will_be_written and path.parent.is_dir() and not path.exists()):
        raise UsageError(f"--expect {text}: no such file; --update-expectations would write a new one there")
    return path.absolute()


def _captured() -> IO[bytes]:
    """A file for pytest's own output, which is only of interest when a run breaks.

    It lies in memory where that is possible, so that a full disk cannot break the run.
    """
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("pytest"), "w+b")
    return tempfile.TemporaryFile()


def _run_pytest(command: Sequence[str], output: IO[bytes]) -> tuple[int, int | None]:
    """Runs the suites; gives pytest's status, and the run's exit code if the report came to its end."""
    status_read, status_write = os.pipe()
    report = os.dup(sys.stdout.fileno())
    environment = dict(os.environ) | channel.environment(report, status_write, ["clharness", *sys.argv[1:]])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    # Compiled suites are kept, but not in the checkout, which may be read-only or shared.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(build().folder / "pycache")
    sys.stdout.flush()
    process = subprocess.Popen(
        command,
        cwd=_ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        pass_fds=(report, status_write),
        # Its own group: a Ctrl-C reaches us alone, and we pass it on once. Twice would cut the report short.
        process_group=0,
    )
    os.close(report)
    os.close(status_write)
    with _signals_passed_on(process):
        status = process.wait()
    with open(status_read, "rb") as answer:
        os.set_blocking(answer.fileno(), False)
        code, trouble = channel.read_exit(answer.read() or b"")
    if trouble:
        print(f"clharness: {printable(trouble)}", file=sys.stderr)
    return status, code


@contextlib.contextmanager
def _signals_passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hands interrupts to the run, which then reports what it has; a second one, or silence, ends it."""
    first: float | None = None

    def pass_on(_number: int, _frame: object) -> None:
        nonlocal first
        with contextlib.suppress(ProcessLookupError):
            if first is None:
                first = time.monotonic()
                signal.setitimer(signal.ITIMER_REAL, _GRACE)
                process.send_signal(signal.SIGINT)
            else:
                os.killpg(process.pid, signal.SIGKILL)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _explain_failure(status: int, output: IO[bytes]) -> int:
    """Says why the run ended without a report, from what pytest printed. `status` is pytest's."""
    output.seek(0)
    lines = output.read().decode(errors="backslashreplace").splitlines()
    if status == _NO_TESTS:
        print("clharness: nothing ran: no check matches the selection", file=sys.stderr)
        return Exit.NOTHING_RAN
    if status == _PYTEST_USAGE:
        start = next((n for n, line in enumerate(lines) if line.startswith("ERROR:")), 0)
        said = "\n".join(lines[start:]).removeprefix("ERROR:").strip()
        raise UsageError(printable(said) or "pytest refused the options")
    if status in (-signal.SIGINT, -signal.SIGKILL):
        print("clharness: interrupted before the report was written", file=sys.stderr)
        return Exit.INTERRUPTED
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    tail = "\n".join(f"  {printable(line)}" for line in lines[-60:])
    raise HarnessError(f"the run {how} before it could report:\n{tail}")


_PYTEST_USAGE = 4  # exit codes of pytest
_NO_TESTS = 5
