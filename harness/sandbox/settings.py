# SPDX-License-Identifier: Apache-2.0
"""The settings of the mocks, as the lists settings.h in the folders of the mocks say it.

A mock is configured by lines `name = value`; an unknown setting, or a value of the wrong type, is refused here, in a
sentence, and not by a mock in the middle of a case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from harness.build import ROOT
from harness.errors import HarnessError, UsageError
from harness.sandbox.faults import FOLDERS, NAMES, Kind, nearest

# What a setting is of: the mock as a whole, each of its platforms, or single functions.
Scope = Literal["mock", "platform", "function"]
Value = str | int  # bool is a kind of int

_MACROS: dict[str, Scope] = {"SETTING": "mock", "PLATFORM_SETTING": "platform", "FUNCTION_SETTING": "function"}
_ENTRY = re.compile(r"/\*((?:(?!\*/).)*)\*/\s*\n(\w*SETTING)\((\w+), (\w+)(?:, ([^\n]*))?\)", re.S)
_NUMBER = re.compile(r"[0-9]+")
MAX_PLATFORMS = 64  # of one mock ICD (mock_icds/base/config.h)


@dataclass(frozen=True)
class Setting:
    """One entry of a list: `initial` is the value where nothing is said, as C writes it."""

    name: str
    scope: Scope
    type: str  # flag, number, text, path or platforms
    initial: str
    sentence: str

    @property
    def title(self) -> str:
        """Its name, with what it takes, and the value where nothing is said, if that is a plain one."""
        if self.scope == "function":
            words = {"path": "FUNCTION PATH", "platforms": "FUNCTION, or FUNCTION PLATFORM"}
            return f"{self.name} ({words.get(self.type, 'FUNCTION')})"
        plain = re.fullmatch(r'true|false|[0-9]+|".*"', self.initial)
        return f"{self.name} ({self.type}{f'; {self.initial}' if plain else ''})"

    @property
    def needs(self) -> str:
        """What a value must be, as the end of a sentence."""
        forms = {"flag": "true or false", "number": "a whole number from 0", "text": "a string"}
        if self.scope == "function":
            forms = {
                "flag": "a function and nothing else",
                "path": "a function and a path",
                "platforms": "a function, or a function and a platform from 0",
            }
        return forms[self.type]

    def takes(self, value: object) -> bool:
        """Whether a value is of the setting's type; that of single functions is `FUNCTION` or `FUNCTION WORD`."""
        if self.type == "number":
            return type(value) is int and value >= 0
        if self.type == "flag" and self.scope != "function":
            return type(value) is bool
        if not isinstance(value, str):
            return False
        if self.scope != "function":
            return True
        function, blank, word = value.partition(" ")
        if self.type == "platforms":
            return bool(function) and (not blank or (bool(_NUMBER.fullmatch(word)) and int(word) < MAX_PLATFORMS))
        return bool(function) and bool(word) == (self.type == "path")


@cache
def settings(kind: Kind, scope: Scope) -> dict[str, Setting]:
    """The settings of a mock by name, in the order of their list."""
    source = ROOT / FOLDERS[kind] / "settings.h"
    try:
        entries = _ENTRY.findall(source.read_text())
    except OSError as error:
        raise HarnessError(f"{source}: cannot be read: {error.strerror}") from error
    by_name = {}
    for text, macro, name, type_, initial in entries:
        if _MACROS[macro] == scope:
            sentence = re.sub(r"\s*\n\s*\*\s*", " ", text).strip()
            by_name[name] = Setting(name, scope, type_, initial, sentence)
    return by_name


def check(kind: Kind, scope: Scope, name: str, value: object) -> Setting:
    """The setting of this name, or UsageError: an unknown name, or a value of another type."""
    known = settings(kind, scope)
    whose = {"mock": "", "platform": "platforms of ", "function": "functions of "}[scope]
    if name not in known:
        have = "has" if scope == "mock" else "have"
        raise UsageError(f"{whose}the {NAMES[kind]} {have} no setting {name!r}; {nearest(name, known)}")
    if not known[name].takes(value):
        raise UsageError(f"{whose}the {NAMES[kind]}: setting {name!r} needs {known[name].needs}, not {value!r}")
    return known[name]


def lines(kind: Kind, scope: Scope, values: Mapping[str, Value], prefix: str = "") -> list[str]:
    """The configuration's lines for settings of the mock or of a platform; raises UsageError as `check` does."""
    configuration = []
    for name, value in values.items():
        setting = check(kind, scope, name, value)
        written = _escaped(value) if setting.type == "text" and isinstance(value, str) else str(int(value))
        configuration.append(f"{prefix}{name} = {written}")
    return configuration


def function_lines(kind: Kind, by_name: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The same for settings of single functions: for each setting, FUNCTION or FUNCTION WORD."""
    for name, values in by_name.items():
        if name not in settings(kind, "function"):
            check(kind, "function", name, "")  # refuses it, also where it is set for no function
        for value in values:
            check(kind, "function", name, value)
            yield f"{name} = {value}"


def _escaped(text: str) -> str:
    """The configuration's form of a text: a line of printable ASCII."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text  # as nearly all are
    return "".join(c if " " <= c <= "~" and c != "\\" else "".join(f"\\x{b:02x}" for b in c.encode()) for c in text)
