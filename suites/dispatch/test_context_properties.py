# SPDX-License-Identifier: Apache-2.0
"""Property lists: CL_CONTEXT_PLATFORM chooses the vendor, and the list arrives there as it is (DISP-CTX)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest

from harness.check import (
    CL,
    Buffer,
    CallLog,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Sent,
    Session,
    Unsupported,
    also_through_layers,
    api,
    pack,
    requirement,
)

PLATFORM = api().constant("CL_CONTEXT_PLATFORM")
BY_PROPERTY = ("clCreateContextFromType", "clGetGLContextInfoKHR")
OWN, OTHER = "own", "other"
Words = Sequence[int | str]


def pair(number: int) -> list[int | str]:
    """A property that no loader knows, with a value of its own."""
    return [0x7000 + number, (0x1234567890AB << 16) + number]


def around(before: int, after: int) -> list[int | str]:
    """The platform among other pairs."""
    pairs = [pair(i) for i in range(before + after)]
    pairs.insert(before, [PLATFORM, OWN])
    return [*itertools.chain.from_iterable(pairs), 0]


LISTS: dict[str, Words] = {
    **{f"{i}-before-{n - i}-after": around(i, n - i) for n in range(5) for i in range(n + 1)},
    **{f"{i}-before-{99 - i}-after": around(i, 99 - i) for i in (0, 25, 99)},
    "value-is-name": [*pair(1)[:1], PLATFORM, PLATFORM, OWN, 0],
    "value-is-name-of-other": [*pair(1)[:1], PLATFORM, OTHER, 5, PLATFORM, OWN, 0],
    "value-is-name-at-end": [PLATFORM, OWN, *pair(1)[:1], PLATFORM, 0],
    "name-is-platform": [OTHER, OTHER, PLATFORM, OWN, 0],
    "values-are-own-platform": [*pair(1)[:1], OTHER, PLATFORM, OWN, *pair(2)[:1], OTHER, 0],
    "value-0-before": [*pair(1)[:1], 0, PLATFORM, OWN, 0],
    "values-0-before": [*pair(1)[:1], 0, *pair(2)[:1], 0, PLATFORM, OWN, 0],
    "value-0-after": [PLATFORM, OWN, *pair(1)[:1], 0, *pair(2), 0],
    "other-after-end": [PLATFORM, OWN, 0, PLATFORM, OTHER, 0],
    "other-right-after-end": [PLATFORM, OWN, 0, OTHER, PLATFORM, OTHER, 0],
    "name-one-less": [PLATFORM - 1, OTHER, PLATFORM, OWN, 0],
    "name-one-more": [PLATFORM + 1, OTHER, PLATFORM, OWN, 0],
    "names-near-after": [PLATFORM, OWN, PLATFORM - 1, OTHER, PLATFORM + 1, OTHER, 0],
    "name-wider": [PLATFORM + (1 << 32), OTHER, PLATFORM, OWN, PLATFORM + (1 << 63), OTHER, 0],
    "name-negative": [-PLATFORM, OTHER, ~PLATFORM, OTHER, -1, OTHER, PLATFORM, OWN, 0],
    "name-0-in-lower-half": [1 << 32, OTHER, PLATFORM, OWN, 1 << 63, OTHER, 0],
}


class World:
    """The platforms of three vendors, whose functions take a list and answer patterns."""

    def __init__(self, cl: Session, function: str) -> None:
        self.cl = cl
        self.function = api().functions[function]
        self.objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for objects in self.objects:
            objects.owner = objects.owner.partition(".")[0]
        gl = function == "clGetGLContextInfoKHR"
        self.address = cl.GetExtensionFunctionAddress(function) if gl else None

    def other(self, own: Objects) -> Objects:
        """The nearest platform in front (in a circle) that another vendor has."""
        place = self.objects.index(own)
        nearest = (self.objects[place - distance] for distance in range(1, len(self.objects)))
        return next(o for o in nearest if o.owner != own.owner)

    def call(self, own: Objects, words: Words | None) -> PatternedCall:
        """A call with a list that ends where an unreadable page begins; None for NULL."""
        call = PatternedCall(self.cl, self.function, own, address=self.address)
        handles = {OWN: own.platform, OTHER: self.other(own).platform} if words else {}
        values = [handles[w] if isinstance(w, str) else w for w in words or ()]
        names = [v for v in values[::2] if not -(1 << 31) <= v < 1 << 8 * api().address]
        if names:
            raise Unsupported("machine", f"the name {names[0]:#x} is wider than an address of this process")
        call.sent[0] = Sent(None)
        if words:
            call.give_list(0, values)
        return call


def vendors(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Three vendors with four platforms, of which one vendor has ICD 2 where the loader knows that."""
    for name, platforms in (("a", 1), ("b", 2), ("c", 1)):
        icd2 = name == "b" and loader.has("ICD 2")
        sandbox.vendor(name, platforms=platforms, icd2=icd2, functions={"answers": [function]})


def error_of(call: PatternedCall) -> int:
    """What the call reported, by its result or by errcode_ret."""
    code = call.sent[-1].buffer
    if call.function.result_kind == "handle" and isinstance(code, Buffer):
        return code.code() if call.result == 0 else 0
    return call.result


def reached(log: CallLog) -> list[str]:
    return [call.who for call in log.calls() if call.who != "application"]


@requirement("DISP-CTX-001", "DISP-CTX-002", "DISP-CTX-003", "DISP-CTX-004", "DISP-CTX-011")
@pytest.mark.parametrize("function", ["clCreateContext", *BY_PROPERTY])
def test_platform_anywhere_in_the_list_gets_the_call(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Wherever the platform stands, whatever surrounds it: its vendor gets the call, once, with the list as it is."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        # Each list at two of the four platforms: the first and the third, or the second and the last.
        chosen = [(name, own) for i, name in enumerate(LISTS) for own in world.objects[i % 2 :: 2]]
        calls = [world.call(own, LISTS[name]) for name, own in chosen]
        for call in calls:
            call.make()
        logs = sandbox.log.during(function)
        assert len(calls) == 2 * len(LISTS)
        for call, log, (name, _) in zip(calls, logs, chosen, strict=True):
            assert (name, call.problems(log)) == (name, [])


def who_is_called(cl: Session, sandbox: Sandbox, world: World, own: Objects, words: Words | None) -> str:
    """What a loader makes of a list that leaves it a choice: the vendor that it called, or "refused"."""
    call = world.call(own, words)
    call.make()
    log = sandbox.log.during(world.function.name)[-1]
    who = reached(log)
    assert len(who) <= 1
    if not who:
        assert error_of(call) == CL.INVALID_PLATFORM
        return "refused"
    call.objects = next(o for o in world.objects if o.owner == who[0])
    assert not call.problems(log)
    return who[0]


@requirement("DISP-CTX-005")
@pytest.mark.parametrize("function", BY_PROPERTY)
def test_platform_given_twice_calls_the_first_or_the_last(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: str
) -> None:
    """Of two platforms the first or the last is called, and only that one."""
    vendors(loader, sandbox, function)
    result = set()
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        for own in (world.objects[0], world.objects[-1]):
            first_is_own: Words = [PLATFORM, OWN, *pair(1), PLATFORM, OTHER, 0]
            last_is_own: Words = [PLATFORM, OTHER, PLATFORM, OWN, 0]
            for words, place in ((first_is_own, "first"), (last_is_own, "last")):
                who = who_is_called(cl, sandbox, world, own, words)
                assert who in (own.owner, world.other(own).owner, "refused")
                opposite = "last" if place == "first" else "first"
                result.add(who if who == "refused" else place if who == own.owner else opposite)
    assert len(result) == 1
    record(result.pop())


WITHOUT_PLATFORM: dict[str, tuple[Words, str]] = {
    "empty": ([0], "DISP-CTX-007"),
    "empty-before-a-platform": ([0, PLATFORM, OTHER, 0], "DISP-CTX-007"),
    "others-only": ([*pair(1), *pair(2), 0], "DISP-CTX-007"),
    "value-is-platform": ([0x7001, OTHER, 0], "DISP-CTX-007"),
    "null": ([PLATFORM, 0, 0], "DISP-CTX-008"),
    "null-among-others": ([*pair(1), PLATFORM, 0, *pair(2), 0], "DISP-CTX-008"),
}


@pytest.mark.parametrize("function", BY_PROPERTY)
@pytest.mark.parametrize(
    "words",
    [pytest.param(w, id=name, marks=pytest.mark.requirement(r)) for name, (w, r) in WITHOUT_PLATFORM.items()],
)
def test_list_without_a_platform_is_refused_or_the_first_platforms(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: str, words: Words
) -> None:
    """Without a platform in the list it is refused, or the first platform is called."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        last = world.objects[-1]
        who = who_is_called(cl, sandbox, world, last, words)
        assert who in ("refused", world.objects[0].owner)
        assert who_is_called(cl, sandbox, world, last, [PLATFORM, OWN, 0]) == last.owner
    record("first platform" if who != "refused" else who)


@requirement("DISP-CTX-006")
def test_no_list_is_the_first_platform(loader: Loader, sandbox: Sandbox) -> None:
    """Without a list a context is the first platform's, be it made in the first call or later."""
    vendors(loader, sandbox, "clCreateContextFromType")
    function = api().functions["clCreateContextFromType"]
    with loader.start(sandbox) as cl:
        code = cl.buffer(4)
        very_first = cl.call(function.name, None, 1 << 40, None, 0x1234, code)
        world = World(cl, function.name)
        assert len(world.objects) == 4
        first = world.objects[0]
        log = sandbox.log.during(function.name)[0]
        assert [event.who for event in log.calls(function.name)] == ["application", first.owner]
        assert who_is_called(cl, sandbox, world, first, None) == first.owner
        answers = sandbox.log.returns(function.name, by=first.owner)
        width = 1 << 8 * api().address  # of an address, which is what comes back of the 64 bits in the log
        assert [(answer.result or 0) % width for answer in answers] == [very_first] * 2


@requirement("DISP-CTX-012")
def test_no_list_for_a_gl_context_is_refused_or_the_first_platforms(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """Without a list a query of a GL context is refused, or the first platform gets it."""
    vendors(loader, sandbox, "clGetGLContextInfoKHR")
    with loader.start(sandbox) as cl:
        world = World(cl, "clGetGLContextInfoKHR")
        who = who_is_called(cl, sandbox, world, world.objects[0], None)
        assert who in ("refused", world.objects[0].owner)
        assert who_is_called(cl, sandbox, world, world.objects[-1], [PLATFORM, OWN, 0]) == world.objects[-1].owner
    record("first platform" if who != "refused" else who)


@requirement("DISP-CTX-009")
@pytest.mark.parametrize("function", BY_PROPERTY)
def test_value_that_is_not_a_platform_is_refused(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: str
) -> None:
    """Memory of the application in the place of a platform is refused."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        zeros = cl.buffer(4096, 0)
        call = world.call(world.objects[1], [PLATFORM, OWN, 0])
        words = cl.words([PLATFORM, zeros, 0])
        call.sent[0] = Sent(words, words, b"")
        call.make()
        assert reached(sandbox.log.during(function)[-1]) == []
        assert error_of(call) == CL.INVALID_PLATFORM
    record("refused")


@requirement("DISP-CTX-009")
def test_value_that_is_not_a_platform_beside_devices_is_refused_or_their_vendors(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """Memory of the application in the place of a platform is refused, or is the affair of the devices' vendor."""
    vendors(loader, sandbox, "clCreateContext")
    with loader.start(sandbox) as cl:
        world = World(cl, "clCreateContext")
        own = world.objects[-1]
        assert who_is_called(cl, sandbox, world, own, [PLATFORM, OWN, 0]) == own.owner
        call = world.call(own, [PLATFORM, OWN, 0])
        words = cl.words([PLATFORM, cl.buffer(4096, 0), 0])
        call.sent[0] = Sent(words, words, b"")
        call.make()
        who = reached(sandbox.log.during("clCreateContext")[-1])
        assert who in ([], [own.owner])
        assert who or error_of(call) == CL.INVALID_PLATFORM
    record("devices' vendor" if who else "refused")


def lists_for_nobody() -> list[Words | None]:
    """Lists that name no platform, and none at all."""
    return [None, *(words for words, _ in WITHOUT_PLATFORM.values() if OTHER not in words)]


@requirement("DISP-CTX-010")
def test_context_without_vendors_is_invalid_platform(loader: Loader, sandbox: Sandbox) -> None:
    """Without any vendor the answer is CL_INVALID_PLATFORM, with whatever list, and without errcode_ret, too.

    Lists that have names which nobody knows may be CL_INVALID_PROPERTY as well.
    """
    function = "clCreateContextFromType"
    with loader.start(sandbox) as cl:
        for words in lists_for_nobody():
            code = cl.buffer(8, 0x5A)
            assert cl.call(function, words, 1, None, None, code) == 0
            unknown = any(name not in (0, PLATFORM) for name in (words or ())[::2])
            errors = [CL.INVALID_PLATFORM, *[CL.INVALID_PROPERTY] * unknown]
            assert code.bytes() in [pack([error], 4) + b"\x5a" * 4 for error in errors]
            assert cl.call(function, words, 1, None, None, None) == 0
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        assert who_is_called(cl, sandbox, world, world.objects[0], [PLATFORM, OWN, 0]) == world.objects[0].owner


@requirement("DISP-CTX-014")
def test_gl_context_info_without_vendors_is_invalid_platform(loader: Loader, sandbox: Sandbox) -> None:
    """Without any vendor the answer is CL_INVALID_PLATFORM, with whatever list."""
    function = "clGetGLContextInfoKHR"
    with loader.start(sandbox) as cl:
        address = cl.GetExtensionFunctionAddress(function)
        for words in lists_for_nobody():
            outputs = [cl.buffer(8, 0x5A), cl.buffer(8, 0x5A)]
            arguments = (words, CL.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, 8, *outputs)
            result = cl.call_at(address, function, *arguments) if address else cl.call(function, *arguments)
            assert result == CL.INVALID_PLATFORM
            assert [output.bytes() for output in outputs] == [b"\x5a" * 8] * 2
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        assert who_is_called(cl, sandbox, world, world.objects[0], [PLATFORM, OWN, 0]) == world.objects[0].owner


@requirement("DISP-ARG-011")
def test_platform_of_another_vendor_than_the_devices_calls_one_of_the_two(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """A context of one vendor's devices and another one's platform is made by one of the two (grey area 10)."""
    vendors(loader, sandbox, "clCreateContext")
    result = set()
    with loader.start(sandbox) as cl:
        world = World(cl, "clCreateContext")
        for own in world.objects:
            assert who_is_called(cl, sandbox, world, own, [PLATFORM, OWN, 0]) == own.owner
            who = who_is_called(cl, sandbox, world, own, [*pair(1), PLATFORM, OTHER, 0])
            other = world.other(own).owner
            assert who in (own.owner, other, "refused")
            result.add({own.owner: "devices", other: "platform"}.get(who, who))
    assert len(result) == 1
    record(result.pop())


also_through_layers(globals())
