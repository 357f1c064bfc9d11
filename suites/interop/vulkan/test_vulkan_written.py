# SPDX-License-Identifier: Apache-2.0
"""Manifests of any size, and such as are nearly formatted as the document has it (VK-DSC)."""

import json
from collections.abc import Callable

import pytest

from harness.check import VulkanLoader, VulkanSandbox, manifest_of, requirement, version_number

# What stands before, in and after a good manifest so that JSON does not allow it, or leaves open what it means.
# {library} stands for the path of a good driver.
FIELDS = '"file_format_version": "1.0.0", "ICD": {"library_path": "{library}", "api_version": "1.1.0"}'
ICD = '"library_path": "{library}", "api_version": "1.1.0"'
NEARLY = {
    "byte order mark": "\ufeff{" + FIELDS + "}",
    "text after its end": "{" + FIELDS + "} text",
    "brace after its end": "{" + FIELDS + "}}",
    "another after its end": "{" + FIELDS + "} {" + FIELDS + "}",
    "NUL after its end": "{" + FIELDS + "}\0",
    "text before it": "text {" + FIELDS + "}",
    "comment": "{ /* a driver */ " + FIELDS + "}",
    "comment of a line": "// a driver\n{" + FIELDS + "}",
    "comma at its end": "{" + FIELDS + ",}",
    "comma in ICD": '{"file_format_version": "1.0.0", "ICD": {' + ICD + ",}}",
    "comma at its start": "{," + FIELDS + "}",
    "no comma": "{" + FIELDS.replace('", "ICD"', '" "ICD"') + "}",
    "no colon": "{" + FIELDS.replace('"ICD": ', '"ICD" ') + "}",
    "quotes of one stroke": ("{" + FIELDS + "}").replace('"', "'"),
    "line feed in a string": '{"comment": "two\nlines", ' + FIELDS + "}",
    "unknown escape": '{"comment": "\\x", ' + FIELDS + "}",
    "half an escape": '{"comment": "\\u12", ' + FIELDS + "}",
    "half a pair of escapes": '{"comment": "\\ud83d", ' + FIELDS + "}",
    "second half of a pair alone": '{"comment": "\\ude00", ' + FIELDS + "}",
    "pair of two first halves": '{"comment": "\\ud83d\\ud83d", ' + FIELDS + "}",
    "pair of a half and a letter": '{"comment": "\\ud83dx", ' + FIELDS + "}",
    "escape of a letter that is no digit": '{"comment": "\\u00G1", ' + FIELDS + "}",
    "comma in an array": '{"a": [1, ], ' + FIELDS + "}",
    "no comma in an array": '{"a": [1 2], ' + FIELDS + "}",
    "number of a hundred digits": '{"a": ' + "9" * 100 + ", " + FIELDS + "}",
    "two hundred arrays": '{"a": ' + "[" * 200 + "]" * 200 + ", " + FIELDS + "}",
    "a million arrays": '{"a": ' + "[" * 1000000 + "]" * 1000000 + ", " + FIELDS + "}",
    "a million objects": '{"a": ' * 1000000 + "1" + "}" * 1000000,
    "NUL as an escape": '{"comment": "\\u0000", ' + FIELDS + "}",
    "bytes that are no text": '{"comment": "\udcff\udcfe", ' + FIELDS + "}",
    "number with a zero before it": '{"number": 01, ' + FIELDS + "}",
    "number with a sign": '{"number": +1, ' + FIELDS + "}",
    "number without end": '{"number": 1e, ' + FIELDS + "}",
    "no value": '{"value":, ' + FIELDS + "}",
    "word without quotes": '{"value": yes, ' + FIELDS + "}",
    "word in capitals": '{"value": TRUE, ' + FIELDS + "}",
    "keys in small letters": ("{" + FIELDS + "}").replace("ICD", "icd"),
    "keys in capitals": ("{" + FIELDS + "}").replace("library_path", "LIBRARY_PATH"),
    "first library is missing": "{" + FIELDS.replace("{" + '"lib', '{"library_path": "/missing.so", "lib') + "}",
    "second library is missing": "{" + FIELDS.replace("0.0\"}", '0.0"}').replace(
        '"1.1.0"}', '"1.1.0", "library_path": "/missing.so"}') + "}",
    "second ICD": "{" + FIELDS + ', "ICD": {"library_path": "/missing.so", "api_version": "1.1.0"}}',
    "format that is a word": ("{" + FIELDS + "}").replace('"1.0.0"', '"one"'),
    "format that is empty": ("{" + FIELDS + "}").replace('"1.0.0"', '""'),
    "format of one number": ("{" + FIELDS + "}").replace('"1.0.0"', '"1"'),
    "format of version 0": ("{" + FIELDS + "}").replace('"1.0.0"', '"0.0.0"'),
    "format that is a number": ("{" + FIELDS + "}").replace('"1.0.0"', "1.0"),
    "portability as a string": ("{" + FIELDS + "}").replace("0\"}", '0", "is_portability_driver": "true"}'),
    "portability as a number": ("{" + FIELDS + "}").replace("0\"}", '0", "is_portability_driver": 1}'),
    "portability as null": ("{" + FIELDS + "}").replace("0\"}", '0", "is_portability_driver": null}'),
    "architecture as a number": ("{" + FIELDS + "}").replace("0\"}", '0", "library_arch": 32}'),
    "unknown architecture": ("{" + FIELDS + "}").replace("0\"}", '0", "library_arch": "16"}'),
    "architecture with more after it": ("{" + FIELDS + "}").replace("0\"}", '0", "library_arch": "32bit"}'),
    "empty architecture": ("{" + FIELDS + "}").replace("0\"}", '0", "library_arch": ""}'),
}  # fmt: skip
# Versions of Vulkan in a manifest that are not three numbers.
VERSIONS = ["", "1", "1.3", "1.3.", ".1.3", "one", "v1.3.0", " 1.3.0", "1.3.0 ", "1.3.0-rc1", "1.3.0.0.0", "1,3,0",
            "1.3.x", "0x1.3.0", "-1.3.0", "0.0.0", "1..3", "01.03.00"]  # fmt: skip


@requirement("VK-DSC-025")
@pytest.mark.parametrize("size", [1 << 10, 5 << 10, 20 << 10, 70 << 10, 300 << 10, 2 << 20])
@pytest.mark.parametrize("where", ["before", "in", "after"])
def test_manifest_may_be_large(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, size: int, where: str) -> None:
    """However much stands before the driver, after it or in a field of no meaning, it is used."""
    sandbox.driver("plain")
    text = json.dumps(manifest_of(sandbox.library("large")))
    if where == "in":
        text = text.replace("{", '{"comment": "' + "c" * size + '", ', 1)
    else:
        text = " " * size + text if where == "before" else text + "\n" * size
    sandbox.shown.append(sandbox.manifest("large.json", text))

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"plain", "large"}


@requirement("VK-DSC-042")
@pytest.mark.parametrize("content", NEARLY)
def test_what_is_nearly_a_manifest_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, content: str, record: Callable[[str], None]
) -> None:
    """Its driver may be used or not; those beside it are used."""
    sandbox.driver("before")
    library = sandbox.library("nearly")
    text = NEARLY[content].replace("{library}", str(library.path)).encode(errors="surrogateescape")
    sandbox.shown.append(sandbox.manifest("nearly.json", text))
    sandbox.driver("after")

    with vulkan_loader.start(sandbox) as vk:
        names = vk.drivers()
    assert set(names) - {"nearly"} == {"before", "after"}
    record("used" if "nearly" in names else "passed over")


@requirement("VK-DSC-031")
def test_beginnings_of_a_manifest_name_no_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Of a manifest only the whole is used, wherever the file ends before that, and nothing after its end is read."""
    sandbox.driver("before")
    text = json.dumps(manifest_of(sandbox.library("cut").path) | {"n": [-1.5e3, True, None, "\\\u20ac"]})
    sandbox.shown += [sandbox.manifest(f"cut{size}.json", text[:size]) for size in range(len(text))]
    sandbox.driver("after")

    with vulkan_loader.start(sandbox, guarded_heap=True) as vk:
        assert vk.drivers() == {"before", "after"}
    assert not sandbox.log.of("cut")


@requirement("VK-DSC-042")
@pytest.mark.parametrize("change", ["left out", "twice", "a quote", "a backslash", "a brace", "a blank"])
def test_manifest_with_one_byte_changed_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, change: str
) -> None:
    """Whichever byte it is: the driver may be used or not, and those beside it are used."""
    sandbox.driver("before")
    text = json.dumps(manifest_of(sandbox.library("changed").path) | {"n": [-1.5e3, True, "\\\u20ac"]})
    byte = {"left out": "", "a quote": '"', "a backslash": "\\", "a brace": "}", "a blank": " "}
    for place in range(len(text)):
        other = byte.get(change, 2 * text[place])
        changed = text[:place] + other + text[place + 1 :]
        sandbox.shown.append(sandbox.manifest(f"changed{place}.json", changed))
    sandbox.driver("after")

    with vulkan_loader.start(sandbox, guarded_heap=True) as vk:
        assert set(vk.drivers()) - {"changed"} == {"before", "after"}


@requirement("VK-DSC-043")
@pytest.mark.parametrize("version", VERSIONS)
def test_version_that_is_not_three_numbers_costs_only_its_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str, record: Callable[[str], None]
) -> None:
    """Such a driver may be left out, be one of 1.0, or be told what the application asks for; the others are used."""
    sandbox.driver("before", api_version="1.3.0")
    sandbox.driver("odd", api_version="1.3.0", manifest={"api_version": version})
    sandbox.driver("after", api_version="1.3.0")

    with vulkan_loader.start(sandbox) as vk:
        names = vk.drivers(api_version="1.2.0")
    assert set(names) - {"odd"} == {"before", "after"}
    seen = [int(event.data["in"]["apiVersion"], 16) for event in sandbox.log.calls("vkCreateInstance", by="odd")]
    record("as asked" if version_number("1.2.0") in seen else "of 1.0" if "odd" in names else "left out")


@requirement("VK-DSC-009")
@pytest.mark.parametrize("way", ["XDG_DATA_HOME", "VK_DRIVER_FILES"])
def test_bare_name_is_not_that_of_a_file_beside_the_manifest(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, way: str
) -> None:
    """Of two libraries of one name, that in the system's search path is taken; without it, there is no driver."""
    if way != "XDG_DATA_HOME":
        vulkan_loader.require(way)
    place, elsewhere = sandbox.search_folder("place"), sandbox.folder("elsewhere")
    sandbox.library("beside", folder=place, file="libbare.so")
    path = sandbox.manifest("bare.json", manifest_of("libbare.so"), place)
    sandbox.env[way] = str(path if way != "XDG_DATA_HOME" else sandbox.root / "place")
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert str(vk.CreateInstance()[0]) == "VK_ERROR_INCOMPATIBLE_DRIVER"

    sandbox.library("system", folder=elsewhere, file="libbare.so")
    sandbox.env["LD_LIBRARY_PATH"] = str(elsewhere)
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"system"}
