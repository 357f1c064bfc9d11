# SPDX-License-Identifier: Apache-2.0
"""Contexts of a vendor's ICD that are tied to OpenGL: what identifies one, and what is refused (GL-CTX)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    CL,
    GlPlatform,
    Icd,
    Sandbox,
    Unsupported,
    Value,
    api,
    extension,
    gl_platforms,
    requirement,
)

pytestmark = extension("cl_khr_gl_sharing")

GL, EGL, GLX, WGL, CGL = (
    api().constant(f"CL_{name}_KHR")
    for name in ("GL_CONTEXT", "EGL_DISPLAY", "GLX_DISPLAY", "WGL_HDC", "CGL_SHAREGROUP")
)
USER_SYNC = api().constant("CL_CONTEXT_INTEROP_USER_SYNC")

APPLE = "cl_APPLE_gl_sharing"  # names that the platform shares with CGL

BY_DEVICES, BY_TYPE = "clCreateContext", "clCreateContextFromType"
both = pytest.mark.parametrize(
    "function", [BY_DEVICES, pytest.param(BY_TYPE, marks=pytest.mark.requirement("GL-CTX-017"))]
)

# Where a condition holds beside this one, either error is right: no order of precedence is described.
NO_CONTEXT_EITHER = (CL.INVALID_OPERATION, CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR)


def memory(platform: GlPlatform) -> Any:
    """Memory that is not a context, display or share group of anybody's."""
    return platform.session.buffer(4096, 0)


def share_group(platform: GlPlatform) -> Any:
    """A share group of CGL, for a platform that knows such; other values have an error of their own there."""
    return platform.gl["share_group", "usable"] if platform.has(APPLE) else memory(platform)


def created(platform: GlPlatform, attributes: list[Any], function: str) -> tuple[int, Value]:
    return platform.create_context(attributes, by_type=function == BY_TYPE)


def refused(platform: GlPlatform, attributes: list[Any], function: str) -> int:
    """The error of a context that must not be made."""
    error, context = created(platform, attributes, function)
    assert not context
    return error


def usable(platform: GlPlatform, attributes: list[Any], function: str) -> bool:
    """The positive control: the context is made, and a buffer of OpenGL's can be shared in it."""
    error, context = created(platform, attributes, function)
    if error or not context:
        return False
    error, buffer = platform.create(
        "clCreateFromGLBuffer", CL.MEM_READ_WRITE, platform.gl["buffer", "plain"], context=context
    )
    return error == 0 and bool(buffer)


@requirement("GL-CTX-002", "GL-CTX-006")
@both
def test_context_and_egl_display_make_a_gl_context(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A context and its EGL display identify an OpenGL context, be it current in the thread or not."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            attributes = platform.gl.attributes()
            platform.gl.do("current")
            assert usable(platform, attributes, function)
            platform.gl.do("release")
            assert usable(platform, attributes, function)
            assert usable(platform, attributes[2:] + attributes[:2], function)


@requirement("GL-CTX-003")
@both
def test_context_and_x_display_make_a_gl_context(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A context and its X display identify an OpenGL context of GLX; another display with it does not."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            attributes = platform.gl.attributes(display="glx")
            assert usable(platform, attributes, function)
            assert (
                refused(platform, [*attributes[:3], memory(platform)], function)
                == CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR
            )


@requirement("GL-CTX-001", "GL-CTX-007")
@pytest.mark.parametrize("bogus", ["context", "display"])
@both
def test_value_that_is_not_a_gl_context_is_invalid_sharegroup(
    icd: Icd, sandbox: Sandbox, function: str, bogus: str
) -> None:
    """What denotes no OpenGL context is CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, which is -1000."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            context, display = platform.gl["context", "usable"], platform.gl["display", "egl"]
            wrong = [memory(platform), display] if bogus == "context" else [context, memory(platform)]
            assert refused(platform, [GL, wrong[0], EGL, wrong[1]], function) == CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR
            assert usable(platform, [GL, context, EGL, display], function)


@pytest.mark.parametrize(
    "state",
    [
        pytest.param("without_buffers", marks=pytest.mark.requirement("GL-CTX-008")),
        pytest.param("foreign", marks=pytest.mark.requirement("GL-CTX-009")),
    ],
)
@both
def test_gl_context_that_cannot_share_is_invalid_sharegroup(
    icd: Icd, sandbox: Sandbox, function: str, state: str
) -> None:
    """A context without buffer objects, and one of other hardware, give the same error."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            assert refused(platform, platform.gl.attributes(state), function) == CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR
            assert usable(platform, platform.gl.attributes(), function)


@requirement("GL-CTX-011")
@pytest.mark.parametrize("binding", ["wgl", "cgl"])
@both
def test_binding_of_another_system_is_invalid_operation(
    icd: Icd, sandbox: Sandbox, function: str, binding: str
) -> None:
    """WGL and CGL are not bindings of the OpenGL here: CL_INVALID_OPERATION; nor is there a context of WGL."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            if binding == "cgl" and platform.has(APPLE):
                raise Unsupported("loader", "this platform shares with CGL")
            other = memory(platform)
            attributes = [GL, platform.gl["context", "usable"], WGL, other] if binding == "wgl" else [CGL, other]
            errors = NO_CONTEXT_EITHER if binding == "wgl" else (CL.INVALID_OPERATION,)
            assert refused(platform, attributes, function) in errors
            assert usable(platform, platform.gl.attributes(), function)


@requirement("GL-CTX-005")
@both
def test_cgl_share_group_alone_is_taken(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A share group of CGL is given without a context or display."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, APPLE):
            assert usable(platform, [CGL, platform.gl["share_group", "usable"]], function)


@requirement("GL-CTX-010")
@both
def test_value_that_is_not_a_share_group_is_invalid_sharegroup(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A share group that is none is CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, APPLE):
            assert refused(platform, [CGL, memory(platform)], function) == CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR
            assert usable(platform, [CGL, platform.gl["share_group", "usable"]], function)


@requirement("GL-CTX-012")
@pytest.mark.parametrize("second", [GLX, WGL, CGL], ids=["glx", "wgl", "cgl"])
@both
def test_two_displays_are_invalid_operation(icd: Icd, sandbox: Sandbox, function: str, second: int) -> None:
    """More than one display or share group is CL_INVALID_OPERATION, in every order.

    Displays that are none identify no context, which is another error.
    """
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            attributes = platform.gl.attributes()
            other = [second, share_group(platform) if second == CGL else memory(platform)]
            errors = (CL.INVALID_OPERATION,) if second == CGL else NO_CONTEXT_EITHER
            assert refused(platform, [*attributes, *other], function) in errors
            assert refused(platform, [*other, *attributes], function) in errors
            three = [*attributes, *other, {GLX: WGL, WGL: GLX, CGL: GLX}[second], memory(platform)]
            assert refused(platform, three, function) in NO_CONTEXT_EITHER
            assert usable(platform, [*attributes, second, 0], function)


@requirement("GL-CTX-013")
@both
def test_share_group_beside_a_context_is_invalid_operation(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A share group beside a context is CL_INVALID_OPERATION."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            # Without a display a context of EGL or GLX is not identified, which is another error.
            other = [GL, platform.gl["context", "usable"]] if platform.has(APPLE) else platform.gl.attributes()
            group = [CGL, share_group(platform)]
            for attributes in ([*other, *group], [*group, *other]):
                assert refused(platform, attributes, function) == CL.INVALID_OPERATION
            assert usable(platform, platform.gl.attributes(), function)


@requirement("GL-CTX-014")
def test_device_that_cannot_share_is_invalid_operation(icd: Icd, sandbox: Sandbox) -> None:
    """A device that cannot share is CL_INVALID_OPERATION when the context is made, alone and beside one that can.

    As the OpenGL context then is of another device than the new one, the error of such is right, too.
    """
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            if not platform.others:
                raise Unsupported("machine", "all devices of this platform share with OpenGL")
            attributes = platform.gl.attributes()
            for devices in (
                platform.others[:1],
                [platform.device, platform.others[0]],
                [platform.others[0], platform.device],
            ):
                error, context = platform.create_context(attributes, devices)
                assert not context
                assert error in NO_CONTEXT_EITHER
            for kind in (platform.type_of(platform.others[0]), api().constant("CL_DEVICE_TYPE_ALL")):
                code, listed = session.buffer(4), session.words(platform.listed(*attributes))
                made = session.call(BY_TYPE, listed, kind, None, None, code)
                # A context of those devices that can share is right, too, and so is that no device matches.
                assert code.code() in (CL.SUCCESS, *NO_CONTEXT_EITHER, CL.DEVICE_NOT_FOUND)
                assert bool(made) == (code.code() == CL.SUCCESS)
            assert usable(platform, attributes, BY_DEVICES)


@requirement("GL-CTX-015")
@pytest.mark.parametrize(
    "names",
    [(GL,), (GL, EGL), (GL, GLX), (GL, WGL), (CGL,), (GL, EGL, GLX, WGL, CGL)],
    ids=lambda names: "-".join(f"{name:#x}" for name in names),
)
@both
def test_default_values_make_a_plain_context(icd: Icd, sandbox: Sandbox, function: str, names: tuple[int, ...]) -> None:
    """Attributes with their default values are as good as none: the context is made, and is none of OpenGL's."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            error, context = created(platform, [word for name in names for word in (name, 0)], function)
            assert error == CL.SUCCESS
            assert context
            name = platform.gl["buffer", "plain"]
            error, buffer = platform.create("clCreateFromGLBuffer", CL.MEM_READ_WRITE, name, context=context)
            assert not buffer
            assert error in (CL.INVALID_CONTEXT, CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR)
            assert usable(platform, [*platform.gl.attributes(), CGL, 0, WGL, 0], function)


@requirement("GL-CTX-016")
@both
def test_user_sync_beside_a_gl_attribute_is_invalid_property(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_CONTEXT_INTEROP_USER_SYNC beside an attribute of OpenGL is CL_INVALID_PROPERTY, in every order."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            attributes = platform.gl.attributes()
            for listed in ([USER_SYNC, 1, *attributes], [*attributes, USER_SYNC, 1]):
                assert refused(platform, listed, function) == CL.INVALID_PROPERTY
            assert usable(platform, attributes, function)


@requirement("GL-CTX-018")
def test_gl_object_in_a_plain_context_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """In a context without an attribute of OpenGL no memory object of OpenGL can be made."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            name = platform.gl["buffer", "plain"]
            error, buffer = platform.create(
                "clCreateFromGLBuffer", CL.MEM_READ_WRITE, name, context=platform.plain.context
            )
            assert not buffer
            assert error in (CL.INVALID_CONTEXT, CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR)
            assert platform.buffer()
