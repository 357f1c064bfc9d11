# SPDX-License-Identifier: Apache-2.0
"""Mutants of a layer: mock layers that are wrong in one thing, for `clharness selftest --layer`.

The lists lie in layer/, a file for each section of the catalogue. An entry `[[mutant]]` has these keys:

name         of the mutant
requirement  the ID, or a list of IDs, of what it breaks
sentence     goes on after "makes the layer …"; left out, that of the first fault in mock_layers/faults.h
faults, functions, variant   as in Sandbox.layer
cases        parts of the names of cases that should notice, with " or " between them

[[each]] stands for a mutant for each function of the dispatch table; needs_result: for those that answer something.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.api.model import api
from harness.sandbox import Sandbox
from harness.selftest.mutants import Mutant
from harness.selftest.mutants.of_mocks import (
    MockMutant,
    chosen,
    read_lists,
    read_mutant,
    requirements_of,
    without_log,
)
from harness.subject.layer import Layer
from harness.tomlfile import only_keys, read, text

FOLDER = Path(__file__).with_name("layer")

_KEYS = ("faults", "functions", "variant")


@functools.cache
def layer_mutants(folder: Path = FOLDER) -> dict[str, MockMutant]:
    """The mutants of the lists in a folder, by name."""
    return read_lists(folder, _load)


def _load(path: Path) -> list[MockMutant]:
    data = read(path)
    only_keys(path, "the head", data, ("mutant", "each"))
    mutants = [read_mutant(path, table, "layer", _KEYS) for table in data.get("mutant", [])]
    for table in data.get("each", []):
        only_keys(path, "each", table, ("setting", "requirement", "sentence", "needs_result"))
        needs_result = table.get("needs_result", False)
        functions = [f for f in api().dispatched() if f.result_kind != "void" or not needs_result]
        mutants += [_of_function(path, table, function.name) for function in functions]
    return mutants


def _of_function(path: Path, table: Mapping[str, Any], function: str) -> MockMutant:
    setting = text(path, "each", table, "setting")
    name = f"{setting}_{function}"
    sentence = text(path, "each", table, "sentence").format(function=function)
    mutant = Mutant(name, requirements_of(table), sentence, cases=f"[{function}]")
    return MockMutant(mutant, {"functions": {setting: [function]}})


def seeded_layer(sandbox: Sandbox) -> Layer:
    """The mutant that the environment names, or else a correct mock layer; without a log, like any layer."""
    mock = sandbox.layer("subject", **chosen(layer_mutants()))
    without_log(mock.path)
    return Layer(mock.path)
