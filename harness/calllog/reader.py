# SPDX-License-Identifier: Apache-2.0
"""Reads call logs, and gives matchers that read well in a check.

log = sandbox.log
assert log.calls("clGetPlatformIDs", by="application")
assert log.of("vendor_a").functions() == ["clIcdGetPlatformIDsKHR", ...]
"""

from __future__ import annotations

import functools
import json
import os
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from json.scanner import make_scanner
from pathlib import Path
from typing import Any, cast

from harness.api import wording
from harness.api.codes import code_of_word
from harness.untrusted import open_regular

HEADER = 4096
LINE = 4096  # bytes of a line at most, as in calllog.h
MAGIC = b"clharness call log 2\n"
MAGIC_OF_OBJECTS = b"clharness call log 1\n"  # as kept reproducers have it: each line is an object
DEFAULT_SIZE = 8 << 20
MAX_SIZE = 1 << 30

_HEAD = struct.Struct("<32sQQQQ")  # magic, bytes reserved, lines dropped, start, thread: as in calllog.c
_KINDS = {"c": "call", "r": "return", "e": "event"}
MAX_DEPTH = 64  # of lists and objects in each other in a line; components write far fewer

_NULS = re.compile(rb"\0+")
_decoder = json.JSONDecoder()
_scan: Callable[[str, int], tuple[Any, int]] = make_scanner(cast(Any, _decoder))


def _one_line(name: str) -> str:
    """A name as it can be shown: without control characters that would make it look like something else."""
    return name if name.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"0x[0-9a-f]{1,16}", value) is not None


def _in_words(function: str, seen: Any) -> Any:
    """What pointers pointed to, with error codes and the names of properties in the place of numbers."""
    if not isinstance(seen, dict):
        return seen
    shown: dict[str, Any] = {}
    for name, value in seen.items():
        if name == "errcode_ret" and _is_word(value):
            value = str(code_of_word(int(value, 16)))
        elif isinstance(value, list) and all(map(_is_word, value)):
            value = wording.properties(function, name, value)
        shown[name] = value
    return shown


class NotLogged(AssertionError, IndexError):
    """A check takes what is not in a log: a component was not called as the check expects, or not with such a value."""


class Line(dict[str, Any]):
    """What a line says. Raises NotLogged for what it does not say."""

    def __missing__(self, key: str) -> Any:
        raise NotLogged(f"{key} is not in what was logged: {_one_line(json.dumps(self))}")


class Event:
    """One line of the log.

    `kind` is "call" (entry of a function), "return", or "event" (loaded, unloaded, fault, foreign handle, …).
    `arguments` are the raw 64-bit values; `data` holds the members of the line, for what pointers pointed to ("in",
    "out").
    `time` is in nanoseconds of the monotonic clock.
    """

    __slots__ = ("_line", "arguments", "kind", "name", "result", "thread", "time", "who")

    # Not a dataclass, and no Line before it is asked for: logs have thousands, and few are looked at.
    def __init__(
        self,
        time: int,
        thread: int,
        who: str,
        kind: str,
        name: str,
        arguments: tuple[int, ...] = (),
        result: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        self.time, self.thread, self.who, self.kind, self.name = time, thread, who, kind, name
        self.arguments, self.result = arguments, result
        self._line: dict[str, Any] = {} if data is None else data

    @property
    def data(self) -> Line:
        """What the line says."""
        line = self._line
        if not isinstance(line, Line):
            pointed = {key: Line(line[key]) for key in ("in", "out") if key in line}
            line = self._line = Line(line | pointed)
        return line

    def _key(self) -> tuple[object, ...]:
        return self.time, self.thread, self.who, self.kind, self.name, self.arguments, self.result

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        names = ("time", "thread", "who", "kind", "name", "arguments", "result", "data")
        return f"Event({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def __str__(self) -> str:
        shown = _one_line(self.name)
        if self.kind == "call":
            shown += f"({', '.join(wording.arguments(self.name, self.arguments))})"
        elif self.kind == "return":
            shown += f" = {wording.result(self.name, self.result)}"
        extra = {k: _in_words(self.name, v) for k, v in self.data.items() if v != {}}
        return f"{_one_line(self.who):>12} | {shown}" + (f"  {json.dumps(extra)}" if extra else "")


class CallLog(Sequence[Event]):
    """The events of one case in order; every narrowing method gives a CallLog again."""

    def __init__(self, events: Sequence[Event], dropped: int = 0, torn: int = 0, what: str = "its events") -> None:
        """`what` are the events, for messages."""
        self.events = list(events)
        self.dropped = dropped
        self.torn = torn
        self.what = what

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, index: Any) -> Any:
        """Raises NotLogged where there are too few."""
        try:
            return self.events[index]
        except IndexError:
            raise NotLogged(f"the log has {len(self.events)} of {self.what}, not that of index {index}") from None

    @property
    def only(self) -> Event:
        """The event, where there is one. Raises NotLogged where there are others or none."""
        if len(self.events) != 1:
            raise NotLogged(f"the log has {len(self.events)} of {self.what}, expected one")
        return self.events[0]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def _where(self, keep: Callable[[Event], bool], what: str, by: str | None) -> CallLog:
        what += f" by {by}" if by else ""
        return CallLog([e for e in self.events if keep(e)], self.dropped, self.torn, what)

    def of(self, who: str) -> CallLog:
        """Events of one component."""
        return self._where(lambda e: e.who == who, "the events", who)

    def calls(self, name: str | None = None, by: str | None = None) -> CallLog:
        """Entries into functions: of that name, logged by that component."""
        what = f"the calls of {name or 'all functions'}"
        return self._where(lambda e: e.kind == "call" and name in (None, e.name) and by in (None, e.who), what, by)

    def returns(self, name: str | None = None, by: str | None = None) -> CallLog:
        """Returns from functions."""
        what = f"the returns of {name or 'all functions'}"
        return self._where(lambda e: e.kind == "return" and name in (None, e.name) and by in (None, e.who), what, by)

    def happened(self, name: str, by: str | None = None) -> CallLog:
        """Events that are not calls: loaded, unloaded, foreign handle, …"""
        what = f'the events "{name}"'
        return self._where(lambda e: e.kind == "event" and e.name == name and by in (None, e.who), what, by)

    def functions(self) -> list[str]:
        """Names of the functions called, in order."""
        return [e.name for e in self.events if e.kind == "call"]

    def during(self, name: str) -> list[CallLog]:
        """One log for each call of a function by the application: from its entry to its return (or to the end)."""
        logs: list[CallLog] = []
        inside: list[Event] | None = None
        for e in self.events:
            own = e.who == "application" and e.name == name
            if own and e.kind == "call":
                inside = []
                logs.append(CallLog(inside, self.dropped, self.torn))
            if inside is not None:
                logs[-1].events.append(e)
            if own and e.kind == "return":
                inside = None
        return logs

    def components(self) -> list[str]:
        """Names of the components that logged, in order of their first event."""
        return list(dict.fromkeys(e.who for e in self.events))

    def threads(self) -> int:
        """Number of different threads that logged."""
        return len({e.thread for e in self.events})

    def tail(self, count: int = 25) -> list[str]:
        """The last events as text: the slice that a failure shows."""
        return [str(e) for e in self.events[-count:]]

    def text(self) -> str:
        """The whole log as text, one line per event."""
        return "\n".join(str(e) for e in self.events)

    def chrome_trace(self) -> str:
        """Trace JSON for Perfetto or chrome://tracing, one lane per component, nested per thread."""
        lanes = {who: i for i, who in enumerate(self.components())}
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": lane, "tid": 0, "args": {"name": who}}
            for who, lane in lanes.items()
        ]
        threads: dict[int, int] = {}
        for e in self.events:
            place = {
                "pid": lanes[e.who],
                "tid": threads.setdefault(e.thread, len(threads)),
                "ts": e.time / 1000,
            }
            phase = {"call": "B", "return": "E"}.get(e.kind, "i")
            numbers: dict[str, Any] = {"args": [hex(word) for word in e.arguments]} if e.arguments else {}
            numbers |= {"result": hex(e.result)} if e.result is not None else {}
            events.append({"ph": phase, "name": e.name, **place, "args": numbers | e.data})
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})


def create(path: Path, size: int = DEFAULT_SIZE) -> None:
    """Makes an empty log file that components can map; `size` bounds the lines in bytes (the file is sparse)."""
    with path.open("wb") as file:
        file.write(MAGIC.ljust(32, b"\0"))
        file.truncate(HEADER + size)


def _time(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("no nanoseconds")
    return value


def _number(text: str) -> int:
    """A 64-bit number, hexadecimal."""
    number = int(text, 16)
    if not 0 <= number < 1 << 64:
        raise ValueError("more than 64 bits")
    return number


_word = functools.lru_cache(maxsize=4096)(_number)  # threads, objects and NULL come again in every other line


# Stands between lines that are read at once, so that none can go over into the next. Nobody can know it before.
_BETWEEN = os.urandom(8).hex()


def _is_deep(line: bytes) -> bool:
    """Whether a line has lists and objects in each other to no end, which could be read, and then not be shown."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    depth = deepest = 0
    for byte in line:
        depth += (byte in b"[{") - (byte in b"]}")
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


class _Lines:
    """Reads the lines of a log, whose header has what their times and threads are relative to."""

    def __init__(self, start: int = 0, thread: int = 0) -> None:
        self._start = start
        self._thread = thread

    def event(self, line: bytes) -> Event | None:
        """The event of a line; None where it is not one."""
        if len(line) > LINE or line[:1] not in (b"[", b"{") or _is_deep(line):
            return None
        try:
            return self._event_of(_decoder.decode(line.decode(errors="surrogatepass")))
        except (ValueError, RecursionError):
            return None

    def events(self, lines: list[bytes]) -> list[Event] | None:
        """The events of whole lines, read at once, which takes half the time; None where any of them is not one."""
        if not lines or len(max(lines, key=len)) > LINE or any(map(_is_deep, lines)):
            return None
        try:
            text = f',"{_BETWEEN}",'.encode().join(lines).decode(errors="surrogatepass")
            data, end = _scan(f"[{text}]", 0)
        except (ValueError, StopIteration, RecursionError):
            return None
        if len(data) != 2 * len(lines) - 1 or data[1::2].count(_BETWEEN) != len(lines) - 1 or end != len(text) + 2:
            return None
        events = [event for event in map(self._event_of, data[::2]) if event is not None]
        return events if len(events) == len(lines) else None

    def _event_of(self, data: Any) -> Event | None:
        try:
            event = self._of_list(data) if type(data) is list else _of_object(data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        members = event._line
        for pointed in ("in", "out"):
            if pointed in members and type(members[pointed]) is not dict:
                return None
        return event

    def _of_list(self, data: list[Any]) -> Event:
        numbers, who, name, members = data if len(data) == 4 else (*data, {})
        if type(who) is not str or type(name) is not str or type(members) is not dict:
            raise TypeError("no names and members")
        letter, time, thread, *words = numbers.split(" ")
        kind = _KINDS[letter]
        values = tuple(map(_word, words))
        result = None
        if kind == "return":
            if len(values) > 1:
                raise ValueError("more than one result")
            result, values = (values[0] if values else None), ()
        return Event(
            (self._start + _number(time)) % (1 << 64),
            _word(thread) ^ self._thread,
            who,
            kind,
            name,
            values,
            result,
            members,
        )


def _of_object(data: Any) -> Event:
    """The event of a line as they were first written."""
    kind = "call" if "call" in data else "return" if "return" in data else "event"
    if type(data["who"]) is not str or type(data[kind]) is not str:
        raise TypeError("no names")
    known = ("t", "th", "who", kind, "args", "result")
    return Event(
        _time(data["t"]),
        _word(data["th"]),
        data["who"],
        kind,
        data[kind],
        tuple(map(_word, data.get("args", ()))),
        _word(data["result"]) if "result" in data else None,
        {key: value for key, value in data.items() if key not in known},
    )


def dropped(path: Path) -> int:
    """Number of lines that did not fit into a log, without reading the others."""
    with path.open("rb") as file:
        return int(struct.unpack_from("<QQ", file.read(48), 32)[1])


def read(path: Path) -> CallLog:
    """Reads a log; nothing in it is trusted: lines that a dying process left unfinished are counted as `torn`."""
    try:
        descriptor = open_regular(path)
    except OSError:
        return CallLog([])
    try:
        return _read(descriptor)
    finally:
        os.close(descriptor)


class _Before:
    """What of a log was read before, as far as its lines were whole: they are not read again."""

    def __init__(self) -> None:
        self.body = b""
        self.events: list[Event] = []


def _read(descriptor: int, before: _Before | None = None, size: int = MAX_SIZE) -> CallLog:
    """`size` is how many bytes of lines there can be at most."""
    head = os.pread(descriptor, _HEAD.size, 0)
    if not head.startswith((MAGIC, MAGIC_OF_OBJECTS)) or len(head) < _HEAD.size:
        return CallLog([], torn=1)
    _, used, lost, start, thread = _HEAD.unpack(head)
    reading = _Lines(start, thread)
    body = os.pread(descriptor, min(used, size, os.fstat(descriptor).st_size), HEADER)
    if lost:
        body = body.rstrip(b"\0")  # what a line reserved that did not fit
    known = before if before is not None and body.startswith(before.body) else _Before()
    *lines, rest = body[len(known.body) :].split(b"\n")
    if rest == b"" and (events := reading.events(lines)) is not None:
        events = known.events + events
        if before is not None:
            before.body, before.events = body, events
        return CallLog(events, lost)
    events, torn = list(known.events), 0
    for line in (*lines, rest):
        # NULs: reserved by a process that died before it wrote, or while it did
        for number, part in enumerate(_NULS.split(line) if b"\0" in line else (line,)):
            event = reading.event(part)
            if event is not None:
                events.append(event)
            elif part or (number == 0 and line):
                torn += 1
    return CallLog(events, lost, torn)


class LogFile:
    """The log of one case. It is read through a descriptor of its own, whatever a subject does to its name."""

    def __init__(self, path: Path, size: int = DEFAULT_SIZE) -> None:
        self.path = path
        create(path, size)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._size = HEADER + size
        self._before = _Before()
        path.chmod(0o666)

    def close(self) -> None:
        """Closes the file; read() then gives an empty log. Can be called again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._before = _Before()  # what was read takes memory, and records outlive sandboxes

    def read(self) -> CallLog:
        """The calls that were logged up to now; an empty log after close()."""
        return _read(self._descriptor, self._before, self._size - HEADER) if self._descriptor >= 0 else CallLog([])

    def problem(self, log: CallLog, calls: int, at_rest: bool) -> str:
        """What shows that a log does not hold all that happened, or "".

        `calls` came back to the application, which logged each of them. At rest, all processes ended in order; then
        every thread but the last may have been ended while it wrote.
        """
        own = os.fstat(self._descriptor)
        try:
            there = os.lstat(self.path)
        except OSError:
            return "its file was removed"
        if (own.st_dev, own.st_ino) != (there.st_dev, there.st_ino):
            return "another file took the place of its own"
        if own.st_size != self._size:
            return f"its file has {own.st_size} bytes, expected {self._size}"
        if log.dropped:
            return f"{log.dropped} lines did not fit"
        logged = sum(event.kind == "call" and event.who == "application" for event in log)
        if logged < calls:
            return f"{logged} calls of the application are in it, expected {calls} or more"
        return f"{log.torn} lines cannot be read" if at_rest and log.torn >= max(log.threads(), 1) else ""
