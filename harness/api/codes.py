# SPDX-License-Identifier: Apache-2.0
"""Error codes and constants of the API by name: the only place that knows numbers is the headers.

CL.INVALID_VALUE                    # a Code: -30, which prints as CL_INVALID_VALUE
CL.PLATFORM_NAME                    # a Constant: 0x0902, which prints as CL_PLATFORM_NAME
Code(result) == CL.SUCCESS          # so that a failure reads `assert CL_INVALID_VALUE == CL_SUCCESS`
"""

from __future__ import annotations

import difflib
import functools
from typing import Self

from harness.api.families import ERRORS
from harness.api.model import api


class Constant(int):
    """A number of the API that prints as its name; `f"{constant:#x}"` and `int(constant)` give the number."""

    name: str

    def __new__(cls, number: int, name: str) -> Self:
        constant = super().__new__(cls, number)
        constant.name = name
        return constant

    def __reduce__(self) -> tuple[type[Self], tuple[int, str]]:
        return type(self), (int(self), self.name)

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else str(self)


class Code(Constant):
    """A cl_int that reports success or an error: CL_SUCCESS, CL_INVALID_VALUE; an unknown one prints as its number."""

    def __new__(cls, number: int, name: str | None = None) -> Self:
        return super().__new__(cls, number, name or _names_of_errors().get(int(number), str(int(number))))


@functools.cache
def code_of_word(word: int) -> Code:
    """The cl_int in the lower half of a word of 64 bits."""
    return Code((word & 0xFFFFFFFF) - ((word & 0x80000000) << 1))


@functools.cache
def _names_of_errors() -> dict[int, str]:
    """The name of each error code; where a number has several, the first one of the headers."""
    names: dict[int, str] = {}
    for name in api().families[ERRORS].names:
        names.setdefault(api().constants[name], name)
    return names


class UnknownConstant(AttributeError):
    """A name that neither the OpenCL-Headers nor supplement.h define."""


def nearest(name: str, known: list[str]) -> str:
    """What a message adds on the nearest name, such as "; did you mean CL_INVALID_VALUE?"; "" where nothing is near."""
    matches = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {matches[0]}?" if matches else ""


@functools.cache
def constant(name: str) -> Constant:
    """The constant of a full name, such as "CL_INVALID_VALUE". Raises UnknownConstant."""
    numbers = api().constants
    if name not in numbers:
        raise UnknownConstant(f"the OpenCL-Headers do not define {name}{nearest(name, list(numbers))}")
    if name in api().families[ERRORS].names:
        return Code(numbers[name], name)
    return Constant(numbers[name], name)


class _Constants:
    """All constants of the API as attributes without their prefix CL_: a Code each, or another Constant."""

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        value = constant(f"CL_{name}")
        setattr(self, name, value)  # a plain attribute from now on
        return value

    def __dir__(self) -> list[str]:
        return sorted(name.removeprefix("CL_") for name in api().constants)


CL = _Constants()
