# SPDX-License-Identifier: Apache-2.0
"""Mocks described by a person: a TOML file with [[icd]], [[layer]], [[vulkan]] and [environment].

The examples are mock_icds/two-vendors.toml and mock_icds/vulkan/two-drivers.toml. What is wrong in a file is a
UsageError: file, entry, what, and what was probably meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import tomlfile
from harness.errors import UsageError
from harness.sandbox.faults import Kind, check_faults, nearest
from harness.sandbox.settings import MAX_PLATFORMS, Scope, function_lines, settings
from harness.sandbox.vulkan import VulkanSandbox

# What an entry may say besides the settings of its mock.
_ENTRY: dict[str, type] = {"name": str, "variant": str, "faults": list, "functions": dict}
_OF_KIND: dict[Kind, dict[str, type]] = {"vulkan": {"manifest": dict}}
_WANTED: dict[type, str] = {str: "a string", list: "a list", dict: "a table"}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # part of a file name, and a word in the log


@dataclass
class MockConfig:
    """The mocks of a file, as keyword arguments of `Sandbox.icd`, `Sandbox.layer` and `VulkanSandbox.driver`, and
    variables to set.
    """

    path: Path
    icds: list[dict[str, Any]] = field(default_factory=list)
    layers: list[dict[str, Any]] = field(default_factory=list)
    drivers: list[dict[str, Any]] = field(default_factory=list)  # of Vulkan
    environment: dict[str, str] = field(default_factory=dict)

    def fill(self, sandbox: VulkanSandbox) -> dict[str, str]:
        """Makes the mocks; gives the variables that show them to a loader.

        Without an [[icd]] the machine's own vendors stay: layers can be put in front of real drivers. Its own Vulkan
        drivers stay without a [[vulkan]].
        """
        shown: dict[str, str] = {}
        try:
            for arguments in self.icds:
                sandbox.vendor(**arguments)
                shown["OCL_ICD_VENDORS"] = str(sandbox.vendors)
            layers = [sandbox.layer(**arguments) for arguments in self.layers]
            for arguments in self.drivers:
                sandbox.driver(**arguments)
        except UsageError as error:  # a variant that is not built
            raise UsageError(f"{self.path}: {error}") from None
        if layers:
            shown["OPENCL_LAYERS"] = ":".join(str(layer) for layer in layers)
        if sandbox.shown:
            shown |= dict.fromkeys(("VK_DRIVER_FILES", "VK_ICD_FILENAMES"), ":".join(map(str, sandbox.shown)))
        return shown | self.environment


def read(path: Path) -> MockConfig:
    """The mocks and variables that a file asks for. Raises UsageError with the place of what is wrong in it."""
    table = tomlfile.read(path)
    _only_keys(path, "the file", table, ("icd", "layer", "vulkan", "environment"))
    config = MockConfig(path)
    seen: set[str] = set()
    places: dict[Kind, list[dict[str, Any]]] = {"icd": config.icds, "layer": config.layers, "vulkan": config.drivers}
    for kind, to in places.items():
        for number, entry in _tables(path, table, kind):
            where = f"[[{kind}]] {entry.get('name', number)}:"
            to.append(_mock(path, where, kind, entry))
            if entry["name"] in seen:
                tomlfile.wrong(path, where, "has the name of another mock; names distinguish them in the call log")
            seen.add(entry["name"])
    config.environment = _environment(path, table.get("environment", {}))
    if not seen:
        tomlfile.wrong(path, "the file", 'describes no mock; a vendor is written [[icd]] and name = "one"')
    return config


def _tables(path: Path, table: dict[str, Any], key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    entries = table.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        tomlfile.wrong(path, f"`{key}`", f"must be a table in double brackets: [[{key}]]")
    yield from enumerate(entries, start=1)


def _only_keys(path: Path, where: str, table: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            tomlfile.wrong(path, where, f"has the unknown key {key!r}; {nearest(key, known)}")


def _check_settings(path: Path, where: str, kind: Kind, scope: Scope, values: dict[str, Any]) -> None:
    known = settings(kind, scope)
    for key, value in values.items():
        if not known[key].takes(value):
            tomlfile.wrong(path, where, f"needs {known[key].needs} as `{key}`, not {value!r}")


def _check_functions(path: Path, where: str, kind: Kind, functions: dict[str, Any]) -> None:
    try:
        for name, values in functions.items():
            if not isinstance(values, list):
                tomlfile.wrong(path, where, f"needs a list of functions as `functions.{name}`, not {values!r}")
            list(function_lines(kind, {name: values}))
    except UsageError as error:
        tomlfile.wrong(path, where, str(error))


def _mock(path: Path, where: str, kind: Kind, entry: dict[str, Any]) -> dict[str, Any]:
    """One mock's keyword arguments."""
    of_mock, of_platforms = settings(kind, "mock"), settings(kind, "platform")
    of_entry = _ENTRY | _OF_KIND.get(kind, {})
    _only_keys(path, where, entry, (*of_entry, *of_mock, *of_platforms, *(["platform"] if kind == "icd" else [])))
    for key, expected in of_entry.items():
        if key in entry and not isinstance(entry[key], expected):
            tomlfile.wrong(path, where, f"needs {_WANTED[expected]} as `{key}`, not {entry[key]!r}")
    _check_settings(path, where, kind, "mock", {key: entry[key] for key in of_mock if key in entry})
    _check_settings(path, where, kind, "platform", {key: entry[key] for key in of_platforms if key in entry})
    _check_functions(path, where, kind, entry.get("functions", {}))
    if not _NAME.fullmatch(tomlfile.text(path, where, entry, "name")):
        tomlfile.wrong(path, where, "needs a `name` of letters, digits, '.', '-' and '_'")
    arguments = dict(entry)
    faults = arguments.get("faults", [])
    if not all(isinstance(fault, str) for fault in faults):
        tomlfile.wrong(path, where, 'needs strings in `faults`, such as "list_call_writes=1"')
    try:
        check_faults(kind, faults)
    except UsageError as error:
        tomlfile.wrong(path, where, str(error))
    if kind == "icd":
        arguments["per_platform"] = arguments.pop("platform", [])
        described = len(arguments["per_platform"])
        for number, (_, platform) in enumerate(_tables(path, entry, "platform")):
            _only_keys(path, f"{where} platform {number}:", platform, tuple(of_platforms))
            _check_settings(path, f"{where} platform {number}:", kind, "platform", platform)
        count = arguments.setdefault("platforms", max(1, described))
        if not described <= count <= MAX_PLATFORMS:
            tomlfile.wrong(path, where, f"needs {described} to {MAX_PLATFORMS} as `platforms`, not {count}")
    return arguments


def _environment(path: Path, table: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        tomlfile.wrong(path, "`environment`", "must be a table: [environment]")
    for name, value in table.items():
        if not name or "=" in name or "\0" in name:
            tomlfile.wrong(path, "[environment]", f"has {name!r}, which is not a name for a variable")
        if not isinstance(value, str) or "\0" in value:
            tomlfile.wrong(path, "[environment]", f"needs a string as {name}, not {value!r}")
    return dict(table)
