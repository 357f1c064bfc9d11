# SPDX-License-Identifier: Apache-2.0
"""Every function of a layer's table, called directly: it hands on all that it does not mean to change (LAY-CHN-010)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from harness.check import (
    DEINIT,
    Function,
    Layer,
    LayerSession,
    OrdinaryCall,
    Sandbox,
    Table,
    Value,
    api,
    exchanges,
    noticeable_problems,
    ordinary_variants,
    requirement,
)

THREADS, ROUNDS = 16, 12


def functions() -> list[Any]:
    return [pytest.param(function, id=function.name) for function in api().dispatched()]


@requirement("LAY-CHN-010", "LAY-INI-013")
@pytest.mark.parametrize("function", functions())
def test_call_is_handed_on_once_unchanged(layer: Layer, sandbox: Sandbox, function: Function) -> None:
    """A call reaches the target's function, once, with every argument as it was; so does the answer come back.

    Where the target writes nothing, outputs and errcode_ret stay as the application had them. What the layer leaves to
    the loader (NULL) needs no check: it never sees such a call.
    """
    layer.require_unchanged(function.name)
    layer.require_plain_handles()
    with layer.open(sandbox) as session:
        for silent in (False, True):
            entry = session.initialized(layer, silent=silent).entry(function)
            if entry is None:
                return
            calls = ordinary_variants(session, function, session.objects(), entry, silent)
            for call in calls:
                call.make()
            logs = exchanges(sandbox.log)[-len(calls) :]
            for call, log in zip(calls, logs, strict=True):
                assert not noticeable_problems(call, log)


def unchanged(layer: Layer, session: LayerSession, table: Table, sandbox: Sandbox) -> list[tuple[Function, Value]]:
    """Some functions of the whole table that one thread alone finds handed on as they should be."""
    result = []
    functions = [(f, entry) for f, entry in table.functions() if not layer.may_change(f.name)]
    for function, entry in functions[:: max(1, len(functions) // ROUNDS)][:ROUNDS]:
        call = OrdinaryCall(session, function, session.objects(), address=entry)
        call.make()
        if not noticeable_problems(call, exchanges(sandbox.log)[-1]):
            result.append((function, entry))
    return result


@requirement("LAY-CHN-015")
def test_calls_of_16_threads_in_the_layer_keep_their_arguments(layer: Layer, sandbox: Sandbox) -> None:
    """16 threads in the layer at once: every call arrives with the arguments of its own thread, and is answered."""
    layer.require_plain_handles()
    with layer.open(sandbox) as session:
        table = session.initialized(layer)
        chosen = unchanged(layer, session, table, sandbox)
        sent: dict[int, list[OrdinaryCall]] = {}
        for thread in range(THREADS):
            objects = session.objects()  # handles of this thread's own
            sent[thread] = [OrdinaryCall(session, f, objects, address=entry) for f, entry in chosen]
            for call in sent[thread] * 4:
                call.keep_for(thread)
        assert session.go() == (THREADS if chosen else 0)
        for call in (call for calls in sent.values() for call in calls):
            call.fetch_result()
            assert not call.answer_problems()
    by_thread: dict[int, list[Any]] = {}
    names = {function.name for function, _ in chosen}
    for event in (event for event in sandbox.log.calls() if event.name in names):
        by_thread.setdefault(event.thread, []).append(event)
    for events in by_thread.values():
        for before, after in itertools.pairwise(events):
            if before.who == "application" and after.who == "target":
                assert after.name == before.name
                assert after.arguments[0] == before.arguments[0]


@requirement("LAY-DEI-010")
def test_layer_initialised_again_calls_its_new_target_only(layer: Layer, sandbox: Sandbox) -> None:
    """A layer that is initialised again after its end hands calls on to its new target, and to that only."""
    layer.require_plain_handles()
    layer.require_unchanged("clFlush")
    with layer.open(sandbox) as session:
        flush = api().functions["clFlush"]
        for _ in range(2):
            entry = session.initialized(layer).entry(flush)
            if entry is None:
                return
            call = OrdinaryCall(session, flush, session.objects(), address=entry)
            call.make()
            assert not call.routing_problems(exchanges(sandbox.log)[-1])
            if layer.has(DEINIT) and layer.init != "clInitLayer":
                session.layer_call(DEINIT)
            session.close()
            session.open()
