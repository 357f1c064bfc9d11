# SPDX-License-Identifier: Apache-2.0
"""Import of memory from outside OpenCL by a vendor's ICD (XM-IMP)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import (
    CL,
    MEMORY_SIZE,
    Icd,
    Importer,
    Sandbox,
    Unsupported,
    Value,
    api,
    extension,
    importers,
    memory_handle_types,
    pack,
    platforms_with,
    requirement,
    target,
)

pytestmark = extension("cl_khr_external_memory")

LIST = CL.MEM_DEVICE_HANDLE_LIST_KHR
ABOUT_IMAGES = {
    CL.MEM_OBJECT_ALLOCATION_FAILURE,
    CL.OUT_OF_RESOURCES,
    CL.IMAGE_FORMAT_MISMATCH,
    CL.IMAGE_FORMAT_NOT_SUPPORTED,
    CL.INVALID_IMAGE_FORMAT_DESCRIPTOR,
    CL.INVALID_IMAGE_SIZE,
    CL.INVALID_OPERATION,
    CL.INVALID_IMAGE_DESCRIPTOR,
}
KINDS = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, id="opaque-fd", marks=extension("cl_khr_external_memory_opaque_fd")
        ),
        pytest.param(
            CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, id="dma-buf", marks=extension("cl_khr_external_memory_dma_buf")
        ),
    ],
)
UPPER_BITS = 1 << 32


def importing(session: object, kind: int, devices: int = 1, must: bool = False) -> list[Importer]:
    return importers(session, kind, memory_handle_types()[kind], devices, must)  # type: ignore[arg-type]


def foreign_devices(importer: Importer) -> list[Value]:
    """Devices that are none of the context: the platform's others, and those of other platforms."""
    devices = [device for device in importer.platform.devices if device != importer.device]
    for handle in importer.session.platforms():
        if handle != importer.platform.handle:
            devices += importer.session.GetDeviceIDs(handle)
    return devices


@requirement("XM-IMP-001")
@KINDS
def test_descriptor_is_imported_as_a_buffer(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A descriptor is imported as a buffer; as an image, too, or it is refused as an image."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind, must=True):
            assert importer.buffer()
            error, image = importer.image(kind, importer.memory.descriptor())
            assert image or error in ABOUT_IMAGES


@requirement("XM-IMP-002")
@KINDS
def test_several_external_memory_handles_are_invalid_property(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Two external handles give CL_INVALID_PROPERTY, be they of one type or of two."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            types = importer.platform.types(importer.device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)
            for other in [
                kind,
                *(
                    t
                    for t in (CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR)
                    if t in types and t != kind
                ),
            ]:
                one, two = importer.memory.descriptor(), importer.memory.descriptor()
                error, _ = importer.create(kind, one, other, two)
                assert error == CL.INVALID_PROPERTY or (
                    other != kind and not importer.platform.is_since(1, 0, 1) and error == CL.INVALID_VALUE
                )
                assert importer.create(kind, importer.memory.descriptor())[1]


@requirement("XM-IMP-003")
def test_device_list_without_a_handle_is_invalid_property(icd: Icd, sandbox: Sandbox) -> None:
    """A list of devices without an external handle gives CL_INVALID_PROPERTY."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_external_memory"):
            if not platform.is_since(0, 9, 1):
                raise Unsupported("loader", "this came with revision 0.9.1 of cl_khr_external_memory")
            context = platform.context([platform.able[0]])
            for words in ([LIST, platform.able[0], 0, 0], [LIST, 0, 0]):
                error, _ = platform.create(
                    "clCreateBufferWithProperties", context, platform.words(*words), 0, MEMORY_SIZE, None
                )
                assert error == CL.INVALID_PROPERTY


SHAPES = pytest.mark.parametrize("shape", ["after", "in front", "several after", "several in front"])


def with_device_list(importer: Importer, shape: str) -> tuple[list[Any], int, Value]:
    """The properties, the error and the buffer of an import with a list of devices after the handle or in front."""
    devices = importer.able[:2] if shape.startswith("several") else [importer.device]
    handle, nested = [importer.kind, importer.memory.descriptor()], [LIST, *devices, 0]
    words = [*handle, *nested] if shape.endswith("after") else [*nested, *handle]
    return words, *importer.create(*words, context=importer.platform.context(devices))


@requirement("XM-IMP-004")
@KINDS
@SHAPES
def test_device_list_may_stand_anywhere(icd: Icd, sandbox: Sandbox, kind: int, shape: str) -> None:
    """A nested list of devices may stand anywhere."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind, 2 if shape.startswith("several") else 1):
            _, error, memory = with_device_list(importer, shape)
            assert (error, bool(memory)) == (0, True)


@requirement("XM-IMP-016")
@KINDS
@SHAPES
def test_device_list_comes_back(icd: Icd, sandbox: Sandbox, kind: int, shape: str) -> None:
    """CL_MEM_PROPERTIES gives a list with a nested one back, all of it and as it is."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind, 2 if shape.startswith("several") else 1):
            words, error, memory = with_device_list(importer, shape)
            assert not error
            answer = importer.platform.answer("clGetMemObjectInfo", memory, api().constant("CL_MEM_PROPERTIES"))
            assert answer == (0, pack([*map(int, words), 0]))


@requirement("XM-IMP-005")
@KINDS
def test_listed_device_outside_the_context_is_invalid_device(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A listed device that is none of the context's gives CL_INVALID_DEVICE, alone or after one that is."""
    with icd.open(sandbox) as session:
        count = 0
        for importer in importing(session, kind):
            for device in foreign_devices(importer):
                count += 1
                for devices in ([device], [importer.device, device], [device, importer.device]):
                    error, _ = importer.create(LIST, *devices, 0, kind, importer.memory.descriptor())
                    assert error == CL.INVALID_DEVICE
            assert importer.create(LIST, importer.device, 0, kind, importer.memory.descriptor())[1]
        if not count:
            raise Unsupported("machine", "this ICD has no second device on this machine")


@requirement("XM-IMP-005", "XM-IMP-006")
@KINDS
@pytest.mark.parametrize("how", ["listed", "not listed"])
def test_device_that_cannot_import_memory_is_invalid_device(icd: Icd, sandbox: Sandbox, kind: int, how: str) -> None:
    """A device that cannot import gives CL_INVALID_DEVICE: where it is listed, or in the context without a list."""
    with icd.open(sandbox) as session:
        count = 0
        for importer in importing(session, kind):
            for device in importer.platform.devices:
                if device in importer.able:
                    continue
                count += 1
                context = importer.platform.context([importer.device, device])
                words = [LIST, importer.device, device, 0] if how == "listed" else []
                error, _ = importer.create(*words, kind, importer.memory.descriptor(), context=context)
                assert error == CL.INVALID_DEVICE
                assert importer.create(LIST, importer.device, 0, kind, importer.memory.descriptor(), context=context)[1]
        if not count:
            raise Unsupported("machine", "this ICD has no device that cannot import, on this machine")


@requirement("XM-IMP-007")
@KINDS
@pytest.mark.parametrize("flag", ["CL_MEM_USE_HOST_PTR", "CL_MEM_ALLOC_HOST_PTR", "CL_MEM_COPY_HOST_PTR"])
def test_flags_of_host_pointers_are_refused_for_external_memory(
    icd: Icd, sandbox: Sandbox, kind: int, flag: str
) -> None:
    """Flags that speak of a host pointer give CL_INVALID_VALUE; with a pointer CL_INVALID_HOST_PTR is right, too."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            memory = session.buffer(MEMORY_SIZE)
            allowed = {CL.INVALID_VALUE} if flag == "CL_MEM_ALLOC_HOST_PTR" else {CL.INVALID_VALUE, CL.INVALID_HOST_PTR}
            pointers = [None] if flag == "CL_MEM_ALLOC_HOST_PTR" else [None, memory]
            for pointer in pointers:
                fd = importer.memory.descriptor()
                error, _ = importer.create(kind, fd, flags=api().constant(flag), host_ptr=pointer)
                assert error in allowed


@requirement("XM-IMP-008")
@KINDS
def test_host_pointer_beside_a_handle_is_invalid_host_ptr(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A host pointer besides an external handle gives CL_INVALID_HOST_PTR."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            error, _ = importer.create(kind, importer.memory.descriptor(), host_ptr=session.buffer(MEMORY_SIZE))
            assert error == CL.INVALID_HOST_PTR


@requirement("XM-IMP-009")
@KINDS
def test_descriptor_is_not_closed_twice(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """The number of a descriptor that was closed, if used for something else, stays open when the object is gone."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            first = importer.memory.descriptor()
            error, memory = importer.create(kind, first)
            assert not error
            other_target = None
            if target(session, first) is None:  # closed already: the number is free
                other = session.descriptor("memory 4096")
                if other != first:
                    session.descriptor(f"copy {other.token} {int(first)}")
                other_target = target(session, first)
            importer.expect_success("clReleaseMemObject", memory)
            importer.expect_success("clReleaseContext", importer.context)
            assert other_target is None or target(session, first) == other_target


@requirement("XM-IMP-019")
@KINDS
def test_descriptor_is_closed_with_its_memory_object(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A descriptor is closed once the object is gone."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            first = importer.memory.descriptor()
            owned = target(session, first)
            error, memory = importer.create(kind, first)
            assert not error
            importer.expect_success("clReleaseMemObject", memory)
            importer.expect_success("clReleaseContext", importer.context)
            assert target(session, first) != owned


@requirement("XM-IMP-010")
@KINDS
def test_descriptor_of_a_failed_import_stays_open(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A descriptor whose import fails stays open."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            fd = importer.memory.descriptor()
            before = target(session, fd)
            for wrong in (
                {"host_ptr": session.buffer(MEMORY_SIZE)},
                {"flags": api().constant("CL_MEM_ALLOC_HOST_PTR")},
            ):
                error, _ = importer.create(kind, fd, **wrong)
                assert error
                assert target(session, fd) == before
            error, _ = importer.create(kind, fd, 0x7001, 1)
            assert error
            assert target(session, fd) == before


@requirement("XM-IMP-011")
@KINDS
def test_descriptor_0_is_imported_like_others(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Descriptor 0 is one like others, also where a list of devices follows."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            for further in ([], [LIST, importer.device, 0]):
                fd = importer.memory.descriptor(0)
                assert fd == 0
                error, memory = importer.create(kind, fd, *further)
                assert not error
                importer.expect_success("clReleaseMemObject", memory)


@KINDS
@pytest.mark.parametrize(
    "what",
    [
        pytest.param("closed", marks=pytest.mark.requirement("XM-IMP-012")),
        pytest.param("minus 1", marks=pytest.mark.requirement("XM-IMP-012")),
        pytest.param("upper bits", marks=pytest.mark.requirement("XM-IMP-020")),
    ],
)
def test_memory_of_a_bad_descriptor_is_invalid_property(icd: Icd, sandbox: Sandbox, kind: int, what: str) -> None:
    """A value that is not a descriptor gives CL_INVALID_PROPERTY."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            fd = importer.memory.descriptor()
            assert int(fd) < 1000
            value = {"closed": 1000, "minus 1": -1, "upper bits": UPPER_BITS + int(fd)}[what]
            error, _ = importer.create(kind, value)
            assert error == CL.INVALID_PROPERTY
            assert importer.create(kind, fd)[1]


@requirement("XM-IMP-012")
@KINDS
def test_handle_type_without_its_extension_is_refused(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A handle type that no device has is an unknown property: CL_INVALID_PROPERTY, or CL_INVALID_DEVICE."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            types = [
                t
                for device in importer.platform.devices
                for t in importer.platform.types(device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)
            ]
            missing = [t for t in memory_handle_types() if t not in types]
            assert missing
            for name in missing:
                error, _ = importer.create(name, importer.memory.descriptor())
                assert error in (CL.INVALID_PROPERTY, CL.INVALID_DEVICE)


@requirement("XM-IMP-013")
@KINDS
def test_each_import_of_a_memory_is_an_object_of_its_own(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Each import of one memory is an object of its own; what is written by one is read by the other."""
    content = bytes(range(64))
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            one, two = importer.buffer(), importer.buffer()
            assert one != two
            queue = importer.platform.queue(importer.context, importer.device)
            importer.hand_over("Acquire", queue, one)
            importer.platform.write(queue, one, content)
            importer.hand_over("Release", queue, one)
            importer.hand_over("Acquire", queue, two)
            assert importer.platform.read(queue, two, len(content)) == content
            importer.hand_over("Release", queue, two)
            importer.expect_success("clFinish", queue)


@requirement("XM-IMP-018")
@KINDS
def test_image_of_any_layout_is_imported_or_refused(
    icd: Icd, sandbox: Sandbox, record: Callable[[str], None], kind: int
) -> None:
    """An image of a type whose layout is the vendor's affair is imported or refused, and nothing worse."""
    with icd.open(sandbox) as session:
        outcomes = set()
        for importer in importing(session, kind):
            linear = kind in importer.platform.types(
                importer.device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
            )
            error, image = importer.image(kind, importer.memory.descriptor())
            assert bool(error) != bool(image)
            outcomes.add(f"{'linear' if linear else 'any layout'}: {'refused' if error else 'imported'}")
        record(", ".join(sorted(outcomes)))
