# SPDX-License-Identifier: Apache-2.0
"""What programs and kernels say of themselves: sources, binaries, names, parameters (API-CON)."""

from __future__ import annotations

import struct

import pytest

from harness.check import (
    ARGUMENT_INFORMATION,
    CL,
    DEFINED,
    KERNEL_SOURCES,
    Icd,
    IcdObjects,
    Info,
    Kernels,
    Range,
    Sandbox,
    Value,
    api,
    flags_of,
    require_compiler,
    requirement,
)

PROGRAM, BUILD = "clGetProgramInfo", "clGetProgramBuildInfo"
OPTIONS = "-D clharness=1"
STEPS = {"built": OPTIONS, "failed": "-D clharness_fails", "built without options": None}
ONE_AFTER_THE_OTHER = ("built, then failed", "failed, then built", "failed, then built without options")
FAILS_WHEN_ASKED = (
    "#ifdef clharness_fails\n#error clharness_fails\n#endif\nkernel void one(global int *to) { to[0] = 1; }\n"
)
NAMES = {"one", "other"}
TWO = "kernel void one(global int *to) { to[0] = clharness; }\nkernel void other() {}\n"
# Name, type, address space, access and qualifiers of each parameter.
PARAMETERS = (
    ("to", "int*", "CL_KERNEL_ARG_ADDRESS_GLOBAL", 0),
    ("from", "uchar*", "CL_KERNEL_ARG_ADDRESS_GLOBAL", "CL_KERNEL_ARG_TYPE_CONST"),
    ("table", "float*", "CL_KERNEL_ARG_ADDRESS_CONSTANT", "CL_KERNEL_ARG_TYPE_CONST"),
    ("own", "int4*", "CL_KERNEL_ARG_ADDRESS_LOCAL", 0),
    ("number", "long", "CL_KERNEL_ARG_ADDRESS_PRIVATE", 0),
    ("vector", "float8", "CL_KERNEL_ARG_ADDRESS_PRIVATE", 0),
)
# The same of a second kernel, whose pointers have qualifiers of every kind.
QUALIFIED = (
    ("to", "int*", "CL_KERNEL_ARG_ADDRESS_GLOBAL", "CL_KERNEL_ARG_TYPE_RESTRICT"),
    ("seen", "int*", "CL_KERNEL_ARG_ADDRESS_GLOBAL", "CL_KERNEL_ARG_TYPE_VOLATILE"),
    ("from", "int*", "CL_KERNEL_ARG_ADDRESS_GLOBAL", "CL_KERNEL_ARG_TYPE_CONST|CL_KERNEL_ARG_TYPE_RESTRICT"),
    ("count", "uint", "CL_KERNEL_ARG_ADDRESS_PRIVATE", 0),
)
ACCESS = {"read_only": "CL_KERNEL_ARG_ACCESS_READ_ONLY", "write_only": "CL_KERNEL_ARG_ACCESS_WRITE_ONLY"}
DECLARED = """
kernel void declared(global int *to, global const uchar *from, constant float *table, local int4 *own, long number,
                     float8 vector)
{
    own[0] = (int4)(from[0]);
    to[0] = own[0].x + (int)table[0] + (int)number + (int)vector.x;
}

kernel void qualified(global int *restrict to, global volatile int *seen, global const int *restrict from,
                      unsigned int count)
{
    to[0] = seen[0] + from[0] + (int)count;
}
"""
IMAGES = """
kernel void imaged(read_only image2d_t from, write_only image2d_t to)
{
    write_imageui(to, (int2)(0, 0), (uint4)(get_image_width(from)));
}
"""


def built(objects: IcdObjects, source: str = TWO, options: str = OPTIONS) -> Value:
    require_compiler([objects])
    program = objects.with_source(source)
    objects.build(program, options)
    return program


def build(objects: IcdObjects, program: Value, options: str | None) -> int:
    """The error of a build, which may fail."""
    error = objects.session.call("clBuildProgram", program, 0, None, options, None, None)
    assert isinstance(error, int)
    return error


@requirement("API-CON-015")
def test_program_says_what_it_is_made_of(icd: Icd, sandbox: Sandbox) -> None:
    """A program has the source that it was made of, all strings one after the other, its context and its device."""

    def check(objects: IcdObjects) -> None:
        info, cl = Info(objects), objects.session
        texts = ["kernel void one() {}\n", "kernel void other() {} and what is past its length", "// end\n"]
        strings = [cl.data(text.encode() + b"\0") for text in texts]
        lengths = [0, len("kernel void other() {}"), len(texts[2])]
        program = objects.made_by("clCreateProgramWithSource", objects.context, 3, strings, lengths)
        source = info.text(PROGRAM, program, "CL_PROGRAM_SOURCE")
        assert source == texts[0] + "kernel void other() {}" + texts[2], f"the source is {source!r}"
        assert info.number(PROGRAM, program, "CL_PROGRAM_NUM_DEVICES") == 1
        assert info.words(PROGRAM, program, "CL_PROGRAM_DEVICES") == [objects.device]
        assert info.number(PROGRAM, program, "CL_PROGRAM_CONTEXT") == objects.context

    def check_language(objects: IcdObjects) -> None:
        language = Info(objects).answer(PROGRAM, objects.with_source(TWO), "CL_PROGRAM_IL")
        assert not language, f"CL_PROGRAM_IL of a program that was made of source has {len(language)} bytes"

    def check_one(objects: IcdObjects) -> None:
        text = "kernel void one() {}\n"
        strings = [objects.session.data(f"{text}what is past its length".encode() + b"\0")]
        program = objects.made_by("clCreateProgramWithSource", objects.context, 1, strings, [len(text)])
        source = Info(objects).text(PROGRAM, program, "CL_PROGRAM_SOURCE")
        assert source == text, f"the source is {source!r}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("three strings", check)
        attempts.check("one string with a length", check_one)
        attempts.check("intermediate language", check_language)


@requirement("API-CON-016")
def test_build_says_how_it_went(icd: Icd, sandbox: Sandbox) -> None:
    """Status, options and type of binary of a program before a build, after it and others, and after a compilation."""

    def check(objects: IcdObjects, how: str) -> None:
        require_compiler([objects])
        info, cl = Info(objects), objects.session
        program = objects.with_source(TWO)
        status, kind, given = CL.BUILD_NONE, "CL_PROGRAM_BINARY_TYPE_NONE", OPTIONS
        if how in ("built", "built again"):
            if how == "built again":
                objects.build(program, "-D clharness=2 -D clharness_more")
                for query in ("STATUS", "OPTIONS", "LOG"):  # what is answered now must not be kept
                    info.answer(BUILD, program, objects.device, f"CL_PROGRAM_BUILD_{query}")
            objects.build(program, OPTIONS)
            status, kind = CL.BUILD_SUCCESS, "CL_PROGRAM_BINARY_TYPE_EXECUTABLE"
        elif how == "failed":
            program = objects.with_source("kernel void broken(global int *to) { to[0] = clharness_undeclared; }")
            error = build(objects, program, None)
            assert error == CL.BUILD_PROGRAM_FAILURE, f"answered {error} to a source with an error"
            status = CL.BUILD_ERROR
        elif "then" in how:
            program = objects.with_source(FAILS_WHEN_ASKED)
            for step in how.split(", then "):
                options, good = STEPS[step], step != "failed"
                error, expected = build(objects, program, options), CL.SUCCESS if good else CL.BUILD_PROGRAM_FAILURE
                assert error == expected, f"answered {error} to a build with the options {options!r}"
                status, given = CL.BUILD_SUCCESS if good else CL.BUILD_ERROR, options or ""
                for query in ("STATUS", "OPTIONS", "LOG"):  # what is answered now must not be kept
                    info.answer(BUILD, program, objects.device, f"CL_PROGRAM_BUILD_{query}")
            kind = "CL_PROGRAM_BINARY_TYPE_EXECUTABLE"
        elif how == "compiled":
            objects.require_function("clCompileProgram", objects.version())
            error = cl.call("clCompileProgram", program, 0, None, OPTIONS, 0, None, None, None, None)
            objects.require("clCompileProgram", error)
            status, kind = CL.BUILD_SUCCESS, "CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT"
        answer = info.answer(BUILD, program, objects.device, "CL_PROGRAM_BUILD_STATUS")
        actual = int.from_bytes(answer, "little", signed=True)
        assert actual == status, f"CL_PROGRAM_BUILD_STATUS is {actual}, expected {status!r}"
        type_ = info.number(BUILD, program, objects.device, "CL_PROGRAM_BINARY_TYPE")
        assert status == CL.BUILD_ERROR or type_ == api().constant(kind), (
            f"CL_PROGRAM_BINARY_TYPE is {type_}, expected {kind}"
        )
        options = info.text(BUILD, program, objects.device, "CL_PROGRAM_BUILD_OPTIONS")
        if how != "not built" and status == CL.BUILD_SUCCESS:
            assert options == given, f"CL_PROGRAM_BUILD_OPTIONS is {options!r}, expected {given!r}"
        log = info.text(BUILD, program, objects.device, "CL_PROGRAM_BUILD_LOG")
        if how == "not built":
            assert (options, log) == ("", ""), f"the options are {options!r}, and the log {log!r}, before any build"

    with icd.attempts(sandbox) as attempts:
        for how in ("not built", "built", "built again", "failed", "compiled", *ONE_AFTER_THE_OTHER):
            attempts.check(how, lambda objects, how=how: check(objects, how))  # type: ignore[misc]


@requirement("API-CON-027")
def test_global_variables_of_a_program_fit_the_device(icd: Icd, sandbox: Sandbox) -> None:
    """The storage of a program's global variables is a part of the device's global memory."""

    def check(objects: IcdObjects) -> None:
        info, program = Info(objects), built(objects)
        used = info.number(BUILD, program, objects.device, "CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE")
        has = info.number("clGetDeviceInfo", objects.device, "CL_DEVICE_GLOBAL_MEM_SIZE")
        assert used <= has, f"CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE is {used}, of {has} bytes of global memory"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a program without such variables", check)


@requirement("API-CON-017")
def test_built_program_lists_its_kernels(icd: Icd, sandbox: Sandbox) -> None:
    """The kernels of a program are as many as counted, by name and as objects, and each names its program."""

    def check(objects: IcdObjects) -> None:
        info, cl, program = Info(objects), objects.session, built(objects)
        names = info.text(PROGRAM, program, "CL_PROGRAM_KERNEL_NAMES").split(";")
        assert set(names) == NAMES and len(names) == 2, f"CL_PROGRAM_KERNEL_NAMES is {';'.join(names)!r}"
        assert info.number(PROGRAM, program, "CL_PROGRAM_NUM_KERNELS") == 2
        count, kernels = cl.buffer(4, 0), cl.buffer(24, 0)
        objects.require("clCreateKernelsInProgram", cl.call("clCreateKernelsInProgram", program, 0, None, count))
        assert count.u32() == 2, f"clCreateKernelsInProgram counts {count.u32()} kernels without a list, expected 2"
        objects.require("clCreateKernelsInProgram", cl.call("clCreateKernelsInProgram", program, 3, kernels, count))
        assert count.u32() == 2, f"clCreateKernelsInProgram counts {count.u32()} kernels, expected 2"
        answer = {info.text("clGetKernelInfo", kernels.handle(i), "CL_KERNEL_FUNCTION_NAME") for i in range(2)}
        assert answer == NAMES, f"clCreateKernelsInProgram gives {sorted(answer)}"
        for i in range(2):
            assert info.number("clGetKernelInfo", kernels.handle(i), "CL_KERNEL_PROGRAM") == program
            assert info.number("clGetKernelInfo", kernels.handle(i), "CL_KERNEL_CONTEXT") == objects.context

    with icd.attempts(sandbox) as attempts:
        attempts.check("two kernels", check)


@requirement("API-CON-018")
def test_program_of_a_binary_computes_what_its_source_did(icd: Icd, sandbox: Sandbox) -> None:
    """The binary of a program has the size that is reported, and a program that is made of it runs the same kernels."""

    def check(objects: IcdObjects) -> None:
        info, cl = Info(objects), objects.session
        program = built(objects, KERNEL_SOURCES["clharness_sift"], "")
        (size,) = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
        assert 0 < size < 1 << 28, f"CL_PROGRAM_BINARY_SIZES is {size}"  # which nothing could hold
        binary = cl.buffer(size + 16)
        error = cl.call(PROGRAM, program, CL.PROGRAM_BINARIES, 8, [binary], None)
        objects.require(PROGRAM, error)
        assert binary[size:] == b"\xa5" * 16, "CL_PROGRAM_BINARIES wrote past the size that is reported"
        other = cl.buffer(size, 0x5A)
        objects.require(PROGRAM, cl.call(PROGRAM, program, CL.PROGRAM_BINARIES, 8, [other], None))
        last = (binary[size - 1 : size], other[size - 1 : size])
        assert last != (b"\xa5", b"\x5a"), "the binary ends before the size that is reported"
        status = cl.buffer(4)
        again = objects.made_by(
            "clCreateProgramWithBinary", objects.context, 1, [objects.device], [size], [binary], status
        )
        assert status.code() == CL.SUCCESS, f"the status of the binary is {status.code()}"
        objects.build(again, "")
        names = info.text(PROGRAM, again, "CL_PROGRAM_KERNEL_NAMES")
        assert names == "clharness_sift", f"CL_PROGRAM_KERNEL_NAMES of the binary is {names!r}"
        kernels = Kernels(objects, again)
        result = kernels.sifted()
        assert result == kernels.sifted_expected(), "the kernel of the binary computes something else"

    def check_two(objects: IcdObjects) -> None:
        """Two in one process: neither is taken for the other. What is wrong in the source, too, is API-KER's."""
        info, cl, again, sources = Info(objects), objects.session, {}, {}
        range_ = Range((4,), (), (2,))
        names = ("clharness_ids", "clharness_sift")
        for name in names:
            program = sources[name] = built(objects, KERNEL_SOURCES[name], "")
            (size,) = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
            binary, status = cl.buffer(size), cl.buffer(4)
            objects.require(PROGRAM, cl.call(PROGRAM, program, CL.PROGRAM_BINARIES, 8, [binary], None))
            arguments = [objects.device], [size], [binary], status
            again[name] = objects.made_by("clCreateProgramWithBinary", objects.context, 1, *arguments)
        for name in names:
            objects.build(again[name], "")
            own = info.text(PROGRAM, again[name], "CL_PROGRAM_KERNEL_NAMES")
            assert own == name, f"CL_PROGRAM_KERNEL_NAMES of the binary of {name} is {own!r}"
        kernels = Kernels(objects, again["clharness_sift"])
        assert kernels.sifted() == kernels.sifted_expected(), "the kernel of the binary computes something else"
        right = range_.places((2, 1, 1))
        places, of_source = (Kernels(objects, of["clharness_ids"]).places(range_) for of in (again, sources))
        assert places == right or of_source != right, "the other kernel computes something else"

    with icd.attempts(sandbox) as attempts:
        attempts.check("binary", check)
        attempts.check("two binaries", check_two)


@requirement("API-CON-017")
def test_kernels_of_a_program_are_those_of_its_last_build(icd: Icd, sandbox: Sandbox) -> None:
    """A program that is built again lists the kernels that it has then, and makes no others."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        info = Info(objects)
        program = objects.with_source("kernel void CLHARNESS_NAME(global int *to) { to[0] = 1; }\n")
        for name, other in (("clharness_one", "clharness_two"), ("clharness_two", "clharness_one")):
            objects.build(program, f"-D CLHARNESS_NAME={name}")
            names = info.text(PROGRAM, program, "CL_PROGRAM_KERNEL_NAMES")
            assert names == name, f"CL_PROGRAM_KERNEL_NAMES is {names!r} after a build of {name}"
            code = objects.session.buffer(4)
            kernel = objects.session.call("clCreateKernel", program, other, code)
            assert code.code() == CL.INVALID_KERNEL_NAME, f"{code.code()} to {other}, which is not built"
            assert not kernel, f"gave a kernel {other}, which is not built"

    with icd.attempts(sandbox) as attempts:
        attempts.check("built twice", check)


# Options, and what is defined by them: one name has no value, which is 1.
DEFINITIONS = {
    "apart": ("-D {0}=11 -D {1}=22 -D {2} -D {3}=44", (11, 22, 1, 44)),
    "among other options": ("-w -D {0}=1 -cl-mad-enable -D {1}=2 -w -D {2}=-3 -D {3}=4 -cl-mad-enable", (1, 2, -3, 4)),
    "in another order": ("-D {3}=4 -D {2}=3 -D {1}=2 -D {0}=1", (1, 2, 3, 4)),
}


def expect_defined(objects: IcdObjects, how: str, options: str, values: tuple[int, ...]) -> None:
    """The kernel stores the values of its macros, which the options define."""
    require_compiler([objects])
    options, program = options.format(*DEFINED), objects.with_source(KERNEL_SOURCES["clharness_defined"])
    if how == "built again":
        objects.build(program, " ".join(f"-D {name}=9" for name in DEFINED))
    if how == "compiled":
        objects.require_function("clCompileProgram", objects.version())
        error = objects.session.call("clCompileProgram", program, 0, None, options, 0, None, None, None, None)
        objects.require("clCompileProgram", error)
        program = objects.made_by("clLinkProgram", objects.context, 0, None, None, 1, [program], None, None)
    else:
        objects.build(program, options)
    kernels = Kernels(objects, program)
    to, kernel = kernels.buffer(bytes(16)), kernels.kernel("clharness_defined")
    kernels.set(kernel, 0, to)
    kernels.run(kernel, Range((1,)))
    actual = struct.unpack("<4i", kernels.content(to, 16))
    assert actual == values, f"the kernel stored {actual} with {options!r}, expected {values}"


@requirement("API-CON-049")
@pytest.mark.parametrize("how", ["built", "built again", "compiled"])
def test_each_definition_of_the_options_reaches_the_source(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """Every -D of the options is a macro of the program that is built or compiled with them, and of no other."""
    with icd.attempts(sandbox) as attempts:
        for name, row in DEFINITIONS.items():
            attempts.check(name, lambda objects, row=row: expect_defined(objects, how, *row))  # type: ignore[misc]


@requirement("API-CON-052")
@pytest.mark.parametrize("how", ["built", "built again", "compiled"])
def test_each_definition_in_one_word_reaches_the_source(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """So is every -D that has no space before the name."""
    row = ("-D{0}=5 -D{1} -D{2}=-7 -D{3}=8", (5, 1, -7, 8))
    with icd.attempts(sandbox) as attempts:
        attempts.check("in one word", lambda objects: expect_defined(objects, how, *row))


@requirement("API-CON-019")
def test_kernel_names_its_parameters(icd: Icd, sandbox: Sandbox) -> None:
    """A kernel has its name, as many parameters as it was declared with, and their names, types and qualifiers."""

    def create(objects: IcdObjects, name: str = "declared") -> tuple[Info, Value]:
        program = built(objects, DECLARED, ARGUMENT_INFORMATION)
        return Info(objects), objects.made_by("clCreateKernel", program, name)

    def check_kernel(objects: IcdObjects) -> None:
        info, kernel = create(objects)
        assert info.text("clGetKernelInfo", kernel, "CL_KERNEL_FUNCTION_NAME") == "declared"
        assert info.number("clGetKernelInfo", kernel, "CL_KERNEL_NUM_ARGS") == len(PARAMETERS)

    def check(objects: IcdObjects, kernel_name: str, index: int) -> None:
        info, kernel = create(objects, kernel_name)
        name, type_, address, qualifiers = {"declared": PARAMETERS, "qualified": QUALIFIED}[kernel_name][index]
        function = "clGetKernelArgInfo"
        actual = info.text(function, kernel, index, "CL_KERNEL_ARG_NAME")
        assert actual == name, f"CL_KERNEL_ARG_NAME is {actual!r}, expected {name!r}"
        actual = info.text(function, kernel, index, "CL_KERNEL_ARG_TYPE_NAME")
        assert actual == type_, f"CL_KERNEL_ARG_TYPE_NAME is {actual!r}, expected {type_!r}"
        space = info.number(function, kernel, index, "CL_KERNEL_ARG_ADDRESS_QUALIFIER")
        assert space == api().constant(address), f"CL_KERNEL_ARG_ADDRESS_QUALIFIER is {space:#x}, expected {address}"
        access = info.number(function, kernel, index, "CL_KERNEL_ARG_ACCESS_QUALIFIER")
        assert access == CL.KERNEL_ARG_ACCESS_NONE, f"CL_KERNEL_ARG_ACCESS_QUALIFIER is {access:#x}"
        bits = info.number(function, kernel, index, "CL_KERNEL_ARG_TYPE_QUALIFIER")
        expected = flags_of(qualifiers) if isinstance(qualifiers, str) else 0
        allowed = {expected}
        if expected & CL.KERNEL_ARG_TYPE_RESTRICT and objects.device_version() < (3, 0):
            allowed.add(expected | CL.KERNEL_ARG_TYPE_CONST)  # of a type "with the restrict or const qualifier"
        assert bits in allowed, f"CL_KERNEL_ARG_TYPE_QUALIFIER is {bits:#x}, expected {expected:#x}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("the kernel", check_kernel)
        for index, (name, *_) in enumerate(PARAMETERS):
            row = "declared", index
            attempts.check(f"parameter {name}", lambda objects, row=row: check(objects, *row))  # type: ignore[misc]
        for index, (name, *_) in enumerate(QUALIFIED):
            row = "qualified", index
            attempts.check(f"qualified {name}", lambda objects, row=row: check(objects, *row))  # type: ignore[misc]


@requirement("API-CON-019")
def test_kernel_says_how_it_accesses_its_images(icd: Icd, sandbox: Sandbox) -> None:
    """An image that a kernel reads, and one that it writes, is such a parameter."""

    def check(objects: IcdObjects) -> None:
        objects.require_images()
        objects.require_function("clGetKernelArgInfo", objects.version())
        program = built(objects, IMAGES, ARGUMENT_INFORMATION)
        info, kernel = Info(objects), objects.made_by("clCreateKernel", program, "imaged")
        for index, name in enumerate(ACCESS):
            actual = info.number("clGetKernelArgInfo", kernel, index, "CL_KERNEL_ARG_ACCESS_QUALIFIER")
            expected = api().constant(ACCESS[name])
            assert actual == expected, (
                f"CL_KERNEL_ARG_ACCESS_QUALIFIER of {name} is {actual:#x}, expected {ACCESS[name]}"
            )

    with icd.attempts(sandbox) as attempts:
        attempts.check("images", check)


@requirement("API-CON-020")
def test_work_group_of_a_kernel_fits_its_device(icd: Icd, sandbox: Sandbox) -> None:
    """The work-group size of a kernel is not above that of its device; one that the kernel requires is reported."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        info, kernels = Info(objects), Kernels(objects)
        plain, fixed = kernels.kernel("clharness_sift"), kernels.kernel("clharness_fixed")
        function, device = "clGetKernelWorkGroupInfo", objects.device
        most = info.number("clGetDeviceInfo", device, "CL_DEVICE_MAX_WORK_GROUP_SIZE")
        size = info.number(function, plain, device, "CL_KERNEL_WORK_GROUP_SIZE")
        assert 1 <= size <= most, f"CL_KERNEL_WORK_GROUP_SIZE is {size}, and the device has {most}"
        multiple = info.number(function, plain, device, "CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE")
        assert multiple, "CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE is 0, of which no work-group size is a multiple"
        required = info.words(function, plain, device, "CL_KERNEL_COMPILE_WORK_GROUP_SIZE")
        assert required == [0, 0, 0], f"CL_KERNEL_COMPILE_WORK_GROUP_SIZE is {required}, expected zeros"
        required = info.words(function, fixed, device, "CL_KERNEL_COMPILE_WORK_GROUP_SIZE")
        assert required == [4, 2, 1], f"CL_KERNEL_COMPILE_WORK_GROUP_SIZE is {required}, expected 4, 2, 1"

    with icd.attempts(sandbox) as attempts:
        attempts.check("work-group sizes", check)


@requirement("API-CON-028")
def test_local_memory_of_a_kernel_counts_its_arguments(icd: Icd, sandbox: Sandbox) -> None:
    """The local memory of a kernel has room for its local arguments, as far as their sizes are set."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        info, kernels = Info(objects), Kernels(objects)
        kernel, function = kernels.kernel("clharness_exchange"), "clGetKernelWorkGroupInfo"
        for index, (size, least) in enumerate(((64, 64), (192, 256)), 1):
            kernels.set(kernel, index, None, size)
            answer = info.number(function, kernel, objects.device, "CL_KERNEL_LOCAL_MEM_SIZE")
            assert answer >= least, f"CL_KERNEL_LOCAL_MEM_SIZE is {answer}, with local arguments of {least} bytes"

    with icd.attempts(sandbox) as attempts:
        attempts.check("two local arguments", check)


@requirement("API-CON-029")
@pytest.mark.parametrize("name", ["clharness_one.h", "clharness/other.h"])
def test_header_is_included_by_its_name(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """A program that includes one of the headers that it is compiled with has the text of that, and not of another."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        objects.require_function("clCompileProgram", objects.version())
        headers = {"clharness_one.h": "kernel void one() {}\n", "clharness/other.h": "kernel void other() {}\n"}
        programs = [objects.with_source(text) for text in headers.values()]
        names = [objects.session.data(f"{header}\0".encode()) for header in headers]
        program = objects.with_source(f'#include "{name}"\n')
        error = objects.session.call("clCompileProgram", program, 0, None, None, 2, programs, names, None, None)
        objects.require("clCompileProgram", error)
        linked = objects.made_by("clLinkProgram", objects.context, 0, None, None, 1, [program], None, None)
        actual, expected = (
            Info(objects).text(PROGRAM, linked, "CL_PROGRAM_KERNEL_NAMES"),
            headers[name].split()[2][:-2],
        )
        assert actual == expected, f"the program that includes {name} has the kernels {actual!r}, expected {expected!r}"

    with icd.attempts(sandbox) as attempts:
        attempts.check(f"of two headers, {name}", check)


@requirement("API-CON-018")
def test_program_without_a_binary_has_the_size_zero(icd: Icd, sandbox: Sandbox) -> None:
    """A program of source has no binary before it is built, and one of some bytes afterwards."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        info, program = Info(objects), objects.with_source(TWO)
        sizes = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
        assert sizes == [0], f"CL_PROGRAM_BINARY_SIZES is {sizes} before the first build, expected 0"
        objects.build(program, OPTIONS)
        sizes = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
        assert len(sizes) == 1 and sizes[0] > 0, f"CL_PROGRAM_BINARY_SIZES is {sizes} of a program that was built"

    with icd.attempts(sandbox) as attempts:
        attempts.check("before and after a build", check)


@requirement("API-CON-025")
def test_kernel_says_what_attributes_it_has(icd: Icd, sandbox: Sandbox) -> None:
    """The attributes of a kernel are those of its source, white space aside; a kernel without any has none."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        info, kernels = Info(objects), Kernels(objects)
        for name, expected in (("clharness_sift", ""), ("clharness_fixed", "reqd_work_group_size(4,2,1)")):
            actual = info.text("clGetKernelInfo", kernels.kernel(name), "CL_KERNEL_ATTRIBUTES")
            assert "".join(actual.split()) == expected, f"CL_KERNEL_ATTRIBUTES is {actual!r}, expected {expected!r}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("attributes", check)
