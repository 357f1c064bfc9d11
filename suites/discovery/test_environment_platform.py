# SPDX-License-Identifier: Apache-2.0
"""The default platform, and vendors without cl_khr_icd in their extensions: ocl-icd's other variables (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import CL, Code, Loader, MockIcd, Sandbox, Session, api, requirement

Record = Callable[[str], None]
DEFAULT = "OCL_ICD_DEFAULT_PLATFORM"
ASSUME = "OCL_ICD_ASSUME_ICD_EXTENSION"


def default_platform(cl: Session) -> str | int:
    """The name of the platform that answers for NULL, or the error code."""
    text = cl.buffer(64, 0)
    result = cl.clGetPlatformInfo(None, api().constant("CL_PLATFORM_NAME"), 64, text, None)
    return text.text() if result == CL.SUCCESS else result


def default_platform_by_devices(cl: Session) -> str | int:
    """The same by the devices that clGetDeviceIDs lists for NULL."""
    device = cl.room(1, 0)
    result = cl.clGetDeviceIDs(None, api().constant("CL_DEVICE_TYPE_ALL"), 1, device, None)
    if result:
        return result
    owner = cl.room(1, 0)
    assert cl.clGetDeviceInfo(device.handle(), CL.DEVICE_PLATFORM, owner.size, owner, None) == CL.SUCCESS
    return cl.GetPlatformInfo(owner.handle())


def default_platform_by_context(cl: Session) -> str | int:
    """The same by the vendor that clCreateContextFromType reaches without properties."""
    error = cl.buffer(4)
    context = cl.clCreateContextFromType(None, api().constant("CL_DEVICE_TYPE_ALL"), None, None, error)
    if not context:
        return error.code()
    devices = cl.room(1, 0)
    assert cl.clGetContextInfo(context, api().constant("CL_CONTEXT_DEVICES"), devices.size, devices, None) == CL.SUCCESS
    owner = cl.room(1, 0)
    assert cl.clGetDeviceInfo(devices.handle(), CL.DEVICE_PLATFORM, owner.size, owner, None) == CL.SUCCESS
    return cl.GetPlatformInfo(owner.handle())


ASKED = {
    "information": default_platform,
    "devices": default_platform_by_devices,
    "context": default_platform_by_context,
}


def vendors(sandbox: Sandbox, count: int) -> None:
    for number in range(count):
        sandbox.vendor(f"v{number}", gpus=1)


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(("count", "number"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (33, 31), (33, 32)])
def test_default_platform_is_the_number_in_the_variable(
    loader: Loader, sandbox: Sandbox, count: int, number: int, asked: str
) -> None:
    """OCL_ICD_DEFAULT_PLATFORM is the number, from 0, of the platform that is meant where a call names none."""
    loader.require(DEFAULT)
    vendors(sandbox, count)
    sandbox.env[DEFAULT] = str(number)
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        assert [ASKED[asked](cl) for _ in range(2)] == [names[number]] * 2
        assert cl.platform_names() == list(names)


@requirement("DISC-ENV-019")
def test_default_platform_without_the_variable_is_the_first(loader: Loader, sandbox: Sandbox) -> None:
    """Without OCL_ICD_DEFAULT_PLATFORM, the first platform is meant where a call names none."""
    loader.require(DEFAULT)
    vendors(sandbox, 3)
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        assert {name: ask(cl) for name, ask in ASKED.items()} == dict.fromkeys(ASKED, names[0])


@requirement("DISC-ENV-019", "DISC-ENV-021")
def test_default_platform_counts_in_sorted_order(loader: Loader, sandbox: Sandbox) -> None:
    """OCL_ICD_DEFAULT_PLATFORM counts platforms in the order in which they are listed."""
    loader.require(DEFAULT)
    loader.require("sorts platforms by devices")
    sandbox.vendors_in_order([f"{sandbox.icd(f'v{gpus}', gpus=gpus)}\n" for gpus in (1, 3, 2)])
    sandbox.env[DEFAULT] = "1"
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["v3", "v2", "v1"]
        assert default_platform(cl) == "v2"


# With three platforms.
NO_NUMBER = [
    "3", "4", "1000", "-1", "-2", "-1000000", "2147483647", "2147483648", "4294967295", "4294967296", "4294967297",
    "-4294967295", "9223372036854775807", "99999999999999999999", "", " ", " 1", "+1", "1 ", "1x", "x", "x1", "0x1",
    "1.0", "01", "1,2", "1" * 5000,
]  # fmt: skip


@requirement("DISC-ENV-019")
@pytest.mark.parametrize("value", NO_NUMBER, ids=lambda value: repr(value[:24]))
def test_default_platform_out_of_range_is_one_of_them_or_none(
    loader: Loader, sandbox: Sandbox, record: Record, value: str
) -> None:
    """A value that is not the number of a platform means one of the platforms or none, for every call the same."""
    loader.require(DEFAULT)
    vendors(sandbox, 3)
    sandbox.env[DEFAULT] = value
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        answers = {default_platform(cl), default_platform_by_devices(cl), default_platform(cl)}
        assert len(answers) == 1
        answer = answers.pop()
        assert answer in (*names, CL.INVALID_PLATFORM)
        assert cl.used_platforms() == list(names)
    record(f"platform {names.index(answer)}" if isinstance(answer, str) else "none")


@requirement("DISC-GEN-018", "DISC-ENV-019")
@pytest.mark.parametrize("side", ["past the end", "before the start"])
@pytest.mark.parametrize("value", ["0", "2", "3", "4", "-1", "-2"])
def test_number_beside_the_platforms_reads_nothing_beside_them(
    loader: Loader, sandbox: Sandbox, value: str, side: str
) -> None:
    """The number just past the last platform's, or before the first one's, has no platform read that is not there."""
    loader.require(DEFAULT)
    vendors(sandbox, 3)
    sandbox.env[DEFAULT] = value
    front = side == "before the start"
    with loader.start(sandbox, guarded_heap=not front, guarded_front=front) as cl:
        names = cl.platform_names()
        is_one = 0 <= int(value) < 3
        assert default_platform(cl) in ([names[int(value)]] if is_one else [*names, CL.INVALID_PLATFORM])
        assert cl.used_platforms() == list(names)


@requirement("DISC-ENV-019")
@pytest.mark.parametrize("value", ["3", "-1", ""], ids=repr)
def test_context_of_a_default_platform_out_of_range_is_refused_or_some_platforms(
    loader: Loader, sandbox: Sandbox, value: str
) -> None:
    """A context without properties is refused, or is one of some platform, where the default platform is none."""
    loader.require(DEFAULT)
    vendors(sandbox, 3)
    sandbox.env[DEFAULT] = value
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        assert default_platform_by_context(cl) in (*names, CL.INVALID_PLATFORM)


@requirement("DISC-ENV-019")
@pytest.mark.parametrize("value", [None, "0", "1"])
def test_default_platform_without_platforms_is_refused(loader: Loader, sandbox: Sandbox, value: str | None) -> None:
    """Where there is no platform, a call that names none is refused, whatever the default is."""
    if value is not None:
        sandbox.env[DEFAULT] = value
    with loader.start(sandbox) as cl:
        assert cl.platform_count() == 0
        assert default_platform(cl) == CL.INVALID_PLATFORM
        assert default_platform_by_devices(cl) == CL.INVALID_PLATFORM
        error = default_platform_by_context(cl)
        assert isinstance(error, Code) and error != CL.SUCCESS


# --- vendors that do not name cl_khr_icd ---


def in_position(sandbox: Sandbox, tested: MockIcd, position: int) -> list[str]:
    """The vendors a and b, and a third one at this position; gives the names in order."""
    mocks = [sandbox.icd("a", suffix="A"), sandbox.icd("b", suffix="B")]
    mocks.insert(position, tested)
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    return [mock.name for mock in mocks]


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("value", [None, "", "1", "0", "no", "debug", "debugger"])
def test_assumed_extension_accepts_a_vendor_without_it(
    loader: Loader, sandbox: Sandbox, value: str | None, position: int
) -> None:
    """With OCL_ICD_ASSUME_ICD_EXTENSION set and not empty, a vendor is accepted without cl_khr_icd; else it is not."""
    loader.require(ASSUME)
    names = in_position(sandbox, sandbox.icd("tested", suffix="TESTED", extensions="cl_khr_other"), position)
    if value is not None:
        sandbox.env[ASSUME] = value
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == (names if value else ["a", "b"])
        assert cl.vendor_function("clThingTESTED") == ("tested" if value else None)
        assert [cl.vendor_function("clThingA"), cl.vendor_function("clThingB")] == ["a", "b"]


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("value", [None, "", "1", "debug"])
@pytest.mark.parametrize("platforms", [1, 3])
def test_assumed_extension_allows_the_info_function_in_the_table_only(
    loader: Loader, sandbox: Sandbox, value: str | None, position: int, platforms: int
) -> None:
    """OCL_ICD_ASSUME_ICD_EXTENSION lets a vendor have clGetPlatformInfo in its dispatch table only."""
    loader.require(ASSUME)
    tested = sandbox.icd(
        "tested",
        platforms=platforms,
        suffix="TESTED",
        variant="icd_without_get_platform_info",
        faults=["get_platform_info_not_returned"],
    )
    in_position(sandbox, tested, position)
    if value is not None:
        sandbox.env[ASSUME] = value
    more = {"tested"} if platforms == 1 else {f"tested.{i}" for i in range(platforms)}
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ({"a", "b"} | more if value else {"a", "b"})
        assert cl.vendor_function("clThingTESTED") == ("tested" if value else None)
        assert [cl.vendor_function("clThingA"), cl.vendor_function("clThingB")] == ["a", "b"]


@requirement("DISC-ENV-019")
def test_assumed_extension_takes_the_info_function_of_each_platforms_own_table(
    loader: Loader, sandbox: Sandbox
) -> None:
    """A platform whose table lacks clGetPlatformInfo, too, costs no other platform of its vendor."""
    loader.require(ASSUME)
    sandbox.env[ASSUME] = "1"
    faults = ["get_platform_info_not_returned", "table_without_platform_info@0"]
    sandbox.vendor("tested", platforms=3, variant="icd_without_get_platform_info", faults=faults)
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"tested.1", "tested.2"}


@requirement("DISC-ENV-019")
@pytest.mark.parametrize("value", ["1", "debug"])
def test_assumed_extension_is_not_asked_for(loader: Loader, sandbox: Sandbox, value: str) -> None:
    """With OCL_ICD_ASSUME_ICD_EXTENSION, the extensions are not asked for, because a vendor may fail at that."""
    loader.require(ASSUME)
    names = in_position(sandbox, sandbox.icd("tested", faults=["extensions_size_fails"]), 1)
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a", "b"]
    sandbox.env[ASSUME] = value
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == names


# --- diagnostics ---


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("tested", ["without extension", "without info function"])
@pytest.mark.parametrize(("name", "value"), [(ASSUME, "1"), (ASSUME, "debug"), (DEFAULT, "0")])
def test_variables_of_other_things_than_diagnostics_add_no_message(
    loader: Loader, sandbox: Sandbox, name: str, value: str, tested: str
) -> None:
    """Messages are those of OCL_ICD_DEBUG: another variable brings none that is not there without it."""
    lacking = sandbox.icd("tested", variant="icd_without_get_platform_info", faults=["get_platform_info_not_returned"])
    mock = lacking if tested == "without info function" else sandbox.icd("other", extensions="cl_khr_other")
    in_position(sandbox, mock, 1)
    seen = []
    for setting in (None, value):
        if setting is not None:
            sandbox.env[name] = setting
        with loader.start(sandbox) as cl:
            assert {"a", "b"} <= set(cl.platform_names())
        assert cl.stdout == ""
        seen.append(cl.stderr.splitlines())
    usual, with_variable = seen
    assert set(with_variable) <= set(usual)


@requirement("DISC-ENV-019")
@pytest.mark.parametrize(
    "value", ["", "0", "1", "2", "3", "4", "7", "8", "15", "16", "-1", "x", "99999999999999999999"]
)
@pytest.mark.parametrize("machine", ["vendors", "nothing"])
def test_debug_alters_nothing(loader: Loader, sandbox: Sandbox, machine: str, value: str) -> None:
    """Whatever OCL_ICD_DEBUG says, the program sees the same platforms and a clean standard output."""
    lines = [f"{sandbox.icd('a', suffix='A')}\n", "/missing.so\n", f"{sandbox.icd('b', suffix='B', platforms=2)}\n"]
    sandbox.vendors_in_order(lines if machine == "vendors" else lines[1:2])
    seen = []
    for setting in (None, value):
        if setting is not None:
            sandbox.env["OCL_ICD_DEBUG"] = setting
        with loader.start(sandbox) as cl:
            seen.append((list(cl.used_platforms()), cl.vendor_function("clThingA"), cl.vendor_function("clThingB")))
        assert cl.stdout == ""
    assert seen[1] == seen[0]
    names, *functions = seen[0]
    if machine == "vendors":
        assert (sorted(names), functions) == (["a", "b.0", "b.1"], ["a", "b"])
    else:
        assert (names, functions) == ([], [None, None])
