# SPDX-License-Identifier: Apache-2.0
"""Group sizes that a vendor suggests for a kernel: cl_khr_suggested_local_work_size (API-KER)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, Icd, IcdSession, Info, Platform, Sandbox, extension, platforms_with, requirement

pytestmark = extension("cl_khr_suggested_local_work_size")

SUGGEST, LAUNCH = "clGetKernelSuggestedLocalWorkSizeKHR", "clEnqueueNDRangeKernel"
SIZES = [(1,), (7,), (64,), (1000,), (4096,), (8, 8), (3, 5), (128, 2), (1, 1, 1), (4, 6, 8), (2, 1, 64)]
UNTOUCHED = 0xA5A5A5A5A5A5A5A5  # what a buffer holds before anything is written
SIZE_MAX = (1 << 64) - 1


class Suggested:
    """A kernel without parameters, and a queue of a device with the extension."""

    def __init__(self, platform: Platform) -> None:
        self.platform, self.objects, self.session = platform, platform.objects, platform.session
        self.info = Info(self.objects)

    def ask(self, *sizes: int, **changed: Any) -> tuple[int, list[int]]:
        """The error, and three words of the output, of which there is one more than may be written."""
        to = self.session.buffer(32)
        dimensions = len(sizes) or 1
        words = self.session.words(list(sizes)) if sizes else None
        given = {"queue": self.objects.queue, "kernel": self.objects.kernel, "dimensions": dimensions}
        given |= {"offset": self.session.words([0] * 4), "size": words, "to": to} | changed
        error = self.platform.call(SUGGEST, *given.values())
        return error, [int.from_bytes(to[8 * i : 8 * i + 8], "little") for i in range(4)]

    def of_kernel(self, query: str) -> int:
        objects = self.objects
        return self.info.number("clGetKernelWorkGroupInfo", objects.kernel, objects.device, query)

    def most(self) -> list[int]:
        """The most work-items of a group in each dimension."""
        return self.info.words("clGetDeviceInfo", self.objects.device, "CL_DEVICE_MAX_WORK_ITEM_SIZES")


def every(session: IcdSession) -> list[Suggested]:
    return [Suggested(platform) for platform in platforms_with(session, "cl_khr_suggested_local_work_size")]


@requirement("API-KER-018")
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "x".join(map(str, sizes)))
def test_suggested_size_can_be_enqueued(icd: Icd, sandbox: Sandbox, sizes: tuple[int, ...]) -> None:
    """It is within what kernel and device can do, has as many numbers as there are dimensions, and is enqueued."""
    with icd.open(sandbox) as session:
        for suggested in every(session):
            error, words = suggested.ask(*sizes)
            assert error == CL.SUCCESS
            group, rest = words[: len(sizes)], words[len(sizes) :]
            assert rest == [UNTOUCHED] * len(rest), f"more than {len(sizes)} numbers were written: {words}"
            total = 1
            for number in group:
                total *= number
            assert 1 <= total <= suggested.of_kernel("CL_KERNEL_WORK_GROUP_SIZE"), f"suggested {group}"
            assert all(number <= most for number, most in zip(group, suggested.most(), strict=False)), f"{group}"
            objects = suggested.objects
            local = session.words(group)
            arguments = (objects.queue, objects.kernel, len(sizes), None, session.words(list(sizes)), local)
            error = session.call(LAUNCH, *arguments, 0, None, None)
            assert error == CL.SUCCESS, f"{LAUNCH} of {list(sizes)} in groups of {group} answered {error}"
            assert session.call("clFinish", objects.queue) == CL.SUCCESS


@requirement("API-KER-018")
def test_offset_of_a_suggestion_may_be_null(icd: Icd, sandbox: Sandbox) -> None:
    """Without an offset the suggestion is that for an offset of 0."""
    with icd.open(sandbox) as session:
        for suggested in every(session):
            without, zero = suggested.ask(64, offset=None), suggested.ask(64)
            assert without == zero, f"without an offset: {without}, with one of 0: {zero}"


@requirement("API-KER-019")
@pytest.mark.parametrize(
    "how",
    [
        "no queue",
        "no kernel",
        "other context",
        "unset arguments",
        "too many dimensions",
        "no size",
        "size 0",
        "offset",
        "no output",
    ],
)
def test_suggestion_for_what_cannot_be_enqueued_is_refused(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """What clEnqueueNDRangeKernel refuses is refused with the same error, and so is no output."""
    with icd.open(sandbox) as session:
        for suggested in every(session):
            assert suggested.ask(8)[0] == CL.SUCCESS
            if how == "no queue":
                assert suggested.ask(8, queue=None)[0] == CL.INVALID_COMMAND_QUEUE
            elif how == "no kernel":
                assert suggested.ask(8, kernel=None)[0] == CL.INVALID_KERNEL
            elif how == "other context":
                assert suggested.ask(8, kernel=suggested.objects.other.kernel)[0] == CL.INVALID_CONTEXT
            elif how == "unset arguments":
                assert suggested.ask(8, kernel=suggested.objects.named("args"))[0] == CL.INVALID_KERNEL_ARGS
            elif how == "too many dimensions":
                query = ("clGetDeviceInfo", suggested.objects.device, "CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS")
                sizes, to = [1] * (suggested.info.number(*query) + 1), session.buffer(4096)
                offset = session.words([0] * len(sizes))
                assert suggested.ask(*sizes, offset=offset, to=to)[0] == CL.INVALID_WORK_DIMENSION
            elif how == "no size":
                assert suggested.ask()[0] == CL.INVALID_GLOBAL_WORK_SIZE
            elif how == "size 0":
                assert suggested.ask(0)[0] == CL.INVALID_GLOBAL_WORK_SIZE
            elif how == "offset":
                assert suggested.ask(8, offset=session.words([SIZE_MAX]))[0] == CL.INVALID_GLOBAL_OFFSET
            else:
                assert suggested.ask(8, to=None)[0] == CL.INVALID_VALUE
