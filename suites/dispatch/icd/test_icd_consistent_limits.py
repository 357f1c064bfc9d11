# SPDX-License-Identifier: Apache-2.0
"""The least that devices have of what only some of them can do, and none of it where they cannot (API-CON)."""

from __future__ import annotations

from dataclasses import dataclass

from harness.check import CL, Icd, IcdObjects, Info, Sandbox, Unsupported, requirement


@dataclass(frozen=True)
class Limit:
    """A number that a device of the full profile reaches, from a version of OpenCL on."""

    query: str  # without CL_DEVICE_
    least: int
    version: tuple[int, int] = (1, 0)
    needs: str = ""  # what the device can do: a key of ABLE; where it cannot, the number is 0

    def __str__(self) -> str:
        return f"CL_DEVICE_{self.query}"


KB = 1000  # the text does not say whether it means 1000 or 1024: this is what it means at least
LIMITS = [
    Limit("PRINTF_BUFFER_SIZE", 1000 * KB, (1, 2)),
    Limit("MIN_DATA_TYPE_ALIGN_SIZE", 128),
    Limit("MAX_READ_IMAGE_ARGS", 128, needs="images"),
    Limit("MAX_WRITE_IMAGE_ARGS", 64, (2, 0), needs="images"),
    Limit("IMAGE2D_MAX_WIDTH", 16384, (2, 0), needs="images"),
    Limit("IMAGE2D_MAX_HEIGHT", 16384, (2, 0), needs="images"),
    Limit("IMAGE_MAX_BUFFER_SIZE", 65536, (1, 2), needs="images"),
    Limit("IMAGE_MAX_ARRAY_SIZE", 2048, (1, 2), needs="images"),
    Limit("MAX_PIPE_ARGS", 16, (2, 0), needs="pipes"),
    Limit("PIPE_MAX_ACTIVE_RESERVATIONS", 1, (2, 0), needs="pipes"),
    Limit("PIPE_MAX_PACKET_SIZE", 1024, (2, 0), needs="pipes"),
    Limit("QUEUE_ON_DEVICE_PREFERRED_SIZE", 16 * KB, (2, 0), needs="queues on the device"),
    Limit("QUEUE_ON_DEVICE_MAX_SIZE", 256 * KB, (2, 0), needs="queues on the device"),
    Limit("MAX_ON_DEVICE_QUEUES", 1, (2, 0), needs="queues on the device"),
    Limit("MAX_ON_DEVICE_EVENTS", 1024, (2, 0), needs="queues on the device"),
]
# Of what a device has where the number is not 0.
LEAST_IF_ANY = [Limit("MAX_READ_WRITE_IMAGE_ARGS", 64, (2, 0)), Limit("MAX_GLOBAL_VARIABLE_SIZE", 64 * KB, (2, 0))]
ABLE = {
    "images": "IMAGE_SUPPORT",
    "pipes": "PIPE_SUPPORT",
    "queues on the device": "DEVICE_ENQUEUE_CAPABILITIES",
}
RELAXED, ACQUIRE, STRICT = (
    CL.DEVICE_ATOMIC_ORDER_RELAXED,
    CL.DEVICE_ATOMIC_ORDER_ACQ_REL,
    CL.DEVICE_ATOMIC_ORDER_SEQ_CST,
)
GROUP, DEVICE, ALL = (
    CL.DEVICE_ATOMIC_SCOPE_WORK_GROUP,
    CL.DEVICE_ATOMIC_SCOPE_DEVICE,
    CL.DEVICE_ATOMIC_SCOPE_ALL_DEVICES,
)
MANDATED = {
    "ATOMIC_MEMORY_CAPABILITIES": RELAXED | GROUP,
    "ATOMIC_FENCE_CAPABILITIES": RELAXED | ACQUIRE | GROUP,
}
# What is 0 on a device without images, from OpenCL 3.0 on.
OF_IMAGES = [limit.query for limit in LIMITS if limit.needs == "images"]
OF_IMAGES += [f"IMAGE3D_MAX_{side}" for side in ("WIDTH", "HEIGHT", "DEPTH")]
OF_IMAGES += ["MAX_READ_WRITE_IMAGE_ARGS", "MAX_SAMPLERS"]
OF_DOUBLES = CL.FP_FMA | CL.FP_ROUND_TO_NEAREST | CL.FP_INF_NAN | CL.FP_DENORM
CACHES = (CL.NONE, CL.READ_ONLY_CACHE, CL.READ_WRITE_CACHE)
PARTITIONS = (
    0,
    CL.DEVICE_PARTITION_EQUALLY,
    CL.DEVICE_PARTITION_BY_COUNTS,
    CL.DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
)
FIRST_OF_VENDORS = 0x4000  # the values that extensions of vendors have begin here


def number(info: Info, query: str) -> int:
    return info.number("clGetDeviceInfo", info.objects.device, f"CL_DEVICE_{query}")


def require_full(info: Info) -> None:
    custom = number(info, "TYPE") & CL.DEVICE_TYPE_CUSTOM
    profile = info.text("clGetDeviceInfo", info.objects.device, "CL_DEVICE_PROFILE")
    if custom or profile != "FULL_PROFILE":
        raise Unsupported("loader", "the device is not one of the full profile", "full profile")


def require_version(info: Info, version: tuple[int, int]) -> None:
    if info.objects.device_version() < version:
        raise Unsupported("loader", f"this came with OpenCL {version[0]}.{version[1]}", "version")


def is_able(info: Info, needs: str) -> bool:
    """Whether a device can do what a limit is of; one of OpenCL 2 can do all of these."""
    if not needs:
        return True
    if needs != "images" and info.objects.device_version() < (3, 0):
        return True
    return number(info, ABLE[needs]) & 1 == 1


@requirement("API-CON-005")
def test_limits_of_what_a_device_can_do_are_those_demanded(icd: Icd, sandbox: Sandbox) -> None:
    """Sizes and counts of images, pipes, queues on the device and printf: the least that is demanded, or 0 without."""

    def check(objects: IcdObjects, limit: Limit) -> None:
        info = Info(objects)
        require_version(info, limit.version)
        require_full(info)
        value = number(info, limit.query)
        if is_able(info, limit.needs):
            assert value >= limit.least, f"{limit} is {value}, expected at least {limit.least}"
        elif limit.needs != "images":  # API-CON-047
            assert value == 0, f"{limit} is {value}, expected 0 for a device without {limit.needs}"

    def check_if_any(objects: IcdObjects, limit: Limit) -> None:
        info = Info(objects)
        require_version(info, limit.version)
        require_full(info)
        value = number(info, limit.query)
        assert value == 0 or value >= limit.least, f"{limit} is {value}, expected 0 or at least {limit.least}"

    with icd.attempts(sandbox) as attempts:
        for limit in LIMITS:
            attempts.check(str(limit), lambda objects, limit=limit: check(objects, limit))  # type: ignore[misc]
        for limit in LEAST_IF_ANY:
            attempts.check(str(limit), lambda objects, limit=limit: check_if_any(objects, limit))  # type: ignore[misc]


@requirement("API-CON-022")
def test_capabilities_of_a_device_are_those_mandated(icd: Icd, sandbox: Sandbox) -> None:
    """Atomics, doubles and queues on the device: what is mandated is there, and what it implies."""

    def check_atomics(objects: IcdObjects, query: str) -> None:
        info = Info(objects)
        require_version(info, (3, 0))
        bits, least = number(info, query), MANDATED[query]
        assert bits & least == least, f"CL_DEVICE_{query} is {bits:#x}, and {least:#x} is mandated"
        for wide, narrow in ((STRICT, ACQUIRE), (ACQUIRE, RELAXED), (ALL, DEVICE), (DEVICE, GROUP)):
            assert not bits & wide or bits & narrow, f"CL_DEVICE_{query} is {bits:#x}: {wide!r} without {narrow!r}"

    def check_doubles(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (2, 0))
        require_full(info)
        bits = number(info, "DOUBLE_FP_CONFIG")
        assert bits == 0 or bits & OF_DOUBLES == OF_DOUBLES, (
            f"CL_DEVICE_DOUBLE_FP_CONFIG is {bits:#x}, expected 0 or {int(OF_DOUBLES):#x} at least"
        )

    def check_queues(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (2, 0))
        bits = number(info, "QUEUE_ON_DEVICE_PROPERTIES")
        least = CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL.QUEUE_PROFILING_ENABLE
        if is_able(info, "queues on the device"):
            assert bits & least == least, f"CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES is {bits:#x}, expected {least:#x}"
        else:
            assert bits == 0, f"CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES is {bits:#x} without queues on the device"

    def check_replaceable(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (3, 0))
        bits = number(info, "DEVICE_ENQUEUE_CAPABILITIES")
        assert not bits & CL.DEVICE_QUEUE_REPLACEABLE_DEFAULT or bits & CL.DEVICE_QUEUE_SUPPORTED, (
            "a default queue can be replaced, and there are no queues on the device"
        )
        assert not bits & CL.DEVICE_QUEUE_SUPPORTED or number(info, "GENERIC_ADDRESS_SPACE_SUPPORT"), (
            "queues on the device without the generic address space"
        )

    with icd.attempts(sandbox) as attempts:
        for query in MANDATED:
            attempts.check(f"CL_DEVICE_{query}", lambda o, query=query: check_atomics(o, query))  # type: ignore[misc]
        attempts.check("CL_DEVICE_DOUBLE_FP_CONFIG", check_doubles)
        attempts.check("CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES", check_queues)
        attempts.check("CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES", check_replaceable)


@requirement("API-CON-047")
def test_capabilities_of_a_device_imply_one_another(icd: Icd, sandbox: Sandbox) -> None:
    """Shared memory, pipes, images, vectors, sub-groups, parts: what a device says that it can do goes together."""

    def check_shared_memory(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (2, 0))
        bits, version = number(info, "SVM_CAPABILITIES"), objects.device_version()
        demanded = version < (3, 0) or bits & CL.DEVICE_SVM_FINE_GRAIN_BUFFER
        assert not demanded or bits & CL.DEVICE_SVM_COARSE_GRAIN_BUFFER, (
            f"CL_DEVICE_SVM_CAPABILITIES of OpenCL {version[0]}.{version[1]} is {bits:#x}, "
            "without CL_DEVICE_SVM_COARSE_GRAIN_BUFFER"
        )

    def check_pipes(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (3, 0))
        assert not number(info, "PIPE_SUPPORT") or number(info, "GENERIC_ADDRESS_SPACE_SUPPORT"), (
            "pipes without the generic address space"
        )

    def check_alignments(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (2, 0))
        values = [number(info, f"IMAGE_{name}_ALIGNMENT") for name in ("PITCH", "BASE_ADDRESS")]
        for value in values:
            assert value & (value - 1) == 0, f"an alignment of images of buffers is {value}, no power of 2"
        assert (values[0] == 0) == (values[1] == 0), (
            f"images of buffers are and are not there: {values[0]}, {values[1]}"
        )
        if objects.device_version() < (3, 0) and number(info, "IMAGE_SUPPORT"):
            assert values[0] > 0, "CL_DEVICE_IMAGE_PITCH_ALIGNMENT is 0 on a device that must have images of buffers"

    def check_without_images(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (3, 0))
        if number(info, "IMAGE_SUPPORT"):
            raise Unsupported("loader", "the device has images", "a device without images")
        for query in OF_IMAGES:
            value = number(info, query)
            assert value == 0, f"CL_DEVICE_{query} is {value}, expected 0 for a device without images"

    def check_vectors(objects: IcdObjects, of: str, extension: str, config: str) -> None:
        info = Info(objects)
        require_version(info, (1, 1) if of == "HALF" else (1, 2))
        extensions = info.text("clGetDeviceInfo", objects.device, "CL_DEVICE_EXTENSIONS").split()
        if extension in extensions or (config and number(info, config)):
            raise Unsupported("loader", f"the device has {of.lower()} precision", f"a device without {extension}")
        for kind in ("PREFERRED", "NATIVE"):
            value = number(info, f"{kind}_VECTOR_WIDTH_{of}")
            assert value == 0, f"CL_DEVICE_{kind}_VECTOR_WIDTH_{of} is {value}, expected 0 without {extension}"

    def check_sub_groups(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (3, 0))
        progress, most = number(info, "SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS"), number(info, "MAX_NUM_SUB_GROUPS")
        assert most or not progress, "sub-groups make progress on a device without sub-groups"
        extensions = info.text("clGetDeviceInfo", objects.device, "CL_DEVICE_EXTENSIONS").split()
        assert progress or "cl_khr_subgroups" not in extensions, "sub-groups of cl_khr_subgroups make no progress"

    def check_domains(objects: IcdObjects) -> None:
        info = Info(objects)
        require_version(info, (1, 2))
        domains = number(info, "PARTITION_AFFINITY_DOMAIN")
        listed = info.words("clGetDeviceInfo", objects.device, "CL_DEVICE_PARTITION_PROPERTIES")
        assert domains == 0 or CL.DEVICE_PARTITION_BY_AFFINITY_DOMAIN in listed, (
            f"CL_DEVICE_PARTITION_AFFINITY_DOMAIN is {domains:#x}, and the device cannot be partitioned by any"
        )

    with icd.attempts(sandbox) as attempts:
        attempts.check("numbers of images", check_without_images)
        attempts.check("vectors of doubles", lambda o: check_vectors(o, "DOUBLE", "cl_khr_fp64", "DOUBLE_FP_CONFIG"))
        attempts.check("vectors of halves", lambda o: check_vectors(o, "HALF", "cl_khr_fp16", ""))
        attempts.check("CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS", check_sub_groups)
        attempts.check("CL_DEVICE_PARTITION_AFFINITY_DOMAIN", check_domains)
        attempts.check("CL_DEVICE_SVM_CAPABILITIES", check_shared_memory)
        attempts.check("CL_DEVICE_PIPE_SUPPORT", check_pipes)
        attempts.check("CL_DEVICE_IMAGE_PITCH_ALIGNMENT", check_alignments)


@requirement("API-CON-035")
def test_answer_of_a_device_is_one_of_those_listed(icd: Icd, sandbox: Sandbox) -> None:
    """The cache, the local memory, the ways of partition and the references of a root device."""

    def check_cache(objects: IcdObjects) -> None:
        value = number(Info(objects), "GLOBAL_MEM_CACHE_TYPE")
        assert value in CACHES, f"CL_DEVICE_GLOBAL_MEM_CACHE_TYPE is {value:#x}"

    def check_local(objects: IcdObjects) -> None:
        info = Info(objects)
        value, custom = number(info, "LOCAL_MEM_TYPE"), number(info, "TYPE") & CL.DEVICE_TYPE_CUSTOM
        assert value in (CL.LOCAL, CL.GLOBAL) or (custom and value == CL.NONE), (
            f"CL_DEVICE_LOCAL_MEM_TYPE is {value:#x}, expected CL_LOCAL or CL_GLOBAL"
        )

    def check_partitions(objects: IcdObjects) -> None:
        info = Info(objects)
        listed = info.words("clGetDeviceInfo", objects.device, "CL_DEVICE_PARTITION_PROPERTIES")
        strange = [value for value in listed if value not in PARTITIONS and value < FIRST_OF_VENDORS]
        assert not strange, f"CL_DEVICE_PARTITION_PROPERTIES lists {strange[0]:#x}"

    def check_references(objects: IcdObjects) -> None:
        value = number(Info(objects), "REFERENCE_COUNT")
        assert value == 1, f"CL_DEVICE_REFERENCE_COUNT of a root device is {value}, expected 1"

    with icd.attempts(sandbox) as attempts:
        attempts.check("CL_DEVICE_GLOBAL_MEM_CACHE_TYPE", check_cache)
        attempts.check("CL_DEVICE_LOCAL_MEM_TYPE", check_local)
        attempts.check("CL_DEVICE_PARTITION_PROPERTIES", check_partitions)
        attempts.check("CL_DEVICE_REFERENCE_COUNT", check_references)
