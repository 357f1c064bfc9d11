# SPDX-License-Identifier: Apache-2.0
"""Whatever is legal to make is made: each flag, size, shape, mode and option that the text allows (API-ARG)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from harness.check import (
    CL,
    SHAPES,
    Callback,
    Format,
    Icd,
    IcdObjects,
    Images,
    Info,
    Memory,
    Sandbox,
    Unsupported,
    Value,
    api,
    flags_of,
    pack,
    require_compiler,
    requirement,
)

ACCESS = ("", "CL_MEM_READ_WRITE", "CL_MEM_WRITE_ONLY", "CL_MEM_READ_ONLY")
HOST_MEMORY = (
    "", "CL_MEM_ALLOC_HOST_PTR", "CL_MEM_COPY_HOST_PTR", "CL_MEM_ALLOC_HOST_PTR|CL_MEM_COPY_HOST_PTR",
    "CL_MEM_USE_HOST_PTR",
)  # fmt: skip
HOST_ACCESS = ("", "CL_MEM_HOST_WRITE_ONLY", "CL_MEM_HOST_READ_ONLY", "CL_MEM_HOST_NO_ACCESS")
SIZES = (1, 3, 64, 4097)
IMAGE = Format("CL_RGBA", "CL_UNSIGNED_INT8")
SOURCE = "kernel void name(global int *to) { to[0] = 1; }\n"

# Combinations of flags: of access, of the host's memory, of the host's access; the last came with OpenCL 1.2.
FLAGS = ["|".join(filter(None, names)) for names in itertools.product(ACCESS, HOST_MEMORY, HOST_ACCESS)]


def bits(names: str) -> int:
    return flags_of(names) if names else 0


def made(objects: IcdObjects, function: str, *arguments: Any) -> Value:
    """The object that a function answers to proper arguments, which it must not refuse."""
    objects.require_function(function, objects.version())
    code = objects.session.buffer(4)
    handle = objects.session.call_for(code, function, *arguments, code)
    assert code.code() == CL.SUCCESS, f"{function} answered {code.code()}, expected CL_SUCCESS"
    assert isinstance(handle, Value)
    assert handle, f"{function} answered NULL beside CL_SUCCESS"
    return handle


def release(objects: IcdObjects, function: str, handle: Value) -> None:
    error = objects.session.call(function, handle)
    assert error == CL.SUCCESS, f"{function} answered {error}, expected CL_SUCCESS"


def host_memory(objects: IcdObjects, flags: str, size: int) -> Any:
    return objects.session.data(bytes(size)) if "COPY" in flags or "USE" in flags else None


def require_flags(objects: IcdObjects, flags: str) -> None:
    if "MEM_HOST" in flags and objects.version() < (1, 2):
        raise Unsupported("loader", "these flags came with OpenCL 1.2", flags)


# --- buffers and their parts ---


@requirement("API-ARG-002")
@pytest.mark.parametrize("function", ["clCreateBuffer", "clCreateBufferWithProperties"])
def test_buffer_of_all_flags_and_sizes_is_made(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A buffer is made with each combination of flags that do not exclude each other, and of any small size."""

    def check(objects: IcdObjects, flags: str, size: int) -> None:
        require_flags(objects, flags)
        listed = [None] * function.endswith("WithProperties")
        host = host_memory(objects, flags, size)
        buffer = made(objects, function, objects.context, *listed, bits(flags), size, host)
        release(objects, "clReleaseMemObject", buffer)

    with icd.attempts(sandbox) as attempts:
        for flags in FLAGS:
            attempts.check(flags or "no flags", lambda objects, flags=flags: check(objects, flags, 64))  # type: ignore[misc]
        for size in SIZES:
            attempts.check(f"{size} bytes", lambda objects, size=size: check(objects, "", size))  # type: ignore[misc]


@requirement("API-ARG-002")
def test_sub_buffer_of_all_places_and_flags_is_made(icd: Icd, sandbox: Sandbox) -> None:
    """A sub-buffer is made at each place that is aligned, of each size that fits, beside others, and with each flag."""
    kind = CL.BUFFER_CREATE_TYPE_REGION

    def check(objects: IcdObjects, places: Callable[[int], list[tuple[int, int]]], flags: str = "") -> None:
        require_flags(objects, flags)
        align = Memory(objects).alignment()
        buffer = made(objects, "clCreateBuffer", objects.context, CL.MEM_READ_WRITE, 4 * align, None)
        for origin, size in places(align):
            made(objects, "clCreateSubBuffer", buffer, bits(flags), kind, objects.session.words([origin, size]))

    with icd.attempts(sandbox) as attempts:
        attempts.check("the whole buffer", lambda objects: check(objects, lambda align: [(0, 4 * align)]))
        attempts.check("the second part", lambda objects: check(objects, lambda align: [(align, align)]))
        attempts.check("the last part", lambda objects: check(objects, lambda align: [(3 * align, align)]))
        attempts.check("one byte", lambda objects: check(objects, lambda align: [(align, 1)]))
        attempts.check("all but one byte", lambda objects: check(objects, lambda align: [(0, 4 * align - 1)]))
        attempts.check("beside another", lambda objects: check(objects, lambda align: [(0, align), (align, align)]))
        attempts.check("over another", lambda objects: check(objects, lambda align: [(0, 2 * align)] * 2))
        for pair in itertools.product(ACCESS, HOST_ACCESS):
            flags = "|".join(filter(None, pair))
            attempts.check(
                flags or "no flags",
                lambda objects, flags=flags: check(objects, lambda align: [(0, align)], flags),  # type: ignore[misc]
            )


# --- images ---


FLAT = ("CL_MEM_OBJECT_IMAGE1D", "CL_MEM_OBJECT_IMAGE1D_BUFFER", "CL_MEM_OBJECT_IMAGE1D_ARRAY")


def image_of(
    objects: IcdObjects,
    kind: str,
    pixel: Format,
    flags: str,
    shape: tuple[int, int, int],
    pitches: tuple[int, int],
    levels: int = 0,
) -> None:
    """Makes an image and releases it; an image of a buffer has one of its own."""
    images = Images(objects)
    require_flags(objects, flags)
    listed = Info(objects).text("clGetDeviceInfo", objects.device, "CL_DEVICE_EXTENSIONS") if levels else ""
    if levels and "cl_khr_mipmap_image" not in listed.split():
        raise Unsupported("loader", "the device has no images of several mipmap levels", "cl_khr_mipmap_image")
    access = [name for name in flags.split("|") if name in ACCESS[1:]] or ["CL_MEM_READ_WRITE"]  # which is the default
    if pixel not in images.formats(kind, *access):
        raise Unsupported("loader", f"there is no {kind} of {pixel}", kind)
    width, height, depth = shape
    array = {"CL_MEM_OBJECT_IMAGE1D_ARRAY": height, "CL_MEM_OBJECT_IMAGE2D_ARRAY": depth}.get(kind, 0)
    high, deep = 0 if kind in FLAT else height, depth if kind == "CL_MEM_OBJECT_IMAGE3D" else 0
    own = images.buffer(bytes(width * pixel.size)) if kind == "CL_MEM_OBJECT_IMAGE1D_BUFFER" else 0
    described = objects.session.words([flags_of(kind), width, high, deep, array, *pitches, levels, own])
    pair = objects.session.data(pack([api().constant(pixel.order), api().constant(pixel.type)], 4))
    host = host_memory(objects, flags, max(pitches[0], pixel.size * width) * height * depth)
    image = made(objects, "clCreateImage", objects.context, bits(flags), pair, described, host)
    release(objects, "clReleaseMemObject", image)


@requirement("API-ARG-002")
@pytest.mark.parametrize("kind", SHAPES)
def test_image_of_all_flags_formats_and_shapes_is_made(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """An image of each kind is made with each combination of flags, of each format that is listed for it, of one pixel,
    with the pitches that its memory has, and of two mipmap levels where there are any."""
    shape = SHAPES[kind]
    plain: dict[str, Any] = {"pixel": IMAGE, "flags": "", "shape": shape, "pitches": (0, 0)}

    def check(objects: IcdObjects, **changed: Any) -> None:
        image_of(objects, kind, **{**plain, **changed})

    def check_formats(objects: IcdObjects) -> None:
        listed = Images(objects).formats(kind)
        assert listed, f"no format is listed for {kind}"
        for pixel in listed:
            check(objects, pixel=pixel, flags="CL_MEM_READ_ONLY")

    with icd.attempts(sandbox) as attempts:
        of_buffer = kind == "CL_MEM_OBJECT_IMAGE1D_BUFFER"
        for flags in ACCESS if of_buffer else FLAGS:  # the host's memory is that of the buffer
            attempts.check(flags or "no flags", lambda objects, flags=flags: check(objects, flags=flags))  # type: ignore[misc]
        attempts.check("each format", check_formats)
        attempts.check("one pixel", lambda objects: check(objects, shape=(1, 1, 2 if "3D" in kind else 1)))
        if not of_buffer:
            levels = {"flags": "CL_MEM_READ_ONLY", "shape": (8, 8, 8), "levels": 2}
            attempts.check("two mipmap levels", lambda objects: check(objects, **levels))
            tight, apart = IMAGE.size * shape[0], IMAGE.size * (shape[0] + 3)
            for pitch in (tight, apart):
                slice_ = pitch * (1 if "1D_ARRAY" in kind else shape[1])
                pitches = (pitch, slice_ if "ARRAY" in kind or "3D" in kind else 0)
                for flag in ("CL_MEM_COPY_HOST_PTR", "CL_MEM_USE_HOST_PTR"):
                    attempts.check(
                        f"rows of {pitch} bytes, {flag}",
                        lambda objects, row=(flag, pitches): check(objects, flags=row[0], pitches=row[1]),  # type: ignore[misc]
                    )


@requirement("API-ARG-002")
@pytest.mark.parametrize("dimension", ["WIDTH", "HEIGHT"])
def test_image_as_large_as_the_device_says_is_made(icd: Icd, sandbox: Sandbox, dimension: str) -> None:
    """A 2D image of one line, or of one column, may be as long as the device says, and shorter."""

    def check(objects: IcdObjects, part: int) -> None:
        objects.require_images()
        limit = Info(objects).number("clGetDeviceInfo", objects.device, f"CL_DEVICE_IMAGE2D_MAX_{dimension}")
        length = min(limit, 16384) // part  # 64 KB: it is the length that is asked for here, and not the memory
        shape = (length, 1, 1) if dimension == "WIDTH" else (1, length, 1)
        image_of(objects, "CL_MEM_OBJECT_IMAGE2D", IMAGE, "CL_MEM_READ_ONLY", shape, (0, 0))

    with icd.attempts(sandbox) as attempts:
        for part in (1, 2, 8):
            attempts.check(f"1/{part}", lambda objects, part=part: check(objects, part))  # type: ignore[misc]


# --- samplers and queues ---

ADDRESSING = (
    "CL_ADDRESS_NONE", "CL_ADDRESS_CLAMP_TO_EDGE", "CL_ADDRESS_CLAMP", "CL_ADDRESS_REPEAT",
    "CL_ADDRESS_MIRRORED_REPEAT",
)  # fmt: skip
ONLY_NORMALIZED = ("CL_ADDRESS_REPEAT", "CL_ADDRESS_MIRRORED_REPEAT")


@requirement("API-ARG-002")
@pytest.mark.parametrize("function", ["clCreateSampler", "clCreateSamplerWithProperties"])
def test_sampler_of_all_modes_is_made(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A sampler is made with each addressing mode and each filter, of normalised coordinates and of pixels."""

    def check(objects: IcdObjects, normalized: bool, addressing: str, filter_: str) -> None:
        objects.require_images()
        if addressing == "CL_ADDRESS_MIRRORED_REPEAT" and objects.device_version() < (1, 1):
            raise Unsupported("loader", "this mode came with OpenCL 1.1", addressing)
        values = [int(normalized), api().constant(addressing), api().constant(filter_)]
        names = (CL.SAMPLER_NORMALIZED_COORDS, CL.SAMPLER_ADDRESSING_MODE, CL.SAMPLER_FILTER_MODE)
        if function.endswith("WithProperties"):
            listed = [word for pair in zip(names, values, strict=True) for word in pair]
            sampler = made(objects, function, objects.context, [*listed, 0])
        else:
            sampler = made(objects, function, objects.context, *values)
        release(objects, "clReleaseSampler", sampler)

    with icd.attempts(sandbox) as attempts:
        for row in itertools.product((True, False), ADDRESSING, ("CL_FILTER_NEAREST", "CL_FILTER_LINEAR")):
            if row[0] or row[1] not in ONLY_NORMALIZED:
                label = f"{'normalized' if row[0] else 'pixels'}, {row[1]}, {row[2]}"
                attempts.check(label, lambda objects, row=row: check(objects, *row))  # type: ignore[misc]


@requirement("API-ARG-002")
@pytest.mark.parametrize("function", ["clCreateCommandQueue", "clCreateCommandQueueWithProperties"])
def test_queue_of_all_properties_is_made(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A queue is made with each combination of the properties that the device lists, and beside other queues."""

    def check(objects: IcdObjects, wanted: int) -> None:
        supported = Info(objects).number("clGetDeviceInfo", objects.device, "CL_DEVICE_QUEUE_PROPERTIES")
        if wanted & ~supported & ~CL.QUEUE_PROFILING_ENABLE:
            raise Unsupported("loader", f"the device has no queues with the properties {wanted}", "queue properties")
        listed = [CL.QUEUE_PROPERTIES, wanted, 0] if function.endswith("WithProperties") else wanted
        queues = [made(objects, function, objects.context, objects.device, listed) for _ in range(2)]
        for queue in queues:
            release(objects, "clReleaseCommandQueue", queue)

    with icd.attempts(sandbox) as attempts:
        for label, wanted in (
            ("none", 0),
            ("profiling", CL.QUEUE_PROFILING_ENABLE),
            ("out of order", CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
            ("out of order with profiling", CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL.QUEUE_PROFILING_ENABLE),
        ):
            attempts.check(label, lambda objects, wanted=wanted: check(objects, int(wanted)))  # type: ignore[misc]


# --- programs and kernels ---

OPTIONS = (
    "", "-D NAME", "-D NAME=1", "-D NAME=1 -D OTHER", "-w", "-Werror", "-cl-opt-disable",
    "-cl-single-precision-constant", "-cl-denorms-are-zero", "-cl-mad-enable", "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations", "-cl-finite-math-only", "-cl-fast-relaxed-math", "-w -cl-opt-disable -D NAME",
)  # fmt: skip
LANGUAGES = {"-cl-std=CL1.1": (1, 1), "-cl-std=CL1.2": (1, 2)}  # later versions of the language need not be had


@requirement("API-ARG-002")
def test_program_is_built_with_each_option(icd: Icd, sandbox: Sandbox) -> None:
    """A program that is in order is built with each option that the text lists."""

    def check(objects: IcdObjects, options: str) -> None:
        require_compiler([objects])
        if objects.device_version() < LANGUAGES.get(options, (1, 0)):
            raise Unsupported("loader", "the device is older than this version of the language", options)
        program = objects.with_source(SOURCE)
        error = objects.session.call("clBuildProgram", program, 0, None, options, None, None)
        assert error == CL.SUCCESS, f"answered {error}, expected CL_SUCCESS; the log: {objects.build_log(program)}"

    with icd.attempts(sandbox) as attempts:
        for options in (*OPTIONS, *LANGUAGES):
            label = options or "no options"
            attempts.check(label, lambda objects, options=options: check(objects, options))  # type: ignore[misc]


LINKING = (
    "-cl-denorms-are-zero", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
    "-cl-fast-relaxed-math", "-cl-finite-math-only -cl-no-signed-zeros", "-create-library",
    "-create-library -enable-link-options",
)  # fmt: skip


@requirement("API-ARG-002")
def test_program_is_linked_with_each_option(icd: Icd, sandbox: Sandbox) -> None:
    """A program that is in order is linked with each option that the text lists for linking."""

    def check(objects: IcdObjects, options: str) -> None:
        require_compiler([objects])
        session, program, code = objects.session, objects.with_source(SOURCE), objects.session.buffer(4)
        compiled = session.call("clCompileProgram", program, 0, None, None, 0, None, None, None, None)
        objects.require("clCompileProgram", compiled)
        linked = session.call("clLinkProgram", objects.context, 0, None, options, 1, [program], None, None, code)
        assert code.code() == CL.SUCCESS, f"answered {code.code()}, expected CL_SUCCESS"
        assert linked, "answered CL_SUCCESS, and NULL as the program"

    with icd.attempts(sandbox) as attempts:
        for options in LINKING:
            attempts.check(options, lambda objects, options=options: check(objects, options))  # type: ignore[misc]


@requirement("API-ARG-002")
@pytest.mark.parametrize("lengths", ["none", "all", "zeros", "first"])
def test_program_of_several_strings_is_made_and_built(icd: Icd, sandbox: Sandbox, lengths: str) -> None:
    """The source may come in one string or several, with lengths or without; a length of 0 means a string that ends."""
    parts = [SOURCE[:11], SOURCE[11:19], SOURCE[19:]]

    def check(objects: IcdObjects, strings: list[str]) -> None:
        require_compiler([objects])
        session = objects.session
        texts = session.words([session.data(text.encode() + b"\0") for text in strings])
        sizes = {
            "none": None,
            "all": [len(text) for text in strings],
            "zeros": [0] * len(strings),
            "first": [len(strings[0]), *[0] * (len(strings) - 1)],
        }[lengths]
        listed = session.words(sizes) if sizes else None
        program = made(objects, "clCreateProgramWithSource", objects.context, len(strings), texts, listed)
        error = session.call("clBuildProgram", program, 0, None, None, None, None)
        assert error == CL.SUCCESS, f"answered {error}, expected CL_SUCCESS; the log: {objects.build_log(program)}"
        count = session.buffer(4, 0)
        listed_kernels = session.buffer(8, 0)
        error = session.call("clCreateKernelsInProgram", program, 1, listed_kernels, count)
        assert (error, count.u32()) == (CL.SUCCESS, 1), f"clCreateKernelsInProgram answered {error}, {count.u32()}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("one string", lambda objects: check(objects, [SOURCE]))
        attempts.check("three strings", lambda objects: check(objects, parts))


# --- events, shared memory, pipes, contexts ---


@requirement("API-ARG-002")
def test_several_user_events_are_made(icd: Icd, sandbox: Sandbox) -> None:
    """A context has as many user events as are asked for, whether others are complete or not."""

    def check(objects: IcdObjects) -> None:
        for _ in range(20):
            made(objects, "clCreateUserEvent", objects.context)

    with icd.attempts(sandbox) as attempts:
        attempts.check("20 user events", check)


@requirement("API-ARG-002")
def test_shared_memory_of_all_flags_sizes_and_alignments_is_had(icd: Icd, sandbox: Sandbox) -> None:
    """Shared virtual memory is had with each flag that the device lists, of any small size, at each alignment up to
    that of the largest type."""

    def check(objects: IcdObjects, flags: str, size: int, alignment: int) -> None:
        objects.require_function("clSVMAlloc", objects.version())
        can = Info(objects).number("clGetDeviceInfo", objects.device, "CL_DEVICE_SVM_CAPABILITIES")
        needs = {"FINE": CL.DEVICE_SVM_FINE_GRAIN_BUFFER, "ATOMICS": CL.DEVICE_SVM_ATOMICS}
        wanted = sum(bit for word, bit in needs.items() if word in flags)
        if not can or wanted & ~can:
            raise Unsupported("loader", f"CL_DEVICE_SVM_CAPABILITIES are {can}", "shared virtual memory")
        memory = objects.session.call("clSVMAlloc", objects.context, bits(flags), size, alignment)
        assert memory, f"clSVMAlloc of {size} bytes answered NULL"
        assert not alignment or int(memory) % alignment == 0, f"{int(memory):#x} is not a multiple of {alignment}"
        objects.session.call("clSVMFree", objects.context, memory)

    with icd.attempts(sandbox) as attempts:
        fine = "CL_MEM_SVM_FINE_GRAIN_BUFFER"
        for access, sharing in itertools.product(ACCESS, ("", fine, f"{fine}|CL_MEM_SVM_ATOMICS")):
            flags = "|".join(filter(None, (access, sharing)))
            attempts.check(flags or "no flags", lambda objects, flags=flags: check(objects, flags, 64, 0))  # type: ignore[misc]
        for size in SIZES:
            attempts.check(f"{size} bytes", lambda objects, size=size: check(objects, "", size, 0))  # type: ignore[misc]
        for alignment in (1 << bit for bit in range(8)):
            attempts.check(f"at {alignment}", lambda objects, at=alignment: check(objects, "", 256, at))  # type: ignore[misc]


@requirement("API-ARG-002")
def test_pipe_of_all_flags_and_packets_is_made(icd: Icd, sandbox: Sandbox) -> None:
    """A pipe is made with the flags that pipes may have, and with packets of any small size."""

    def check(objects: IcdObjects, flags: str, packet: int) -> None:
        objects.require_function("clCreatePipe", objects.version())
        objects.named("pipe")  # makes the attempt `unsupported` on a device without pipes
        pipe = made(objects, "clCreatePipe", objects.context, bits(flags), packet, 4, None)
        release(objects, "clReleaseMemObject", pipe)

    with icd.attempts(sandbox) as attempts:
        for flags in ("", "CL_MEM_READ_WRITE", "CL_MEM_HOST_NO_ACCESS", "CL_MEM_READ_WRITE|CL_MEM_HOST_NO_ACCESS"):
            attempts.check(flags or "no flags", lambda objects, flags=flags: check(objects, flags, 4))  # type: ignore[misc]
        for packet in (1, 3, 16):
            attempts.check(f"packets of {packet} bytes", lambda objects, size=packet: check(objects, "", size))  # type: ignore[misc]


@requirement("API-ARG-002")
def test_context_of_each_device_and_of_all_is_made(icd: Icd, sandbox: Sandbox) -> None:
    """A context is made of each device, of all of them, and of those of a type; with a callback and without."""

    def check(objects: IcdObjects, *, whole: bool, callback: bool) -> None:
        devices = objects.session.GetDeviceIDs(objects.platform)
        notify = Callback("clCreateContext.pfn_notify") if callback else None
        properties = [CL.CONTEXT_PLATFORM, int(objects.platform), 0]
        for group in [devices] if whole else [[device] for device in devices]:
            listed = objects.session.words(group)
            context = made(objects, "clCreateContext", properties, len(group), listed, notify, None)
            release(objects, "clReleaseContext", context)

    def check_type(objects: IcdObjects, kind: int) -> None:
        properties = [CL.CONTEXT_PLATFORM, int(objects.platform), 0]
        context = made(objects, "clCreateContextFromType", properties, kind, None, None)
        release(objects, "clReleaseContext", context)

    def check_own_type(objects: IcdObjects) -> None:
        kind = Info(objects).number("clGetDeviceInfo", objects.device, "CL_DEVICE_TYPE")
        if kind & CL.DEVICE_TYPE_CUSTOM:
            raise Unsupported("loader", "the device is a custom one", "devices")
        check_type(objects, kind)

    def check_without_properties(objects: IcdObjects) -> None:
        """Which platform is selected then is the implementation's choice, and it may find none."""
        code, listed = objects.session.buffer(4), objects.session.words([objects.device])
        objects.session.call_for(code, "clCreateContext", None, 1, listed, None, None, code)
        assert code.code() in (CL.SUCCESS, CL.INVALID_PLATFORM), f"answered {code.code()}, expected CL_SUCCESS"

    with icd.attempts(sandbox) as attempts:
        attempts.check("each device", lambda objects: check(objects, whole=False, callback=False))
        attempts.check("all devices", lambda objects: check(objects, whole=True, callback=False))
        attempts.check("with a callback", lambda objects: check(objects, whole=False, callback=True))
        attempts.check("devices of every type", lambda objects: check_type(objects, int(CL.DEVICE_TYPE_ALL)))
        attempts.check("devices of its own type", check_own_type)
        attempts.check("without properties", check_without_properties)
