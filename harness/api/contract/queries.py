# SPDX-License-Identifier: Apache-2.0
"""What the specification says of each query (queries.toml): its number, version, and the size of its answer."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.api.contract import FOLDER
from harness.api.contract.entries import source, unknown
from harness.api.model import Api, Function, api
from harness.tomlfile import read, wrong

FILE = FOLDER / "queries.toml"


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
    source: str

    def __str__(self) -> str:
        return self.name

    def fits(self, size: int) -> bool:
        """Whether an answer may have that size."""
        if self.size == 0:
            return True
        return size % self.size == 0 if self.many else size == self.size


def load(model: Api) -> tuple[Query, ...]:
    """All queries of an API's functions. Raises UsageError for what is wrong in the table."""
    asking = _asking(model)
    loaded: list[Query] = []
    for group, table in read(FILE).items():
        if group not in asking:
            unknown(FILE, f"[{group}]", "type of queries", group, list(asking))
        where = source(FILE, f"[{group}]", table)
        rows = {name: _row(model, group, name, row) for name, row in table.items() if name != "source"}
        for function in asking[group]:
            loaded += [Query(function.name, name, *row, where) for name, row in rows.items()]
    return tuple(loaded)


def _asking(model: Api) -> dict[str, list[Function]]:
    """Functions by the type of their queries: `cl_device_info` is what clGetDeviceInfo takes."""
    asking: dict[str, list[Function]] = {}
    for function in model.functions.values():
        for parameter in function.parameters:
            if parameter.name == "param_name" and function.parameters[-1].name == "param_value_size_ret":
                asking.setdefault(parameter.type.split()[0], []).append(function)
    return asking


def _row(model: Api, group: str, name: str, row: Sequence[Any]) -> tuple[int, tuple[int, int], str, int, bool]:
    """Number, version, type, size, whether there are many. Headers know the name, unless it is newer than they are."""
    entry = f"[{group}] {name}"
    if len(row) != 4 or not isinstance(row[0], int) or not re.fullmatch(r"\d\.\d", row[1]):
        wrong(FILE, entry, 'is not a query: [number, "version", "type", "size"]')
    number, version, kind, size = row
    if not re.fullmatch(r"text|\d+\*?", size):
        wrong(FILE, entry, f"has the size {size!r}; it must be bytes, `N*` or `text`")
    if name not in model.constants and f"CL_VERSION_{version.replace('.', '_')}" in model.constants:
        unknown(FILE, entry, "query", name, list(model.constants))
    if model.constants.get(name, number) != number:
        wrong(FILE, entry, f"has the number {number:#x}, but the OpenCL-Headers say {model.constants[name]:#x}")
    major, minor = version.split(".")
    width = 0 if size == "text" else int(size.rstrip("*"))
    return number, (int(major), int(minor)), kind, width, size.endswith("*")


@functools.cache
def queries() -> tuple[Query, ...]:
    """The queries of the functions that the build's headers have."""
    return load(api())
