# SPDX-License-Identifier: Apache-2.0
"""Where a library has the functions that a vendor needs: exported, told by its address function, nowhere (DISC-ACC)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Loader, Sandbox, build, requirement

LIST, INFO, ADDRESS = "clIcdGetPlatformIDsKHR", "clGetPlatformInfo", "clGetExtensionFunctionAddress"
GET, SET = "clIcdGetFunctionAddressForPlatformKHR", "clIcdSetPlatformDispatchDataKHR"

# What each variant of the mock exports of them.
EXPORTED = {
    "icd": {LIST, INFO, ADDRESS},
    "icd_without_get_platform_ids": {INFO, ADDRESS},
    "icd_without_get_platform_info": {LIST, ADDRESS},
    "icd_only_get_extension_function_address": {ADDRESS},
    "icd_exports_all": {LIST, INFO, ADDRESS},
    "icd_without_get_extension_function_address": {LIST, INFO},
    "icd_only_get_platform_ids": {LIST},
}
# Functions that the address function does not tell, and the faults that make it so.
UNTOLD: dict[str, tuple[set[str], list[str]]] = {
    "all": (set(), []),
    "no-list": ({LIST}, ["get_platform_ids_not_returned"]),
    "no-info": ({INFO}, ["get_platform_info_not_returned"]),
    "neither": ({LIST, INFO}, ["get_platform_ids_not_returned", "get_platform_info_not_returned"]),
    "nothing": ({LIST, INFO}, ["address_query_returns_null"]),
}
UNTOLD_ICD2: dict[str, tuple[set[str], list[str]]] = {
    "all": (set(), []),
    "no-get": ({GET}, ["icd2_without_get_function_address"]),
    "no-set": ({SET}, ["icd2_without_set_dispatch_data"]),
    "neither": ({GET, SET}, ["icd2_without_get_function_address", "icd2_without_set_dispatch_data"]),
}
# Functions that an application, not a loader, calls through the dispatch table.
TABLES: dict[str, dict[str, Any]] = {"whole-table": {}, "not-in-table": {"lacks": [f"{ADDRESS}"]}}


def is_somewhere(function: str, exported: set[str], untold: set[str]) -> bool:
    """Whether a function of the library is exported, or told by an address function that is."""
    return function in exported or (ADDRESS in exported and function not in untold)


WAYS = [(variant, queryable) for variant in EXPORTED for queryable in UNTOLD]
COMPLETE = [way for way in WAYS if not UNTOLD[way[1]][0] and {LIST, INFO, ADDRESS} <= EXPORTED[way[0]]]
LACKING = [
    (variant, queryable)
    for variant, queryable in WAYS
    if ADDRESS not in EXPORTED[variant]
    or not all(is_somewhere(function, EXPORTED[variant], UNTOLD[queryable][0]) for function in (LIST, INFO))
]
BETWEEN = [way for way in WAYS if way not in COMPLETE and way not in LACKING]


def accepted(loader: Loader, sandbox: Sandbox, **settings: Any) -> bool:
    """Whether a library is accepted: three copies, before, between and after good vendors, which must work.

    All copies must be judged alike.
    """
    mocks = []
    for name in ("x", "a", "y", "b", "z"):
        own: dict[str, Any] = settings if name in "xyz" else {}
        mocks.append(sandbox.icd(name, suffix=name.upper(), **own))
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
        assert names == {"a", "b"} or names == {"a", "b", "x", "y", "z"}, "the same library is judged differently"
        cl.check_functions("a", "b", like="clSomething{NAME}")
    assert not sandbox.log.happened("foreign handle"), "a vendor is asked about another one's platform"
    return "x" in names


@requirement("DISC-ACC-004")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("variant, queryable", COMPLETE)
def test_library_whose_functions_are_exported_and_told_is_a_vendor(
    loader: Loader, sandbox: Sandbox, variant: str, queryable: str, table: str
) -> None:
    """A library that exports its functions and tells them is a vendor, with or without the query in its table."""
    assert accepted(loader, sandbox, variant=variant, faults=UNTOLD[queryable][1], functions=TABLES[table])


@requirement("DISC-ACC-002", "DISC-ACC-003", "DISC-ACC-006")
@pytest.mark.parametrize("variant, queryable", LACKING)
def test_library_with_a_function_in_no_place_is_no_vendor(
    loader: Loader, sandbox: Sandbox, variant: str, queryable: str
) -> None:
    """A library is not a vendor if one of the functions is neither exported nor given by an exported query."""
    assert not accepted(loader, sandbox, variant=variant, faults=UNTOLD[queryable][1])


@requirement("DISC-ACC-031")
@pytest.mark.parametrize("variant, queryable", BETWEEN)
def test_function_in_one_of_two_places_makes_a_vendor_or_not(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], variant: str, queryable: str
) -> None:
    """A library with a function only exported, or only told, is a vendor or not, alike wherever it is listed."""
    record("accepted" if accepted(loader, sandbox, variant=variant, faults=UNTOLD[queryable][1]) else "ignored")


@requirement("DISC-ACC-031")
@pytest.mark.parametrize("queryable", UNTOLD_ICD2)
@pytest.mark.parametrize("variant", ["icd", "icd_exports_all"])
def test_icd2_functions_in_one_of_two_places_make_a_vendor_or_not(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], variant: str, queryable: str
) -> None:
    """The same of the two functions of ICD 2: told, they make a vendor; in no place, they make none; else either."""
    loader.require("ICD 2")
    untold, faults = UNTOLD_ICD2[queryable]
    result = accepted(loader, sandbox, variant=variant, faults=faults, icd2=True)
    if not untold:
        assert result
    if not all(is_somewhere(function, EXPORTED[variant], untold) for function in (GET, SET)):
        assert not result
    record("accepted" if result else "ignored")


# --- suffixes that are also parts of names of the interface ---

SUFFIXES = ["KHR", "A", "clGet", "cl", "Icd", "IDs", "Info", "Address", "clGetPlatformInfo"]


@requirement("DISC-ACC-031")
@pytest.mark.parametrize("kind", ["ICD 1", "ICD 2"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_suffix_that_is_part_of_a_name_of_the_interface_is_a_suffix(
    loader: Loader, sandbox: Sandbox, suffix: str, kind: str
) -> None:
    """A vendor whose suffix is KHR, another's, or part of a name of the interface is offered, and is asked for names
    that end so; the functions of the interface stay the loader's own."""
    if kind == "ICD 2":
        loader.require("ICD 2")
    mocks = [sandbox.icd("a", suffix="A"), sandbox.icd("odd", suffix=suffix, icd2=kind == "ICD 2"), sandbox.icd("b")]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a", "odd", "b"}
        first = next(name for name in cl.platform_names() if suffix != "A" or name in ("a", "odd"))
        owner = first if suffix == "A" else "odd"
        assert cl.vendor_function(f"clSomethingElse{suffix}") == owner
        for function in (LIST, INFO, ADDRESS):
            cl.GetExtensionFunctionAddress(function)
        assert cl.used_platforms() == {"a", "odd", "b"}


# --- libraries that need the loader ---

NEEDS = ["icd_needs_loader", "icd_needs_user_of_loader"]


def needing(sandbox: Sandbox, variant: str) -> None:
    """Good vendors around one that needs the loader, and a place in which the linker finds what that needs."""
    sandbox.require_linux("libraries that need others")
    between = build().mock_icds["icd"].with_name("libclharness_user_of_loader.so")
    sandbox.copy_mock(between, sandbox.libraries / between.name)
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    mocks = [sandbox.icd("a", suffix="A"), sandbox.icd("x", variant=variant, suffix="X"), sandbox.icd("b", suffix="B")]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


@requirement("DISC-ACC-032")
@pytest.mark.parametrize("bind_global", [False, True], ids=["opened", "opened globally"])
@pytest.mark.parametrize("variant", NEEDS)
def test_library_that_needs_the_loader_is_a_vendor(
    loader: Loader, sandbox: Sandbox, variant: str, bind_global: bool
) -> None:
    """A vendor library that is linked with the loader, directly or through another library, is a vendor like others."""
    needing(sandbox, variant)
    with loader.start(sandbox, bind_global=bind_global) as cl:
        assert cl.used_platforms() == {"a", "x", "b"}
        cl.check_functions("a", "b", "x", like="clSomething{NAME}")


@requirement("DISC-ACC-032")
@pytest.mark.parametrize("bind_global", [False, True], ids=["opened", "opened globally"])
@pytest.mark.parametrize("variant", NEEDS)
def test_address_function_of_the_loader_is_not_the_librarys(
    loader: Loader, sandbox: Sandbox, variant: str, bind_global: bool
) -> None:
    """A library without an address function is not a vendor, also where the linker finds the loader's in its place."""
    needing(sandbox, f"{variant}_without_address")
    with loader.start(sandbox, bind_global=bind_global) as cl:
        assert cl.used_platforms() == {"a", "b"}
        cl.check_functions("a", "b", like="clSomething{NAME}")
        assert not cl.GetExtensionFunctionAddress("clSomethingX")
