# SPDX-License-Identifier: Apache-2.0
"""Makes the proper calls of the contract (harness/api/contract), and those that are improper in one thing.

call = calls.prepare(objects, "clCreateBuffer", {"size": "0"})
call.make()     # CL_INVALID_BUFFER_SIZE, through the table of the object, as a loader does
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.api.codes import CL, Code, constant
from harness.api.contract.calls import optional, recipes
from harness.api.contract.entries import NUMBER
from harness.api.contract.queries import Query
from harness.api.contract.rules import Rule, accepted, rules, states
from harness.api.model import Function, Parameter, api
from harness.probe.calls import Buffer
from harness.probe.extensions import extensions
from harness.probe.icd_abilities import is_promised
from harness.probe.icd_objects import IcdObjects
from harness.probe.values import Callback, Value
from harness.sandbox import Unsupported

__all__ = [
    "FOREIGN_PROGRAMS",
    "INVALID",
    "Call",
    "Rule",
    "accepted",
    "commands_with_events",
    "enqueue",
    "has_parameter",
    "lacks",
    "optional",
    "prepare",
    "recipes",
    "refusals",
    "require_answer",
    "require_function",
    "require_sentence",
    "rules",
    "states",
    "words_of",
]

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


# Calls whose bytes are not a program, or whose program is of source where it must not be, so that they are refused.
FOREIGN_PROGRAMS = (
    "clCreateProgramWithBinary",
    "clCreateProgramWithIL",
    "clCreateProgramWithBuiltInKernels",
    "clSetProgramSpecializationConstant",
)

# And what is for queues of a device, of which calls.toml has none.
_OF_OTHERS = (*FOREIGN_PROGRAMS, "clSetDefaultDeviceCommandQueue")

# How the names of queries begin that not every object has an answer to, and what it says then.
_NOT_AVAILABLE = {
    "CL_KERNEL_GLOBAL_WORK_SIZE": "CL_INVALID_VALUE",  # of a custom device or a built-in kernel only
    "CL_KERNEL_ARG": "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
    "CL_PROFILING": "CL_PROFILING_INFO_NOT_AVAILABLE",
    "CL_QUEUE_SIZE": "CL_INVALID_COMMAND_QUEUE",  # of a queue on the device only
    "CL_PROGRAM_IL": "CL_INVALID_VALUE",
}


# What a platform without an optional function answers to its proper call, and to a program of no intermediate language.
_LACKING = (
    "CL_INVALID_OPERATION",
    "CL_INVALID_VALUE",
    "CL_DEVICE_PARTITION_FAILED",
    "CL_INVALID_DEVICE",
    "CL_INVALID_PROGRAM",
)


def lacks(objects: IcdObjects, function: str, error: int) -> bool:
    """Whether the error to the proper call of a function says that the platform may do without it, and does."""
    refused = optional(function) and str(Code(error)) in _LACKING
    return refused and (function in _OF_OTHERS or not is_promised(objects, function))


def require_function(objects: IcdObjects, function: str, error: int) -> None:
    """Makes the attempt `unsupported` where the error to the proper call of a function says that there is none."""
    if lacks(objects, function, error):
        raise Unsupported("loader", f"{function} answered {error}: this platform does not have it", function)


def enqueue(
    objects: IcdObjects, function: str, waits: list[Value], queue: Value | None = None, event: Buffer | None = None
) -> None:
    """Enqueues the proper call of a function, which does not block and waits for events: in the usual queue, and
    without an event of its own, where none is given. Makes the attempt `unsupported` where the platform lacks it.
    """
    call = prepare(objects, function)
    for i, parameter in enumerate(call.function.parameters):
        if parameter.name.startswith("blocking_"):
            call.arguments[i] = 0
        elif parameter.name == "num_events_in_wait_list":
            call.arguments[i] = len(waits)
        elif parameter.name == "event_wait_list":
            call.arguments[i] = waits or None
        elif parameter.name == "event":
            call.arguments[i] = event
        elif parameter.name == "command_queue" and queue is not None:
            call.arguments[i] = queue
    error = call.make()
    require_function(objects, function, error)
    assert error == CL.SUCCESS, f"{function} answered {error}, expected CL_SUCCESS"


def require_answer(query: Query, error: int) -> None:
    """Makes the attempt `unsupported` where the object may do without an answer to the query, and says so."""
    if any(query.name.startswith(start) and error == constant(code) for start, code in _NOT_AVAILABLE.items()):
        raise Unsupported("loader", f"{query} answered {error}: there is nothing to tell", query.name)


def require_sentence(objects: IcdObjects, rule: Rule) -> None:
    """Makes the attempt `unsupported` where the text of the device's version of OpenCL does not have the rule, or one
    of its extensions makes the call a proper one."""
    version = objects.device_version()
    if not rule.holds_for(version):
        messages = f"the text of OpenCL {version[0]}.{version[1]} does not have this rule"
        raise Unsupported("loader", messages, rule.function)
    if rule.unless and not rule.holds_for(version, extensions(objects.session, objects.device)):
        raise Unsupported("loader", f"{rule.unless} makes this call a proper one", rule.function)


def refusals(function: str, *errors: int) -> list[int]:
    """The errors, and what a platform may say that does not have what the function is for; a list, because each of them
    is compared then, which a program for the vendor repeats (harness/probe/answers.py)."""
    return [*dict.fromkeys((*errors, *((CL.INVALID_OPERATION,) if optional(function) else ())))]


def commands_with_events() -> list[str]:
    """The commands of the core that give an event beside what they do."""
    functions = api().functions
    return [
        function
        for function in recipes()
        if function.startswith("clEnqueue")
        and functions[function].parameters[-1 if "Map" not in function or "SVM" in function else -2].name == "event"
    ]


def has_parameter(function: str, name: str) -> bool:
    """Whether a function has a parameter of this name."""
    return any(parameter.name == name for parameter in api().functions[function].parameters)


def words_of(function: str, changed: Mapping[str, str]) -> list[str]:
    """One word for each argument."""
    names = [p.name for p in api().functions[function].parameters]
    return [changed.get(name, word) for name, word in zip(names, recipes()[function].words, strict=True)]


def _constant(word: str) -> int:
    """A number, or CL_NAME|CL_NAME."""
    return int(word, 0) if NUMBER.fullmatch(word) else functools.reduce(operator.or_, map(constant, word.split("|")))


@dataclass
class Call:
    """One call that is ready to be made."""

    objects: IcdObjects
    function: Function
    arguments: list[Any]
    result: int = 0

    @property
    def errcode(self) -> Buffer | None:
        """The buffer that gets the error code; None for functions that return theirs, or where NULL is passed."""
        for parameter, argument in zip(self.function.parameters, self.arguments, strict=True):
            if parameter.kind == "errcode" and isinstance(argument, Buffer):
                return argument
        return None

    def make(self) -> int:
        """The error, 0 for none; of functions that tell none it is the result: 0 for NULL."""
        session, code = self.objects.session, self.errcode
        if code is not None:
            session.read_with_call(code)
        self.result = result = session.call(self.function.name, *self.arguments)
        return code.code() if code is not None else result

    def without_errcode(self) -> Call:
        """The same call with NULL as errcode_ret."""
        arguments = [None if argument is self.errcode else argument for argument in self.arguments]
        return Call(self.objects, self.function, arguments)


def prepare(objects: IcdObjects, function: str, changed: Mapping[str, str] | None = None) -> Call:
    """The proper call of a function, with some arguments changed; makes the objects that it needs."""
    about = api().functions[function]
    objects.require_function(function, objects.version())
    words = words_of(function, changed or {})
    arguments = [_argument(objects, about, p, word) for p, word in zip(about.parameters, words, strict=True)]
    return Call(objects, about, arguments)


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
    if NUMBER.fullmatch(word) or word.startswith("CL_"):
        return _constant(word)
    if word.startswith("?"):
        return session.buffer(int(word[1:]))
    if kind == "s":
        return rest.replace("+", " ")
    if kind == "u":
        return session.data(b"".join((_constant(part) & 0xFFFFFFFF).to_bytes(4, "little") for part in rest.split(",")))
    if kind == "p":
        value = _value(objects, rest)
        return session.words([session.data(value.encode() + b"\0") if isinstance(value, str) else value])
    if kind == "w":
        return session.words([_value(objects, part) for part in rest.split(",")])
    result = objects.named(word)
    assert isinstance(result, Value)
    return result
