# SPDX-License-Identifier: Apache-2.0
"""Programs of a vendor in an intermediate language: what is taken and told of them, and their constants (API-CON)."""

from __future__ import annotations

import struct

from harness.check import CL, Icd, IcdObjects, Info, Sandbox, Unsupported, Value, requirement

CREATE, CONSTANT, INFO = "clCreateProgramWithIL", "clSetProgramSpecializationConstant", "clGetProgramInfo"
NAME = b"clharness_il\0\0\0\0"
SPEC_ID = 7  # of the module's constant, a 32-bit integer


def instruction(operation: int, *operands: int) -> list[int]:
    return [len(operands) + 1 << 16 | operation, *operands]


# A module of SPIR-V 1.0 for 64 bits: one kernel that does nothing, and one specialization constant.
WORDS = [
    *(0x07230203, 0x00010000, 0, 8, 0),
    *(*instruction(17, 4), *instruction(17, 6)),  # OpCapability Addresses, Kernel
    *instruction(14, 2, 2),  # OpMemoryModel Physical64 OpenCL
    *instruction(15, 6, 4, *struct.unpack("<4I", NAME)),  # OpEntryPoint Kernel %4
    *instruction(71, 7, 1, SPEC_ID),  # OpDecorate %7 SpecId
    *(*instruction(19, 1), *instruction(33, 2, 1)),  # %1 = OpTypeVoid, %2 = OpTypeFunction %1
    *(*instruction(21, 6, 32, 0), *instruction(50, 6, 7, 42)),  # %6 = OpTypeInt 32, %7 = OpSpecConstant 42
    *(*instruction(54, 1, 4, 0, 2), *instruction(248, 5)),  # %4 = OpFunction, %5 = OpLabel
    *(*instruction(253), *instruction(56)),  # OpReturn, OpFunctionEnd
]
MODULE = struct.pack(f"<{len(WORDS)}I", *WORDS)
NO_MODULES = {
    "half a header": MODULE[:10],
    "a header without its end": MODULE[:16],
    "another number at its beginning": b"\0\0\0\0" + MODULE[4:],
    "source text": b"kernel void clharness_il() {}   ",
}


def languages(objects: IcdObjects) -> str:
    """What CL_DEVICE_IL_VERSION lists."""
    objects.require_function(CREATE, objects.device_version())
    return Info(objects).text("clGetDeviceInfo", objects.device, "CL_DEVICE_IL_VERSION")


def require_module(objects: IcdObjects) -> None:
    if "SPIR-V_1.0" not in languages(objects).split():
        raise Unsupported("loader", "the device does not take SPIR-V 1.0", "SPIR-V 1.0")
    if Info(objects).number("clGetDeviceInfo", objects.device, "CL_DEVICE_ADDRESS_BITS") != 64:
        raise Unsupported("loader", "the module is for 64 bits", "64 bits")


def created(objects: IcdObjects, module: bytes) -> tuple[int, Value]:
    """The error of a creation, and the program; the module's memory is something else's afterwards."""
    code, data = objects.session.buffer(4), objects.session.data(module)
    program = objects.session.call(CREATE, objects.context, data, len(module), code)
    assert isinstance(program, Value)
    data.fill(0)
    return code.code(), program


def program_of(objects: IcdObjects) -> Value:
    require_module(objects)
    error, program = created(objects, MODULE)
    assert error == CL.SUCCESS, f"{CREATE} answered {error} for a module of {languages(objects)}, expected CL_SUCCESS"
    return program


@requirement("API-CON-044")
def test_program_of_a_module_tells_of_it_and_is_built(icd: Icd, sandbox: Sandbox) -> None:
    """Its module comes back byte for byte; it has no source; it is built, and its kernel is found and run."""

    def check_module(objects: IcdObjects) -> None:
        program = program_of(objects)
        assert Info(objects).answer(INFO, program, "CL_PROGRAM_IL") == MODULE, "CL_PROGRAM_IL is not the module"

    def check_kernel(objects: IcdObjects) -> None:
        program, session = program_of(objects), objects.session
        error = session.call("clBuildProgram", program, 0, None, None, None, None)
        assert error == CL.SUCCESS, f"the build answered {error}; its log: {objects.build_log(program)}"
        name = NAME.rstrip(b"\0").decode()
        assert Info(objects).text(INFO, program, "CL_PROGRAM_KERNEL_NAMES") == name
        kernel = objects.made_by("clCreateKernel", program, name)
        assert session.call("clEnqueueTask", objects.queue, kernel, 0, None, None) == CL.SUCCESS
        assert session.call("clFinish", objects.queue) == CL.SUCCESS

    with icd.attempts(sandbox) as attempts:
        attempts.check("CL_PROGRAM_IL", check_module)
        attempts.check("its kernel", check_kernel)


@requirement("API-CON-045")
def test_what_is_no_module_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """CL_INVALID_VALUE for what is not well-formed; that or CL_INVALID_OPERATION where no device takes a language."""

    def check(objects: IcdObjects, content: bytes) -> None:
        program_of(objects)
        error, program = created(objects, content)
        assert error == CL.INVALID_VALUE, f"answered {error}, expected CL_INVALID_VALUE"
        assert not program, "gave a program beside the error"

    def check_without(objects: IcdObjects) -> None:
        if languages(objects):
            raise Unsupported("loader", "the device takes an intermediate language", "a device without one")
        error, program = created(objects, MODULE)
        refusals = (CL.INVALID_OPERATION, CL.INVALID_VALUE)  # nothing is input that such a runtime can consume
        assert error in refusals, f"answered {error}, expected CL_INVALID_OPERATION or CL_INVALID_VALUE"
        assert not program, "gave a program beside the error"

    with icd.attempts(sandbox) as attempts:
        for what, content in NO_MODULES.items():
            attempts.check(what, lambda objects, content=content: check(objects, content))  # type: ignore[misc]
        attempts.check("no language", check_without)


@requirement("API-CON-046")
def test_specialization_constant_is_one_of_the_module(icd: Icd, sandbox: Sandbox) -> None:
    """A constant of the module is set, again too; its number, its size and its value are looked at, and its program."""

    def set_constant(objects: IcdObjects, program: Value, number: int, size: int, null: bool = False) -> int:
        value = None if null else objects.session.data(bytes([1, 0, 0, 0, 0, 0, 0, 0]))
        return objects.session.call(CONSTANT, program, number, size, value)

    def check(objects: IcdObjects, number: int, size: int, null: bool, expected: int) -> None:
        objects.require_function(CONSTANT, objects.device_version())
        program = program_of(objects)
        assert set_constant(objects, program, SPEC_ID, 4) == CL.SUCCESS
        error = set_constant(objects, program, number, size, null)
        assert error == expected, f"answered {error}, expected {expected!r}"

    def check_source(objects: IcdObjects) -> None:
        objects.require_function(CONSTANT, objects.device_version())
        require_module(objects)
        error = set_constant(objects, objects.with_source(), SPEC_ID, 4)
        assert error == CL.INVALID_PROGRAM, f"answered {error}, expected CL_INVALID_PROGRAM"

    rows = {
        "set again": (SPEC_ID, 4, False, CL.SUCCESS),
        "unknown number": (SPEC_ID + 1, 4, False, CL.INVALID_SPEC_ID),
        "2 bytes": (SPEC_ID, 2, False, CL.INVALID_VALUE),
        "8 bytes": (SPEC_ID, 8, False, CL.INVALID_VALUE),
        "no value": (SPEC_ID, 4, True, CL.INVALID_VALUE),
    }
    with icd.attempts(sandbox) as attempts:
        for what, row in rows.items():
            attempts.check(what, lambda objects, row=row: check(objects, *row))  # type: ignore[misc]
        attempts.check("a program of source", check_source)
