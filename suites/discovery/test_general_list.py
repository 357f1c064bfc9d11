# SPDX-License-Identifier: Apache-2.0
"""The list of platforms: everything that every accepted vendor offers, once, and usable (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.check import Loader, MockIcd, Sandbox, Session, requirement

GET_PLATFORMS = "clIcdGetPlatformIDsKHR"

WAYS: dict[str, dict[str, Any]] = {
    way: {way: True} for way in ("linked", "system", "ordinary_user", "bind_now", "bind_global", "late")
}

# How many platforms each vendor offers, in the order of the directory.
OFFERS = {
    "one": (1,),
    "two": (2,),
    "one-and-one": (1, 1),
    "1-2-3": (1, 2, 3),
    "3-2-1": (3, 2, 1),
    "2-1-2": (2, 1, 2),
    "none-first": (0, 1, 2),
    "none-between": (2, 0, 1),
    "none-last": (1, 2, 0),
    "none-all-around": (0, 0, 1, 0, 0, 1, 0, 0),
    "7-vendors": (1,) * 7,
    "8-vendors": (1,) * 8,
    "9-vendors": (1,) * 9,
    "33-vendors": (1,) * 33,
    "7-platforms": (7,),
    "8-platforms": (8,),
    "9-platforms": (9,),
    "64-platforms": (64,),
    "1-9-1": (1, 9, 1),
    "growing": (1, 2, 4, 8, 16),
    "shrinking": (16, 8, 4, 2, 1),
}


def vendors(sandbox: Sandbox, offers: Sequence[int]) -> list[MockIcd]:
    """Vendors v00, v01, … whose suffixes are V00, V01, …"""
    mocks = [sandbox.icd(f"v{i:02}", platforms=n, suffix=f"V{i:02}") for i, n in enumerate(offers)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    return mocks


def names(offers: Sequence[int]) -> set[str]:
    return {f"v{i:02}" if n == 1 else f"v{i:02}.{p}" for i, n in enumerate(offers) for p in range(n)}


def check_usable(cl: Session, sandbox: Sandbox, offers: Sequence[int]) -> None:
    """Every platform is there once and leads to its vendor, and so does every vendor's own function."""
    assert cl.platform_count() == sum(offers)
    assert len(set(cl.GetPlatformIDs())) == sum(offers), "a platform is listed twice"
    assert cl.used_platforms() == names(offers)
    for i, offered in enumerate(offers):
        if offered:
            assert cl.vendor_function(f"clSomethingV{i:02}") == f"v{i:02}"
    assert not sandbox.log.happened("foreign handle")


@requirement("DISC-GEN-001")
@pytest.mark.parametrize("offers", OFFERS.values(), ids=OFFERS.keys())
def test_all_platforms_of_all_vendors_are_listed(loader: Loader, sandbox: Sandbox, offers: Sequence[int]) -> None:
    """The list is the union of what the vendors offer, and each handle leads to the vendor that offered it."""
    mocks = vendors(sandbox, offers)

    with loader.start(sandbox) as cl:
        check_usable(cl, sandbox, offers)
        assert [cl.maps(mock) for mock, n in zip(mocks, offers, strict=True) if n] == [True] * sum(map(bool, offers))


@requirement("DISC-GEN-025")
@pytest.mark.parametrize("offers", OFFERS.values(), ids=OFFERS.keys())
def test_each_library_is_asked_once(loader: Loader, sandbox: Sandbox, offers: Sequence[int]) -> None:
    """Each library is opened once, and asked once for the number of its platforms, and once for the list of so many."""
    mocks = vendors(sandbox, offers)

    with loader.start(sandbox) as cl:
        assert cl.platform_count() == sum(offers)
    log = sandbox.log
    for mock, offered in zip(mocks, offers, strict=True):
        assert len(log.happened("loaded", by=mock.name)) == 1
        calls = log.calls(GET_PLATFORMS, by=mock.name)
        assert calls[0].arguments[:2] == (0, 0), "the number of platforms is asked for first"
        assert calls[0].arguments[2] != 0
        if offered:
            assert len(calls) == 2, "the number once and the list once"
            assert calls[1].arguments[0] == offered
            assert calls[1].arguments[1] != 0


@requirement("DISC-GEN-001")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("offers", [(1, 2, 3), (1,) * 9], ids=["1-2-3", "9-vendors"])
def test_all_platforms_are_listed_however_the_application_runs(
    loader: Loader, sandbox: Sandbox, offers: Sequence[int], way: str
) -> None:
    """The list is complete and usable whatever way the application reaches the loader."""
    vendors(sandbox, offers)

    with loader.start(sandbox, **WAYS[way]) as cl:
        if way == "late":
            cl.open()
        check_usable(cl, sandbox, offers)


@requirement("DISC-GEN-001")
@pytest.mark.parametrize("offers", [(1, 2, 3), (1,) * 9, (2, 0, 1), (1, 9, 1)], ids=str)
def test_nothing_depends_on_what_memory_held_before(loader: Loader, sandbox: Sandbox, offers: Sequence[int]) -> None:
    """Discovery reads no memory that it did not write, nor memory that it gave back."""
    vendors(sandbox, offers)
    sandbox.env["GLIBC_TUNABLES"] = "glibc.malloc.perturb=165"

    with loader.start(sandbox) as cl:
        check_usable(cl, sandbox, offers)


@requirement("DISC-ENV-008")
def test_named_libraries_and_directory_are_offered_together(loader: Loader, sandbox: Sandbox) -> None:
    """Libraries that a variable names and those of the directory are offered together."""
    loader.require("OCL_ICD_FILENAMES")
    named = [sandbox.icd(f"v{i:02}", platforms=2, suffix=f"V{i:02}") for i in range(3)]
    listed = [sandbox.icd(f"v{i:02}", platforms=2, suffix=f"V{i:02}") for i in range(3, 6)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in listed])
    sandbox.env["OCL_ICD_FILENAMES"] = ":".join(map(str, named))

    with loader.start(sandbox) as cl:
        check_usable(cl, sandbox, (2,) * 6)


@requirement("DISC-GEN-001")
def test_vendors_with_the_same_suffix_are_all_listed(loader: Loader, sandbox: Sandbox) -> None:
    """Vendors that share a suffix, a platform name and a file name in different folders are vendors of their own."""
    mocks = [
        sandbox.icd(
            f"v{i}", suffix="SAME", file="libsame.so", folder=sandbox.folder(f"at{i}"), per_platform=[{"name": "same"}]
        )
        for i in range(3)
    ]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        assert len(set(platforms)) == 3
        assert list(cl.platform_names()) == ["same"] * 3
    callers = {event.who for event in sandbox.log.calls("clGetPlatformInfo")} - {"application"}
    assert callers == {"v0", "v1", "v2"}


@requirement("DISC-GEN-001")
def test_order_of_equal_vendors_stays_and_all_are_listed(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """The order of vendors that are alike is not specified; a loader keeps to its own, and all are listed."""
    expected = [f"v{i:02}" for i in (3, 1, 4, 0, 5, 2)]
    mocks = [sandbox.icd(name) for name in expected]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        actual = cl.platform_names()
    assert actual == set(expected)
    record(
        "order of the directory" if list(actual) == expected
        else "reverse order of the directory" if list(actual) == expected[::-1]
        else "alphabetical" if list(actual) == sorted(expected)
        else "another order"
    )  # fmt: skip


@requirement("DISC-GEN-001")
def test_platforms_of_one_vendor_keep_together(loader: Loader, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """Platforms of equal vendors are all listed; whether they stay in the vendor's order is recorded."""
    vendors(sandbox, (3, 1, 4))

    with loader.start(sandbox) as cl:
        actual = list(cl.platform_names())
    expected = ["v00.0", "v00.1", "v00.2", "v01", "v02.0", "v02.1", "v02.2", "v02.3"]
    assert sorted(actual) == expected
    record("order of the vendors" if actual == expected else "another order")
