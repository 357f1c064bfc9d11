# SPDX-License-Identifier: Apache-2.0
"""What the commands do that a command buffer records, byte for byte (XM-CMD)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    CL,
    PLAIN_FORMAT,
    SHAPES,
    Icd,
    Images,
    Kernels,
    Layout,
    Memory,
    Recorder,
    Sandbox,
    copied,
    expect_same,
    extension,
    layout_of,
    numbered,
    pack,
    recorders,
    requirement,
    with_bytes,
)

pytestmark = extension("cl_khr_command_buffer")

BEFORE, AFTER = numbered(512, 1), numbered(512, 2)
# A command of buffers with what it is recorded with beside them: numbers, and lists of them; then the target's content.
OF_TWO_BUFFERS: dict[str, tuple[dict[str, Any], bytes]] = {
    "clCommandCopyBufferKHR": (
        {"src_offset": 5, "dst_offset": 70, "size": 301},
        with_bytes(BEFORE, 70, AFTER[5:306]),
    ),
    "clCommandCopyBufferRectKHR": (
        {
            "src_origin": (4, 2, 1), "dst_origin": (1, 3, 0), "region": (6, 3, 2),
            "src_row_pitch": 16, "src_slice_pitch": 96, "dst_row_pitch": 12, "dst_slice_pitch": 84,
        },
        copied(AFTER, Layout((4, 2, 1), 16, 96), BEFORE, Layout((1, 3, 0), 12, 84), (6, 3, 2)),
    ),
}  # fmt: skip
ORIGIN, REGION = (4, 2, 0), (6, 3, 1)  # of pixels


def executed(recorder: Recorder, function: str, **values: Any) -> None:
    """Records a command, and executes it."""
    words = {name: recorder.session.words(list(v)) if isinstance(v, tuple) else v for name, v in values.items()}
    buffer = recorder.make()
    error = recorder.platform.call_named(function, command_buffer=buffer, **words)
    assert error == CL.SUCCESS, f"{function} answered {error}, expected CL_SUCCESS"
    recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
    recorder.execute(buffer)
    recorder.expect_success("clFinish", recorder.queue)


@requirement("XM-CMD-007")
@pytest.mark.parametrize("function", [*OF_TWO_BUFFERS, "clCommandFillBufferKHR"])
def test_recorded_command_moves_the_bytes_of_its_buffers(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A recorded copy or fill of buffers changes what its offsets, pitches and pattern say, and nothing else."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.require_signatures()
            memory = Memory(recorder.objects())
            target = memory.buffer(BEFORE)
            if function in OF_TWO_BUFFERS:
                values, expected = OF_TWO_BUFFERS[function]
                executed(recorder, function, src_buffer=memory.buffer(AFTER), dst_buffer=target, **values)
            else:
                pattern = session.data(AFTER[:4])
                executed(recorder, function, buffer=target, pattern=pattern, pattern_size=4, offset=72, size=400)
                expected = with_bytes(BEFORE, 72, AFTER[:4] * 100)
            expect_same(memory.content(target, 512), expected, "the target")


@requirement("XM-CMD-007")
@pytest.mark.parametrize("how", ["image to image", "image to buffer", "buffer to image", "fill"])
def test_recorded_command_moves_the_pixels_of_its_images(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """A recorded copy from, to or between images, or a fill, changes the pixels of its region and no others."""
    kind, start = "CL_MEM_OBJECT_IMAGE2D", (0, 0, 0)
    own, narrow = layout_of(kind, 4, ORIGIN), (4 * REGION[0], *REGION[1:])
    size = 4 * SHAPES[kind][0] * SHAPES[kind][1]
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.require_signatures()
            images = Images(recorder.objects())
            images.require(kind, PLAIN_FORMAT)
            image, other = (images.image(kind, PLAIN_FORMAT) for _ in range(2))
            images.write(image, start, SHAPES[kind], BEFORE[:size])
            images.write(other, start, SHAPES[kind], AFTER[:size])
            if how == "image to buffer":
                target = images.buffer(AFTER)
                parts = {"src_image": image, "dst_buffer": target, "src_origin": ORIGIN, "dst_offset": 12}
                executed(recorder, "clCommandCopyImageToBufferKHR", **parts, region=REGION)
                expected = AFTER[:12] + copied(BEFORE, own, AFTER[12:], Layout(start), narrow)
                expect_same(images.content(target, 512), expected, "the buffer")
                continue
            if how == "image to image":
                parts = {"src_image": other, "dst_image": image, "src_origin": (1, 1, 0), "dst_origin": ORIGIN}
                executed(recorder, "clCommandCopyImageKHR", **parts, region=REGION)
                expected = copied(AFTER, layout_of(kind, 4, (1, 1, 0)), BEFORE, own, narrow)
            elif how == "buffer to image":
                parts = {"src_buffer": images.buffer(AFTER), "dst_image": image, "src_offset": 20}
                executed(recorder, "clCommandCopyBufferToImageKHR", **parts, dst_origin=ORIGIN, region=REGION)
                expected = copied(AFTER[20:], Layout(start), BEFORE, own, narrow)
            else:
                colour = session.data(pack([1, 2, 254, 255], 4))
                executed(
                    recorder, "clCommandFillImageKHR", image=image, fill_color=colour, origin=ORIGIN, region=REGION
                )
                expected = copied(bytes([1, 2, 254, 255]) * 18, Layout(start), BEFORE, own, narrow)
            expect_same(images.read(image, start, SHAPES[kind], 4), expected[:size], "the image")


@requirement("XM-CMD-007")
def test_recorded_kernel_has_the_arguments_that_it_was_recorded_with(icd: Icd, sandbox: Sandbox) -> None:
    """A recorded kernel runs with the arguments that were set then, although others are set before it is executed."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.require_signatures()
            kernels = Kernels(recorder.objects())
            kernel, content, to = kernels.kernel("clharness_sift"), numbered(64, 7), kernels.buffer(bytes(65))
            arguments = (kernels.buffer(content), to, kernels.buffer(bytes([1, 2, 4, 8])), None)
            for index, value in enumerate(arguments):
                kernels.set(kernel, index, value)
            buffer, size = recorder.make(), session.words([64])
            values = {"command_buffer": buffer, "kernel": kernel, "work_dim": 1, "global_work_size": size}
            assert recorder.platform.call_named("clCommandNDRangeKernelKHR", **values) == CL.SUCCESS
            kernels.set(kernel, 0, kernels.buffer(numbered(64, 9)))
            recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
            recorder.execute(buffer)
            recorder.expect_success("clFinish", recorder.queue)
            expect_same(kernels.content(to, 65), kernels.sifted_expected(content), "what the kernel stored")
