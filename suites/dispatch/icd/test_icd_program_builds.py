# SPDX-License-Identifier: Apache-2.0
"""Libraries, binaries that are none, devices that a program is not for, and a compiler that was unloaded (API-CON)."""

from __future__ import annotations

import pytest

from harness.check import CL, Icd, IcdObjects, Info, Sandbox, Unsupported, Value, require_compiler, requirement

LIBRARY = "-create-library"
ONE = "int twice(int number) { return 2 * number; }\nkernel void one(global int *to) { to[0] = twice(1); }\n"


def compiled(objects: IcdObjects) -> Value:
    require_compiler([objects])
    objects.require_function("clCompileProgram", objects.version())
    program = objects.with_source(ONE)
    error = objects.session.call("clCompileProgram", program, 0, None, None, 0, None, None, None, None)
    objects.require("clCompileProgram", error)
    return program


def linked(objects: IcdObjects, program: Value, options: str | None) -> Value:
    return objects.made_by("clLinkProgram", objects.context, 0, None, options, 1, [program], None, None)


@requirement("API-CON-016")
def test_linked_program_is_a_library_where_that_was_asked_for(icd: Icd, sandbox: Sandbox) -> None:
    """What is linked with -create-library is a library, of which no kernel is made, and which can be linked again."""

    def check(objects: IcdObjects, options: str | None, kind: int) -> None:
        info, program = Info(objects), linked(objects, compiled(objects), options)
        about = ("clGetProgramBuildInfo", program, objects.device)
        value = info.number(*about, "CL_PROGRAM_BINARY_TYPE")
        assert value == kind, f"CL_PROGRAM_BINARY_TYPE is {value}, expected {kind!r}"
        status = info.number(*about, "CL_PROGRAM_BUILD_STATUS")
        assert status == CL.BUILD_SUCCESS, f"CL_PROGRAM_BUILD_STATUS is {status}, expected CL_BUILD_SUCCESS"
        text = info.text(*about, "CL_PROGRAM_BUILD_OPTIONS")
        assert text.split() == (options or "").split(), f"CL_PROGRAM_BUILD_OPTIONS is {text!r}, expected {options!r}"

    def check_kernel(objects: IcdObjects) -> None:
        program, code = linked(objects, compiled(objects), LIBRARY), objects.session.buffer(4)
        kernel = objects.session.call("clCreateKernel", program, "one", code)
        assert code.code() == CL.INVALID_PROGRAM_EXECUTABLE
        assert not kernel, "gave a kernel of a library"

    def check_again(objects: IcdObjects) -> None:
        program = linked(objects, linked(objects, compiled(objects), LIBRARY), None)
        assert objects.made_by("clCreateKernel", program, "one"), "gave no kernel of what was linked with a library"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a library", lambda objects: check(objects, LIBRARY, CL.PROGRAM_BINARY_TYPE_LIBRARY))
        attempts.check("an executable", lambda objects: check(objects, None, CL.PROGRAM_BINARY_TYPE_EXECUTABLE))
        attempts.check("a kernel of a library", check_kernel)
        attempts.check("a library is linked", check_again)


@requirement("API-CON-018")
def test_status_of_each_binary_says_whether_it_was_taken(icd: Icd, sandbox: Sandbox) -> None:
    """A binary that is none is CL_INVALID_BINARY, one without bytes CL_INVALID_VALUE, of its device as of the call.

    No bytes are not a valid binary, either.
    """

    def check(objects: IcdObjects, size: int, given: bool, expected: int) -> None:
        require_compiler([objects])
        cl, status, code = objects.session, objects.session.buffer(4), objects.session.buffer(4)
        binary = [cl.data(b"clharness: this is not a program")] if given else [0]
        program = cl.call(
            "clCreateProgramWithBinary", objects.context, 1, [objects.device], [size], binary, status, code
        )
        assert not program, "gave a program"
        error, actual = code.code(), status.code()
        if not (size == 0 and error == CL.INVALID_BINARY):
            assert error == expected
        if not (size == 0 and actual == CL.INVALID_BINARY):
            assert actual == expected, f"the status of the binary is {actual}, expected {expected!r}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("other bytes", lambda objects: check(objects, 32, True, CL.INVALID_BINARY))
        attempts.check("no bytes", lambda objects: check(objects, 0, True, CL.INVALID_VALUE))
        attempts.check("NULL", lambda objects: check(objects, 32, False, CL.INVALID_VALUE))


@requirement("API-CON-036")
def test_compiler_works_after_it_was_unloaded(icd: Icd, sandbox: Sandbox) -> None:
    """Programs are built, compiled and linked after clUnloadPlatformCompiler, and those built before still are."""

    def check(objects: IcdObjects, how: str) -> None:
        require_compiler([objects])
        objects.require_function("clUnloadPlatformCompiler", objects.version())
        before = objects.with_source(ONE)
        objects.build(before, "")
        for _ in range(2):
            objects.require(
                "clUnloadPlatformCompiler", objects.session.call("clUnloadPlatformCompiler", objects.platform)
            )
        if how == "built before":
            assert objects.made_by("clCreateKernel", before, "one")
        elif how == "build":
            program = objects.with_source(ONE)
            assert objects.session.call("clBuildProgram", program, 0, None, "", None, None) == CL.SUCCESS
            assert objects.made_by("clCreateKernel", program, "one")
        else:
            assert objects.made_by("clCreateKernel", linked(objects, compiled(objects), None), "one")

    with icd.attempts(sandbox) as attempts:
        for how in ("built before", "build", "compile and link"):
            attempts.check(how, lambda objects, how=how: check(objects, how))  # type: ignore[misc]


@requirement("API-CON-037")
@pytest.mark.parametrize("function", ["clGetProgramBuildInfo", "clGetKernelWorkGroupInfo", "clBuildProgram"])
def test_device_that_a_program_is_not_for_is_invalid_device(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A device of the platform that is none of the context's is CL_INVALID_DEVICE; the context's own is taken."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        others = [d for d in objects.session.GetDeviceIDs(objects.platform) if d != objects.device]
        if not others:
            raise Unsupported("machine", "the platform has no second device on this machine", "devices")
        program, cl = objects.with_source(ONE), objects.session
        objects.build(program, "")
        answer = cl.buffer(32, 0)
        for device, expected in ((others[0], CL.INVALID_DEVICE), (objects.device, CL.SUCCESS)):
            if function == "clBuildProgram":
                error = cl.call(function, program, 1, [device], None, None, None)
            elif function == "clGetProgramBuildInfo":
                error = cl.call(function, program, device, CL.PROGRAM_BUILD_STATUS, 32, answer, None)
            else:
                kernel = objects.made_by("clCreateKernel", program, "one")
                error = cl.call(function, kernel, device, CL.KERNEL_WORK_GROUP_SIZE, 32, answer, None)
                cl.call("clReleaseKernel", kernel)
            which = "the context's" if expected == CL.SUCCESS else "another"
            assert error == expected, f"answered {error} for {which} device, expected {expected!r}"

    with icd.attempts(sandbox) as attempts:
        attempts.check(function, check)
