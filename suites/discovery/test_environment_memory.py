# SPDX-License-Identifier: Apache-2.0
"""Memory that reading the variables takes: none of it stays, none is overrun, and it may be lacking (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import CL, Leaked, Loader, Sandbox, requirement

SHORT, LONG = 10, 20_000
ALLOWANCE = 1_000

# Variables by a number of characters that their values are lengthened by; what they mean stays the same.
Settings = Callable[[Sandbox, int], dict[str, str]]
LENGTHENED: dict[str, Settings] = {
    "directory": lambda s, n: {"OCL_ICD_VENDORS": f"{s.vendors}/" + "./" * (min(n, 3000) // 2)},
    "missing directory": lambda s, n: {"OCL_ICD_VENDORS": "/" + "n" * n},
    "configuration file": lambda s, n: {"OCL_ICD_VENDORS": f"{s.vendors}" + "/." * (min(n, 3000) // 2) + "/good.icd"},
    "missing configuration file": lambda s, n: {"OCL_ICD_VENDORS": "/" + "n" * n + ".icd"},
    "alias": lambda s, n: {"OPENCL_VENDOR_PATH": f"{s.vendors}/" + "./" * (min(n, 3000) // 2), "OCL_ICD_VENDORS": ""},
    "missing alias": lambda s, n: {"OPENCL_VENDOR_PATH": "/" + "n" * n, "OCL_ICD_VENDORS": ""},
    "list of libraries": lambda s, n: {"OCL_ICD_FILENAMES": f"/{'n' * n}:{s.libraries}/libgood.so"},
    "list of layers": lambda s, n: {"OPENCL_LAYERS": f"/{'n' * n}:/missing.so"},
    "layer directory": lambda s, n: {"OPENCL_LAYER_PATH": "/" + "n" * n},
    "trace": lambda s, n: {"OCL_ICD_ENABLE_TRACE": "n" * n},
    "unloading": lambda s, n: {"OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING": "n" * n},
    "termination": lambda s, n: {"OCL_ICD_FORCE_LEGACY_TERMINATION": "n" * n},
    "order": lambda s, n: {"OCL_ICD_PLATFORM_SORT": "n" * n},
    "default platform": lambda s, n: {"OCL_ICD_DEFAULT_PLATFORM": "n" * n},
    "extension": lambda s, n: {"OCL_ICD_ASSUME_ICD_EXTENSION": "n" * n},
    "diagnostics": lambda s, n: {"OCL_ICD_DEBUG": "n" * n},
}


def discover(loader: Loader, sandbox: Sandbox, **start: Any) -> tuple[list[str], int]:
    """The platforms, and how many bytes of the heap discovery and a call without a platform leave in use."""
    with loader.start(sandbox, **start) as cl:
        before = cl.heap()
        names = list(cl.platform_names())
        cl.clGetPlatformInfo(None, CL.PLATFORM_NAME, 0, None, None)
        return names, cl.heap() - before


@requirement("DISC-GEN-016", "DISC-ENV-001", "DISC-ENV-008", "DISC-ENV-015")
@pytest.mark.parametrize("variable", LENGTHENED)
def test_memory_does_not_grow_with_the_value_of_a_variable(loader: Loader, sandbox: Sandbox, variable: str) -> None:
    """The memory in use after discovery does not grow with the length of a variable's value."""
    sandbox.vendor("good")
    plain, used = dict(sandbox.env), []
    for length in (SHORT, LONG):
        sandbox.env = plain | LENGTHENED[variable](sandbox, length)
        used.append(discover(loader, sandbox, counted_heap=True))
    assert used[0][0] == used[1][0]
    if used[1][1] - used[0][1] > ALLOWANCE:
        raise Leaked(f"{used[1][1] - used[0][1]} bytes more are in use after a longer value: {variable}")


# Files of a directory that brings in no vendor.
LINES: dict[str, Callable[[Sandbox, int], str]] = {
    "missing library": lambda s, n: f"/missing/{n}.so\n",
    "empty": lambda s, n: "",
}


@requirement("DISC-GEN-016", "DISC-ENV-006")
@pytest.mark.parametrize("line", LINES)
def test_memory_without_a_vendor_does_not_grow_with_the_files(loader: Loader, sandbox: Sandbox, line: str) -> None:
    """Where no file of the directory brings in a vendor, nothing is kept that grows with the number of files."""
    used = []
    for number in range(20):
        sandbox.vendor_file(f"{number}.icd", LINES[line](sandbox, number))
        if number in (0, 19):
            names, size = discover(loader, sandbox, counted_heap=True)
            assert names == []
            used.append(size)
    assert discover(loader, sandbox, guarded_heap=True)[0] == []
    if used[1] - used[0] > 19 * 16:
        raise Leaked(f"{used[1] - used[0]} bytes more are in use after 19 more files: {line}")


@requirement("DISC-ENV-001", "DISC-ENV-008", "DISC-ENV-015")
@pytest.mark.parametrize("length", [0, 1, 2, 15, 16, 1023])
def test_values_of_any_length_are_read_within_their_memory(loader: Loader, sandbox: Sandbox, length: int) -> None:
    """Values of any length are read within the memory that is there for them."""
    sandbox.vendor("good")
    for variable, lengthened in LENGTHENED.items():
        sandbox.env = lengthened(sandbox, length)
        names, _ = discover(loader, sandbox, guarded_heap=True)
        assert names in (["good"], []), variable


@requirement("DISC-ENV-001", "DISC-ENV-008", "DISC-ENV-015")
@pytest.mark.parametrize("failing", range(1, 9))
def test_variable_without_memory_counts_as_unset_or_costs_platforms(
    loader: Loader, sandbox: Sandbox, failing: int
) -> None:
    """Where memory lacks for a variable, it counts as unset, or the platforms are fewer; nothing crashes."""
    sandbox.vendor("directory")
    sandbox.env |= {
        "OCL_ICD_FILENAMES": f"{sandbox.icd('listed')}:/missing.so",
        "OCL_ICD_VENDORS": str(sandbox.vendors),
        "OCL_ICD_ENABLE_TRACE": "False",
        "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING": "False",
        "OCL_ICD_FORCE_LEGACY_TERMINATION": "False",
        "OPENCL_LAYERS": "/missing.so",
    }
    with loader.start(sandbox, failing_allocation=failing) as cl:
        names = cl.platform_names()
        assert set(names) <= {"listed", "directory"} and len(names) <= 2
        assert cl.platform_names() == list(names)
