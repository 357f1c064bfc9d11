# SPDX-License-Identifier: Apache-2.0
"""What subjects do to the worker that runs them costs one case: each planned case has one record."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.build import build
from harness.sandbox import guard
from tests.forked import clharness
from tests.small_runs import HOSTILE, QUIET, Outcome, SmallRun, kept_folder, read


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("isolation", ["plain", guard.isolation()])
@pytest.mark.parametrize("what", ["kill", "terminate", "trace"])
def test_worker_that_the_subject_wants_to_end_costs_one_case(
    small: SmallRun, what: str, isolation: str, jobs: str
) -> None:
    """Whether it reaches that process (as it can where nothing but a guard stands between) or not."""
    small.environment[guard.VARIABLE] = isolation
    small.suite(HOSTILE.replace("{what}", what), QUIET)
    done = small.run("-j", jobs)
    assert done.code == 1, done.output
    assert Counter(case["verdict"] for case in done.cases.values()) == {"crash": 1, "pass": 6}
    assert len(done.records) == 9, "header, 7 cases, footer"
    lost = done.cases["test_hostile"]
    assert lost["verdict"] == "crash" and lost["status"] == "unexpected"
    assert (done.records[0]["planned"], done.footer["planned"], done.footer["recorded"]) == (7, 7, 7)
    suite = ElementTree.parse(small.junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("7", "1", "0")
    assert "1 of 7 cases unexpected" in done.output
    assert not list(small.scratch.iterdir()), "the sandbox of the lost case is removed"


@pytest.mark.parametrize("isolation", ["plain", guard.isolation()])
def test_worker_that_the_subject_stops_goes_on(small: SmallRun, isolation: str) -> None:
    small.environment[guard.VARIABLE] = isolation
    small.suite(HOSTILE.replace("{what}", "stop"), QUIET)
    done = small.run("-j", "1", "--time-limit", "30")
    assert done.code == 0, done.output
    assert len(done.cases) == done.footer["recorded"] == 7


BUILDS = """
@requirement("DISC-LNX-014")
def test_a_builds(loader, sandbox):
    \"\"\"It is built again while its cases run.\"\"\"
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
    content = loader.path.read_bytes()
    loader.path.unlink()
    {statement}
"""


@pytest.mark.parametrize(
    ("statement", "code", "says"),
    [
        ("loader.path.write_bytes(content + bytes(1))", 3, "is another file than when the run began"),
        ("", 3, "is not there any more, as it was when the run began"),
        ("loader.path.write_bytes(content)", 0, "as expected, 1 case."),
    ],
    ids=["otherwise", "not yet", "the same"],
)
def test_library_that_is_built_again_meanwhile_is_not_what_was_tested(
    small: SmallRun, statement: str, code: int, says: str
) -> None:
    """The cases before and after that are of two libraries, and neither has passed."""
    small.library = Path(shutil.copy(small.library, small.scratch.parent / "built.so"))
    small.suite(BUILDS.replace("{statement}", statement))
    done = small.run("-j", "1")
    assert (done.code, done.footer["exit"]) == (code, code), done.output
    assert says in done.output


LEAVES = """
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>
CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    Dl_info own;
    return dladdr(&clGetPlatformIDs, &own) && unlink(own.dli_fname) == 0 ? -1001 : count + !platforms + !found;
}
"""


LEAVES_AT_ONCE = """
#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <unistd.h>
CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *to, size_t *needed)
{
    return name + size + !to + !needed ? CL_INVALID_VALUE : CL_SUCCESS;
}
__attribute__((constructor)) static void loaded(void)
{
    Dl_info own;
    if (dladdr(&clGetLayerInfo, &own)) {
        unlink(own.dli_fname);
    }
}
"""


@pytest.mark.parametrize(("kind", "source"), [("loader", LEAVES), ("layer", LEAVES_AT_ONCE)])
def test_library_that_is_gone_when_it_is_asked_gets_one_sentence(
    small: SmallRun, tmp_path: Path, kind: str, source: str
) -> None:
    small.library = tmp_path / "leaves.so"
    command = [build().compiler, "-shared", "-fPIC", "-x", "c", "-D_GNU_SOURCE", "-", "-o", str(small.library)]
    subprocess.run(command, input=source, text=True, check=True)
    done = clharness(kind, small.library, "-j", "1", "-k", "fifo or layer_life")
    assert done.returncode == 2 and "leaves.so is not there any more" in done.stderr
    assert "INTERNALERROR" not in done.stderr


def test_report_that_cannot_be_made_costs_no_verdict(small: SmallRun) -> None:
    """Folders 3,000 deep in the sandbox, then an abort: a crash, whatever can be shown of it."""
    small.suite(HOSTILE.replace("{what}", "deep"), QUIET)
    try:
        done = small.run("-j", "2")
    finally:  # nothing of Python's own removes such a folder
        kept = kept_folder(small, "discovery_test_small.py_test_hostile")
        subprocess.run(["rm", "-rf", small.scratch, kept], check=True)
    assert done.code == 1, done.output
    assert Counter(case["verdict"] for case in done.cases.values()) == {"crash": 1, "pass": 6}
    assert "SIGABRT" in done.cases["test_hostile"]["message"]


KILLS_ITSELF = '''
import signal

@requirement("DISC-LNX-014")
def test_without_a_subject(loader, sandbox):
    """It answers."""
    os.kill(os.getpid(), signal.SIGKILL)
    assert loader
'''


def test_worker_lost_without_a_subject_is_an_error(small: SmallRun) -> None:
    """As where the system kills it for memory: never a missing line."""
    small.suite(KILLS_ITSELF, QUIET)
    done = small.run("-j", "2")
    assert done.code == 3, done.output
    lost = done.cases["test_without_a_subject"]
    assert lost["verdict"] == "error"
    assert "SIGKILL" in lost["message"]
    assert done.footer["recorded"] == 7
    assert ElementTree.parse(small.junit).getroot().get("errors") == "1"


KILLS_ITSELF_IN_A_SESSION = '''
import signal

@requirement("DISC-LNX-014")
def test_hostile(loader, sandbox):
    """It answers."""
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
        os.kill(os.getpid(), signal.SIGKILL)
'''


def test_worker_lost_with_a_subject_is_a_crash(small: SmallRun) -> None:
    """As where a subject ended it, which the guard does not let it do."""
    small.suite(KILLS_ITSELF_IN_A_SESSION, QUIET)
    done = small.run("-j", "2")
    assert done.code == 1, done.output
    lost = done.cases["test_hostile"]
    assert lost["verdict"] == "crash" and "SIGKILL while the subject ran" in lost["message"]
    assert done.footer["recorded"] == 7
    assert not list(small.scratch.iterdir()), "the sandbox of the lost case is removed"


TEARDOWN = '''
@pytest.fixture
def stubborn():
    yield
    raise ValueError("cannot be put away")

@requirement("DISC-LNX-014")
def test_clean_up(stubborn, loader, sandbox):
    """It answers."""
    assert loader

@requirement("DISC-LNX-014")
def test_red_and_clean_up(stubborn, loader, sandbox):
    """It answers."""
    assert not loader
'''


@pytest.mark.parametrize("way", ["command", "pytest"])
def test_trouble_in_the_clean_up_is_no_second_record(small: SmallRun, way: str) -> None:
    small.suite(TEARDOWN)
    if way == "command":
        done = small.run("-j", "1")
        assert done.code == 1, done.output
    else:
        command = [*small.command()[:1], "-m", "pytest", "-c", str(small.root / "pytest.ini"), "-p", "no:cacheprovider"]
        command += ["--rootdir", str(small.root), "-p", "harness.run.plugin", f"--loader={small.library}"]
        subprocess.run(
            [*command, f"--clharness-json={small.records}", str(small.root / "suites")],
            env=small.environment,
            capture_output=True,
        )
        done = Outcome(1, "", read(small.records))
    assert [(r["case"].rpartition("::")[2], r["verdict"]) for r in done.records if r["record"] == "case"] == [
        ("test_clean_up", "error"),
        ("test_red_and_clean_up", "fail"),
    ]
    shutil.rmtree(kept_folder(small, "discovery_test_small.py_test_red_and_clean_up"), ignore_errors=True)


STAYS = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("answer", [0, -1001])
def test_stays(loader, sandbox, answer):
    """It answers."""
    sandbox.close = lambda: sandbox.problems.append("the sandbox could not be removed: it is in use")
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == answer
'''


def test_sandbox_that_could_not_be_removed_is_part_of_the_record(small: SmallRun) -> None:
    small.suite(STAYS)
    done = small.run("-j", "1")
    assert [case["verdict"] for case in done.cases.values()] == ["fail", "pass"]
    for case in done.cases.values():
        assert case["message"].splitlines()[-1] == "the sandbox could not be removed: it is in use"
