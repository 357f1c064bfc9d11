# SPDX-License-Identifier: Apache-2.0
"""The reader of the call log: nothing in a log is trusted, and nothing that was written is lost."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.calllog import reader
from harness.calllog.reader import HEADER, MAGIC, CallLog, NotLogged
from harness.run.cases import verdict_of


def line(
    who: str = "a",
    kind: str = "call",
    name: str = "clFinish",
    values: str = "",
    thread: int = 1,
    time: int = 5,
    **members: object,
) -> bytes:
    """A line as calllog.h has it; `values` are its arguments or the result."""
    numbers = f"{kind[0]} {time:x} {thread:x} {values}".rstrip()
    return json.dumps([numbers, who, name, *([members] if members else [])]).encode() + b"\n"


def written(
    path: Path, body: bytes, dropped: int = 0, used: int | None = None, start: int = 0, thread: int = 0
) -> CallLog:
    """What is read of a log with these bytes in it."""
    reader.create(path, 1 << 16)
    with path.open("r+b") as file:
        file.seek(32)
        file.write(struct.pack("<QQQQ", len(body) if used is None else used, dropped, start, thread))
        file.seek(HEADER)
        file.write(body)
    return reader.read(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calllog"


def test_a_new_log_is_empty(path: Path) -> None:
    reader.create(path)
    log = reader.read(path)
    assert (len(log), log.dropped, log.torn, log.text()) == (0, 0, 0, "")


def test_events_have_what_was_written(path: Path) -> None:
    log = written(
        path,
        line(values="1 ffffffffffffffff", out={"name": "x"})
        + line(kind="return", values="ffffffffffffffdf", time=9)
        + line(kind="return", name="clSVMFree")
        + line(kind="event", name="loaded")
        + line(kind="event", name="callback", values="7"),
    )
    call, returned, void, event, callback = log
    assert (call.kind, call.name, call.who, call.arguments) == ("call", "clFinish", "a", (1, 2**64 - 1))
    assert call.data["out"] == {"name": "x"}
    assert (returned.kind, returned.result, returned.time) == ("return", 0xFFFFFFFFFFFFFFDF, 9)
    assert (void.kind, void.result, void.arguments) == ("return", None, ())
    assert (event.kind, event.name, event.arguments) == ("event", "loaded", ())
    assert (callback.arguments, callback.result) == ((7,), None)


def test_times_and_threads_are_relative_to_the_header(path: Path) -> None:
    log = written(path, line(time=5, thread=0) + line(time=2**64 - 1, thread=0x30), start=1000, thread=0x7F10)
    assert [(event.time, event.thread) for event in log] == [(1005, 0x7F10), (999, 0x7F20)]


def test_logs_of_kept_reproducers_are_read(path: Path) -> None:
    """Each of their lines is an object, and absolute, whatever stands beside it."""
    older = [
        {"t": 5, "th": "0x1", "who": "a", "call": "clFinish", "args": ["0x1", "0x2"], "in": {"name": "x"}},
        {"t": 9, "th": "0x1", "who": "a", "return": "clFinish", "result": "0xff"},
        {"t": 9, "th": "0x1", "who": "a", "event": "loaded", "detail": "x"},
        {"t": 9, "th": "0x1", "who": "a", "event": "loaded", "in": "text"},
        {"t": -1, "th": "0x1", "who": "a", "event": "loaded"},
    ]
    body = b"".join(json.dumps(each).encode() + b"\n" for each in older) + line(time=1, thread=0)
    log = written(path, body, start=100, thread=0x7F)
    with path.open("r+b") as file:
        file.write(b"clharness call log 1\n")
    for same in (log, reader.read(path)):
        call, returned, event, newer = same
        assert (call.time, call.thread, call.arguments, call.data) == (5, 1, (1, 2), {"in": {"name": "x"}})
        assert (returned.kind, returned.result, returned.data) == ("return", 255, {})
        assert (event.kind, event.name, event.data) == ("event", "loaded", {"detail": "x"})
        assert (newer.time, newer.thread, same.torn) == (101, 0x7F, 2)


@pytest.mark.parametrize(
    ("take", "says"),
    [
        (
            lambda log: log.calls("clFlush", by="a")[0],
            "the log has 0 of the calls of clFlush by a, not that of index 0",
        ),
        (lambda log: log.calls("clFinish").only, "the log has 2 of the calls of clFinish, expected one"),
        (lambda log: log.happened("loaded").only, 'the log has 0 of the events "loaded", expected one'),
        (lambda log: log.returns()[-1], "the log has 0 of the returns of all functions, not that of index -1"),
        (lambda log: log[1].data["size"], "size is not in what was logged: "),
        (lambda log: log[0].data["out"]["size"], 'size is not in what was logged: {"name": "x"}'),
    ],
)
def test_what_is_not_there_fails_a_check(path: Path, take: Callable[[CallLog], object], says: str) -> None:
    """A subject that did not do it is wrong, and not the harness."""
    log = written(path, line(out={"name": "x"}) + line())
    with pytest.raises(NotLogged) as caught:
        take(log)
    assert str(caught.value).startswith(says)
    assert verdict_of(caught.value)[0] == "fail"


def test_narrowing_reads_well(path: Path) -> None:
    log = written(
        path,
        line("application", name="clFlush")
        + line("b")
        + line("b", kind="return", values="0")
        + line("b", "event", "loaded"),
    )
    assert log.of("b").functions() == ["clFinish"]
    assert len(log.calls("clFlush", by="application")) == 1
    assert not log.calls("clFlush", by="b")
    assert len(log.returns("clFinish")) == 1
    assert len(log.happened("loaded", by="b")) == 1
    assert log.components() == ["application", "b"]


@pytest.mark.parametrize(
    ("body", "events", "torn"),
    [
        pytest.param(line() + line()[:20], 1, 1, id="cut off at the end"),
        pytest.param(line() + b"\0" * 90 + line(), 2, 1, id="reserved and never written"),
        pytest.param(line()[:15] + b"\0" * 60 + line(), 1, 1, id="written in part, then the next one"),
        pytest.param(line() + b"\0" * 4096, 1, 1, id="never written at the end"),
        pytest.param(b"{}\n" + line(), 1, 1, id="no event"),
        pytest.param(b"[1]\nnull\n7\n" + line(), 1, 3, id="no line"),
        pytest.param(line().replace(b"c 5", b"c x") + line(), 1, 1, id="a time that is not a number"),
        pytest.param(line(time=1 << 64) + line(), 1, 1, id="a time of more than 64 bits"),
        pytest.param(line().replace(b"c 5", b"x 5") + line(), 1, 1, id="a kind that there is not"),
        pytest.param(line().replace(b" 5 1", b" 5") + line(), 1, 1, id="no thread"),
        pytest.param(line().replace(b'"a"', b"7") + line(), 1, 1, id="a component without a name"),
        pytest.param(line(values="zz") + line(values="1" * 17) + line(), 1, 2, id="arguments that are not addresses"),
        pytest.param(line(kind="return", values="1 2") + line(), 1, 1, id="two results"),
        pytest.param(line(x=1).replace(b"}]", b"},{}]") + line(), 1, 1, id="members twice"),
        pytest.param(line(x=1).replace(b'{"x": 1}', b'"x"') + line(), 1, 1, id="members that are not an object"),
        pytest.param(bytes(range(128, 256)) + b"\n" + line(), 1, 1, id="bytes that are not UTF-8"),
        pytest.param(b"[" * 4000 + b"\n" + line(), 1, 1, id="nested without end"),
        pytest.param(line(x="1" * 5000) + line(), 1, 1, id="longer than any line"),
    ],
)
def test_torn_lines_are_counted_and_cost_no_other_line(path: Path, body: bytes, events: int, torn: int) -> None:
    log = written(path, body)
    assert (len(log), log.torn) == (events, torn)


def test_lines_that_did_not_fit_are_counted_as_dropped(path: Path) -> None:
    log = written(path, line() + b"\0" * 50, dropped=7, used=1 << 40)
    assert (len(log), log.dropped, log.torn) == (1, 7, 0)
    assert reader.dropped(path) == 7


def test_narrowed_logs_know_of_the_loss(path: Path) -> None:
    log = written(path, line() + b"x\n", dropped=2).of("a")
    assert (log.dropped, log.torn) == (2, 1)


@pytest.mark.parametrize("content", [b"", b"x" * 8192, MAGIC[:10], MAGIC, b"\x7fELF" + b"\0" * 60])
def test_what_is_no_log_gives_no_events(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert len(reader.read(path)) == 0


def test_a_missing_log_gives_no_events(path: Path) -> None:
    assert len(reader.read(path)) == 0


def test_hostile_names_stay_in_their_line(path: Path) -> None:
    """A name with newlines or an escape sequence does not look like another event in the text form."""
    log = written(path, line(who="a", name="clFinish\nb | clFlush()\x1b[2J") + line())
    assert len(log.text().splitlines()) == 2
    assert "\x1b" not in log.text()


# --- the trace for Perfetto ---


def test_the_trace_has_a_lane_for_each_component(path: Path) -> None:
    log = written(
        path,
        line("application", time=1000)
        + line("layer", thread=1, time=2000, values="1")
        + line("vendor", thread=2, time=3000, kind="event", name="loaded")
        + line("layer", kind="return", time=4000, values="0", out={"size": "0x8"})
        + line("application", kind="return", time=5000),
    )
    events = json.loads(log.chrome_trace())["traceEvents"]
    lanes = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
    assert set(lanes) == {"application", "layer", "vendor"}
    assert len(set(lanes.values())) == 3
    shown = [(e["ph"], e["pid"], e["ts"]) for e in events if e["ph"] != "M"]
    details = [e["args"] for e in events if e["ph"] != "M"]
    assert details == [{}, {"args": ["0x1"]}, {}, {"result": "0x0", "out": {"size": "0x8"}}, {}]
    application, layer, vendor = lanes["application"], lanes["layer"], lanes["vendor"]
    assert shown == [("B", application, 1), ("B", layer, 2), ("i", vendor, 3), ("E", layer, 4), ("E", application, 5)]


def test_the_trace_keeps_threads_apart(path: Path) -> None:
    events = json.loads(written(path, line(thread=7) + line(thread=9) + line(thread=7)).chrome_trace())["traceEvents"]
    threads = [e["tid"] for e in events if e["ph"] == "B"]
    assert threads[0] == threads[2] != threads[1]


def test_the_trace_of_hostile_bytes_is_json(path: Path) -> None:
    log = written(path, line(who='"\\\x01\ud800', name="\x1b]0;\u2028", values="1"))
    assert len(log) == 1
    json.loads(log.chrome_trace().encode())


@pytest.mark.parametrize(
    "body",
    [
        b'["e 1 1","a","x",{"list":[1\n2]}]\n' + line()[:-1] + b"," + line(),
        line() + b"[\n]\n",
        line() + b'"\n"\n',
        line()[:-1] + b", " + line(),
        line(x="text").replace(b'"x"', b'"in"') + line(),
    ],
    ids=["a list goes on in the next", "brackets", "quotes", "two in one", "a text in the place of an object"],
)
def test_lines_are_read_each_by_itself(path: Path, body: bytes) -> None:
    """What is no line alone is none together with its neighbour, and those beside it are read."""
    log = written(path, line(name="before") + body + line(name="after"))
    assert log.torn > 0 and log.torn + len(log) - 2 == body.count(b"\n")
    assert (log[0].name, log[-1].name) == ("before", "after")


def test_a_log_that_is_read_while_it_grows_is_the_same(path: Path) -> None:
    """What was read before is not read again; what was written over is."""
    whole = line(name="first") + line(name="second", out={"name": "x"})
    file = reader.LogFile(path, 1 << 16)
    expected = [["first", "second"], ["first", "second", "third"], ["other"]]
    for body, names in zip([whole, whole + line(name="third") + b'["c', line(name="other")], expected, strict=True):
        with path.open("r+b") as to:
            to.seek(32)
            to.write(struct.pack("<QQ", len(body), 0))
            to.seek(HEADER)
            to.write(body)
        for _ in range(2):
            assert file.read().functions() == names
    file.close()


@pytest.mark.parametrize("depth", [100, *range(900, 1000, 3)])
@pytest.mark.parametrize(
    "text",
    [
        '["c 1 1","a","clFinish",{"z":%s}]',
        '{"t":1,"th":"0x1","who":"a","event":%s}',
        '{"t":1,"th":"0x1","who":%s,"event":"e"}',
    ],
    ids=["member", "name", "component"],
)
def test_lists_in_each_other_to_no_end_are_no_event(path: Path, text: str, depth: int) -> None:
    """Such a line could be read, and end the one who shows it."""
    log = written(path, (text % ("[" * depth + "]" * depth)).encode() + b"\n" + line())
    assert (len(log), log.torn) == (1, 1)


def test_many_lists_beside_each_other_are_an_event(path: Path) -> None:
    log = written(path, line(lists=[[]] * 200))
    assert (len(log), log.torn) == (1, 0)
    assert log.text()


def test_a_file_that_a_subject_made_longer_is_read_as_far_as_it_was(path: Path) -> None:
    file = reader.LogFile(path, 1 << 12)
    body = line()
    with path.open("r+b") as opened:
        opened.truncate(1 << 20)
        opened.seek(32)
        opened.write(struct.pack("<QQQQ", 1 << 20, 0, 0, 0))
        opened.seek(HEADER)
        opened.write(body * ((1 << 20) // len(body)))
    assert len(file.read()) == (1 << 12) // len(body)
    file.close()
