# SPDX-License-Identifier: Apache-2.0
"""What records command buffers: a device that has them, with a context, a queue and memory of its own.

for recorder in recorders(session):
    buffer = recorder.filling(7)
    recorder.execute(buffer)
"""

from __future__ import annotations

from typing import Any

from harness.api.codes import CL
from harness.api.model import api
from harness.check.icd.platform import UNKNOWN, OnPlatform, Platform, platforms_with
from harness.probe.answers import number_of
from harness.probe.icd_objects import IcdObjects
from harness.probe.values import Value
from harness.sandbox import Unsupported

EXTENSION = "cl_khr_command_buffer"
SIZE = 64  # bytes of the memory


class Recorder(OnPlatform):
    """A device with command buffers, its context, and a queue that they can be recorded for."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.session = platform.session
        self.device = platform.able[0]
        self.context = platform.context([self.device])
        _, required = platform.answer(
            "clGetDeviceInfo", self.device, CL.DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR
        )
        self.needed = int.from_bytes(required, "little")
        self.queue = platform.queue(self.context, self.device, self.needed)
        self.memory = platform.buffer(self.context, SIZE)

    def objects(self) -> IcdObjects:
        """Further objects of the platform, in the same context and for the same queue."""
        objects = self.platform.objects
        handles = {"cl_device_id": self.device, "cl_context": self.context, "cl_command_queue": self.queue}
        for kind, handle in handles.items():
            objects.remember(kind, handle)
        return objects

    def create(self, *words: int) -> tuple[int, Value]:
        """The error and the command buffer that is made with these properties."""
        return self.platform.create(
            "clCreateCommandBufferKHR", 1, [self.queue], self.words(*words, 0) if words else None
        )

    def make(self) -> Value:
        """A command buffer without properties. Raises CallFailed where there is none."""
        return self.platform.make("clCreateCommandBufferKHR", 1, [self.queue], None)

    def fill(self, buffer: Value | None, byte: int, **others: Any) -> int:
        """Records a fill of the memory, as far as the headers have the function as the vendor has."""
        self.require_signatures()
        given = {"buffer": self.memory, "pattern": self.session.data(bytes([byte])), "pattern_size": 1, "size": SIZE}
        return self.platform.call_named("clCommandFillBufferKHR", command_buffer=buffer, **(given | others))

    def filling(self, byte: int) -> Value:
        """A finalized command buffer that fills the memory."""
        buffer = self.make()
        assert self.fill(buffer, byte) == 0
        self.expect_success("clFinalizeCommandBufferKHR", buffer)
        return buffer

    def require_signatures(self) -> None:
        """The functions that record have had one more parameter since revision 0.9.5."""
        known = api().functions["clCommandFillBufferKHR"].parameters
        revision = self.platform.revision()
        newer = any(parameter.name == "properties" for parameter in known)
        if revision == UNKNOWN:
            raise Unsupported("loader", "no revision is told, on which the parameters of the functions depend")
        if newer != (revision >= (0, 9, 5)):
            shown = ".".join(map(str, revision))
            raise Unsupported("machine", f"the OpenCL-Headers have other functions than revision {shown}")

    def execute(self, buffer: Value, after: Value | None = None) -> Value:
        """Enqueues a command buffer; gives the event."""
        event = self.session.buffer(8, 0)
        events = [after] if after else None
        self.expect_success("clEnqueueCommandBufferKHR", 0, None, buffer, len(events or ()), events, event)
        return event.handle()

    def content(self) -> bytes:
        """What the memory holds."""
        return self.platform.read(self.queue, self.memory, SIZE)

    def query(self, buffer: Value | None, name: int) -> tuple[int, bytes]:
        """The error of a query, and the answer where there is none."""
        assert buffer is not None
        return self.platform.answer("clGetCommandBufferInfoKHR", buffer, name)

    def state(self, buffer: Value) -> int:
        """CL_COMMAND_BUFFER_STATE_KHR of a command buffer."""
        error, value = self.query(buffer, CL.COMMAND_BUFFER_STATE_KHR)
        assert (error, len(value)) == (0, 4)
        return number_of(value)


def recorders(session: Any) -> list[Recorder]:
    """One for each platform that has command buffers."""
    return [Recorder(platform) for platform in platforms_with(session, EXTENSION)]
