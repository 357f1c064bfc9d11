# SPDX-License-Identifier: Apache-2.0
"""Memory objects that are migrated: each flag, and lists that hold what they may not (API-DAT, API-HDL)."""

from __future__ import annotations

from harness.check import CL, Icd, IcdObjects, Memory, Sandbox, Value, expect_same, flags_of, numbered, requirement

SIZE = 64
CONTENT = numbered(SIZE, 5)
FUNCTION = "clEnqueueMigrateMemObjects"


@requirement("API-DAT-008")
def test_memory_can_be_written_after_each_migration(icd: Icd, sandbox: Sandbox) -> None:
    """With every flag and both: also where the content is given up, the memory then has what is written to it."""

    def check(objects: IcdObjects, flags: str) -> None:
        memory = Memory(objects)
        mems = [memory.buffer(numbered(SIZE, seed)) for seed in (1, 2)]
        memory.succeed(FUNCTION, memory.queue, 2, mems, flags_of(flags), 0, None, None)
        for mem in mems:
            data = memory.session.data(CONTENT)
            memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, 0, SIZE, data, 0, None, None)
            expect_same(memory.content(mem, SIZE), CONTENT, "the buffer")

    undefined, host = "CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED", "CL_MIGRATE_MEM_OBJECT_HOST"
    with icd.attempts(sandbox) as attempts:
        for flags in (host, undefined, f"{host}|{undefined}"):
            attempts.check(flags, lambda objects, flags=flags: check(objects, flags))  # type: ignore[misc]


@requirement("API-HDL-001", "API-HDL-003")
def test_every_object_of_a_migration_is_looked_at(icd: Icd, sandbox: Sandbox) -> None:
    """NULL is CL_INVALID_MEM_OBJECT and an object of another context CL_INVALID_CONTEXT, in each place of the list."""

    def check(objects: IcdObjects, place: int, null: bool) -> None:
        memory = Memory(objects)
        mems: list[Value | int] = [memory.buffer(CONTENT) for _ in range(3)]
        mems[place] = 0 if null else objects.other.mem
        error = memory.session.call(FUNCTION, memory.queue, 3, mems, 0, 0, None, None)
        expected = CL.INVALID_MEM_OBJECT if null else CL.INVALID_CONTEXT
        assert error == expected, f"answered {error}, expected {expected!r}"

    with icd.attempts(sandbox) as attempts:
        for place in range(3):
            attempts.check(f"NULL in place {place}", lambda o, place=place: check(o, place, True))  # type: ignore[misc]
            label = f"of another context in place {place}"
            attempts.check(label, lambda o, place=place: check(o, place, False))  # type: ignore[misc]
