# SPDX-License-Identifier: Apache-2.0
"""What OpenGL and EGL have, for the checks of an ICD that shares with them: displays, contexts, objects, syncs.

A mock ICD has plain numbers for all of it (mock_icds/gl_world.h). For others the helper clharness_gl_objects makes real
ones in the process of the ICD, with EGL and without a window (harness/probe/gl_objects.c).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any

from harness.api.codes import CL
from harness.api.model import api
from harness.build import ROOT, build
from harness.probe.calls import CallFailed
from harness.probe.extensions import extensions
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.session import Session
from harness.probe.values import Value
from harness.sandbox import Unsupported

_WORLD = ROOT / "mock_icds" / "gl_world.h"
_ENTRY = re.compile(r"^([A-Z_]+)\((\w+), (0x[0-9A-Fa-f]+|\d+)\b", re.M)
_MOCK = "clharness"  # CL_PLATFORM_VENDOR

FILL = 0x5A  # every byte of the data of OpenGL's objects


class OpenGl:
    """What there is, by kind and name: `world["buffer", "plain"]`. `unsupported` where it cannot be had.

    Kinds are those of gl_world.h in small letters: display, context, share_group, buffer, texture, renderbuffer,
    gl_sync, egl_sync, egl_image.
    """

    real = False

    def __getitem__(self, what: tuple[str, str]) -> int:
        raise NotImplementedError

    def do(self, what: str) -> None:
        """Lets OpenGL do something: "current", "release" (the context of this thread), "delete buffer plain", …"""

    def attributes(self, context: str = "usable", display: str = "egl") -> list[int]:
        """The attributes of a context."""
        name = {"egl": "CL_EGL_DISPLAY_KHR", "glx": "CL_GLX_DISPLAY_KHR"}[display]
        return [
            api().constant("CL_GL_CONTEXT_KHR"),
            self["context", context],
            api().constant(name),
            self["display", display],
        ]


@functools.cache
def plain_numbers() -> dict[tuple[str, str], int]:
    """The numbers that the mock ICD knows."""
    return {(kind.lower(), name): int(number, 0) for kind, name, number in _ENTRY.findall(_WORLD.read_text())}


class PlainNumbers(OpenGl):
    """That of the mock ICD."""

    def __getitem__(self, what: tuple[str, str]) -> int:
        return plain_numbers()[what]


class RealOpenGl(OpenGl):
    """What EGL and OpenGL of this machine have, in the process of the session."""

    real = True

    def __init__(self, session: Session, display: int) -> None:
        """On the n-th display of EGL. `unsupported` with the reason where OpenGL cannot be had there."""
        self.session = session
        self._address = session.library_symbol(build().gl_objects, "clharness_gl")
        if reason := self._ask(f"start {display}"):
            raise Unsupported("machine", session.text_at(reason))

    @property
    def renderer(self) -> str:
        """What OpenGL says of itself (GL_RENDERER)."""
        return self.session.text_at(self._ask("renderer"))

    def _ask(self, request: str) -> Value:
        """Asks the helper; what it answers has the width of a pointer."""
        answer = self.session.call_at(self._address, "clGetExtensionFunctionAddress", request)
        assert isinstance(answer, Value)
        return answer

    def __getitem__(self, what: tuple[str, str]) -> int:
        number = self._ask(" ".join(what))
        if not number:
            raise Unsupported("machine", f"the OpenGL of this machine has no {' '.join(reversed(what))}")
        return number

    def byte(self, name: str) -> int:
        """The first byte of a buffer, as OpenGL reads it."""
        byte = self._ask(f"byte buffer {name}")
        if not byte:
            raise Unsupported("machine", "the OpenGL of this machine does not read buffers")
        return byte - 1

    def do(self, what: str) -> None:
        """Has the probe do something in OpenGL. The case is `unsupported` where this machine's OpenGL cannot."""
        if self._ask(what) != 1:
            raise Unsupported("machine", f"the OpenGL of this machine cannot do this: {what}")


def real_opengls(session: Session) -> Iterator[RealOpenGl]:
    """One for each display of EGL that has OpenGL. `unsupported` where there is none."""
    reasons, any_display = [], False
    for display in itertools.count():
        try:
            gl = RealOpenGl(session, display)
        except Unsupported as error:
            reasons.append(error.reason)
            if error.reason in (_NO_EGL, _NO_MORE):
                break
            continue
        any_display = True
        yield gl
    if not any_display:
        raise Unsupported("machine", f"there is no OpenGL to share with: {reasons[0]}")


_NO_EGL, _NO_MORE = "there is no libEGL.so.1 here that can be used", "no more displays"


# --- a platform that shares ---

SHARING = "cl_khr_gl_sharing"


class GlPlatform:
    """A platform that advertises OpenGL sharing, with one object of each class in a context that is tied to OpenGL.

    `devices` are those that advertise it, too, and `others` the rest.
    """

    def __init__(self, session: Session, handle: Value) -> None:
        self.session = session
        self.handle = handle
        if isinstance(session, IcdSession):
            session.platform = handle
        self.plain = IcdObjects(session, handle)
        self.of_platform = extensions(session, handle, "Platform")
        self.devices, self.others = self._devices()
        self._tied: IcdObjects | None = None
        self._gl: OpenGl | None = None

    @property
    def gl(self) -> OpenGl:
        """Made when it is first asked for: a platform without OpenGL sharing needs none."""
        if self._gl is None:
            vendor = self.session.GetPlatformInfo(self.handle, "CL_PLATFORM_VENDOR")
            self._gl = PlainNumbers() if vendor == _MOCK else self._real_opengl()
        return self._gl

    def _real_opengl(self) -> OpenGl:
        """The first OpenGL that the platform shares with, by either function that says so."""
        answers = []
        for gl in real_opengls(self.session):
            answer = self.session.buffer(8, 0)
            size = self.session.buffer(8, 0)
            listed = self.listed(*gl.attributes())
            query = api().constant("CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR")
            error = self.call("clGetGLContextInfoKHR", listed, query, 8, answer, size)
            if (error == 0 and size.u64() == 8) or self.create_context(gl.attributes(), self.devices[:1])[1]:
                return gl
            answers.append(f"{gl.renderer} ({error})")
        raise Unsupported("machine", f"this platform shares with no OpenGL of this machine: {', '.join(answers)}")

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function: the vendor's own, or a loader's, that may have it by its address only."""
        if isinstance(self.session, IcdSession) or self.session.symbol(function):
            return self.session.call(function, *arguments)
        return self.session.call_at(self.session.GetExtensionFunctionAddress(function), function, *arguments)

    def _devices(self) -> tuple[list[Value], list[Value]]:
        """Where no device names the extension, and the platform does, all devices have it."""
        devices = self.session.GetDeviceIDs(self.handle)
        naming = [device for device in devices if SHARING in extensions(self.session, device)]
        if not naming and SHARING in self.of_platform:
            naming = devices
        return naming, [device for device in devices if device not in naming]

    def has(self, extension: str) -> bool:
        """Whether the platform, or a device that shares, names an extension."""
        return extension in self.of_platform or any(extension in extensions(self.session, d) for d in self.devices)

    def require(self, extension: str) -> None:
        """Makes the case `unsupported` where the platform does not report the extension."""
        if not self.has(extension):
            raise Unsupported("loader", f"this platform does not advertise {extension}", extension)

    # --- contexts ---

    def listed(self, *pairs: Any, platform: bool = True) -> list[Any]:
        """A property list."""
        return [*([api().constant("CL_CONTEXT_PLATFORM"), self.handle] if platform else []), *pairs, 0]

    def create_context(
        self, attributes: list[Any], devices: list[Value] | None = None, *, by_type: bool = False
    ) -> tuple[int, Value]:
        """The error and the context: of clCreateContext, or of clCreateContextFromType."""
        code = self.session.buffer(4)
        listed = self.session.words(self.listed(*attributes))
        if by_type:
            kind = self.type_of_devices()
            context = self.session.call("clCreateContextFromType", listed, kind, None, None, code)
        else:
            listed_devices = devices or [self.device]
            context = self.session.call(
                "clCreateContext", listed, len(listed_devices), listed_devices, None, None, code
            )
        assert isinstance(context, Value)
        return code.code(), context

    def type_of_devices(self) -> int:
        """A type of which all devices share. `unsupported` where there is none."""
        kinds = {self.type_of(device) for device in self.devices} - {self.type_of(device) for device in self.others}
        if not kinds or (self.gl.real and len(self.devices) > 1):
            raise Unsupported("machine", "no type of devices has those alone that share with one OpenGL context")
        return min(kinds)

    def type_of(self, device: Value) -> int:
        """CL_DEVICE_TYPE without the bit of the default device. Raises CallFailed where the query returns an error."""
        answer = self.session.buffer(8, 0)
        query = api().constant("CL_DEVICE_TYPE")
        error = self.session.call("clGetDeviceInfo", device, query, 8, answer, None)
        if error:
            raise CallFailed(f"clGetDeviceInfo(CL_DEVICE_TYPE) answered {error}, expected CL_SUCCESS")
        return answer.u64() & ~api().constant("CL_DEVICE_TYPE_DEFAULT")

    @property
    def device(self) -> Value:
        """The device of the usable OpenGL context, as far as the platform tells it."""
        query = api().constant("CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR")
        answer = self.session.buffer(8, 0)
        listed = self.listed(*self.gl.attributes())
        if len(self.devices) > 1 and not self.call("clGetGLContextInfoKHR", listed, query, 8, answer, None):
            return next((device for device in self.devices if device == answer.u64()), self.devices[0])
        return self.devices[0]

    @property
    def tied(self) -> IcdObjects:
        """Objects of a context that is tied to the usable OpenGL context."""
        if self._tied is None:
            error, context = self.create_context(self.gl.attributes())
            if error or not context:
                raise CallFailed(f"clCreateContext of a usable OpenGL context answered {context:#x} and {error}")
            self._tied = IcdObjects(self.session, self.handle)
            self._tied.remember("cl_device_id", self.device)
            self._tied.remember("cl_context", context)
        return self._tied

    # --- memory objects ---

    def create(self, function: str, *arguments: Any, context: Value | None = None) -> tuple[int, Value]:
        """The error and the object of a creator: `arguments` stand between the context and errcode_ret."""
        code = self.session.buffer(4)
        result = self.call(function, self.tied.context if context is None else context, *arguments, code)
        assert isinstance(result, Value)
        return code.code(), result

    def make(self, function: str, *arguments: Any, context: Value | None = None) -> Value:
        """The same, for what has to work."""
        error, result = self.create(function, *arguments, context=context)
        if error or not result:
            raise CallFailed(f"{function} answered {result:#x} and the error {error}, expected an object")
        return result

    def buffer(self, name: str = "plain") -> Value:
        """A memory object made of the OpenGL buffer of this name."""
        return self.make("clCreateFromGLBuffer", CL.MEM_READ_WRITE, self.gl["buffer", name])

    def texture(self, name: str = "plain", target: int = 0x0DE1, level: int = 0) -> Value:
        """A memory object made of one level of the OpenGL texture of this name; GL_TEXTURE_2D by default."""
        return self.make("clCreateFromGLTexture", CL.MEM_READ_WRITE, target, level, self.gl["texture", name])


def gl_platforms(session: Session, *further: str) -> Iterator[GlPlatform]:
    """Each platform that advertises OpenGL sharing and all `further` extensions. `unsupported` where there is none."""
    any_platform = False
    for handle in session.some_platforms() if isinstance(session, IcdSession) else session.GetPlatformIDs():
        platform = GlPlatform(session, handle)
        if platform.devices and all(platform.has(extension) for extension in further):
            any_platform = True
            yield platform
    if not any_platform:
        names = ", ".join((SHARING, *further))
        raise Unsupported("loader", f"no platform of this ICD advertises {names}", names)
