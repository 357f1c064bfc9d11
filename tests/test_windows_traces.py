# SPDX-License-Identifier: Apache-2.0
"""A run on Windows' loader leaves the user's own Wine prefix as it is, and no process of Wine, however it ends."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.built_for_windows import WINDOWS, require
from tests.small_runs import SmallRun

WAITS = '''
@requirement("DISC-WIN-001")
def test_waits(loader, sandbox):
    """It lists a vendor, after a while."""
    sandbox.registry_vendor(sandbox.icd("good", faults=["enumeration_sleeps={milliseconds}"]))
    with loader.start(sandbox) as cl:
        Path("{started}").touch()
        assert cl.used_platforms() == ["good"]
'''
# What a prefix of the user's may hold; the time is of long ago, so that Wine would bring it up to date.
OF_THE_USER = {
    "system.reg": "WINE REGISTRY Version 2\n;; All keys relative to \\\\Machine\n\n#arch=win64\n",
    "user.reg": "WINE REGISTRY Version 2\n;; All keys relative to \\\\User\\\\S-1-5-21-0-0-0-1000\n\n#arch=win64\n",
    ".update-timestamp": "1\n",
    "drive_c/windows/system32/opencl.dll": "not a library",
    "notes.txt": "of the user\n",
}


def of_folder(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Each path below a folder, with its mode, the time of its last change, and its content."""
    content = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content[str(path.relative_to(folder))] = (
            status.st_mode,
            status.st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
    return content


class Machine:
    """A build for Windows with a prefix of its own, so that what runs there is of this test; and a user."""

    def __init__(self, folder: Path) -> None:
        self.build, self.user = folder / "mingw", folder / "user"
        self.prefix = self.build / "wine"
        self.prefix.mkdir(parents=True)
        for part in WINDOWS.iterdir():
            if part.name not in ("wine", "failures", "setup.now"):
                (self.build / part.name).symlink_to(part)
        for part in (WINDOWS / "wine").iterdir():
            if part.is_file():
                shutil.copy2(part, self.prefix)
        shutil.copytree(WINDOWS / "wine" / "dosdevices", self.prefix / "dosdevices", symlinks=True)
        (self.prefix / "drive_c").symlink_to(WINDOWS / "wine" / "drive_c")
        for name, text in OF_THE_USER.items():
            path = self.user / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (1, 1))

    @property
    def variables(self) -> dict[str, str]:
        return {"CLHARNESS_BUILD": str(self.build), "WINEPREFIX": str(self.user), "HOME": str(self.user)}

    def processes(self) -> list[str]:
        """What runs in one of the two prefixes: Wine's server, the probe, and all that they started."""
        running = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                variables = (place / "environ").read_bytes().split(b"\0")
                if b"WINEPREFIX=" + bytes(self.prefix) in variables or self._in_prefix_of_user(place, variables):
                    running.append(f"{place.name} {(place / 'cmdline').read_bytes()!r}")
        return running

    def _in_prefix_of_user(self, place: Path, variables: list[bytes]) -> bool:
        of_wine = b"wine" in (place / "comm").read_bytes() or b".exe" in (place / "cmdline").read_bytes()
        return of_wine and b"WINEPREFIX=" + bytes(self.user) in variables


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    if not (shutil.which("/usr/lib/wine/wine64") or shutil.which("wine64")):
        pytest.skip("Wine is not installed (Debian: wine64)")
    require()
    return Machine(tmp_path)


def until_none(machine: Machine) -> list[str]:
    """What still runs, after the few seconds that Wine's server waits for somebody else."""
    deadline = time.monotonic() + 10
    while (running := machine.processes()) and time.monotonic() < deadline:
        select.select([], [], [], 0.01)
    return running


@pytest.mark.parametrize(
    ("number", "exit_code"),
    [(None, 0), (signal.SIGINT, 130), (signal.SIGTERM, 130)],
    ids=["to its end", "SIGINT", "SIGTERM"],
)
def test_run_leaves_the_prefix_of_the_user_alone_and_no_process(
    machine: Machine, tmp_path: Path, number: signal.Signals | None, exit_code: int
) -> None:
    small = SmallRun(tmp_path, WINDOWS / "harness" / "reference_loader" / "OpenCL.dll")
    small.environment |= machine.variables
    started = tmp_path / "started"
    small.suite(WAITS.format(started=started, milliseconds=300_000 if number else 1))
    before = of_folder(machine.user)

    process = small.start("-j", "1", "--time-limit", "500")
    deadline = time.monotonic() + 60
    while number and not started.exists():
        assert process.poll() is None and time.monotonic() < deadline, small.end(process).output
        select.select([], [], [], 0.01)
    if number:
        assert machine.processes(), "the probe and Wine's server are seen while they run"
        process.send_signal(number)
    done = small.end(process)

    assert done.code == exit_code, done.output
    assert until_none(machine) == []
    assert of_folder(machine.user) == before
    assert not (machine.user / ".wine").exists()
