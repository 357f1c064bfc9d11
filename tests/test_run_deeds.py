# SPDX-License-Identifier: Apache-2.0
"""What a loader does to the machine, to the harness and to itself (tests/hostile_deeds.c) costs its own case alone, in
every way that the guard has."""

from __future__ import annotations

import os
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import guard
from tests.small_runs import QUIET, SmallRun, small

__all__ = ["small"]

DEEDS = {
    "signals": "pass",
    "signals_by_files": "pass",
    "signals_its_peers": "pass",
    "traces": "pass",
    "limits": "pass",
    "slows_down": "pass",
    "opens_memory": "pass",
    "opens_files": "pass",
    "enters_namespaces": "pass",
    "kills_from_many": "pass",
    "takes_the_terminal": "pass",
    "closes_all": "crash",
    "stops_its_group": "hang",
    "daemons": "pass",
    "limits_itself": "crash",
    "becomes_another_user": "pass",
    "refuses_itself_to_write": "crash",
    "locks_its_files": "pass",
    "leaves_timers": "crash",
    "has_no_root": "pass",
    "kills_in_a_namespace": "pass",
    "unmounts": "pass",
}
CHECK = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("deed", {deeds})
def test_deed(loader, sandbox, deed):
    """It answers after that."""
    sandbox.env.update(DEED=deed, WORKER=str(os.getpid()), HARNESS=str(os.getppid()), TERMINAL={terminal!r})
    sandbox.env["MOUNTS"] = os.readlink("/proc/self/ns/mnt")
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
        assert not sandbox.log.calls("clGetPlatformIDs", by="icd")
'''


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("hostile_deeds.c")
    path = tmp_path_factory.mktemp("deeds") / "libOpenCL.so.1"
    command = [build().compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-DCL_TARGET_OPENCL_VERSION=300"]
    subprocess.run([*command, str(source), "-o", str(path)], check=True)
    return path


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """One that nobody sits at."""
    ours, theirs = os.openpty()
    yield theirs, os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def processes() -> set[str]:
    """The names of the processes that may be the run's."""
    names = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            names.add(path.read_text(errors="replace"))
        except OSError:
            continue
    return names


@pytest.mark.parametrize("way", guard.WAYS)
def test_deeds_cost_their_own_cases_alone(small: SmallRun, way: str, terminal: tuple[int, str]) -> None:
    small.environment[guard.VARIABLE] = way
    modes = termios.tcgetattr(terminal[0])
    small.suite(CHECK.format(deeds=sorted(DEEDS), terminal=terminal[1]), QUIET)
    done = small.run("-j", "2", "--time-limit", "5")
    if "does not allow that" in done.output:
        pytest.skip(f"{way}: {done.output}")
    verdicts = {name.partition("[")[2].rstrip("]"): case["verdict"] for name, case in done.cases.items()}
    messages = "\n".join(
        f"{name}: {case['message'][:400]}" for name, case in done.cases.items() if case["verdict"] != "pass"
    )
    assert {deed: verdicts[deed] for deed in DEEDS} == DEEDS, messages
    assert [verdicts[str(n)] for n in range(6)] == ["pass"] * 6
    assert done.footer["recorded"] == done.footer["planned"] == len(DEEDS) + 6
    assert termios.tcgetattr(terminal[0]) == modes
    assert not list(small.scratch.iterdir()), "nothing is left"
    assert not [line for line in processes() if str(small.library) in line]
