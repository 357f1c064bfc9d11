# SPDX-License-Identifier: Apache-2.0
"""What platforms and devices say of themselves in several queries is one thing (API-CON)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from harness.check import CL, Icd, IcdObjects, Info, Sandbox, Unsupported, api, numeric_version, requirement

TYPES = ("CL_DEVICE_TYPE_CPU", "CL_DEVICE_TYPE_GPU", "CL_DEVICE_TYPE_ACCELERATOR", "CL_DEVICE_TYPE_CUSTOM")
# The least that a device of the full profile has; of images only where it has them.
KB = 1000  # the text does not say whether it means 1000 or 1024: this is what it means at least
SCALARS = ("CHAR", "SHORT", "INT", "LONG", "FLOAT")  # that every device of the full profile has
LEAST = {
    "CL_DEVICE_MAX_COMPUTE_UNITS": 1,
    "CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS": 3,
    "CL_DEVICE_MAX_WORK_GROUP_SIZE": 1,
    "CL_DEVICE_MAX_PARAMETER_SIZE": 1024,
    "CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE": 64 * KB,
    "CL_DEVICE_MAX_CONSTANT_ARGS": 8,
    "CL_DEVICE_LOCAL_MEM_SIZE": 32 * KB,
}
WIDTHS = [f"CL_DEVICE_{of}_VECTOR_WIDTH_{type_}" for of in ("PREFERRED", "NATIVE") for type_ in SCALARS]
LESS_BEFORE_1_1 = ("CL_DEVICE_MAX_PARAMETER_SIZE", "CL_DEVICE_LOCAL_MEM_SIZE")  # 256 bytes, and 16 KB
LEAST_OF_IMAGES = {
    "CL_DEVICE_MAX_READ_IMAGE_ARGS": 8,
    "CL_DEVICE_MAX_WRITE_IMAGE_ARGS": 8,
    "CL_DEVICE_IMAGE2D_MAX_WIDTH": 8192,
    "CL_DEVICE_IMAGE2D_MAX_HEIGHT": 8192,
    "CL_DEVICE_IMAGE3D_MAX_WIDTH": 2048,
    "CL_DEVICE_IMAGE3D_MAX_HEIGHT": 2048,
    "CL_DEVICE_IMAGE3D_MAX_DEPTH": 2048,
    "CL_DEVICE_MAX_SAMPLERS": 16,
}


def of_platform(info: Info, query: str) -> tuple[str, object, str]:
    return "clGetPlatformInfo", info.objects.platform, f"CL_PLATFORM_{query}"


def of_device(info: Info, query: str) -> tuple[str, object, str]:
    return "clGetDeviceInfo", info.objects.device, f"CL_DEVICE_{query}"


ORDERS = range(0x10B0, 0x10C4)  # CL_R to CL_ABGR
FIRST_OF_VENDORS = 0x4000  # the enumerants that extensions of vendors have begin here

BOTH = {"platform": of_platform, "device": of_device}
About = Callable[[Info, str], tuple[str, object, str]]


@requirement("API-CON-001")
def test_version_as_a_number_is_that_of_the_string(icd: Icd, sandbox: Sandbox) -> None:
    """Major and minor version of a platform, and of a device, are the same as a number and in the string."""

    def check(objects: IcdObjects, about: About) -> None:
        info = Info(objects)
        text = info.text(*about(info, "VERSION"))
        match = re.match(r"OpenCL (\d+)\.(\d+) ", text + " ")
        assert match, f"the version is {text!r}, expected OpenCL, a blank, and the version"
        number = numeric_version(info.number(*about(info, "NUMERIC_VERSION")))
        assert number == (int(match[1]), int(match[2])), f"{number} as a number, and the string is {text!r}"

    with icd.attempts(sandbox) as attempts:
        for name, about in BOTH.items():
            attempts.check(name, lambda objects, about=about: check(objects, about))  # type: ignore[misc]


@requirement("API-CON-002")
def test_extensions_with_versions_are_those_of_the_string(icd: Icd, sandbox: Sandbox) -> None:
    """Extensions are listed with versions as they are in the string, each once."""

    def check(objects: IcdObjects, about: About) -> None:
        info = Info(objects)
        string = info.text(*about(info, "EXTENSIONS")).split()
        listed = [name for name, _ in info.versions(*about(info, "EXTENSIONS_WITH_VERSION"))]
        differing = set(string) ^ set(listed)
        assert not differing, f"in one of the lists only: {' '.join(sorted(differing))}"
        twice = sorted(name for name, count in Counter(listed).items() if count > 1)
        assert not twice, f"listed twice: {' '.join(twice)}"

    with icd.attempts(sandbox) as attempts:
        for name, about in BOTH.items():
            attempts.check(name, lambda objects, about=about: check(objects, about))  # type: ignore[misc]


@requirement("API-CON-031")
def test_kernels_and_languages_with_versions_are_those_of_the_strings(icd: Icd, sandbox: Sandbox) -> None:
    """Built-in kernels and intermediate languages are listed with versions as they are in the strings, each once."""

    def check(objects: IcdObjects, query: str, string: set[str], found: list[str]) -> None:
        differing = string ^ set(found)
        assert not differing, f"in the string or in {query} only: {' '.join(sorted(differing))}"
        assert len(found) == len(set(found)), f"{query} lists one twice: {' '.join(sorted(found))}"

    def check_kernels(objects: IcdObjects) -> None:
        info, query = Info(objects), "BUILT_IN_KERNELS_WITH_VERSION"
        string = {name for name in info.text(*of_device(info, "BUILT_IN_KERNELS")).split(";") if name}
        check(objects, query, string, [name for name, _ in info.versions(*of_device(info, query))])

    def check_languages(objects: IcdObjects) -> None:
        info, query = Info(objects), "ILS_WITH_VERSION"
        string = set(info.text(*of_device(info, "IL_VERSION")).split())
        listed = info.versions(*of_device(info, query))
        check(objects, query, string, [f"{name}_{major}.{minor}" for name, (major, minor) in listed])

    with icd.attempts(sandbox) as attempts:
        attempts.check("built-in kernels", check_kernels)
        attempts.check("intermediate languages", check_languages)


@requirement("API-CON-021")
def test_platform_has_the_extensions_of_all_its_devices(icd: Icd, sandbox: Sandbox) -> None:
    """An extension that all devices of a platform have is one of the platform's."""

    def check(objects: IcdObjects) -> None:
        info = Info(objects)
        if objects.version() < (3, 0):
            raise Unsupported("loader", "older texts say less of the platform's extensions", "OpenCL 3.0")
        objects.require_device()
        devices = objects.session.GetDeviceIDs(objects.platform)
        of_each = [set(info.text("clGetDeviceInfo", device, "CL_DEVICE_EXTENSIONS").split()) for device in devices]
        lacking = set.intersection(*of_each) - set(info.text(*of_platform(info, "EXTENSIONS")).split())
        assert not lacking, f"all devices have them, and the platform has not: {' '.join(sorted(lacking))}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("those of all devices", check)


@requirement("API-CON-003")
def test_versions_of_opencl_c_include_the_older_ones(icd: Icd, sandbox: Sandbox) -> None:
    """A device of OpenCL 3.0 that has a compiler lists OpenCL C 1.0, 1.1, 1.2 and 3.0."""

    def check(objects: IcdObjects) -> None:
        info = Info(objects)
        listed = info.versions(*of_device(info, "OPENCL_C_ALL_VERSIONS"))
        if not info.number(*of_device(info, "COMPILER_AVAILABLE")):
            raise Unsupported("loader", "the device has no compiler", "compiler")
        assert {name for name, _ in listed} == {"OpenCL C"}, f"the names are {sorted({n for n, _ in listed})}"
        versions = [version for _, version in listed]
        lacking = {(1, 0), (1, 1), (1, 2), (3, 0)} - set(versions)
        assert not lacking, f"not listed: {sorted(lacking)}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("CL_DEVICE_OPENCL_C_ALL_VERSIONS", check)


# What makes a device have a feature of OpenCL C: a query without CL_DEVICE_, and the bits of its answer.
FEATURES = {
    "images": ("IMAGE_SUPPORT", 1),
    "read_write_images": ("MAX_READ_WRITE_IMAGE_ARGS", -1),
    "fp64": ("DOUBLE_FP_CONFIG", -1),
    "pipes": ("PIPE_SUPPORT", 1),
    "generic_address_space": ("GENERIC_ADDRESS_SPACE_SUPPORT", 1),
    "program_scope_global_variables": ("MAX_GLOBAL_VARIABLE_SIZE", -1),
    "device_enqueue": ("DEVICE_ENQUEUE_CAPABILITIES", CL.DEVICE_QUEUE_SUPPORTED),
    "subgroups": ("MAX_NUM_SUB_GROUPS", -1),
    "work_group_collective_functions": ("WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT", 1),
    "atomic_order_acq_rel": ("ATOMIC_MEMORY_CAPABILITIES", CL.DEVICE_ATOMIC_ORDER_ACQ_REL),
    "atomic_order_seq_cst": ("ATOMIC_MEMORY_CAPABILITIES", CL.DEVICE_ATOMIC_ORDER_SEQ_CST),
    "atomic_scope_device": ("ATOMIC_MEMORY_CAPABILITIES", CL.DEVICE_ATOMIC_SCOPE_DEVICE),
    "atomic_scope_all_devices": ("ATOMIC_MEMORY_CAPABILITIES", CL.DEVICE_ATOMIC_SCOPE_ALL_DEVICES),
}
# Features that a feature needs.
NEEDED = {
    "3d_image_writes": ("images",),
    "read_write_images": ("images",),
    "pipes": ("generic_address_space",),
    "device_enqueue": ("generic_address_space", "program_scope_global_variables"),
}


@requirement("API-CON-050")
def test_features_of_opencl_c_are_those_of_the_device(icd: Icd, sandbox: Sandbox) -> None:
    """A device with a compiler lists the features of what it can do, no others, and with those it needs."""

    def features_of(info: Info) -> list[str]:
        listed = info.versions(*of_device(info, "OPENCL_C_FEATURES"))
        if not info.number(*of_device(info, "COMPILER_AVAILABLE")):
            raise Unsupported("loader", "the device has no compiler", "compiler")
        return [name.removeprefix("__opencl_c_") for name, _ in listed]

    def check_list(objects: IcdObjects) -> None:
        info = Info(objects)
        names = features_of(info)
        for name, needed in NEEDED.items():
            lacking = set(needed) - set(names) if name in names else set()
            assert not lacking, f"__opencl_c_{name} is listed without {sorted(lacking)}"
        full = info.text(*of_device(info, "PROFILE")) == "FULL_PROFILE"
        assert not full or "int64" in names, "__opencl_c_int64 is not listed for a device of the full profile"

    def check(objects: IcdObjects, name: str) -> None:
        info, (query, bits) = Info(objects), FEATURES[name]
        listed, value = name in features_of(info), info.number(*of_device(info, query))
        able = bool(value & bits)
        # Compilers "will define some or all" of those of atomics "as appropriate": what is not listed may be there.
        assert listed == able or (able and name.startswith("atomic_")), (
            f"__opencl_c_{name} is {'' if listed else 'not '}listed, and CL_DEVICE_{query} is {value:#x}"
        )

    with icd.attempts(sandbox) as attempts:
        attempts.check("the list", check_list)
        for name in FEATURES:
            attempts.check(f"__opencl_c_{name}", lambda o, name=name: check(o, name))  # type: ignore[misc]


# Extensions that every device has from a version on; those of OpenCL 2 are optional again in OpenCL 3.0.
REQUIRED = {
    (1, 1): "byte_addressable_store global_int32_base_atomics global_int32_extended_atomics "
    "local_int32_base_atomics local_int32_extended_atomics",
    (2, 0): "3d_image_writes depth_images image2d_from_buffer",
    (3, 1): "device_uuid extended_bit_ops integer_dot_product spirv_queries subgroup_extended_types subgroup_rotate "
    "subgroup_shuffle subgroup_shuffle_relative suggested_local_work_size",
}


@requirement("API-CON-051")
def test_device_has_the_extensions_of_its_version(icd: Icd, sandbox: Sandbox) -> None:
    """A device lists what its version of OpenCL demands, and doubles and images of buffers where it has them, only."""

    def listed(info: Info, least: tuple[int, int]) -> set[str]:
        version = info.objects.device_version()
        if version < least:
            raise Unsupported("loader", f"this came with OpenCL {least[0]}.{least[1]}", "version")
        if info.number(*of_device(info, "TYPE")) & CL.DEVICE_TYPE_CUSTOM:
            raise Unsupported("loader", "the device is a custom one", "compiler")
        return set(info.text(*of_device(info, "EXTENSIONS")).split())

    def check(objects: IcdObjects, version: tuple[int, int]) -> None:
        info = Info(objects)
        own = listed(info, version)
        if version == (2, 0) and objects.device_version() >= (3, 0):
            raise Unsupported("loader", "OpenCL 3.0 made these optional", "version")
        lacking = sorted({f"cl_khr_{name}" for name in REQUIRED[version].split()} - own)
        assert not lacking, f"CL_DEVICE_EXTENSIONS lacks {' '.join(lacking)}"

    def check_only(objects: IcdObjects, name: str, query: str, least: tuple[int, int]) -> None:
        info = Info(objects)
        has, value = name in listed(info, least), info.number(*of_device(info, query))
        assert has == bool(value), f"{name} is {'' if has else 'not '}listed, and CL_DEVICE_{query} is {value:#x}"

    with icd.attempts(sandbox) as attempts:
        for version in REQUIRED:
            label = f"OpenCL {version[0]}.{version[1]}"
            attempts.check(label, lambda o, version=version: check(o, version))  # type: ignore[misc]
        for row in (
            ("cl_khr_fp64", "DOUBLE_FP_CONFIG", (1, 2)),
            ("cl_khr_image2d_from_buffer", "IMAGE_PITCH_ALIGNMENT", (3, 0)),
        ):
            attempts.check(row[0], lambda objects, row=row: check_only(objects, *row))  # type: ignore[misc]


@requirement("API-CON-004")
def test_devices_are_listed_by_type(icd: Icd, sandbox: Sandbox) -> None:
    """All devices are those of the single types, each of its own; one is the default; lists have the same devices."""

    def listed(objects: IcdObjects, kind: str) -> list[int]:
        return [int(device) for device in objects.session.GetDeviceIDs(objects.platform, kind)]

    def check(objects: IcdObjects) -> None:
        objects.require_device()
        info = Info(objects)
        every = listed(objects, "CL_DEVICE_TYPE_ALL")
        assert set(listed(objects, "CL_DEVICE_TYPE_ALL")) == set(every), "other devices are listed the second time"
        assert len(set(every)) == len(every), f"{len(every)} devices are listed, and {len(set(every))} of them differ"
        of_types = {kind: listed(objects, kind) for kind in TYPES}
        for kind, devices in of_types.items():
            for device in objects.session.GetDeviceIDs(objects.platform, kind):
                bits = info.number("clGetDeviceInfo", device, "CL_DEVICE_TYPE")
                assert bits & api().constant(kind), f"{kind} lists a device of type {bits:#x}"
                version = info.text("clGetDeviceInfo", device, "CL_DEVICE_VERSION")
                single = bits & (bits - 1) == 0 or version.startswith(("OpenCL 1.", "OpenCL 2."))
                assert single, f"a device is of several types, {bits:#x}"
            assert set(devices) <= set(every) or kind == "CL_DEVICE_TYPE_CUSTOM", f"{kind} lists more than all"
        actual = {device for kind in TYPES if kind != "CL_DEVICE_TYPE_CUSTOM" for device in of_types[kind]}
        assert actual >= set(every) - set(of_types["CL_DEVICE_TYPE_CUSTOM"]), "a device of all is of no type"
        default = listed(objects, "CL_DEVICE_TYPE_DEFAULT")
        assert len(default) == 1 and default[0] in every, f"{len(default)} devices are the default, expected one"

    def check_absent(objects: IcdObjects) -> None:
        cl, count = objects.session, objects.session.buffer(4, 0)
        for kind in TYPES:
            if kind == "CL_DEVICE_TYPE_CUSTOM" and objects.version() < (1, 2):
                continue  # no type that this version knows
            error = cl.call("clGetDeviceIDs", objects.platform, api().constant(kind), 0, None, count)
            expected = CL.SUCCESS if listed(objects, kind) else CL.DEVICE_NOT_FOUND
            assert error == expected, f"{kind} answered {error}, expected {expected}"

    def check_room(objects: IcdObjects) -> None:
        cl = objects.session
        for kind in (*TYPES, "CL_DEVICE_TYPE_DEFAULT", "CL_DEVICE_TYPE_ALL"):
            if every := listed(objects, kind):
                devices, count = cl.buffer(8, 0), cl.buffer(4, 0)
                error = cl.call("clGetDeviceIDs", objects.platform, api().constant(kind), 1, devices, count)
                assert error == CL.SUCCESS, f"{kind} with room for one answered {error}, expected CL_SUCCESS"
                assert count.u32() == len(every), (
                    f"{kind} counts {count.u32()} with room for one, expected {len(every)}"
                )
                assert devices.u64() in every, f"{kind} with room for one has a device that the whole list lacks"

    def check_rest(objects: IcdObjects) -> None:
        cl = objects.session
        for kind in (*TYPES, "CL_DEVICE_TYPE_DEFAULT", "CL_DEVICE_TYPE_ALL"):
            if every := listed(objects, kind):
                number, size = len(every), 8 * len(every)
                devices, count = cl.buffer(size + 16, 0), cl.buffer(4, 0)
                error = cl.call("clGetDeviceIDs", objects.platform, api().constant(kind), number + 2, devices, count)
                assert error == CL.SUCCESS, f"{kind} with room for two more answered {error}, expected CL_SUCCESS"
                assert count.u32() == number, f"{kind} counts {count.u32()} with room for two more, expected {number}"
                actual = [devices.u64(i) for i in range(number)]
                assert sorted(actual) == sorted(every), f"{kind} with room for two more has other devices"

    def check_mixed(objects: IcdObjects) -> None:
        cl, kinds = objects.session, TYPES[:3]
        expected = {device for kind in kinds for device in listed(objects, kind)}
        bits, count = sum(api().constant(kind) for kind in kinds), cl.buffer(4, 0)
        if not expected:
            raise Unsupported("loader", "there is no CPU, GPU or accelerator", "devices")
        room = len(expected) + 1
        devices = cl.buffer(8 * room, 0)
        error = cl.call("clGetDeviceIDs", objects.platform, bits, room, devices, count)
        assert error == CL.SUCCESS, f"CPU, GPU and accelerator at once answered {error}, expected CL_SUCCESS"
        actual = [devices.u64(i) for i in range(min(count.u32(), room))]
        assert sorted(actual) == sorted(expected), (
            f"{len(actual)} devices of three types, and {len(expected)} of each alone"
        )

    def check_platform(objects: IcdObjects) -> None:
        info = Info(objects)
        for device in objects.session.GetDeviceIDs(objects.platform):
            owner = info.number("clGetDeviceInfo", device, "CL_DEVICE_PLATFORM")
            assert owner == objects.platform, "a device names another platform"
            assert info.number("clGetDeviceInfo", device, "CL_DEVICE_PARENT_DEVICE") == 0, "a root device has a parent"

    with icd.attempts(sandbox) as attempts:
        attempts.check("types", check)
        attempts.check("types of no device", check_absent)
        attempts.check("room for one", check_room)
        attempts.check("room for two more", check_rest)
        attempts.check("three types at once", check_mixed)
        attempts.check("platform and parent", check_platform)


@requirement("API-CON-005")
def test_numbers_of_a_device_reach_what_its_profile_demands(icd: Icd, sandbox: Sandbox) -> None:
    """The numbers of a device of the full profile are at least what the specification demands, and fit together."""

    def require_full(info: Info) -> None:
        custom = info.number(*of_device(info, "TYPE")) & CL.DEVICE_TYPE_CUSTOM
        if custom or info.text(*of_device(info, "PROFILE")) != "FULL_PROFILE":
            raise Unsupported("loader", "the device is not one of the full profile", "full profile")

    def check_least(objects: IcdObjects, query: str, least: int, images: bool) -> None:
        info = Info(objects)
        require_full(info)
        if query in LESS_BEFORE_1_1 and objects.device_version() < (1, 1):
            raise Unsupported("loader", "OpenCL 1.0 demands less", "version")
        if images:
            objects.require_images()
        value = info.number("clGetDeviceInfo", objects.device, query)
        assert value >= least, f"{query} is {value}, expected at least {least}"

    def check_dimensions(objects: IcdObjects) -> None:
        info = Info(objects)
        sizes = info.words(*of_device(info, "MAX_WORK_ITEM_SIZES"))
        dimensions = info.number(*of_device(info, "MAX_WORK_ITEM_DIMENSIONS"))
        assert len(sizes) == dimensions, f"{len(sizes)} sizes for {dimensions} dimensions"
        if not info.number(*of_device(info, "TYPE")) & CL.DEVICE_TYPE_CUSTOM:  # older texts ask nothing of these
            assert min(sizes) >= 1, f"the sizes are {sizes}"

    def check_allocation(objects: IcdObjects) -> None:
        info = Info(objects)
        require_full(info)
        whole = info.number(*of_device(info, "GLOBAL_MEM_SIZE"))
        largest = info.number(*of_device(info, "MAX_MEM_ALLOC_SIZE"))
        least = max(min(1 << 30, whole // 4), 32 << 20)
        assert least <= largest, "CL_DEVICE_MAX_MEM_ALLOC_SIZE is less than 32 MiB or a quarter of the memory"

    def check_address(objects: IcdObjects) -> None:
        info = Info(objects)
        bits = info.number(*of_device(info, "ADDRESS_BITS"))
        assert bits in (32, 64), f"CL_DEVICE_ADDRESS_BITS is {bits}"
        align = info.number(*of_device(info, "MEM_BASE_ADDR_ALIGN"))
        require_full(info)
        assert align >= 8 * 128, f"CL_DEVICE_MEM_BASE_ADDR_ALIGN is {align} bits, expected at least those of a long16"

    def check_parts(objects: IcdObjects) -> None:
        info = Info(objects)
        parts = info.number(*of_device(info, "PARTITION_MAX_SUB_DEVICES"))
        units = info.number(*of_device(info, "MAX_COMPUTE_UNITS"))
        assert parts <= units, f"CL_DEVICE_PARTITION_MAX_SUB_DEVICES is {parts}, of {units} compute units"

    with icd.attempts(sandbox) as attempts:
        for query, least in LEAST.items():
            attempts.check(query, lambda o, row=(query, least, False): check_least(o, *row))  # type: ignore[misc]
        for query, least in LEAST_OF_IMAGES.items():
            attempts.check(query, lambda o, row=(query, least, True): check_least(o, *row))  # type: ignore[misc]
        attempts.check("CL_DEVICE_MAX_WORK_ITEM_SIZES", check_dimensions)
        attempts.check("CL_DEVICE_MAX_MEM_ALLOC_SIZE", check_allocation)
        attempts.check("CL_DEVICE_ADDRESS_BITS", check_address)
        attempts.check("CL_DEVICE_PARTITION_MAX_SUB_DEVICES", check_parts)


@requirement("API-CON-006")
@pytest.mark.parametrize("kind", ["IMAGE1D", "IMAGE2D", "IMAGE3D", "IMAGE1D_ARRAY", "IMAGE2D_ARRAY", "IMAGE1D_BUFFER"])
def test_image_formats_are_counted_and_listed_once(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """Image formats are as many as counted, each is listed once, and a shorter list has one of the whole."""

    def check(objects: IcdObjects, flags: str) -> None:
        objects.require_images()
        if kind not in ("IMAGE2D", "IMAGE3D") and objects.version() < (1, 2):
            raise Unsupported("loader", "OpenCL 1.1 has images of two and three dimensions", kind)
        cl, count = objects.session, objects.session.buffer(4, 0)
        about = (objects.context, api().constant(flags), api().constant(f"CL_MEM_OBJECT_{kind}"))
        assert cl.call("clGetSupportedImageFormats", *about, 0, None, count) == CL.SUCCESS
        number = count.u32()
        assert number < 1 << 12, f"{number} formats"
        if not number:
            raise Unsupported("loader", f"there is no format for {kind} with {flags}", kind)
        whole, again = cl.buffer(8 * number + 8), cl.buffer(4, 0)
        assert cl.call("clGetSupportedImageFormats", *about, number + 1, whole, again) == CL.SUCCESS
        assert again.u32() == number, f"{number} formats, and {again.u32()} when they are listed"
        assert whole[8 * number - 8 : 8 * number] != b"\xa5" * 8, "wrote fewer formats than it counted"
        orders = [whole.u32(2 * i) for i in range(number)]
        strange = [order for order in orders if order not in ORDERS and order < FIRST_OF_VENDORS]
        assert not strange, f"the channel order {strange[0]:#x} is none of OpenCL's"
        formats = [whole.u64(i) for i in range(number)]
        assert len(set(formats)) == number, f"{number - len(set(formats))} formats are listed twice"
        first = cl.buffer(8)
        assert cl.call("clGetSupportedImageFormats", *about, 1, first, again) == CL.SUCCESS
        assert first.u64() in formats, "one format alone is one that the whole list lacks"
        assert again.u32() == number, f"{number} formats, and {again.u32()} when the first is listed"

    with icd.attempts(sandbox) as attempts:
        for flags in ("CL_MEM_READ_ONLY", "CL_MEM_WRITE_ONLY", "CL_MEM_READ_WRITE"):
            attempts.check(flags, lambda objects, flags=flags: check(objects, flags))  # type: ignore[misc]


@requirement("API-CON-055")
def test_vectors_of_a_device_have_a_width(icd: Icd, sandbox: Sandbox) -> None:
    """The widths of the vectors that a device of the full profile has are not 0: one of them is one number."""

    def check(objects: IcdObjects, query: str) -> None:
        info = Info(objects)
        custom = info.number(*of_device(info, "TYPE")) & CL.DEVICE_TYPE_CUSTOM
        if custom or info.text(*of_device(info, "PROFILE")) != "FULL_PROFILE":
            raise Unsupported("loader", "the device is not one of the full profile", "full profile")
        value = info.number("clGetDeviceInfo", objects.device, query)
        assert value >= 1, f"{query} is {value}, expected at least 1"

    with icd.attempts(sandbox) as attempts:
        for query in WIDTHS:
            attempts.check(query, lambda objects, query=query: check(objects, query))  # type: ignore[misc]


@requirement("API-CON-054")
def test_largest_allocation_fits_the_memory(icd: Icd, sandbox: Sandbox) -> None:
    """The largest allocation of a device is not more than its memory."""

    def check(objects: IcdObjects) -> None:
        info = Info(objects)
        whole = info.number(*of_device(info, "GLOBAL_MEM_SIZE"))
        largest = info.number(*of_device(info, "MAX_MEM_ALLOC_SIZE"))
        assert largest <= whole, f"CL_DEVICE_MAX_MEM_ALLOC_SIZE is {largest}, of {whole} bytes of memory"

    with icd.attempts(sandbox) as attempts:
        attempts.check("CL_DEVICE_MAX_MEM_ALLOC_SIZE", check)
