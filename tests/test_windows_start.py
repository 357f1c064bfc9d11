# SPDX-License-Identifier: Apache-2.0
"""Programs of Windows are started by Wine: what goes wrong before they run is not a fault of the subject."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT
from tests.built_for_windows import WINDOWS, require

REFERENCE = WINDOWS / "harness" / "reference_loader" / "OpenCL.dll"

# Takes the page that Wine needs for its own, as the heap of wine64 does in one start of some thousands.
TAKER = """\
#include <sys/mman.h>
__attribute__((constructor)) static void take(void)
{
    mmap((void *)0x7ffe0000, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
"""

SLEEPER = """\
#include <unistd.h>
__attribute__((constructor)) static void sleep_for_ever(void)
{
    for (;;) {
        pause();
    }
}
"""

# A library that ends the process while it is loaded.
ENDER = """\
#include <stdlib.h>
int __stdcall DllMain(void *library, unsigned long reason, void *reserved)
{
    (void)library, (void)reserved;
    if (reason == 1) {
        exit(1);
    }
    return 1;
}
__attribute__((dllexport)) int clGetPlatformIDs(void)
{
    return 0;
}
"""

# How a session of a loader ends whose sandbox has these variables: the name of the exception and what it says, and
# between them the places where the heaps of the processes begin that could be started.
SESSION = """\
import json, sys
from pathlib import Path
from harness.sandbox import Sandbox
from harness.subject.windows_loader import WindowsLoader
sandbox, heaps = Sandbox(), []
sandbox.env.update(json.loads(sys.argv[2]))
try:
    for _ in range(2):
        with WindowsLoader(Path(sys.argv[1])).start(sandbox, time_limit=float(sys.argv[3])) as cl:
            maps = Path(f"/proc/{cl.pid}/maps").read_text().splitlines()
            heaps += [line.partition("-")[0] for line in maps if line.endswith("[heap]")]
    print(json.dumps(["", "", heaps]))
except Exception as error:
    print(json.dumps([type(error).__name__, str(error), heaps]))
finally:
    sandbox.close()
"""


def session(loader: Path, time_limit: float = 60, **variables: str) -> tuple[str, str, list[str]]:
    require()
    command = [sys.executable, "-c", SESSION, str(loader), json.dumps(variables), str(time_limit)]
    environment = os.environ | {"CLHARNESS_BUILD": str(WINDOWS)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    name, text, heaps = json.loads(done.stdout)
    return name, text, heaps


def preloaded(folder: Path, text: str) -> str:
    """The path of a library that is loaded into Wine's own program."""
    source, library = folder / "preloaded.c", folder / "preloaded.so"
    source.write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return str(library)


def test_wine_that_ends_before_the_probe_runs_is_no_verdict(tmp_path: Path) -> None:
    name, text, _ = session(REFERENCE, LD_PRELOAD=preloaded(tmp_path, TAKER))
    assert (name, text) == ("NotStarted", "Wine ended with exit code 1 before it ran the probe, and said nothing")


def test_wine_that_does_not_start_in_time_is_no_verdict(tmp_path: Path) -> None:
    name, text, _ = session(REFERENCE, time_limit=0.2, LD_PRELOAD=preloaded(tmp_path, SLEEPER))
    assert (name, text) == ("NotStarted", "Wine did not run the probe within 0.2 s")


@pytest.mark.skipif(not shutil.which("x86_64-w64-mingw32-gcc"), reason="mingw is not installed")
def test_loader_that_ends_the_process_while_it_is_loaded_gets_its_verdict(tmp_path: Path) -> None:
    source, library = tmp_path / "ender.c", tmp_path / "ender.dll"
    source.write_text(ENDER)
    subprocess.run(["x86_64-w64-mingw32-gcc", "-shared", "-o", library, source], check=True)
    name, text, _ = session(library)
    assert (name, text) == ("AbnormalExit", "the process ended with exit code 1 in: hello")


def test_heap_of_wine_is_never_where_it_needs_a_page() -> None:
    """Its place is random otherwise, in a gigabyte with that page in it."""
    if subprocess.run(["setarch", os.uname().machine, "-R", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let programs have addresses that are not random")
    name, text, heaps = session(REFERENCE)
    assert (name, text, len(heaps)) == ("", "", 2)
    assert heaps[0] == heaps[1] and not 0x7FFE0000 - 0x100000 < int(heaps[0], 16) <= 0x7FFE0000
