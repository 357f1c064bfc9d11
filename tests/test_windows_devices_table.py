# SPDX-License-Identifier: Apache-2.0
"""The configuration manager that cases on Windows have answers as its documentation says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT
from tests.built_for_windows import WINDOWS, require

MINGW = "x86_64-w64-mingw32-"

# Numbers of cfgmgr32.h and devpropdef.h.
SUCCESS, INVALID_POINTER, INVALID_FLAG, INVALID_DEVNODE, NO_SUCH_DEVNODE = 0, 3, 4, 5, 13
BUFFER_SMALL, NO_SUCH_VALUE, NO_SUCH_REGISTRY_KEY = 26, 37, 46
TYPE_GUID, REG_SZ, NEED_RESTART, CLASS, CLASS_NUMBER = 13, 1, 14, 8, 9
NUMBER_BYTES = 2 * (len("{4d36e968-e325-11ce-bfc1-08002be10318}") + 1)
CLASS_BYTES = 2 * (len("Display") + 1)

# Sizes are in bytes and told also where they do not fit, when nothing is written; lengths of IDs are in characters,
# without the NUL; lists end with a NUL more.
DOCUMENTED = f"""\
property of an adapter room 16: {SUCCESS} type {TYPE_GUID} size 16 4d36e968, past its end kept
property of a component room 64: {SUCCESS} type {TYPE_GUID} size 16 5c4c3332, past its end kept
property of another device room 17: {SUCCESS} type {TYPE_GUID} size 16 4d36e97d, past its end kept
property of an adapter room 15: {BUFFER_SMALL} type {TYPE_GUID} size 16, all kept
property of an adapter room 0: {BUFFER_SMALL} type {TYPE_GUID} size 16, all kept
property of an unknown number room 16: {NO_SUCH_VALUE}, all kept
property of an unknown set room 16: {NO_SUCH_VALUE}, all kept
property of no device room 16: {INVALID_DEVNODE}, all kept
property of a device that is not there room 16: {INVALID_DEVNODE}, all kept
property of an adapter with a flag room 16: {INVALID_FLAG}, all kept
property without a key: {INVALID_POINTER}
property without a type: {INVALID_POINTER}
property without a size: {INVALID_POINTER}
registry property {CLASS_NUMBER} room 128: {SUCCESS} type {REG_SZ} size {NUMBER_BYTES}, written
registry property {CLASS_NUMBER} room 77: {BUFFER_SMALL} type {REG_SZ} size {NUMBER_BYTES}, kept
registry property {CLASS_NUMBER} room 0: {BUFFER_SMALL} type {REG_SZ} size {NUMBER_BYTES}, kept
registry property {CLASS} room 128: {SUCCESS} type {REG_SZ} size {CLASS_BYTES}, written
registry property 48 room 128: {NO_SUCH_VALUE}, kept
registry property {CLASS} room 128: {INVALID_DEVNODE}, kept
size of an ID: {SUCCESS}
ID with room for all: {SUCCESS}, its size is 1
ID with less room: {BUFFER_SMALL}
ID of no device: {INVALID_DEVNODE}
size of a list: {SUCCESS}, shorter than that of all 1
list: {SUCCESS}, ends with two NULs 1
list with less room: {BUFFER_SMALL}
device that is not there: {NO_SUCH_DEVNODE}
device that is not plugged in: {NO_SUCH_DEVNODE}, for who asks for such ones {SUCCESS}
child: {SUCCESS}, the first 1
sibling: {SUCCESS}, the second 1
no further sibling: {NO_SUCH_DEVNODE}
no child: {NO_SUCH_DEVNODE}
parent: {SUCCESS}, the adapter 1
child of no device: {INVALID_DEVNODE}
state of an adapter: {SUCCESS} has a problem 0 number 0
state of one that waits: {SUCCESS} has a problem 1 number {NEED_RESTART}
state of no device: {INVALID_DEVNODE}
key of an adapter: {SUCCESS}, closed 1
key of one without: {NO_SUCH_REGISTRY_KEY}, closed 0
key of no device: {INVALID_DEVNODE}, closed 0
"""

# A case with the library in the place of a loader; its devices are those that the library asks for.
SESSION = """\
import sys
from pathlib import Path
from harness.sandbox import Sandbox
from harness.subject.windows_loader import WindowsLoader
sandbox = Sandbox()
adapter = sandbox.adapter()
sandbox.component(parent=adapter)
sandbox.device_of_another_class("other.dll", parent=adapter)
sandbox.adapter(problem=14)
sandbox.adapter(bare=True)
sandbox.adapter(traits=["absent"])
with WindowsLoader(Path(sys.argv[1])).start(sandbox) as cl:
    cl.platform_count()
sandbox.close()
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What tests/windows_devices.c says of the devices of a case, line by line."""
    require()
    if shutil.which(f"{MINGW}gcc") is None:
        pytest.skip("mingw is not installed")
    folder = tmp_path_factory.mktemp("devices")
    subject, result = folder / "asks.dll", folder / "answers.txt"
    place = str(result).replace("/", "\\\\")
    command = [
        f"{MINGW}gcc",
        "-shared",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-D_WIN32_WINNT=0x0601",
        f'-DANSWERS="Z:{place}"',
        "-o",
        str(subject),
    ]
    source = ROOT / "tests" / "windows_devices.c"
    subprocess.run([*command, str(source), "-lcfgmgr32"], check=True)
    environment = os.environ | {"CLHARNESS_BUILD": str(WINDOWS)}
    session = [sys.executable, "-c", SESSION, str(subject)]
    done = subprocess.run(session, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return Path(result).read_text().splitlines()


def test_devices_of_a_case_answer_as_documented(answers: list[str]) -> None:
    assert answers == DOCUMENTED.splitlines()
