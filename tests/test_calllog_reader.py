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
    who: str = "a", kind: str = "call", name: str = "clFinish", thread: int = 1, time: int = 5, **more: object
) -> bytes:
    return json.dumps({"t": time, "th": hex(thread), "who": who, kind: name, **more}).encode() + b"\n"


def written(path: Path, body: bytes, dropped: int = 0, used: int | None = None) -> CallLog:
    """What is read of a log with these bytes in it."""
    reader.create(path, 1 << 16)
    with path.open("r+b") as file:
        file.seek(32)
        file.write(struct.pack("<QQ", len(body) if used is None else used, dropped))
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
        line(args=["0x1", "0xffffffffffffffff"], out={"name": "x"})
        + line(kind="return", result="0xffffffffffffffdf", time=9)
        + line(kind="event", name="loaded"),
    )
    call, returned, event = log
    assert (call.kind, call.name, call.who, call.arguments) == ("call", "clFinish", "a", (1, 2**64 - 1))
    assert call.data["out"] == {"name": "x"}
    assert (returned.kind, returned.result, returned.time) == ("return", 0xFFFFFFFFFFFFFFDF, 9)
    assert (event.kind, event.name) == ("event", "loaded")


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
        + line("b", kind="return", result="0x0")
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
        pytest.param(line()[:30] + b"\0" * 60 + line(), 1, 1, id="written in part, then the next one"),
        pytest.param(line() + b"\0" * 4096, 1, 1, id="never written at the end"),
        pytest.param(b"{}\n" + line(), 1, 1, id="no event"),
        pytest.param(b"[1]\nnull\n7\n" + line(), 1, 3, id="no object"),
        pytest.param(line().replace(b'"t": 5', b'"t": "x"') + line(), 1, 1, id="a time that is not a number"),
        pytest.param(line(args=["zz"]) + line(args=3) + line(), 1, 2, id="arguments that are not addresses"),
        pytest.param(bytes(range(128, 256)) + b"\n" + line(), 1, 1, id="bytes that are not UTF-8"),
        pytest.param(b"[" * 4000 + b"\n" + line(), 1, 1, id="nested without end"),
        pytest.param(b'{"t":' + b"1" * 5000 + b"}\n" + line(), 1, 1, id="longer than any line"),
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
        + line("layer", thread=1, time=2000, args=["0x1"])
        + line("vendor", thread=2, time=3000, kind="event", name="loaded")
        + line("layer", kind="return", time=4000, result="0x0")
        + line("application", kind="return", time=5000),
    )
    events = json.loads(log.chrome_trace())["traceEvents"]
    lanes = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
    assert set(lanes) == {"application", "layer", "vendor"}
    assert len(set(lanes.values())) == 3
    shown = [(e["ph"], e["pid"], e["ts"]) for e in events if e["ph"] != "M"]
    application, layer, vendor = lanes["application"], lanes["layer"], lanes["vendor"]
    assert shown == [("B", application, 1), ("B", layer, 2), ("i", vendor, 3), ("E", layer, 4), ("E", application, 5)]


def test_the_trace_keeps_threads_apart(path: Path) -> None:
    events = json.loads(written(path, line(thread=7) + line(thread=9) + line(thread=7)).chrome_trace())["traceEvents"]
    threads = [e["tid"] for e in events if e["ph"] == "B"]
    assert threads[0] == threads[2] != threads[1]


def test_the_trace_of_hostile_bytes_is_json(path: Path) -> None:
    log = written(path, line(who='"\\\x01\ud800', name="\x1b]0;\u2028", args=["0x1"]))
    assert len(log) == 1
    json.loads(log.chrome_trace().encode())


@pytest.mark.parametrize(
    "body",
    [
        b'{"t":1,"th":"0x1","who":"a","event":"x","list":[1\n2]}\n' + line()[:-1] + b"," + line(),
        line() + b"[\n]\n",
        line() + b'"\n"\n',
        line()[:-1] + b", " + line(),
        line().replace(b"}", b', "in": "text"}') + line(),
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
    for body, names in zip([whole, whole + line(name="third") + b'{"t"', line(name="other")], expected, strict=True):
        with path.open("r+b") as to:
            to.seek(32)
            to.write(struct.pack("<QQ", len(body), 0))
            to.seek(HEADER)
            to.write(body)
        for _ in range(2):
            assert file.read().functions() == names
    file.close()
