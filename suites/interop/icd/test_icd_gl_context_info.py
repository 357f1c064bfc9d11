# SPDX-License-Identifier: Apache-2.0
"""clGetGLContextInfoKHR of a vendor's ICD: devices, sizes, and what it refuses (GL-INF)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, Buffer, Icd, Sandbox, Sharing, Unsupported, api, extension, requirement, sharing

pytestmark = extension("cl_khr_gl_sharing")

FUNCTION = "clGetGLContextInfoKHR"
CURRENT = api().constant("CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR")
ALL = api().constant("CL_DEVICES_FOR_GL_CONTEXT_KHR")
GL, EGL, GLX, WGL, CGL = (
    api().constant(f"CL_{name}_KHR")
    for name in ("GL_CONTEXT", "EGL_DISPLAY", "GLX_DISPLAY", "WGL_HDC", "CGL_SHAREGROUP")
)
both = pytest.mark.parametrize("query", [CURRENT, ALL], ids=["current", "all"])


def ask(
    shared: Sharing, query: int, size: int, to: Buffer | None, size_ret: Buffer | None, listed: list[Any] | None = None
) -> int:
    """The query about a list, that of the usable OpenGL context if none is given."""
    pairs = shared.world.attributes() if listed is None else listed
    return shared.session.call(FUNCTION, shared.session.words(shared.listed(*pairs)), query, size, to, size_ret)


def error_of(shared: Sharing, listed: list[Any], query: int = CURRENT) -> int:
    return ask(shared, query, 512, shared.session.buffer(512), shared.session.buffer(8), listed)


def devices(shared: Sharing, query: int) -> list[int]:
    """The devices that a query answers; asks for their size first."""
    size = shared.session.buffer(8)
    assert ask(shared, query, 0, None, size) == 0
    length = size.u64()
    assert length % 8 == 0
    if not length:
        raise Unsupported("machine", "no device of this platform corresponds to the OpenGL context")
    listed = shared.session.buffer(length)
    assert ask(shared, query, length, listed, size) == 0
    assert size.u64() == length
    return [int(handle) for handle in listed.handles()]


@requirement("GL-INF-003", "GL-INF-010")
def test_current_device_of_the_gl_context_is_one_of_the_platform(icd: Icd, sandbox: Sandbox) -> None:
    """One device of the platform is the OpenGL context's current one, asked with the platform in the list."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            found = devices(shared, CURRENT)
            assert len(found) == 1
            assert found[0] in session.GetDeviceIDs(shared.platform)


@requirement("GL-INF-004", "GL-INF-010")
def test_devices_of_the_gl_context_are_of_the_platform(icd: Icd, sandbox: Sandbox) -> None:
    """All devices for the OpenGL context are devices of the platform, each once, and the current one is among them."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            found = devices(shared, ALL)
            assert set(found) <= set(session.GetDeviceIDs(shared.platform))
            assert len(set(found)) == len(found)
            assert devices(shared, CURRENT)[0] in found


@requirement("GL-INF-005")
@both
def test_gl_context_without_a_device_has_size_0(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """Where no device corresponds to the OpenGL context the call succeeds, with a size of 0."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            listed = shared.world.attributes("without_devices")
            size = session.buffer(8)
            assert ask(shared, query, 0, None, size, listed) == 0
            assert size.u64() == 0


@requirement("GL-INF-006")
@pytest.mark.parametrize("query", [0, 0x2005, 0x2008, 0x2009, 0xFFFFFFFF], ids=hex)
def test_unknown_query_of_a_gl_context_is_invalid_value(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """A query that is neither of the two is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            answer = session.buffer(64)
            assert ask(shared, query, 64, answer, session.buffer(8)) == CL.INVALID_VALUE
            assert ask(shared, CURRENT, 64, answer, None) == 0


@requirement("GL-INF-007")
@both
def test_too_little_room_for_the_gl_devices_is_invalid_value(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """Too little room is CL_INVALID_VALUE and nothing is written; outputs that are NULL are left out."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            length = 8 * len(devices(shared, query))
            for room in range(length):
                answer = session.buffer(length)
                assert ask(shared, query, room, answer, None) == CL.INVALID_VALUE
                assert answer.bytes() == b"\xa5" * length
            wide = session.buffer(length + 8)
            assert ask(shared, query, length + 8, wide, None) == 0
            assert wide[length:] == b"\xa5" * 8
            assert ask(shared, query, length, None, None) == 0


@requirement("GL-INF-008", "PL-OTH-005")
@pytest.mark.parametrize("place", ["first", "last"])
def test_unknown_attribute_of_a_gl_context_is_invalid_value(icd: Icd, sandbox: Sandbox, place: str) -> None:
    """An attribute that there is not gives CL_INVALID_VALUE, unlike in clCreateContext."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            attributes = shared.world.attributes()
            listed = [0x7777, 1, *attributes] if place == "first" else [*attributes, 0x7777, 1]
            assert error_of(shared, listed) == CL.INVALID_VALUE
            assert error_of(shared, attributes) == 0


@requirement("GL-INF-009", "PL-OTH-005")
@pytest.mark.parametrize("repeated", [GL, EGL], ids=["context", "display"])
def test_repeated_attribute_of_a_gl_context_is_invalid_value(icd: Icd, sandbox: Sandbox, repeated: int) -> None:
    """An attribute that is there twice gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            attributes = shared.world.attributes()
            again = [repeated, attributes[attributes.index(repeated) + 1]]
            assert error_of(shared, [*attributes, *again]) == CL.INVALID_VALUE
            assert error_of(shared, attributes) == 0


@requirement("GL-INF-011")
@pytest.mark.parametrize(
    "what",
    ["context", "display", "without_buffers", "foreign", "wgl", "cgl", "two displays", "share group and context"],
)
@both
def test_gl_context_info_has_the_errors_of_context_creation(icd: Icd, sandbox: Sandbox, query: int, what: str) -> None:
    """References that are none, and attributes in conflict, give the errors of clCreateContext."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            if what == "cgl" and shared.has("cl_APPLE_gl_sharing"):
                raise Unsupported("loader", "this platform shares with CGL")
            other = session.buffer(4096, 0)
            context, display = shared.world["context", "usable"], shared.world["display", "egl"]
            listed, error = {
                "context": ([GL, other, EGL, display], CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR),
                "display": ([GL, context, EGL, other], CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR),
                "wgl": ([GL, context, WGL, other], CL.INVALID_OPERATION),
                "cgl": ([CGL, other], CL.INVALID_OPERATION),
                "two displays": ([GL, context, EGL, display, GLX, other], CL.INVALID_OPERATION),
                "share group and context": ([GL, context, CGL, other], CL.INVALID_OPERATION),
            }.get(what, (None, CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR))
            assert error_of(shared, listed or shared.world.attributes(what), query) == error
            assert error_of(shared, shared.world.attributes(), query) == 0
