# SPDX-License-Identifier: Apache-2.0
"""Where the processor time of the suites' cases goes: Python's parts, and the processes that a case starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.build import ROOT
from harness.errors import Exit, HarnessError
from harness.sandbox import Sandbox
from harness.subject.loader import Loader

CASES = 400  # of the suites, taken evenly from all of them
_SESSIONS = 40  # that are started to see what they cost
_RUN = (Exit.AS_EXPECTED, Exit.UNEXPECTED)


def measure_suites(path: Path, cases: int = CASES, selection: Sequence[str] = ()) -> dict[str, Any]:
    """Milliseconds of processor time of a case, on average over so many of them, run one after the other.

    What a loader is asked once, for its capabilities, is in it. `selection` are more arguments of `clharness loader`.
    Raises HarnessError where nothing ran.
    """
    with tempfile.TemporaryDirectory(prefix="clharness-bench-") as folder:
        accounts = Path(folder) / "accounts"
        command = [sys.executable, "-P", "-m", "harness.run.accounts", str(accounts), str(cases)]
        command += ["loader", str(path), "-j", "1", "--json", f"{folder}/records.jsonl", *selection]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, **_QUIET)
        parts = [json.loads(file.read_text()) for file in sorted(Path(folder).glob("accounts.*"))]
    count = sum(part["cases"] for part in parts)
    if done.returncode not in _RUN or not count:
        raise HarnessError(f"the suites did not run:\n{(done.stderr or done.stdout).strip()}")
    samples: Counter[str] = Counter()
    for part in parts:
        samples.update(part["samples"])
    python, processes, sessions = (
        sum(part[name] for part in parts) / count for name in ("python_s", "processes_s", "sessions")
    )
    every = sum(samples.values()) or 1
    loader = Loader(path)
    empty = _session(loader, 0)
    return {
        "loader": loader.facts.real_path,
        "cases": count,
        "case_ms": round(1e3 * (python + processes), 3),
        "python_ms": round(1e3 * python, 3),
        "python_parts_ms": {name: round(1e3 * python * n / every, 3) for name, n in samples.most_common()},
        "processes_ms": round(1e3 * processes, 3),
        "sessions": round(sessions, 2),
        "session_ms": round(empty, 3),
        "vendor_ms": round(_session(loader, 1) - empty, 3),
    }


_QUIET: dict[str, Any] = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}


def _session(loader: Loader, vendors: int) -> float:
    """Milliseconds of processor time of the processes of a session that lists the platforms of some vendors."""
    before = _of_children()
    for _ in range(_SESSIONS):
        sandbox = Sandbox(loader.path)
        try:
            for number in range(vendors):
                sandbox.vendor(f"v{number}")
            with loader.start(sandbox) as session:
                if vendors and len(session.platform_names()) != vendors:
                    raise HarnessError(f"{loader.path} does not list the {vendors} platforms that there are")
        finally:
            sandbox.close()
    return 1e3 * (_of_children() - before) / _SESSIONS


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def suite_lines(numbers: dict[str, Any]) -> list[str]:
    """A table for the terminal of what measure_suites gave."""
    lines = [f"a case: {numbers['case_ms']:.1f} ms of processor time, on average over {numbers['cases']} of them"]
    lines.append(f"  {'Python':34}{numbers['python_ms']:8.2f} ms")
    lines += [f"    {name:32}{value:8.2f}" for name, value in numbers["python_parts_ms"].items()]
    lines.append(f"  {'guard, probe, loader and mocks':34}{numbers['processes_ms']:8.2f} ms")
    started = numbers["sessions"] * numbers["session_ms"]
    lines.append(f"    {'starting its sessions':32}{started:8.2f}")
    lines.append(f"    {'what the check asks of them':32}{numbers['processes_ms'] - started:8.2f}")
    lines.append(
        f"  {numbers['sessions']:.2f} sessions a case; one alone, with guard, probe and loader, "
        f"{numbers['session_ms']:.2f} ms; a vendor in it {numbers['vendor_ms']:.2f} ms more"
    )
    return [*lines, f"  {numbers['loader']}"]
