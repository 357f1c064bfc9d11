# SPDX-License-Identifier: Apache-2.0
"""A vendor's ICD that many threads use at once, that is used all day, in processes that fork and unload (API-LOD)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from harness.check import (
    CL,
    KERNEL_SOURCES,
    OBJECT_QUERIES,
    Buffer,
    Icd,
    IcdObjects,
    IcdSession,
    Kernels,
    Later,
    Leaked,
    Sandbox,
    Unsupported,
    Value,
    api,
    expect_same,
    numbered,
    require_compiler,
    requirement,
)

THREADS = 8
TIMES = 6
STARTS = 2  # of a device, for each of which a driver may take a second
BATCH, BATCHES, WARM_UP = 20, 3, 20
BUILDS = 5  # in a batch: they take their time
LEAST_BLOCK = 16  # bytes of the heap
PER_THREAD = 8  # rounds for each thread of the driver, so that each has had its turn
LEAST_PAGES = 4096
NAMES = {"cl_mem": "MemObject", "cl_command_queue": "CommandQueue"}
COUNTED = [kind for kind, (_, query) in OBJECT_QUERIES.items() if query.endswith("REFERENCE_COUNT")]
# What makes an object of each class from a context and its device; errcode_ret comes last.
MADE: dict[str, Callable[[IcdObjects], tuple[str, list[Any]]]] = {
    "cl_context": lambda o: ("clCreateContext", [context_properties(o), 1, [o.device], None, None]),
    "cl_command_queue": lambda o: ("clCreateCommandQueue", [o.context, o.device, 0]),
    "cl_mem": lambda o: ("clCreateBuffer", [o.context, 0, 64, None]),
    "cl_event": lambda o: ("clCreateUserEvent", [o.context]),
}


def platform_of(session: IcdSession) -> IcdObjects:
    return session.objects(session.some_platforms()[0])


def compiling(session: IcdSession) -> IcdObjects:
    """The first platform, which must have a compiler."""
    objects = platform_of(session)
    require_compiler([objects])
    return objects


def sifting(session: IcdSession) -> Kernels:
    """For kernels of one program, which is built; the platform must have a compiler."""
    objects = compiling(session)
    kernels = Kernels(objects)
    kernels.program = objects.with_source(KERNEL_SOURCES["clharness_sift"])
    objects.build(kernels.program, "")
    return kernels


def context_properties(objects: IcdObjects) -> list[Any]:
    return [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]


def in_thread(session: IcdSession, owner: Value, thread: int, function: str, *arguments: Any) -> Later:
    """Keeps a call of the table of an object for a thread."""
    return session.in_thread(thread, function, *arguments, address=session.entry(owner, function))


def answer_of(later: Later) -> Value:
    """What an earlier call of the same thread will have answered, as an argument."""
    return Value(0, f"r{later.variable}")


def counting(kind: str, how: str) -> str:
    return f"cl{how}{NAMES.get(kind) or kind.removeprefix('cl_').title()}"


def count_of(session: IcdSession, kind: str, handle: Value) -> int:
    function, query = OBJECT_QUERIES[kind]
    answer = session.buffer(4)
    assert session.call(function, handle, api().constant(query), 4, answer, None) == CL.SUCCESS
    return answer.u32()


# --- threads ---


@requirement("API-LOD-001")
@pytest.mark.parametrize("kind", COUNTED)
def test_threads_that_retain_and_release_are_all_counted(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """Each of the retains that threads make at once is counted, and so is each release."""
    with icd.open(sandbox) as session:
        handle = platform_of(session)[kind]
        before = count_of(session, kind, handle)
        for how, expected in (("Retain", before + THREADS * TIMES), ("Release", before)):
            function = counting(kind, how)
            kept = [in_thread(session, handle, i, function, handle) for i in range(THREADS) for _ in range(TIMES)]
            assert session.go() == THREADS
            assert {later.result() for later in kept} == {CL.SUCCESS}
            assert count_of(session, kind, handle) == expected, f"after {len(kept)} calls of {function} in threads"


@requirement("API-LOD-001")
@pytest.mark.parametrize("kind", MADE)
def test_threads_make_and_release_objects_of_their_own(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """What threads make at once are different objects, each with a reference, and each thread releases its own."""
    query_function, query = OBJECT_QUERIES[kind]
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        function, arguments = MADE[kind](objects)
        owner = objects.device if kind == "cl_context" else objects.context
        release, asks = (
            session.entry(objects[kind], counting(kind, "Release")),
            session.entry(objects[kind], query_function),
        )
        handles, counts, released = [], [], []
        for thread in range(THREADS):
            for _ in range(STARTS if kind == "cl_context" else TIMES):
                code, count = session.buffer(4), session.buffer(4)
                handles.append((in_thread(session, owner, thread, function, *arguments, code), code))
                handle = answer_of(handles[-1][0])
                query_result = session.in_thread(
                    thread, query_function, handle, api().constant(query), 4, count, None, address=asks
                )
                counts.append((query_result, count))
                if len(handles) % 2:
                    released.append(session.in_thread(thread, counting(kind, "Release"), handle, address=release))
        assert session.go() == THREADS
        assert {code.code() for _, code in handles} == {CL.SUCCESS}
        kept = [later.result() for later, _ in handles[1::2]]
        assert len(set(kept)) == len(kept), "the same handle was answered twice, and is still in use"
        assert {later.result() for later, _ in counts} == {CL.SUCCESS}
        assert all(count.u32() for _, count in counts), "an object has no reference"
        assert {later.result() for later in released} == {CL.SUCCESS}


def moved_in_thread(session: IcdSession, objects: IcdObjects, thread: int, queue: Value) -> list[tuple[Buffer, bytes]]:
    """A thread's own transfers: from the host to a buffer, to another one, and back; and what should come back."""
    first, second = (objects.made_by("clCreateBuffer", objects.context, 0, 256, None) for _ in range(2))
    expected = []
    for turn in range(3):
        content, back = numbered(256, 1 + 16 * turn + thread), session.buffer(256)
        data = session.data(content)
        in_thread(session, queue, thread, "clEnqueueWriteBuffer", queue, first, 0, 0, 256, data, 0, None, None)
        in_thread(session, queue, thread, "clEnqueueCopyBuffer", queue, first, second, 0, 0, 256, 0, None, None)
        in_thread(session, queue, thread, "clEnqueueReadBuffer", queue, second, 1, 0, 256, back, 0, None, None)
        expected.append((back, content))
    return expected


@requirement("API-LOD-002")
@pytest.mark.parametrize("queues", ["own queues", "one queue"])
def test_threads_that_enqueue_at_once_move_their_own_data(icd: Icd, sandbox: Sandbox, queues: str) -> None:
    """Threads that write, copy and read buffers of their own, on a queue each or all on one, get their own content."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        expected = []
        for thread in range(THREADS):
            queue = objects.queue
            if queues == "own queues":
                queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0)
            expected += moved_in_thread(session, objects, thread, queue)
        assert session.go() == THREADS
        for number, (back, content) in enumerate(expected):
            expect_same(back.bytes(), content, f"what thread {number // 3} read")


@requirement("API-LOD-002")
def test_threads_run_kernels_of_one_program_at_once(icd: Icd, sandbox: Sandbox) -> None:
    """Threads that run kernels of one program, each with its own arguments and queue, get their own results."""
    with icd.open(sandbox) as session:
        kernels = sifting(session)
        objects = kernels.objects
        results = []
        for thread in range(THREADS):
            queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0)
            content, to = numbered(64, thread), kernels.buffer(bytes(65))
            kernel = kernels.kernel("clharness_sift")
            for index, value in enumerate((kernels.buffer(content), to, kernels.buffer(bytes([1, 2, 4, 8])), None)):
                kernels.set(kernel, index, value)
            kernels.finish()
            back, size = session.buffer(65), session.words([64])
            in_thread(
                session, queue, thread, "clEnqueueNDRangeKernel", queue, kernel, 1, None, size, None, 0, None, None
            )
            in_thread(session, queue, thread, "clEnqueueReadBuffer", queue, to, 1, 0, 65, back, 0, None, None)
            results.append((back, kernels.sifted_expected(content)))
        assert session.go() == THREADS
        for thread, (back, expected) in enumerate(results):
            expect_same(back.bytes(), expected, f"what the kernel of thread {thread} stored")


@requirement("API-LOD-002")
def test_threads_set_arguments_of_their_own_kernels_at_once(icd: Icd, sandbox: Sandbox) -> None:
    """Threads that set arguments of kernels of their own and run them, again and again, each get what they have set."""
    with icd.open(sandbox) as session:
        kernels = sifting(session)
        objects = kernels.objects
        size, results = session.words([64]), []
        for thread in range(THREADS):
            queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0)
            content, kernel = numbered(64, thread), kernels.kernel("clharness_sift")
            first, expected = kernels.buffer(content), kernels.sifted_expected(content)
            for index, value in ((2, kernels.buffer(bytes([1, 2, 4, 8]))), (3, None)):
                kernels.set(kernel, index, value)
            for _ in range(TIMES):
                to = kernels.buffer(bytes(65))
                for index, value in ((0, first), (1, to)):
                    in_thread(session, kernel, thread, "clSetKernelArg", kernel, index, 8, session.words([value]))
                run = (queue, kernel, 1, None, size, None, 0, None, None)
                in_thread(session, queue, thread, "clEnqueueNDRangeKernel", *run)
                results.append((thread, to, expected))
            in_thread(session, queue, thread, "clFinish", queue)
        kernels.finish()
        assert session.go() == THREADS
        for thread, to, expected in results:
            expect_same(kernels.content(to, 65), expected, f"what a kernel of thread {thread} stored")


@requirement("API-LOD-003")
def test_threads_build_programs_of_their_own_at_once(icd: Icd, sandbox: Sandbox) -> None:
    """Programs that threads build at once have each the kernel of their own source."""
    with icd.open(sandbox) as session:
        objects = compiling(session)
        programs = [objects.with_source(f"kernel void clharness_own{i}() {{}}") for i in range(THREADS)]
        built = [
            in_thread(session, program, i, "clBuildProgram", program, 0, None, "", None, None)
            for i, program in enumerate(programs)
        ]
        assert session.go() == THREADS
        assert {later.result() for later in built} == {CL.SUCCESS}
        for number, program in enumerate(programs):
            code = session.buffer(4)
            session.call("clCreateKernel", program, f"clharness_own{number}", code)
            assert code.code() == CL.SUCCESS, f"the program of thread {number} lacks its kernel"


# --- all day ---


class Rounds:
    """Objects that come and go, through memory of the application's that stays where it is."""

    def __init__(self, objects: IcdObjects) -> None:
        self.objects, self.session = objects, objects.session
        self.code, self.event, self.data = self.session.buffer(4), self.session.buffer(8, 0), self.session.buffer(64)
        self.properties = self.session.words(context_properties(objects))
        self.devices = self.session.words([objects.device])
        self.source: Buffer | None = None
        assert objects.queue

    def create(self, function: str, *arguments: Any) -> Value:
        handle = self.session.call(function, *arguments, self.code)
        self.objects.require(function, self.code.code())
        assert isinstance(handle, Value)
        return handle

    def succeed(self, function: str, *arguments: Any) -> None:
        self.objects.require(function, self.session.call(function, *arguments))

    def context(self) -> None:
        """A context, and what belongs to it."""
        context = self.create("clCreateContext", self.properties, 1, self.devices, None, None)
        queue = self.create("clCreateCommandQueue", context, self.objects.device, 0)
        self.command(context, queue)
        self.succeed("clReleaseCommandQueue", queue)
        self.succeed("clReleaseContext", context)

    def command(self, context: Value | None = None, queue: Value | None = None) -> None:
        """A buffer and a command with an event."""
        mem = self.create("clCreateBuffer", context or self.objects.context, 0, 64, None)
        queue = queue or self.objects.queue
        self.succeed("clEnqueueWriteBuffer", queue, mem, 1, 0, 64, self.data, 0, None, self.event)
        self.succeed("clFinish", queue)
        self.succeed("clReleaseEvent", self.event.handle())
        self.succeed("clReleaseMemObject", mem)

    def mapping(self) -> None:
        """A mapping of a buffer."""
        queue, mem = self.objects.queue, self.objects.mem
        at = self.create("clEnqueueMapBuffer", queue, mem, 1, CL.MAP_READ, 0, 16, 0, None, None)
        self.succeed("clEnqueueUnmapMemObject", queue, mem, at, 0, None, None)
        self.succeed("clFinish", queue)

    def user_event(self) -> None:
        """A user event that ends."""
        event = self.create("clCreateUserEvent", self.objects.context)
        self.succeed("clSetUserEventStatus", event, CL.COMPLETE)
        self.succeed("clReleaseEvent", event)

    def program(self) -> None:
        """A program that is built, and a kernel of it."""
        if self.source is None:
            require_compiler([self.objects])
            self.source = self.session.data(b"kernel void clharness_empty() {}\0")
        program = self.create("clCreateProgramWithSource", self.objects.context, 1, [self.source], None)
        self.succeed("clBuildProgram", program, 0, None, None, None, None)
        kernel = self.create("clCreateKernel", program, "clharness_empty")
        self.succeed("clReleaseKernel", kernel)
        self.succeed("clReleaseProgram", program)


def in_use(session: IcdSession) -> dict[str, int]:
    """What a process has, and how much less than one for each round is nothing to speak of."""
    return {
        "descriptors": len(session.open_files()),
        "threads": session.threads(),
        "bytes of the heap": session.heap() // LEAST_BLOCK,
        "bytes of memory": session.resident() // LEAST_PAGES,
    }


@requirement("API-LOD-004")
@pytest.mark.parametrize(
    "comes_and_goes",
    [Rounds.context, Rounds.command, Rounds.mapping, Rounds.user_event],
    ids=["context", "command", "mapping", "user event"],
)
def test_nothing_is_left_of_what_is_released(
    icd: Icd, sandbox: Sandbox, comes_and_goes: Callable[[Rounds], None]
) -> None:
    """Objects that are made, used and released again and again leave no descriptors, threads and memory behind.

    A driver may keep what it will use again, in each of its threads. What grows with every round, in each of several
    batches, and of more where it has more threads, is lost.
    """
    with icd.open(sandbox, counted_heap=True) as session:
        rounds = Rounds(platform_of(session))
        for _ in range(WARM_UP):
            comes_and_goes(rounds)
        states = [in_use(session)]
        growing = dict.fromkeys(states[0], 0)  # by how much, at least, with each batch so far
        batches = BATCHES + PER_THREAD * session.threads() // BATCH
        while growing and len(states) <= batches:
            for _ in range(BATCH):
                comes_and_goes(rounds)
            states.append(in_use(session))
            grown = {what: min(after[what] - before[what] for before, after in pairwise(states)) for what in growing}
            growing = {what: number for what, number in grown.items() if number >= BATCH}
        for what, number in growing.items():
            unit = {"bytes of the heap": LEAST_BLOCK, "bytes of memory": LEAST_PAGES}.get(what, 1)
            raise Leaked(f"each round leaves {what}: {unit * number // BATCH} or more")


@requirement("API-LOD-004")
def test_builds_leave_no_descriptors_and_threads(icd: Icd, sandbox: Sandbox) -> None:
    """Programs that are built and released again and again leave no descriptors and threads behind.

    Memory is the compiler's own business: it keeps what it has translated.
    """
    with icd.open(sandbox) as session:
        rounds = Rounds(platform_of(session))
        states = []
        for _ in range(BATCHES):
            for _ in range(BUILDS):
                rounds.program()
            states.append((len(session.open_files()), session.threads()))
        for index, what in enumerate(("descriptors", "threads")):
            grown = [after[index] - before[index] for before, after in pairwise(states)]
            if min(grown) >= BUILDS:
                raise Leaked(f"each round leaves {what}: {min(grown) // BUILDS} or more")


# --- the process ---


def works(session: IcdSession, objects: IcdObjects) -> None:
    """A buffer of this process holds what is written to it."""
    content, back = numbered(64), session.buffer(64)
    for function, data in (("clEnqueueWriteBuffer", session.data(content)), ("clEnqueueReadBuffer", back)):
        assert session.call(function, objects.queue, objects.mem, 1, 0, 64, data, 0, None, None) == CL.SUCCESS
    expect_same(back.bytes(), content)


@requirement("API-LOD-005")
def test_process_goes_on_after_a_child_that_ended(icd: Icd, sandbox: Sandbox) -> None:
    """A process that uses the driver and forks goes on to use it, when the child has ended without using it."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        works(session, objects)
        count = len(session.platforms())
        session.fork_and_end()
        works(session, objects)
        assert len(session.platforms()) == count


@requirement("API-LOD-005")
def test_program_that_a_user_of_the_driver_starts_can_use_it(icd: Icd, sandbox: Sandbox) -> None:
    """A program that is executed in a child of a process that uses the driver can use it like any other."""
    with icd.open(sandbox) as session:
        works(session, platform_of(session))
        count = len(session.platforms())
        session.fork()
        session.execute_again()
        session.platform = None
        assert len(session.platforms()) == count
        works(session, platform_of(session))


def is_unloadable(session: IcdSession) -> bool:
    """Whether every platform says that a loader may unload the library."""
    for platform in session.all_platforms():
        session.platform, answer = platform, session.buffer(4, 0)
        if session.call("clGetPlatformInfo", platform, CL.PLATFORM_UNLOADABLE_KHR, 4, answer, None) or not answer.u32():
            return False
    return True


@requirement("API-LOD-006")
def test_library_that_is_unloaded_after_use_leaves_no_threads(icd: Icd, sandbox: Sandbox) -> None:
    """A library that may be unloaded ends its threads with it, and works when it is loaded again."""
    with icd.open(sandbox, late=True) as session:
        before = session.threads()
        for _ in range(2):
            session.open()
            if not is_unloadable(session):
                raise Unsupported("loader", "this ICD does not say that it can be unloaded", "cl_khr_icd_unloadable")
            Rounds(platform_of(session)).context()
            session.platform = None
            session.close()
            assert session.threads() == before, "threads go on without the library whose code they run"
