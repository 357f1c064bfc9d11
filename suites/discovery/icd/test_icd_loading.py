# SPDX-License-Identifier: Apache-2.0
"""What loading a vendor's ICD does to the process, and how its library was linked (DISC-LIB)."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from harness.check import (
    CommandError,
    Icd,
    IcdSession,
    Kernels,
    Memory,
    Parts,
    Sandbox,
    numbered,
    require_compiler,
    requirement,
    state_changes,
)


def use(session: IcdSession, how: str) -> None:
    """Loads the library; "asked" asks it for its platforms and their devices, too."""
    session.open()
    if how == "asked":
        for platform in session.some_platforms():
            session.platform = platform
            session.GetDeviceIDs(platform)


@requirement("DISC-LIB-001")
def test_library_loads_with_all_symbols_bound_at_once(icd: Icd, sandbox: Sandbox) -> None:
    """The library can be loaded with all that it uses bound at once, as some loaders do and LD_BIND_NOW has it."""
    with icd.open(sandbox, late=True, now=True) as session:
        try:
            session.open()
            problem = ""
        except CommandError as error:
            problem = str(error)
        assert not problem


@requirement("DISC-LIB-002")
def test_code_is_not_changed_at_loading(icd: Icd) -> None:
    """The library has no text relocations: they take code that can be written, which hardened systems refuse."""
    assert not icd.facts.text_relocations


@requirement("DISC-LIB-003")
def test_stack_is_not_executable(icd: Icd) -> None:
    """The library needs no executable stack: the C library of today refuses to load such a one into a process."""
    assert not icd.facts.executable_stack


@requirement("DISC-LIB-004")
def test_search_folders_are_absolute_and_exist(icd: Icd) -> None:
    """Folders that the library has the linker search are absolute or its own, and exist: a build's should be gone."""
    own = str(icd.path.parent)
    for path in icd.facts.search_paths:
        folder = path.replace("$ORIGIN", own).replace("${ORIGIN}", own)
        assert os.path.isabs(folder), f"{path!r} depends on the working directory"
        assert os.path.isdir(folder), f"{path!r} does not exist"


@requirement("DISC-LIB-005")
def test_library_is_not_linked_with_a_loader(icd: Icd) -> None:
    """The library is not linked with a loader, which would have to load it in turn."""
    loaders = [name for name in icd.facts.needed if name.startswith("libOpenCL.so")]
    assert not loaders


@requirement("DISC-LIB-006")
@pytest.mark.parametrize("how", ["loaded", "asked"])
def test_loading_leaves_the_state_of_the_process_as_it_is(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """Environment, working directory, locale, signals, limits, timers, child processes and the like are its own."""
    with icd.open(sandbox, late=True) as session, Parts() as parts:
        before = session.state()
        use(session, how)
        for name, change in state_changes(before, session.state()).items():
            parts.fail(name, change)


@requirement("DISC-LIB-006")
@pytest.mark.parametrize("how", ["moves data", "compiles"])
def test_work_leaves_the_state_of_the_process_as_it_is(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """So they are when a context is made, a buffer is written and read, and a kernel is built and run."""
    with icd.open(sandbox, late=True) as session, Parts() as parts:
        use(session, "asked")
        before = session.state()
        objects = session.objects(session.some_platforms()[0])
        if how == "compiles":
            require_compiler([objects])
            kernels = Kernels(objects)
            assert kernels.sifted() == kernels.sifted_expected()
        else:
            memory = Memory(objects)
            assert memory.content(memory.buffer(numbered(64)), 64) == numbered(64)
        for name, change in state_changes(before, session.state()).items():
            parts.fail(name, change)


@requirement("DISC-LIB-007")
def test_loading_starts_no_thread(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """Loading starts no thread: a process that forks would lose it, and one that unloads the library would crash."""
    with icd.open(sandbox, late=True) as session:
        before = session.state()["threads"]
        session.open()
        assert session.state()["threads"] == before
        use(session, "asked")
        record("starts threads when it is asked" if session.state()["threads"] != before else "starts no thread")


@requirement("DISC-LIB-008")
@pytest.mark.parametrize("how", ["loaded", "asked"])
def test_loading_writes_nothing_to_standard_output_and_error(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """Standard output and standard error are the application's."""
    with icd.open(sandbox, late=True) as session:
        session.state()
        before = session.stdout, session.stderr
        use(session, how)
        session.state()  # writes what is still kept
        assert (session.stdout, session.stderr) == before


@requirement("DISC-LIB-008")
def test_work_writes_nothing_to_standard_output(icd: Icd, sandbox: Sandbox) -> None:
    """Standard output is, too, while kernels are built and run, and where a build fails or a query is refused."""
    with icd.open(sandbox, late=True) as session:
        use(session, "asked")
        objects = session.objects(session.some_platforms()[0])
        require_compiler([objects])
        session.state()
        before = session.stdout
        kernels = Kernels(objects)
        assert kernels.sifted() == kernels.sifted_expected()
        broken = objects.with_source("kernel void broken(global int *to) { to[0] = clharness_undeclared; }")
        session.call("clBuildProgram", broken, 0, None, None, None, None)
        session.call("clGetPlatformInfo", objects.platform, 0, 0, None, None)
        session.state()  # writes what is still kept
        assert session.stdout == before
