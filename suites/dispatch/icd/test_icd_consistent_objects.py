# SPDX-License-Identifier: Apache-2.0
"""What objects say of themselves is how they were made, and whom they belong to (API-CON)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    PLAIN_FORMAT,
    SHAPES,
    Icd,
    IcdObjects,
    Images,
    Info,
    Memory,
    Sandbox,
    Value,
    api,
    calls,
    flags_of,
    requirement,
)

SIZE = 256
MEMORY, IMAGE = "clGetMemObjectInfo", "clGetImageInfo"
ACCESS = "CL_MEM_READ_WRITE|CL_MEM_READ_ONLY|CL_MEM_WRITE_ONLY"
# An image of a buffer has the first two only: the others are about memory of the host's, which is its buffer's.
FLAGS_OF_IMAGES = (
    "CL_MEM_READ_ONLY",
    "CL_MEM_WRITE_ONLY",
    "CL_MEM_READ_WRITE|CL_MEM_ALLOC_HOST_PTR",
    "CL_MEM_READ_ONLY|CL_MEM_HOST_NO_ACCESS|CL_MEM_COPY_HOST_PTR",
    "CL_MEM_READ_WRITE|CL_MEM_USE_HOST_PTR",
)


def says_what_was_given(objects: IcdObjects) -> bool:
    """Before OpenCL 1.2, CL_MEM_HOST_PTR is what host_ptr was, whatever the flags, and a sub-buffer has none."""
    return objects.device_version() < (1, 2)


def expect(info: Info, function: str, handle: Value, **answers: int) -> None:
    """Compares numbers; CL_ is left out of the names of queries."""
    for query, expected in answers.items():
        actual = info.number(function, handle, f"CL_{query}")
        shown = "another object" if actual and expected > 1 << 32 else f"{actual:#x}"
        assert actual == expected, (
            f"CL_{query} is {shown}, expected {expected:#x}"
            if expected < 1 << 32
            else (f"CL_{query} is {shown}, expected the one that it was made with")
        )


@requirement("API-CON-007")
def test_context_names_its_devices(icd: Icd, sandbox: Sandbox) -> None:
    """A context has the devices that it was made with, as many as it counts, and the properties that were given."""

    def check(objects: IcdObjects) -> None:
        info = Info(objects)
        expect(info, "clGetContextInfo", objects.context, CONTEXT_NUM_DEVICES=1)
        assert info.words("clGetContextInfo", objects.context, "CL_CONTEXT_DEVICES") == [objects.device]
        properties = info.words("clGetContextInfo", objects.context, "CL_CONTEXT_PROPERTIES")
        wanted = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
        if objects.version() < (3, 0):  # older texts ask for what was given, and forbid nothing beside it
            found = (wanted[0], wanted[1]) in zip(properties[::2], properties[1::2], strict=False)
            assert found, "CL_CONTEXT_PROPERTIES lack the platform that was given"
        else:
            assert properties == wanted

    def check_all(objects: IcdObjects) -> None:
        info = Info(objects)
        context = objects.made_by(
            "clCreateContextFromType",
            [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0],
            CL.DEVICE_TYPE_ALL,
            None,
            None,
        )
        devices = info.words("clGetContextInfo", context, "CL_CONTEXT_DEVICES")
        count = info.number("clGetContextInfo", context, "CL_CONTEXT_NUM_DEVICES")
        assert len(devices) == count, f"{len(devices)} devices, and {count} as a number"
        known = [int(device) for device in objects.session.GetDeviceIDs(objects.platform)]
        assert set(devices) <= set(known) and len(set(devices)) == len(devices), "devices of others, or one twice"

    def check_parts(objects: IcdObjects) -> None:
        info, function = Info(objects), "clCreateSubDevices"
        objects.require_function(function, objects.version())
        units = info.number("clGetDeviceInfo", objects.device, "CL_DEVICE_MAX_COMPUTE_UNITS")
        properties = [api().constant("CL_DEVICE_PARTITION_EQUALLY"), max(units // 2, 1), 0]
        count, devices = objects.session.buffer(4, 0), objects.session.buffer(8 * 16, 0)  # more than it can be
        error = objects.session.call(function, objects.device, properties, 16, devices, count)
        objects.require(function, error)
        parts = devices.handles()[: min(count.u32(), 2)]
        platform = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
        context = objects.made_by("clCreateContext", platform, len(parts), parts, None, None)
        expect(info, "clGetContextInfo", context, CONTEXT_NUM_DEVICES=len(parts))
        listed = info.words("clGetContextInfo", context, "CL_CONTEXT_DEVICES")
        assert sorted(listed) == sorted(map(int, parts)), "the devices are not the sub-devices that it was made with"

    with icd.attempts(sandbox) as attempts:
        attempts.check("clCreateContext", check)
        attempts.check("clCreateContextFromType", check_all)
        attempts.check("clCreateContext of sub-devices", check_parts)


@requirement("API-CON-008")
def test_queue_names_its_context_device_and_properties(icd: Icd, sandbox: Sandbox) -> None:
    """A queue has the context, the device and the properties that it was made with."""

    def check(objects: IcdObjects, properties: int) -> None:
        info = Info(objects)
        able = info.number("clGetDeviceInfo", objects.device, "CL_DEVICE_QUEUE_PROPERTIES")
        queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, properties & able)
        expect(
            info,
            "clGetCommandQueueInfo",
            queue,
            QUEUE_CONTEXT=objects.context,
            QUEUE_DEVICE=objects.device,
            QUEUE_PROPERTIES=properties & able,
        )

    with icd.attempts(sandbox) as attempts:
        attempts.check("plain", lambda objects: check(objects, 0))
        attempts.check("profiling", lambda objects: check(objects, CL.QUEUE_PROFILING_ENABLE))
        attempts.check("out of order", lambda objects: check(objects, CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))


@requirement("API-CON-026")
def test_default_queue_of_a_device_is_one_on_the_device(icd: Icd, sandbox: Sandbox) -> None:
    """The default queue of a device is none, or a queue on the device: never one that runs commands of the host."""

    def check(objects: IcdObjects) -> None:
        info = Info(objects)
        default = info.number("clGetCommandQueueInfo", objects.queue, "CL_QUEUE_DEVICE_DEFAULT")
        assert default != objects.queue, "CL_QUEUE_DEVICE_DEFAULT of a queue of the host is this queue"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a queue of the host", check)


@requirement("API-CON-009")
def test_buffer_says_how_it_was_made(icd: Icd, sandbox: Sandbox) -> None:
    """A buffer, and a sub-buffer of it, has its type, flags, size, host memory, offset and parent."""

    def check(objects: IcdObjects, flags: str) -> None:
        memory, info = Memory(objects), Info(objects)
        uses = "HOST_PTR" in flags and "ALLOC" not in flags
        host = memory.session.buffer(SIZE) if uses else None
        mem = objects.made_by("clCreateBuffer", objects.context, flags_of(flags), SIZE, host)
        pointer = memory.address(host) if host is not None and ("USE" in flags or says_what_was_given(objects)) else 0
        expect(
            info,
            MEMORY,
            mem,
            MEM_TYPE=api().constant("CL_MEM_OBJECT_BUFFER"),
            MEM_FLAGS=flags_of(flags),
            MEM_SIZE=SIZE,
            MEM_HOST_PTR=pointer,
            MEM_MAP_COUNT=0,
            MEM_CONTEXT=objects.context,
            MEM_ASSOCIATED_MEMOBJECT=0,
            MEM_OFFSET=0,
        )

    def check_odd(objects: IcdObjects) -> None:
        info = Info(objects)
        mem = objects.made_by("clCreateBuffer", objects.context, CL.MEM_READ_WRITE, 101, None)
        expect(info, MEMORY, mem, MEM_SIZE=101)

    def check_shared(objects: IcdObjects) -> None:
        mem = objects.made_by("clCreateBuffer", objects.context, CL.MEM_READ_WRITE, SIZE, None)
        expect(Info(objects), MEMORY, mem, MEM_USES_SVM_POINTER=0)

    def check_part(objects: IcdObjects, flags: str, own: str) -> None:
        memory, info = Memory(objects), Info(objects)
        align = memory.alignment()
        size = 3 * align
        host = memory.session.buffer(size)
        mem = objects.made_by("clCreateBuffer", objects.context, flags_of(flags), size, host)
        part = memory.part(mem, align, align, flags_of(own) if own else 0)
        expect(
            info,
            MEMORY,
            part,
            MEM_TYPE=api().constant("CL_MEM_OBJECT_BUFFER"),
            MEM_SIZE=align,
            MEM_OFFSET=align,
            MEM_ASSOCIATED_MEMOBJECT=mem,
            MEM_CONTEXT=objects.context,
        )
        if "USE" in flags or not says_what_was_given(objects):
            expect(info, MEMORY, part, MEM_HOST_PTR=memory.address(host) + align if "USE" in flags else 0)
        actual = info.number(MEMORY, part, "CL_MEM_FLAGS")
        access = flags_of(ACCESS)
        expected = flags_of(own) if own else flags_of(flags) & access
        assert actual & access == expected & access, f"CL_MEM_FLAGS is {actual:#x}, expected {expected:#x}"

    def check_inherited(objects: IcdObjects, flags: str) -> None:
        memory = Memory(objects)
        given = flags in ("CL_MEM_USE_HOST_PTR", "CL_MEM_COPY_HOST_PTR")
        host = memory.session.buffer(SIZE) if given else None
        mem = objects.made_by("clCreateBuffer", objects.context, flags_of(flags), SIZE, host)
        answer = Info(objects).number(MEMORY, memory.part(mem, 0, 16), "CL_MEM_FLAGS")
        assert answer & flags_of(flags), f"CL_MEM_FLAGS is {answer:#x}, without {flags} of the buffer"

    with icd.attempts(sandbox) as attempts:
        for flags in (
            "CL_MEM_READ_WRITE",
            "CL_MEM_WRITE_ONLY",
            "CL_MEM_READ_ONLY|CL_MEM_HOST_WRITE_ONLY",
            "CL_MEM_READ_WRITE|CL_MEM_ALLOC_HOST_PTR",
            "CL_MEM_READ_WRITE|CL_MEM_USE_HOST_PTR",
            "CL_MEM_READ_ONLY|CL_MEM_COPY_HOST_PTR",
        ):
            attempts.check(flags, lambda objects, flags=flags: check(objects, flags))  # type: ignore[misc]
        attempts.check("101 bytes", check_odd)
        attempts.check("no shared virtual memory", check_shared)
        for flags, own in (
            ("CL_MEM_READ_WRITE|CL_MEM_COPY_HOST_PTR", "CL_MEM_READ_ONLY"),
            ("CL_MEM_READ_ONLY|CL_MEM_USE_HOST_PTR", ""),
        ):
            label = f"sub-buffer {own or 'without flags'} of {flags}"
            attempts.check(label, lambda objects, row=(flags, own): check_part(objects, *row))  # type: ignore[misc]
        for flags in (
            "CL_MEM_USE_HOST_PTR",
            "CL_MEM_ALLOC_HOST_PTR",
            "CL_MEM_COPY_HOST_PTR",
            "CL_MEM_HOST_READ_ONLY",
            "CL_MEM_HOST_WRITE_ONLY",
            "CL_MEM_HOST_NO_ACCESS",
        ):
            label = f"sub-buffer inherits {flags}"
            attempts.check(label, lambda objects, flags=flags: check_inherited(objects, flags))  # type: ignore[misc]


@requirement("API-CON-010")
def test_mappings_are_counted(icd: Icd, sandbox: Sandbox) -> None:
    """The map count of a buffer is how many mappings it has."""
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        mem = memory.buffer(bytes(SIZE))
        mapped = []
        for count in (1, 2, 3):
            mapped.append(memory.map(mem, "CL_MAP_READ", 16 * count, 32))
            assert memory.number(MEMORY, mem, "CL_MEM_MAP_COUNT", 4) == count
        for count in (2, 1, 0):
            memory.unmap(mem, mapped.pop(count // 2))
            memory.finish()
            assert memory.number(MEMORY, mem, "CL_MEM_MAP_COUNT", 4) == count


@requirement("API-CON-010")
def test_mappings_of_an_image_are_counted(icd: Icd, sandbox: Sandbox) -> None:
    """So it is of an image."""
    with icd.open(sandbox) as session:
        images = Images(session.objects(session.some_platforms()[0]))
        kind = "CL_MEM_OBJECT_IMAGE2D"
        images.require(kind, PLAIN_FORMAT)
        image, row = images.image(kind, PLAIN_FORMAT), session.buffer(8, 0)
        mapped = []
        for count in (1, 2):
            words = [session.words(list(w)) for w in ((count, 0, 0), (4, 2, 1))]
            arguments = (images.queue, image, 1, CL.MAP_READ, *words, row, None, 0, None, None)
            mapped.append(images.objects.made_by("clEnqueueMapImage", *arguments))
            assert images.number(MEMORY, image, "CL_MEM_MAP_COUNT", 4) == count
        for count in (1, 0):
            images.unmap(image, mapped.pop())
            images.finish()
            assert images.number(MEMORY, image, "CL_MEM_MAP_COUNT", 4) == count


@requirement("API-CON-011")
@pytest.mark.parametrize("kind", SHAPES)
def test_image_says_how_it_was_made(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """An image has its format, sizes, pitches that hold its pixels, type, context, flags, and memory of the host."""

    def check(objects: IcdObjects) -> None:
        images, info = Images(objects), Info(objects)
        images.require(kind, PLAIN_FORMAT)
        image = images.image(kind, PLAIN_FORMAT)
        width, height, depth = SHAPES[kind]
        flat = kind in ("CL_MEM_OBJECT_IMAGE1D", "CL_MEM_OBJECT_IMAGE1D_BUFFER", "CL_MEM_OBJECT_IMAGE1D_ARRAY")
        layers = {"CL_MEM_OBJECT_IMAGE1D_ARRAY": height, "CL_MEM_OBJECT_IMAGE2D_ARRAY": depth}.get(kind, 0)
        expect(
            info,
            IMAGE,
            image,
            IMAGE_WIDTH=width,
            IMAGE_HEIGHT=0 if flat else height,
            IMAGE_DEPTH=depth if kind == "CL_MEM_OBJECT_IMAGE3D" else 0,
            IMAGE_ARRAY_SIZE=layers,
            IMAGE_ELEMENT_SIZE=4,
            IMAGE_NUM_MIP_LEVELS=0,
            IMAGE_NUM_SAMPLES=0,
        )
        pair = info.answer(IMAGE, image, "CL_IMAGE_FORMAT")
        order, type_ = (int.from_bytes(pair[i : i + 4], "little") for i in (0, 4))
        assert order == api().constant("CL_RGBA") and type_ == api().constant("CL_UNSIGNED_INT8"), "CL_IMAGE_FORMAT"
        expect(info, MEMORY, image, MEM_TYPE=api().constant(kind), MEM_CONTEXT=objects.context, MEM_OFFSET=0)
        row, slice_ = (info.number(IMAGE, image, f"CL_IMAGE_{name}_PITCH") for name in ("ROW", "SLICE"))
        assert row >= 4 * width, f"CL_IMAGE_ROW_PITCH is {row}, and a row has {4 * width} bytes"
        several = bool(layers) or kind == "CL_MEM_OBJECT_IMAGE3D"
        least = row * (1 if flat else height) if several else 0
        expected = f"{least} or more" if several else "0"
        assert slice_ >= least and bool(slice_) == several, f"CL_IMAGE_SLICE_PITCH is {slice_}, expected {expected}"
        size = info.number(MEMORY, image, "CL_MEM_SIZE")
        assert size >= 4 * width * height * depth, f"CL_MEM_SIZE is {size}, less than its pixels"

    def check_flags(objects: IcdObjects, flags: str, of_host: bool) -> None:
        images, (width, height, depth) = Images(objects), SHAPES[kind]
        images.require(kind, PLAIN_FORMAT)
        host = images.session.buffer(4 * width * height * depth) if of_host else None
        image = images.image(kind, PLAIN_FORMAT, flags, host=host)
        used = host is not None and ("USE" in flags or says_what_was_given(objects))
        pointer = images.address(host) if host is not None and used else 0
        info = Info(objects)
        expect(info, MEMORY, image, MEM_HOST_PTR=pointer, MEM_MAP_COUNT=0)
        actual, expected = info.number(MEMORY, image, "CL_MEM_FLAGS"), flags_of(flags)
        access = flags_of(ACCESS) if kind == "CL_MEM_OBJECT_IMAGE1D_BUFFER" else ~0  # it may inherit the others
        assert actual & access == expected, f"CL_MEM_FLAGS is {actual:#x}, expected {expected:#x}"

    with icd.attempts(sandbox) as attempts:
        attempts.check(kind, check)
        for flags in FLAGS_OF_IMAGES[: 2 if kind == "CL_MEM_OBJECT_IMAGE1D_BUFFER" else None]:
            of_host = "USE_HOST" in flags or "COPY" in flags
            attempts.check(flags, lambda objects, row=(flags, of_host): check_flags(objects, *row))  # type: ignore[misc]


@requirement("API-CON-011")
def test_image_of_a_buffer_names_it(icd: Icd, sandbox: Sandbox) -> None:
    """An image that is made of a buffer has that as the memory object that it was created from; another has none."""

    def check(objects: IcdObjects) -> None:
        images, info = Images(objects), Info(objects)
        kind = "CL_MEM_OBJECT_IMAGE1D_BUFFER"
        images.require(kind, PLAIN_FORMAT)
        own = images.buffer(bytes(64))
        image, plain = images.image(kind, PLAIN_FORMAT, own=own), images.image("CL_MEM_OBJECT_IMAGE1D", PLAIN_FORMAT)
        expect(info, MEMORY, image, MEM_ASSOCIATED_MEMOBJECT=own)
        expect(info, MEMORY, plain, MEM_ASSOCIATED_MEMOBJECT=0)
        expect(info, IMAGE, image, IMAGE_BUFFER=own)
        expect(info, IMAGE, plain, IMAGE_BUFFER=0)

    with icd.attempts(sandbox) as attempts:
        attempts.check("a buffer", check)


@requirement("API-CON-012")
def test_sampler_says_how_it_was_made(icd: Icd, sandbox: Sandbox) -> None:
    """A sampler has the coordinates, the addressing mode and the filter that it was made with."""

    def check(objects: IcdObjects, coordinates: int, addressing: str, filter_: str) -> None:
        objects.require_images()
        modes = api().constant(addressing), api().constant(filter_)
        sampler = objects.made_by("clCreateSampler", objects.context, coordinates, *modes)
        expect(
            Info(objects),
            "clGetSamplerInfo",
            sampler,
            SAMPLER_NORMALIZED_COORDS=coordinates,
            SAMPLER_ADDRESSING_MODE=modes[0],
            SAMPLER_FILTER_MODE=modes[1],
            SAMPLER_CONTEXT=objects.context,
        )

    with icd.attempts(sandbox) as attempts:
        for row in (
            (0, "CL_ADDRESS_NONE", "CL_FILTER_NEAREST"),
            (1, "CL_ADDRESS_REPEAT", "CL_FILTER_LINEAR"),
            (0, "CL_ADDRESS_CLAMP_TO_EDGE", "CL_FILTER_LINEAR"),
            (1, "CL_ADDRESS_CLAMP", "CL_FILTER_NEAREST"),
        ):
            attempts.check(" ".join(map(str, row)), lambda objects, row=row: check(objects, *row))  # type: ignore[misc]


@requirement("API-CON-013")
def test_event_names_its_queue_and_context(icd: Icd, sandbox: Sandbox) -> None:
    """The event of a command has its queue and context; a user event has a context and no queue."""

    def check(objects: IcdObjects, of: str, queue: bool) -> None:
        expect(
            Info(objects),
            "clGetEventInfo",
            objects.named(of),
            EVENT_CONTEXT=objects.context,
            EVENT_COMMAND_QUEUE=objects.queue if queue else 0,
        )

    def check_command(objects: IcdObjects, function: str) -> None:
        call, event = calls.prepare(objects, function), objects.session.buffer(8, 0)
        call.arguments[[p.name for p in call.function.parameters].index("event")] = event
        objects.require(function, call.make())
        about = {"EVENT_CONTEXT": objects.context, "EVENT_COMMAND_QUEUE": objects.queue}
        expect(Info(objects), "clGetEventInfo", event.handle(), **about)

    def check_second(objects: IcdObjects) -> None:
        first = objects.queue
        second = objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0)
        for queue in (second, first):
            event = objects.given_by("clEnqueueMarker", queue)
            expect(Info(objects), "clGetEventInfo", event, EVENT_CONTEXT=objects.context, EVENT_COMMAND_QUEUE=queue)

    with icd.attempts(sandbox) as attempts:
        attempts.check("of a command", lambda objects: check(objects, "done", True))
        attempts.check("of the second queue", check_second)
        attempts.check("user event", lambda objects: check(objects, "event", False))
        for function in calls.commands_with_events():
            attempts.check(function, lambda o, function=function: check_command(o, function))  # type: ignore[misc]


@requirement("API-CON-014")
def test_sub_device_names_its_parent_and_its_platform(icd: Icd, sandbox: Sandbox) -> None:
    """A sub-device has the device that it is a part of, the same platform, and a part of its compute units."""

    def check(objects: IcdObjects) -> None:
        info, cl = Info(objects), objects.session
        properties = [api().constant("CL_DEVICE_PARTITION_EQUALLY"), 1, 0]
        count = cl.buffer(4, 0)
        objects.require_function("clCreateSubDevices", objects.version())
        error = cl.call("clCreateSubDevices", objects.device, properties, 0, None, count)
        objects.require("clCreateSubDevices", error)
        number = count.u32()
        devices = cl.buffer(8 * number, 0)
        objects.require(
            "clCreateSubDevices", cl.call("clCreateSubDevices", objects.device, properties, number, devices, None)
        )
        part = devices.handle()
        expect(
            info,
            "clGetDeviceInfo",
            part,
            DEVICE_PARENT_DEVICE=objects.device,
            DEVICE_PLATFORM=objects.platform,
            DEVICE_MAX_COMPUTE_UNITS=1,
        )
        assert number <= info.number("clGetDeviceInfo", objects.device, "CL_DEVICE_MAX_COMPUTE_UNITS")
        platform = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
        context = objects.made_by("clCreateContext", platform, 1, [part], None, None)
        queue = objects.made_by("clCreateCommandQueue", context, part, 0)
        expect(info, "clGetCommandQueueInfo", queue, QUEUE_CONTEXT=context, QUEUE_DEVICE=part)
        assert len(set(devices.handles())) == number, "a sub-device is listed twice"

    with icd.attempts(sandbox) as attempts:
        attempts.check("equally", check)
