# SPDX-License-Identifier: Apache-2.0
"""Memory objects of a vendor's ICD that are made of OpenGL's: what is refused, sizes, and their queries (GL-OBJ)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, FILL, Icd, Sandbox, Sharing, Value, api, extension, requirement, sharing

pytestmark = extension("cl_khr_gl_sharing")

BUFFER, TEXTURE, RENDERBUFFER = "clCreateFromGLBuffer", "clCreateFromGLTexture", "clCreateFromGLRenderbuffer"
TARGETS = {
    "plain": 0x0DE1,
    "one_dimension": 0x0DE0,
    "one_dimension_array": 0x8C18,
    "array": 0x8C1A,
    "three_dimensions": 0x806F,
    "of_buffer": 0x8C2A,
    "rectangle": 0x84F5,
}
FACES = range(0x8515, 0x851B)  # of GL_TEXTURE_CUBE_MAP
UNUSED = 0x7FFF0001  # no object has this name

creators = pytest.mark.parametrize("creator", [BUFFER, TEXTURE, RENDERBUFFER])


def arguments(shared: Sharing, creator: str, name: int | None = None) -> list[Any]:
    """What follows the flags: the plain object of the creator's kind, or one of this name."""
    kind = {BUFFER: "buffer", TEXTURE: "texture", RENDERBUFFER: "renderbuffer"}[creator]
    number = shared.world[kind, "plain"] if name is None else name
    return [TARGETS["plain"], 0, number] if creator == TEXTURE else [number]


def refused(
    shared: Sharing, creator: str, *rest: Any, flags: int = CL.MEM_READ_WRITE, context: Value | None = None
) -> int:
    """The error of an object that must not be made, with errcode_ret and without."""
    error, made = shared.create(creator, flags, *rest, context=context)
    assert not made
    owner = shared.tied.context if context is None else context
    assert not shared.session.call(creator, owner, flags, *rest, None)
    return error


def works(shared: Sharing, creator: str) -> bool:
    """The positive control: the plain object can be made."""
    return bool(shared.made(creator, CL.MEM_READ_WRITE, *arguments(shared, creator)))


@requirement("GL-OBJ-001")
@pytest.mark.parametrize("flag", [1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 9, 1 << 40], ids=hex)
@creators
def test_gl_object_flags_other_than_access_are_invalid_value(
    icd: Icd, sandbox: Sandbox, creator: str, flag: int
) -> None:
    """Other flags than the three of access are CL_INVALID_VALUE; each of the three is taken."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            rest = arguments(shared, creator)
            for access in (1, 2, 4):
                assert refused(shared, creator, *rest, flags=flag | access) == CL.INVALID_VALUE
                assert shared.made(creator, access, *rest)


@requirement("GL-OBJ-002")
@pytest.mark.parametrize("name", ["unused", "no_store", "empty"])
def test_value_that_is_not_a_gl_buffer_is_invalid_gl_object(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """A name that is not a buffer, one without a data store, and one of size 0, is CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            number = UNUSED if name == "unused" else shared.world["buffer", name]
            assert refused(shared, BUFFER, number) == CL.INVALID_GL_OBJECT
            assert works(shared, BUFFER)


@requirement("GL-OBJ-003")
@pytest.mark.parametrize(("name", "size"), [("plain", 256), ("odd", 99)])
def test_gl_buffer_has_the_size_of_its_data_store(icd: Icd, sandbox: Sandbox, name: str, size: int) -> None:
    """A buffer has the size of the data store in OpenGL."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            answer = session.buffer(8, 0)
            query = api().constant("CL_MEM_SIZE")
            assert session.call("clGetMemObjectInfo", shared.buffer(name), query, 8, answer, None) == CL.SUCCESS
            assert answer.u64() == size


@requirement("GL-OBJ-004")
@creators
def test_plain_context_makes_no_gl_objects(icd: Icd, sandbox: Sandbox, creator: str) -> None:
    """A context that is not of OpenGL makes none of its objects."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            rest = arguments(shared, creator)
            error = refused(shared, creator, *rest, context=shared.plain.context)
            assert error in (CL.INVALID_CONTEXT, CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR)
            assert works(shared, creator)


@requirement("GL-OBJ-005")
@pytest.mark.parametrize("target", [0, 0x0DE2, 0x8513, 0x8514, 0x851B, 0x8892, 0x8D41, 0x9009, 1 << 31], ids=hex)
def test_target_of_no_texture_is_invalid_value(icd: Icd, sandbox: Sandbox, target: int) -> None:
    """A target that is none of a texture's, such as the cube map itself, is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            name = shared.world["texture", "cube" if target == 0x8513 else "plain"]
            assert refused(shared, TEXTURE, target, 0, name) == CL.INVALID_VALUE
            assert works(shared, TEXTURE)


@requirement("GL-OBJ-006")
@pytest.mark.parametrize("level", [-1, -(1 << 31), 5, 6, 1000])
def test_missing_level_of_a_texture_is_refused(icd: Icd, sandbox: Sandbox, level: int) -> None:
    """A level below 0, or beyond the last one, gives an error, and makes nothing."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            error, image = shared.create(
                TEXTURE, CL.MEM_READ_WRITE, TARGETS["plain"], level, shared.world["texture", "plain"]
            )
            if level >= 0:
                # A level that is not defined is CL_INVALID_GL_OBJECT, too; any above 0 may be CL_INVALID_OPERATION.
                assert error in (CL.INVALID_MIP_LEVEL, CL.INVALID_GL_OBJECT, CL.INVALID_OPERATION)
            elif not shared.has("cl_khr_mipmap_image"):  # which makes an image of all levels
                assert error == CL.INVALID_MIP_LEVEL
            assert bool(image) == (error == 0)
            assert works(shared, TEXTURE)


@requirement("GL-OBJ-006")
def test_level_above_0_makes_its_image_or_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """A level that is there makes an image of that level, or is refused as one above 0."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            error, image = shared.create(
                TEXTURE, CL.MEM_READ_WRITE, TARGETS["plain"], 1, shared.world["texture", "plain"]
            )
            assert error in (0, CL.INVALID_MIP_LEVEL, CL.INVALID_OPERATION)
            assert bool(image) == (error == 0)
            assert not image or info(shared, image, "level") == 1
            assert works(shared, TEXTURE)


@requirement("GL-OBJ-007")
@pytest.mark.parametrize("what", ["other target", "unused", "unbound", "incomplete", "empty"])
def test_texture_that_does_not_match_is_invalid_gl_object(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A texture of another target, one that is none, an incomplete and an empty one, are CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            if what == "other target":
                name = shared.world["texture", "plain"]
                for target in (TARGETS["three_dimensions"], TARGETS["array"], FACES[0]):
                    assert refused(shared, TEXTURE, target, 0, name) == CL.INVALID_GL_OBJECT
            else:
                name = UNUSED if what == "unused" else shared.world["texture", what]
                assert refused(shared, TEXTURE, TARGETS["plain"], 0, name) == CL.INVALID_GL_OBJECT
            assert works(shared, TEXTURE)


@requirement("GL-OBJ-007")
@pytest.mark.parametrize("what", ["unused", "empty"])
def test_value_that_is_not_a_renderbuffer_is_invalid_gl_object(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A name that is not a renderbuffer, and one without extent, is CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            name = UNUSED if what == "unused" else shared.world["renderbuffer", what]
            assert refused(shared, RENDERBUFFER, name) == CL.INVALID_GL_OBJECT
            assert works(shared, RENDERBUFFER)


@requirement("GL-OBJ-008")
@pytest.mark.parametrize("creator", [TEXTURE, RENDERBUFFER])
def test_format_without_a_mapping_is_invalid_format(icd: Icd, sandbox: Sandbox, creator: str) -> None:
    """An internal format that no image format of OpenCL can hold is CL_INVALID_IMAGE_FORMAT_DESCRIPTOR."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            kind = "texture" if creator == TEXTURE else "renderbuffer"
            rest = arguments(shared, creator, shared.world[kind, "unmapped"])
            assert refused(shared, creator, *rest) == CL.INVALID_IMAGE_FORMAT_DESCRIPTOR
            assert works(shared, creator)


@requirement("GL-OBJ-009")
@pytest.mark.parametrize("what", ["border", "multisample"])
def test_border_and_samples_are_invalid_operation(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A texture with a border, and a renderbuffer with several samples, are CL_INVALID_OPERATION."""
    creator = TEXTURE if what == "border" else RENDERBUFFER
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            kind = "texture" if creator == TEXTURE else "renderbuffer"
            rest = arguments(shared, creator, shared.world[kind, what])
            assert refused(shared, creator, *rest) == CL.INVALID_OPERATION
            assert works(shared, creator)


@requirement("GL-OBJ-010")
@creators
def test_gl_object_of_name_0_is_refused(icd: Icd, sandbox: Sandbox, creator: str) -> None:
    """The default objects of OpenGL, which have the name 0, cannot be shared."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            assert refused(shared, creator, *arguments(shared, creator, 0)) == CL.INVALID_GL_OBJECT
            assert works(shared, creator)


def acquired(shared: Sharing, memory: Value, release: bool = False) -> None:
    function = "clEnqueueReleaseGLObjects" if release else "clEnqueueAcquireGLObjects"
    assert shared.session.call(function, shared.tied.queue, 1, [memory], 0, None, None) == CL.SUCCESS


def content(shared: Sharing, buffer: Value) -> bytes:
    """What OpenCL reads of the first 64 bytes of a buffer that is acquired."""
    read = shared.session.buffer(64, 0)
    result = shared.session.call("clEnqueueReadBuffer", shared.tied.queue, buffer, 1, 0, 64, read, 0, None, None)
    assert result == CL.SUCCESS
    return read.bytes()


@requirement("GL-OBJ-011")
def test_data_outlives_its_deleted_gl_name(icd: Icd, sandbox: Sandbox) -> None:
    """The data of a buffer can be used as before when OpenGL has deleted its name."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            shared.world.do("current")
            shared.world.do("fill buffer plain")
            shared.world.do("finish")
            buffer = shared.buffer()
            acquired(shared, buffer)
            assert content(shared, buffer) == bytes([FILL]) * 64
            acquired(shared, buffer, release=True)
            assert session.call("clFinish", shared.tied.queue) == CL.SUCCESS
            shared.world.do("delete buffer plain")
            acquired(shared, buffer)
            assert content(shared, buffer) == bytes([FILL]) * 64


def objects_of_each_type(shared: Sharing) -> list[tuple[str, Value, int]]:
    """An object of each creator and target that the machine has: its type, and its name in OpenGL."""
    found = [("BUFFER", shared.buffer(), shared.world["buffer", "plain"])]
    name = shared.world["renderbuffer", "plain"]
    found += [("RENDERBUFFER", shared.made(RENDERBUFFER, CL.MEM_READ_WRITE, name), name)]
    found += [("TEXTURE2D", shared.texture(), shared.world["texture", "plain"])]
    return found


@requirement("GL-OBJ-013")
def test_gl_object_info_gives_type_and_name(icd: Icd, sandbox: Sandbox) -> None:
    """clGetGLObjectInfo answers the type and the name that the object was made of; either output may be NULL."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            for kind, memory, name in objects_of_each_type(shared):
                kinds, names = session.buffer(4), session.buffer(4)
                assert session.call("clGetGLObjectInfo", memory, kinds, names) == CL.SUCCESS
                assert (kinds.u32(), names.u32()) == (api().constant(f"CL_GL_OBJECT_{kind}"), name)
                assert session.call("clGetGLObjectInfo", memory, kinds, None) == CL.SUCCESS
                assert session.call("clGetGLObjectInfo", memory, None, names) == CL.SUCCESS
                assert session.call("clGetGLObjectInfo", memory, None, None) == CL.SUCCESS


TYPES = {
    "plain": "TEXTURE2D",
    "one_dimension": "TEXTURE1D",
    "one_dimension_array": "TEXTURE1D_ARRAY",
    "array": "TEXTURE2D_ARRAY",
    "three_dimensions": "TEXTURE3D",
    "of_buffer": "TEXTURE_BUFFER",
    "rectangle": "TEXTURE2D",
}


@requirement("GL-OBJ-013", "GL-OBJ-014")
@pytest.mark.parametrize(
    ("name", "target"),
    [*TARGETS.items(), *(("cube", face) for face in FACES)],
    ids=lambda part: part if isinstance(part, str) else f"{part:#x}",
)
def test_image_of_each_target_has_its_type_name_and_level(icd: Icd, sandbox: Sandbox, name: str, target: int) -> None:
    """A texture of each target is of the type that the target tells, and has its name, target and level."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            image, kind, number = shared.texture(name, target), session.buffer(4), session.buffer(4)
            assert session.call("clGetGLObjectInfo", image, kind, number) == CL.SUCCESS
            assert kind.u32() == api().constant(f"CL_GL_OBJECT_{TYPES.get(name, 'TEXTURE2D')}")
            assert number.u32() == shared.world["texture", name]
            assert info(shared, image, "target") == target
            assert info(shared, image, "level") == 0


def info(shared: Sharing, image: Value, query: str) -> int:
    answer = shared.session.buffer(4)
    assert shared.session.call("clGetGLTextureInfo", image, QUERIES[query], 4, answer, None) == CL.SUCCESS
    return answer.u32()


@requirement("GL-OBJ-013")
def test_gl_object_info_of_a_plain_object_is_invalid_gl_object(icd: Icd, sandbox: Sandbox) -> None:
    """clGetGLObjectInfo of a memory object that is not of OpenGL is CL_INVALID_GL_OBJECT, in any context."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            for memory in (shared.plain.mem, shared.tied.mem):
                assert session.call("clGetGLObjectInfo", memory, session.buffer(4), None) == CL.INVALID_GL_OBJECT
            assert session.call("clGetGLObjectInfo", shared.buffer(), session.buffer(4), None) == CL.SUCCESS


QUERIES = {"target": api().constant("CL_GL_TEXTURE_TARGET"), "level": api().constant("CL_GL_MIPMAP_LEVEL")}


@requirement("GL-OBJ-014")
@pytest.mark.parametrize("query", QUERIES)
def test_texture_info_gives_target_and_level(icd: Icd, sandbox: Sandbox, query: str) -> None:
    """clGetGLTextureInfo answers what the image was made of, into enough room, and nothing without an output."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            image = shared.texture()
            size, answer = session.buffer(8), session.buffer(4)
            function, number = "clGetGLTextureInfo", QUERIES[query]
            assert session.call(function, image, number, 0, None, size) == CL.SUCCESS
            assert size.u64() == 4
            assert session.call(function, image, number, 4, answer, None) == CL.SUCCESS
            assert answer.u32() == (TARGETS["plain"] if query == "target" else 0)
            for room in range(4):
                short = session.buffer(4)
                assert session.call(function, image, number, room, short, None) == CL.INVALID_VALUE
                assert short.bytes() == b"\xa5" * 4
            assert session.call(function, image, number, 0, None, None) == CL.INVALID_VALUE
            assert session.call(function, image, number, 4, None, None) == CL.INVALID_VALUE


@requirement("GL-OBJ-014")
@pytest.mark.parametrize("query", [0, 0x2003, 0x2006, 0xFFFFFFFF], ids=hex)
def test_unknown_query_of_a_texture_is_invalid_value(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """A query that clGetGLTextureInfo does not have is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            image, answer = shared.texture(), session.buffer(8)
            assert session.call("clGetGLTextureInfo", image, query, 8, answer, None) == CL.INVALID_VALUE
            assert session.call("clGetGLTextureInfo", image, QUERIES["target"], 8, answer, None) == CL.SUCCESS


@requirement("GL-OBJ-014")
def test_texture_info_of_a_buffer_is_invalid_gl_object(icd: Icd, sandbox: Sandbox) -> None:
    """clGetGLTextureInfo of an object that is not a texture is CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for shared in sharing(session):
            answer, query = session.buffer(4), QUERIES["target"]
            for memory in (shared.buffer(), shared.plain.mem):
                assert session.call("clGetGLTextureInfo", memory, query, 4, answer, None) == CL.INVALID_GL_OBJECT
            assert session.call("clGetGLTextureInfo", shared.texture(), query, 4, answer, None) == CL.SUCCESS


def command(shared: Sharing, function: str, image: Value, buffer: Value) -> int:
    """A command that reads, writes, copies, maps or fills one pixel of an image."""
    session, queue = shared.session, shared.tied.queue
    origin, region, memory = session.words([0, 0, 0]), session.words([1, 1, 1]), session.buffer(64, 0)
    events = (0, None, None)
    if function == "clEnqueueMapImage":
        code = session.buffer(4)
        session.call(function, queue, image, 1, 1, origin, region, session.buffer(8), session.buffer(8), *events, code)
        return code.code()
    rest: dict[str, tuple[Any, ...]] = {
        "clEnqueueReadImage": (image, 1, origin, region, 0, 0, memory),
        "clEnqueueWriteImage": (image, 1, origin, region, 0, 0, memory),
        "clEnqueueCopyImage": (image, image, origin, session.words([1, 1, 0]), region),
        "clEnqueueCopyImageToBuffer": (image, buffer, origin, region, 0),
        "clEnqueueCopyBufferToImage": (buffer, image, 0, origin, region),
        "clEnqueueFillImage": (image, memory, origin, region),
    }
    return session.call(function, queue, *rest[function], *events)


COMMANDS = [f"clEnqueue{n}Image" for n in ("Read", "Write", "Copy", "Map", "Fill")]
COMMANDS += ["clEnqueueCopyImageToBuffer", "clEnqueueCopyBufferToImage"]


@requirement("GL-OBJ-015")
@pytest.mark.parametrize("what", ["depth_stencil", "multisample"])
@pytest.mark.parametrize("function", COMMANDS)
def test_image_for_kernels_only_is_refused_by_commands(icd: Icd, sandbox: Sandbox, function: str, what: str) -> None:
    """Commands that read, write, copy, map and fill refuse depth-stencil and multi-sample images."""
    wanted = "cl_khr_gl_depth_images" if what == "depth_stencil" else "cl_khr_gl_msaa_sharing"
    with icd.open(sandbox) as session:
        for shared in sharing(session, wanted):
            target = 0x9100 if what == "multisample" else TARGETS["plain"]
            name = shared.world["texture", what]
            image = shared.made(TEXTURE, api().constant("CL_MEM_READ_ONLY"), target, 0, name)
            plain = shared.texture()
            for memory in (image, plain):
                acquired(shared, memory)
            assert command(shared, function, image, shared.tied.mem) == CL.INVALID_OPERATION
            assert command(shared, function, plain, shared.tied.mem) == 0
