"""What the specification says of each query (queries.toml): its number, version, and the size of its answer."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from harness.api.model import Function, api
from harness.tomlfile import read

FILE = Path(__file__).with_name("queries.toml")


@dataclass(frozen=True)
class Query:
    """One query of one function. `size` is in bytes, of one element where there are `many`; 0 for a string."""

    function: str
    name: str
    number: int
    version: tuple[int, int]
    type: str
    size: int
    many: bool

    def __str__(self) -> str:
        return self.name

    def fits(self, size: int) -> bool:
        """Whether an answer may have that size."""
        if self.size == 0:
            return True
        return size % self.size == 0 if self.many else size == self.size


# Functions by the type of their queries: `cl_device_info` is what clGetDeviceInfo takes.
def _asking() -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for function in api().functions.values():
        for parameter in function.parameters:
            if parameter.name == "param_name" and function.parameters[-1].name == "param_value_size_ret":
                found.setdefault(parameter.type.split()[0], []).append(function)
    return found


@functools.cache
def queries() -> tuple[Query, ...]:
    """All queries of functions that have a slot."""
    asking = _asking()
    found = []
    for group, listed in read(FILE).items():
        for function in asking.get(group, ()):
            for name, (number, version, kind, size) in listed.items():
                major, minor = version.split(".")
                digits = size.rstrip("*")
                width = 0 if size == "text" else int(digits)
                found.append(
                    Query(function.name, name, number, (int(major), int(minor)), kind, width, size.endswith("*"))
                )
    return tuple(found)
