# SPDX-License-Identifier: Apache-2.0
"""The init functions of a layer, called directly (LAY-INI)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    DEINIT,
    INIT,
    INIT_WITH_PROPERTIES,
    Layer,
    LayerSession,
    OrdinaryCall,
    Sandbox,
    Table,
    Unsupported,
    all_entries,
    exchanges,
    requirement,
)

INITS = (INIT, INIT_WITH_PROPERTIES)


def executable(session: LayerSession) -> list[range]:
    """Where the process may execute code."""
    result = []
    with open(f"/proc/{session.pid}/maps") as file:
        for line in file:
            place, rights = line.split()[:2]
            start, _, end = place.partition("-")
            if "x" in rights:
                result.append(range(int(start, 16), int(end, 16)))
    return result


def accepts(session: LayerSession, function: str) -> bool:
    """Whether the layer is initialised as it should."""
    answer = session.initialize(function)
    return answer.result == 0 and (answer.count == 0 or answer.address != 0)


def expect_accepted(layer: Layer, sandbox: Sandbox, function: str) -> None:
    """The positive control of all that is refused, in a process of its own."""
    with layer.open(sandbox) as session:
        assert accepts(session, function)


def with_null(session: LayerSession, function: str, null: str) -> object:
    """What the function answers with NULL for the target, for an output, or for "all" of them."""
    arguments: dict[str, object] = {
        "target": session.target(),
        "count": session.buffer(4, 0),
        "table": session.buffer(8, 0),
    }
    given = [None if null in (name, "all") else value for name, value in arguments.items()]
    more = [None] if function == INIT_WITH_PROPERTIES else []
    return session.layer_call(function, all_entries(), *given, *more)


def reaches(layer: Layer, session: LayerSession, table: Table, sandbox: Sandbox, entries: int) -> list[str]:
    """Calls everything that the layer hands on to a target of so many entries; gives what went wrong."""
    if layer.wraps_handles:
        return []
    objects = session.objects()
    functions = [(f, entry) for f, entry in table.functions(below=entries) if not layer.may_change(f.name)]
    calls = [OrdinaryCall(session, f, objects, address=entry) for f, entry in functions]
    for call in calls:
        call.make()
    logs = exchanges(sandbox.log)[-len(calls) :] if calls else []
    return [p for call, log in zip(calls, logs, strict=True) for p in call.routing_problems(log)]


@requirement("LAY-INI-020")
@pytest.mark.parametrize("function", INITS)
def test_layer_table_holds_functions_or_null(layer: Layer, sandbox: Sandbox, function: str) -> None:
    """The table holds as many entries as the layer tells; each is NULL or the address of a function."""
    layer.require(function)
    with layer.open(sandbox) as session:
        answer = session.initialize(function)
        assert answer.result == 0
        assert answer.address or not answer.count
        assert answer.count < 1 << 16
        if not answer.count:
            return  # LAY-INI-026
        readable = session.command(f"read {answer.address.token} {min(8 * answer.count, 4096)}")
        assert len(readable) == 2 * min(8 * answer.count, 4096), "the table ends before the last entry that it tells of"
        code = executable(session)
        for slot in range(min(answer.count, all_entries())):
            assert not answer[slot] or any(int(answer[slot]) in part for part in code), f"slot {slot} is not a function"


@requirement("LAY-INI-026")
@pytest.mark.parametrize("function", INITS)
def test_layer_table_has_an_entry(layer: Layer, sandbox: Sandbox, function: str) -> None:
    """The table that a layer gives is not empty."""
    layer.require(function)
    with layer.open(sandbox) as session:
        answer = session.initialize(function)
        assert answer.result == 0
        assert answer.count > 0


@requirement("LAY-INI-020")
@pytest.mark.parametrize("function", INITS)
@pytest.mark.parametrize("entries", [all_entries() + 1, 200, 4096])
def test_longer_target_table_is_as_good(layer: Layer, sandbox: Sandbox, entries: int, function: str) -> None:
    """A loader that is newer than the layer, with a longer table, is as good; its surplus entries are not called."""
    layer.require(function)
    with layer.open(sandbox) as session:
        answer = session.initialize(function, entries)
        assert answer.result == 0
        assert answer.address or not answer.count
        assert not reaches(layer, session, answer, sandbox, all_entries())
    assert not sandbox.log.happened("surplus entry called")


# Lengths of cl_icd_dispatch by version of OpenCL: 1.0, 1.1, 1.2, 2.0, 2.1, 2.2, 3.0, and around them.
LENGTHS = (0, 1, 2, 64, 65, 81, 92, 93, 123, 136, 137, 144, 146, 147, 148, all_entries() - 1)


@requirement("LAY-INI-003")
@pytest.mark.parametrize("function", INITS)
def test_shorter_target_table_is_taken_or_invalid_value(layer: Layer, sandbox: Sandbox, function: str) -> None:
    """A layer that needs more entries than an older loader has gives CL_INVALID_VALUE.

    One that makes do with them reads none beyond: an unreadable page follows.
    """
    layer.require(function)
    for entries in LENGTHS:
        with layer.open(sandbox) as session:
            answer = session.initialize(function, entries)
            assert answer.result in (0, CL.INVALID_VALUE), f"{entries} entries"
            if answer.result == 0:
                assert not reaches(layer, session, answer, sandbox, entries), f"{entries} entries"
    expect_accepted(layer, sandbox, function)


@requirement("LAY-INI-024")
@pytest.mark.parametrize("function", INITS)
def test_table_for_a_shorter_target_is_no_longer(layer: Layer, sandbox: Sandbox, function: str) -> None:
    """A layer that makes do with the entries of an older loader tells of no more in its own table."""
    layer.require(function)
    longer = []
    for entries in LENGTHS:
        with layer.open(sandbox) as session:
            answer = session.initialize(function, entries)
            if answer.result == 0 and answer.count > entries:
                longer.append((entries, answer.count))
    assert longer == []
    expect_accepted(layer, sandbox, function)


@requirement("LAY-INI-004")
@pytest.mark.parametrize("function", INITS)
@pytest.mark.parametrize("null", ["target", "count", "table", "all"])
def test_null_for_target_or_output_is_invalid_value(layer: Layer, sandbox: Sandbox, null: str, function: str) -> None:
    """NULL in the place of the target or of an output gives CL_INVALID_VALUE; without it the layer is initialised."""
    layer.require(function)
    with layer.open(sandbox) as session:
        assert with_null(session, function, null) == CL.INVALID_VALUE
    expect_accepted(layer, sandbox, function)


@requirement("LAY-INI-023")
@pytest.mark.parametrize("function", INITS)
@pytest.mark.parametrize("why", ["NULL", "short table", "property"])
def test_layer_is_initialised_after_it_refused(layer: Layer, sandbox: Sandbox, why: str, function: str) -> None:
    """An initialisation that a layer refuses is not the last one."""
    layer.require(function)
    with layer.open(sandbox) as session:
        if why == "NULL":
            refused = with_null(session, function, "target") != 0
        elif why == "short table":
            refused = session.initialize(function, 0).result != 0
        else:
            layer.require(INIT_WITH_PROPERTIES)
            refused = session.initialize(INIT_WITH_PROPERTIES, properties=PROPERTIES["small"]).result != 0
        if not refused:
            raise Unsupported("loader", "the layer does not refuse it", "what the layer refuses")
        assert accepts(session, function)


@requirement("LAY-INI-016")
@pytest.mark.parametrize("function", INITS)
@pytest.mark.parametrize("how", ["writable", "read-only"])
def test_target_is_not_written(layer: Layer, sandbox: Sandbox, how: str, function: str) -> None:
    """The target's table is as it was after the initialisation, calls and the end; read-only memory is as good."""
    layer.require(function)
    with layer.open(sandbox) as session:
        target = session.target(writable=how == "writable")
        before = session.command(f"read {target.token} {8 * all_entries()}")
        answer = session.initialize(function, target=target)
        assert answer.result == 0
        reaches(layer, session, answer, sandbox, all_entries())
        if function == INIT_WITH_PROPERTIES and layer.has(DEINIT):
            session.layer_call(DEINIT)
        assert session.command(f"read {target.token} {8 * all_entries()}") == before


NO_PROPERTIES: dict[str, list[int] | None] = {"null": None, "empty": [0], "empty-with-rest": [0, 1, 2]}
PROPERTIES = {
    "small": [1, 1, 0],
    "large": [CL.LAYER_API_VERSION, 0, 0],
    "wide": [0xFFFF_FFFF_0000_0000, 1, 0],
    "negative": [0xFFFF_FFFF_FFFF_FFFF, 0, 0],
    "twice": [0x1234, 1, 0x1234, 1, 0],
    "two": [0x1234, 1, 0x1235, 1, 0],
}


@requirement("LAY-INI-018")
@pytest.mark.parametrize("given", NO_PROPERTIES)
def test_no_init_properties_initialise_the_layer(layer: Layer, sandbox: Sandbox, given: str) -> None:
    """NULL and a list that ends at once have no properties: the layer is initialised."""
    layer.require(INIT_WITH_PROPERTIES)
    with layer.open(sandbox) as session:
        answer = session.initialize(INIT_WITH_PROPERTIES, properties=NO_PROPERTIES[given])
        assert answer.result == 0
        assert answer.address


@requirement("LAY-INI-018")
def test_unknown_init_properties_are_invalid_property(layer: Layer, sandbox: Sandbox) -> None:
    """No property is known as of 1.0.1: any gives CL_INVALID_PROPERTY; without it the layer is initialised."""
    layer.require(INIT_WITH_PROPERTIES)
    for properties in PROPERTIES.values():
        with layer.open(sandbox) as session:
            assert session.initialize(INIT_WITH_PROPERTIES, properties=properties).result == CL.INVALID_PROPERTY, (
                f"properties {properties}"
            )
    expect_accepted(layer, sandbox, INIT_WITH_PROPERTIES)


@requirement("LAY-CHN-012")
@pytest.mark.parametrize("function", INITS)
def test_windows_entries_are_not_called(layer: Layer, sandbox: Sandbox, function: str) -> None:
    """What the table has for Windows only is not called: on other systems there may be nothing."""
    layer.require(function)
    with layer.open(sandbox) as session:
        answer = session.initialize(function)
        assert answer.result == 0
        reaches(layer, session, answer, sandbox, all_entries())
        if function == INIT_WITH_PROPERTIES and layer.has(DEINIT):
            session.layer_call(DEINIT)
        session.close()
    assert not sandbox.log.happened("Windows entry called")


@requirement("LAY-DEI-005")
def test_layer_registers_no_exit_handler(layer: Layer, sandbox: Sandbox) -> None:
    """clInitLayerWithProperties registers no exit handler: the loader, and what is below it, may be gone by then."""
    layer.require(INIT_WITH_PROPERTIES)
    with layer.open(sandbox) as session:
        before = session.exit_handlers()
        if before < 0:
            raise Unsupported("machine", "exit handlers cannot be counted: nothing can be preloaded")
        assert session.initialize(INIT_WITH_PROPERTIES).result == 0
        registered = session.exit_handlers() - before
    if registered and any(name.startswith(("libstdc++", "libc++")) for name in layer.facts.needed):
        raise Unsupported("machine", "in C++ an array with destructors is registered as an exit handler is")
    assert registered == 0


@requirement("LAY-DEI-005")
def test_no_call_after_the_end(layer: Layer, sandbox: Sandbox) -> None:
    """After clDeinitLayer, in its destructors, a layer does not call OpenCL any more."""
    layer.require(INIT_WITH_PROPERTIES)
    with layer.open(sandbox) as session:
        assert session.initialize(INIT_WITH_PROPERTIES).result == 0
        if layer.has(DEINIT):
            session.layer_call(DEINIT)
        ended = len(sandbox.log)
        session.close()
    late = [event.name for event in sandbox.log[ended:] if event.who == "target"]
    assert not late
