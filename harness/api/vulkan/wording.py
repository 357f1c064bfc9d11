# SPDX-License-Identifier: Apache-2.0
"""Vulkan's functions and constants in the form that harness.api.wording has OpenCL's in."""

from __future__ import annotations

import functools
import re

from harness.api import model
from harness.api.families import Family
from harness.api.vulkan.model import Parameter, Result, vulkan
from harness.build import build

RESULT = "VkResult"  # the kind of a result that is one
_SIZES = {"u16": 2, "u32": 4, "i32": 4, "float": 4, "u64": 8, "pointer": 8}
_NUMBERS = ("VkDeviceSize", "VkDeviceAddress", "VkSampleMask")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What drivers export for loaders, which the registry does not list.
_OF_DRIVERS = {
    "vk_icdNegotiateLoaderICDInterfaceVersion": ("VkResult", ("pVersion",)),
    "vk_icdGetInstanceProcAddr": ("pointer", ("VkInstance instance", "pName")),
    "vk_icdGetPhysicalDeviceProcAddr": ("pointer", ("VkInstance instance", "pName")),
}


@functools.cache
def function(name: str) -> model.Function | None:
    """A function of Vulkan, or one that its drivers export; None of another, or where nothing of Vulkan is built."""
    if not name.startswith("vk") or build().vulkan is None:
        return None
    if name in _OF_DRIVERS:
        result, listed = _OF_DRIVERS[name]
        return model.Function(name, result, tuple(map(_of_driver, listed)), None)
    known = vulkan().functions.get(name)
    if known is None:
        return None
    kind = RESULT if known.result_type == RESULT else known.result
    return model.Function(name, kind, tuple(map(_parameter, known.parameters)), None)


def result(word: int) -> str:
    """A VkResult by its name."""
    return str(Result.of_word(word))


@functools.cache
def family(kind: str) -> Family:
    """The constants of an enumeration or of flags, by their names: VkImageTiling's begin with VK_IMAGE_TILING_."""
    plain, bits = re.subn(r"(Flag(Bit)?s)(2?)(?=[A-Z]*$)", r"\3", re.sub(r"Flags2", "2Flags", kind))
    if kind == "VkBool32":
        return Family(False, ("VK_FALSE", "VK_TRUE"))
    prefix = "_".join(_WORD.split(re.sub(r"[A-Z]{2,}$", "", plain))).upper() + "_"
    names = (name for name in vulkan().constants if name.startswith(prefix) and ("_BIT" in name) == bool(bits))
    return Family(bool(bits), tuple(names))


def _parameter(parameter: Parameter) -> model.Parameter:
    address = "*" in parameter.type or "[" in parameter.type
    handle = "" if address or not _is_handle(parameter) else parameter.of
    kind = "handle" if handle else "memory" if parameter.kind == "pointer" else "integer"
    signed = parameter.kind == "i32"
    return model.Parameter(parameter.name, parameter.of, kind, handle, 0, _SIZES.get(parameter.kind, 8), signed)


def _is_handle(parameter: Parameter) -> bool:
    if parameter.of.startswith("PFN_") or not parameter.of.startswith("Vk"):
        return False
    return parameter.kind == "pointer" or (
        parameter.kind == "u64" and "Flag" not in parameter.of and parameter.of not in _NUMBERS
    )


def _of_driver(text: str) -> model.Parameter:
    handle, _, name = text.rpartition(" ")
    return model.Parameter(name, handle, "handle" if handle else "memory", handle, 0, 8, False)
