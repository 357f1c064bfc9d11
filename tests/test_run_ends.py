# SPDX-License-Identifier: Apache-2.0
"""Runs that are cut short, at any moment: what ran is on disk and in the report, nothing stays, and one can go on."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.build import build
from tests import small_runs
from tests.forked import Started
from tests.small_runs import HOSTILE, QUIET, SmallRun, read

WAITS = '''
@requirement("DISC-LNX-014")
def test_waits(loader, sandbox):
    """It answers, unless it is to wait."""
    if Path("{flag}").exists():
        sandbox.env.update(DO="wait", WORKER="1")
    with loader.start(sandbox) as cl:
        Path("{started}").write_text(f"{os.getpid()} {cl.pid}")
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
'''
COLLECTS = """
Path("{started}").touch()
time.sleep(1000)
"""
LIMIT = ("--time-limit", "500")


class Cut:
    """A run of seven cases, one of which waits until the run is cut short."""

    def __init__(self, small: SmallRun, folder: Path) -> None:
        self.small = small
        self.flag, self.started = folder / "flag", folder / "started"
        self.flag.touch()

    def suite(self, *checks: str) -> None:
        names = {"{flag}": str(self.flag), "{started}": str(self.started)}
        for name, path in names.items():
            checks = tuple(check.replace(name, path) for check in checks)
        self.small.suite(*checks)

    def until(self, what: Callable[[], bool], process: subprocess.Popen[str] | Started) -> None:
        deadline = time.monotonic() + 100
        while not what():
            assert process.poll() is None or what(), process.communicate()
            assert time.monotonic() < deadline
            select.select([], [], [], 0.01)

    def waits(self) -> bool:
        """Whether all cases but the one that waits have a record, and that one has said who waits."""
        return self.started.exists() and bool(self.started.read_bytes()) and self.lines() == 7

    def lines(self) -> int:
        """How many whole lines the records have by now."""
        return self.small.records.read_bytes().count(b"\n") if self.small.records.exists() else 0


@pytest.fixture
def cut(small: SmallRun, tmp_path: Path) -> Cut:
    return Cut(small, tmp_path)


def ignore_children() -> None:
    """As some programs do that start others and do not care."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


PRIVATE = """
@requirement("DISC-LNX-014")
def test_private_root(loader, sandbox):
    \"\"\"It answers in a private root, for which bubblewrap waits for its child.\"\"\"
    with loader.start(sandbox, system=True) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
"""


def test_children_are_waited_for_where_that_was_ignored(small: SmallRun) -> None:
    small.suite(PRIVATE)
    done = small.end(small.start("-j", "1", preexec_fn=ignore_children), limit=60)
    assert done.cases["test_private_root"]["verdict"] in ("pass", "unsupported"), done.output


def ignore_interrupts() -> None:
    """As a shell does for what a script starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("number", "times", "ignored"),
    [
        (signal.SIGINT, 1, False),
        (signal.SIGINT, 2, False),
        (signal.SIGINT, 1, True),
        (signal.SIGTERM, 1, False),
        (signal.SIGHUP, 1, False),
    ],
)
def test_interrupted_run_reports_what_ran(cut: Cut, number: signal.Signals, times: int, ignored: bool) -> None:
    cut.suite(WAITS, QUIET)
    options = ("-j", "2", *LIMIT)
    process = cut.small.start(*options, preexec_fn=ignore_interrupts) if ignored else cut.small.begin(*options)
    cut.until(cut.waits, process)
    for _ in range(times):
        process.send_signal(number)
    done = cut.small.end(process)
    assert done.code == 130, done.output
    assert "interrupted after 6 cases of 7, 0 unexpected so far" in done.output.splitlines()[-1]
    footer = done.footer
    assert [footer[key] for key in ("record", "complete", "exit", "planned", "recorded")] == [
        "footer",
        False,
        130,
        7,
        6,
    ]
    assert len(done.cases) == 6
    suite = ElementTree.parse(cut.small.junit).getroot()
    assert (suite.get("tests"), suite.get("errors")) == ("7", "1"), "six cases, and that the run is not whole"
    assert not list(cut.small.scratch.iterdir()), "the case that was cut short put its sandbox away"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_signal_to_the_whole_group_costs_no_case(cut: Cut, number: signal.Signals) -> None:
    """As a terminal sends them."""
    cut.suite(WAITS, QUIET)
    process = cut.small.begin("-j", "2", *LIMIT, group=True)
    cut.until(cut.waits, process)
    os.killpg(process.pid, number)
    done = cut.small.end(process)
    assert done.code == 130, done.output
    assert (done.footer["planned"], done.footer["recorded"]) == (7, 6)


@pytest.mark.parametrize("ignored", [False, True], ids=["foreground", "background"])
def test_interrupt_while_cases_are_collected(cut: Cut, ignored: bool) -> None:
    cut.suite(COLLECTS, QUIET)
    process = cut.small.start("-j", "2", preexec_fn=ignore_interrupts) if ignored else cut.small.begin("-j", "2")
    cut.until(cut.started.exists, process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    done = cut.small.end(process)
    assert done.code == 130, done.output
    assert "interrupted after 0 cases" in done.output
    assert [r["record"] for r in done.records] == ["header", "footer"]
    assert (done.footer["complete"], done.footer["planned"], done.footer["recorded"]) == (False, None, 0)
    assert ElementTree.parse(cut.small.junit).getroot().get("errors") == "1"


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_run_leaves_records_and_no_process_and_can_be_resumed(cut: Cut, jobs: str) -> None:
    cut.suite(QUIET, WAITS)
    process = cut.small.begin("-j", jobs, *LIMIT)
    cut.until(cut.waits, process)
    worker, subject = map(int, cut.started.read_text().split())
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 30
    while not (gone(worker) and gone(subject)):
        assert time.monotonic() < deadline, "the worker and the subject end with the run"
        select.select([], [], [], 0.01)
    before = read(cut.small.records)
    assert [r["record"] for r in before] == ["header", *["case"] * 6]

    cut.flag.unlink()
    resumed = list(cut.small.command("-j", jobs, "--resume", str(cut.small.records)))
    place = resumed.index("--json")
    del resumed[place : place + 2]  # without another file, the records go where they were
    done = subprocess.run(resumed, env=cut.small.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    after = read(cut.small.records)
    assert after[1:7] == before[1:], "what had been recorded is kept as it was"
    assert [r["record"] for r in after] == ["header", *["case"] * 7, "footer"]
    assert after[7]["case"].endswith("test_waits")
    assert (after[-1]["planned"], after[-1]["recorded"], after[-1]["complete"]) == (7, 7, True)
    assert "as expected, 7 cases" in done.stdout


ASKED = """
static void __attribute__((constructor)) ask(void)
{
    FILE *file = fopen("{started}", "w");
    fclose(file);
    pause();
}
"""


def test_interrupt_while_the_subject_is_asked_what_it_is(cut: Cut, tmp_path: Path) -> None:
    """It is not asked again for the report."""
    source = Path(__file__).with_name("killing_loader.c").read_text() + ASKED.replace("{started}", str(cut.started))
    (tmp_path / "asked.c").write_text("#include <stdio.h>\n" + source)
    cut.small.library = tmp_path / "libasked.so"
    flags = ["-DCL_TARGET_OPENCL_VERSION=300", "-shared", "-fPIC", str(tmp_path / "asked.c")]
    subprocess.run([build().compiler, *flags, "-o", str(cut.small.library)], check=True)
    cut.suite(QUIET)
    process = cut.small.begin("-j", "1", *LIMIT)
    cut.until(cut.started.exists, process)
    process.send_signal(signal.SIGINT)
    done = cut.small.end(process)
    assert done.code == 130, done.output
    assert [r["record"] for r in done.records] == ["header", "footer"]


FAILS = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("answer", [0, 1])
def test_fails(loader, sandbox, answer):
    """It answers what no loader answers."""
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == answer
'''


@pytest.mark.parametrize("records", [0, 3, 8])
def test_run_killed_at_some_moment_ends_like_an_undisturbed_one(small: SmallRun, tmp_path: Path, records: int) -> None:
    """The same verdicts, for the same reasons, counted in the same way."""
    small.suite(QUIET, HOSTILE.replace("{what}", "trace"), FAILS)
    undisturbed = small.run("-j", "2")
    small.records.unlink()
    process = small.begin("-j", "2")
    cut = Cut(small, tmp_path)
    cut.until(lambda: cut.lines() > records, process)
    process.kill()
    process.communicate()
    before = read(small.records)
    assert before[0]["record"] == "header" and len(before) > records
    done = small.run("-j", "2", "--resume", str(small.records))
    assert done.code == undisturbed.code == 1, done.output
    assert judged(done.cases) == judged(undisturbed.cases) and len(done.cases) == 9
    counts = ("planned", "recorded", "complete", "verdicts", "statuses")
    assert [done.footer.get(key) for key in counts] == [undisturbed.footer.get(key) for key in counts]
    assert len(done.records) == 11
    assert not list(small.scratch.iterdir())


def judged(cases: dict[str, dict[str, Any]]) -> dict[str, tuple[object, ...]]:
    return {name: (case["verdict"], case["status"], case.get("deviations")) for name, case in cases.items()}


def test_half_a_line_is_run_again(small: SmallRun) -> None:
    small.suite(QUIET)
    whole = small.run("-j", "1")
    lines = small.records.read_bytes().splitlines(keepends=True)
    small.records.write_bytes(b"".join(lines[:3]) + lines[3][:100])
    done = small.run("-j", "1", "--resume", str(small.records))
    assert done.code == 0, done.output
    assert done.records[1:3] == whole.records[1:3]
    assert done.cases.keys() == whole.cases.keys() and done.footer["recorded"] == 6


def test_interrupted_run_is_resumed_without_its_footer(cut: Cut) -> None:
    cut.suite(QUIET, WAITS)
    process = cut.small.begin("-j", "1", *LIMIT)
    cut.until(cut.waits, process)
    process.send_signal(signal.SIGINT)
    assert cut.small.end(process).code == 130
    cut.flag.unlink()
    done = cut.small.run("-j", "1", "--resume", str(cut.small.records))
    assert done.code == 0, done.output
    assert [r["record"] for r in done.records] == ["header", *["case"] * 7, "footer"]


def header(**loader: str) -> bytes:
    return json.dumps({"record": "header", "loader": loader}).encode() + b"\n"


def test_run_that_was_interrupted_before_it_knew_its_subject_is_resumed(small: SmallRun) -> None:
    small.suite(QUIET)
    small.records.write_bytes(header())
    done = small.run("-j", "1", "--resume", str(small.records))
    assert done.code == 0, done.output
    assert done.footer["recorded"] == 6


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file or directory"),
        (b"", "does not begin with the header of a run"),
        (b"[" * 100_000 + b"\n", "line 1 is not a record"),
        (b'{"record": "footer"}\n', "does not begin with the header of a run"),
        (header() + b'{"record": "case"}\n', "holds a case whose record is not complete"),
        (header(real_path="/other"), "is of another loader"),
    ],
)
def test_what_cannot_be_resumed_is_said(small: SmallRun, content: bytes | None, says: str) -> None:
    small.suite(QUIET)
    file = small.scratch / "old.jsonl"
    if content is not None:
        file.write_bytes(content)
    done = small.run("-j", "1", "--resume", str(file))
    assert done.code == 2
    assert f"--resume {file}: {says}" in done.output
    assert (file.read_bytes() if file.exists() else None) == content, "it is left as it was"


def test_another_selection_is_not_resumed(small: SmallRun) -> None:
    small.suite(QUIET)
    assert small.run("-j", "1", "-k", "quiet and 3").code == 0
    done = small.run("-j", "1", "-k", "quiet and 4", "--resume", str(small.records))
    assert done.code == 2
    assert "give the same selection" in done.output
    assert os.path.getsize(small.records) > 0


# The file of each report, and what writes it; it waits there until the flag is gone.
MOMENTS = {
    "--html": ("harness.report.page", "write_page"),
    "--sarif": ("harness.report.sarif", "write_sarif"),
    "--junit": ("harness.report.junit", "write_junit"),
}
STOPS = """
import importlib, pathlib, select
module = importlib.import_module({module!r})
def stop(*arguments, go_on=module.{function}):
    pathlib.Path({started!r}).touch()
    while pathlib.Path({flag!r}).exists():
        select.select([], [], [], 0.01)
    return go_on(*arguments)
module.{function} = stop
"""


@pytest.mark.parametrize("option", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signal_while_a_report_is_written(
    cut: Cut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, option: str
) -> None:
    """All cases ran: the report comes to its end, or the records are there and a resumed run brings it to its end."""
    module, function = MOMENTS[option]
    places = {"module": module, "function": function, "started": str(cut.started), "flag": str(cut.flag)}
    monkeypatch.setattr(small_runs, "COMMAND", STOPS.format(**places) + small_runs.COMMAND)
    cut.suite(QUIET)
    wanted = ["--html", str(tmp_path / "page"), "--sarif", str(tmp_path / "run.sarif")]
    process = cut.small.begin("-j", "2", *wanted)
    cut.until(cut.started.exists, process)
    process.send_signal(number)
    if number == signal.SIGKILL:
        process.communicate()
        assert [r["record"] for r in read(cut.small.records)][:7] == ["header", *["case"] * 6]
    cut.flag.unlink()
    done = cut.small.end(process) if number != signal.SIGKILL else None
    if done is None or done.code == 130:
        done = cut.small.run("-j", "2", *wanted, "--resume", str(cut.small.records))
    assert done.code == done.footer["exit"] == 0, done.output
    assert (done.footer["planned"], done.footer["recorded"], done.footer["complete"]) == (6, 6, True)
    assert {case["verdict"] for case in done.cases.values()} == {"pass"}
    assert ElementTree.parse(cut.small.junit).getroot().get("tests") == "6"
    assert json.loads((tmp_path / "run.sarif").read_text())["version"] == "2.1.0"
    assert (tmp_path / "page" / "index.html").read_text().rstrip().endswith("</html>")
    left = [path.name for folder in (tmp_path, tmp_path / "page") for path in folder.iterdir()]
    assert not [name for name in left if name.startswith(".")], "no half of a file stays after the next run"
    assert not list(cut.small.scratch.iterdir())
