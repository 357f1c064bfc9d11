# SPDX-License-Identifier: Apache-2.0
"""clGetGLContextInfoKHR through a loader, and errors of contexts that are tied to OpenGL (GL-INF, GL-CTX)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, Buffer, Loader, Sandbox, Session, Unsupported, Value, api, requirement

FUNCTION = "clGetGLContextInfoKHR"
EXTENSIONS = "cl_khr_icd cl_khr_gl_sharing"
QUERIES = [api().constant(f"CL_{name}_FOR_GL_CONTEXT_KHR") for name in ("CURRENT_DEVICE", "DEVICES")]
CONTEXT, DISPLAY, X_DISPLAY = 0x61C00100, 0x61E61000, 0x61617800
ATTRIBUTES: list[Any] = ["CL_GL_CONTEXT_KHR", CONTEXT, "CL_EGL_DISPLAY_KHR", DISPLAY]


class Calls:
    """The three functions that take attributes of OpenGL."""

    def __init__(self, cl: Session) -> None:
        self.cl = cl
        # Not the query by platform, which may give the vendor's own function.
        self.address = cl.GetExtensionFunctionAddress(FUNCTION)
        if not self.address and not cl.symbol(FUNCTION):
            raise Unsupported("loader", f"{FUNCTION} is to be had of each platform only", FUNCTION)

    def listed(self, platform: Value, attributes: list[Any]) -> Buffer:
        words = [*attributes[:2], "CL_CONTEXT_PLATFORM", platform, *attributes[2:], 0]
        return self.cl.words([api().constant(word) if isinstance(word, str) else word for word in words])

    def info(
        self,
        platform: Value,
        query: int,
        size: int,
        to: Buffer | None,
        size_ret: Buffer | None,
        attributes: list[Any] = ATTRIBUTES,
    ) -> int:
        given = (self.listed(platform, attributes), query, size, to, size_ret)
        if self.address:
            return self.cl.call_at(self.address, FUNCTION, *given)
        error = self.cl.call(FUNCTION, *given)
        assert isinstance(error, int)
        return error

    def errors(self, platform: Value, attributes: list[Any] = ATTRIBUTES) -> list[int]:
        """What each function reports; no context is made."""
        code, listed = self.cl.buffer(8), self.listed(platform, attributes)
        devices = self.cl.GetDeviceIDs(platform)
        result = []
        kind = api().constant("CL_DEVICE_TYPE_GPU")
        for function, arguments in (
            ("clCreateContext", (listed, len(devices), devices, None, None)),
            ("clCreateContextFromType", (listed, kind, None, None)),
        ):
            assert self.cl.call(function, *arguments, code) == CL.SUCCESS
            assert self.cl.call(function, *arguments, None) == CL.SUCCESS
            assert code[4:] == b"\xa5" * 4
            result.append(code.code())
        return [*result, self.info(platform, QUERIES[0], api().address, self.cl.room(), None, attributes)]


def platforms_by_name(cl: Session) -> dict[str, Value]:
    return {cl.GetPlatformInfo(platform): platform for platform in cl.GetPlatformIDs()}


@requirement("GL-INF-002")
def test_gl_context_info_is_found_by_address_query(loader: Loader, sandbox: Sandbox) -> None:
    """The function is to be had by its address, of a platform that has it."""
    sandbox.vendor("a", extensions=EXTENSIONS)
    with loader.start(sandbox) as cl:
        for platform in platforms_by_name(cl).values():
            address = cl.call("clGetExtensionFunctionAddressForPlatform", platform, FUNCTION)
            assert isinstance(address, Value)
            assert address
            names = [*ATTRIBUTES, "CL_CONTEXT_PLATFORM", platform, 0]
            listed = cl.words([api().constant(name) if isinstance(name, str) else name for name in names])
            assert cl.call_at(address, FUNCTION, listed, QUERIES[0], api().address, cl.room(), None) == CL.SUCCESS


COUNTS = (0, 1, 2, 3, 7, 64)


@requirement("GL-INF-001")
@pytest.mark.parametrize("query", QUERIES, ids=["current", "all"])
def test_gl_devices_come_back_whatever_their_number(loader: Loader, sandbox: Sandbox, query: int) -> None:
    """However many devices a vendor names, the application gets them all, and their size, and not a byte more."""
    for count in COUNTS:
        sandbox.vendor(f"v{count}", extensions=EXTENSIONS, gpus=1, faults=[f"gl_devices={count}"])
    with loader.start(sandbox) as cl:
        calls, platforms = Calls(cl), platforms_by_name(cl)
        assert sorted(platforms) == sorted(f"v{count}" for count in COUNTS)
        for count in COUNTS:
            platform, length, size = platforms[f"v{count}"], api().address * count, cl.room()
            assert calls.info(platform, query, 0, None, size) == CL.SUCCESS
            assert size.word() == length
            device = cl.GetDeviceIDs(platform)[0]
            exact, wide = cl.buffer(max(length, 1)), cl.buffer(length + 24)
            assert calls.info(platform, query, length, exact, size) == CL.SUCCESS
            assert [int(handle) for handle in exact.handles()] == [device] * count
            assert calls.info(platform, query, length + 24, wide, None) == CL.SUCCESS
            assert wide[length:] == b"\xa5" * 24
            if count:
                short = cl.buffer(length)
                assert calls.info(platform, query, length - 1, short, size) == CL.INVALID_VALUE
                assert short.bytes() == b"\xa5" * length
            assert calls.info(platform, query, length, None, None) == CL.SUCCESS


CODES = (-1000, -59, -64, -60, -32, -34, -1001, -2, 1, 0x7FFFFFFF, -0x80000000)


@requirement("GL-CTX-019", "GL-INF-001")
def test_any_error_of_a_gl_context_comes_back(loader: Loader, sandbox: Sandbox) -> None:
    """Whatever error a vendor has for attributes of OpenGL, each of the three functions reports it as it is."""
    for code in CODES:
        name, faults = f"v{code & 0xFFFFFFFF:x}", [f"gl_egl_context_answers={code}"]
        sandbox.vendor(name, extensions=EXTENSIONS, faults=faults)
    with loader.start(sandbox) as cl:
        calls, platforms = Calls(cl), platforms_by_name(cl)
        for code in CODES:
            assert calls.errors(platforms[f"v{code & 0xFFFFFFFF:x}"]) == [code] * 3


REFUSED: dict[str, tuple[list[Any], int]] = {
    "no context": (["CL_GL_CONTEXT_KHR", 7, "CL_EGL_DISPLAY_KHR", DISPLAY], CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR),
    "no display": (["CL_GL_CONTEXT_KHR", CONTEXT, "CL_EGL_DISPLAY_KHR", 7], CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR),
    "two displays": ([*ATTRIBUTES, "CL_GLX_DISPLAY_KHR", X_DISPLAY], CL.INVALID_OPERATION),
    "share group and context": (["CL_CGL_SHAREGROUP_KHR", 7, "CL_GL_CONTEXT_KHR", CONTEXT], CL.INVALID_OPERATION),
    "binding of Windows": (["CL_GL_CONTEXT_KHR", CONTEXT, "CL_WGL_HDC_KHR", 7], CL.INVALID_OPERATION),
    "user sync": ([*ATTRIBUTES, "CL_CONTEXT_INTEROP_USER_SYNC", 1], CL.INVALID_PROPERTY),
}


@requirement("GL-CTX-019", "GL-INF-001")
@pytest.mark.parametrize("what", REFUSED)
def test_gl_attributes_that_a_vendor_refuses_are_refused(loader: Loader, sandbox: Sandbox, what: str) -> None:
    """What a vendor refuses by the text of the extension, it refuses through the loader, and nothing more."""
    attributes, error = REFUSED[what]
    sandbox.vendor("without", extensions="cl_khr_icd")
    for name in "ab":
        sandbox.vendor(name, extensions=EXTENSIONS, icd2=name == "b" and loader.has("ICD 2"))
    with loader.start(sandbox) as cl:
        calls, platforms = Calls(cl), platforms_by_name(cl)
        for name in "ab":
            result = calls.errors(platforms[name], attributes)
            assert result[:2] == [error] * 2
            if what != "user sync":  # that of clGetGLContextInfoKHR is for the vendor to choose
                assert result[2] == error
            context = cl.buffer(4)
            listed = calls.listed(platforms[name], ATTRIBUTES)
            kind = api().constant("CL_DEVICE_TYPE_GPU")
            assert cl.call("clCreateContextFromType", listed, kind, None, None, context)
            assert context.code() == CL.SUCCESS
