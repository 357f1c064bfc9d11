# SPDX-License-Identifier: Apache-2.0
"""What images hold after the commands that move data: every kind, every format, origins and pitches (API-DAT)."""

from __future__ import annotations

import struct

import pytest

from harness.check import (
    CL,
    PLAIN_FORMAT,
    SHAPES,
    Format,
    Icd,
    IcdObjects,
    Images,
    Layout,
    Sandbox,
    Value,
    api,
    copied,
    expect_same,
    layout_of,
    numbered,
    requirement,
    with_bytes,
)

# A part of an image of each kind: its origin and its region.
PARTS = {
    "CL_MEM_OBJECT_IMAGE1D": ((5, 0, 0), (6, 1, 1)),
    "CL_MEM_OBJECT_IMAGE2D": ((4, 2, 0), (6, 3, 1)),
    "CL_MEM_OBJECT_IMAGE3D": ((4, 2, 1), (6, 3, 2)),
    "CL_MEM_OBJECT_IMAGE1D_ARRAY": ((4, 3, 0), (6, 2, 1)),
    "CL_MEM_OBJECT_IMAGE2D_ARRAY": ((4, 2, 1), (6, 3, 2)),
    "CL_MEM_OBJECT_IMAGE1D_BUFFER": ((5, 0, 0), (6, 1, 1)),
}
NO_ORIGIN = (0, 0, 0)


def harmless(size: int, seed: int = 0) -> bytes:
    """Bytes of pixels that are plain numbers in every format: no NaN, and no two patterns of one value."""
    return bytes(1 + byte % 62 for byte in numbered(size, seed))


def whole(kind: str, image_format: Format, seed: int) -> bytes:
    width, height, depth = SHAPES[kind]
    return harmless(width * height * depth * image_format.size, seed)


def bytes_of(region: tuple[int, int, int], image_format: Format) -> tuple[int, int, int]:
    """A region whose rows are counted in bytes."""
    return region[0] * image_format.size, region[1], region[2]


def image_with(images: Images, kind: str, image_format: Format, content: bytes) -> Value:
    """An image that kernels may read, which is what `Images.require` asks for a format."""
    flags = "CL_MEM_READ_WRITE" if image_format == PLAIN_FORMAT else "CL_MEM_READ_ONLY"
    image = images.image(kind, image_format, flags)
    images.write(image, NO_ORIGIN, SHAPES[kind], content)
    return image


@requirement("API-DAT-011")
@pytest.mark.parametrize("kind", PARTS)
def test_part_of_an_image_is_written_and_read(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """What is written to an image is read of it, the whole and a part, and nothing beside the part changes."""

    def check(objects: IcdObjects, row: int) -> None:
        images = Images(objects)
        images.require(kind, PLAIN_FORMAT)
        before, new = whole(kind, PLAIN_FORMAT, 1), whole(kind, PLAIN_FORMAT, 2)
        image = image_with(images, kind, PLAIN_FORMAT, before)
        origin, region = PARTS[kind]
        own = layout_of(kind, 4, origin)
        narrow = bytes_of(region, PLAIN_FORMAT)
        images.write(image, origin, region, new, row)
        expected = copied(new, Layout(NO_ORIGIN, row), before, own, narrow)
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], 4), expected, "the image")
        part = copied(expected, own, bytes(24 * region[1] * region[2]), Layout(NO_ORIGIN), narrow)
        expect_same(images.read(image, origin, region, 4), part, "the part")

    with icd.attempts(sandbox) as attempts:
        attempts.check("smallest pitch", lambda objects: check(objects, 0))
        if PARTS[kind][1][2] == 1 and "ARRAY" not in kind:
            attempts.check("row pitch", lambda objects: check(objects, 40))


# Row and slice pitch of the host's memory in bytes, 0 for the smallest, and how far its rows and slices then lie apart.
PITCHES = {"both pitches": (32, 160, 32, 160), "row pitch": (32, 0, 32, 96), "slice pitch": (0, 160, 24, 160)}


@requirement("API-DAT-011")
@pytest.mark.parametrize("kind", ["CL_MEM_OBJECT_IMAGE3D", "CL_MEM_OBJECT_IMAGE2D_ARRAY"])
def test_slices_of_an_image_lie_apart_as_pitches_say(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """Rows and slices of the host's memory lie as far apart as its pitches say, and gaps stay as they were."""

    def check(objects: IcdObjects, name: str) -> None:
        row, slice_, *apart = PITCHES[name]
        images, session = Images(objects), objects.session
        images.require(kind, PLAIN_FORMAT)
        before, host = whole(kind, PLAIN_FORMAT, 1), harmless(512, 3)
        image = image_with(images, kind, PLAIN_FORMAT, before)
        origin, region = PARTS[kind]
        narrow, own, far = bytes_of(region, PLAIN_FORMAT), layout_of(kind, 4, origin), Layout(NO_ORIGIN, *apart)
        words = session.words(list(origin)), session.words(list(region))
        to = session.data(host)
        images.succeed("clEnqueueReadImage", images.queue, image, 1, *words, row, slice_, to, 0, None, None)
        expect_same(to.bytes(), copied(before, own, host, far, narrow), "the host's memory")
        source = session.data(host)
        images.succeed("clEnqueueWriteImage", images.queue, image, 1, *words, row, slice_, source, 0, None, None)
        expected = copied(host, far, before, own, narrow)
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], 4), expected, "the image")

    with icd.attempts(sandbox) as attempts:
        for name in PITCHES:
            attempts.check(name, lambda objects, name=name: check(objects, name))  # type: ignore[misc]


# Row and slice pitch in pixels of what an image is made of, by what is given; 0 for the smallest.
MADE_OF = {
    "rows without gaps": (0, 0),
    "row pitch": (16, 0),
    "slice pitch": (0, 13 * 9),
    "both pitches": (16, 16 * 9),
}
ARRAYS = ("CL_MEM_OBJECT_IMAGE3D", "CL_MEM_OBJECT_IMAGE1D_ARRAY", "CL_MEM_OBJECT_IMAGE2D_ARRAY")


@requirement("API-DAT-016")
@pytest.mark.parametrize("kind", [kind for kind in PARTS if not kind.endswith("BUFFER")])
def test_image_begins_with_the_hosts_content(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """An image made with CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR has the pixels that lie as its pitches say."""

    def check(objects: IcdObjects, flags: str, name: str) -> None:
        images = Images(objects)
        images.require(kind, PLAIN_FORMAT)
        row, slice_ = (4 * pitch for pitch in MADE_OF[name])
        width, height, depth = SHAPES[kind]
        region = (4 * width, height, depth)
        content = harmless(16 * 4 * 9 * 6, 5)
        host = images.session.data(content)
        image = images.image(kind, PLAIN_FORMAT, flags, host=host, pitches=(row, slice_))
        if "COPY" in flags:
            host.fill(0)
        lines = "1D_ARRAY" in kind and slice_  # each line is a slice
        far = Layout(NO_ORIGIN, slice_ if lines else row, 0 if lines else slice_)
        blank = bytes(4 * width * height * depth)
        expected = copied(content, far, blank, Layout(NO_ORIGIN), region)
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], 4), expected, "the image")

    with icd.attempts(sandbox) as attempts:
        for flags in ("CL_MEM_COPY_HOST_PTR", "CL_MEM_USE_HOST_PTR"):
            for name in MADE_OF:
                if kind in ARRAYS or ("slice" not in name and "both" not in name):
                    label = f"{flags}, {name}"
                    attempts.check(label, lambda o, row=(flags, name): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-012")
def test_pixels_of_every_format_are_kept(icd: Icd, sandbox: Sandbox) -> None:
    """An image of each format that is listed as supported keeps its pixels, which have the size of the format."""

    def check(objects: IcdObjects, image_format: Format) -> None:
        images = Images(objects)
        kind = "CL_MEM_OBJECT_IMAGE2D"
        images.require(kind, image_format)
        content, new = whole(kind, image_format, 1), whole(kind, image_format, 2)
        image = images.image(kind, image_format, "CL_MEM_READ_ONLY")
        size = images.number("clGetImageInfo", image, "CL_IMAGE_ELEMENT_SIZE")
        assert size == image_format.size, f"CL_IMAGE_ELEMENT_SIZE is {size}, expected {image_format.size}"
        images.write(image, NO_ORIGIN, SHAPES[kind], content)
        origin, region = PARTS[kind]
        images.write(image, origin, region, new)
        layout, narrow = layout_of(kind, size, origin), bytes_of(region, image_format)
        expected = copied(new, Layout(NO_ORIGIN), content, layout, narrow)
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], size), expected, "the image")

    with icd.attempts(sandbox) as attempts:
        for order, type_ in FORMATS:
            if order in api().constants:
                image_format = Format(order, type_)
                attempts.check(str(image_format), lambda o, f=image_format: check(o, f))  # type: ignore[misc]


FORMATS = [
    (order, type_)
    for order in ("CL_R", "CL_RG", "CL_RGBA", "CL_BGRA", "CL_A", "CL_INTENSITY", "CL_LUMINANCE", "CL_DEPTH", "CL_sRGBA")
    for type_ in (
        "CL_SNORM_INT8", "CL_SNORM_INT16", "CL_UNORM_INT8", "CL_UNORM_INT16", "CL_SIGNED_INT8", "CL_SIGNED_INT16",
        "CL_SIGNED_INT32", "CL_UNSIGNED_INT8", "CL_UNSIGNED_INT16", "CL_UNSIGNED_INT32", "CL_HALF_FLOAT", "CL_FLOAT",
    )
]  # fmt: skip


# A format of each size that a pixel can have, but for the 4 bytes of PLAIN_FORMAT.
OF_EACH_SIZE = (
    Format("CL_R", "CL_UNSIGNED_INT8"),
    Format("CL_RG", "CL_UNSIGNED_INT8"),
    Format("CL_RGBA", "CL_UNSIGNED_INT16"),
    Format("CL_RGBA", "CL_UNSIGNED_INT32"),
)


@requirement("API-DAT-013")
@pytest.mark.parametrize("kind", PARTS)
def test_part_of_an_image_is_copied(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """A part of an image is copied to another place of another image, to a buffer, and from a buffer."""

    def both(objects: IcdObjects, pixel: Format) -> tuple[Images, bytes, bytes, Value, Value]:
        images = Images(objects)
        images.require(kind, pixel)
        one, other = whole(kind, pixel, 1), whole(kind, pixel, 2)
        return images, one, other, image_with(images, kind, pixel, one), image_with(images, kind, pixel, other)

    origin, region = PARTS[kind]
    target = tuple(max(at - 1, 0) for at in origin)

    def to_image(objects: IcdObjects, pixel: Format = PLAIN_FORMAT) -> None:
        images, one, other, source, copy = both(objects, pixel)
        words = [images.session.words(list(w)) for w in (origin, target, region)]
        images.succeed("clEnqueueCopyImage", images.queue, source, copy, *words, 0, None, None)
        places = [layout_of(kind, pixel.size, at) for at in (origin, target)]
        expected = copied(one, places[0], other, places[1], bytes_of(region, pixel))
        expect_same(images.read(copy, NO_ORIGIN, SHAPES[kind], pixel.size), expected, "the target")
        expect_same(images.read(source, NO_ORIGIN, SHAPES[kind], pixel.size), one, "the source")

    def to_buffer(objects: IcdObjects, offset: int, pixel: Format = PLAIN_FORMAT) -> None:
        images, one, _, source, _ = both(objects, pixel)
        before = harmless(1024, 3)
        mem, words = images.buffer(before), [images.session.words(list(w)) for w in (origin, region)]
        images.succeed("clEnqueueCopyImageToBuffer", images.queue, source, mem, *words, offset, 0, None, None)
        own, narrow = layout_of(kind, pixel.size, origin), bytes_of(region, pixel)
        expected = copied(one, own, before[offset:], Layout(NO_ORIGIN), narrow)
        expect_same(images.content(mem, 1024), before[:offset] + expected, "the buffer")

    def from_buffer(objects: IcdObjects, offset: int, pixel: Format = PLAIN_FORMAT) -> None:
        images, one, _, image, _ = both(objects, pixel)
        content = harmless(1024, 3)
        mem, words = images.buffer(content), [images.session.words(list(w)) for w in (origin, region)]
        images.succeed("clEnqueueCopyBufferToImage", images.queue, mem, image, offset, *words, 0, None, None)
        own, narrow = layout_of(kind, pixel.size, origin), bytes_of(region, pixel)
        expected = copied(content[offset:], Layout(NO_ORIGIN), one, own, narrow)
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], pixel.size), expected, "the image")

    with icd.attempts(sandbox) as attempts:
        attempts.check("to another image", to_image)
        attempts.check("to a buffer", lambda objects: to_buffer(objects, 12))
        attempts.check("from a buffer", lambda objects: from_buffer(objects, 20))
        attempts.check("to an odd offset of a buffer", lambda objects: to_buffer(objects, 13))
        attempts.check("from an odd offset of a buffer", lambda objects: from_buffer(objects, 23))
        for pixel in OF_EACH_SIZE:
            attempts.check(f"{pixel} to another image", lambda o, p=pixel: to_image(o, p))  # type: ignore[misc]
            attempts.check(f"{pixel} to a buffer", lambda o, p=pixel: to_buffer(o, 32, p))  # type: ignore[misc]
            attempts.check(f"{pixel} from a buffer", lambda o, p=pixel: from_buffer(o, 32, p))  # type: ignore[misc]


# Images of two kinds: the source with its origin, the target with its origin, and a region that both can have.
BETWEEN = {
    "a slice": (("IMAGE2D", (4, 2, 0)), ("IMAGE3D", (3, 1, 2)), (6, 3, 1)),
    "of a slice": (("IMAGE3D", (4, 2, 3)), ("IMAGE2D", (3, 1, 0)), (6, 3, 1)),
    "an element": (("IMAGE2D", (4, 2, 0)), ("IMAGE2D_ARRAY", (3, 1, 2)), (6, 3, 1)),
    "of an element": (("IMAGE2D_ARRAY", (4, 2, 3)), ("IMAGE2D", (3, 1, 0)), (6, 3, 1)),
    "elements": (("IMAGE3D", (4, 2, 2)), ("IMAGE2D_ARRAY", (3, 1, 1)), (6, 3, 2)),
    "slices": (("IMAGE2D_ARRAY", (4, 2, 1)), ("IMAGE3D", (3, 1, 2)), (6, 3, 2)),
}


@requirement("API-DAT-013")
@pytest.mark.parametrize("name", BETWEEN)
def test_part_of_an_image_is_copied_to_one_of_another_kind(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """A region is copied between a 2D image and a slice of a 3D image or of an array, and between those."""

    def check(objects: IcdObjects) -> None:
        images = Images(objects)
        (short, origin), (other, target), region = BETWEEN[name]
        one, two = f"CL_MEM_OBJECT_{short}", f"CL_MEM_OBJECT_{other}"
        for kind in (one, two):
            images.require(kind, PLAIN_FORMAT)
        content, before = whole(one, PLAIN_FORMAT, 1), whole(two, PLAIN_FORMAT, 2)
        source, copy = image_with(images, one, PLAIN_FORMAT, content), image_with(images, two, PLAIN_FORMAT, before)
        words = [images.session.words(list(w)) for w in (origin, target, region)]
        images.succeed("clEnqueueCopyImage", images.queue, source, copy, *words, 0, None, None)
        places = layout_of(one, 4, origin), layout_of(two, 4, target)
        expected = copied(content, places[0], before, places[1], bytes_of(region, PLAIN_FORMAT))
        expect_same(images.read(copy, NO_ORIGIN, SHAPES[two], 4), expected, "the target")

    with icd.attempts(sandbox) as attempts:
        attempts.check(f"{BETWEEN[name][0][0]} to {BETWEEN[name][1][0]}", check)


@requirement("API-DAT-009", "API-DAT-013")
@pytest.mark.parametrize("kind", [kind for kind in PARTS if not kind.endswith("BUFFER")])
def test_copy_within_an_image_may_not_overlap(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """A copy within an image whose regions overlap is CL_MEM_COPY_OVERLAP; beside each other, pixels are copied."""
    region = PARTS[kind][1]

    def check(objects: IcdObjects, dimension: int, overlap: int) -> None:
        images = Images(objects)
        images.require(kind, PLAIN_FORMAT)
        before = whole(kind, PLAIN_FORMAT, 1)
        image = image_with(images, kind, PLAIN_FORMAT, before)
        target = tuple(region[i] - overlap if i == dimension else 0 for i in range(3))
        words = [images.session.words(list(w)) for w in (NO_ORIGIN, target, region)]
        error = images.session.call("clEnqueueCopyImage", images.queue, image, image, *words, 0, None, None)
        expected = CL.MEM_COPY_OVERLAP if overlap else CL.SUCCESS
        assert error == expected, f"answered {error}, expected {expected!r}"
        places = layout_of(kind, 4, NO_ORIGIN), layout_of(kind, 4, target)
        copy = copied(before, places[0], before, places[1], bytes_of(region, PLAIN_FORMAT))
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], 4), before if overlap else copy, "the image")

    with icd.attempts(sandbox) as attempts:
        for dimension, name in enumerate(("columns", "rows", "slices")):
            if region[dimension] > 1:
                for overlap, how in ((1, "that overlap"), (0, "beside each other")):
                    row = dimension, overlap
                    attempts.check(f"{name} {how}", lambda objects, row=row: check(objects, *row))  # type: ignore[misc]


# A colour, as it is given and as pixels have it, by type and, where it is not CL_RGBA, order of channels.
FILLS = {
    "CL_UNORM_INT8 CL_BGRA": (struct.pack("<4f", 1, 0, 0, 1), bytes([0, 0, 255, 255])),
    "CL_UNSIGNED_INT8": (struct.pack("<4I", 1, 2, 254, 255), bytes([1, 2, 254, 255])),
    "CL_UNSIGNED_INT16": (struct.pack("<4I", 1, 2, 3, 65535), struct.pack("<4H", 1, 2, 3, 65535)),
    "CL_UNSIGNED_INT32": (struct.pack("<4I", 1, 2, 3, 1 << 31), struct.pack("<4I", 1, 2, 3, 1 << 31)),
    "CL_SIGNED_INT8": (struct.pack("<4i", -1, 2, -128, 127), struct.pack("<4b", -1, 2, -128, 127)),
    "CL_SIGNED_INT16": (struct.pack("<4i", -1, 2, -3, 32767), struct.pack("<4h", -1, 2, -3, 32767)),
    "CL_SIGNED_INT32": (struct.pack("<4i", -1, 2, -3, 4), struct.pack("<4i", -1, 2, -3, 4)),
    "CL_FLOAT": (struct.pack("<4f", 0.5, -2, 3, 4), struct.pack("<4f", 0.5, -2, 3, 4)),
    "CL_UNORM_INT8": (struct.pack("<4f", 0, 1, 0, 1), bytes([0, 255, 0, 255])),
    "CL_UNSIGNED_INT8 CL_R": (struct.pack("<4I", 1, 2, 254, 255), bytes([1])),
    "CL_SIGNED_INT16 CL_R": (struct.pack("<4i", -1, 2, -3, 4), struct.pack("<h", -1)),
    "CL_UNSIGNED_INT32 CL_R": (struct.pack("<4I", 1 << 31, 2, 3, 4), struct.pack("<I", 1 << 31)),
    "CL_FLOAT CL_R": (struct.pack("<4f", 0.5, -2, 3, 4), struct.pack("<f", 0.5)),
    "CL_UNORM_INT8 CL_R": (struct.pack("<4f", 1, 0, 0, 0), bytes([255])),
    "CL_UNSIGNED_INT8 CL_RG": (struct.pack("<4I", 1, 2, 254, 255), bytes([1, 2])),
    "CL_SIGNED_INT32 CL_RG": (struct.pack("<4i", -1, 2, -3, 4), struct.pack("<2i", -1, 2)),
    "CL_UNORM_INT8 CL_A": (struct.pack("<4f", 0, 0, 0, 1), bytes([255])),
    # The sign of each type that has one.
    "CL_UNORM_INT16 CL_RGBA": (struct.pack("<4f", 0, 1, 0, 1), struct.pack("<4H", 0, 65535, 0, 65535)),
    "CL_SNORM_INT8 CL_RGBA": (struct.pack("<4f", -1, 1, 0, -1), struct.pack("<4b", -127, 127, 0, -127)),
    "CL_SNORM_INT16 CL_RGBA": (struct.pack("<4f", -1, 1, 0, -1), struct.pack("<4h", -32767, 32767, 0, -32767)),
    "CL_HALF_FLOAT": (struct.pack("<4f", 0.5, -2, 3, 0), struct.pack("<4e", 0.5, -2, 3, 0)),
    # "The fill color is a single floating-point value if the channel order is CL_DEPTH."
    "CL_FLOAT CL_DEPTH": (struct.pack("<f", 0.5), struct.pack("<f", 0.5)),
    "CL_UNORM_INT16 CL_DEPTH": (struct.pack("<f", 1), struct.pack("<H", 65535)),
    # 0 and 1 are the same in linear colours and in sRGB.
    "CL_UNORM_INT8 CL_sRGBA": (struct.pack("<4f", 0, 1, 0, 1), bytes([0, 255, 0, 255])),
}


# Colours that a channel does not have: OpenCL C says what becomes of them in kernels, and no text says it of fills.
NEAREST = {
    # Neither between two numbers nor near the middle of them: the error of a rounding is 0.6 at most.
    "CL_UNORM_INT8 CL_RGBA": (struct.pack("<4f", 100.2 / 255, 100.8 / 255, 2, -1), bytes([100, 101, 255, 0])),
    "CL_UNORM_INT16": (struct.pack("<4f", 0.2 / 65535, 9.8 / 65535, 2, -1), struct.pack("<4H", 0, 10, 65535, 0)),
    "CL_SNORM_INT8": (struct.pack("<4f", 100.2 / 127, -100.8 / 127, 1, 2), struct.pack("<4b", 100, -101, 127, 127)),
    "CL_SNORM_INT16": (struct.pack("<4f", 9.2 / 32767, -9.8 / 32767, 1, 2), struct.pack("<4h", 9, -10, 32767, 32767)),
    "CL_UNSIGNED_INT8 CL_RGBA": (struct.pack("<4I", 300, 256, 255, 0), bytes([255, 255, 255, 0])),
    "CL_UNSIGNED_INT16 CL_RGBA": (struct.pack("<4I", 70000, 65536, 9, 0), struct.pack("<4H", 65535, 65535, 9, 0)),
    "CL_SIGNED_INT8 CL_RGBA": (struct.pack("<4i", -300, 300, 127, -1), struct.pack("<4b", -128, 127, 127, -1)),
    "CL_SIGNED_INT16 CL_RGBA": (struct.pack("<4i", -70000, 70000, 9, -1), struct.pack("<4h", -32768, 32767, 9, -1)),
}


def check_fill(objects: IcdObjects, kind: str, name: str, fills: dict[str, tuple[bytes, bytes]]) -> None:
    """Fills a part of such an image with the colour of that name, and compares all of it."""
    images = Images(objects)
    type_, _, order = name.partition(" ")
    image_format = Format(order or "CL_RGBA", type_)
    images.require(kind, image_format)
    before, (colour, pixel) = whole(kind, image_format, 1), fills[name]
    image = image_with(images, kind, image_format, before)
    origin, region = PARTS[kind]
    words = [images.session.words(list(w)) for w in (origin, region)]
    data = images.session.data(colour)
    images.succeed("clEnqueueFillImage", images.queue, image, data, *words, 0, None, None)
    data.fill(0)
    narrow = bytes_of(region, image_format)
    filled = pixel * (region[0] * region[1] * region[2])
    size = image_format.size
    expected = copied(filled, Layout(NO_ORIGIN), before, layout_of(kind, size, origin), narrow)
    expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], size), expected, "the image")


@requirement("API-DAT-014")
@pytest.mark.parametrize("kind", PARTS)
def test_part_of_an_image_is_filled_with_a_colour(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """A fill gives each pixel of its region the colour, as the format has it, and no other pixel."""
    with icd.attempts(sandbox) as attempts:
        for name in FILLS:
            attempts.check(name, lambda objects, name=name: check_fill(objects, kind, name, FILLS))  # type: ignore[misc]


@requirement("API-DAT-020")
@pytest.mark.parametrize("kind", PARTS)
def test_colour_that_a_channel_cannot_hold_becomes_the_nearest(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """A fill rounds a colour and cuts it to what a channel holds, as a kernel does that writes it."""
    with icd.attempts(sandbox) as attempts:
        for name in NEAREST:
            attempts.check(name, lambda objects, name=name: check_fill(objects, kind, name, NEAREST))  # type: ignore[misc]


# Images of more columns, rows or slices than a few, which every device with images has.
WIDE = {
    "columns": ("CL_MEM_OBJECT_IMAGE2D", (2000, 2, 1)),
    "rows": ("CL_MEM_OBJECT_IMAGE2D", (2, 2000, 1)),
    "slices": ("CL_MEM_OBJECT_IMAGE3D", (2, 2, 700)),
    "lines": ("CL_MEM_OBJECT_IMAGE1D_ARRAY", (2, 250, 1)),
    "elements": ("CL_MEM_OBJECT_IMAGE2D_ARRAY", (2, 3, 250)),
}


@requirement("API-DAT-011", "API-DAT-013", "API-DAT-014")
@pytest.mark.parametrize("many", WIDE)
def test_image_of_many_pixels_is_moved_to_the_last_one(icd: Icd, sandbox: Sandbox, many: str) -> None:
    """All of a region is written, copied and filled, however many columns, rows and slices of an image it has."""
    kind, shape = WIDE[many]
    size = 4 * shape[0] * shape[1] * shape[2]

    def check(objects: IcdObjects, how: str) -> None:
        images = Images(objects)
        images.require(kind, PLAIN_FORMAT)
        new, colour = numbered(size, 2), struct.pack("<4I", 1, 2, 254, 255)
        image = images.image(kind, PLAIN_FORMAT, shape=shape)
        images.write(image, NO_ORIGIN, shape, new if how != "fill" else bytes(size))
        origin, region = images.session.words([0, 0, 0]), images.session.words(list(shape))
        if how == "fill":
            images.succeed("clEnqueueFillImage", images.queue, image, colour, origin, region, 0, None, None)
            new = bytes([1, 2, 254, 255]) * (size // 4)
        elif how == "copy":
            source, image = image, images.image(kind, PLAIN_FORMAT, shape=shape)
            places = origin, origin, region
            images.succeed("clEnqueueCopyImage", images.queue, source, image, *places, 0, None, None)
        elif how == "to a buffer":
            mem = images.buffer(bytes(size))
            images.succeed("clEnqueueCopyImageToBuffer", images.queue, image, mem, origin, region, 0, 0, None, None)
            expect_same(images.content(mem, size), new, "the buffer")
        elif how == "from a buffer":
            mem, new = images.buffer(numbered(size, 3)), numbered(size, 3)
            images.succeed("clEnqueueCopyBufferToImage", images.queue, mem, image, 0, origin, region, 0, None, None)
        expect_same(images.read(image, NO_ORIGIN, shape, 4), new, "the image")

    with icd.attempts(sandbox) as attempts:
        for how in ("write", "copy", "fill", "to a buffer", "from a buffer"):
            attempts.check(how, lambda objects, how=how: check(objects, how))  # type: ignore[misc]


def mapped_part(images: Images, kind: str, image: Value, flags: int) -> tuple[Value, int, int]:
    """PARTS of an image, mapped: where it lies, and the row and slice pitch that were answered, in bytes."""
    session = images.objects.session
    row, slice_ = session.buffer(8, 0), session.buffer(8, 0)
    words = [session.words(list(w)) for w in PARTS[kind]]
    mapped = images.objects.made_by(
        "clEnqueueMapImage", images.queue, image, 1, flags, *words, row, slice_, 0, None, None
    )
    return mapped, row.u64(), slice_.u64()


@requirement("API-DAT-015")
def test_mapped_lines_of_an_array_lie_a_slice_pitch_apart(icd: Icd, sandbox: Sandbox) -> None:
    """Each image of an array of 1D images begins a slice pitch after the one before it, where the array is mapped."""
    kind = "CL_MEM_OBJECT_IMAGE1D_ARRAY"
    with icd.open(sandbox) as session:
        images = Images(session.objects(session.some_platforms()[0]))
        images.require(kind, PLAIN_FORMAT)
        before = whole(kind, PLAIN_FORMAT, 1)
        image = image_with(images, kind, PLAIN_FORMAT, before)
        origin, region = PARTS[kind]
        narrow, own = bytes_of(region, PLAIN_FORMAT), layout_of(kind, 4, origin)
        mapped, _, slice_ = mapped_part(images, kind, image, CL.MAP_READ)
        assert slice_ >= narrow[0], f"the slice pitch is {slice_}, and an image of the array has {narrow[0]} bytes"
        for start, end in zip(own.rows(narrow), Layout(NO_ORIGIN, slice_).rows(narrow), strict=True):
            expect_same(session.bytes_at(mapped.plus(end), narrow[0]), before[start : start + narrow[0]], "the mapping")
        images.unmap(image, mapped)
        images.finish()


@requirement("API-DAT-015")
@pytest.mark.parametrize("kind", ["CL_MEM_OBJECT_IMAGE2D", "CL_MEM_OBJECT_IMAGE3D", "CL_MEM_OBJECT_IMAGE2D_ARRAY"])
def test_mapped_part_of_an_image_shows_and_takes_pixels(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """A mapped region begins with its first pixel and lies as its pitches say, and what is written to it stays."""
    with icd.open(sandbox) as session:
        images = Images(session.objects(session.some_platforms()[0]))
        images.require(kind, PLAIN_FORMAT)
        before = whole(kind, PLAIN_FORMAT, 1)
        image = image_with(images, kind, PLAIN_FORMAT, before)
        origin, region = PARTS[kind]
        narrow, own = bytes_of(region, PLAIN_FORMAT), layout_of(kind, 4, origin)
        mapped, row, slice_ = mapped_part(images, kind, image, CL.MAP_READ | CL.MAP_WRITE)
        assert row >= narrow[0], f"the row pitch is {row}, and a row has {narrow[0]} bytes"
        deep = region[2] > 1
        assert slice_ >= row * region[1] or not deep, f"the slice pitch is {slice_}"
        assert deep or not slice_, f"the slice pitch of a 2D image is {slice_}, expected 0"
        far = Layout(NO_ORIGIN, row, slice_ or row * region[1])
        seen, part = b"", b""
        for start, end in zip(own.rows(narrow), far.rows(narrow), strict=True):
            seen += session.bytes_at(mapped.plus(end), narrow[0])
            part += before[start : start + narrow[0]]
        expect_same(seen, part, "the mapping")
        last = list(far.rows(narrow))[-1]
        session.store(mapped, last, b"changed.")
        images.unmap(image, mapped)
        expected = with_bytes(before, list(own.rows(narrow))[-1], b"changed.")
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], 4), expected, "the image")


@requirement("API-DAT-015")
@pytest.mark.parametrize("kind", ["CL_MEM_OBJECT_IMAGE2D", "CL_MEM_OBJECT_IMAGE3D", "CL_MEM_OBJECT_IMAGE2D_ARRAY"])
def test_mapped_part_of_an_image_that_is_invalid_takes_pixels(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """What is written to a region that is mapped with CL_MAP_WRITE_INVALIDATE_REGION is in the image, and only that."""
    with icd.open(sandbox) as session:
        images = Images(session.objects(session.some_platforms()[0]))
        images.objects.require_function("clCreateImage", images.objects.version())
        images.require(kind, PLAIN_FORMAT)
        before = whole(kind, PLAIN_FORMAT, 1)
        image = image_with(images, kind, PLAIN_FORMAT, before)
        origin, region = PARTS[kind]
        narrow, own = bytes_of(region, PLAIN_FORMAT), layout_of(kind, 4, origin)
        mapped, row, slice_ = mapped_part(images, kind, image, CL.MAP_WRITE_INVALIDATE_REGION)
        far = Layout(NO_ORIGIN, row, slice_ or row * region[1])
        new = whole(kind, PLAIN_FORMAT, 2)
        for number, at in enumerate(far.rows(narrow)):
            session.store(mapped, at, new[number * narrow[0] : (number + 1) * narrow[0]])
        images.unmap(image, mapped)
        expected = copied(new, Layout(NO_ORIGIN), before, own, narrow)
        expect_same(images.read(image, NO_ORIGIN, SHAPES[kind], 4), expected, "the image")
