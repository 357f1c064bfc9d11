# SPDX-License-Identifier: Apache-2.0
"""Command buffers: property lists and functions (XM-CMD)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    EXTENSION_FUNCTIONS,
    Loader,
    Sandbox,
    Words,
    problems_of_function,
    problems_of_lists,
    requirement,
)

CREATE = "clCreateCommandBufferKHR"
END = 0
FLAGS, ASSERTS = CL.COMMAND_BUFFER_FLAGS_KHR, CL.COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
ALL = [
    f for name in ("cl_khr_command_buffer", "cl_khr_command_buffer_mutable_dispatch") for f in EXTENSION_FUNCTIONS[name]
]

LISTS: dict[str, Words] = {
    "nothing": [END],
    "no-flag": [FLAGS, 0, END],
    "flags": [FLAGS, 0xFFFF_FFFF_FFFF_FFFF, END],
    "flags-twice": [FLAGS, 1, FLAGS, 2, END],
    "flags-and-asserts": [FLAGS, 0, ASSERTS, 1, END],
    "value-that-is-a-name": [ASSERTS, FLAGS, FLAGS, ASSERTS, END],
}


@requirement("XM-CMD-001")
def test_command_buffer_list_reaches_the_vendor_up_to_its_end(loader: Loader, sandbox: Sandbox) -> None:
    """Whatever a list holds, the vendor gets it up to its terminator, and nothing after that is read."""
    assert LISTS
    assert problems_of_lists(loader, sandbox, CREATE, LISTS) == []


@requirement("XM-CMD-001")
@pytest.mark.parametrize("function", ALL)
def test_command_buffer_functions_are_each_platforms_own(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Each platform that has the function gives its own by address query, beside one that has not."""
    assert problems_of_function(loader, sandbox, function) == []
