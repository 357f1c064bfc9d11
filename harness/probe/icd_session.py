# SPDX-License-Identifier: Apache-2.0
"""A session in which the probe stands in the place of the loader: it finds a vendor's platforms, and calls their table.

with icd.open(sandbox) as session:
    objects = session.objects(session.platforms()[0])
    session.call("clFlush", objects.queue)          # through the platform's own table
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.api.codes import CL
from harness.api.model import api
from harness.probe.answers import AnsweredBuffer, Content, Handle, Record, result_answer
from harness.probe.calls import Buffer, CallFailed
from harness.probe.icd_objects import IcdObjects
from harness.probe.patience import threads_of
from harness.probe.session import CANARY, CommandError, Session
from harness.probe.values import Value
from harness.sandbox import Unsupported

QUERY, ENUMERATE = "clGetExtensionFunctionAddress", "clIcdGetPlatformIDsKHR"
ICD2_FUNCTIONS = ("clIcdGetFunctionAddressForPlatformKHR", "clIcdSetPlatformDispatchDataKHR")
NO_TEXTS = {  # names of no function that are no texts, or none that anybody writes
    "not UTF-8": b"\xff\xfeclFinish",
    "cut UTF-8": b"clFinish\xe2\x82",
    "control characters": b"\x01\n\r\t\x7f",
    "5000 bytes": b"cl" + 4998 * b"F",
}


def misspelt(function: str) -> list[str]:
    """Names of no function that begin as this one's does, end as it does, or differ in the case of their letters."""
    return [f"{function}x", f"{function} ", f" {function}", function[:-1], function[1:], function.upper()]


TAGGED = ("clGetPlatformIDs", "clUnloadCompiler")
IDLE = 5.0  # seconds without anything under way after which nothing comes any more
_LONGEST_PAUSE = 64  # milliseconds between two looks
ICD_FILE_LIMIT = 64 << 30  # bytes: some drivers keep the memory of their objects in files


def version_number(text: str) -> str:
    """The first version number in a text, such as "22.3.6"; "" where there is none."""
    number = re.search(r"\d+(\.\d+)+", text)
    return number[0] if number else ""


def _slot(function: str) -> int:
    """The place of a function in dispatch tables, counted in words."""
    slot = api().functions[function].slot
    assert slot is not None
    return slot


def _in_tables(function: str) -> bool:
    """Whether a loader takes the function from the table of an object."""
    return api().functions[function].slot is not None and function not in TAGGED


class IcdSession(Session):
    """The vendor's functions as a loader finds them; `call` goes through the tables, once a platform is in use."""

    file_limit = ICD_FILE_LIMIT
    platform: Value | None = None
    failed = False  # whether this process showed what is wrong (Attempts)
    only_platform = ""  # the number (from 0) or a part of the name of those that are used; "" for all
    only_device = ""  # the same of the device that objects are made for; "" for the first

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.record = Record()  # of the answers that were compared
        self.gate: Mapping[str, str] = {}  # by class of object, why none can be had (harness/subject/gate.py)

    # --- answers that know where they came from ---

    def buffer(self, size: int, fill: int = CANARY) -> Buffer:
        """As Calls.buffer; comparisons of what is read from it are kept for the reproducer."""
        plain = super().buffer(size, fill)
        return AnsweredBuffer(self, plain.index, plain.size, self.record)

    def bytes_at(self, address: Value, size: int) -> bytes:
        """As Calls.bytes_at; comparisons of them are kept for the reproducer."""
        return Content.of(super().bytes_at(address, size), address.token, 0, self.record)

    def peek(self, address: Value, offset: int) -> Value:
        """As Calls.peek; comparisons of it are kept for the reproducer."""
        plain = super().peek(address, offset)
        return Handle.of(plain, plain.token, self.record)

    def _result(self, function: str, command: str, variable: int) -> int:
        return result_answer(super()._result(function, command, variable), variable, self.record)

    # --- as a loader finds them ---

    def query(self, name: str | Buffer) -> Value:
        """What the vendor's exported clGetExtensionFunctionAddress answers; 0 for none."""
        address = super().call(QUERY, name)
        assert isinstance(address, Value)
        return address

    def enumerate(self, room: int, platforms: Buffer | None, count: Buffer | None) -> int:
        """clIcdGetPlatformIDsKHR, found by its query. Raises CallFailed where it is not found."""
        address = self.query(ENUMERATE)
        if not address:
            raise CallFailed(f"{QUERY}({ENUMERATE}) answered NULL, expected its address")
        return self.call_at(address, ENUMERATE, room, platforms, count)

    def platforms(self) -> list[Value]:
        """All platforms of the vendor; none of them is in use."""
        room = self.read_with_call(self.buffer(4, 0))
        result = self.enumerate(0, None, room)
        if result and result != CL.PLATFORM_NOT_FOUND_KHR:
            raise CallFailed(f"{ENUMERATE}(0, NULL, &count) answered {result}, expected CL_SUCCESS")
        if result or not (count := room.u32()):
            return []
        listed = self.read_with_call(self._list_of(ENUMERATE, count))
        result = self.enumerate(count, listed, None)
        if result:
            raise CallFailed(f"{ENUMERATE}({count}, platforms, NULL) answered {result} after that count")
        return listed.handles()

    def all_platforms(self) -> list[Value]:
        """The same; makes the case `unsupported` where the vendor has none here, as without its hardware."""
        self.require_gate("cl_platform_id")
        platforms = self.platforms()
        if not platforms:
            raise Unsupported("machine", "this ICD has no platform on this machine")
        return platforms

    def some_platforms(self) -> list[Value]:
        """Those that the run was asked to use; else all."""
        platforms = self.all_platforms()
        chosen = [p for n, p in enumerate(platforms) if self._is_chosen(self.only_platform, n, p)]
        if not chosen:
            raise Unsupported("machine", f"this ICD has no platform {self.only_platform!r} on this machine")
        return chosen

    def _is_chosen(self, which: str, number: int, platform: Value) -> bool:
        if not which or which.isdecimal():
            return not which or int(which) == number
        before, self.platform = self.platform, platform
        name = self.GetPlatformInfo(platform)
        self.platform = before
        return which.lower() in name.lower()

    def require_gate(self, kind: str) -> None:
        """Makes the case `unsupported` where no object of a class can be had at all, which its own check reports."""
        if kind in self.gate:
            raise Unsupported("loader", f"precondition failed: {self.gate[kind]}", "precondition")

    def objects(self, platform: Value) -> IcdObjects:
        """Uses a platform."""
        self.platform = platform
        return IcdObjects(self, platform)

    # --- through the table ---

    def word(self, address: Value, offset: int = 0) -> Value | None:
        """The word there, or None where nothing can be read."""
        try:
            return self.peek(address, offset)
        except CommandError:
            return None

    def table(self, handle: Value) -> Value:
        """The dispatch table of an object. Raises CallFailed where its first word is not a readable address."""
        if problem := self._table_problem(handle):
            raise CallFailed(problem)
        table = self.word(handle)
        assert table is not None
        return table

    def check_table(self, handle: Value) -> None:
        """Asserts that an object begins with the readable address of a dispatch table."""
        if problem := self._table_problem(handle):
            raise AssertionError(problem)

    def _table_problem(self, handle: Value) -> str:
        table = self.word(handle) if handle else None
        if table and self.word(table) is not None:
            return ""
        shown = "unreadable" if table is None else f"{table:#x}"
        return f"the first word of {handle:#x} is {shown}, expected the address of a dispatch table"

    def entry(self, handle: Value, function: str) -> Value:
        """What the table of an object has for a function; 0 for nothing."""
        address = self.word(self.table(handle), 8 * _slot(function))
        if address is None:
            raise CallFailed(f"the table of {handle:#x} ends before the slot of {function}")
        return address

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function of the vendor, as a loader would."""
        if self.platform is None:
            return super().call(function, *arguments)
        if _in_tables(function):
            before = self.calls_made
            try:
                return self._call_through(self._object_of(function, arguments), function, arguments)
            except CommandError:
                if self.calls_made != before:
                    raise
        return self.call_at(self._address(function, arguments), function, *arguments)

    def calls_together(self, calls: Sequence[tuple[Buffer | None, Value | None, str, Sequence[Any]]]) -> list[int]:
        """One after the other: each leads through a table."""
        if self.platform is None:
            return super().calls_together(calls)
        results = []
        for buffer, address, function, arguments in calls:
            if buffer is not None:
                self.read_with_call(buffer)
            call = self.call if address is None else functools.partial(self.call_at, address)
            results.append(call(function, *arguments))
        return results

    def _call_through(self, handle: Value, function: str, arguments: tuple[Any, ...]) -> int:
        """Calls what the table of an object has for a function, in one exchange with all that leads there. Raises
        CommandError, without a call, where something on the way cannot be read or is NULL.
        """
        table, first, entry = range(self._values + 1, self._values + 4)
        self._values = entry
        self.later(f"peek {table} {handle.token} 0")
        self.later(f"peek {first} r{table} 0")
        self.later(f"peek {entry} r{table} {8 * _slot(function)}")
        return self.call_at(Value(0, f"r{entry}"), function, *arguments)

    def count_callback(self, name: str, device: Value) -> None:
        """Counts each call of a callback, such as "clBuildProgram.pfn_notify", from now on: the device is asked there
        for its type, which callbacks may do."""
        query, answer = api().constant("CL_DEVICE_TYPE"), self.buffer(8, 0)
        address = self.entry(device, "clGetDeviceInfo")
        self.when(name, "clGetDeviceInfo", device, query, 8, answer, None, address=address)

    def await_callbacks(self, count: int = 1) -> None:
        """Waits until so many counted calls were made, or nothing can make them any more: see `wait_until`."""
        self.wait_until(lambda: self.callbacks() >= count)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Waits for what callbacks do, which may come from another thread, and after the call returns.

        Ends without it when the time of the case is over, and before that when nothing is under way: no thread but
        the one that answers here has run, or queued for a processor, for IDLE seconds.
        """
        pause, since = 1, time.monotonic()
        did: dict[int, tuple[float, float]] = {}
        while not is_so() and (now := time.monotonic()) < self.deadline - 1:
            does = {thread: times for thread, times in threads_of(self.pid).items() if thread != self.pid}
            if does != did:
                did, since = does, now
            elif now - since > IDLE:
                break
            self.pause(pause)
            self.command("hello")  # says where the process has ended
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _object_of(self, function: str, arguments: tuple[Any, ...]) -> Value:
        """The object whose table a loader takes the function from: the first among the arguments, or the platform."""
        assert self.platform is not None
        for parameter, argument in zip(api().functions[function].parameters, arguments, strict=True):
            first = argument[0] if parameter.kind == "handles" and isinstance(argument, list) else argument
            if parameter.kind in ("handle", "handles") and isinstance(first, Value) and first:
                return first
        return self.platform

    def _address(self, function: str, arguments: tuple[Any, ...]) -> Value:
        """Where a loader calls a function. Raises CallFailed where there is none."""
        address = Value(0, "0")
        if _in_tables(function):
            address = self.entry(self._object_of(function, arguments), function)
        if not address and (more := self.query(ICD2_FUNCTIONS[0])):
            answer = self.call_at(more, ICD2_FUNCTIONS[0], self.platform, function)
            assert isinstance(answer, Value)
            address = answer
        if not address:
            raise Unsupported("loader", f"the dispatch table has no {function}", function)
        return address

    # --- what the vendor is ---

    def is_icd2(self, platform: Value) -> bool:
        """Whether the platform shows any sign of cl_khr_icd 2.0."""
        tags = [self.entry(platform, name) == CL.ICD2_TAG_KHR for name in TAGGED]
        return any(tags) or any(self.query(name) for name in ICD2_FUNCTIONS)

    def version(self, platform: Value) -> tuple[int, int]:
        """The version of OpenCL that a platform reports."""
        self.platform = platform
        text = self.GetPlatformInfo(platform, "CL_PLATFORM_VERSION")
        match = re.match(r"OpenCL (\d+)\.(\d+) ", text + " ")
        if not match:
            raise CallFailed(f"CL_PLATFORM_VERSION is {text!r}, expected OpenCL, a space, and the version")
        return int(match[1]), int(match[2])

    def name_and_version(self) -> tuple[str, str]:
        """What the first platform says of itself: its name, and the first version number after that of OpenCL."""
        platforms = self.platforms()
        if not platforms:
            return "", ""
        self.platform = platforms[0]
        own = self.GetPlatformInfo(platforms[0], "CL_PLATFORM_VERSION").split(" ", 2)[2:]
        return self.GetPlatformInfo(platforms[0]), version_number(" ".join(own))
