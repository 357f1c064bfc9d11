# SPDX-License-Identifier: Apache-2.0
"""Clocks of a vendor: the host's, the device's, and that of its commands (API-EVT)."""

from __future__ import annotations

from harness.check import CL, Icd, IcdObjects, Sandbox, Unsupported, api, calls, requirement

PAIR, HOST = "clGetDeviceAndHostTimer", "clGetHostTimer"
SECOND = 10**9  # nanoseconds


class Timers:
    """What both functions read. Makes the attempt `unsupported` where a platform synchronises no timers."""

    def __init__(self, objects: IcdObjects) -> None:
        self.objects, self.session = objects, objects.session
        for function in (PAIR, HOST):
            objects.require_function(function, objects.version())

    def host(self) -> int:
        """The host's timer alone."""
        answer = self.session.buffer(8, 0)
        self._require(HOST, self.session.call(HOST, self.objects.device, answer))
        return answer.u64()

    def pair(self) -> tuple[int, int]:
        """The device's timer, and the host's."""
        device, host = self.session.buffer(8, 0), self.session.buffer(8, 0)
        self._require(PAIR, self.session.call(PAIR, self.objects.device, device, host))
        return device.u64(), host.u64()

    def _require(self, function: str, error: int) -> None:
        if calls.lacks(self.objects, function, error):
            raise Unsupported("loader", f"{function} answered {error}: this platform synchronises no timers", function)
        assert error == CL.SUCCESS, f"{function} answered {error}, expected CL_SUCCESS"


@requirement("API-EVT-018")
def test_timers_of_the_host_are_one_clock(icd: Icd, sandbox: Sandbox) -> None:
    """The host's timer never goes back, also where it is read together with the device's."""

    def check(objects: IcdObjects) -> None:
        timers = Timers(objects)
        read = [timers.host(), timers.host(), timers.pair()[1], timers.host(), timers.pair()[1], timers.host()]
        assert read == sorted(read), f"the host's timer went back: {read}"
        assert read[-1] - read[0] < 100 * SECOND, f"the host's timer went on by more than 100 seconds: {read}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("in turns", check)


@requirement("API-EVT-018")
def test_timer_of_the_device_goes_on_with_the_hosts(icd: Icd, sandbox: Sandbox) -> None:
    """While the host's timer goes on, the device's does, and as fast within what its resolution and its clock allow."""

    def check(objects: IcdObjects) -> None:
        timers, answer = Timers(objects), objects.session.buffer(8, 0)
        query = "CL_DEVICE_PROFILING_TIMER_RESOLUTION"
        error = objects.session.call("clGetDeviceInfo", objects.device, api().constant(query), 8, answer, None)
        objects.require(query, error)
        least = SECOND // 20 + 4 * answer.u64()
        if least > SECOND:
            raise Unsupported("loader", f"{query} is {answer.u64()} ns", "timer")
        first = last = timers.pair()
        while last[1] - first[1] < least:
            last = timers.pair()
        device, host = (after - before for before, after in zip(first, last, strict=True))
        assert host // 2 <= device <= 2 * host, f"the device's timer went on by {device} ns, the host's by {host} ns"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a twentieth of a second", check)


@requirement("API-EVT-018")
def test_timer_of_the_device_is_the_clock_of_profiling(icd: Icd, sandbox: Sandbox) -> None:
    """A command ends, by its own times, between two readings of the device's timer."""

    def check(objects: IcdObjects) -> None:
        timers, session = Timers(objects), objects.session
        objects.named("profiled")  # the device is awake
        answer, end = session.buffer(8, 0), api().constant("CL_PROFILING_COMMAND_END")
        bits = api().constant("CL_QUEUE_PROFILING_ENABLE")
        queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, bits)
        before = timers.pair()[0]
        data = session.data(bytes(16))
        event = objects.given_by("clEnqueueWriteBuffer", queue, objects.mem, 1, 0, 16, data, 0, None)
        objects.require("clFinish", session.call("clFinish", queue))
        after = timers.pair()[0]
        objects.require("clGetEventProfilingInfo", session.call("clGetEventProfilingInfo", event, end, 8, answer, None))
        time = answer.u64()
        slack = SECOND // 100  # what the synchronisation of timers may be wrong by
        assert before - slack <= time <= after + slack, f"it ended at {time}, and the timer read {before} and {after}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a write", check)
