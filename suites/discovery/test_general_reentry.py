# SPDX-License-Identifier: Apache-2.0
"""Vendors that call the loader while the loader is busy with them (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import Loader, Sandbox, Unsupported, requirement

CALLS_BACK = ["constructor_calls_opencl", "enumeration_calls_opencl", "info_calls_opencl"]


@requirement("DISC-GEN-014")
@pytest.mark.parametrize("fault", CALLS_BACK)
def test_call_from_a_vendor_during_discovery_hangs_nobody(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], fault: str
) -> None:
    """A vendor that calls clGetPlatformIDs while it is loaded or asked hangs nobody, and costs no other vendor."""
    mocks = [sandbox.icd("first"), sandbox.icd("calls", faults=[fault]), sandbox.icd("last")]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        assert {"first", "last"} <= set(names) <= {"first", "last", "calls"}
        assert list(cl.platform_names()) == list(names)
    log = sandbox.log
    record("its platform is listed" if "calls" in names else "its platform is not listed")
    assert log.happened("call back", by="calls"), "the vendor never called back: this proves nothing"
    assert len(log.happened("call back", by="calls")) == len(log.happened("call back done", by="calls"))
    assert len(log.happened("loaded")) == 3, "discovery ran again in the midst of itself"


@requirement("DISC-GEN-014")
def test_call_from_the_destructor_of_a_rejected_vendor_hangs_nobody(loader: Loader, sandbox: Sandbox) -> None:
    """A rejected vendor that calls clGetPlatformIDs while it is closed again hangs nobody."""
    bad = sandbox.icd("bad", faults=["list_call_fails", "destructor_calls_opencl"])
    mocks = [sandbox.icd("first"), bad, sandbox.icd("last")]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"first", "last"}
    assert sandbox.log.happened("call back", by="bad"), "the vendor never called back: this proves nothing"


@requirement("DISC-GEN-014")
@pytest.mark.parametrize("position", [0, 1, 2], ids=["first", "middle", "last"])
def test_call_from_a_thread_of_a_vendor_hangs_nobody(loader: Loader, sandbox: Sandbox, position: int) -> None:
    """A thread that a vendor starts while it is loaded may call clGetPlatformIDs: nobody hangs, all are listed."""
    faults = ["constructor_calls_opencl_in_thread"]
    mocks = [sandbox.icd(f"v{i}", faults=faults if i == position else []) for i in range(3)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"v0", "v1", "v2"}
        while not sandbox.log.happened("call back done"):
            cl.platform_count()  # the session's time limit ends this
    log = sandbox.log
    assert [event.data["detail"] for event in log.happened("call back done")] == ["success"]
    assert len(log.happened("loaded")) == 3


@requirement("DISC-GEN-014")
@pytest.mark.parametrize("unloadable", [False, True], ids=["stays", "unloadable"])
@pytest.mark.parametrize("end", ["close", "exit", "exit-linked"])
def test_call_from_a_destructor_at_the_end_does_not_crash(
    loader: Loader, sandbox: Sandbox, unloadable: bool, end: str
) -> None:
    """A vendor that calls clGetPlatformIDs while the loader or the process ends neither crashes nor hangs it."""
    if end == "exit-linked" and loader.facts.sanitizer:
        raise Unsupported("machine", "a sanitizer's library does not bear to be asked for again after its end")
    extensions = "cl_khr_icd cl_khr_icd_unloadable" if unloadable else "cl_khr_icd"
    mocks = [
        sandbox.icd("first", extensions=extensions, unloadable=unloadable),
        sandbox.icd("calls", extensions=extensions, unloadable=unloadable, faults=["destructor_calls_opencl"]),
        sandbox.icd("last", extensions=extensions, unloadable=unloadable),
    ]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    sandbox.env["GLIBC_TUNABLES"] = "glibc.malloc.perturb=165"  # what is freed does not look as it did

    with loader.start(sandbox, linked=end == "exit-linked") as cl:
        assert cl.platform_names() == {"first", "calls", "last"}
        if end == "close":
            cl.close()
    assert cl.exit_code == 0


@requirement("DISC-GEN-014")
def test_other_threads_wait_after_a_call_from_a_vendor(loader: Loader, sandbox: Sandbox) -> None:
    """A call from within discovery does not make other threads believe that discovery is over."""
    mocks = [
        sandbox.icd("slow", faults=["enumeration_sleeps=150"]),  # long enough for the other thread to arrive
        sandbox.icd("again", faults=["constructor_calls_opencl"]),
        sandbox.icd("thread", faults=["constructor_calls_opencl_in_thread"]),
    ]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"slow", "again", "thread"}
        while not sandbox.log.happened("call back done", by="thread"):
            cl.platform_count()  # the session's time limit ends this
    assert [event.data["detail"] for event in sandbox.log.happened("call back done", by="thread")] == ["success"]
