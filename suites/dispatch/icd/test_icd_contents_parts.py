# SPDX-License-Identifier: Apache-2.0
"""Commands keep within a sub-buffer, although its buffer goes on (API-DAT-007)."""

from __future__ import annotations

import pytest

from harness.check import CL, Icd, IcdObjects, Memory, Sandbox, expect_same, numbered, requirement

SIZE = 16  # bytes of a command


@requirement("API-DAT-007")
@pytest.mark.parametrize("how", ["read", "write", "fill", "copy from", "copy to", "map"])
def test_command_that_leaves_its_sub_buffer_is_invalid_value(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """A region that ends past a sub-buffer is CL_INVALID_VALUE, also within its buffer; one at its end is taken."""

    def call(memory: Memory, part: object, offset: int) -> int:
        session, queue = memory.session, memory.queue
        data, code = session.data(numbered(SIZE, 7)), session.buffer(4, 0)
        if how in ("read", "write"):
            function = f"clEnqueue{how.capitalize()}Buffer"
            return session.call(function, queue, part, 1, offset, SIZE, data, 0, None, None)
        if how == "fill":
            memory.objects.require_function("clEnqueueFillBuffer", memory.objects.version())
            return session.call("clEnqueueFillBuffer", queue, part, data, 4, offset, SIZE, 0, None, None)
        if how == "map":
            arguments = (queue, part, 1, CL.MAP_READ, offset, SIZE, 0, None, None, code)
            mapped = session.call("clEnqueueMapBuffer", *arguments)
            if not code.i32():
                memory.unmap(part, mapped)  # type: ignore[arg-type]
            return code.code()
        other = memory.buffer(numbered(SIZE, 8))
        mems, offsets = ((part, other), (offset, 0)) if how == "copy from" else ((other, part), (0, offset))
        return session.call("clEnqueueCopyBuffer", queue, *mems, *offsets, SIZE, 0, None, None)

    def check(objects: IcdObjects) -> None:
        memory = Memory(objects)
        align = memory.alignment()
        content = numbered(4 * align, 1)
        mem = memory.buffer(content)
        part = memory.part(mem, align, align)
        error = call(memory, part, align - SIZE)
        assert error == CL.SUCCESS, f"answered {error} to a region that ends with the sub-buffer, expected CL_SUCCESS"
        memory.finish()
        before = memory.content(mem, len(content))
        error = call(memory, part, align - SIZE + 4)
        assert error == CL.INVALID_VALUE, f"answered {error} to a region that ends past it, expected CL_INVALID_VALUE"
        memory.finish()
        expect_same(memory.content(mem, len(content)), before, "the buffer")

    with icd.attempts(sandbox) as attempts:
        attempts.check(how, check)
