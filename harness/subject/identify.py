# SPDX-License-Identifier: Apache-2.0
"""What a file is: found out from its first bytes and from what it exports, never from its name alone.

A loader exports clGetPlatformIDs without being an ICD; an ICD what loaders look for; a layer one of a layer's four
functions. Vulkan's loader, drivers and layers are recognised by theirs, and a manifest by its keys.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.subject.library import SharedLibrary, file_format, read_library

LAYER_FUNCTIONS = ("clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties", "clDeinitLayer")
ICD_QUERY, ICD_ENUMERATE = "clGetExtensionFunctionAddress", "clIcdGetPlatformIDsKHR"
LOADER_FUNCTION = "clGetPlatformIDs"
_READS_DRIVERS = b"vulkan/icd.d"  # in the file of a Vulkan loader
VULKAN_LOADER_FUNCTIONS = ("vkGetInstanceProcAddr", "vkCreateInstance", "vkEnumerateInstanceExtensionProperties")
# In each loader's file: for Linux and for Android, and for Windows in either encoding.
_READ_VENDORS = (b"OpenCL/vendors", rb"Khronos\OpenCL\Vendors", r"Khronos\OpenCL\Vendors".encode("utf-16-le"))
_VULKAN_DRIVER = ("vk_icdGetInstanceProcAddr", "vk_icdNegotiateLoaderICDInterfaceVersion")
_VULKAN_LAYER = ("vkNegotiateLoaderLayerInterfaceVersion", "vkEnumerateInstanceLayerProperties")


@dataclass(frozen=True)
class Identity:
    """What a file is.

    kind: a key of harness.subject.KINDS, the name of what is not supported yet, or "" for anything else.
    words: with the article, for messages. command: the command of clharness that tests it; "" for none.
    exports: functions by which a library of this kind is recognised, where nothing else exports all of them; () where
    it takes more to tell it from other kinds, which is `identify_library`'s then.
    """

    kind: str
    words: str
    command: str = ""
    exports: tuple[str, ...] = ()


LOADER = Identity("loader", "an OpenCL loader", "loader")
LAYER = Identity("layer", "an OpenCL layer", "layer")
ICD = Identity("icd", "an OpenCL ICD", "icd")
ICD_FILE = Identity("icd-file", "an .icd file, which names the library of an ICD", "icd")
WINDOWS = Identity("windows-library", "a Windows library (PE)")
VULKAN_LOADER = Identity("vulkan_loader", "a Vulkan loader", "loader")
VULKAN_DRIVER = Identity("vulkan_driver", "a Vulkan driver", "icd")
VULKAN_LAYER = Identity("vulkan-layer", "a Vulkan layer")
VULKAN_MANIFESTS = {
    "ICD": Identity("vulkan_driver", "the manifest of a Vulkan driver", "icd"),
    "layer": Identity("vulkan-layer", "the manifest of a Vulkan layer"),
    "layers": Identity("vulkan-layer", "the manifest of Vulkan layers"),
}
OTHER_LIBRARY = Identity("", "a library of another kind")
OTHER = Identity("", "not a library, nor a file that names one")
# The kinds that are recognised by `exports` alone; a subject's class adds its own (harness.subject.base.Subject).
BY_EXPORTS: list[Identity] = []


def identify(path: Path) -> Identity:
    """What the file is. Raises UsageError where there is none, or where it is a damaged library."""
    try:
        form = file_format(path)
        if form == "PE":
            return _identify_windows(path)
        if form == "ELF":
            return identify_library(read_library(path, "a library", "build/libOpenCL.so.1"))
        return _identify_text(path)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _identify_windows(path: Path) -> Identity:
    """A Windows library: a loader, or what is not tested there.

    One that exports the API, and no function that only vendors or layers have, is a loader whatever it reads: that it
    looks for its vendors elsewhere is for the checks to find.
    """
    try:
        library = read_library(path, "a library", "OpenCL.dll")
    except UsageError:
        return WINDOWS
    identity = identify_library(library)
    leaves_open = identity is OTHER_LIBRARY and LOADER_FUNCTION in library.functions
    return LOADER if identity is LOADER or leaves_open else WINDOWS


def _identify_text(path: Path) -> Identity:
    if path.suffix == ".icd":
        return ICD_FILE
    if path.suffix == ".json":
        try:
            content = json.loads(path.read_bytes())
        except ValueError:
            return OTHER
        keys = content if isinstance(content, dict) else {}
        return next((identity for key, identity in VULKAN_MANIFESTS.items() if key in keys), OTHER)
    return OTHER


def identify_library(library: SharedLibrary) -> Identity:
    """What a library is. OTHER_LIBRARY also where its exports leave open whether it is a loader or an ICD."""
    for identity in BY_EXPORTS:
        if library.functions.issuperset(identity.exports):
            return identity

    def exports(names: Collection[str]) -> bool:
        return bool(library.functions & set(names))

    if exports([ICD_ENUMERATE]):
        return ICD
    if exports(LAYER_FUNCTIONS):
        return LAYER
    if exports([LOADER_FUNCTION]):
        # A vendor may export the whole API, too, without the one function that only vendors have.
        content = library.real_path.read_bytes()
        reads_vendors = not exports([ICD_QUERY]) or any(name in content for name in _READ_VENDORS)
        return LOADER if reads_vendors else OTHER_LIBRARY
    if exports([ICD_QUERY]):
        return ICD
    if exports(_VULKAN_DRIVER):
        return VULKAN_DRIVER
    if all(exports([name]) for name in VULKAN_LOADER_FUNCTIONS):
        # A driver of interface version 0 exports these, too, and nothing else.
        is_loader = exports(["vkEnumeratePhysicalDevices"]) or _READS_DRIVERS in library.real_path.read_bytes()
        return VULKAN_LOADER if is_loader else VULKAN_DRIVER
    return VULKAN_LAYER if exports(_VULKAN_LAYER) else OTHER_LIBRARY


def require_kind(path: Path, library: SharedLibrary, expected: Identity, functions: Collection[str]) -> None:
    """Raises UsageError where the library is not of the wanted kind, which exports one of `functions` at least.

    The sentence says what it is, and which command tests it. What exports leave open is taken for what it is said to
    be.
    """
    identity = identify_library(library)
    if identity.kind == expected.kind or (not identity.kind and library.functions & set(functions)):
        return
    if not identity.kind:
        raise UsageError(f"{path} is not {expected.words}: it does not export {' or '.join(functions)}")
    raise UsageError(refusal(path, identity, expected))


def refusal(path: Path, identity: Identity, expected: Identity | None = None) -> str:
    """The sentence about a file that is something else than what is wanted: what it is, and which command tests it."""
    advice = f"clharness {identity.command} {path} tests it" if identity.command else "not supported yet"
    return f"{path} is {identity.words}{f', not {expected.words}' if expected else ''}: {advice}"
