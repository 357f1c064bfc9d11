# SPDX-License-Identifier: Apache-2.0
"""The API of the headers that the harness was built with, for Python code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.api.families import Family
from harness.build import build


@dataclass(frozen=True)
class Parameter:
    """One parameter; see `harness.api.headers.Parameter` for the kinds."""

    name: str
    type: str
    kind: str
    handle: str
    pointee: int
    size: int
    signed: bool


@dataclass(frozen=True)
class Function:
    """One function. `slot` is its position in the dispatch table, or None."""

    name: str
    result_kind: str
    parameters: tuple[Parameter, ...]
    slot: int | None
    result_handle: str = ""  # the class of the result, where that is a handle

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Api:
    """The OpenCL API as the installed headers declare it; `slots` is the order of cl_icd_dispatch."""

    functions: dict[str, Function]
    slots: tuple[str, ...]
    constants: dict[str, int]
    families: dict[str, Family]
    address: int = 8  # bytes of an address, of a handle, of a size_t and of an intptr_t

    def dispatched(self) -> list[Function]:
        """Functions that have a slot and a signature, in slot order."""
        return [f for f in self.functions.values() if f.slot is not None]

    def constant(self, name: str) -> int:
        """Value of a `CL_…` constant."""
        return self.constants[name]


def _function(data: dict[str, Any]) -> Function:
    parameters = tuple(
        Parameter(p["name"], p["type"], p["kind"], p["handle"], p["pointee"], p["size"], p["signed"])
        for p in data["parameters"]
    )
    return Function(data["name"], data["result_kind"], parameters, data["slot"], data["result_handle"])


def load(path: Path) -> Api:
    """Reads an `api.json`, which harness.api.generate wrote."""
    data = json.loads(path.read_text())
    functions = {f["name"]: _function(f) for f in data["functions"]}
    families = {name: Family(family["bits"], tuple(family["names"])) for name, family in data["families"].items()}
    return Api(functions, tuple(data["slots"]), data["constants"], families, data["address"])


@cache
def api() -> Api:
    """The API of the build."""
    return load(build().api)
