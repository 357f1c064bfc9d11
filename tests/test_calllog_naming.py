# SPDX-License-Identifier: Apache-2.0
"""Call logs as text have names in the place of addresses."""

from __future__ import annotations

from typing import Any

import pytest

from harness.build import build
from harness.calllog import naming
from harness.calllog.reader import CallLog, Event


def event(kind: str, name: str, *arguments: int, result: int | None = None, who: str = "a", **data: Any) -> Event:
    return Event(1, 1, who, kind, name, arguments, result, data)


def test_handles_have_one_name_and_other_addresses_that_of_their_parameter() -> None:
    log = CallLog(
        [
            event("call", "clGetPlatformIDs", 1, 0x7F0000001000, 0, who="application"),
            event("return", "clGetPlatformIDs", result=0, out={"platforms": ["0x7f00aaaa0000"]}, who="application"),
            event("call", "clCreateContext", 0x7F0000001000, 1, 0x7F0000002000, 0, 0, 0x7F0000003000),
            event("return", "clCreateContext", result=0x7F00BBBB0000),
            event("call", "clCreateContext", 0, 1, 0x7F0000002000, 0, 0, 0x7F0000003000),
            event("return", "clCreateContext", result=0x7F00CCCC0000),
            event("call", "clReleaseContext", 0x7F00BBBB0000),
            event("return", "clReleaseContext", result=0),
        ]
    )
    assert naming.lines(log) == [
        " application | clGetPlatformIDs(1, platforms, NULL)",
        ' application | clGetPlatformIDs = CL_SUCCESS  {"out": {"platforms": ["platform1"]}}',
        "           a | clCreateContext(properties, 1, devices, NULL, NULL, errcode_ret)",
        "           a | clCreateContext = context1",
        "           a | clCreateContext(NULL, 1, devices, NULL, NULL, errcode_ret)",
        "           a | clCreateContext = context2",
        "           a | clReleaseContext(context1)",
        "           a | clReleaseContext = CL_SUCCESS",
    ]


def test_what_is_no_function_of_the_api_stays_as_it_is() -> None:
    log = CallLog([event("call", "clWhat", 0x7F0000001000, 3), event("event", "loaded")])
    assert naming.lines(log) == ["           a | clWhat(0x7f0000001000, 0x3)", "           a | loaded"]


@pytest.mark.skipif(build().vulkan is None, reason="nothing of Vulkan is built")
def test_objects_of_vulkan_have_names() -> None:
    log = CallLog(
        [
            event("call", "vkCreateInstance", 0x7F0000001000, 0, 0x7F0000002000),
            event("return", "vkCreateInstance", result=0),
            event("call", "vkGetPhysicalDeviceProperties", 0x7F0000003000, 0x7F0000004000),
            event("call", "vkDestroyInstance", 0x7F0000005000, 0),
        ]
    )
    assert naming.lines(log) == [
        "           a | vkCreateInstance(pCreateInfo, NULL, pInstance)",
        "           a | vkCreateInstance = VK_SUCCESS",
        "           a | vkGetPhysicalDeviceProperties(physicalDevice1, pProperties)",
        "           a | vkDestroyInstance(instance1, NULL)",
    ]


def test_what_layers_export_has_names() -> None:
    log = CallLog([event("call", "clInitLayer", 170, 0x7F0000001000, 0x7F0000002000, 0x7F0000003000)])
    assert naming.lines(log) == [
        "           a | clInitLayer(170, target_dispatch, num_entries_ret, layer_dispatch_ret)"
    ]
