# SPDX-License-Identifier: Apache-2.0
"""Objects say how they were made, whichever function made them, in every query whose answer follows (API-CON)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.check import (
    CL,
    PLAIN_FORMAT,
    Icd,
    IcdObjects,
    Info,
    Memory,
    Sandbox,
    Value,
    api,
    flags_of,
    pack,
    queries,
    requirement,
)

MEMORY, IMAGE, DEVICE = "clGetMemObjectInfo", "clGetImageInfo", "clGetDeviceInfo"
SIZE = 192
PACKET, PACKETS = 12, 5
WIDTH, HEIGHT, DEPTH = 13, 7, 5
Answers = Mapping[str, int]
Made = tuple[Value, Answers]


def expect(info: Info, function: str, handle: Value, answers: Answers) -> None:
    """Compares numbers; CL_ is left out of the names of queries."""
    for query, expected in answers.items():
        actual = info.number(function, handle, f"CL_{query}")
        assert actual == expected, f"CL_{query} is {shown(actual)}, expected {shown(expected)}"


def shown(number: int) -> str:
    return f"{number:#x}" if number < 1 << 32 else "an object or an address"


def common(objects: IcdObjects, **own: int) -> dict[str, int]:
    """What a memory object answers that was made without memory of the host's."""
    return {
        "MEM_CONTEXT": objects.context,
        "MEM_MAP_COUNT": 0,
        "MEM_HOST_PTR": 0,
        "MEM_OFFSET": 0,
        "MEM_ASSOCIATED_MEMOBJECT": 0,
        "MEM_FLAGS": CL.MEM_READ_ONLY,
        **own,
    }


# --- memory objects ---


def buffer(objects: IcdObjects, function: str) -> Made:
    listed = [None] * function.endswith("WithProperties")
    handle = objects.made_by(function, objects.context, *listed, CL.MEM_READ_ONLY, SIZE, None)
    return handle, common(objects, MEM_TYPE=CL.MEM_OBJECT_BUFFER, MEM_SIZE=SIZE)


def sub_buffer(objects: IcdObjects, _: str) -> Made:
    memory = Memory(objects)
    align = memory.alignment()
    parent = objects.made_by("clCreateBuffer", objects.context, CL.MEM_READ_WRITE, 3 * align, None)
    about = {"MEM_OFFSET": align, "MEM_ASSOCIATED_MEMOBJECT": parent, "MEM_SIZE": align}
    handle = memory.part(parent, align, align, CL.MEM_READ_ONLY)
    answers = common(objects, MEM_TYPE=CL.MEM_OBJECT_BUFFER, **about)
    if objects.device_version() < (1, 2):  # it is what host_ptr was, which a sub-buffer does not have
        del answers["MEM_HOST_PTR"]
    return handle, answers


def described(objects: IcdObjects, function: str, deep: bool) -> Made:
    """An image of clCreateImage and its like."""
    objects.require_images()
    kind = CL.MEM_OBJECT_IMAGE3D if deep else CL.MEM_OBJECT_IMAGE2D
    description = objects.session.words([kind, WIDTH, HEIGHT, DEPTH if deep else 0, 0, 0, 0, 0, 0])
    listed = [None] * function.endswith("WithProperties")
    handle = objects.made_by(
        function, objects.context, *listed, CL.MEM_READ_ONLY, pixel_format(objects), description, None
    )
    return handle, common(objects, MEM_TYPE=kind)


def older_image(objects: IcdObjects, function: str) -> Made:
    """An image of clCreateImage2D or clCreateImage3D."""
    objects.require_images()
    deep = function.endswith("3D")
    sizes = (WIDTH, HEIGHT, DEPTH, 0, 0) if deep else (WIDTH, HEIGHT, 0)
    handle = objects.made_by(function, objects.context, CL.MEM_READ_ONLY, pixel_format(objects), *sizes, None)
    return handle, common(objects, MEM_TYPE=CL.MEM_OBJECT_IMAGE3D if deep else CL.MEM_OBJECT_IMAGE2D)


def pixel_format(objects: IcdObjects) -> Any:
    pair = [api().constant(PLAIN_FORMAT.order), api().constant(PLAIN_FORMAT.type)]
    return objects.session.data(pack(pair, 4))


MEMORY_OBJECTS: dict[str, tuple[str, Callable[[IcdObjects, str], Made]]] = {
    "clCreateBuffer": ("clCreateBuffer", buffer),
    "clCreateBufferWithProperties": ("clCreateBufferWithProperties", buffer),
    "clCreateSubBuffer": ("clCreateSubBuffer", sub_buffer),
    "clCreateImage": ("clCreateImage", lambda o, f: described(o, f, deep=False)),
    "clCreateImage of 3D": ("clCreateImage", lambda o, f: described(o, f, deep=True)),
    "clCreateImageWithProperties": ("clCreateImageWithProperties", lambda o, f: described(o, f, deep=False)),
    "clCreateImageWithProperties of 3D": ("clCreateImageWithProperties", lambda o, f: described(o, f, deep=True)),
    "clCreateImage2D": ("clCreateImage2D", older_image),
    "clCreateImage3D": ("clCreateImage3D", older_image),
}
IMAGES = [name for name in MEMORY_OBJECTS if "Image" in name]


@requirement("API-CON-009", "API-CON-011")
@pytest.mark.parametrize("maker", MEMORY_OBJECTS)
def test_memory_object_of_each_function_says_how_it_was_made(icd: Icd, sandbox: Sandbox, maker: str) -> None:
    """Type, flags, context, parent, offset, host memory and counts of a memory object are those it was made with."""

    def check(objects: IcdObjects) -> None:
        function, make = MEMORY_OBJECTS[maker]
        objects.require_function(function, objects.version())
        handle, answers = make(objects, function)
        expect(Info(objects), MEMORY, handle, answers)

    def check_shared(objects: IcdObjects) -> None:
        function, make = MEMORY_OBJECTS[maker]
        objects.require_function(function, objects.version())
        expect(Info(objects), MEMORY, make(objects, function)[0], {"MEM_USES_SVM_POINTER": CL.FALSE})

    with icd.attempts(sandbox) as attempts:
        attempts.check("queries of memory objects", check)
        attempts.check("no shared virtual memory", check_shared)


@requirement("API-CON-011")
@pytest.mark.parametrize("maker", IMAGES)
def test_image_of_each_function_says_how_it_was_made(icd: Icd, sandbox: Sandbox, maker: str) -> None:
    """Format, sizes and number of levels of an image are those it was made with."""

    def create(objects: IcdObjects) -> Value:
        function, make = MEMORY_OBJECTS[maker]
        objects.require_function(function, objects.version())
        return make(objects, function)[0]

    def check(objects: IcdObjects) -> None:
        info, image = Info(objects), create(objects)
        depth = DEPTH if "3D" in maker else 0
        sizes = {"IMAGE_WIDTH": WIDTH, "IMAGE_HEIGHT": HEIGHT, "IMAGE_DEPTH": depth}
        expect(info, IMAGE, image, {**sizes, "IMAGE_ELEMENT_SIZE": PLAIN_FORMAT.size})
        pair = pack([api().constant(PLAIN_FORMAT.order), api().constant(PLAIN_FORMAT.type)], 4)
        assert info.answer(IMAGE, image, "CL_IMAGE_FORMAT") == pair, f"CL_IMAGE_FORMAT is not {PLAIN_FORMAT}"

    def check_newer(objects: IcdObjects) -> None:
        newer = ("IMAGE_ARRAY_SIZE", "IMAGE_NUM_MIP_LEVELS", "IMAGE_NUM_SAMPLES")
        expect(Info(objects), IMAGE, create(objects), dict.fromkeys(newer, 0))

    with icd.attempts(sandbox) as attempts:
        attempts.check("queries of images", check)
        attempts.check("no array, no levels, no samples", check_newer)


@requirement("API-CON-032")
def test_pipe_says_how_it_was_made(icd: Icd, sandbox: Sandbox) -> None:
    """A pipe has the size and the number of packets that it was made with, and is a memory object of its own type."""
    flags = flags_of("CL_MEM_READ_WRITE|CL_MEM_HOST_NO_ACCESS")

    def create(objects: IcdObjects) -> Value:
        objects.require_function("clCreatePipe", objects.version())
        objects.named("pipe")  # makes the attempt `unsupported` on a device without pipes
        return objects.made_by("clCreatePipe", objects.context, flags, PACKET, PACKETS, None)

    def check(objects: IcdObjects) -> None:
        expect(
            Info(objects), "clGetPipeInfo", create(objects), {"PIPE_PACKET_SIZE": PACKET, "PIPE_MAX_PACKETS": PACKETS}
        )

    def check_memory(objects: IcdObjects) -> None:
        answers = common(objects, MEM_TYPE=CL.MEM_OBJECT_PIPE, MEM_FLAGS=flags)
        expect(Info(objects), MEMORY, create(objects), answers)

    def check_properties(objects: IcdObjects) -> None:
        listed = Info(objects).words("clGetPipeInfo", create(objects), "CL_PIPE_PROPERTIES")
        assert listed == [], f"CL_PIPE_PROPERTIES are {listed}, and it was made without any"

    with icd.attempts(sandbox) as attempts:
        attempts.check("packets", check)
        attempts.check("properties", check_properties)
        attempts.check("queries of memory objects", check_memory)


# --- contexts, queues, samplers, events ---


@requirement("API-CON-007")
def test_context_of_a_type_has_the_properties_that_it_was_made_with(icd: Icd, sandbox: Sandbox) -> None:
    """A context that was made for a type of devices has its properties."""

    def check(objects: IcdObjects) -> None:
        properties = [CL.CONTEXT_PLATFORM, int(objects.platform), 0]
        context = objects.made_by("clCreateContextFromType", properties, CL.DEVICE_TYPE_ALL, None, None)
        info = Info(objects)
        actual = info.words("clGetContextInfo", context, "CL_CONTEXT_PROPERTIES")
        same = actual == properties
        if objects.version() < (3, 0):  # older texts ask for what was given, and forbid nothing beside it
            same = (properties[0], properties[1]) in zip(actual[::2], actual[1::2], strict=False)
        assert same, "CL_CONTEXT_PROPERTIES are not those that the context was made with"

    with icd.attempts(sandbox) as attempts:
        attempts.check("clCreateContextFromType", check)


@requirement("API-CON-008")
def test_queue_with_properties_says_how_it_was_made(icd: Icd, sandbox: Sandbox) -> None:
    """A queue that was made with a property list has its context, its device and its bits, and one reference."""

    def check(objects: IcdObjects, bits: int) -> None:
        function = "clCreateCommandQueueWithProperties"
        objects.require_function(function, objects.version())
        info = Info(objects)
        bits &= info.number(DEVICE, objects.device, "CL_DEVICE_QUEUE_PROPERTIES")
        queue = objects.made_by(function, objects.context, objects.device, [CL.QUEUE_PROPERTIES, bits, 0])
        answers = {"QUEUE_CONTEXT": objects.context, "QUEUE_DEVICE": objects.device}
        expect(info, "clGetCommandQueueInfo", queue, {**answers, "QUEUE_PROPERTIES": bits})

    with icd.attempts(sandbox) as attempts:
        attempts.check("plain", lambda objects: check(objects, 0))
        attempts.check("profiling", lambda objects: check(objects, CL.QUEUE_PROFILING_ENABLE))
        attempts.check("out of order", lambda objects: check(objects, CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))


@requirement("API-CON-012")
def test_sampler_with_properties_says_how_it_was_made(icd: Icd, sandbox: Sandbox) -> None:
    """A sampler that was made with a property list has its values and its context."""

    def check(objects: IcdObjects, *values: int) -> None:
        function = "clCreateSamplerWithProperties"
        objects.require_function(function, objects.version())
        objects.require_images()
        names = ("SAMPLER_NORMALIZED_COORDS", "SAMPLER_ADDRESSING_MODE", "SAMPLER_FILTER_MODE")
        answers = dict(zip(names, values, strict=True))
        listed = [word for name, value in answers.items() for word in (api().constant(f"CL_{name}"), value)]
        sampler = objects.made_by(function, objects.context, [*listed, 0])
        answers |= {"SAMPLER_CONTEXT": objects.context}
        expect(Info(objects), "clGetSamplerInfo", sampler, answers)

    with icd.attempts(sandbox) as attempts:
        for label, *row in (
            ("pixels, nearest", CL.FALSE, CL.ADDRESS_CLAMP_TO_EDGE, CL.FILTER_NEAREST),
            ("pixels, linear", CL.FALSE, CL.ADDRESS_CLAMP, CL.FILTER_LINEAR),
            ("repeated", CL.TRUE, CL.ADDRESS_REPEAT, CL.FILTER_LINEAR),
            ("mirrored", CL.TRUE, CL.ADDRESS_MIRRORED_REPEAT, CL.FILTER_NEAREST),
        ):
            attempts.check(label, lambda objects, row=row: check(objects, *row))  # type: ignore[misc]


# --- sub-devices ---

# The queries that the text leaves out, and the number of compute units, which is what a partition is about.
OF_ITS_OWN = {
    "CL_DEVICE_GLOBAL_MEM_CACHE_SIZE",
    "CL_DEVICE_BUILT_IN_KERNELS",
    "CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION",
    "CL_DEVICE_PARENT_DEVICE",
    "CL_DEVICE_PARTITION_TYPE",
    "CL_DEVICE_REFERENCE_COUNT",
    "CL_DEVICE_MAX_COMPUTE_UNITS",
    "CL_DEVICE_PARTITION_MAX_SUB_DEVICES",
    "CL_DEVICE_PARTITION_PROPERTIES",
    "CL_DEVICE_PARTITION_AFFINITY_DOMAIN",
}


@requirement("API-CON-034")
def test_sub_device_answers_like_its_device(icd: Icd, sandbox: Sandbox) -> None:
    """A sub-device answers the queries of devices as the device does, except for those about its own part."""

    def check(objects: IcdObjects, query: str) -> None:
        info, part = Info(objects), objects.named("sub_device")
        own, whole = (info.answer(DEVICE, of, query) for of in (part, objects.device))
        assert own == whole, f"{query} of the sub-device is {own[:16].hex()}, that of its device {whole[:16].hex()}"

    with icd.attempts(sandbox) as attempts:
        for query in queries():
            if query.function == DEVICE and query.name not in OF_ITS_OWN:
                attempts.check(query.name, lambda objects, name=query.name: check(objects, name))  # type: ignore[misc]
