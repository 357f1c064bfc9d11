# SPDX-License-Identifier: Apache-2.0
"""A vendor's ICD used as applications use it: through loaders, with kernels that run (API-THR)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.check import (
    CL,
    Compute,
    Icd,
    IcdObjects,
    Loader,
    Sandbox,
    Session,
    Value,
    api,
    compiles,
    platforms_with_devices,
    require_compiler,
    requirement,
)

FACTOR, OTHER_FACTOR = -3, 5
COMPANION = "companion"


def able(cl: Session) -> list[Compute]:
    """The platforms whose first device has a compiler."""
    return [Compute(o) for o in require_compiler([IcdObjects(cl, p) for p in cl.GetPlatformIDs()])]


def check_sum(compute: Compute) -> None:
    assert compute.added(FACTOR) == compute.sums(FACTOR)


def check_two_queues(compute: Compute) -> None:
    assert compute.added_on_two_queues(FACTOR) == compute.sums(FACTOR)


def check_local_memory(compute: Compute) -> None:
    result, group = compute.turned_groups()
    assert result == compute.turned(group)


def check_image(compute: Compute) -> None:
    result, written = compute.looked_at()
    assert result == written


def check_error(compute: Compute) -> None:
    result, status, _ = compute.failed_build()
    assert (result, status) == (CL.BUILD_PROGRAM_FAILURE, CL.BUILD_ERROR)


def check_log(compute: Compute) -> None:
    _, _, log = compute.failed_build()
    assert log.strip(), "the log of the build is empty"


@requirement("API-THR-001")
def test_loader_lists_the_same_platforms_and_devices(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """A loader lists the platforms and devices that the ICD itself lists, by name and in any order."""
    known = [(name, sorted(devices)) for name, devices in platforms_with_devices(icd)]
    with icd.start(through, sandbox) as cl:
        platforms = [(cl.GetPlatformInfo(p), sorted(device_names(cl, p))) for p in cl.GetPlatformIDs()]
    assert sorted(platforms) == sorted(known)


def device_names(cl: Session, platform: Value) -> list[str]:
    names = []
    for device in cl.GetDeviceIDs(platform):
        text = cl.buffer(256, 0)
        assert cl.call("clGetDeviceInfo", device, api().constant("CL_DEVICE_NAME"), 256, text, None) == CL.SUCCESS
        names.append(text.text())
    return names


@requirement("API-THR-002")
def test_kernel_built_from_source_adds_vectors(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """A kernel that is built from its source adds vectors, and the sums are right."""
    with icd.start(through, sandbox) as cl:
        for compute in able(cl):
            check_sum(compute)


@requirement("API-THR-003")
def test_local_memory_is_shared_after_a_barrier(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """The work items of a group see in local memory, after a barrier, what the others wrote before it."""
    with icd.start(through, sandbox) as cl:
        for compute in able(cl):
            check_local_memory(compute)


@requirement("API-THR-004")
def test_kernel_reads_the_pixels_of_an_image(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """A kernel reads the pixels of an image where they were written."""
    with icd.start(through, sandbox) as cl:
        for compute in able(cl):
            check_image(compute)


@requirement("API-THR-005")
def test_two_queues_see_each_others_writes(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """What one queue wrote a kernel on another one sees, which waits for it by events; and the other way round."""
    with icd.start(through, sandbox) as cl:
        for compute in able(cl):
            check_two_queues(compute)


@requirement("API-THR-006")
def test_error_in_source_is_build_program_failure(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """The build of a source with an error is CL_BUILD_PROGRAM_FAILURE, and the program has CL_BUILD_ERROR."""
    with icd.start(through, sandbox) as cl:
        for compute in able(cl):
            check_error(compute)


@requirement("API-THR-008")
def test_error_in_source_is_in_the_log(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """The log of a build of a source with an error is not empty."""
    with icd.start(through, sandbox) as cl:
        for compute in able(cl):
            check_log(compute)


@pytest.mark.parametrize("check", [
    pytest.param(check, marks=pytest.mark.requirement(one), id=check.__name__)
    for check, one in (
        (check_sum, "API-THR-002"),
        (check_local_memory, "API-THR-003"),
        (check_image, "API-THR-004"),
        (check_two_queues, "API-THR-005"),
        (check_error, "API-THR-006"),
    )
])  # fmt: skip
def test_kernels_compute_the_same_without_a_loader(
    icd: Icd, sandbox: Sandbox, check: Callable[[Compute], None]
) -> None:
    """So it is where the functions of the dispatch table are called without a loader."""
    with icd.open(sandbox) as session:
        platforms = session.some_platforms()
        able_ones = []
        for platform in platforms:
            objects = session.objects(platform)
            able_ones += [objects] if compiles(objects) else []
        require_compiler(able_ones or [objects])
        for objects in able_ones:
            session.platform = objects.platform
            check(Compute(objects))


def own_answers(objects: IcdObjects) -> list[bool]:
    """Whether each object names those that it was made of."""
    requests: Sequence[tuple[str, Value, str, Value]] = (
        ("clGetDeviceInfo", objects.device, "CL_DEVICE_PLATFORM", objects.platform),
        ("clGetContextInfo", objects.context, "CL_CONTEXT_DEVICES", objects.device),
        ("clGetCommandQueueInfo", objects.queue, "CL_QUEUE_CONTEXT", objects.context),
        ("clGetMemObjectInfo", objects.mem, "CL_MEM_CONTEXT", objects.context),
        ("clGetProgramInfo", objects.program, "CL_PROGRAM_CONTEXT", objects.context),
    )
    result = []
    for function, handle, query, owner in requests:
        answer = objects.session.buffer(8, 0)
        assert objects.session.call(function, handle, api().constant(query), 8, answer, None) == CL.SUCCESS
        result.append(answer.u64() == owner)
    return result


@requirement("API-THR-007")
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_icd_beside_another_vendor_lists_and_works_as_alone(
    icd: Icd, through: Loader, sandbox: Sandbox, first: bool
) -> None:
    """Beside another vendor, listed before or after it, it lists what it lists alone, and both work in turns."""
    known = platforms_with_devices(icd)
    mock = sandbox.icd(COMPANION, features="compiler", refuses=True).path
    place = {"after": mock} if first else {"before": mock}
    with icd.start(through, sandbox, **place) as cl:
        every = [IcdObjects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert sorted(o.owner for o in every) == sorted([COMPANION, *(name for name, _ in known)])
        useful = [o for o in every if cl.GetDeviceIDs(o.platform)]
        assert [own_answers(o) for o in useful] == [[True] * 5] * len(useful)
        computing = [Compute(o) for o in useful if compiles(o)]
        for factor in (FACTOR, OTHER_FACTOR):
            for number, compute in enumerate(computing):
                assert compute.added(factor + number) == compute.sums(factor + number)
    assert sandbox.log.of(COMPANION).calls("clCreateContext")
    assert not [event for event in sandbox.log if event.name == "foreign handle"]
