# SPDX-License-Identifier: Apache-2.0
"""How often the walk of a loader's case crosses from one file of the harness into another: what a reader has to follow.

A crossing is a call of a function, as sys.setprofile reports it, whose caller among the files of harness/ and suites/
is in another file. Counted in the second of two cases, when all is there that a process makes once.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from harness.build import ROOT, build

MOST = 123  # half of what it once was; each exchange with the probe is one
CASES = "suites/discovery/test_linux_special_file.py"
PLUGIN = """
import sys
import pytest
from harness.probe import connection

connection.FIRST_LOOK = 10.0  # seconds: an answer that takes long is looked after, which is 18 crossings each time
ROOT = sys.argv[sys.argv.index("--rootdir") + 1]
crossings = 0

def is_ours(frame):
    return frame.f_code.co_filename.startswith((ROOT + "/harness/", ROOT + "/suites/"))

def profile(frame, event, argument):
    global crossings
    if event == "call" and is_ours(frame):
        caller = frame.f_back
        while caller and not is_ours(caller):
            caller = caller.f_back
        crossings += bool(caller) and caller.f_code.co_filename != frame.f_code.co_filename

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    global crossings
    crossings = 0
    sys.setprofile(profile)
    yield
    sys.setprofile(None)
    print(f"\\ncrossings: {crossings}")
"""


def test_walk_of_a_case_crosses_few_files(tmp_path: Path) -> None:
    (tmp_path / "crossings.py").write_text(PLUGIN)
    program = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]; import pytest; sys.exit(pytest.main())"
    command = [sys.executable, "-c", program, "-q", "-s", "-p", "no:cacheprovider", "-p", "crossings"]
    command += ["--rootdir", str(ROOT), CASES, "-k", "FIFO-first", "--loader", str(build().reference_loader)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    numbers = [int(number) for number in re.findall(r"crossings: (\d+)", run.stdout)]
    assert len(numbers) == 2, run.stdout + run.stderr
    assert 50 < numbers[1] <= MOST
