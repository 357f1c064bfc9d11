# SPDX-License-Identifier: Apache-2.0
"""Vulkan's API of the headers that the harness was built with, for Python code.

VK.ERROR_INCOMPATIBLE_DRIVER        # a Result: -9, which prints as VK_ERROR_INCOMPATIBLE_DRIVER
VK.PHYSICAL_DEVICE_TYPE_CPU         # any other constant: its number
"""

from __future__ import annotations

import difflib
import functools
import json
from dataclasses import dataclass
from typing import Any, Literal, Self

from harness.build import build

Level = Literal["global", "instance", "physical_device", "device"]


@dataclass(frozen=True)
class Parameter:
    """One parameter: `kind` is how it is passed (harness.api.vulkan.registry.SIZES), `of` its type without stars."""

    name: str
    type: str
    of: str
    kind: str


@dataclass(frozen=True)
class Function:
    """One function: what it is called with first, and where it comes from."""

    name: str
    same_as: str  # the name of the function that it is another name of, else its own
    level: Level
    handle: str  # the type of its first parameter, where that is dispatchable
    result: str  # its kind, or "void"
    result_type: str
    parameters: tuple[Parameter, ...]
    version: str  # "1.1", or "" for functions of extensions
    extension: str
    extends: str  # "instance" or "device", of extensions

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Member:
    """A member of a structure: `kind` as of parameters, "" for arrays and structures."""

    name: str
    kind: str
    offset: int
    size: int


@dataclass(frozen=True)
class Structure:
    """A structure's layout; `stype` is the value of its sType, None where it has none."""

    size: int
    stype: int | None
    members: dict[str, Member]


@dataclass(frozen=True)
class Vulkan:
    """All of it."""

    header_version: int
    functions: dict[str, Function]
    structures: dict[str, Structure]
    constants: dict[str, int]
    instance_extensions: dict[str, str]  # with the window system that each is for

    @property
    def version(self) -> int:
        """The version of Vulkan that the registry is of."""
        minors = {int(f.version.partition(".")[2]) for f in self.functions.values() if f.version.startswith("1.")}
        return version_number(f"1.{max(minors)}.{self.header_version}")

    def of_level(self, *levels: Level) -> list[Function]:
        """The functions that are called with such an object first."""
        return [function for function in self.functions.values() if function.level in levels]


def _structure(data: dict[str, Any]) -> Structure:
    members = {m["name"]: Member(**m) for m in data["members"]}
    return Structure(data["size"], data["stype"], members)


@functools.cache
def vulkan() -> Vulkan:
    """The API of the build. Raises HarnessError where that has no Vulkan."""
    data = json.loads(build().with_vulkan().api.read_text())
    functions = {
        f["name"]: Function(**f | {"parameters": tuple(Parameter(**p) for p in f["parameters"])})
        for f in data["functions"]
    }
    structures = {name: _structure(layout) for name, layout in data["structures"].items()}
    return Vulkan(data["header_version"], functions, structures, data["constants"], data["instance_extensions"])


class Result(int):
    """A VkResult, which prints as its name; an unknown one prints as its number."""

    @classmethod
    def of_word(cls, word: int) -> Self:
        """The VkResult in the lower half of a word of 64 bits."""
        return cls((word & 0xFFFFFFFF) - ((word & 0x80000000) << 1))

    def __repr__(self) -> str:
        return _names_of_results().get(int(self), str(int(self)))

    __str__ = __repr__


@functools.cache
def _names_of_results() -> dict[int, str]:
    names: dict[int, str] = {}
    for name, value in vulkan().constants.items():
        if name in ("VK_SUCCESS", "VK_NOT_READY", "VK_TIMEOUT", "VK_INCOMPLETE") or name.startswith("VK_ERROR_"):
            names.setdefault(value, name)
    return names


class _Constants:
    """VK: constants by their names without VK_."""

    def __getattr__(self, name: str) -> Any:
        constants = vulkan().constants
        full = f"VK_{name}"
        if full not in constants:
            near = difflib.get_close_matches(full, constants, n=1)
            raise AttributeError(f"Vulkan's registry has no {full}{f'; did you mean {near[0]}?' if near else ''}")
        value = constants[full]
        return Result(value) if _names_of_results().get(value) == full else value


VK: Any = _Constants()


def version_number(text: str) -> int:
    """A version as Vulkan has it, out of "1.2.3"."""
    major, minor, patch = (*map(int, text.split(".")), 0, 0, 0)[:3]
    return major << 22 | minor << 12 | patch


def version_text(number: int) -> str:
    """The other way round; the variant is left out."""
    return f"{number >> 22 & 0x7F}.{number >> 12 & 0x3FF}.{number & 0xFFF}"
