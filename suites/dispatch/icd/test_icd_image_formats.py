# SPDX-License-Identifier: Apache-2.0
"""Formats that every device with images has, and how large their pixels are (API-CON)."""

from __future__ import annotations

import pytest

from harness.check import CL, Format, Icd, IcdObjects, Images, Info, Sandbox, Unsupported, api, pack, requirement

TYPES = (
    "CL_UNORM_INT8", "CL_UNORM_INT16", "CL_SIGNED_INT8", "CL_SIGNED_INT16", "CL_SIGNED_INT32", "CL_UNSIGNED_INT8",
    "CL_UNSIGNED_INT16", "CL_UNSIGNED_INT32", "CL_HALF_FLOAT", "CL_FLOAT",
)  # fmt: skip
EVERYWHERE = [*(Format("CL_RGBA", type_) for type_ in TYPES), Format("CL_BGRA", "CL_UNORM_INT8")]


@requirement("API-CON-038")
@pytest.mark.parametrize("flags", ["CL_MEM_READ_ONLY", "CL_MEM_WRITE_ONLY"])
def test_formats_that_every_device_has_are_listed(icd: Icd, sandbox: Sandbox, flags: str) -> None:
    """A device with images and the full profile reads and writes 2D images of the eleven formats of OpenCL 1."""

    def check(objects: IcdObjects) -> None:
        objects.require_images()
        profile = Info(objects).text("clGetDeviceInfo", objects.device, "CL_DEVICE_PROFILE")
        if profile != "FULL_PROFILE":
            raise Unsupported("loader", "the device is not one of the full profile", "full profile")
        cl, count = objects.session, objects.session.buffer(4, 0)
        about = (objects.context, api().constant(flags), CL.MEM_OBJECT_IMAGE2D)
        objects.require("clGetSupportedImageFormats", cl.call("clGetSupportedImageFormats", *about, 0, None, count))
        number = min(count.u32(), 4096)
        listed = cl.buffer(8 * max(number, 1), 0)
        objects.require(
            "clGetSupportedImageFormats", cl.call("clGetSupportedImageFormats", *about, number, listed, None)
        )
        present = {(listed.u32(2 * i), listed.u32(2 * i + 1)) for i in range(number)}
        lacking = [f for f in EVERYWHERE if (api().constant(f.order), api().constant(f.type)) not in present]
        assert not lacking, "not listed: " + ", ".join(f"{f.order} {f.type}" for f in lacking)

    with icd.attempts(sandbox) as attempts:
        attempts.check("2D images", check)


@requirement("API-CON-011")
def test_pixel_has_the_size_of_its_format(icd: Icd, sandbox: Sandbox) -> None:
    """CL_IMAGE_ELEMENT_SIZE is the number of channels times their size, for each of the eleven formats."""

    def check(objects: IcdObjects, format_: Format) -> None:
        Images(objects).require("CL_MEM_OBJECT_IMAGE2D", format_)
        pair = objects.session.data(pack([api().constant(format_.order), api().constant(format_.type)], 4))
        image = objects.made_by("clCreateImage2D", objects.context, CL.MEM_READ_ONLY, pair, 4, 4, 0, None)
        size = Info(objects).number("clGetImageInfo", image, "CL_IMAGE_ELEMENT_SIZE")
        assert size == format_.size, f"CL_IMAGE_ELEMENT_SIZE is {size}, expected {format_.size}"

    with icd.attempts(sandbox) as attempts:
        for one in EVERYWHERE:
            attempts.check(f"{one.order} {one.type}", lambda objects, one=one: check(objects, one))  # type: ignore[misc]
