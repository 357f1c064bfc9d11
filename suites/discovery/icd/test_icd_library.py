# SPDX-License-Identifier: Apache-2.0
"""The library of a vendor's ICD: what it exports, and what it takes from elsewhere (DISC-LNX, DISC-ACC)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from harness.check import ENUMERATE, NO_TEXTS, QUERY, Icd, Loader, Parts, Sandbox, api, misspelt, requirement


@requirement("DISC-ACC-038")
def test_functions_for_the_loader_are_found(icd: Icd, sandbox: Sandbox) -> None:
    """The library exports clGetExtensionFunctionAddress; the other two functions that loaders call are told by it, or
    exported."""
    assert QUERY in icd.facts.functions
    with icd.open(sandbox) as session:
        for function in (ENUMERATE, "clGetPlatformInfo"):
            assert session.query(function) or session.symbol(function), function


@requirement("DISC-ACC-040")
def test_address_query_for_unknown_names_is_null(icd: Icd, sandbox: Sandbox) -> None:
    """clGetExtensionFunctionAddress answers NULL to names of no function, also where they are much like one."""
    with icd.open(sandbox) as session:
        assert session.query(ENUMERATE)
        for name in ("clharnessNoSuchFunction", "", "cl"):
            assert not session.query(name), name
        for function in (ENUMERATE, *api().functions):
            if session.query(function):
                for name in misspelt(function):
                    assert name in api().functions or not session.query(name), repr(name)


@requirement("DISC-ACC-040")
@pytest.mark.parametrize("name", NO_TEXTS)
def test_address_query_for_bytes_that_are_no_text_is_null(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """clGetExtensionFunctionAddress answers NULL to any other bytes, also where they are no text of any encoding."""
    with icd.open(sandbox) as session:
        assert session.query(ENUMERATE)
        assert not session.query(session.data(NO_TEXTS[name] + b"\0"))


@requirement("DISC-LNX-034")
def test_icd_imports_no_function_of_a_loader(icd: Icd) -> None:
    """No function of OpenCL is taken from another library: that would be a loader's."""
    assert not icd.facts.outside


@requirement("DISC-LNX-034")
def test_own_functions_are_bound_within_the_library(icd: Icd, record: Callable[[str], None]) -> None:
    """What the library uses of its own exported functions of OpenCL cannot be replaced by a loader's of these names."""
    with Parts() as parts:
        for name in icd.facts.by_name:
            parts.fail(name, "is bound by its name")
    record("exports further functions" if icd.facts.exported else "exports no further function")


@requirement("DISC-LNX-034")
def test_table_beside_a_loader_has_none_of_its_functions(icd: Icd, loader: Loader, sandbox: Sandbox) -> None:
    """In a process that has a loader's symbols in its global scope, no entry of the table is the loader's function."""
    preload = [str(loader.path)]
    with icd.open(sandbox, preload=preload) as session:
        foreign = []
        for platform in session.some_platforms():
            for function in api().dispatched():
                entry = session.word(session.table(platform), 8 * (function.slot or 0))
                if entry and session.module(entry) == str(loader.path):
                    foreign.append(function.name)
        assert not foreign


@requirement("DISC-LNX-036")
def test_icd_library_is_not_named_like_a_loader(icd: Icd) -> None:
    """The file is not named like a loader: its name tells the vendor."""
    assert not re.match(r"(lib)?opencl(\.|$)", icd.path.name, re.I)
    assert not icd.facts.soname.startswith("libOpenCL.so")
