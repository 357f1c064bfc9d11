# SPDX-License-Identifier: Apache-2.0
"""Workers that are lost, stopped or never done: what the pool says of each, and that the others go on."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.run import lost, orphans
from harness.run.interrupts import Interrupts
from harness.run.pool import Lost, Note, Pool, in_turn


def work(task: str, note: Note) -> str:
    """The answer to most tasks is the task."""
    note(f"note of {task}")
    if task == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    elif task == "stops":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif task == "stops with a child":
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "1000"])
        while True:
            os.kill(os.getpid(), signal.SIGSTOP)
    elif task == "waits":
        time.sleep(1000)
    elif task == "raises":
        raise ValueError("what it says")
    elif task == "ends":
        os._exit(7)
    elif task == "leaves a child" and os.fork() == 0:
        os.execvp("sleep", ["sleep", "1000"])
    return task


def run(*tasks: str, jobs: int = 2, limit: float = float("inf")) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    with Pool(work, jobs, limit) as pool:
        assert pool.run(in_turn(iter(tasks)), answers.__setitem__)
    return answers


def test_all_tasks_are_answered() -> None:
    tasks = [str(n) for n in range(50)]
    assert run(*tasks) == {task: task for task in tasks}


@pytest.mark.parametrize(
    ("task", "how"),
    [("dies", "was ended by SIGKILL"), ("ends", "ended with exit code 7"), ("raises", "ended with exit code 1")],
)
@pytest.mark.parametrize("jobs", [1, 3])
def test_lost_worker_costs_its_own_task(task: str, how: str, jobs: int) -> None:
    answers = run("a", task, "b", "c", jobs=jobs)
    assert [answers[name] for name in "abc"] == ["a", "b", "c"]
    assert isinstance(answers[task], Lost)
    assert (answers[task].how, answers[task].note) == (how, f"note of {task}")
    assert ("what it says" in answers[task].last_output) == (task == "raises")


def test_stopped_worker_goes_on() -> None:
    assert run("stops", "a", jobs=1) == {"stops": "stops", "a": "a"}


def test_worker_that_is_never_done_is_ended() -> None:
    answers = run("waits", "a", jobs=1, limit=1.0)
    assert answers["a"] == "a"
    assert (answers["waits"].timed_out, answers["waits"].left) == (True, ())
    assert lost.verdict_of(answers["waits"], out_of_memory=False)[0] == "error"


def test_process_that_a_worker_had_is_ended_and_named() -> None:
    answers = run("stops with a child", "a", jobs=1, limit=2.0)
    assert answers["a"] == "a"
    assert answers["stops with a child"].left == ("sleep",)
    assert lost.verdict_of(answers["stops with a child"], out_of_memory=False)[0] == "hang"


def test_nothing_is_left_of_a_pool() -> None:
    before = orphans.children().keys()
    assert run("leaves a child") == {"leaves a child": "leaves a child"}
    assert orphans.children().keys() == before


@pytest.mark.parametrize(
    ("known", "out_of_memory", "verdict"),
    [
        (Lost(-9, 1.0, left=("probe",)), False, "crash"),
        (Lost(-15, 1.0, left=("probe",)), False, "crash"),
        (Lost(-9, 1.0), False, "error"),
        (Lost(-9, 1.0, left=("probe",)), True, "error"),
        (Lost(-9, 300.0, timed_out=True, left=("probe",)), False, "hang"),
        (Lost(-9, 300.0, timed_out=True), False, "error"),
    ],
)
def test_verdict_of_a_lost_case(known: Lost, out_of_memory: bool, verdict: str) -> None:
    got, why = lost.verdict_of(known, out_of_memory)
    assert got == verdict
    assert known.how in why


def test_count_of_processes_that_were_ended_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "events").write_text("oom 4\noom_kill 3\n")
    (tmp_path / "vmstat").write_text("nr_free 1\noom_kill 2\n")
    monkeypatch.setattr(lost, "_OOM_COUNTS", (str(tmp_path / "vmstat"), str(tmp_path / "events"), str(tmp_path / "x")))
    assert lost.killed_for_memory() == 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_ends_the_work(number: signal.Signals) -> None:
    """Twice in a row, while workers are busy."""
    answers: dict[str, Any] = {}

    def take(task: str, answer: Any) -> None:
        answers[task] = answer
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)

    with Interrupts() as interrupts, Pool(work, 2, interrupts=interrupts) as pool:
        started = time.monotonic()
        assert not pool.run(in_turn(iter(["a", "waits", "b"])), take)
        assert interrupts.happened
    assert answers.keys() <= {"a", "b"} and "a" in answers
    assert time.monotonic() - started < 60


def test_signal_counts_where_it_was_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupts.happened
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "counts"), [(signal.SIGHUP, False), (signal.SIGTERM, True)])
def test_hangup_that_is_ignored_stays_so(number: signal.Signals, counts: bool) -> None:
    """As under nohup."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), number)
            assert interrupts.happened == counts
    finally:
        signal.signal(number, before)


def test_workers_are_out_of_reach_of_signals_for_the_whole_group() -> None:
    answers: dict[str, Any] = {}

    def group(_task: str, _note: object) -> int:
        return os.getpgid(0)

    with Pool(group, 1) as pool:
        pool.run(in_turn(iter(["a"])), answers.__setitem__)
    assert answers["a"] != os.getpgid(0)


def test_interrupt_that_a_destructor_swallows_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Swallows:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)  # the handler runs here at the latest

    with Interrupts() as interrupts:
        interrupts.raises = True
        monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            Swallows()
            time.sleep(30)
        interrupts.raises = False
