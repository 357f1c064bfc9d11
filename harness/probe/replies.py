# SPDX-License-Identifier: Apache-2.0
"""What the probe answers to its commands (harness/probe/commands.c). A subject shares its process, and can forge it.

SHAPES has the form of each answer, which harness.probe.connection holds it to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.errors import HarnessError
from harness.probe.verdicts import ProtocolViolation

MAX_REPLY = 64 << 20  # bytes; the longest are what buffers hold, in hexadecimal


class CommandError(HarnessError):
    """The probe refused a command: a mistake in the check, or a function that the loader does not have."""


class Refused(CommandError, AssertionError):
    """The probe could not do what a check asks of a proper subject, such as calling a function that it exports."""


_DONE = re.compile(r" ?")
_NUMBER = re.compile(r"0x[0-9a-f]{1,16}")
_DECIMAL = re.compile(r"-?\d{1,20}")
_BYTES = re.compile(r"(?:[0-9a-f]{2})*")
_ANSWERS = (
    (
        _DONE,
        "buffer free protect put word store setenv unsetenv chdir forkend exec thread when late open close vkword",
    ),
    (_NUMBER, "call address vkallocator vkhearer vkcall value peek descriptor vulkan target symbol count loaded"),
    (_DECIMAL, "layer handlers callbacks go heap vkallocated vkrefuse"),
    (_BYTES, "get read module exports environment state counted handles"),
    (re.compile(r"(?:[0-9a-f]{2})*|unset"), "getenv"),
    (re.compile(r" ?|0x[0-9a-f]{1,16}"), "load"),
    (re.compile(r"pid=[1-9]\d{0,9} secure=[01] linked=[01]"), "hello"),
    (re.compile(r"pid=[1-9]\d{0,9}"), "fork"),
)
SHAPES = {command: shape for shape, commands in _ANSWERS for command in commands.split()}
# Refusals that the subject is the reason of, in a command that is in order.
_OF_THE_SUBJECT = re.compile(
    r"error (?:\w+: )*(no symbol |no room|out of memory|the symbol table cannot be read)"
    r"|error (?:open|load): .*: (Too many open files|Cannot allocate memory)"  # it took what there was, or its limits
)


def refusal(command: str, reply: str, before: Sequence[str] = ()) -> CommandError:
    """The error that a reply is about: of the command, or of one of those without replies of their own before it.

    Raises ProtocolViolation for one that is about another command.
    """
    about = next((c for c in (command, *reversed(before)) if reply.startswith(f"error {c.partition(' ')[0]}: ")), None)
    if about is None:
        raise ProtocolViolation(f"{command[:200]!r} was answered with {reply[:200]!r}, which the probe never says")
    kind = Refused if _OF_THE_SUBJECT.match(reply) else CommandError
    return kind(f"probe: {about[:200]}: {reply.removeprefix('error ')}")
