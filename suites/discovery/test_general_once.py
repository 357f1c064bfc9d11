# SPDX-License-Identifier: Apache-2.0
"""When discovery happens: not before the first call that needs it, with any such call, and only once (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import CL, Loader, Sandbox, Session, Value, requirement

WAYS = ["plain", "linked", "system", "ordinary_user", "bind_now", "bind_global"]


def options(way: str) -> dict[str, Any]:
    return {} if way == "plain" else {way: True}


def three_vendors(sandbox: Sandbox) -> None:
    """a, b and c with one, two and one platform; suffixes AAA, BBB, CCC."""
    mocks = [sandbox.icd(name, suffix=3 * name.upper(), platforms=1 + (name == "b")) for name in "abc"]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


THREE = {"a", "b.0", "b.1", "c"}


def check_found_once(cl: Session) -> None:
    """The three vendors are there, were loaded once, and were asked once."""
    assert cl.platform_names() == THREE
    cl.check_asked_once("a", "b", "c")


# --- not before ---


@requirement("DISC-GEN-012")
@pytest.mark.parametrize("way", WAYS)
def test_loading_the_loader_loads_no_vendor(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A process that loaded the loader has no vendor library until it makes a call; then it has."""
    mock = sandbox.vendor("a")

    with loader.start(sandbox, **options(way)) as cl:
        assert not cl.maps(mock)
        assert not sandbox.log.of("a")
        assert cl.open_files() == []
        cl.platform_count()
        assert cl.maps(mock)
        assert len(sandbox.log.happened("loaded", by="a")) == 1


@requirement("DISC-GEN-012")
@pytest.mark.parametrize("way", WAYS)
def test_process_without_a_call_loads_no_vendor(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A process that makes no call ends as usual, and no vendor library was ever loaded."""
    sandbox.vendor("a")

    with loader.start(sandbox, **options(way)):
        pass
    assert not sandbox.log.of("a")
    with loader.start(sandbox, **options(way)) as cl:
        assert cl.platform_names() == {"a"}


@requirement("DISC-GEN-012")
def test_loader_opened_and_closed_without_a_call_loads_no_vendor(loader: Loader, sandbox: Sandbox) -> None:
    """A loader that is opened and closed without a call loads no vendor; opened again it works."""
    sandbox.vendor("a")

    with loader.start(sandbox, late=True) as cl:
        for _ in range(3):
            cl.open()
            cl.close()
        assert not sandbox.log.of("a")
        cl.open()
        assert cl.platform_names() == {"a"}


@requirement("DISC-GEN-012")
def test_vendors_that_arrive_before_the_first_call_are_found(loader: Loader, sandbox: Sandbox) -> None:
    """What counts is the directory as it stands at the first call, not as it stood when the loader was loaded."""
    sandbox.require_linux("vendors that arrive while the process runs")
    mock = sandbox.vendor("gone")

    with loader.start(sandbox) as cl:
        (sandbox.vendors / "gone.icd").unlink()
        three_vendors(sandbox)
        check_found_once(cl)
        assert not cl.maps(mock)


@requirement("DISC-GEN-012")
def test_environment_at_the_first_call_counts(loader: Loader, sandbox: Sandbox) -> None:
    """What counts is the environment at the first call, not the one with which the process began."""
    loader.require("OCL_ICD_VENDORS")
    three_vendors(sandbox)
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.folder("empty"))

    with loader.start(sandbox) as cl:
        cl.setenv("OCL_ICD_VENDORS", str(sandbox.vendors))
        check_found_once(cl)


# --- with any first call ---


def _platform_ids(cl: Session, error: Value) -> int:
    return cl.clGetPlatformIDs(0, None, error)


def _platform_ids_refused(cl: Session, error: Value) -> int:
    return cl.clGetPlatformIDs(0, None, None)


def _own_function(cl: Session, error: Value) -> int:
    return cl.clGetExtensionFunctionAddress("clSomethingCCC")


def _unknown_function(cl: Session, error: Value) -> int:
    return cl.clGetExtensionFunctionAddress("clNobodyHasThis")


def _context(cl: Session, error: Value) -> int:
    return cl.clCreateContextFromType(None, CL.DEVICE_TYPE_GPU, None, None, error)


def _context_without_error(cl: Session, error: Value) -> int:
    return cl.clCreateContextFromType(None, CL.DEVICE_TYPE_GPU, None, None, None)


def gl_context_info(cl: Session, properties: list[int] | None) -> int:
    """By the symbol, or by the address where the loader has no such symbol: one of them is the process's first call."""
    function = "clGetGLContextInfoKHR"
    if int(cl.command(f"symbol {function}"), 16):
        return cl.clGetGLContextInfoKHR(properties, CL.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, 0, None, None)
    return cl.call_at(
        cl.GetExtensionFunctionAddress(function),
        function,
        properties,
        CL.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR,
        0,
        None,
        None,
    )


def _gl_context(cl: Session, error: Value) -> int:
    return gl_context_info(cl, None)


def _gl_context_with_list(cl: Session, error: Value) -> int:
    return gl_context_info(cl, [CL.GL_CONTEXT_KHR, 1, 0])


def _address_for_platform(cl: Session, error: Value) -> int:
    return cl.clGetExtensionFunctionAddressForPlatform(None, "clGetGLContextInfoKHR")


def _unknown_address_for_platform(cl: Session, error: Value) -> int:
    return cl.clGetExtensionFunctionAddressForPlatform(None, "clNobodyHasThis")


FIRST_CALLS = {
    "clGetPlatformIDs": _platform_ids,
    "clGetExtensionFunctionAddress": _own_function,
    "clGetExtensionFunctionAddress-unknown": _unknown_function,
    "clCreateContextFromType": _context,
    "clCreateContextFromType-no-errcode": _context_without_error,
    "clGetPlatformIDs-refused": _platform_ids_refused,
    "clGetExtensionFunctionAddressForPlatform": _address_for_platform,
    "clGetExtensionFunctionAddressForPlatform-unknown": _unknown_address_for_platform,
    "clGetGLContextInfoKHR": _gl_context,
    "clGetGLContextInfoKHR-list": _gl_context_with_list,
}


@requirement("DISC-GEN-013")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
@pytest.mark.parametrize("call", FIRST_CALLS.values(), ids=FIRST_CALLS.keys())
def test_first_call_starts_discovery(
    loader: Loader, sandbox: Sandbox, call: Callable[[Session, Value], int], way: str
) -> None:
    """A call that may be a process's first finds the vendors; the calls after it see the same ones."""
    three_vendors(sandbox)

    with loader.start(sandbox, **options(way)) as cl:
        memory = cl.buffer(4)
        call(cl, memory.at(0))
        assert {e.who for e in sandbox.log.happened("loaded")} == {"a", "b", "c"}, "the first call found no vendor"
        check_found_once(cl)


@requirement("DISC-GEN-013")
def test_own_function_of_a_vendor_is_found_in_the_first_call(loader: Loader, sandbox: Sandbox) -> None:
    """A vendor's own function is found by its suffix when it is the first thing that is asked for."""
    three_vendors(sandbox)

    for name in "abc":
        with loader.start(sandbox) as cl:
            assert cl.vendor_function(f"clSomething{3 * name.upper()}") == name
            assert not cl.GetExtensionFunctionAddress("clSomethingDDD")


@requirement("DISC-GEN-013")
@pytest.mark.parametrize("enumerated", [False, True], ids=["first-call", "later-call"])
@pytest.mark.parametrize("call", ["context", "gl"])
def test_default_platform_in_the_first_call_is_the_later_one(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], call: str, enumerated: bool
) -> None:
    """Without a platform the answer is a vendor's or an error, as the first call just as after an enumeration."""
    three_vendors(sandbox)

    with loader.start(sandbox) as cl:
        if enumerated:
            cl.platform_count()
        error = cl.buffer(4)
        if call == "context":
            function = "clCreateContextFromType"
            result = cl.clCreateContextFromType(None, CL.DEVICE_TYPE_GPU, None, None, error)
            assert (error.code() == 0) == (result != 0)
            answer: int = error.code()
        else:
            function = "clGetGLContextInfoKHR"
            answer = gl_context_info(cl, [CL.GL_CONTEXT_KHR, 1, 0])
        callers = [e.who for e in sandbox.log.calls(function) if e.who != "application"]
        assert len(callers) <= 1
        assert callers or answer < 0, "success, and no vendor was asked"
    record(f"asks {callers[0]}" if callers else f"answers {int(answer)}")


@requirement("DISC-GEN-013")
@pytest.mark.parametrize(
    "function, arguments",
    [
        ("clGetPlatformInfo", (None, CL.PLATFORM_NAME, 0, None, None)),
        ("clGetDeviceIDs", (None, CL.DEVICE_TYPE_ACCELERATOR, 0, None, None)),
        ("clGetExtensionFunctionAddressForPlatform", (None, "clSomethingAAA")),
        ("clUnloadPlatformCompiler", (None,)),
        ("clUnloadCompiler", ()),
        ("clCreateContext", (None, 0, None, None, None, None)),
        ("clReleaseContext", (None,)),
        ("clFinish", (None,)),
        ("clWaitForEvents", (0, None)),
    ],
    ids=lambda value: value if isinstance(value, str) else "NULL",
)
def test_first_call_without_an_object_leaves_all_vendors_to_be_found(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: str, arguments: tuple[object, ...]
) -> None:
    """A first call without any object may start discovery or not; it does not crash, and the next call finds all."""
    three_vendors(sandbox)

    with loader.start(sandbox) as cl:
        result = cl.call(function, *arguments)
        log = sandbox.log
        sent = log.calls(function, by="application")[0].arguments
        callers = [e.who for e in log.calls(function) if e.who != "application" and e.arguments[1:] == sent[1:]]
        discovered = len(log.happened("loaded"))
        assert discovered in (0, 3)
        assert len(callers) <= 1
        answered = "an address" if isinstance(result, Value) and result else str(int(result))
        answer = f"asks {callers[0]}" if callers else f"answers {answered}"
        record(f"{answer}, {'discovers' if discovered else 'discovers nothing'}")
        check_found_once(cl)


# --- and only once ---


def _enumerated(cl: Session, sandbox: Sandbox) -> None:
    assert cl.platform_names() == THREE


def _counted(cl: Session, sandbox: Sandbox) -> None:
    assert cl.platform_count() == 4


def _asked_for_address(cl: Session, sandbox: Sandbox) -> None:
    assert cl.GetExtensionFunctionAddress("clSomethingAAA")


def _made_context(cl: Session, sandbox: Sandbox) -> None:
    cl.clCreateContextFromType(None, CL.DEVICE_TYPE_GPU, None, None, None)


BEFORE = {
    "enumerated": _enumerated,
    "counted": _counted,
    "asked-for-address": _asked_for_address,
    "made-context": _made_context,
}


@requirement("DISC-GEN-011")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
@pytest.mark.parametrize("first", BEFORE.values(), ids=BEFORE.keys())
def test_vendors_added_after_the_first_call_are_not_listed(
    loader: Loader, sandbox: Sandbox, first: Callable[[Session, Sandbox], None], way: str
) -> None:
    """A vendor that is added after the first call is not picked up in this process, but in the next one."""
    three_vendors(sandbox)

    with loader.start(sandbox, **options(way)) as cl:
        first(cl, sandbox)
        added = sandbox.vendor("d", suffix="DDD")
        check_found_once(cl)
        assert not cl.GetExtensionFunctionAddress("clSomethingDDD")
        assert not cl.maps(added)
    with loader.start(sandbox, **options(way)) as cl:
        assert cl.platform_names() == THREE | {"d"}


@requirement("DISC-GEN-011")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
def test_vendors_added_after_none_was_found_are_not_listed(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """That there is no platform is found out once, too."""
    with loader.start(sandbox, **options(way)) as cl:
        for _ in range(3):
            assert cl.clGetPlatformIDs(0, None, cl.buffer(4)) == CL.PLATFORM_NOT_FOUND_KHR
            if not (sandbox.vendors / "a.icd").exists():
                sandbox.vendor("a", suffix="AAA")
        assert not cl.GetExtensionFunctionAddress("clSomethingAAA")
        assert not sandbox.log.of("a")
    with loader.start(sandbox, **options(way)) as cl:
        assert cl.platform_count() == 1


@requirement("DISC-GEN-011")
def test_platforms_stay_when_everything_changes_after_the_first_call(loader: Loader, sandbox: Sandbox) -> None:
    """Files, libraries, environment and folder may go once discovery is over: the platforms stay and work."""
    three_vendors(sandbox)
    other = sandbox.folder("other")

    with loader.start(sandbox) as cl:
        before = cl.GetPlatformIDs()
        sandbox.vendor_file("d.icd", f"{sandbox.icd('d')}\n", other)
        for path in [*sandbox.vendors.iterdir(), *sandbox.libraries.iterdir()]:
            path.unlink()
        cl.setenv("OCL_ICD_VENDORS", str(other))
        cl.setenv("OCL_ICD_FILENAMES", f"{sandbox.libraries}/libd.so")
        cl.chdir("/")
        assert cl.GetPlatformIDs() == before
        check_found_once(cl)
        assert cl.used_platforms() == THREE
        for name in "abc":
            assert cl.vendor_function(f"clSomething{3 * name.upper()}") == name


@requirement("DISC-GEN-009")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
def test_same_list_again_and_again(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """Every enumeration gives the same handles in the same order, whatever its shape and whatever comes between."""
    three_vendors(sandbox)

    with loader.start(sandbox, **options(way)) as cl:
        first = cl.GetPlatformIDs()
        for turn in range(20):
            array = cl.room(4)
            assert cl.clGetPlatformIDs(1 + turn % 4, array, None) == CL.SUCCESS
            assert array.handles()[: 1 + turn % 4] == first[: 1 + turn % 4]
            cl.GetDeviceIDs(first[turn % 4])
            cl.clGetPlatformIDs(0, None, None)
            cl.GetExtensionFunctionAddress("clNobodyHasThis")
            assert cl.GetPlatformIDs() == first
        check_found_once(cl)


@requirement("DISC-GEN-009", "DISC-GEN-011")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
@pytest.mark.parametrize("enumerated", [True, False], ids=["after", "before"])
def test_forked_process_has_the_list_of_its_parent(
    loader: Loader, sandbox: Sandbox, enumerated: bool, way: str
) -> None:
    """A child process has its parent's list if there was one, and no vendor more; else it finds the vendors itself."""
    three_vendors(sandbox)

    with loader.start(sandbox, **options(way)) as cl:
        before = cl.GetPlatformIDs() if enumerated else []
        if enumerated:
            sandbox.vendor("d")
        cl.fork()
        assert cl.GetPlatformIDs() == (before or cl.GetPlatformIDs())
        check_found_once(cl)
