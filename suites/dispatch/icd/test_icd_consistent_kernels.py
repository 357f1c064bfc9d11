# SPDX-License-Identifier: Apache-2.0
"""Kernels and programs say what they are, whichever function made them; a clone is an exact copy (API-CON)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.check import (
    ARGUMENT_INFORMATION,
    CL,
    KERNEL_SOURCES,
    CallFailed,
    Icd,
    IcdObjects,
    Info,
    Kernels,
    Sandbox,
    Value,
    queries,
    require_compiler,
    requirement,
)

KERNEL, ARGUMENT, GROUP = "clGetKernelInfo", "clGetKernelArgInfo", "clGetKernelWorkGroupInfo"
PROGRAM, BUILD = "clGetProgramInfo", "clGetProgramBuildInfo"
MAKERS = ("clCreateKernel", "clCreateKernelsInProgram", "clCloneKernel")
NAME = "clharness_fixed"
EXCHANGE = "clharness_exchange"  # has arguments of its own in local memory


def kernel_of(objects: IcdObjects, maker: str, name: str = NAME) -> tuple[Value, Value]:
    """A program of one kernel, built with what its parameters are, and the kernel."""
    objects.require_function(maker, objects.version())
    require_compiler([objects])
    program = objects.with_source(KERNEL_SOURCES[name])
    objects.build(program, ARGUMENT_INFORMATION)
    if maker == "clCreateKernelsInProgram":
        return program, objects.given_by(maker, program, 1, after=(None,))
    kernel = objects.made_by("clCreateKernel", program, name)
    if maker == "clCloneKernel":
        kernel = objects.made_by(maker, kernel)
    if not kernel:
        raise CallFailed(f"{maker} gave no kernel beside CL_SUCCESS")
    return program, kernel


@requirement("API-CON-019", "API-CON-020", "API-CON-025")
@pytest.mark.parametrize("maker", MAKERS)
def test_kernel_of_each_function_says_what_it_is(icd: Icd, sandbox: Sandbox, maker: str) -> None:
    """Name, number of parameters, context, program and required work-group size of a kernel, and one reference."""

    def check(objects: IcdObjects) -> None:
        program, kernel = kernel_of(objects, maker)
        info = Info(objects)
        name = info.text(KERNEL, kernel, "CL_KERNEL_FUNCTION_NAME")
        assert name == NAME, f"CL_KERNEL_FUNCTION_NAME is {name!r}, expected {NAME!r}"
        actual = info.number(KERNEL, kernel, "CL_KERNEL_NUM_ARGS")
        assert actual == 1, f"CL_KERNEL_NUM_ARGS is {actual}, expected 1"
        for query, owner in (("CONTEXT", objects.context), ("PROGRAM", program)):
            actual = info.number(KERNEL, kernel, f"CL_KERNEL_{query}")
            assert actual == owner, f"CL_KERNEL_{query} is not that of which the kernel was made"

    def check_attributes(objects: IcdObjects) -> None:
        kernels = [kernel_of(objects, how)[1] for how in (maker, "clCreateKernel")]
        actual, plain = (Info(objects).text(KERNEL, kernel, "CL_KERNEL_ATTRIBUTES") for kernel in kernels)
        assert actual == plain, f"CL_KERNEL_ATTRIBUTES is {actual!r}, that of clCreateKernel's kernel {plain!r}"

    def check_groups(objects: IcdObjects) -> None:
        kernel = kernel_of(objects, maker)[1]
        required = Info(objects).words(GROUP, kernel, objects.device, "CL_KERNEL_COMPILE_WORK_GROUP_SIZE")
        assert required == [4, 2, 1], f"CL_KERNEL_COMPILE_WORK_GROUP_SIZE is {required}, expected 4, 2, 1"

    with icd.attempts(sandbox) as attempts:
        attempts.check("queries of kernels", check)
        if maker != "clCreateKernel":
            attempts.check("attributes", check_attributes)
        attempts.check("required work-group size", check_groups)


@requirement("API-CON-019")
@pytest.mark.parametrize("maker", MAKERS)
def test_parameter_of_each_functions_kernel_says_what_it_is(icd: Icd, sandbox: Sandbox, maker: str) -> None:
    """Name, type, address space, access and qualifiers of a parameter are those of the source."""

    def check(objects: IcdObjects) -> None:
        kernel, info = kernel_of(objects, maker)[1], Info(objects)
        texts = [info.text(ARGUMENT, kernel, 0, f"CL_KERNEL_ARG_{query}") for query in ("NAME", "TYPE_NAME")]
        assert texts == ["to", "uchar*"], f"the parameter is {texts[0]!r} of type {texts[1]!r}"
        for query, expected in (
            ("ADDRESS_QUALIFIER", CL.KERNEL_ARG_ADDRESS_GLOBAL),
            ("ACCESS_QUALIFIER", CL.KERNEL_ARG_ACCESS_NONE),
            ("TYPE_QUALIFIER", CL.KERNEL_ARG_TYPE_NONE),
        ):
            actual = info.number(ARGUMENT, kernel, 0, f"CL_KERNEL_ARG_{query}")
            assert actual == expected, f"CL_KERNEL_ARG_{query} is {actual:#x}, expected {expected:#x}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("global uchar *to", check)


@requirement("API-CON-033")
@pytest.mark.parametrize("function", [KERNEL, ARGUMENT, GROUP])
def test_clone_answers_each_query_like_its_kernel(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A clone is an exact copy: its answers are those of the kernel with the arguments that were set, but for its count
    of references."""

    def both(objects: IcdObjects) -> tuple[Value, Value]:
        objects.require_function("clCloneKernel", objects.version())
        program, kernel = kernel_of(objects, "clCreateKernel", EXCHANGE)
        kernels = Kernels(objects, program)
        for index, size in ((1, 64), (2, 192)):
            kernels.set(kernel, index, None, size)
        return kernel, objects.made_by("clCloneKernel", kernel)

    def check(objects: IcdObjects, query: str, *about: int) -> None:
        info = Info(objects)
        kernel, clone = (info.answer(function, of, *about, query) for of in both(objects))
        assert clone == kernel, f"{query} of the clone is {clone[:16].hex()}, that of its kernel {kernel[:16].hex()}"

    def check_group(objects: IcdObjects, query: str) -> None:
        check(objects, query, objects.device)

    with icd.attempts(sandbox) as attempts:
        for query in [q.name for q in queries() if q.function == function]:
            if query == "CL_KERNEL_GLOBAL_WORK_SIZE" or query.endswith("REFERENCE_COUNT"):
                continue  # of custom devices and built-in kernels only; each its own
            if function == ARGUMENT:
                for index in range(3):
                    row = query, index
                    attempts.check(f"{query} of {index}", lambda o, row=row: check(o, *row))  # type: ignore[misc]
            else:
                how = check_group if function == GROUP else check
                attempts.check(query, lambda o, how=how, query=query: how(o, query))  # type: ignore[misc]


# --- programs ---


def of_binary(objects: IcdObjects) -> Value:
    """Built once, however often it is asked for."""
    require_compiler([objects])
    program = objects.named("of_binary")
    if Info(objects).number(BUILD, program, objects.device, "CL_PROGRAM_BUILD_STATUS") != CL.BUILD_SUCCESS:
        objects.build(program, "")
    return program


def linked(objects: IcdObjects, options: str | None = None) -> Value:
    require_compiler([objects])
    program, arguments = objects.named("compiled"), (0, None, options, 1)
    return objects.made_by("clLinkProgram", objects.context, *arguments, [program], None, None)


PROGRAMS = {"clCreateProgramWithBinary": of_binary, "clLinkProgram": linked}


def expect_numbers(info: Info, program: Value, rows: Sequence[tuple[str, int]]) -> None:
    for query, expected in rows:
        actual = info.number(PROGRAM, program, f"CL_PROGRAM_{query}")
        assert actual == expected, f"CL_PROGRAM_{query} is {actual}, expected {expected}"


@requirement("API-CON-015", "API-CON-016", "API-CON-017", "API-CON-018")
@pytest.mark.parametrize("maker", PROGRAMS)
def test_program_of_each_function_says_what_it_is(icd: Icd, sandbox: Sandbox, maker: str) -> None:
    """A program of a binary, and one that was linked, has its context, its device, its kernels and its build."""

    def create(objects: IcdObjects) -> Value:
        objects.require_function(maker, objects.version())
        return PROGRAMS[maker](objects)

    def check(objects: IcdObjects) -> None:
        info, program = Info(objects), create(objects)
        owner = info.number(PROGRAM, program, "CL_PROGRAM_CONTEXT")
        assert owner == objects.context, "CL_PROGRAM_CONTEXT is not the context that it was made in"
        expect_numbers(info, program, (("NUM_DEVICES", 1),))
        devices = info.words(PROGRAM, program, "CL_PROGRAM_DEVICES")
        assert devices == [objects.device], "CL_PROGRAM_DEVICES is not the device that it was made for"
        (size,) = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
        assert size, "CL_PROGRAM_BINARY_SIZES is 0 of a program that is built"

    def check_kernels(objects: IcdObjects) -> None:
        info, program = Info(objects), create(objects)
        expect_numbers(info, program, (("NUM_KERNELS", 2),))
        names = info.text(PROGRAM, program, "CL_PROGRAM_KERNEL_NAMES").split(";")
        assert sorted(names) == ["args", "name"], f"CL_PROGRAM_KERNEL_NAMES is {';'.join(names)!r}"

    def check_language(objects: IcdObjects) -> None:
        language = Info(objects).answer(PROGRAM, create(objects), "CL_PROGRAM_IL")
        assert not language, f"CL_PROGRAM_IL has {len(language)} bytes of a program without intermediate language"

    def check_build(objects: IcdObjects) -> None:
        info, program = Info(objects), create(objects)
        status = info.number(BUILD, program, objects.device, "CL_PROGRAM_BUILD_STATUS")
        assert status == CL.BUILD_SUCCESS, f"CL_PROGRAM_BUILD_STATUS is {status}, expected CL_BUILD_SUCCESS"
        kind = info.number(BUILD, program, objects.device, "CL_PROGRAM_BINARY_TYPE")
        assert kind == CL.PROGRAM_BINARY_TYPE_EXECUTABLE, f"CL_PROGRAM_BINARY_TYPE is {kind}, expected an executable"
        options = info.text(BUILD, program, objects.device, "CL_PROGRAM_BUILD_OPTIONS")
        assert not options.split(), f"CL_PROGRAM_BUILD_OPTIONS is {options!r}, and none were given"

    with icd.attempts(sandbox) as attempts:
        attempts.check("queries of programs", check)
        attempts.check("kernels", check_kernels)
        if maker != "clLinkProgram":  # of which the text does not speak there
            attempts.check("intermediate language", check_language)
        attempts.check("build", check_build)


@requirement("API-CON-016", "API-ARG-002")
def test_program_of_a_binary_can_be_built_again(icd: Icd, sandbox: Sandbox) -> None:
    """A program that was made of a binary, and built, is built once more, as no kernel is attached to it."""

    def check(objects: IcdObjects) -> None:
        program = of_binary(objects)
        error = objects.session.call("clBuildProgram", program, 0, None, None, None, None)
        assert error == CL.SUCCESS, f"answered {error} to the second build, expected CL_SUCCESS"
        status = Info(objects).number(BUILD, program, objects.device, "CL_PROGRAM_BUILD_STATUS")
        assert status == CL.BUILD_SUCCESS, f"CL_PROGRAM_BUILD_STATUS is {status}, expected CL_BUILD_SUCCESS"

    with icd.attempts(sandbox) as attempts:
        attempts.check("built twice", check)


@requirement("API-CON-017")
def test_linked_program_has_the_kernels_of_all_its_programs(icd: Icd, sandbox: Sandbox) -> None:
    """The kernels of a program that was linked of two programs are those of both."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        objects.require_function("clLinkProgram", objects.version())
        names, programs = ("one", "other"), []
        for number, name in enumerate(names):
            programs.append(objects.with_source(f"kernel void {name}(global int *to) {{ to[0] = {number}; }}\n"))
            arguments = (0, None, None, 0, None, None, None, None)
            objects.require("clCompileProgram", objects.session.call("clCompileProgram", programs[-1], *arguments))
        program = objects.made_by("clLinkProgram", objects.context, 0, None, None, 2, programs, None, None)
        answer = Info(objects).text(PROGRAM, program, "CL_PROGRAM_KERNEL_NAMES")
        assert sorted(answer.split(";")) == sorted(names), f"CL_PROGRAM_KERNEL_NAMES is {answer!r}, of {names}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("two programs", check)
