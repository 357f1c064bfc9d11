# SPDX-License-Identifier: Apache-2.0
"""OpenGL attributes in the property lists of contexts: they are the vendor's business, and arrive as they are (GL-CTX,
GL-INF).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import pytest

from harness.check import (
    CL,
    Buffer,
    CallLog,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Session,
    api,
    requirement,
)

PLATFORM = api().constant("CL_CONTEXT_PLATFORM")
USER_SYNC = api().constant("CL_CONTEXT_INTEROP_USER_SYNC")
GL, EGL, GLX, WGL, CGL = ATTRIBUTES = [
    api().constant(f"CL_{name}_KHR")
    for name in ("GL_CONTEXT", "EGL_DISPLAY", "GLX_DISPLAY", "WGL_HDC", "CGL_SHAREGROUP")
]
BINDINGS = {"egl": (GL, EGL), "glx": (GL, GLX), "wgl": (GL, WGL), "cgl": (CGL,)}

FUNCTIONS = ("clCreateContext", "clCreateContextFromType", "clGetGLContextInfoKHR")

# What stands for platforms in a list: the one that the call is for, and another vendor's.
OWN, OTHER = "own", "other"
Pair = tuple[int, int | str]
Words = Sequence[int | str]


def value(attribute: int) -> int:
    """A handle of OpenGL's or the window system's: an address of no meaning here, different for each attribute."""
    return 0x7F31_5A5A_0000_0000 + (attribute << 4)


def words(*pairs: Pair) -> Words:
    return [*itertools.chain.from_iterable(pairs), 0]


def pairs_of(*attributes: int) -> list[Pair]:
    return [(attribute, value(attribute)) for attribute in attributes]


def orders() -> Iterator[tuple[str, Words]]:
    """The attributes of each binding and the platform, in every order."""
    for binding, attributes in BINDINGS.items():
        for order in itertools.permutations([*pairs_of(*attributes), (PLATFORM, OWN)]):
            places = "-".join("platform" if name == PLATFORM else f"{name:#x}" for name, _ in order)
            yield f"{binding}-{places}", words(*order)


def conflicts() -> Iterator[tuple[str, Words]]:
    """Every set of two or more displays and share groups, with and without a context: for the vendor to refuse."""
    for length in (2, 3, 4):
        for displays in itertools.combinations((EGL, GLX, WGL, CGL), length):
            for context in ((), (GL,)):
                chosen = (*context, *displays)
                name = "-".join(f"{attribute:#x}" for attribute in chosen)
                yield f"conflict-{name}-platform", words(*pairs_of(*chosen), (PLATFORM, OWN))
                yield f"conflict-platform-{name}", words((PLATFORM, OWN), *pairs_of(*chosen))


def values() -> Iterator[tuple[str, Words]]:
    """Each attribute alone with every kind of value, before the platform and after it."""
    kinds: dict[str, int | str] = {
        "default": 0,
        "one": 1,
        "all-ones": (1 << 64) - 1,
        "high-half": 0xC0FFEE << 32,
        "low-half": 0xFFFF_FFFF,
        "sign": 1 << 63,
        "name-of-platform": PLATFORM,
        "name-of-attribute": EGL,
        "own-platform": OWN,
        "other-platform": OTHER,
    }
    for attribute, (kind, bits) in itertools.product(ATTRIBUTES, kinds.items()):
        yield f"{attribute:#x}-{kind}-platform", words((attribute, bits), (PLATFORM, OWN))
        yield f"platform-{attribute:#x}-{kind}", words((PLATFORM, OWN), (attribute, bits))


LISTS: dict[str, Words] = {
    **dict(orders()),
    **dict(conflicts()),
    **dict(values()),
    "all-default": words(*((attribute, 0) for attribute in ATTRIBUTES), (PLATFORM, OWN)),
    "twice": words((GL, 1), (GL, 2), (PLATFORM, OWN), (EGL, 3), (EGL, 3)),
    "user-sync-before": words((USER_SYNC, 1), *pairs_of(GL, EGL), (PLATFORM, OWN)),
    "user-sync-after": words((PLATFORM, OWN), *pairs_of(GL, EGL), (USER_SYNC, 1)),
    "unknown-between": words((GL, value(GL)), (0x7777, 7), (PLATFORM, OWN), (0x200D, 8), (GLX, value(GLX))),
    "attributes-after-the-end": [PLATFORM, OWN, GL, value(GL), 0, EGL, value(EGL), 0],
    "other-platform-after-the-end": [GL, value(GL), PLATFORM, OWN, 0, PLATFORM, OTHER, 0],
    "long": words(*pairs_of(*ATTRIBUTES) * 5, (PLATFORM, OWN), *pairs_of(*ATTRIBUTES) * 5),
}


class World:
    """The platforms of three vendors, whose functions take a list and answer patterns."""

    def __init__(self, cl: Session, function: str) -> None:
        self.cl = cl
        self.function = api().functions[function]
        self.objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        queried = function == "clGetGLContextInfoKHR"
        self.address = cl.GetExtensionFunctionAddress(function) if queried else None

    def call(self, number: int, listed: Words) -> PatternedCall:
        """A call for a platform, with a list that ends where an unreadable page begins."""
        call = PatternedCall(self.cl, self.function, self.objects[number], address=self.address)
        handles = {OWN: self.objects[number].platform, OTHER: self.objects[number - 1].platform}
        content = [handles[word] if isinstance(word, str) else word for word in listed]
        call.give_list(0, content)
        return call


def vendors(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Three vendors that advertise the extension, of which one has ICD 2 where the loader knows that."""
    for name in "abc":
        icd2 = name == "b" and loader.has("ICD 2")
        extensions = "cl_khr_icd cl_khr_gl_sharing"
        sandbox.vendor(name, icd2=icd2, extensions=extensions, functions={"answers": [function]})


def reached(log: CallLog) -> list[str]:
    return [call.who for call in log.calls() if call.who != "application"]


@requirement("GL-CTX-019", "GL-INF-001")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_attributes_of_opengl_arrive_as_they_are(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Attributes of every binding, order and value reach the vendor, up to the end of the list and no further."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        calls = [world.call(i % 3, listed) for i, listed in enumerate(LISTS.values())]
        for call in calls:
            call.make()
        logs = sandbox.log.during(function)
        assert len(calls) > 100
        for call, log, name in zip(calls, logs, LISTS, strict=True):
            assert (name, call.problems(log)) == (name, [])


def error_of(call: PatternedCall) -> int:
    """What the call reported, by its result or by errcode_ret."""
    code = call.sent[-1].buffer
    if call.function.result_kind == "handle" and isinstance(code, Buffer):
        return code.code() if call.result == 0 else 0
    return call.result


WITHOUT_PLATFORM = [
    words(*order)
    for attributes in BINDINGS.values()
    for order in (pairs_of(*attributes), pairs_of(*attributes)[::-1], [*pairs_of(*attributes), (0x7777, 1)])
]


@requirement("GL-CTX-019")
def test_gl_attributes_without_a_platform_reach_the_vendor_of_the_devices(loader: Loader, sandbox: Sandbox) -> None:
    """Attributes of OpenGL without a platform arrive at the vendor of the devices, as they are."""
    vendors(loader, sandbox, "clCreateContext")
    with loader.start(sandbox) as cl:
        world = World(cl, "clCreateContext")
        calls = [world.call(number, listed) for listed in WITHOUT_PLATFORM for number in range(3)]
        for call in calls:
            call.make()
        for call, log in zip(calls, sandbox.log.during("clCreateContext"), strict=True):
            assert call.problems(log) == []


@requirement("GL-CTX-020")
@pytest.mark.parametrize("function", FUNCTIONS[1:])
def test_gl_attributes_without_a_platform_are_refused_or_the_first_platforms(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: str
) -> None:
    """Attributes of OpenGL without a platform are refused, or are the first platform's, whatever they are."""
    vendors(loader, sandbox, function)
    outcomes = set()
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        for listed in WITHOUT_PLATFORM:
            call = world.call(0, listed)
            call.make()
            log = sandbox.log.during(function)[-1]
            refused = error_of(call) == CL.INVALID_PLATFORM
            if function == "clGetGLContextInfoKHR":  # which does not have that one among its errors
                refused = error_of(call) != CL.SUCCESS
            assert call.problems(log) == [] if reached(log) else refused
            outcomes.add("first platform" if reached(log) else "refused")
        control = world.call(2, words(*pairs_of(GL, EGL), (PLATFORM, OWN)))
        control.make()
        assert control.problems(sandbox.log.during(function)[-1]) == []
    assert len(outcomes) == 1
    record(outcomes.pop())
