# SPDX-License-Identifier: Apache-2.0
"""Discovery in a process that forks, that is interrupted by signals, and whose threads end in it (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import CL, Hung, Loader, Sandbox, requirement, use_layers

PLACES = {"first": ["odd", "a", "b"], "middle": ["a", "odd", "b"], "last": ["a", "b", "odd"]}


def vendors(sandbox: Sandbox, place: str, fault: str) -> None:
    mocks = [sandbox.icd(name, faults=[fault] if name == "odd" else []) for name in PLACES[place]]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


@requirement("DISC-GEN-019")
@pytest.mark.parametrize("place", PLACES)
def test_child_that_is_forked_during_discovery_may_call_the_loader(
    loader: Loader, sandbox: Sandbox, place: str, record: Callable[[str], None]
) -> None:
    """A child that is forked while a thread of its parent is in discovery gets an answer; the parent lists all."""
    sandbox.require_linux("fork")
    vendors(sandbox, place, "enumeration_forks")
    with loader.start(sandbox, time_limit=20) as cl:  # far above the three seconds that the child has
        assert cl.platform_names() == {"a", "odd", "b"}
    log = sandbox.log
    ends = [event.data["detail"] for event in log.happened("child", by="odd")]
    assert len(ends) == 1, "nothing was forked: this proves nothing"
    if ends == ["no answer"]:
        raise Hung("no answer in the child to: call 1 clGetPlatformIDs 0")
    assert ends == ["ended"]
    answers = [event.data["detail"] for event in log.happened("call back done", by="odd")]
    assert len(answers) == 1, "the child ended in the midst of the call"
    record(f"{answers[0]} in the child")


@requirement("DISC-GEN-020")
@pytest.mark.parametrize("place", PLACES)
def test_thread_that_ends_in_discovery_leaves_the_loader_to_others_or_not(
    loader: Loader, sandbox: Sandbox, place: str, record: Callable[[str], None]
) -> None:
    """A vendor ends the thread that asks it: later calls list the vendors, or fewer, or wait forever; none crashes."""
    sandbox.require_linux("threads that end in the midst")
    vendors(sandbox, place, "enumeration_ends_thread")
    names = None
    try:
        with loader.start(sandbox, time_limit=0.5) as cl:
            cl.in_thread(0, "clGetPlatformIDs", 0, None, cl.buffer(4))
            cl.go()
            assert sandbox.log.happened("thread", by="odd"), "no thread ended: this proves nothing"
            names = set(cl.platform_names())
            assert names <= {"a", "odd", "b"}
    except Hung:
        assert names is None
    record("waits forever" if names is None else f"lists {len(names)} of 3")


@requirement("DISC-GEN-021")
@pytest.mark.parametrize("layers", [0, 2], ids=["no-layer", "2-layers"])
@pytest.mark.parametrize("function", ["clGetPlatformIDs", "clGetExtensionFunctionAddress", "clCreateContextFromType"])
def test_signals_during_discovery_change_nothing(loader: Loader, sandbox: Sandbox, function: str, layers: int) -> None:
    """Discovery that signals interrupt all the time finds all vendors and layers, in whichever function it runs."""
    sandbox.require_linux("signals")
    mocks = [sandbox.icd(name, faults=["constructor_sleeps=5"] * (name == "b")) for name in "abcdefgh"]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    if layers:
        loader.require("OPENCL_LAYERS")
        use_layers(sandbox, [sandbox.layer(f"layer{number}") for number in range(layers)])
    arguments: dict[str, tuple[object, ...]] = {
        "clGetPlatformIDs": (0, None, [0]),
        "clGetExtensionFunctionAddress": ("clSomethingElse",),
        "clCreateContextFromType": (None, 0xFFFFFFFF, None, None, None),
    }
    with loader.start(sandbox) as cl:
        result = cl.call_interrupted(300, function, *arguments[function])
        assert function != "clGetPlatformIDs" or result == CL.SUCCESS
        assert cl.platform_names() == set("abcdefgh")
    for number in range(layers):
        assert sandbox.log.calls("clGetPlatformInfo", by=f"layer{number}")
    cl.check_asked_once(*"abcdefgh")
