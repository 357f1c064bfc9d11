"""Mock layers with one fault each, for the proof that the checks of a layer notice it (clharness selftest --layer)."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.api.model import api
from harness.requirements.catalogue import catalogue
from harness.sandbox import Sandbox
from harness.sandbox.faults import Kind
from harness.sandbox.faults import faults as mock_faults
from harness.selftest.loaders import Fault
from harness.subject.layer import Layer
from harness.tomlfile import only_keys, read, text, wrong

FILE = Path(__file__).parent / "mutants" / "layer" / "faults.toml"
VARIABLE = "CLHARNESS_FAULT"  # the name of the fault, as for the seeded reference loader

_KEYS = ("name", "requirement", "sentence", "faults", "functions", "variant", "cases")


@dataclass(frozen=True)
class LayerFault:
    """A mock layer that is wrong in one thing: its settings (Sandbox.layer)."""

    fault: Fault
    faults: tuple[str, ...] = ()
    functions: Mapping[str, list[str]] = field(default_factory=dict)
    variant: str = "layer"


@functools.cache
def layer_faults(path: Path = FILE) -> dict[str, LayerFault]:
    """The list by name; a table with `each` stands for one fault for each function."""
    data = read(path)
    only_keys(path, "the head", data, ("fault", "each"))
    found = [_fault(path, table) for table in data.get("fault", [])]
    for table in data.get("each", []):
        only_keys(path, "each", table, ("setting", "requirement", "sentence", "needs_result"))
        needs_result = table.get("needs_result", False)
        functions = [f for f in api().dispatched() if f.result_kind != "void" or not needs_result]
        found += [_of_function(path, table, function.name) for function in functions]
    check_known(path, (one.fault for one in found))
    return {one.fault.name: one for one in found}


def _requirements(table: Mapping[str, Any]) -> tuple[str, ...]:
    listed = table["requirement"]
    return (listed,) if isinstance(listed, str) else tuple(listed)


def read_fault(path: Path, table: Mapping[str, Any], kind: Kind, keys: Collection[str]) -> Fault:
    """What faults of mocks have: name, requirements, and the sentence, which may be that of the first mock fault."""
    where = f"fault {table.get('name', '')}"
    only_keys(path, where, table, tuple(keys))
    told = table.get("faults", ())
    sentence = table.get("sentence") or mock_faults(kind)[told[0].partition("=")[0].partition("@")[0]]
    return Fault(text(path, where, table, "name"), _requirements(table), sentence, cases=table.get("cases", ""))


def check_known(path: Path, found: Iterable[Fault]) -> None:
    """Raises UsageError where a fault names no requirement of the catalogue."""
    for fault in found:
        for requirement in fault.requirements:
            if requirement not in catalogue():
                wrong(path, fault.name, f"names the unknown requirement {requirement}")


def _fault(path: Path, table: Mapping[str, Any]) -> LayerFault:
    fault = read_fault(path, table, "layer", _KEYS)
    return LayerFault(fault, tuple(table.get("faults", ())), table.get("functions", {}), table.get("variant", "layer"))


def _of_function(path: Path, table: Mapping[str, Any], function: str) -> LayerFault:
    setting = text(path, "each", table, "setting")
    name = f"{setting}_{function}"
    sentence = text(path, "each", table, "sentence").format(function=function)
    fault = Fault(name, _requirements(table), sentence, cases=f"[{function}]")
    return LayerFault(fault, functions={setting: [function]})


def seeded_layer(sandbox: Sandbox) -> Layer:
    """A layer with the fault that the environment names; without a log, like any layer."""
    name = os.environ.get(VARIABLE)
    told = layer_faults()[name] if name else LayerFault(Fault("none", (), ""))
    made = sandbox.layer("subject", faults=told.faults, functions=told.functions, variant=told.variant)
    without_log(made.path)
    return Layer(made.path)


def without_log(mock: Path) -> None:
    """Takes the call log from a mock."""
    config = Path(f"{mock}.conf")
    lines = [line for line in config.read_text().splitlines() if not line.startswith("log = ")]
    config.write_text("\n".join(lines) + "\n")
