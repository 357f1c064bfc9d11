# SPDX-License-Identifier: Apache-2.0
"""A call log as text with names in the place of numbers: `context1` and `errcode_ret`, not 0x55c0ad446320.

A handle has one name in all lines. Any other address has the name of the parameter that it was given for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from harness.api.model import Function
from harness.api.wording import function_of
from harness.calllog.reader import CallLog, Event

_NUMBER = re.compile(r"\b0x[0-9a-f]{5,16}\b")  # smaller ones are not addresses
_LISTED = ("handle_out", "handles")


def lines(log: CallLog) -> list[str]:
    """The events as text, one line each, with names."""
    names = _handles(log)
    return [_named(str(event), _own(event) | names) for event in log]


def _named(text: str, names: dict[int, str]) -> str:
    return _NUMBER.sub(lambda match: names.get(int(match.group(), 16), match.group()), text)


def _handles(log: Iterable[Event]) -> dict[int, str]:
    """A name for each handle, by the class in which it is seen first."""
    names: dict[int, str] = {}
    numbers: Counter[str] = Counter()
    for event in log:
        function = function_of(event.name)
        for value, kind in _seen(event, function) if function else ():
            if value > 0xFFFF and value not in names:
                numbers[kind] += 1
                names[value] = f"{kind}{numbers[kind]}"
    return names


def _seen(event: Event, function: Function) -> list[tuple[int, str]]:
    """The handles that an event shows, with their classes."""
    seen: list[tuple[int, str]] = []
    if event.kind == "call" and len(event.arguments) == len(function.parameters):
        seen += [
            (value, _class(parameter.handle))
            for parameter, value in zip(function.parameters, event.arguments, strict=True)
            if parameter.kind == "handle"
        ]
    if event.kind == "return" and function.result_kind == "handle" and event.result:
        seen.append((event.result, _class(function.result_handle)))
    for direction in ("in", "out"):
        pointed = event.data.get(direction)
        if not isinstance(pointed, dict):
            continue
        for parameter in function.parameters:
            if parameter.kind in _LISTED:
                shown = pointed.get(parameter.name)
                values = shown if isinstance(shown, list) else [shown]
                seen += [(int(str(v), 16), _class(parameter.handle)) for v in values if _is_number(v)]
    return seen


def _is_number(value: object) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value) is not None


def _class(handle: str | None) -> str:
    """cl_platform_id is a platform, VkPhysicalDevice a physicalDevice."""
    name = (handle or "object").removeprefix("cl_").removesuffix("_id").removeprefix("Vk")
    return name[0].lower() + name[1:]


def _own(event: Event) -> dict[int, str]:
    """The parameters of a call by their values, where these are addresses."""
    function = function_of(event.name)
    if event.kind != "call" or function is None or len(event.arguments) != len(function.parameters):
        return {}
    pairs = zip(event.arguments, function.parameters, strict=True)
    return {value: parameter.name for value, parameter in pairs if parameter.kind != "integer"}
