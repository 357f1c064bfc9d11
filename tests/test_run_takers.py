# SPDX-License-Identifier: Apache-2.0
"""What a loader, an ICD or a layer takes of the machine, and how it leaves the state that it was started in
(tests/hostile_takers.c, tests/hostile_leavers.c), costs its own case alone, in every way that the guard has."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import guard
from harness.sandbox.folder import OwnFolder
from harness.sandbox.machine import scratch_root
from tests import small_runs
from tests.samples import WHOLE
from tests.small_runs import SmallRun
from tests.test_run_deeds import processes

TAKERS = {
    "fills_memory": "crash",
    "fills_memory_of_children": "crash",
    "makes_files": "crash",
    "makes_deep_folders": "pass",
    "makes_deep_folders_and_aborts": "crash",
    "makes_sparse_giants": "pass",
    "makes_too_large_a_file": "crash",
    "floods_stderr": "crash",
    "floods_stdout": "crash",
    "floods_sockets": "crash",
    "floods_the_log": "fail",
    "forks_without_end": "crash",
    "starts_threads_without_end": "crash",
    "leaves_a_bomb": "pass",
    "leaves_writers": "pass",
    "fills_shared_memory": "pass",
    "opens_all_that_it_may": "pass",
}
LEAVERS = {
    "raises_its_limits": "pass",
    "replaces_its_descriptors": "crash",
    "renames_itself": "pass",
    "masks_all_signals": "hang",
    "sets_up_rings": "pass",
    "becomes_a_program_in_memory": "crash",
    "faults_for_ever": "hang",
    "is_traced_by_its_child": "hang",  # whoever waits for its end waits for the child, which goes on
    "is_stuck_in_vfork": "hang",
    "covers_its_sandbox": "pass",
    "looks_for_sandboxes": "pass",
    "leaves_its_namespaces": "pass",
    "changes_the_machine": "pass",
    "opens_memory_of_others": "pass",
    "overflows_its_other_stack": "crash",
    "faults_again_and_again": "hang",
    "is_trapped": "crash",
    "reads_past_the_end_of_a_file": "crash",
    "truncates_the_log": "crash",
}
EITHER = {  # by who is faster
    "leaves_a_bomb": {"pass", "crash"},
    "truncates_the_log": {"crash", "fail"},
    "makes_deep_folders": {"pass", "crash"},
    "fills_shared_memory": {"pass", "hang"},  # as dear as memory is on a machine that others fill, too
}
CHECK = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("deed", {deeds})
def test_deed(loader, sandbox, deed):
    """It answers after that."""
    sandbox.env.update(DEED=deed, OTHER={other!r})
    {place}
    with loader.start(sandbox) as cl:
        assert cl.platform_count() == 0
        assert not sandbox.log.calls("clGetPlatformIDs", by="icd")
'''
QUIET = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("n", range(6))
def test_quiet(loader, sandbox, n):
    """There is no platform."""
    with loader.start(sandbox) as cl:
        assert cl.platform_count() == 0
'''
PLACES = {
    "loader": "",
    "ICD": 'sandbox.vendor_file("x.icd", {library!r} + "\\n")',
    "layer": 'sandbox.env["OPENCL_LAYERS"] = {library!r}',
}
# A subject may have half of the memory, and a hundred thousand files, which would cost this machine too much here.
LESS = "from harness.probe import limits\nlimits._most_memory = lambda: 256 << 20\nlimits.MAX_ENTRIES = 4_000\n"
MANY = 300  # files in /dev/shm


BOMBS = {"forks_without_end", "leaves_a_bomb", "starts_threads_without_end"}  # the same for each kind


def share(deeds: dict[str, str], way: str, kind: str) -> dict[str, str]:
    """A third of the deeds, so that each is done in every way that the guard has, and by a library of every kind, which
    is loaded into the same process whatever it is; ci/nightly wants all in each.
    """
    if WHOLE:
        return deeds
    row, column = guard.WAYS.index(way), list(PLACES).index(kind)
    return {deed: verdict for at, (deed, verdict) in enumerate(deeds.items()) if (at + row + column) % len(PLACES) == 0}


def compiled(folder: Path, source: str, kind: str) -> Path:
    path = folder / "libOpenCL.so.1"
    flags = ["-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror", "-DCL_TARGET_OPENCL_VERSION=300"]
    command = [build().compiler, *flags, f"-DAS_{kind.upper()}", str(Path(__file__).with_name(source)), "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    if "cl_layer.h" in done.stderr or "CL_LAYER" in done.stderr:
        pytest.skip("the OpenCL-Headers are older than layers")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def crowded() -> Iterator[None]:
    """Other cases' sandboxes, and more files in /dev/shm than a program is given."""
    files = [Path(f"/dev/shm/clharness-test-{os.getpid()}-{n}") for n in range(MANY)]
    with contextlib.ExitStack() as stack:
        for place in {Path("/dev/shm"), scratch_root()}:
            stack.callback(OwnFolder(place, guard.PREFIX).remove)
        for file in files:
            file.touch()
            stack.callback(file.unlink)
        yield


def state_of_the_machine() -> dict[str, object]:
    places = (Path("/dev/shm"), Path("/tmp"), Path("/etc"))
    modes = {str(place): (place.stat().st_mode, place.stat().st_uid) for place in places}
    names = {str(path) for path in Path("/dev/shm").glob("filled-*")}
    return {"modes": modes, "names": names, "host": socket.gethostname(), "urgency": os.getpriority(os.PRIO_PROCESS, 0)}


def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    kind: str,
    source: str,
    deeds: dict[str, str],
    time_limit: int = 4,
) -> None:
    """Runs a case for each deed, and some that are quiet, and looks at everything that must not be otherwise."""
    monkeypatch.setattr(small_runs, "COMMAND", LESS + small_runs.COMMAND)
    hostile = compiled(tmp_path, source, kind)
    small = SmallRun(tmp_path, hostile if kind == "loader" else build().reference_loader)
    small.environment[guard.VARIABLE] = way
    del small.environment["CLHARNESS_SCRATCH"]
    with subprocess.Popen(["sleep", "1000"]) as other:
        try:
            place = PLACES[kind].format(library=str(hostile))
            small.suite(CHECK.format(deeds=sorted(deeds), place=place, other=str(other.pid)), QUIET)
            before, began = state_of_the_machine(), time.monotonic()
            done = small.run("-j", "2", "--time-limit", str(time_limit), limit=600)
            took = time.monotonic() - began
        finally:
            other.kill()
    if "does not allow that" in done.output:
        pytest.skip(f"{way}: {done.output}")
    verdicts = {name.partition("[")[2].rstrip("]"): case["verdict"] for name, case in done.cases.items()}
    messages = "\n".join(f"{name}: {case['message'][:400]}" for name, case in done.cases.items() if case["message"])
    wrong = {deed: verdicts[deed] for deed in deeds if verdicts[deed] not in EITHER.get(deed, {deeds[deed]})}
    assert not wrong, messages
    assert [verdicts[str(n)] for n in range(6)] == ["pass"] * 6, messages
    assert done.footer["recorded"] == done.footer["planned"] == len(deeds) + 6
    assert (done.footer["exit"], done.code) == (1, 1)
    assert state_of_the_machine() == before
    assert not [line for line in processes() if str(hostile) in line or str(small.root) in line]
    assert took < 400


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("way", guard.WAYS)
def test_takers_cost_their_own_cases_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, kind: str
) -> None:
    # Elsewhere they take what the machine has until somebody looks, which other tests need (SECURITY.md).
    is_bounded = kind == "loader" and way == "namespaces"
    bounded = {deed: verdict for deed, verdict in TAKERS.items() if deed not in BOMBS}
    bombs = {deed: TAKERS[deed] for deed in BOMBS if is_bounded}
    run(tmp_path, monkeypatch, way, kind, "hostile_takers.c", share(bounded, way, kind) | bombs)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("way", guard.WAYS)
@pytest.mark.usefixtures("crowded")
def test_leavers_cost_their_own_cases_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, kind: str
) -> None:
    # What does not hang does next to nothing; some of what hangs computes until its time is over.
    run(tmp_path, monkeypatch, way, kind, "hostile_leavers.c", share(LEAVERS, way, kind), time_limit=1)


@pytest.mark.parametrize("deeds", [TAKERS, LEAVERS])
def test_shares_have_every_deed_in_every_way_and_by_every_kind(deeds: dict[str, str]) -> None:
    for way in guard.WAYS:
        assert {deed for kind in PLACES for deed in share(deeds, way, kind)} == set(deeds)
    for kind in PLACES:
        assert {deed for way in guard.WAYS for deed in share(deeds, way, kind)} == set(deeds)
