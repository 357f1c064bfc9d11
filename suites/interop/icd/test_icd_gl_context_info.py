# SPDX-License-Identifier: Apache-2.0
"""clGetGLContextInfoKHR of a vendor's ICD: devices, sizes, and what it refuses (GL-INF)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, Buffer, GlPlatform, Icd, Sandbox, Unsupported, api, extension, gl_platforms, requirement

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
    platform: GlPlatform,
    query: int,
    size: int,
    to: Buffer | None,
    size_ret: Buffer | None,
    listed: list[Any] | None = None,
) -> int:
    """The query about a list, that of the usable OpenGL context if none is given."""
    pairs = platform.gl.attributes() if listed is None else listed
    return platform.session.call(FUNCTION, platform.session.words(platform.listed(*pairs)), query, size, to, size_ret)


def error_of(platform: GlPlatform, listed: list[Any], query: int = CURRENT) -> int:
    return ask(platform, query, 512, platform.session.buffer(512), platform.session.buffer(8), listed)


def devices(platform: GlPlatform, query: int) -> list[int]:
    """The devices that a query answers; asks for their size first."""
    size = platform.session.buffer(8)
    assert ask(platform, query, 0, None, size) == 0
    length = size.u64()
    assert length % 8 == 0
    if not length:
        raise Unsupported("machine", "no device of this platform corresponds to the OpenGL context")
    listed = platform.session.buffer(length)
    assert ask(platform, query, length, listed, size) == 0
    assert size.u64() == length
    return [int(handle) for handle in listed.handles()]


@requirement("GL-INF-003", "GL-INF-010")
def test_current_device_of_the_gl_context_is_one_of_the_platform(icd: Icd, sandbox: Sandbox) -> None:
    """One device of the platform is the OpenGL context's current one, asked with the platform in the list."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            handles = devices(platform, CURRENT)
            assert len(handles) == 1
            assert handles[0] in session.GetDeviceIDs(platform.handle)


@requirement("GL-INF-004", "GL-INF-010")
def test_devices_of_the_gl_context_are_of_the_platform(icd: Icd, sandbox: Sandbox) -> None:
    """All devices for the OpenGL context are devices of the platform, and the current one is among them."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            handles = devices(platform, ALL)
            assert set(handles) <= set(session.GetDeviceIDs(platform.handle))
            assert devices(platform, CURRENT)[0] in handles


@requirement("GL-INF-012")
def test_devices_of_the_gl_context_are_named_once(icd: Icd, sandbox: Sandbox) -> None:
    """No device is named twice for the OpenGL context."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            handles = devices(platform, ALL)
            assert len(set(handles)) == len(handles)


@requirement("GL-INF-005")
@both
def test_gl_context_without_a_device_has_size_0(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """Where no device corresponds to the OpenGL context the call succeeds, with a size of 0."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            listed = platform.gl.attributes("without_devices")
            size = session.buffer(8)
            assert ask(platform, query, 0, None, size, listed) == 0
            assert size.u64() == 0


@requirement("GL-INF-006")
@pytest.mark.parametrize("query", [0, 0x2005, 0x2008, 0x2009, 0xFFFFFFFF], ids=hex)
def test_unknown_query_of_a_gl_context_is_invalid_value(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """A query that is neither of the two is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            answer = session.buffer(64)
            assert ask(platform, query, 64, answer, session.buffer(8)) == CL.INVALID_VALUE
            assert ask(platform, CURRENT, 64, answer, None) == 0


@requirement("GL-INF-007")
@both
def test_too_little_room_for_the_gl_devices_is_invalid_value(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """Too little room is CL_INVALID_VALUE, and nothing is written past it; outputs that are NULL are left out."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            length = 8 * len(devices(platform, query))
            for room in range(length):
                answer = session.buffer(length)
                assert ask(platform, query, room, answer, None) == CL.INVALID_VALUE
                assert answer[room:] == b"\xa5" * (length - room)
            wide = session.buffer(length + 8)
            assert ask(platform, query, length, wide, None) == 0
            assert wide[length:] == b"\xa5" * 8
            assert ask(platform, query, length + 8, wide, None) == 0
            assert ask(platform, query, length, None, None) == 0


@requirement("GL-INF-008", "PL-OTH-005")
@pytest.mark.parametrize("place", ["first", "last"])
def test_unknown_attribute_of_a_gl_context_is_invalid_value(icd: Icd, sandbox: Sandbox, place: str) -> None:
    """An attribute that there is not gives CL_INVALID_VALUE, unlike in clCreateContext."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            attributes = platform.gl.attributes()
            listed = [0x7777, 1, *attributes] if place == "first" else [*attributes, 0x7777, 1]
            assert error_of(platform, listed) == CL.INVALID_VALUE
            assert error_of(platform, attributes) == 0


@requirement("GL-INF-009")
@pytest.mark.parametrize("repeated", [GL, EGL], ids=["context", "display"])
def test_repeated_attribute_of_a_gl_context_is_invalid_value(icd: Icd, sandbox: Sandbox, repeated: int) -> None:
    """An attribute that is there twice gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            attributes = platform.gl.attributes()
            again = [repeated, attributes[attributes.index(repeated) + 1]]
            assert error_of(platform, [*attributes, *again]) == CL.INVALID_VALUE
            assert error_of(platform, attributes) == 0


@requirement("GL-INF-011")
@pytest.mark.parametrize(
    "what",
    ["context", "display", "without_buffers", "foreign", "wgl", "cgl", "two displays", "share group and context"],
)
@both
def test_gl_context_info_has_the_errors_of_context_creation(icd: Icd, sandbox: Sandbox, query: int, what: str) -> None:
    """References that are none, and attributes in conflict, give the errors of clCreateContext."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            if what == "cgl" and platform.has("cl_APPLE_gl_sharing"):
                raise Unsupported("loader", "this platform shares with CGL")
            other = session.buffer(4096, 0)
            context, display = platform.gl["context", "usable"], platform.gl["display", "egl"]
            no_context, operation = CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR, CL.INVALID_OPERATION
            # What is no display of GLX or WGL identifies no context, either.
            listed, errors = {
                "context": ([GL, other, EGL, display], [no_context]),
                "display": ([GL, context, EGL, other], [no_context]),
                "wgl": ([GL, context, WGL, other], [operation, no_context]),
                "cgl": ([CGL, other], [operation]),
                "two displays": ([GL, context, EGL, display, GLX, other], [operation, no_context]),
                "share group and context": (
                    [GL, context, CGL, other],
                    [operation, *[no_context] * platform.has("cl_APPLE_gl_sharing")],
                ),
            }.get(what, (None, [no_context]))
            assert error_of(platform, listed or platform.gl.attributes(what), query) in errors
            assert error_of(platform, platform.gl.attributes(), query) == 0
