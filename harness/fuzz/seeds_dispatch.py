# SPDX-License-Identifier: Apache-2.0
"""Seeds of the targets that make calls: meaningful inputs, from which minimised corpora are made (fuzz/README.md).

python -m harness.fuzz.seeds_dispatch --out FOLDER     writes FOLDER/dispatch_sequence, FOLDER/layer_negotiation
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

from harness.fuzz import seeds

SLOTS = 150
NULL = 31  # where the object of a call is chosen: none


def calls(slots: range, which: int, shape: int) -> bytes:
    """One call of each function: its slot, the object that it is for, and the shape of the other arguments."""
    return b"".join(bytes([slot, which + (slot % 3 if which != NULL else 0), shape, slot]) for slot in slots)


def halves(which: int, shape: int) -> Iterator[bytes]:
    """Two inputs that call the functions of the first and of the second half of the slots."""
    yield calls(range(SLOTS // 2), which, shape)
    yield calls(range(SLOTS // 2, SLOTS), which, shape)


def dispatch_sequence() -> Iterator[bytes]:
    """Vendors and layers, then a call of each function: on objects of each vendor, and with NULL."""
    icd1, icd2, three, mixed = bytes([0, 0]), bytes([4, 0]), bytes([2, 0, 0, 0]), bytes([10, 0, 0, 0])
    short, holes = bytes([0, 0x40, 20]), bytes([0, 0x87, *range(66, 73)])
    holes2 = bytes([4, 0x87, 6, 30, 47, 66, 74, 100, 149])
    for vendors in ([icd1], [icd1, icd2], [icd1, icd2, icd1], [three, mixed], [short, icd2], [holes, holes2]):
        for layers in (b"", b"\0", b"\0\1\x80\3\2\x0a\x2e\x40", b"\0\0\0"):
            count = {b"": 0, b"\0": 1, b"\0\0\0": 3}.get(layers, 3)
            head = bytes([len(vendors) << 4 | count]) + b"".join(vendors) + layers
            for part in halves(0, len(head)):
                yield head + part
    for count in range(4):
        for part in halves(NULL, 7):
            yield bytes([0x10 | count]) + icd1 + bytes(count) + part


def layer(
    hidden: int = 0,
    answers: int = 0,
    rest: bytes = b"\0\0\0",
    length: bytes = b"\0",
    missing: bytes = b"\0",
    own: bytes = b"\0",
    inside: int = 0,
) -> bytes:
    """One layer as layer_negotiation reads it."""
    return bytes([hidden, answers]) + rest + length + missing + own + bytes([inside])


def layer_negotiation() -> Iterator[bytes]:
    """Lists of layers, what each answers, and calls through the chain."""
    plain = layer()
    some = itertools.cycle(calls(range(start, SLOTS, 10), 0, 9) for start in range(10))
    inside = calls(range(1, 9), 0, 3)
    lists = {0: b"", 1: b"\0", 3: b"\0\1\2", 4: b"\2\0\1\0", 5: b"\0\xc6\1\xc7\2", 6: b"\xc8\x40\x41\xc9\x0a\2\xca"}
    odd = [
        layer(hidden=0x07),
        layer(hidden=0x18),
        layer(hidden=0x60),
        layer(hidden=0x80),
        layer(answers=0x07),
        layer(answers=0x78),
        layer(answers=0x60),
        layer(answers=0x50),
        layer(answers=0x80),
        layer(rest=b"\7\1\0\0"),
        layer(rest=b"\0\7\1\0\0\0\0"),
        layer(rest=b"\0\0\3\1"),
        layer(answers=8, rest=b"\0\0\3\2"),
        layer(length=b"\1\x40"),
        layer(length=b"\2\1"),
        layer(length=b"\2\3"),
        layer(length=b"\3\x14"),
        layer(missing=b"\2\3\x2e\x2f\3"),
        layer(missing=b"\1\2\x2e\3"),
        layer(own=b"\2\2\x2e\3"),
        layer(inside=3),
        layer(inside=0x0C),
    ]
    for count, items in lists.items():
        yield bytes([1, count]) + items + b"\0" + 3 * plain + next(some)
        yield bytes([0x41, count]) + items + b"\x0b\0\2\0\0\2\0\0\0" + 3 * plain + next(some)
        yield bytes([0x19, count]) + items + b"\0" + 3 * plain + next(some)
    for one in odd:
        for at in range(3):
            chain = [plain, plain, plain]
            chain[at] = one
            yield bytes([1, 3]) + lists[3] + b"\0" + b"".join(chain) + inside + next(some)
        yield bytes([0x41, 4]) + lists[4] + b"\0" + plain + one + plain + inside + next(some)


if __name__ == "__main__":
    sys.exit(seeds.main("harness.fuzz.seeds_dispatch", __doc__, (dispatch_sequence, layer_negotiation), sys.argv[1:]))
