# SPDX-License-Identifier: Apache-2.0
"""Does the C program of a failed case show the mutant, and nothing on a correct mock ICD?"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from harness.run import reproducer
from harness.run.cases import Case
from harness.run.exchange import NotReproducible
from harness.selftest.mutants import VARIABLE

SHOWN, WRONG = "shown", "wrong"


def tried(case: Case, error: BaseException) -> str:
    """SHOWN, or WRONG and how the program ended, or why there is none. The sandbox of the case is still there."""
    if case.sandbox is None:
        return "the case has no sandbox"
    try:
        result = reproducer.of_case(case.name, error, case.sandbox)
    except NotReproducible as reason:
        return str(reason)
    with tempfile.TemporaryDirectory(prefix="clharness-program-") as folder:
        source, program = result.write(Path(folder), case.id, str(error)), Path(folder) / "program"
        subprocess.run([os.environ.get("CC", "cc"), "-w", source, "-ldl", "-o", program], check=True)
        with reproducer.correct_mock() as correct:
            ends = [_exit_code(program, library) for library in (result.library, correct)]
    return SHOWN if ends == [1, 0] else f"{WRONG}: exit code {ends[0]} on the mutant and {ends[1]} on a correct ICD"


def _exit_code(program: Path, library: Path) -> int:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return subprocess.run([program, library], capture_output=True, env=environment, cwd=program.parent).returncode
