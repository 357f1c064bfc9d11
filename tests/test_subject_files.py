# SPDX-License-Identifier: Apache-2.0
"""What files are found to be, and what is refused as a subject, with the sentence that says so."""

from __future__ import annotations

import io
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.build import build
from harness.cli.main import main
from harness.errors import UsageError
from harness.subject import KINDS
from harness.subject.identify import VULKAN_LOADER_FUNCTIONS, identify
from harness.subject.library import read_library
from harness.subject.search import system_loader

EM_AARCH64, EM_386 = 183, 3
NO_LAYER = "layer_without_info_init_init_with_properties_deinit"


def library_of(kind: str) -> Path:
    if kind == "vulkan_loader":
        return build().with_vulkan().reference_loader
    if kind == "vulkan_driver":
        return build().with_vulkan().drivers["driver"]
    return {
        "loader": build().reference_loader,
        "layer": build().mock_layers["layer"],
        "icd": build().mock_icds["icd"],
    }[kind]


def minimal_32_bit(path: Path) -> Path:
    """The header of a shared library for 32-bit x86, without sections and segments."""
    ident = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    path.write_bytes(ident + struct.pack("<HHIIIIIHHHHHH", 3, EM_386, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_library_of_32_bits_is_refused(kind: str, tmp_path: Path) -> None:
    """No process here can load it, whatever it is a library of."""
    path = minimal_32_bit(tmp_path / "lib32.so")
    with pytest.raises(UsageError, match=r"lib32\.so is a 32-bit library for 386; this harness was built for 64 bit"):
        KINDS[kind](path)


@pytest.mark.parametrize("kind", KINDS)
def test_library_for_another_machine_is_refused(kind: str, tmp_path: Path) -> None:
    """The same library with another machine in its header, beside the one that is taken."""
    content = bytearray(library_of(kind).read_bytes())
    content[18:20] = EM_AARCH64.to_bytes(2, "little")
    path = tmp_path / "libother.so"
    path.write_bytes(content)
    assert KINDS[kind](library_of(kind)).facts.functions
    with pytest.raises(UsageError, match=r"libother\.so is a 64-bit library for AARCH64"):
        KINDS[kind](path)


@pytest.mark.parametrize("kind", KINDS)
def test_library_of_each_kind_is_identified(kind: str) -> None:
    assert identify(library_of(kind)).kind == kind


def test_variants_of_mocks_are_identified() -> None:
    """Whatever a vendor's library exports of what loaders look for, and a layer's of its four functions."""
    vendors = {name for name in build().mock_icds if name != "not_an_icd"}
    assert {name: identify(build().mock_icds[name]).kind for name in vendors} == dict.fromkeys(vendors, "icd")
    assert identify(build().mock_icds["not_an_icd"]).kind == ""
    layers = {name: path for name, path in build().mock_layers.items() if name != NO_LAYER}
    assert identify(build().mock_layers[NO_LAYER]).kind == ""
    assert {name: identify(path).kind for name, path in layers.items()} == dict.fromkeys(layers, "layer")


def test_system_loader_is_identified() -> None:
    path = system_loader()
    if path is None:
        pytest.skip("there is no loader on this machine")
    assert identify(path).kind == "loader"


@pytest.mark.parametrize("asked", KINDS)
@pytest.mark.parametrize("given", KINDS)
def test_mix_up_names_the_command(asked: str, given: str) -> None:
    """A library of another kind: what it is, and which command tests it."""
    path = library_of(given)
    if asked == given:
        KINDS[asked](path)
        return
    identity = KINDS[given].identity
    with pytest.raises(UsageError, match=f"is {identity.words}, not .*: clharness {identity.command} {path} tests it"):
        KINDS[asked](path)


def test_library_that_leaves_open_what_it_is(tmp_path: Path) -> None:
    """One that exports the API, and not what only vendors have, may be either: it is what it is said to be."""
    content = build().reference_loader.read_bytes()
    path = tmp_path / "libboth.so"
    path.write_bytes(content.replace(b"OpenCL/vendors", b"OpenCL/xendors"))
    assert identify(path).kind == ""
    assert KINDS["icd"](path).facts.functions and KINDS["loader"](path).facts.functions
    with pytest.raises(UsageError, match="is not an OpenCL layer: it does not export clGetLayerInfo"):
        KINDS["layer"](path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.dll", b"MZ\x90\0", "a Windows library (PE)"),
        ("a.icd", b"liba.so\n", "an .icd file, which names the library of an ICD"),
        ("a.json", b'{"ICD": {"library_path": "a.so"}}', "the manifest of a Vulkan driver"),
        ("b.json", b'{"layer": {"name": "b"}}', "the manifest of a Vulkan layer"),
        ("c.json", b"{", "not a library, nor a file that names one"),
        ("d.txt", b"", "not a library, nor a file that names one"),
    ],
)
def test_other_files_are_identified(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert identify(path).words == words


@pytest.mark.parametrize(
    ("exports", "kind", "words"),
    [
        (
            [*VULKAN_LOADER_FUNCTIONS, "vkEnumeratePhysicalDevices"],
            "vulkan_loader",
            "Vulkan loader, not {}: clharness loader .* tests it",
        ),
        ([*VULKAN_LOADER_FUNCTIONS], "vulkan_driver", "Vulkan driver, not {}: clharness icd .* tests it"),
        (
            ["vk_icdGetInstanceProcAddr", "vk_icdNegotiateLoaderICDInterfaceVersion"],
            "vulkan_driver",
            "Vulkan driver, not {}: clharness icd .* tests it",
        ),
        (["vkNegotiateLoaderLayerInterfaceVersion"], "vulkan-layer", "Vulkan layer, not {}: not supported yet"),
    ],
)
def test_vulkan_libraries_are_identified(tmp_path: Path, exports: list[str], kind: str, words: str) -> None:
    """And refused by each command, as what they are."""
    path = tmp_path / "libvulkan.so"
    source = "".join(f"void {name}(void);void {name}(void) {{}}\n" for name in exports)
    command = [build().compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=source, text=True, check=True)
    assert identify(path).kind == kind
    for known in KINDS.values():
        if known.identity.kind != kind:
            with pytest.raises(UsageError, match=f"is a {words.format(known.identity.words)}"):
                known(path)


@pytest.mark.parametrize("kind", KINDS)
def test_program_of_dos_is_not_a_windows_library(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "OpenCL.dll"
    path.write_bytes(b"MZ" + bytes(200))
    with pytest.raises(UsageError, match=r"OpenCL\.dll is a program of MS-DOS, not a Windows library"):
        KINDS[kind](path)


@pytest.mark.parametrize("kind", KINDS)
def test_windows_library_needs_the_build_for_windows(kind: str, tmp_path: Path) -> None:
    """The smallest file with the headers of a 64-bit Windows library."""
    path = tmp_path / "OpenCL.dll"
    header = b"PE\0\0" + struct.pack("<HHIIIHHH", 0x8664, 0, 0, 0, 0, 240, 0x2022, 0x20B)
    path.write_bytes(b"MZ" + bytes(58) + struct.pack("<I", 64) + header + bytes(238))
    with pytest.raises(UsageError, match=r"OpenCL\.dll is a library for Windows: the build in .* is not"):
        KINDS[kind](path)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"text", "is not a shared library"), (b"\x7fELF" + bytes(60), "is not a shared library|damaged")],
)
def test_what_is_not_a_library_is_said(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "file.so"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=says):
        KINDS["loader"](path)
    with pytest.raises(UsageError, match="does not exist: give the path of an OpenCL layer, for example build/"):
        KINDS["layer"](tmp_path / "missing.so")
    with pytest.raises(UsageError, match="is not a file: give the path of an OpenCL ICD"):
        KINDS["icd"](tmp_path)


@pytest.mark.parametrize(
    ("option", "is_told", "form"), [("none", False, r"sha256-[0-9a-f]{40}"), ("0xABCD", True, "abcd")]
)
def test_build_without_an_id_is_told_from_another_by_its_content(
    option: str, is_told: bool, form: str, tmp_path: Path
) -> None:
    """Runs of both are not of the same subject: what differs between them is not flaky."""
    ids = []
    for number, more in enumerate(("", "", "int more;")):
        path = tmp_path / f"{number}.so"
        command = [build().compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), f"-Wl,--build-id={option}"]
        subprocess.run(command, input=f"int number;{more}", text=True, check=True)
        ids.append(read_library(path, "a library", "").build_id)
    assert re.fullmatch(form, ids[0]) and ids[0] == ids[1]
    assert (ids[0] == ids[2]) == is_told


def header_of(content: bytearray, name: str) -> int:
    """Where the header of a section begins in the file of a library."""
    elf = ELFFile(io.BytesIO(content))
    return int(elf["e_shoff"] + elf.get_section_index(name) * elf["e_shentsize"])


def with_a_note_of_no_name(content: bytearray) -> None:
    """The name in it has no end."""
    (note,) = struct.unpack_from("<Q", content, header_of(content, ".note.gnu.build-id") + 0x18)
    content[content.index(b"GNU\0", note) + 3] = 0xFF


def with_names_out_of_reach(content: bytearray) -> None:
    """The names of its symbols are said to be in a section that there is not."""
    struct.pack_into("<I", content, header_of(content, ".dynsym") + 0x28, 0xFFFF)


def with_names_in_no_table(content: bytearray) -> None:
    """The names of its symbols are said to be in a section that is not a table of strings."""
    struct.pack_into("<I", content, header_of(content, ".dynsym") + 0x28, 0)


def without_sections(content: bytearray) -> None:
    """As `strip --strip-section-headers` leaves it, which the dynamic linker does not notice."""
    struct.pack_into("<Q", content, 0x28, 0)
    struct.pack_into("<HH", content, 0x3C, 0, 0)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (with_a_note_of_no_name, "is a damaged library"),
        (with_names_out_of_reach, "is a damaged library"),
        (with_names_in_no_table, "is a damaged library"),
        (without_sections, "has no section headers, by which its symbols are read"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_library_is_refused_in_a_sentence(
    kind: str, damage: Callable[[bytearray], None], says: str, tmp_path: Path
) -> None:
    """Whatever the reader of its tables stumbles over."""
    content = bytearray(library_of(kind).read_bytes())
    damage(content)
    path = tmp_path / "libdamaged.so"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=rf"libdamaged\.so {says}"):
        KINDS[kind](path)


@pytest.mark.parametrize(
    ("command", "name", "content", "says"),
    [
        ("loader", "a.icd", b"liba.so\n", "a.icd is an .icd file, which names the library of an ICD: clharness icd "),
        ("layer", "a.dll", b"MZ\x90\0", "a.dll is a Windows library (PE): not supported yet"),
        (
            "icd",
            "a.json",
            b'{"layer": {}}',
            "a.json is the manifest of a Vulkan layer, not of a driver: not supported yet",
        ),
        ("loader", "a.json", b'{"ICD": {}}', "a.json is the manifest of a Vulkan driver: clharness icd "),
    ],
)
def test_commands_say_what_a_file_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str, content: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([command, str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(("asked", "given"), [("loader", "layer"), ("icd", "loader"), ("layer", "icd")])
def test_commands_name_the_one_that_tests_a_library(capfd: pytest.CaptureFixture[str], asked: str, given: str) -> None:
    path = library_of(given)
    assert main([asked, str(path), "-j", "1"]) == 2
    assert f"{path} is {KINDS[given].identity.words}" in (output := capfd.readouterr().err)
    assert f"clharness {given} {path} tests it" in output


@pytest.mark.skipif(build().vulkan is None, reason="built without Vulkan")
def test_vulkan_loader_has_one_suite(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["loader", str(build().with_vulkan().reference_loader), "--suite", "layers"]) == 2
    assert "a Vulkan loader has the suite interop alone" in capfd.readouterr().err
    assert main(["loader", "--vulkan", str(build().reference_loader)]) == 2
    assert "is an OpenCL loader, not a Vulkan loader" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        ({"clGetPlatformIDs", "clGetExtensionFunctionAddress"}, "an OpenCL loader"),
        ({"clGetPlatformIDs", "clIcdGetPlatformIDsKHR"}, "a Windows library (PE)"),
        ({"clGetPlatformIDs", "clInitLayer"}, "a Windows library (PE)"),
        ({"clThing"}, "a Windows library (PE)"),
    ],
    ids=["loader", "ICD", "layer", "another"],
)
def test_windows_loader_that_names_no_registry_key_is_a_loader(
    functions: set[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it looks for vendors is what is tested; with the key's name misspelt it is a loader all the same."""
    path = tmp_path / "OpenCL.dll"
    path.write_bytes(b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + bytes(64))
    read = SimpleNamespace(functions=frozenset(functions), real_path=path)
    monkeypatch.setattr("harness.subject.identify.read_library", lambda *_: read)
    assert identify(path).words == words
