# SPDX-License-Identifier: Apache-2.0
"""What the specification demands of every device's capabilities, and of the form of its answers (API-CON)."""

from __future__ import annotations

import re

from harness.check import CL, Icd, IcdObjects, Info, Sandbox, Unsupported, flags_of, queries, requirement

INFO = "clGetDeviceInfo"
# Bits that a device has at least; those of the floating-point numbers only in the full profile.
LEAST = {
    "CL_DEVICE_QUEUE_PROPERTIES": "CL_QUEUE_PROFILING_ENABLE",
    "CL_DEVICE_EXECUTION_CAPABILITIES": "CL_EXEC_KERNEL",
    "CL_DEVICE_SINGLE_FP_CONFIG": "CL_FP_ROUND_TO_NEAREST|CL_FP_INF_NAN",
}
PROFILES = ("FULL_PROFILE", "EMBEDDED_PROFILE")


def of_device(objects: IcdObjects, query: str) -> int:
    return Info(objects).number(INFO, objects.device, query)


def is_full(objects: IcdObjects) -> bool:
    return Info(objects).text(INFO, objects.device, "CL_DEVICE_PROFILE") == "FULL_PROFILE"


def require_no_custom_device(objects: IcdObjects) -> None:
    if of_device(objects, "CL_DEVICE_TYPE") & CL.DEVICE_TYPE_CUSTOM:
        raise Unsupported("loader", "a custom device need not have it", "a device that is not custom")


@requirement("API-CON-022")
def test_capabilities_of_a_device_include_the_mandated_ones(icd: Icd, sandbox: Sandbox) -> None:
    """Devices profile queues, run kernels, and round to nearest; with the full profile they compile and link."""

    def check_bits(objects: IcdObjects, query: str, names: str) -> None:
        require_no_custom_device(objects)
        if query == "CL_DEVICE_SINGLE_FP_CONFIG" and not is_full(objects):
            raise Unsupported("loader", "the device is not one of the full profile", "full profile")
        value = of_device(objects, query)
        assert value & flags_of(names) == flags_of(names), f"{query} is {value:#x}, without {names}"

    def check_compiler(objects: IcdObjects) -> None:
        require_no_custom_device(objects)
        compiler, linker = (of_device(objects, f"CL_DEVICE_{name}_AVAILABLE") for name in ("COMPILER", "LINKER"))
        assert compiler or not is_full(objects), "a device of the full profile has no compiler"
        assert linker or not compiler, "a device with a compiler has no linker"

    with icd.attempts(sandbox) as attempts:
        for query, names in LEAST.items():
            attempts.check(query, lambda objects, row=(query, names): check_bits(objects, *row))  # type: ignore[misc]
        attempts.check("compiler and linker", check_compiler)


@requirement("API-CON-023")
def test_answer_of_type_cl_bool_is_true_or_false(icd: Icd, sandbox: Sandbox) -> None:
    """A query of a device whose answer is a cl_bool has CL_TRUE or CL_FALSE."""

    def check(objects: IcdObjects, query: str) -> None:
        value = of_device(objects, query)
        assert value in (CL.TRUE, CL.FALSE), f"{query} is {value}, expected CL_TRUE or CL_FALSE"

    with icd.attempts(sandbox) as attempts:
        for query in queries():
            if query.function == INFO and query.type == "cl_bool":
                attempts.check(query.name, lambda objects, name=query.name: check(objects, name))  # type: ignore[misc]


@requirement("API-CON-024")
def test_profiles_and_language_have_the_form_of_the_text(icd: Icd, sandbox: Sandbox) -> None:
    """Profiles are one of two strings; a version has a name, a blank, two numbers, and another blank for the vendor."""

    def check_profile(objects: IcdObjects) -> None:
        info = Info(objects)
        of_platform = info.text("clGetPlatformInfo", objects.platform, "CL_PLATFORM_PROFILE")
        own = info.text(INFO, objects.device, "CL_DEVICE_PROFILE")
        assert of_platform in PROFILES, f"CL_PLATFORM_PROFILE is {of_platform!r}"
        assert own in PROFILES, f"CL_DEVICE_PROFILE is {own!r}"

    def check_language(objects: IcdObjects) -> None:
        if not of_device(objects, "CL_DEVICE_COMPILER_AVAILABLE"):
            raise Unsupported("loader", "the device has no compiler", "compiler")
        text = Info(objects).text(INFO, objects.device, "CL_DEVICE_OPENCL_C_VERSION")
        assert re.match(r"OpenCL C \d+\.\d+ ", text), f"CL_DEVICE_OPENCL_C_VERSION is {text!r}"

    def check_version(objects: IcdObjects, of: str) -> None:
        owner = objects.platform if of == "Platform" else objects.device
        query = f"CL_{of.upper()}_VERSION"
        text = Info(objects).text(f"clGet{of}Info", owner, query)
        assert re.match(r"OpenCL \d+\.\d+ ", text), f"{query} is {text!r}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("profiles", check_profile)
        attempts.check("CL_DEVICE_OPENCL_C_VERSION", check_language)
        attempts.check("CL_PLATFORM_VERSION", lambda objects: check_version(objects, "Platform"))
        attempts.check("CL_DEVICE_VERSION", lambda objects: check_version(objects, "Device"))
