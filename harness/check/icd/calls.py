"""Proper calls of each function (calls.toml), and calls that are improper in one thing (rules.toml).

call = calls.prepare(objects, "clCreateBuffer", {"size": "0"})
call.make()                                         # -30: through the table of the object, as a loader does
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.api import contract
from harness.api.model import Function, Parameter, api
from harness.check.icd.objects import IcdObjects
from harness.probe.values import Buffer, Callback, Value
from harness.tomlfile import only_keys, read, wrong

CALLS, RULES = contract.FOLDER / "calls.toml", contract.FOLDER / "rules.toml"
INVALID_OPERATION = -59
NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)")

# What the text calls a handle that is not an object of its class.
INVALID = {
    "cl_platform_id": "CL_INVALID_PLATFORM",
    "cl_device_id": "CL_INVALID_DEVICE",
    "cl_context": "CL_INVALID_CONTEXT",
    "cl_command_queue": "CL_INVALID_COMMAND_QUEUE",
    "cl_mem": "CL_INVALID_MEM_OBJECT",
    "cl_sampler": "CL_INVALID_SAMPLER",
    "cl_program": "CL_INVALID_PROGRAM",
    "cl_kernel": "CL_INVALID_KERNEL",
    "cl_event": "CL_INVALID_EVENT",
}


@dataclass(frozen=True)
class Rule:
    """An improper call: the arguments that differ from the proper one, and the errors for it ("NULL" is one, too)."""

    text: str
    function: str
    changed: Mapping[str, str]
    errors: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return self.text.partition(" -> ")[0].partition(" ")[2]


@functools.cache
def recipes() -> dict[str, list[str]]:
    """The words of each function's proper call."""
    data = read(CALLS)
    only_keys(CALLS, "the head", data, ("needs", "call"))
    found = {name: words.split() for name, words in data["call"].items()}
    for name, words in found.items():
        if name in api().functions and len(words) != len(api().functions[name].parameters):
            wrong(CALLS, name, f"takes {len(api().functions[name].parameters)} arguments, not {len(words)}")
    return {name: words for name, words in found.items() if name in api().functions}


@functools.cache
def optional(function: str) -> bool:
    """Whether a platform may do without what the function is for, and say CL_INVALID_OPERATION."""
    return any(part in function for parts in read(CALLS)["needs"].values() for part in parts)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All rules whose functions these headers have."""
    found = []
    for section, table in read(RULES).items():
        only_keys(RULES, section, table, ("source", "rules"))
        found += [_rule(text, table["source"]) for text in table["rules"]]
    return tuple(rule for rule in found if rule.function in api().functions)


def _rule(text: str, source: str) -> Rule:
    call, arrow, errors = text.partition(" -> ")
    function, *changes = call.split(" ")
    if not arrow or (function not in recipes() and function in api().functions):
        wrong(RULES, text, "is not a rule: FUNCTION PARAMETER=WORD -> ERROR")
    changed = dict(change.split("=", 1) for change in changes)
    if function in api().functions:
        known = {p.name for p in api().functions[function].parameters}
        if strange := changed.keys() - known:
            wrong(RULES, text, f"{function} has no parameter {min(strange)}")
    return Rule(text, function, changed, tuple(errors.split("|")), source)


def refusals(function: str, *errors: int) -> set[int]:
    """The errors, and what a platform may say that does not have what the function is for."""
    return set(errors) | ({INVALID_OPERATION} if optional(function) else set())


def words_of(function: str, changed: Mapping[str, str]) -> list[str]:
    """One word for each argument."""
    names = [p.name for p in api().functions[function].parameters]
    return [changed.get(name, word) for name, word in zip(names, recipes()[function], strict=True)]


def constant(word: str) -> int:
    """A number, or CL_NAME|CL_NAME."""
    if NUMBER.fullmatch(word):
        return int(word, 0)
    value = 0
    for name in word.split("|"):
        value |= api().constant(name)
    return value


def is_constant(word: str) -> bool:
    return bool(NUMBER.fullmatch(word)) or word.startswith("CL_")


@dataclass
class Call:
    """One call that is ready to be made."""

    objects: IcdObjects
    function: Function
    arguments: list[Any]
    result: int = 0

    @property
    def errcode(self) -> Buffer | None:
        for parameter, argument in zip(self.function.parameters, self.arguments, strict=True):
            if parameter.kind == "errcode" and isinstance(argument, Buffer):
                return argument
        return None

    def make(self) -> int:
        """The error, 0 for none; of functions that tell none it is the result: 0 for NULL."""
        result = self.objects.session.call(self.function.name, *self.arguments)
        code = self.errcode
        self.result = result
        return code.i32() if code is not None else result


def prepare(objects: IcdObjects, function: str, changed: Mapping[str, str] | None = None) -> Call:
    """The proper call of a function, with some arguments changed; makes the objects that it needs."""
    about = api().functions[function]
    objects.require_function(function, objects.version())
    words = words_of(function, changed or {})
    made = [_argument(objects, about, p, word) for p, word in zip(about.parameters, words, strict=True)]
    return Call(objects, about, made)


def _argument(objects: IcdObjects, function: Function, parameter: Parameter, word: str) -> Any:
    session = objects.session
    if word == "!":
        return session.buffer(4)
    if word == ">":
        return session.buffer(8)
    if word == "f":
        return Callback(f"{function.name}.{parameter.name}")
    return _value(objects, word)


def _value(objects: IcdObjects, word: str) -> Any:
    session = objects.session
    kind, _, rest = word.partition(":")
    if word == "-":
        return None
    if is_constant(word):
        return constant(word)
    if word.startswith("?"):
        return session.buffer(int(word[1:]))
    if kind == "s":
        return rest.replace("+", " ")
    if kind == "u":
        return session.data(b"".join((constant(part) & 0xFFFFFFFF).to_bytes(4, "little") for part in rest.split(",")))
    if kind == "p":
        value = _value(objects, rest)
        return session.words([session.data(value.encode() + b"\0") if isinstance(value, str) else value])
    if kind == "w":
        return session.words([_value(objects, part) for part in rest.split(",")])
    found = objects.named(word)
    assert isinstance(found, Value)
    return found
