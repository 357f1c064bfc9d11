# SPDX-License-Identifier: Apache-2.0
"""The error of each function for a property list that is wrong in one thing (PL-GEN-015, and by function)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    BUFFER,
    CL,
    CONTEXT,
    FROM_TYPE,
    IMAGE,
    MEMORY,
    QUEUE,
    QUEUES,
    SAMPLER,
    Creator,
    Icd,
    Parts,
    Sandbox,
    Unsupported,
    creators_of,
    requirement,
    shown,
)

OWN = {
    CONTEXT: "PL-CTX-001",
    FROM_TYPE: "PL-CTX-001",
    BUFFER: "PL-MEM-001",
    IMAGE: "PL-MEM-001",
    SAMPLER: "PL-SMP-001",
}
# Names of nothing, and of properties of other functions.
UNKNOWN = [1, 0x7777, 0x7FFF_FFFF, (1 << 64) - 1]
OTHERS = [CL.CONTEXT_INTEROP_USER_SYNC, CL.QUEUE_PROPERTIES, CL.SAMPLER_FILTER_MODE]


def functions(memory: str = "PL-MEM-001") -> list[Any]:
    """The functions for whose lists errors are named, with their requirements."""
    own = OWN | dict.fromkeys(MEMORY, memory)
    return [pytest.param(f, marks=pytest.mark.requirement("PL-GEN-015", own[f]), id=f) for f in OWN]


@pytest.mark.parametrize("function", functions())
def test_unknown_property_is_refused_at_every_place(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A name that the function does not know is refused, whatever its value, alone, before and after known ones."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function):
            own = [name for name, _ in (*creator.valid_pairs(), *creator.valid_zero_pairs())]
            for name in [*UNKNOWN, *(name for name in OTHERS if name not in own)]:
                unknown = (name, 1)
                for pairs in ([unknown], [(name, 0)], [*creator.pairs(), unknown], [unknown, *creator.pairs()]):
                    with parts(shown(pairs)):
                        creator.expect_refused(pairs, creator.refusal)


@pytest.mark.parametrize("function", functions(memory="PL-MEM-002"))
def test_repeated_property_is_refused(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A name that comes twice is refused: with the same value and another one, at once and later.

    Buffers have a property with cl_ext_buffer_device_address only, images have none: there an unknown name comes twice.
    """
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function):
            known = creator.pairs()
            if not creator.valid_pairs():
                known = [(0x7777, 1)]
            for pair in known:
                others = [other for other in known if other != pair]
                for pairs in ([pair, pair], [pair, *others, pair], [*others, pair, pair]):
                    with parts(shown(pairs)):
                        creator.expect_refused(pairs, creator.refusal)
            for zero in creator.zero_pairs():
                with parts(shown([zero, (zero[0], 1)])):
                    creator.expect_refused([zero, (zero[0], 1)], creator.refusal)
                with parts(shown([(zero[0], 1), zero])):
                    creator.expect_refused([(zero[0], 1), zero], creator.refusal)


BAD = {
    CONTEXT: [(CL.CONTEXT_INTEROP_USER_SYNC, 2), (CL.CONTEXT_INTEROP_USER_SYNC, 0x7777)],
    FROM_TYPE: [(CL.CONTEXT_INTEROP_USER_SYNC, 2), (CL.CONTEXT_INTEROP_USER_SYNC, 0x7777)],
    SAMPLER: [
        (CL.SAMPLER_FILTER_MODE, 0),
        (CL.SAMPLER_FILTER_MODE, 0x7777),
        (CL.SAMPLER_ADDRESSING_MODE, 0),
        (CL.SAMPLER_ADDRESSING_MODE, CL.SAMPLER_FILTER_MODE),
        (CL.SAMPLER_NORMALIZED_COORDS, 2),
    ],
}


def bad_pairs(creator: Creator, good: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Bad values for the names of some properties with good ones."""
    return [pair for pair in BAD[creator.function] if pair[0] in [name for name, _ in good]]


def limited(creator: Creator) -> None:
    valid = [*creator.valid_pairs(), *creator.valid_zero_pairs()]
    if not bad_pairs(creator, valid):
        raise Unsupported("loader", "no property here has limited values", creator.function)
    if not bad_pairs(creator, creator.pairs()):
        creator.require_heeded(*valid)


@pytest.mark.parametrize("function", [param for param in functions() if param.values[0] in BAD])
def test_bad_value_of_a_property_is_refused(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A value that the property cannot have is refused. The control is the list with a good value."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function, limited):
            creator.expect_created(creator.pairs())
            for pair in bad_pairs(creator, creator.pairs()):
                with parts(shown([pair])):
                    creator.expect_refused([pair], creator.refusal)


@requirement("PL-CQ-001", "PL-GEN-015")
@pytest.mark.parametrize("function", QUEUES)
def test_bad_value_of_a_queue_property_is_invalid_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Unknown bits of CL_QUEUE_PROPERTIES are not valid, nor are hints of no level: CL_INVALID_VALUE."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function, Creator.require_bits):
            unknown = [1 << 12, 1 << 31, 1 << 40, 1 << 63, 1 << 33 | 2]
            if "cl_intel_thread_local_exec" in creator.extensions:
                unknown.remove(1 << 31)  # which is a bit of that extension
            bad = [(CL.QUEUE_PROPERTIES, bits) for bits in unknown]
            hints = {"cl_khr_priority_hints": CL.QUEUE_PRIORITY_KHR, "cl_khr_throttle_hints": CL.QUEUE_THROTTLE_KHR}
            bad += [(name, 8) for extension, name in hints.items() if extension in creator.extensions]
            for pair in bad:
                with parts(shown([pair])):
                    creator.expect_refused([pair], CL.INVALID_VALUE)


@requirement("PL-CQ-002")
@pytest.mark.parametrize("function", QUEUES)
def test_unknown_property_of_a_queue_is_refused(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """For a queue the text names no error for an unknown name. It has to be refused all the same."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            for pairs in (
                [(0x7777, 1)],
                [*creator.pairs(), (0x7777, 0)],
                [(CL.SAMPLER_FILTER_MODE, 1), *creator.pairs()],
            ):
                creator.expect_refused(pairs, CL.INVALID_VALUE, CL.INVALID_QUEUE_PROPERTIES, CL.INVALID_PROPERTY)


@requirement("PL-CQ-002")
def test_repeated_property_of_a_queue_is_refused_or_makes_a_queue(icd: Icd, sandbox: Sandbox) -> None:
    """Nor does it name one for a repeated name: any of these errors, or the queue, and not both."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, QUEUE):
            error, handle = creator.create([(CL.QUEUE_PROPERTIES, 2), (CL.QUEUE_PROPERTIES, 2)])
            assert error in (0, CL.INVALID_VALUE, CL.INVALID_QUEUE_PROPERTIES, CL.INVALID_PROPERTY)
            assert bool(handle) == (error == 0)
