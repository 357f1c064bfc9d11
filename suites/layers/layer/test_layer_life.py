# SPDX-License-Identifier: Apache-2.0
"""A layer from its first call to its end: threads, the end of the process, rounds of use, what is left behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    DEINIT,
    INIT,
    INIT_WITH_PROPERTIES,
    LEGACY,
    Layer,
    Leaked,
    Loader,
    Parts,
    Sandbox,
    Session,
    SubjectFailure,
    require_kept,
    requirement,
    run_workload,
    start_with_layers,
    state_changes,
    use_layer,
    use_layers,
)

WARM, ROUNDS = 4, 8
SMALLEST = 16  # bytes of the smallest block of the heap: less in a round is not a block


def ending(cl: Session) -> str:
    """How the process ends that this session drives: "" for the normal way."""
    try:
        cl.quit()
    except SubjectFailure as failure:
        return str(failure)
    return ""


def growth(measure: Callable[[], int], use: Callable[[], object]) -> int:
    """By how much a measure grows in each of some rounds, when the first ones are over."""
    for _ in range(WARM):
        use()
    before = measure()
    for _ in range(ROUNDS):
        use()
    return (measure() - before) // ROUNDS


@requirement("LAY-CHN-015")
def test_first_call_in_32_threads_through_the_layer_is_answered(
    layer: Layer, through: Loader, sandbox: Sandbox
) -> None:
    """32 threads that make the first call of all get an answer each, and the process ends as usual."""
    layer.require_platforms()
    for name in "ab":
        sandbox.vendor(name)
    with start_with_layers(through, sandbox, [layer]) as cl:
        counts = [cl.buffer(4, 0) for _ in range(32)]
        done = [cl.in_thread(i, "clGetPlatformIDs", 0, None, count) for i, count in enumerate(counts)]
        assert cl.go() == 32
        assert [later.result() for later in done] == [0] * 32
        assert [count.u32() for count in counts] == [2] * 32


@requirement("LAY-DEI-011")
@pytest.mark.parametrize("end", ["exit", "close", "reopen"])
def test_process_that_used_the_layer_ends_normally(layer: Layer, through: Loader, sandbox: Sandbox, end: str) -> None:
    """A process that used the layer ends normally: with the loader open, closed, and opened and closed again."""
    layer.require_platforms()
    sandbox.vendor("a")
    with start_with_layers(through, sandbox, [layer]) as cl:
        assert cl.platform_count() == 1
        require_kept(layer, cl)
        if end != "exit":
            cl.close()
        if end == "reopen":
            cl.open()
            assert cl.platform_count() == 1
            cl.close()
        assert ending(cl) == ""


@requirement("LAY-DEI-011")
def test_process_ends_normally_in_the_older_scheme(layer: Layer, through: Loader, sandbox: Sandbox) -> None:
    """Initialised with clInitLayer a layer works as well, and what it does at exit leaves the process's end alone."""
    layer.require(INIT)
    layer.require_platforms()
    through.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    layer.give_variables(sandbox)
    sandbox.env[LEGACY] = "1"
    use_layers(sandbox, [str(layer)])
    with through.start(sandbox) as cl:
        assert cl.platform_count() == 1
        assert ending(cl) == ""


@requirement("LAY-CHN-016")
def test_calls_leave_nothing_behind(layer: Layer, through: Loader, sandbox: Sandbox) -> None:
    """Rounds that make, use and release objects do not use more and more memory or descriptors."""
    sandbox.vendor("a")
    use_layer(through, sandbox, [layer])
    with through.start(sandbox, counted_heap=True) as cl:
        cl.platform_count()
        require_kept(layer, cl)
        grown = growth(cl.heap, lambda: run_workload(cl))
        files = growth(lambda: len(cl.open_files()), lambda: run_workload(cl))
    if grown >= SMALLEST:
        raise Leaked(f"{grown} bytes more are in use after each round of calls")
    assert files <= 0, "descriptors stay open after each round of calls"


@requirement("LAY-DEI-010")
def test_rounds_leave_nothing_behind(layer: Layer, sandbox: Sandbox) -> None:
    """Opened, initialised, deinitialised and closed again and again, a layer leaves no memory and no descriptors."""
    layer.require(INIT_WITH_PROPERTIES)
    with layer.open(sandbox, counted_heap=True) as session:
        session.close()
        target, count, given = session.target(), session.buffer(4), session.buffer(8)
        session.heap()

        def use() -> None:
            session.open()
            session.layer_call(INIT_WITH_PROPERTIES, 150, target, count, given, None)
            if layer.has(DEINIT):
                session.layer_call(DEINIT)
            session.close()

        grown = growth(session.heap, use)
        files = growth(lambda: len(session.open_files()), use)
    if grown >= SMALLEST:
        raise Leaked(f"{grown} bytes more are in use after each round of use")
    assert files <= 0, "descriptors stay open after each round of use"


@requirement("LAY-INI-021")
def test_layer_leaves_the_state_of_the_process_as_it_is(layer: Layer, sandbox: Sandbox) -> None:
    """Environment, working directory, locale, signals, limits, timers, child processes and the like are its own."""
    use_layers(sandbox, [str(layer)])  # the variable that led to the layer is the application's as well
    with layer.open(sandbox, late=True) as session, Parts() as parts:
        before = session.state()
        session.open()
        session.initialized(layer)
        for name, change in state_changes(before, session.state()).items():
            parts.fail(name, change)


@requirement("LAY-INI-022")
def test_initialisation_writes_nothing_to_standard_output(layer: Layer, sandbox: Sandbox) -> None:
    """Standard output is the application's: a layer that is initialised, and ends unused, leaves it empty."""
    with layer.open(sandbox) as session:
        session.initialized(layer)
        if layer.has(INIT_WITH_PROPERTIES) and layer.has(DEINIT):
            session.layer_call(DEINIT)
        assert session.quit() == 0
    written = session.stdout
    assert not written, f"standard output has {written[:80]!r}"


@requirement("LAY-INI-022")
def test_initialisation_leaves_no_descriptor_to_programs(layer: Layer, sandbox: Sandbox) -> None:
    """What a layer has open after its initialisation, a program that the application starts does not inherit."""
    with layer.open(sandbox, late=True) as session:
        before = session.inherited_files()
        session.open()
        session.initialized(layer)
        after = session.inherited_files()
        for name in before:
            after.remove(name)
        assert not after, f"programs that the application starts inherit {', '.join(after)}"
