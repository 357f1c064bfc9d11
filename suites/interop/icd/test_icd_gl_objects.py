# SPDX-License-Identifier: Apache-2.0
"""Memory objects of a vendor's ICD that are made of OpenGL's: what is refused, sizes, and their queries (GL-OBJ)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, FILL, GlPlatform, Icd, Sandbox, Value, api, extension, gl_platforms, requirement

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


def arguments(platform: GlPlatform, creator: str, name: int | None = None) -> list[Any]:
    """What follows the flags: the plain object of the creator's kind, or one of this name."""
    kind = {BUFFER: "buffer", TEXTURE: "texture", RENDERBUFFER: "renderbuffer"}[creator]
    number = platform.gl[kind, "plain"] if name is None else name
    return [TARGETS["plain"], 0, number] if creator == TEXTURE else [number]


def refused(
    platform: GlPlatform, creator: str, *rest: Any, flags: int = CL.MEM_READ_WRITE, context: Value | None = None
) -> int:
    """The error of an object that must not be made, with errcode_ret and without."""
    error, handle = platform.create(creator, flags, *rest, context=context)
    assert not handle
    owner = platform.tied.context if context is None else context
    assert not platform.session.call(creator, owner, flags, *rest, None)
    return error


def works(platform: GlPlatform, creator: str) -> bool:
    """The positive control: the plain object can be made."""
    return bool(platform.make(creator, CL.MEM_READ_WRITE, *arguments(platform, creator)))


@requirement("GL-OBJ-001")
@pytest.mark.parametrize("flag", [1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 9, 1 << 40], ids=hex)
@creators
def test_gl_object_flags_other_than_access_are_invalid_value(
    icd: Icd, sandbox: Sandbox, creator: str, flag: int
) -> None:
    """Other flags than the three of access are CL_INVALID_VALUE; each of the three is taken."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            rest = arguments(platform, creator)
            for access in (1, 2, 4):
                assert refused(platform, creator, *rest, flags=flag | access) == CL.INVALID_VALUE
                assert platform.make(creator, access, *rest)


@requirement("GL-OBJ-002")
@pytest.mark.parametrize("name", ["unused", "no_store", "empty"])
def test_value_that_is_not_a_gl_buffer_is_invalid_gl_object(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """A name that is not a buffer, one without a data store, and one of size 0, is CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            number = UNUSED if name == "unused" else platform.gl["buffer", name]
            assert refused(platform, BUFFER, number) == CL.INVALID_GL_OBJECT
            assert works(platform, BUFFER)


@requirement("GL-OBJ-003")
@pytest.mark.parametrize(("name", "size"), [("plain", 256), ("odd", 99)])
def test_gl_buffer_has_the_size_of_its_data_store(icd: Icd, sandbox: Sandbox, name: str, size: int) -> None:
    """A buffer has the size of the data store in OpenGL."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            answer = session.buffer(8, 0)
            query = api().constant("CL_MEM_SIZE")
            assert session.call("clGetMemObjectInfo", platform.buffer(name), query, 8, answer, None) == CL.SUCCESS
            assert answer.u64() == size


@requirement("GL-OBJ-004")
@creators
def test_plain_context_makes_no_gl_objects(icd: Icd, sandbox: Sandbox, creator: str) -> None:
    """A context that is not of OpenGL makes none of its objects."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            rest = arguments(platform, creator)
            error = refused(platform, creator, *rest, context=platform.plain.context)
            assert error in (CL.INVALID_CONTEXT, CL.INVALID_GL_SHAREGROUP_REFERENCE_KHR)
            assert works(platform, creator)


@requirement("GL-OBJ-005")
@pytest.mark.parametrize("target", [0, 0x0DE2, 0x8513, 0x8514, 0x851B, 0x8892, 0x8D41, 0x9009, 1 << 31], ids=hex)
def test_target_of_no_texture_is_invalid_value(icd: Icd, sandbox: Sandbox, target: int) -> None:
    """A target that is none of a texture's is CL_INVALID_VALUE, such as the cube map itself for a cube map.

    Others than that the texture is not of, which is CL_INVALID_GL_OBJECT.
    """
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            name = platform.gl["texture", "cube" if target == 0x8513 else "plain"]
            errors = (CL.INVALID_VALUE,) if target == 0x8513 else (CL.INVALID_VALUE, CL.INVALID_GL_OBJECT)
            assert refused(platform, TEXTURE, target, 0, name) in errors
            assert works(platform, TEXTURE)


@requirement("GL-OBJ-006")
@pytest.mark.parametrize("level", [-1, -(1 << 31), 5, 6, 1000])
def test_missing_level_of_a_texture_is_refused(icd: Icd, sandbox: Sandbox, level: int) -> None:
    """A level below 0, or beyond the last one, gives an error, and makes nothing."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            error, image = platform.create(
                TEXTURE, CL.MEM_READ_WRITE, TARGETS["plain"], level, platform.gl["texture", "plain"]
            )
            # A level that is not defined is CL_INVALID_GL_OBJECT, too; any above 0 may be CL_INVALID_OPERATION.
            if level >= 0:
                assert error in (CL.INVALID_MIP_LEVEL, CL.INVALID_GL_OBJECT, CL.INVALID_OPERATION)
            elif not platform.has("cl_khr_mipmap_image"):  # which makes an image of all levels
                assert error in (CL.INVALID_MIP_LEVEL, CL.INVALID_GL_OBJECT)
            assert bool(image) == (error == 0)
            assert works(platform, TEXTURE)


@requirement("GL-OBJ-006")
def test_level_above_0_makes_its_image_or_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """A level that is there makes an image of that level, or is refused as one above 0."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            error, image = platform.create(
                TEXTURE, CL.MEM_READ_WRITE, TARGETS["plain"], 1, platform.gl["texture", "plain"]
            )
            assert error in (0, CL.INVALID_MIP_LEVEL, CL.INVALID_OPERATION)
            assert bool(image) == (error == 0)
            assert not image or info(platform, image, "level") == 1
            assert works(platform, TEXTURE)


@requirement("GL-OBJ-007")
@pytest.mark.parametrize("what", ["other target", "unused", "unbound", "incomplete", "empty"])
def test_texture_that_does_not_match_is_invalid_gl_object(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A texture of another target, one that is none, an incomplete and an empty one, are CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            if what == "other target":
                name = platform.gl["texture", "plain"]
                for target in (TARGETS["three_dimensions"], TARGETS["array"], FACES[0]):
                    assert refused(platform, TEXTURE, target, 0, name) == CL.INVALID_GL_OBJECT
            else:
                name = UNUSED if what == "unused" else platform.gl["texture", what]
                assert refused(platform, TEXTURE, TARGETS["plain"], 0, name) == CL.INVALID_GL_OBJECT
            assert works(platform, TEXTURE)


@requirement("GL-OBJ-007")
@pytest.mark.parametrize("what", ["unused", "empty"])
def test_value_that_is_not_a_renderbuffer_is_invalid_gl_object(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A name that is not a renderbuffer, and one without extent, is CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            name = UNUSED if what == "unused" else platform.gl["renderbuffer", what]
            assert refused(platform, RENDERBUFFER, name) == CL.INVALID_GL_OBJECT
            assert works(platform, RENDERBUFFER)


@requirement("GL-OBJ-008")
@pytest.mark.parametrize("creator", [TEXTURE, RENDERBUFFER])
def test_format_without_a_mapping_is_invalid_format(icd: Icd, sandbox: Sandbox, creator: str) -> None:
    """An internal format that no image format of OpenCL can hold is CL_INVALID_IMAGE_FORMAT_DESCRIPTOR."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            kind = "texture" if creator == TEXTURE else "renderbuffer"
            rest = arguments(platform, creator, platform.gl[kind, "unmapped"])
            assert refused(platform, creator, *rest) == CL.INVALID_IMAGE_FORMAT_DESCRIPTOR
            assert works(platform, creator)


@requirement("GL-OBJ-009")
@pytest.mark.parametrize("what", ["border", "multisample"])
def test_border_and_samples_are_invalid_operation(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A texture with a border, and a renderbuffer with several samples, are CL_INVALID_OPERATION."""
    creator = TEXTURE if what == "border" else RENDERBUFFER
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            kind = "texture" if creator == TEXTURE else "renderbuffer"
            rest = arguments(platform, creator, platform.gl[kind, what])
            assert refused(platform, creator, *rest) == CL.INVALID_OPERATION
            assert works(platform, creator)


@requirement("GL-OBJ-010")
@creators
def test_gl_object_of_name_0_is_refused(icd: Icd, sandbox: Sandbox, creator: str) -> None:
    """The default objects of OpenGL, which have the name 0, cannot be shared."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            assert refused(platform, creator, *arguments(platform, creator, 0)) == CL.INVALID_GL_OBJECT
            assert works(platform, creator)


def acquired(platform: GlPlatform, memory: Value, release: bool = False) -> None:
    function = "clEnqueueReleaseGLObjects" if release else "clEnqueueAcquireGLObjects"
    assert platform.session.call(function, platform.tied.queue, 1, [memory], 0, None, None) == CL.SUCCESS


def content(platform: GlPlatform, buffer: Value) -> bytes:
    """What OpenCL reads of the first 64 bytes of a buffer that is acquired."""
    read = platform.session.buffer(64, 0)
    result = platform.session.call("clEnqueueReadBuffer", platform.tied.queue, buffer, 1, 0, 64, read, 0, None, None)
    assert result == CL.SUCCESS
    return read.bytes()


@requirement("GL-OBJ-011")
def test_data_outlives_its_deleted_gl_name(icd: Icd, sandbox: Sandbox) -> None:
    """The data of a buffer can be used as before when OpenGL has deleted its name."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            platform.gl.do("current")
            platform.gl.do("fill buffer plain")
            platform.gl.do("finish")
            buffer = platform.buffer()
            acquired(platform, buffer)
            assert content(platform, buffer) == bytes([FILL]) * 64
            acquired(platform, buffer, release=True)
            assert session.call("clFinish", platform.tied.queue) == CL.SUCCESS
            platform.gl.do("delete buffer plain")
            acquired(platform, buffer)
            assert content(platform, buffer) == bytes([FILL]) * 64


def objects_of_each_type(platform: GlPlatform) -> list[tuple[str, Value, int]]:
    """An object of each creator and target that the machine has: its type, and its name in OpenGL."""
    objects = [("BUFFER", platform.buffer(), platform.gl["buffer", "plain"])]
    name = platform.gl["renderbuffer", "plain"]
    objects += [("RENDERBUFFER", platform.make(RENDERBUFFER, CL.MEM_READ_WRITE, name), name)]
    objects += [("TEXTURE2D", platform.texture(), platform.gl["texture", "plain"])]
    return objects


@requirement("GL-OBJ-013")
def test_gl_object_info_gives_type_and_name(icd: Icd, sandbox: Sandbox) -> None:
    """clGetGLObjectInfo answers the type and the name that the object was made of; either output may be NULL."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            for kind, memory, name in objects_of_each_type(platform):
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
}


@requirement("GL-OBJ-013", "GL-OBJ-014")
@pytest.mark.parametrize(
    ("name", "target"),
    [*TARGETS.items(), *(("cube", face) for face in FACES)],
    ids=lambda part: part if isinstance(part, str) else f"{part:#x}",
)
def test_image_of_each_target_has_its_type_name_and_level(icd: Icd, sandbox: Sandbox, name: str, target: int) -> None:
    """A texture of each target is of the type that the target tells, and has its name, target and level.

    The type of a cube map's face, and of a rectangle, is not said.
    """
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            image, kind, number = platform.texture(name, target), session.buffer(4), session.buffer(4)
            assert session.call("clGetGLObjectInfo", image, kind, number) == CL.SUCCESS
            assert name not in TYPES or kind.u32() == api().constant(f"CL_GL_OBJECT_{TYPES[name]}")
            assert number.u32() == platform.gl["texture", name]
            assert info(platform, image, "target") == target
            assert info(platform, image, "level") == 0


def info(platform: GlPlatform, image: Value, query: str) -> int:
    answer = platform.session.buffer(4)
    assert platform.session.call("clGetGLTextureInfo", image, QUERIES[query], 4, answer, None) == CL.SUCCESS
    return answer.u32()


@requirement("GL-OBJ-013")
def test_gl_object_info_of_a_plain_object_is_invalid_gl_object(icd: Icd, sandbox: Sandbox) -> None:
    """clGetGLObjectInfo of a memory object that is not of OpenGL is CL_INVALID_GL_OBJECT, in any context."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            for memory in (platform.plain.mem, platform.tied.mem):
                assert session.call("clGetGLObjectInfo", memory, session.buffer(4), None) == CL.INVALID_GL_OBJECT
            assert session.call("clGetGLObjectInfo", platform.buffer(), session.buffer(4), None) == CL.SUCCESS


QUERIES = {"target": api().constant("CL_GL_TEXTURE_TARGET"), "level": api().constant("CL_GL_MIPMAP_LEVEL")}


@requirement("GL-OBJ-014")
@pytest.mark.parametrize("query", QUERIES)
def test_texture_info_gives_target_and_level(icd: Icd, sandbox: Sandbox, query: str) -> None:
    """clGetGLTextureInfo answers what the image was made of, into enough room, and nothing without an output."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            image = platform.texture()
            size, answer = session.buffer(8), session.buffer(4)
            function, number = "clGetGLTextureInfo", QUERIES[query]
            assert session.call(function, image, number, 0, None, size) == CL.SUCCESS
            assert size.u64() == 4
            assert session.call(function, image, number, 4, answer, None) == CL.SUCCESS
            assert answer.u32() == (TARGETS["plain"] if query == "target" else 0)
            for room in range(4):
                short = session.buffer(4)
                assert session.call(function, image, number, room, short, None) == CL.INVALID_VALUE
                assert short[room:] == b"\xa5" * (4 - room)
            assert session.call(function, image, number, 0, None, None) == CL.INVALID_VALUE
            assert session.call(function, image, number, 4, None, None) == CL.INVALID_VALUE


@requirement("GL-OBJ-014")
@pytest.mark.parametrize("query", [0, 0x2003, 0x2006, 0xFFFFFFFF], ids=hex)
def test_unknown_query_of_a_texture_is_invalid_value(icd: Icd, sandbox: Sandbox, query: int) -> None:
    """A query that clGetGLTextureInfo does not have is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            image, answer = platform.texture(), session.buffer(8)
            assert session.call("clGetGLTextureInfo", image, query, 8, answer, None) == CL.INVALID_VALUE
            assert session.call("clGetGLTextureInfo", image, QUERIES["target"], 8, answer, None) == CL.SUCCESS


@requirement("GL-OBJ-014")
def test_texture_info_of_a_buffer_is_invalid_gl_object(icd: Icd, sandbox: Sandbox) -> None:
    """clGetGLTextureInfo of an object that is not a texture is CL_INVALID_GL_OBJECT."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            answer, query = session.buffer(4), QUERIES["target"]
            for memory in (platform.buffer(), platform.plain.mem):
                assert session.call("clGetGLTextureInfo", memory, query, 4, answer, None) == CL.INVALID_GL_OBJECT
            assert session.call("clGetGLTextureInfo", platform.texture(), query, 4, answer, None) == CL.SUCCESS


def command(platform: GlPlatform, function: str, image: Value, buffer: Value) -> int:
    """A command that reads, writes, copies, maps or fills one pixel of an image."""
    session, queue = platform.session, platform.tied.queue
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
    extension_name = "cl_khr_gl_depth_images" if what == "depth_stencil" else "cl_khr_gl_msaa_sharing"
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, extension_name):
            target = 0x9100 if what == "multisample" else TARGETS["plain"]
            name = platform.gl["texture", what]
            image = platform.make(TEXTURE, api().constant("CL_MEM_READ_ONLY"), target, 0, name)
            plain = platform.texture()
            for memory in (image, plain):
                acquired(platform, memory)
            assert command(platform, function, image, platform.tied.mem) == CL.INVALID_OPERATION
            assert command(platform, function, plain, platform.tied.mem) == 0
