# SPDX-License-Identifier: Apache-2.0
"""Queries that give a property list back, exactly as it was given (PL-GEN-009 to 012, and by function)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.check import (
    BUFFER,
    CL,
    CONTEXT,
    CREATORS,
    FROM_TYPE,
    IMAGE,
    OLDER,
    QUEUE,
    QUEUE_KHR,
    SAMPLER,
    CallFailed,
    Creator,
    Icd,
    Sandbox,
    Value,
    creators_of,
    list_of,
    orders,
    requirement,
    shown,
)

OWN = {
    CONTEXT: "PL-CTX-006",
    FROM_TYPE: "PL-CTX-006",
    QUEUE: "PL-CQ-005",
    QUEUE_KHR: "PL-CQ-005",
    BUFFER: "PL-MEM-003",
    IMAGE: "PL-MEM-003",
    SAMPLER: "PL-SMP-004",
}


def functions(*requirements: str, but: tuple[str, ...] = ()) -> list[Any]:
    """All functions with a property list, with the requirement of each."""
    chosen = [function for function in CREATORS if function not in but]
    return [pytest.param(f, marks=pytest.mark.requirement(*requirements, OWN[f]), id=f) for f in chosen]


def queried(creator: Creator) -> None:
    creator.require_query()


def older_contexts(creator: Creator) -> list[list[int]]:
    """What may be answered where no list was given: nothing. Before OpenCL 3.0 contexts might answer an empty list."""
    return [[], [0]] if creator.version < (3, 0) else [[]]


def expect_values(actual: list[int] | str, given: Sequence[tuple[int, int]]) -> None:
    """Before OpenCL 3.0: what was given is there, in whatever order, and there may be more."""
    assert isinstance(actual, list), f"{actual}, expected a list with {shown(given)}"
    lacking = set(given) - set(zip(actual[::2], actual[1::2], strict=False))
    assert not lacking, f"{len(lacking)} of the properties {shown(given)} are not answered"


@pytest.mark.parametrize("function", functions("PL-GEN-010", but=(IMAGE,)))
def test_query_gives_the_property_list_of_the_creation(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Same properties, same order, nothing added, and the end marker: for lists of every length and order.

    Before OpenCL 3.0, of which only contexts have such a query, the same properties.
    """
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, queried, names=1):
            pairs = creator.pairs()
            chosen = [pairs[:length] for length in range(1, len(pairs))] + [[pair] for pair in pairs]
            chosen += [list(order) for order in orders(pairs)]
            chosen += [[zero, *(pair for pair in pairs if pair[0] != zero[0])] for zero in creator.zero_pairs()]
            for given in chosen:
                handle = creator.expect_created(given)
                if handle and creator.version < (3, 0):
                    expect_values(creator.queried_list(handle), given)
                else:
                    assert not handle or creator.queried_list(handle) == list_of(*given)


@pytest.mark.parametrize("function", functions("PL-GEN-012"))
def test_query_gives_an_empty_property_list(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An empty list comes back as one element, its end marker; before OpenCL 3.0 it may come back as nothing."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, queried):
            handle = creator.expect_created([0])
            if handle and creator.version < (3, 0):
                assert creator.queried_list(handle) in older_contexts(creator)
            else:
                assert not handle or creator.queried_list(handle) == [0]


@pytest.mark.parametrize("function", functions("PL-GEN-011"))
def test_query_of_an_object_without_a_list_has_size_0(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Where NULL was given nothing comes back: a size of 0, and nothing is written."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, queried):
            handle = creator.expect_created(None)
            assert not handle or creator.queried_list(handle) in older_contexts(creator)


def made_by_older(creator: Creator, function: str) -> Value:
    code = creator.session.buffer(4)
    handle = creator.session.call(function, *OLDER[function][1](creator.objects), code)
    assert isinstance(handle, Value)
    if code.code() or not handle:
        raise CallFailed(f"{function} answered {handle:#x} and the error {code.code()}, expected an object")
    return handle


@requirement("PL-GEN-011", "PL-CQ-005", "PL-MEM-003", "PL-SMP-004")
@pytest.mark.parametrize("function", OLDER)
def test_query_of_an_object_of_an_older_function_has_size_0(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Objects that were made by functions without a property list have none."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, OLDER[function][0], queried):
            creator.objects.require_function(function, creator.version)
            assert creator.queried_list(made_by_older(creator, function)) == []


@requirement("PL-GEN-011", "PL-MEM-003")
def test_query_of_a_sub_buffer_has_size_0(icd: Icd, sandbox: Sandbox) -> None:
    """A sub-buffer has no property list, whatever its buffer was made with."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, BUFFER, queried):
            for words in (None, [0], list_of(*creator.pairs())):
                code = session.buffer(4)
                region = session.words([0, 16])
                sub = session.call(
                    "clCreateSubBuffer", creator.make(words), 1, CL.BUFFER_CREATE_TYPE_REGION, region, code
                )
                assert isinstance(sub, Value)
                assert code.code() == CL.SUCCESS
                assert creator.queried_list(sub) == []


@requirement("PL-GEN-009")
@pytest.mark.parametrize("function", [name for name in CREATORS if name != IMAGE])
def test_property_list_is_copied_at_creation(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The application may use the list's memory for something else as soon as the call has returned."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, queried, names=1):
            words = session.words(list_of(*creator.pairs()))
            handle = creator.make(words)
            words.fill(0x5A)
            if creator.version < (3, 0):
                expect_values(creator.queried_list(handle), creator.pairs())
            else:
                assert creator.queried_list(handle) == list_of(*creator.pairs())


@requirement("PL-OTH-006")
@pytest.mark.parametrize("function", [name for name in CREATORS if name != IMAGE])
def test_too_little_room_for_the_property_list_is_invalid_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Too little room is CL_INVALID_VALUE; no more is written than there is room for; either output may be NULL."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, queried):
            words = list_of(*creator.pairs())
            handle = creator.make(words)
            if creator.version < (3, 0):  # there may be more in it than was given, and nothing of an empty list
                answered = creator.queried_list(handle)
                assert isinstance(answered, list), answered
                words = answered
            query, name = creator.about.query, creator.about.listed
            room = session.buffer(8 * len(words) + 8)
            for size in (0, 1, 8 * len(words) - 8, 8 * len(words) - 1):
                if 0 <= size < 8 * len(words):
                    assert (size, session.call(query, handle, name, size, room, None)) == (size, CL.INVALID_VALUE)
            assert session.call(query, handle, name, 8 * len(words), room, None) == CL.SUCCESS
            assert room[8 * len(words) :] == b"\xa5" * 8
            assert session.call(query, handle, name, room.size, room, None) == CL.SUCCESS
            assert session.call(query, handle, name, room.size, None, None) == CL.SUCCESS
            assert session.call(query, handle, name, 0, None, None) == CL.SUCCESS
