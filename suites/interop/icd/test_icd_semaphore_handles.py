# SPDX-License-Identifier: Apache-2.0
"""Semaphores that a vendor's ICD shares with others: import and export (XM-XSM)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    CANARY,
    CL,
    Icd,
    Platform,
    Sandbox,
    Semaphores,
    Unsupported,
    Value,
    extension,
    platforms_with,
    requirement,
    target,
)

pytestmark = extension("cl_khr_external_semaphore")

EXTENSION = "cl_khr_external_semaphore"
EXPORT, EXPORTABLE = CL.SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL.SEMAPHORE_EXPORTABLE_KHR
GET, REIMPORT = "clGetSemaphoreHandleForTypeKHR", "clReImportSemaphoreSyncFdKHR"
BINARY = [CL.SEMAPHORE_TYPE_KHR, CL.SEMAPHORE_TYPE_BINARY_KHR]
OPAQUE_FD, SYNC_FD = CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL.SEMAPHORE_HANDLE_SYNC_FD_KHR
EXPORTS, IMPORTS = CL.DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR
NAMES = {OPAQUE_FD: "opaque-fd", SYNC_FD: "sync-fd"}
KINDS = pytest.mark.parametrize("kind", list(NAMES), ids=list(NAMES.values()))
MINUS_1 = (1 << 64) - 1


def semaphores_with(session: Any, kind: int, *queries: int, devices: int = 1) -> list[Semaphores]:
    """For each platform that has so many devices with a handle type, for import or export as `queries` say."""
    result = []
    for platform in platforms_with(session, EXTENSION):
        platform.able = [d for d in platform.able if all(kind in platform.types(d, query) for query in queries)]
        if len(platform.able) >= devices:
            result.append(Semaphores(platform, devices))
    if not result:
        raise Unsupported("loader", f"no platform of this ICD has {devices} devices that do that with {NAMES[kind]}")
    return result


def exporting(session: Any, kind: int, devices: int = 1) -> list[Semaphores]:
    return semaphores_with(session, kind, EXPORTS, devices=devices)


def importing(session: Any, kind: int, devices: int = 1) -> list[Semaphores]:
    return semaphores_with(session, kind, IMPORTS, devices=devices)


def both_ways(session: Any, kind: int, devices: int = 1) -> list[Semaphores]:
    return semaphores_with(session, kind, EXPORTS, IMPORTS, devices=devices)


def exportable(semaphores: Semaphores, kind: int) -> Value:
    """A semaphore that can be exported; for a sync descriptor it has to be signalled first."""
    semaphore = semaphores.make(EXPORT, kind, 0)
    if kind == SYNC_FD:
        signal(semaphores, semaphore)
    return semaphore


def signal(semaphores: Semaphores, semaphore: Value) -> None:
    queue = semaphores.queue()
    semaphores.enqueue("Signal", queue, semaphore)
    semaphores.finish(queue)


def wait(semaphores: Semaphores, semaphore: Value) -> None:
    queue = semaphores.queue()
    semaphores.enqueue("Wait", queue, semaphore)
    semaphores.finish(queue)


def require_single_export(platform: Platform) -> None:
    if not platform.is_since(0, 9, 1):
        raise Unsupported("loader", f"these errors came with revision 0.9.1 of {EXTENSION}")


@requirement("XM-XSM-001")
@KINDS
def test_several_types_to_export_are_invalid_value(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """More than one type to export as gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for semaphores in exporting(session, kind):
            require_single_export(semaphores.platform)
            types = semaphores.platform.types(semaphores.device, EXPORTS)
            second = next((t for t in types if t != kind), 0)
            if not second:
                raise Unsupported("loader", "the device exports semaphores as one type only", "a second type")
            for words in ([EXPORT, kind, second, 0], [EXPORT, second, kind, second, 0]):
                assert semaphores.create(*words, *semaphores.required())[0] == CL.INVALID_VALUE
            assert semaphores.make(EXPORT, kind, 0)


@requirement("XM-XSM-002")
@KINDS
def test_import_together_with_export_is_invalid_operation(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A handle to import together with a type to export as gives CL_INVALID_OPERATION."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, kind):
            require_single_export(semaphores.platform)
            for first in (True, False):
                handle, types = [kind, semaphores.export(exportable(semaphores, kind), kind)], [EXPORT, kind, 0]
                words = [*handle, *types] if first else [*types, *handle]
                assert semaphores.create(*semaphores.required(), *words)[0] == CL.INVALID_OPERATION


@requirement("XM-XSM-003")
@KINDS
def test_several_semaphore_handles_are_invalid_property(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Two handles to import give CL_INVALID_PROPERTY, be they of one type or of two."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, kind):
            types = semaphores.platform.types(semaphores.device, IMPORTS)
            handle = [kind, semaphores.export(exportable(semaphores, kind), kind)]
            other = [SYNC_FD, MINUS_1] if kind != SYNC_FD else []
            assert semaphores.create(*semaphores.required(), *handle, *handle)[0] == CL.INVALID_PROPERTY
            if other and SYNC_FD in types:
                handle = [kind, semaphores.export(exportable(semaphores, kind), kind)]
                error, _ = semaphores.create(*semaphores.required(), *handle, *other)
                assert error == CL.INVALID_PROPERTY or (error and not semaphores.platform.is_since(1, 0, 1))


@requirement("XM-XSM-004")
@KINDS
def test_device_that_cannot_import_a_semaphore_is_invalid_device(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A listed device that cannot import the type gives CL_INVALID_DEVICE."""
    with icd.open(sandbox) as session:
        count = 0
        for semaphores in both_ways(session, kind):
            for device in semaphores.platform.devices:
                if kind in semaphores.platform.types(device, IMPORTS):
                    continue
                count += 1
                context = semaphores.platform.context([semaphores.device, device])
                for listed, expected in ((device, CL.INVALID_DEVICE), (semaphores.device, CL.SUCCESS)):
                    handle = [kind, semaphores.export(exportable(semaphores, kind), kind)]
                    words = [*BINARY, semaphores.list_name, listed, 0, *handle]
                    assert semaphores.create(*words, context=context)[0] == expected
        if not count:
            raise Unsupported("machine", "this ICD has no device that cannot import, on this machine")


@requirement("XM-XSM-005")
@KINDS
def test_export_as_another_type_is_invalid_value(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A type that was not among the properties of the semaphore gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for semaphores in exporting(session, kind):
            plain, other = semaphores.make(), exportable(semaphores, kind)
            other_type = OPAQUE_FD + SYNC_FD - kind
            for semaphore, handle_type in ((plain, kind), (other, other_type), (other, 0x7001)):
                fd = session.buffer(4)
                assert semaphores.call(GET, semaphore, semaphores.device, handle_type, 4, fd, None) == CL.INVALID_VALUE


@requirement("XM-XSM-006")
@KINDS
def test_handle_of_a_semaphore_has_size_4(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """The size is 4; less memory gives CL_INVALID_VALUE, no memory none; nothing past its end is written."""
    with icd.open(sandbox) as session:
        for semaphores in exporting(session, kind):
            semaphore = exportable(semaphores, kind)
            size = session.buffer(8, 0)
            assert semaphores.call(GET, semaphore, semaphores.device, kind, 0, None, size) == CL.SUCCESS
            assert size.u64() == 4
            for room in range(4):
                fd = session.buffer(8)
                assert semaphores.call(GET, semaphore, semaphores.device, kind, room, fd, None) == CL.INVALID_VALUE
                assert fd[room:] == bytes([CANARY]) * (8 - room)
            fd = session.buffer(16)
            assert semaphores.call(GET, semaphore, semaphores.device, kind, 4, fd, None) == CL.SUCCESS
            assert fd[4:] == bytes([CANARY]) * 12
            assert target(session, fd.i32()) or (kind == SYNC_FD and fd.i32() == -1)


@requirement("XM-XSM-006")
@KINDS
@pytest.mark.parametrize("how", ["NULL", "other device"])
def test_export_for_another_device_is_invalid_device(icd: Icd, sandbox: Sandbox, kind: int, how: str) -> None:
    """A device that the semaphore is not for, or none at all, gives CL_INVALID_DEVICE."""
    with icd.open(sandbox) as session:
        for semaphores in exporting(session, kind):
            others = [device for device in semaphores.platform.devices if device != semaphores.device]
            if how == "other device" and not others:
                raise Unsupported("machine", "this ICD has no second device on this machine")
            device = others[0] if how == "other device" else None
            fd = session.buffer(4)
            assert semaphores.call(GET, exportable(semaphores, kind), device, kind, 4, fd, None) == CL.INVALID_DEVICE


@requirement("XM-SEM-010")
def test_export_of_a_null_semaphore_is_invalid_semaphore(icd: Icd, sandbox: Sandbox) -> None:
    """NULL for the semaphore gives CL_INVALID_SEMAPHORE_KHR."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            fd = session.buffer(4)
            result = platform.call(GET, None, platform.able[0], OPAQUE_FD, 4, fd, None)
            assert result == CL.INVALID_SEMAPHORE_KHR


@requirement("XM-XSM-007")
@pytest.mark.parametrize("way", ["exported to imported", "imported to exported", "between two imported"])
def test_opaque_descriptor_shares_the_payload(icd: Icd, sandbox: Sandbox, way: str) -> None:
    """A signal of the exported semaphore, or of one that was imported, is seen by each; so is a wait."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, OPAQUE_FD):
            source = exportable(semaphores, OPAQUE_FD)
            fds = [semaphores.export(source, OPAQUE_FD) for _ in range(2)]
            copies = [semaphores.make(OPAQUE_FD, fd) for fd in fds]
            one, two = {
                "exported to imported": (source, copies[0]),
                "imported to exported": (copies[0], source),
                "between two imported": (copies[0], copies[1]),
            }[way]
            for _ in range(2):
                signal(semaphores, one)
                assert semaphores.payload(two) == 1
                wait(semaphores, two)
                assert semaphores.payload(one) == semaphores.payload(two)


@requirement("XM-XSM-008")
def test_sync_descriptor_copies_the_payload(icd: Icd, sandbox: Sandbox) -> None:
    """An export is like a wait for the source; what becomes of the copy is not seen there, nor the other way round."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, SYNC_FD):
            source, waited = exportable(semaphores, SYNC_FD), exportable(semaphores, SYNC_FD)
            assert semaphores.payload(source) == 1
            fd = semaphores.export(source, SYNC_FD)
            wait(semaphores, waited)
            assert semaphores.payload(source) == semaphores.payload(waited)
            copy = semaphores.make(SYNC_FD, fd)
            signal(semaphores, source)
            wait(semaphores, copy)
            assert semaphores.payload(source) == 1


@requirement("XM-XSM-009")
def test_sync_descriptor_minus_1_is_signalled(icd: Icd, sandbox: Sandbox) -> None:
    """Sync descriptor -1 is imported as one that is signalled: a wait for it ends."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_with(session, SYNC_FD, IMPORTS):
            semaphore = semaphores.make(SYNC_FD, MINUS_1)
            assert semaphores.payload(semaphore) == 1
            wait(semaphores, semaphore)


@requirement("XM-XSM-017")
@KINDS
def test_descriptor_is_closed_with_its_semaphore(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A descriptor is closed once the semaphore is gone."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, kind):
            fd = semaphores.export(exportable(semaphores, kind), kind)
            if int(fd) >= 1 << 31:
                raise Unsupported("loader", "this ICD exports a signalled semaphore as -1, as it may")
            number = session.descriptor(f"copy {fd.token} 500")
            session.descriptor(f"close {fd.token}")
            semaphore = semaphores.make(kind, number)
            semaphores.expect_success("clReleaseSemaphoreKHR", semaphore)
            semaphores.expect_success("clReleaseContext", semaphores.context)
            assert target(session, int(number)) is None


@requirement("XM-XSM-010")
@KINDS
def test_semaphore_of_a_bad_descriptor_is_invalid_property(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A descriptor that is closed gives CL_INVALID_PROPERTY; so does -1, if it is opaque."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, kind):
            for value in [1000] if kind == SYNC_FD else [1000, MINUS_1]:
                assert semaphores.create(*semaphores.required(), kind, value)[0] == CL.INVALID_PROPERTY


@requirement("XM-XSM-018")
@KINDS
def test_descriptor_of_a_semaphore_with_upper_bits_is_invalid_property(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """A number that is a descriptor in its lower 32 bits only gives CL_INVALID_PROPERTY."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, kind):
            fd = semaphores.export(exportable(semaphores, kind), kind)
            value = (1 << 32) + (int(fd) & 0x7FFFFFFF)
            assert semaphores.create(*semaphores.required(), kind, value)[0] == CL.INVALID_PROPERTY


def require_reimport(platform: Platform) -> None:
    if not platform.is_since(0, 9, 2):
        raise Unsupported("loader", f"{REIMPORT} came with revision 0.9.2 of {EXTENSION}")


@requirement("XM-XSM-011", "PL-OTH-003")
@pytest.mark.parametrize("properties", ["NULL", "empty"])
def test_sync_descriptor_is_imported_again(icd: Icd, sandbox: Sandbox, properties: str) -> None:
    """A sync descriptor is imported again into a semaphore that was imported so; no property is needed."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_with(session, SYNC_FD, IMPORTS):
            require_reimport(semaphores.platform)
            semaphore = semaphores.make(SYNC_FD, MINUS_1)
            wait(semaphores, semaphore)
            listed = None if properties == "NULL" else semaphores.words(0)
            assert semaphores.call(REIMPORT, semaphore, listed, -1) == CL.SUCCESS
            wait(semaphores, semaphore)


@requirement("XM-XSM-011")
@pytest.mark.parametrize("what", ["plain", "exported", "opaque", "NULL"])
def test_reimport_into_other_semaphores_is_invalid_semaphore(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A semaphore that was not imported so gives CL_INVALID_SEMAPHORE_KHR."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_with(session, SYNC_FD, IMPORTS):
            require_reimport(semaphores.platform)
            types = semaphores.platform.types(semaphores.device, EXPORTS)
            if (what == "exported" and SYNC_FD not in types) or (what == "opaque" and OPAQUE_FD not in types):
                raise Unsupported("loader", "this ICD cannot export such a semaphore")
            semaphore: Value | None = None
            if what == "plain":
                semaphore = semaphores.make()
            elif what == "exported":
                semaphore = semaphores.make(EXPORT, SYNC_FD, 0)
            elif what == "opaque":
                source = exportable(semaphores, OPAQUE_FD)
                semaphore = semaphores.make(OPAQUE_FD, semaphores.export(source, OPAQUE_FD))
            assert semaphores.call(REIMPORT, semaphore, None, -1) == CL.INVALID_SEMAPHORE_KHR


@requirement("XM-XSM-011")
def test_reimport_of_a_bad_descriptor_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """A value that is not a descriptor gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_with(session, SYNC_FD, IMPORTS):
            require_reimport(semaphores.platform)
            semaphore = semaphores.make(SYNC_FD, MINUS_1)
            for fd in (1000, -2):
                assert semaphores.call(REIMPORT, semaphore, None, fd) == CL.INVALID_VALUE


@requirement("XM-XSM-012")
@KINDS
def test_each_import_of_a_payload_is_a_semaphore_of_its_own(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Each import of one payload is a semaphore of its own."""
    with icd.open(sandbox) as session:
        for semaphores in both_ways(session, kind):
            fd = semaphores.export(exportable(semaphores, kind), kind)
            other = session.descriptor(f"copy {fd.token} -1") if int(fd) < 1 << 31 else fd
            assert semaphores.make(kind, fd) != semaphores.make(kind, other)


@requirement("XM-XSM-014")
@KINDS
def test_exportable_query_distinguishes_semaphores(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """CL_SEMAPHORE_EXPORTABLE_KHR tells a semaphore that can be exported from one that cannot."""
    with icd.open(sandbox) as session:
        for semaphores in exporting(session, kind):
            if not semaphores.platform.is_since(0, 9, 1):
                raise Unsupported("loader", f"this query came with revision 0.9.1 of {EXTENSION}")
            for semaphore, expected in ((semaphores.make(EXPORT, kind, 0), 1), (semaphores.make(), 0)):
                error, value = semaphores.query(semaphore, EXPORTABLE)
                assert error == CL.SUCCESS
                assert len(value) >= 4
                assert value == expected.to_bytes(4, "little") * (len(value) // 4)


@requirement("XM-XSM-014")
@KINDS
def test_export_types_are_those_of_the_creation(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR gives the type that was asked for, and nothing for a plain semaphore."""
    expected = kind.to_bytes(4, "little")
    with icd.open(sandbox) as session:
        for semaphores in exporting(session, kind):
            error, value = semaphores.query(semaphores.make(EXPORT, kind, 0), EXPORT)
            assert (error, value.rstrip(b"\0")) == (0, expected.rstrip(b"\0"))
            error, value = semaphores.query(semaphores.make(), EXPORT)
            assert (error, value.rstrip(b"\0")) == (0, b"")
