# SPDX-License-Identifier: Apache-2.0
"""When variables are read: at the first call, and once (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Loader, Sandbox, Session, api, requirement

FIRST_CALLS = {
    "clGetPlatformIDs": lambda cl: cl.platform_count(),
    "clGetExtensionFunctionAddress": lambda cl: cl.GetExtensionFunctionAddress("clThingCHOSEN"),
}
STARTS: dict[str, dict[str, Any]] = {"opened": {}, "linked": {"linked": True}, "now": {"bind_now": True}}


@pytest.fixture
def chosen(sandbox: Sandbox) -> str:
    """A directory with one vendor, "chosen"; the usual one has the vendor "usual"."""
    sandbox.vendor("usual", suffix="USUAL")
    folder = sandbox.folder("chosen")
    sandbox.vendor_file("chosen.icd", f"{sandbox.icd('chosen', suffix='CHOSEN')}\n", folder)
    return str(folder)


def answers(cl: Session) -> tuple[list[str], str | None, str | None]:
    return list(cl.used_platforms()), cl.vendor_function("clThingUSUAL"), cl.vendor_function("clThingCHOSEN")


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("first", FIRST_CALLS)
@pytest.mark.parametrize("start", STARTS)
def test_variable_set_before_the_first_call_is_honoured(
    loader: Loader, sandbox: Sandbox, chosen: str, start: str, first: str
) -> None:
    """A variable that the program sets after it loaded the loader, before its first call, is honoured."""
    loader.require("OCL_ICD_VENDORS")
    with loader.start(sandbox, **STARTS[start]) as cl:
        cl.setenv("OCL_ICD_VENDORS", chosen)
        FIRST_CALLS[first](cl)
        assert answers(cl) == (["chosen"], None, "chosen")
    assert not sandbox.log.of("usual")


@requirement("DISC-ENV-020")
def test_variable_removed_before_the_first_call_has_no_effect(loader: Loader, sandbox: Sandbox, chosen: str) -> None:
    """A variable that the program removes before its first call has no effect."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.env["OCL_ICD_VENDORS"] = chosen
    with loader.start(sandbox, system=True) as cl:
        cl.unsetenv("OCL_ICD_VENDORS")
        assert answers(cl) == (["usual"], "usual", None)
    assert not sandbox.log.of("chosen")


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("change", ["set", "removed"])
def test_variable_changed_after_the_first_call_has_no_effect(
    loader: Loader, sandbox: Sandbox, chosen: str, change: str
) -> None:
    """What the program does with a variable after its first call has no effect on the platforms."""
    loader.require("OCL_ICD_VENDORS")
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        if change == "set":
            cl.setenv("OCL_ICD_VENDORS", chosen)
        else:
            cl.unsetenv("OCL_ICD_VENDORS")
        assert answers(cl) == (["usual"], "usual", None)
        assert cl.GetPlatformIDs() == platforms
    assert not sandbox.log.of("chosen")


@requirement("DISC-ENV-020")
def test_variable_set_after_no_platform_was_found_has_no_effect(loader: Loader, sandbox: Sandbox, chosen: str) -> None:
    """A first call that found no platform has read the variables: setting one afterwards brings in no vendor."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.folder("empty"))
    with loader.start(sandbox) as cl:
        assert cl.platform_count() == 0
        cl.setenv("OCL_ICD_VENDORS", chosen)
        assert answers(cl) == ([], None, None)
    assert not sandbox.log.of("chosen")


def information(cl: Session) -> tuple[int, int]:
    return cl.clGetPlatformInfo(None, api().constant("CL_PLATFORM_NAME"), 0, None, None), 0


def devices(cl: Session) -> tuple[int, int]:
    count = cl.buffer(4, 0)
    return cl.clGetDeviceIDs(None, api().constant("CL_DEVICE_TYPE_ALL"), 0, None, count), count.u32()


def context(cl: Session) -> tuple[int, int]:
    error = cl.buffer(4, 0)
    handle = cl.clCreateContextFromType(None, api().constant("CL_DEVICE_TYPE_ALL"), None, None, error)
    return error.code(), handle != 0


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("call", [information, devices, context], ids=lambda call: call.__name__)
def test_first_call_that_names_no_platform_gets_the_later_answer(
    loader: Loader, sandbox: Sandbox, chosen: str, call: Callable[[Session], tuple[int, int]]
) -> None:
    """A call that names no platform gets the same answer as first call as after the platforms were listed."""
    loader.require("OCL_ICD_VENDORS")
    seen = []
    for listed in (False, True):
        with loader.start(sandbox) as cl:
            cl.setenv("OCL_ICD_VENDORS", chosen)
            if listed:
                assert cl.platform_count() == 1
            seen.append(call(cl))
    assert seen[0] == seen[1]


@requirement("DISC-ENV-020", "DISC-ENV-019")
@pytest.mark.parametrize(("first", "then"), [("1", "2"), (None, "1"), ("1", None), ("3", "1")])
def test_default_platform_stays_after_its_first_use(
    loader: Loader, sandbox: Sandbox, first: str | None, then: str | None
) -> None:
    """The default platform stays the same for the whole life of the process, whatever becomes of the variable."""
    loader.require("OCL_ICD_DEFAULT_PLATFORM")
    for number in range(3):
        sandbox.vendor(f"v{number}", gpus=number)
    if first is not None:
        sandbox.env["OCL_ICD_DEFAULT_PLATFORM"] = first
    with loader.start(sandbox) as cl:
        before = devices(cl)
        if then is None:
            cl.unsetenv("OCL_ICD_DEFAULT_PLATFORM")
        else:
            cl.setenv("OCL_ICD_DEFAULT_PLATFORM", then)
        assert devices(cl) == before


KEEP = "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING"


@requirement("DISC-ENV-020", "DISC-ENV-017")
@pytest.mark.parametrize("change", ["set", "removed"])
def test_switch_of_unloading_is_that_of_the_first_call_or_of_the_end(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], change: str
) -> None:
    """What keeps vendors loaded is read once, with the other variables or at the end, and holds for each of them."""
    sandbox.require_linux("vendors that are unloaded with the loader")
    loader.require("unloads vendors")
    names = ("a", "b")
    mocks = [sandbox.vendor(name, extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True) for name in names]
    if change == "removed":
        sandbox.env[KEEP] = "True"
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == set(names)
        if change == "set":
            cl.setenv(KEEP, "True")
        else:
            cl.unsetenv(KEEP)
        cl.close()
        kept = {cl.maps(mock) for mock in mocks}
    assert len(kept) == 1
    record("as at the end" if kept == {change == "set"} else "as at the first call")


@requirement("DISC-ENV-020")
def test_loader_opened_late_reads_the_variables_of_that_moment(loader: Loader, sandbox: Sandbox, chosen: str) -> None:
    """A loader that is opened late reads the variables as they are then."""
    loader.require("OCL_ICD_VENDORS")
    with loader.start(sandbox, late=True) as cl:
        cl.setenv("OCL_ICD_VENDORS", chosen)
        cl.open()
        assert answers(cl) == (["chosen"], None, "chosen")


@requirement("DISC-ENV-020")
def test_variable_set_in_a_child_process_is_honoured_there(loader: Loader, sandbox: Sandbox, chosen: str) -> None:
    """A child process that makes the first call reads the variables as it has set them."""
    loader.require("OCL_ICD_VENDORS")
    with loader.start(sandbox) as cl:
        cl.fork()
        cl.setenv("OCL_ICD_VENDORS", chosen)
        assert answers(cl) == (["chosen"], None, "chosen")


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("start", STARTS)
def test_library_list_set_before_the_first_call_is_honoured(
    loader: Loader, sandbox: Sandbox, chosen: str, start: str
) -> None:
    """OCL_ICD_FILENAMES that the program sets before its first call is honoured."""
    loader.require("OCL_ICD_FILENAMES")
    more = sandbox.icd("more")
    with loader.start(sandbox, **STARTS[start]) as cl:
        cl.setenv("OCL_ICD_FILENAMES", str(more))
        assert cl.used_platforms() == {"usual", "more"}
