# SPDX-License-Identifier: Apache-2.0
"""A program with the privileges of another user is for its session alone: nobody else reaches it, and it goes."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.run import replay
from harness.sandbox import Sandbox, machine
from harness.sandbox.machine import NOBODY, is_root
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject.loader import Loader
from harness.subject.search import loader_path
from harness.subject.vulkan_loader import VulkanLoader

STRANGER = 12345
pytestmark = pytest.mark.skipif(not is_root(), reason="only root can give a program another user's privileges")


@pytest.fixture(scope="module")
def loader() -> Loader:
    """One that other users can read."""
    try:
        return Loader(loader_path(None))
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def sandbox(loader: Loader) -> Iterator[Sandbox]:
    box = Sandbox(loader.path)
    yield box
    box.close()


def privileged(folder: Path) -> list[Path]:
    """The set-uid and set-gid programs in a folder."""
    return [
        path for path in folder.rglob("*") if path.is_file() and path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    ]


def test_a_stranger_cannot_run_it(loader: Loader, sandbox: Sandbox) -> None:
    session = loader.start(sandbox, elevated=True)
    (program,) = privileged(sandbox.root)
    with pytest.raises(PermissionError):
        subprocess.run([program, "--loader", "/nonexistent"], user=STRANGER, group=STRANGER, extra_groups=[])
    with pytest.raises(PermissionError):
        subprocess.run([program, "--loader", "/nonexistent"], user=NOBODY, group=NOBODY, extra_groups=[])
    with session as cl:
        assert cl.secure


def test_it_is_gone_when_the_session_runs(loader: Loader, sandbox: Sandbox) -> None:
    with loader.start(sandbox, elevated=True) as cl:
        assert cl.secure and not privileged(sandbox.root)
        assert os.readlink(f"/proc/{cl.pid}/exe").endswith(" (deleted)")


def test_each_session_has_its_own(loader: Loader, sandbox: Sandbox) -> None:
    sessions = [loader.start(sandbox, elevated=True) for _ in range(2)]
    assert len(privileged(sandbox.root)) == 2
    with sessions[0] as one, sessions[1] as two:
        assert one.secure and two.secure


def test_what_a_subject_puts_in_its_place_is_not_removed(loader: Loader, sandbox: Sandbox, tmp_path: Path) -> None:
    session = loader.start(sandbox, elevated=True)
    (program,) = privileged(sandbox.root)
    victim = tmp_path / program.name
    victim.touch()
    with session._program():
        program.parent.rename(sandbox.root / "moved")
        program.parent.symlink_to(tmp_path)
    assert victim.exists() and not privileged(sandbox.root)


def test_the_tracer_takes_its_place_where_it_cannot_be(
    loader: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, user: int, group: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    if not machine.at_secure_by_tracer():
        pytest.skip("a tracer cannot set AT_SECURE here")
    with loader.start(sandbox, elevated=True) as cl:
        assert cl.secure and not privileged(sandbox.root)
    assert build().at_secure.name in cl.argv[0]


@pytest.mark.parametrize("kind", ["OpenCL", "Vulkan"])
def test_the_tracer_takes_its_place_where_others_cannot_read_the_loader(tmp_path: Path, kind: str) -> None:
    """A checkout in root's own home is closed to everybody else."""
    if not machine.at_secure_by_tracer():
        pytest.skip("a tracer cannot set AT_SECURE here")
    original = build().reference_loader if kind == "OpenCL" else build().with_vulkan().reference_loader
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    path = folder / original.name
    shutil.copyfile(original, path)
    if kind == "OpenCL":
        with contextlib.closing(Sandbox(path)) as box, Loader(path).start(box, elevated=True) as cl:
            assert cl.secure
    else:
        with contextlib.closing(VulkanSandbox()) as place, VulkanLoader(path).start(place, elevated=True) as vk:
            assert vk.secure


def test_a_replay_has_the_same_privileges(loader: Loader, sandbox: Sandbox, tmp_path: Path) -> None:
    with loader.start(sandbox, elevated=True) as cl:
        cl.platform_count()
        cl.command("hello")
    kept = sandbox.keep(tmp_path / "kept")
    assert not privileged(kept)
    (kept / "exchange-0").write_text("\n".join(cl.exchange) + "\n")
    (kept / "replay.sh").write_text(replay.script("case", sandbox, [cl]))
    sandbox.close()
    done = subprocess.run(["sh", kept / "replay.sh"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "secure=1" in done.stdout
    assert not sandbox.root.exists()


def test_program_that_needs_a_variable_is_not_elevated(tmp_path: Path) -> None:
    """An elevated process has no LD_LIBRARY_PATH: what is found by it alone is not there, which is not the loader's."""
    library, needs, whole = (tmp_path / name for name in ("libpart.so", "needs", "whole"))
    (tmp_path / "part.c").write_text("int part(void);\nint part(void) { return 0; }\n")
    (tmp_path / "main.c").write_text("int part(void);\nint main(void) { return part(); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "part.c"], check=True)
    subprocess.run(["cc", "-o", needs, tmp_path / "main.c", library.parent / "libpart.so"], check=True)
    subprocess.run(["cc", "-o", whole, tmp_path / "main.c", tmp_path / "part.c"], check=True)
    machine.require_starting_without_variables(whole)
    library.rename(tmp_path / "elsewhere.so")
    with pytest.raises(machine.Unsupported, match=r"cannot be started here: .*libpart\.so"):
        machine.require_starting_without_variables(needs)


def test_program_whose_own_files_are_closed_to_others_is_not_theirs_to_start(sandbox: Sandbox) -> None:
    """A machine can have closed the folder of the linker or of libraries: that is not the loader's doing."""
    place = sandbox.new_place("open")
    place.mkdir()
    closed, program = place / "closed", place / "program"
    closed.mkdir(mode=0o700)
    shutil.copy("/bin/sh", closed / "sh")
    program.write_text(f"#!{closed}/sh\nexit 0\n")
    program.chmod(0o755)
    assert machine.closed_to_others(program) is None
    with pytest.raises(machine.Unsupported, match=f"an ordinary user cannot start {program}: Permission denied"):
        machine.require_ordinary_user(program, program)
    assert machine.set_uid_copy(program, program, sandbox.new_place("elevated")) is None
    closed.chmod(0o755)
    machine.refused_to_others.cache_clear()
    machine.require_ordinary_user(program, program)
