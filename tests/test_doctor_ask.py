# SPDX-License-Identifier: Apache-2.0
"""What a library that the doctor loads can do to the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.doctor.ask import Asker

# Signal 0 does nothing: it is only asked whether it may be sent.
SENDS = """
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void send(void)
{
    int to_all = kill(-1, 0);
    const char *what = !to_all ? "sent" : errno == EPERM ? "refused" : "otherwise";
    printf("%s, %s\\n", what, kill(getpid(), 0) ? "not" : "sent");
    fflush(stdout);
}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can keep signals in, without giving up set-uid programs")
def test_library_sends_no_signals_to_all_processes(tmp_path: Path) -> None:
    library = tmp_path / "libsends.so"
    command = [build().compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=SENDS, text=True, check=True)
    assert "refused, sent" in Asker(os.environ).ask("vendor", str(library)).output
