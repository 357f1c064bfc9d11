# SPDX-License-Identifier: Apache-2.0
"""What stands in manifests of Vulkan drivers: fields, paths, and files that are none (VK-DSC)."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from harness.check import VulkanLoader, VulkanSandbox, manifest_of, requirement

# Escapes of JSON, and what they stand for.
ESCAPES = {
    "quote": ('\\"', '"'),
    "backslash": ("\\\\", "\\"),
    "tab": ("\\t", "\t"),
    "line feed": ("\\n", "\n"),
    "carriage return": ("\\r", "\r"),
    "form feed": ("\\f", "\f"),
    "backspace": ("\\b", "\b"),
    "letter as a number": ("\\u0041", "A"),
    "first of two bytes": ("\\u0080", "\u0080"),
    "last of two bytes": ("\\u07ff", "\u07ff"),
    "first of three bytes": ("\\u0800", "\u0800"),
    "before the pairs": ("\\uD7ff", "\ud7ff"),
    "after the pairs": ("\\ue000", "\ue000"),
    "last of three bytes": ("\\uFFFD", "\ufffd"),
    "first of four bytes": ("\\ud800\\udc00", "\U00010000"),
    "last of four bytes": ("\\udbff\\udfff", "\U0010ffff"),
    "all digits": ("\\u0123\\u4567\\u89ab\\ucdef\\uABCD\\u0eF5", "\u0123\u4567\u89ab\ucdef\uabcd\u0ef5"),
    "two bytes": ("\\u00fC", "ü"),
    "three bytes": ("\\u20ac", "€"),
    "four bytes": ("\\uD83d\\ude00", "\U0001f600"),
}
MISSING: dict[str, dict[str, Any]] = {
    "file_format_version": {"file_format_version": None},
    "library_path": {"library_path": None},
    "api_version": {"api_version": None},
}
# Contents with which a file is not a manifest: {library} stands for the path of a good driver.
MALFORMED = {
    "empty": b"",
    "blank": b"  \n",
    "text": b"library_path = {library}\n",
    "not closed": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_version": "1.1.0"}',
    "cut in a string": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}',
    "cut after a backslash": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}\\',
    "cut in an escape": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}\\u00',
    "cut in a pair of escapes": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}\\ud83d\\u',
    "array that is not closed": b'{"n": [1, 2, "file_format_version": "1.0.0", "ICD": {"library_path": "{library}",'
    b' "api_version": "1.1.0"}}',
    "brackets of two kinds": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_version":'
    b' "1.1.0"]}',
    "cut in a key": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_ver',
    "NUL bytes": bytes(100),
    "binary": bytes(range(256)),
    "array": b'[{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_version": "1.1.0"}}]',
    "number": b"1",
    "string": b'"ICD"',
    "null": b"null",
    "no ICD": b'{"file_format_version": "1.0.0"}',
    "ICD is a string": b'{"file_format_version": "1.0.0", "ICD": "{library}"}',
    "ICD is null": b'{"file_format_version": "1.0.0", "ICD": null}',
    "ICD is an array": b'{"file_format_version": "1.0.0", "ICD": ["{library}"]}',
    "no quotes": b'{file_format_version: "1.0.0", ICD: {library_path: "{library}", api_version: "1.1.0"}}',
    "deep": b"[" * 5000 + b"]" * 5000,
    "deep objects": b'{"ICD":' * 3000 + b"1" + b"}" * 3000,
}
# A good manifest, written otherwise.
WRITTEN = {
    "no blanks": b'{"file_format_version":"1.0.0","ICD":{"library_path":"{library}","api_version":"1.1.0"}}',
    "many blanks": b'\n\n\t{ "file_format_version" :\t"1.0.0" ,\r\n"ICD" : { "library_path"\n: "{library}" ,'
    b' "api_version" : "1.1.0" } }\n\n',
    "other order": b'{"ICD": {"api_version": "1.1.0", "library_path": "{library}"}, "file_format_version": "1.0.0"}',
    "further keys": b'{"comment": [1, {"a": null}, true], "file_format_version": "1.0.0", "ICD": {"library_path":'
    b' "{library}", "api_version": "1.1.0", "extra": {"library_path": "nowhere"}, "n": -1.5e3}, "z": false}',
    "nested further keys": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_version":'
    b' "1.1.0"}, "notes": {"a": {"b": {"c": [[[{"d": [1, {"ICD": "none"}]}]]]}}}}',
    "nothing in further keys": b'{"": "", "a": [], "b": {}, "c": [[], {}, "", null, [[]]], "file_format_version":'
    b' "1.0.0", "ICD": {"": {}, "library_path": "{library}", "api_version": "1.1.0", "e": []}}',
    "numbers": b'{"n": [0, -0, -12, 0.5, 1E5, 1e+5, 2.25e-10, 123456789012345678901234567890, 1e999],'
    b' "file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_version": "1.1.0", "n": 7}, "m": -1}',
    "keys that are nearly the same": b'{"file_format": "9", "file_format_version_": "9", "IC": "", "ICDS": {}, "ICD_":'
    b' {"library_path": "/missing.so", "api_version": "9.9.9"}, "file_format_version": "1.0.0", "ICD": {"library": "x",'
    b' "library_path_": "/missing.so", "api": "9", "api_version_": "x", "library_path": "{library}", "api_version":'
    b' "1.1.0", "is_portability_driver_": true, "library_arch_": "none"}}',
    "escapes in keys": b'{"file\\u005fformat_version": "1.0.0", "\\u0049CD": {"library\\u005fpath": "{library}",'
    b' "api_\\u0076ersion": "1.1.0"}}',
    "signs of JSON in strings": b'{"a": "}], {\\"ICD\\": {:,", "b\\\\": "\\\\", "c": "\\\\\\"", "file_format_version":'
    b' "1.0.0", "ICD": {"d": "}}", "library_path": "{library}", "api_version": "1.1.0"}}',
    "text of other alphabets": '{"ä": "€ \U0001f600 \u0416", "file_format_version": "1.0.0", "ICD": {"library_path":'
    ' "{library}", "api_version": "1.1.0"}}'.encode(),
    "escapes": b'{"file_format_version": "1.0.0", "ICD": {"library_path": "{escaped}", "api_version": "1.1.0"}}',
    "newer format": b'{"file_format_version": "1.0.1", "ICD": {"library_path": "{library}", "api_version": "1.1.0"}}',
}


@requirement("VK-DSC-008")
@pytest.mark.parametrize("field", MISSING)
def test_manifest_without_a_field_names_no_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, field: str
) -> None:
    """A manifest that lacks a field is passed over; the same one with the field, beside it, is used."""
    sandbox.driver("whole")
    sandbox.driver("without", manifest=MISSING[field])

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"whole"}
    assert not sandbox.log.of("without")


@requirement("VK-DSC-031")
@pytest.mark.parametrize("content", MALFORMED)
def test_malformed_manifest_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, content: str
) -> None:
    """What is not a manifest is passed over; manifests before and after it are used."""
    sandbox.driver("before")
    library = sandbox.library("malformed")
    text = MALFORMED[content].replace(b"{library}", os.fsencode(library.path))
    sandbox.shown.append(sandbox.manifest("malformed.json", text))
    sandbox.driver("after")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"before", "after"}
    assert not sandbox.log.of("malformed")


@requirement("VK-DSC-025")
@pytest.mark.parametrize("content", WRITTEN)
def test_well_formed_manifest_is_used_however_it_is_written(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, content: str
) -> None:
    """Blanks, order, further keys and escapes change nothing: the driver is loaded."""
    sandbox.driver("plain")
    library = os.fsencode(sandbox.library("written").path)
    escaped = library.replace(b"/", b"\\/").replace(b"w", b"\\u0077")
    text = WRITTEN[content].replace(b"{library}", library).replace(b"{escaped}", escaped)
    sandbox.shown.append(sandbox.manifest("written.json", text))

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"plain", "written"}


@requirement("VK-DSC-025")
@pytest.mark.parametrize("escape", ESCAPES)
def test_escape_in_a_path_stands_for_its_character(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, escape: str
) -> None:
    """library_path is what the JSON text says, and not how it is written."""
    sandbox.driver("plain")
    written, character = ESCAPES[escape]
    library = sandbox.library("escaped", file=f"lib{character}escaped.so")
    text = json.dumps(manifest_of(f"{library.path.parent}/lib@escaped.so")).replace("@", written)
    sandbox.shown.append(sandbox.manifest("escaped.json", text))

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"plain", "escaped"}


@requirement("VK-DSC-025")
@pytest.mark.parametrize("length", [4_096, 20_000, 70_000])
@pytest.mark.parametrize("place", ["before", "after"])
def test_manifest_may_have_much_beside_what_it_is_for(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: str, length: int
) -> None:
    """Keys that the loader has no use for may have more text than a page of memory, or than 16 bits can count."""
    sandbox.driver("short")
    content = manifest_of(sandbox.library("long").path)
    comment = {"comment": "c" * length}
    sandbox.shown.append(sandbox.manifest("long.json", comment | content if place == "before" else content | comment))

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"short", "long"}


@requirement("VK-DSC-034")
@pytest.mark.parametrize("version", ["1.0.2", "1.1.0", "2.0.0"])
def test_manifest_of_an_unknown_format_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str, record: Callable[[str], None]
) -> None:
    """A manifest in a format that is newer than the document may be used or not; the one beside it is."""
    sandbox.driver("plain")
    sandbox.driver("newer", manifest={"file_format_version": version})

    with vulkan_loader.start(sandbox) as vk:
        names = vk.drivers()
    assert "plain" in names
    record("used" if "newer" in names else "passed over")


@requirement("VK-DSC-031")
@pytest.mark.parametrize("field", ["library_path", "api_version", "file_format_version"])
@pytest.mark.parametrize(
    "value", [None, 1, True, [], {}, ""], ids=["null", "number", "true", "array", "object", "empty"]
)
def test_field_of_another_type_costs_only_its_manifest(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, field: str, value: object
) -> None:
    """A field that must be a string and is not leaves the other drivers as they are."""
    content = manifest_of(sandbox.library("bad"))
    (content if field == "file_format_version" else content["ICD"])[field] = value
    sandbox.shown.append(sandbox.manifest("bad.json", content))
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert "good" in vk.drivers()


@requirement("VK-DSC-031")
def test_empty_path_is_not_that_of_the_loader(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """In a process that is linked with the loader, which finds its functions by dlopen(""), it is not a driver."""
    sandbox.driver("good")
    sandbox.shown.append(sandbox.manifest("empty.json", manifest_of("")))
    sandbox.env["LD_PRELOAD"] = str(vulkan_loader.path)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-DSC-031")
@pytest.mark.parametrize("number", [3, 30])
def test_many_malformed_manifests_cost_only_themselves(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, number: int
) -> None:
    """A driver among files that are not manifests is found."""
    folder = sandbox.search_folder("data")
    for index in range(number):
        sandbox.manifest(f"bad{index}.json", b"{" * index, folder)
    sandbox.manifest("good.json", sandbox.library("good"), folder)
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "data")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-DSC-031")
def test_large_manifest_is_read_or_costs_only_itself(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A megabyte of blanks in a manifest does no harm to the driver beside it."""
    sandbox.driver("good")
    text = json.dumps(manifest_of(sandbox.library("large"))).replace(" ", " " * 100_000)
    sandbox.shown.append(sandbox.manifest("large.json", text))

    with vulkan_loader.start(sandbox) as vk:
        assert "good" in vk.drivers()


@requirement("VK-DSC-031")
@pytest.mark.parametrize("kind", ["folder", "missing", "link to nothing", "link to itself", "unreadable"])
def test_manifest_that_cannot_be_read_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """What has a manifest's name and is not a readable file is passed over."""
    path = sandbox.manifests / "odd.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "link to nothing":
        path.symlink_to(sandbox.root / "nothing")
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "unreadable":
        sandbox.manifest("odd.json", sandbox.library("odd")).chmod(0)
    sandbox.shown.append(path)
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert "good" in vk.drivers()


@requirement("VK-DSC-009")
@pytest.mark.parametrize("form", ["absolute", "relative", "below", "above", "bare name"])
def test_library_path_of_each_form(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, form: str) -> None:
    """Absolute paths, paths relative to the manifest and bare names in the system's search path name the library."""
    here, elsewhere = sandbox.folder("manifest-folder"), sandbox.folder("elsewhere")
    below = sandbox.folder("manifest-folder/below")
    places = {
        "absolute": (elsewhere, f"{elsewhere}/libx.so"),
        "relative": (here, "./libx.so"),
        "below": (below, "below/libx.so"),
        "above": (elsewhere, "../elsewhere/libx.so"),
        "bare name": (elsewhere, "libx.so"),
    }
    folder, written = places[form]
    library = sandbox.library("x", folder=folder)
    sandbox.shown.append(sandbox.manifest("x.json", library, here, library_path=written))
    if form == "bare name":
        sandbox.env["LD_LIBRARY_PATH"] = str(elsewhere)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"x"}


@requirement("VK-DSC-009")
@pytest.mark.parametrize("length", [200, 254, 256, 300, 511, 513, 800])
@pytest.mark.parametrize("form", ["absolute", "relative"])
def test_library_path_of_each_length(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, form: str, length: int
) -> None:
    """It is taken to its last letter."""
    library = sandbox.library("x")
    start = "" if form == "relative" else f"{library.path.parent}/"
    written = start + "./" * ((length - len(start) - len("libx.so")) // 2) + "libx.so"
    sandbox.shown.append(sandbox.manifest("x.json", manifest_of(written), library.path.parent))

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"x"}


@requirement("VK-DSC-009")
def test_relative_path_is_not_that_of_the_working_directory(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Two libraries of one name: that beside the manifest is taken, whatever the working directory is."""
    here, working = sandbox.folder("here"), sandbox.folder("working")
    sandbox.library("right", folder=sandbox.folder("here/sub"), file="libx.so")
    sandbox.library("wrong", folder=sandbox.folder("working/sub"), file="libx.so")
    sandbox.shown.append(sandbox.manifest("x.json", manifest_of("sub/libx.so"), here))

    with vulkan_loader.start(sandbox) as vk:
        vk.chdir(working)
        assert vk.drivers() == {"right"}


@requirement("VK-DSC-009")
@pytest.mark.parametrize(
    "name",
    [
        *("lib with blanks.so", "libü.so", "lib,comma.so", "lib#x%20.so", "library.driver", "libend.so ", " lib.so"),
        *("lib.so.1.2.3", "lib", "lib$x.so", "lib~.so", "lib'quote.so", "lib;x.so", "lib*.so", "lib:x.so"),
    ],
)
def test_library_path_is_taken_as_it_is(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str) -> None:
    """Blanks, signs and letters of any alphabet are part of the path."""
    sandbox.driver("plain")
    sandbox.driver("odd", file=name)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"plain", "odd"}


@requirement("VK-DSC-027")
@pytest.mark.parametrize("kind", ["missing", "empty", "text", "folder", "unresolved", "other library"])
def test_library_that_cannot_be_loaded_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """A manifest whose library cannot be loaded, or is not a driver, is passed over."""
    sandbox.driver("before")
    if kind == "unresolved":
        sandbox.env["LD_BIND_NOW"] = "1"
        sandbox.driver("bad", variant="driver_unresolved")
    else:
        library = sandbox.library("bad")
        library.path.unlink()
        if kind == "folder":
            library.path.mkdir()
        elif kind == "other library":
            library.path.symlink_to("/lib/x86_64-linux-gnu/libm.so.6")
        elif kind != "missing":
            library.path.write_text("" if kind == "empty" else "text")
        sandbox.shown.append(sandbox.manifest("bad.json", library))
    sandbox.driver("after")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"before", "after"}


@requirement("VK-DSC-022")
@pytest.mark.parametrize("arch", ["32", "64", None])
def test_library_of_another_architecture_is_not_loaded(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, arch: str | None
) -> None:
    """A driver whose library_arch is not that of the process is passed over without loading it."""
    vulkan_loader.require("library_arch")
    sandbox.driver("plain")
    sandbox.driver("marked", manifest={"library_arch": arch, "file_format_version": "1.0.1"})

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == ({"plain"} if arch == "32" else {"plain", "marked"})
    assert bool(sandbox.log.of("marked")) == (arch != "32")


@requirement("VK-DSC-028")
@pytest.mark.parametrize("is_portability", [True, False])
def test_portability_driver_is_hidden_from_applications_that_do_not_ask(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, is_portability: bool
) -> None:
    """A portability driver is listed only where the application enables the extension and sets the flag."""
    vulkan_loader.require("hides portability drivers")
    vulkan_loader.require("VK_KHR_portability_enumeration")
    extension, flag, other = "VK_KHR_portability_enumeration", 1, "VK_KHR_device_group_creation"
    sandbox.driver("plain", extensions=other)
    sandbox.driver("port", manifest={"is_portability_driver": is_portability, "file_format_version": "1.0.1"})

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == ({"plain"} if is_portability else {"plain", "port"})
        assert vk.drivers(extensions=[extension], flags=flag) == {"plain", "port"}
        assert vk.drivers(extensions=[other, extension], flags=flag) == {"plain", "port"}
        assert vk.drivers(extensions=[extension]) == ({"plain"} if is_portability else {"plain", "port"})


@requirement("VK-DSC-045")
def test_flag_for_portability_without_its_extension(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """An application that sets the flag and does not enable the extension may get portability drivers, or none."""
    vulkan_loader.require("hides portability drivers")
    vulkan_loader.require("VK_KHR_portability_enumeration")
    sandbox.driver("plain")
    sandbox.driver("port", manifest={"is_portability_driver": True, "file_format_version": "1.0.1"})

    with vulkan_loader.start(sandbox) as vk:
        names = vk.drivers(flags=1)
    assert "plain" in names
    record("used" if "port" in names else "hidden")


@requirement("VK-DSC-028")
def test_portability_drivers_alone_are_no_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Without the flag an application finds no driver at all where all are portability drivers."""
    vulkan_loader.require("hides portability drivers")
    sandbox.driver("port", manifest={"is_portability_driver": True, "file_format_version": "1.0.1"})

    with vulkan_loader.start(sandbox) as vk:
        assert str(vk.CreateInstance()[0]) == "VK_ERROR_INCOMPATIBLE_DRIVER"
        assert vk.drivers(extensions=["VK_KHR_portability_enumeration"], flags=1) == {"port"}


@requirement("VK-EXT-022")
def test_flag_for_portability_is_for_drivers_with_the_extension(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A driver that does not have the extension gets neither its name nor its flag, beside one that gets both."""
    vulkan_loader.require("hides portability drivers")
    extension, flag = "VK_KHR_portability_enumeration", 1
    vulkan_loader.require(extension)
    sandbox.driver("plain")
    sandbox.driver("knows", extensions=extension)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(extensions=[extension], flags=flag) == {"plain", "knows"}
    seen = [
        int(sandbox.log.calls("vkCreateInstance", by=name)[0].data["in"]["flags"], 16) for name in ("plain", "knows")
    ]
    assert seen == [0, flag]
