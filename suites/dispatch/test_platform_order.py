# SPDX-License-Identifier: Apache-2.0
"""The order of the platforms, and which of them stands for none (DISP-ORD)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.check import CL, Loader, Sandbox, Session, also_through_layers, api, requirement

DEVICES = [(0, 1), (3, 0), (0, 0), (1, 2), (2, 0)]  # GPUs and CPUs, so that order by devices is another one


def as_found(loader: Loader, sandbox: Sandbox) -> None:
    """Asks loaders that sort platforms not to."""
    if loader.has("sorts platforms by devices"):
        sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"


def expected(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}.{i}" for i in range(count)]


@requirement("DISP-ORD-001")
@pytest.mark.parametrize(
    "counts, icd2",
    [([n], icd2) for n in (2, 3, 4, 17, 64) for icd2 in (False, True)]
    + [(counts, False) for counts in ([4, 3], [1, 4, 1], [3, 1, 4])],
    ids=lambda value: str(value) if isinstance(value, list) else "icd2" if value else "icd1",
)
def test_platforms_of_one_library_keep_its_order(
    loader: Loader, sandbox: Sandbox, counts: Sequence[int], icd2: bool
) -> None:
    """Platforms of one library keep the order in which the library lists them, and no other comes between them."""
    if icd2:
        loader.require("ICD 2")
    as_found(loader, sandbox)
    names = "abc"[: len(counts)]
    mocks = []
    for name, count in zip(names, counts, strict=True):
        devices: list[dict[str, str | int]] = [{"gpus": gpus, "cpus": cpus} for gpus, cpus in (DEVICES * 13)[:count]]
        mocks.append(sandbox.icd(name, platforms=count, icd2=icd2, per_platform=devices))
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        actual = list(cl.platform_names())
        assert cl.platform_names() == actual
    of_each = [[platform for platform in actual if platform[0] == name] for name in names]
    assert of_each == [expected(name, count) for name, count in zip(names, counts, strict=True)]
    in_turn = sorted(of_each, key=lambda platforms: actual.index(platforms[0]))
    assert actual == [platform for platforms in in_turn for platform in platforms]


@requirement("DISP-ORD-002")
@pytest.mark.parametrize("listed", ["a", "ba", "cab"])
@pytest.mark.parametrize("placed", ["", "x", "xyz"])
def test_listed_libraries_come_first(loader: Loader, sandbox: Sandbox, listed: str, placed: str) -> None:
    """First the libraries of OCL_ICD_FILENAMES in its order, then those of the directory, in any order of files."""
    loader.require("OCL_ICD_FILENAMES")
    as_found(loader, sandbox)
    mocks = {name: sandbox.icd(name, platforms=2) for name in listed + placed}
    sandbox.env["OCL_ICD_FILENAMES"] = ":".join(str(mocks[name]) for name in listed)
    sandbox.vendors_in_order([f"{mocks[name]}\n" for name in placed])
    with loader.start(sandbox) as cl:
        actual = list(cl.platform_names())
    assert actual[: 2 * len(listed)] == [platform for name in listed for platform in expected(name, 2)]
    rest = actual[2 * len(listed) :]
    in_order = [platform for name in placed for platform in expected(name, 2)]
    assert sorted(rest) == sorted(in_order)
    assert [name.endswith("0") for name in rest] == [True, False] * len(placed)


@requirement("DISP-ORD-003")
@pytest.mark.parametrize("sort", ["devices", "none"])
def test_devices_are_counted_for_the_order(loader: Loader, sandbox: Sandbox, sort: str) -> None:
    """A loader that sorts by devices asks each platform for them before it lists any, unless it is told not to sort."""
    loader.require("sorts platforms by devices")
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = sort
    names = ["a", "b", "c", "d", "e"]
    mocks = [sandbox.icd(name, gpus=gpus, cpus=cpus) for name, (gpus, cpus) in zip(names, DEVICES, strict=True)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        listed = cl.platform_names()
        callers = {event.who for event in sandbox.log.calls("clGetDeviceIDs")}
        for platform in cl.GetPlatformIDs():
            cl.GetDeviceIDs(platform)
    assert listed == (["b", "e", "d", "a", "c"] if sort == "devices" else names)
    assert callers == (set(names) if sort == "devices" else set())
    assert {event.who for event in sandbox.log.calls("clGetDeviceIDs")} == {"application", *names}


def context_of_no_platform(cl: Session) -> tuple[int, int]:
    """The error, and the context that a property list without a platform gives."""
    error = cl.buffer(4)
    context = cl.clCreateContextFromType(None, api().constant("CL_DEVICE_TYPE_ALL"), None, None, error)
    return error.code(), int(context)


@requirement("DISP-ORD-004")
@pytest.mark.parametrize("sort", ["devices", "none"])
@pytest.mark.parametrize("order", ["a", "ab", "ba", "abc", "cba"])
def test_context_that_needs_no_platform_is_the_first_platforms(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], order: str, sort: str
) -> None:
    """Where a context needs no platform it is made by the first one listed, also when no one asked for the list yet."""
    devices = dict(zip("abc", DEVICES, strict=False))
    mocks = [
        sandbox.icd(name, platforms=2, gpus=devices[name][0], cpus=devices[name][1], validates=False) for name in order
    ]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = sort
    with loader.start(sandbox) as cl:
        contexts = [context_of_no_platform(cl)]
        first = cl.platform_names()[0]
        contexts.append(context_of_no_platform(cl))
    callers = [event.who for event in sandbox.log.calls("clCreateContextFromType") if event.who != "application"]
    if not callers:
        assert contexts == [(CL.INVALID_PLATFORM, 0)] * 2
        record("refused")
        return
    assert [error for error, _ in contexts] == [0, 0]
    assert callers == [first.split(".")[0]] * 2
    record("the first platform's")


also_through_layers(globals())
