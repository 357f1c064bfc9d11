# SPDX-License-Identifier: Apache-2.0
"""The reader of the call log takes any bytes: logs that were written, and mutated in every way, with a fixed seed."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

import pytest

from harness.calllog import reader
from harness.calllog.reader import HEADER

ROUNDS = 400

# What can stand in the place of a value, as JSON has it.
VALUES = [
    "null", "true", "-1", "1e999", "-1e999", "NaN", "0.5", "9" * 3000, "9" * 4400, '""', '"0x"', '"zz"', '"0x1"',
    '"0x' + "f" * 3000 + '"', '"\\ud800"', '"\\u0000\\n"', "[]", "[[]]", '["0x1", 7]', '[null]', "{}", '{"x": {}}',
    "[" * 2000, '{"a":' * 500,
]  # fmt: skip
MEMBERS = ["t", "th", "who", "call", "return", "event", "args", "result", "in", "out", "x"]
NUMBERS = ["c", "x", "", "0", "-1", "7f", "zz", "f" * 17, "f" * 3000, "\\u0000"]


def a_line(rng: random.Random) -> bytes:
    """A line as it is written, or with some parts that are not as they should be."""
    numbers = [rng.choice("cre"), f"{rng.randrange(1 << 40):x}", "0", *rng.choice([[], ["1"], ["1", "7f"]])]
    parts = ["", '"vendor"', '"clFinish"']
    if rng.random() < 0.5:
        members = rng.sample(MEMBERS, rng.randrange(3))
        parts.append("{" + ",".join(f'"{name}":{rng.choice(VALUES)}' for name in members) + "}")
    if rng.random() < 0.3:
        numbers[rng.randrange(len(numbers))] = rng.choice(NUMBERS)
    parts[0] = f'"{" ".join(numbers)}"'
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        parts[rng.randrange(len(parts))] = rng.choice(VALUES)
    return ("[" + ",".join(parts[: rng.choice([4, 4, 4, 4, 3, 2])]) + "]\n").encode()


def an_older_line(rng: random.Random) -> bytes:
    """The same of an older log."""
    kind = rng.choice(["call", "return", "event"])
    members = {"t": str(rng.randrange(1 << 40)), "th": '"0x7f"', "who": '"vendor"', kind: '"clFinish"'}
    if kind == "call":
        members["args"] = '["0x1", "0x2"]'
    elif kind == "return":
        members["result"] = '"0x0"'
    for _ in range(rng.choice([0, 0, 1, 1, 3])):
        members[rng.choice(MEMBERS)] = rng.choice(VALUES)
    for _ in range(rng.choice([0, 0, 0, 1])):
        members.pop(rng.choice(list(members)), None)
    return ("{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members.items()) + "}\n").encode()


def mutated(rng: random.Random, body: bytes) -> bytes:
    """Some bytes of it changed, left out, written twice, or zero."""
    content = bytearray(body)
    for _ in range(rng.choice([0, 1, 2, 8])):
        at, length = rng.randrange(len(content) + 1), rng.randrange(40)
        piece = content[at : at + length]
        put = rng.choice([b"", piece * 2, b"\0" * length, rng.randbytes(length), piece[::-1]])
        content[at : at + length] = put
    return bytes(content)


def write(rng: random.Random, path: Path, body: bytes) -> None:
    """A log with this content, the head of which may say anything."""
    reader.create(path, 1 << 14)
    used = rng.choice([len(body), len(body), 0, 1 << 14, 1 << 40, (1 << 64) - 1])
    with path.open("r+b") as file:
        file.seek(32)
        words = [rng.choice([0, 0, 1, (1 << 64) - 1]) for _ in range(3)]
        file.write(struct.pack("<QQQQ", used, *words))
        file.seek(HEADER)
        file.write(body)
    if rng.random() < 0.1:
        path.write_bytes(mutated(rng, path.read_bytes()[: rng.choice([0, 10, 47, 48, HEADER, HEADER + 100])]))


def use(log: reader.CallLog) -> None:
    """Everything that checks and reports do with a log."""
    log.text().encode()
    json.loads(log.chrome_trace())
    log.tail()
    assert len(log.calls()) + len(log.returns()) + len([e for e in log if e.kind == "event"]) == len(log)
    for name in log.functions():
        log.during(name)
    assert len(log.components()) <= len(log) and log.threads() <= len(log)


@pytest.mark.parametrize("seed", range(8))
def test_any_bytes_are_read(tmp_path: Path, seed: int) -> None:
    """No log, however it came about, raises anything; what is not as it should be counts as torn."""
    rng = random.Random(seed)
    path = tmp_path / "calllog"
    events = torn = 0
    for _ in range(ROUNDS):
        body = mutated(rng, b"".join(rng.choice([a_line, a_line, an_older_line])(rng) for _ in range(rng.randrange(8))))
        write(rng, path, body)
        log = reader.read(path)
        use(log)
        events += len(log)
        torn += log.torn
    assert events > ROUNDS / 2 and torn > ROUNDS / 4, "most of what is read was never written"
