# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of the API in the field's words: CL_PLATFORM_NAME and not 0x902, NULL and not 0x0."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from harness.api.codes import code_of_word
from harness.api.families import Family
from harness.api.model import Function, Parameter, api
from harness.api.vulkan import wording as vulkan
from harness.api.vulkan.model import vulkan as vulkan_api

# Families that name the properties of a list, besides that of its type: the queries of the same names.
_ALSO = {
    "cl_queue_properties": ("cl_command_queue_info", "cl_command_queue_properties"),
    "cl_sampler_properties": ("cl_sampler_info",),
}

# What a parameter of these types means, its name says: they have no family of their own.
_PLAIN = ("cl_int", "cl_uint", "cl_ulong", "cl_properties", "cl_bitfield")
_MOST_UNKNOWN = 2  # bits of flags that no name has: more are a pattern, not flags
_MOST_DECIMAL = 0xFFFF  # above, a number is rather an address, a pattern or a size than a count


def function_of(name: str) -> Function | None:
    """A function of the API, of layers' interface or of Vulkan; None of another."""
    return api().functions.get(name) or _OF_LAYERS.get(name) or vulkan.function(name)


def arguments(function: str, values: Iterable[int]) -> list[str]:
    """The arguments of a call, each a raw word of 64 bits, as text; of unknown functions, numbers."""
    known = function_of(function)
    listed = list(values)
    if known is None or len(known.parameters) != len(listed):
        return [f"{value:#x}" for value in listed]
    return [argument(parameter, value) for parameter, value in zip(known.parameters, listed, strict=True)]


def argument(parameter: Parameter, value: int) -> str:
    """One argument: a name or names where its type has such, NULL, or a number."""
    if parameter.kind != "integer":
        return f"{value:#x}" if value else "NULL"
    bits = 8 * (parameter.size or 8)
    value &= (1 << bits) - 1
    kind = parameter.type.split()[0]
    if kind not in _PLAIN and (words := in_family(kind, value)):
        return words
    if parameter.signed and value >> (bits - 1):
        return str(value - (1 << bits))
    return str(value) if value <= _MOST_DECIMAL else f"{value:#x}"


def properties(function: str, name: str, words: list[str]) -> list[str]:
    """A property list, words "0x…", that a parameter pointed to: names of properties in the place of their numbers."""
    known = api().functions.get(function)
    kinds = [p.type for p in known.parameters if p.name == name and p.kind == "properties"] if known else []
    families = [
        family for kind in kinds for own in re.findall(r"cl_\w+", kind) for family in (own, *_ALSO.get(own, ()))
    ]
    return [
        next((symbol for family in families if (symbol := _names(family).get(int(word, 16)))), word)
        if i % 2 == 0
        else word
        for i, word in enumerate(words)
    ]


def result(function: str, value: int | None) -> str:
    """What a call returned, a raw word of 64 bits: an error code by its name, NULL, or a number."""
    if value is None:
        return "void"
    known = function_of(function)
    if known is not None and known.result_kind == "signed":
        return str(code_of_word(value))
    if known is not None and known.result_kind == vulkan.RESULT:
        return vulkan.result(value)
    if known is not None and known.result_kind in ("handle", "pointer") and not value:
        return "NULL"
    return f"{value:#x}"


def in_family(family: str, value: int) -> str:
    """The name of a constant of a family, names joined by " | " where they are bits, or "" where there are none."""
    names = _names(family)
    if value in names or not _family(family).bits:
        return names.get(value, "")
    bits = [1 << place for place in range(value.bit_length()) if value >> place & 1]
    unknown = sum(bit for bit in bits if bit not in names)
    if not bits or unknown == value or unknown.bit_count() > _MOST_UNKNOWN:
        return ""
    return " | ".join([*(names[bit] for bit in bits if bit in names), *([f"{unknown:#x}"] if unknown else [])])


@functools.cache
def _names(family: str) -> dict[int, str]:
    """Names by value; where a value has several, the first one of the headers."""
    constants = vulkan_api().constants if family.startswith("Vk") else api().constants
    names: dict[int, str] = {}
    for name in _family(family).names:
        names.setdefault(constants[name], name)
    return names


def _family(name: str) -> Family:
    return vulkan.family(name) if name.startswith("Vk") else api().families.get(name, Family(False, ()))


def _layers(name: str, *parameters: tuple[str, str, str]) -> Function:
    sizes = {"cl_uint": 4, "cl_layer_info": 4}
    listed = (Parameter(own, kind, how, "", 0, sizes.get(kind, 8), False) for own, kind, how in parameters)
    return Function(name, "signed", tuple(listed), None)


_TABLES = (("num_entries_ret", "cl_uint*", "memory"), ("layer_dispatch_ret", "cl_icd_dispatch**", "memory"))
_COUNT, _TARGET = ("num_entries", "cl_uint", "integer"), ("target_dispatch", "cl_icd_dispatch*", "memory")
# What layers export for loaders: CL/cl_layer.h, and cl_loader_layers for the last one, which no header declares.
_OF_LAYERS = {
    function.name: function
    for function in (
        _layers(
            "clGetLayerInfo",
            ("param_name", "cl_layer_info", "integer"),
            ("param_value_size", "size_t", "integer"),
            ("param_value", "void*", "memory"),
            ("param_value_size_ret", "size_t*", "memory"),
        ),
        _layers("clInitLayer", _COUNT, _TARGET, *_TABLES),
        _layers(
            "clInitLayerWithProperties", _COUNT, _TARGET, *_TABLES, ("properties", "cl_layer_properties*", "memory")
        ),
        _layers("clDeinitLayer"),
    )
}
