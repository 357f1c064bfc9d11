# SPDX-License-Identifier: Apache-2.0
"""The script that replays a kept case: what stands in front of the probe, and names that a subject chose."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.run import replay
from harness.sandbox import Sandbox, Unsupported
from harness.subject.loader import Loader


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox(build().reference_loader)
    box.vendor("a")
    yield box
    box.close()


def replayed(sandbox: Sandbox, folder: Path, session: object, *prefix: str, case: str = "case") -> str:
    """What the script of a kept sandbox prints."""
    kept = sandbox.keep(folder / "kept")
    (kept / "exchange-0").write_text("\n".join(session.exchange) + "\n")  # type: ignore[attr-defined]
    (kept / "replay.sh").write_text(replay.script(case, sandbox, [session]))  # type: ignore[list-item]
    sandbox.close()
    done = subprocess.run(["sh", str(kept / "replay.sh"), *prefix], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("system", [False, True], ids=["plain", "private root"])
def test_prefix_stands_directly_before_the_probe(sandbox: Sandbox, tmp_path: Path, system: bool) -> None:
    try:
        session = Loader(build().reference_loader).start(sandbox, system=system)
    except Unsupported as reason:
        pytest.skip(str(reason))
    with session as cl:
        assert cl.platform_names() == ["a"]
    output = replayed(sandbox, tmp_path, session, "/usr/bin/env", "PREFIX=1", "/bin/sh", "-c", 'echo "[$*]"; "$@"', "-")
    (line,) = [line for line in output.splitlines() if line.startswith("[")]
    assert line.startswith(f"[{build().probe} --loader ")
    assert "call 2 clGetPlatformIDs" in output


def test_case_without_a_process_is_said_to_have_none(sandbox: Sandbox, tmp_path: Path) -> None:
    kept = sandbox.keep(tmp_path / "kept")
    (kept / "replay.sh").write_text(replay.script("case", sandbox, []))
    sandbox.close()
    done = subprocess.run(["sh", str(kept / "replay.sh")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "replay: no process was started in this case\n")


def test_names_that_a_subject_chose_are_not_run(sandbox: Sandbox, tmp_path: Path) -> None:
    for name in ("-m777", "a b;touch ran", "$(touch ran)", "'`touch ran`"):
        os.mkfifo(sandbox.root / name)
    with Loader(build().reference_loader).start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
    output = replayed(sandbox, tmp_path, cl, case="x\ntouch ran\r\n$(touch ran)")
    assert "call 2 clGetPlatformIDs" in output
    assert not (tmp_path / "kept" / "ran").exists() and not Path("ran").exists()


def test_run_that_sweeps_leaves_the_files_of_a_replay(sandbox: Sandbox, tmp_path: Path) -> None:
    with Loader(build().reference_loader).start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
    sweep = (
        f"import sys, subprocess; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path;"
        f"from harness.sandbox.folder import sweep; sweep(Path({str(sandbox.root.parent)!r}), {sandbox.root.name!r});"
        "sys.exit(subprocess.call(sys.argv[1:]))"
    )
    output = replayed(sandbox, tmp_path, cl, sys.executable, "-c", sweep)
    assert "call 2 clGetPlatformIDs" in output


def test_replies_stand_below_their_commands(tmp_path: Path) -> None:
    """Of a recorded exchange, which the probe reads at once."""
    script = tmp_path / "exchange"
    script.write_text("buffer 1 8 0\nput 1 0 39\nget 1 0 1\n")
    command = [str(build().probe), "--loader", str(build().reference_loader), "--script", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["buffer 1 8 0", "ok", "put 1 0 39", "ok", "get 1 0 1", "ok 39"]
