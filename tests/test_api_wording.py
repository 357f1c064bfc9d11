# SPDX-License-Identifier: Apache-2.0
"""Calls in the words of the field: codes, queries, flags and properties by name, in text and nowhere else."""

from __future__ import annotations

import pytest

from harness.api import wording
from harness.api.model import api
from harness.build import build
from harness.calllog.reader import Event

needs_vulkan = pytest.mark.skipif(build().vulkan is None, reason="nothing of Vulkan is built")


@pytest.mark.parametrize(
    "function, index, value, expected",
    [
        ("clGetPlatformInfo", 1, 0x902, "CL_PLATFORM_NAME"),
        ("clGetPlatformInfo", 1, 0x7FFF, "32767"),
        ("clGetPlatformInfo", 0, 0, "NULL"),
        ("clGetPlatformInfo", 0, 0x7F00, "0x7f00"),
        ("clGetPlatformInfo", 2, 12, "12"),
        ("clGetDeviceInfo", 1, 0x106A, "CL_DEVICE_UUID_KHR"),
        ("clGetDeviceInfo", 1, 0x106B, "CL_DRIVER_UUID_KHR"),
        ("clCreateBuffer", 1, 1 << 0 | 1 << 3, "CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR"),
        ("clCreateBuffer", 1, 1 << 0 | 1 << 62, "CL_MEM_READ_WRITE | 0x4000000000000000"),
        ("clCreateBuffer", 1, 0x9191_44C6_B34D_C045, "0x919144c6b34dc045"),
        ("clCreateBuffer", 1, 0, "0"),
        ("clCreateBuffer", 2, 1 << 40, "0x10000000000"),
        ("clGetDeviceIDs", 1, 0xFFFFFFFF, "CL_DEVICE_TYPE_ALL"),
        ("clGetDeviceIDs", 1, 6, "CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU"),
        ("clEnqueueReadBuffer", 2, 0xA5A5A5A500000001, "CL_TRUE"),
        ("clSetUserEventStatus", 1, 0xFFFFFFFB, "-5"),
        ("clCreateSampler", 2, 0x1131, "CL_ADDRESS_CLAMP_TO_EDGE"),
    ],
)
def test_arguments_read_in_the_words_of_the_field(function: str, index: int, value: int, expected: str) -> None:
    assert wording.argument(api().functions[function].parameters[index], value) == expected


def test_a_call_and_its_return_read_in_the_words_of_the_field() -> None:
    call = Event(0, 1, "a", "call", "clGetPlatformInfo", (0x7F00, 0x902, 0, 0, 0x7FFC))
    assert str(call) == "           a | clGetPlatformInfo(0x7f00, CL_PLATFORM_NAME, 0, NULL, 0x7ffc)"
    assert str(Event(0, 1, "a", "return", "clFinish", result=0xFFFFFFFFFFFFFFDC)).endswith(
        "clFinish = CL_INVALID_COMMAND_QUEUE"
    )
    assert str(Event(0, 1, "a", "return", "clCreateContext", result=0)).endswith("clCreateContext = NULL")
    assert str(Event(0, 1, "a", "call", "clUnheardOf", (0x902, 0))).endswith("clUnheardOf(0x902, 0x0)")
    assert str(Event(0, 1, "a", "call", "clFinish", (1, 2, 3))).endswith("clFinish(0x1, 0x2, 0x3)")


def test_what_pointers_pointed_to_reads_in_names_and_stays_raw_in_the_data() -> None:
    listed = {"properties": ["0x1084", "0x7f00", "0x0"], "devices": ["0x1084"]}
    call = Event(0, 1, "a", "call", "clCreateContext", data={"in": listed})
    assert str(call).endswith('{"in": {"properties": ["CL_CONTEXT_PLATFORM", "0x7f00", "0x0"], "devices": ["0x1084"]}}')
    assert call.data["in"] == listed
    back = Event(0, 1, "a", "return", "clCreateContext", result=0, data={"out": {"errcode_ret": "0xffffffe2"}})
    assert str(back).endswith('clCreateContext = NULL  {"out": {"errcode_ret": "CL_INVALID_VALUE"}}')
    queue = {"properties": ["0x1093", "0x2", "0x0"]}
    named = str(Event(0, 1, "a", "call", "clCreateCommandQueueWithProperties", data={"in": queue}))
    assert "CL_QUEUE_PROPERTIES" in named


@pytest.mark.parametrize("value", [None, 7, {"x": 1}, ["0xzz"], "0x" + "f" * 40, ["0x1084", 5]])
def test_a_hostile_log_is_shown_all_the_same(value: object) -> None:
    event = Event(0, 1, "a", "return", "clCreateContext", data={"out": {"errcode_ret": value, "properties": value}})
    assert "clCreateContext" in str(event)


def test_functions_of_layers_read_in_the_words_of_the_field() -> None:
    call = Event(0, 1, "a", "call", "clGetLayerInfo", (0x4240, 4, 0x7FFC, 0))
    assert str(call).endswith("clGetLayerInfo(CL_LAYER_API_VERSION, 4, 0x7ffc, NULL)")
    assert str(Event(0, 1, "a", "return", "clInitLayer", result=0xFFFFFFE2)).endswith("clInitLayer = CL_INVALID_VALUE")
    assert str(Event(0, 1, "a", "call", "clDeinitLayer")).endswith("clDeinitLayer()")


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("vkCreateInstance", (0x7FFC, 0, 0x7FFD), "(0x7ffc, NULL, 0x7ffd)"),
        (
            "vkGetPhysicalDeviceImageFormatProperties",
            (0x7FFC, 37, 1, 0, 0x1 | 0x2, 0, 0x7FFD),
            "(0x7ffc, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL, "
            "VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, 0, 0x7ffd)",
        ),
        ("vkGetDeviceQueue", (0x7FFC, 1, 2, 0x7FFD), "(0x7ffc, 1, 2, 0x7ffd)"),
        ("vkDestroySurfaceKHR", (0x7FFC, 0, 0), "(0x7ffc, NULL, NULL)"),
        ("vk_icdGetInstanceProcAddr", (0, 0x7FFD), "(NULL, 0x7ffd)"),
        ("vkUnheardOf", (1, 0), "(0x1, 0x0)"),
    ],
)
@needs_vulkan
def test_calls_of_vulkan_read_in_its_words(name: str, words: tuple[int, ...], expected: str) -> None:
    assert str(Event(0, 1, "a", "call", name, words)).endswith(f"| {name}{expected}")


@pytest.mark.parametrize(
    ("name", "word", "expected"),
    [
        ("vkCreateInstance", 0, "VK_SUCCESS"),
        ("vkEnumeratePhysicalDevices", 5, "VK_INCOMPLETE"),
        ("vk_icdNegotiateLoaderICDInterfaceVersion", 0xFFFFFFFFFFFFFFF7, "VK_ERROR_INCOMPATIBLE_DRIVER"),
        ("vk_icdGetInstanceProcAddr", 0, "NULL"),
        ("vkCreateDevice", 77, "77"),
    ],
)
@needs_vulkan
def test_results_of_vulkan_read_in_its_words(name: str, word: int, expected: str) -> None:
    assert str(Event(0, 1, "a", "return", name, result=word)).endswith(f"{name} = {expected}")
