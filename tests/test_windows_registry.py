# SPDX-License-Identifier: Apache-2.0
"""The registry that cases on Windows have: it answers as the machine's own does, and as its documentation says."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from harness.build import ROOT
from harness.sandbox.windows import Machine, in_place, registry_data, variable_value
from tests.built_for_windows import WINDOWS, require

COMPILER = "x86_64-w64-mingw32-gcc"
SUCCESS, NOT_FOUND, INVALID_HANDLE, MORE_DATA = 0, 2, 6, 234

# RegQueryValueEx, RegEnumValue, RegOpenKeyEx, RegCloseKey (Microsoft Learn, winreg.h): sizes are in bytes, lengths of
# names in characters without their NUL; what does not fit is ERROR_MORE_DATA, and a value's size is told all the same.
DOCUMENTED = f"""\
query a number room 4: {SUCCESS} type 4 size 4
query a number room 3: {MORE_DATA} type 4 size 4
query A NUMBER room 4: {SUCCESS} type 4 size 4
query c long text room 4: {MORE_DATA} type 1 size 14
query c long text room 0: {SUCCESS} type 1 size 14
close {SUCCESS}
close again {INVALID_HANDLE}
missing key {NOT_FOUND}
a name too long is refused: 1
"""
OF_VALUES = [(0, 1, 8), (8, 4, 4), (6, 1, 5), (11, 1, 14), (9, 0, 0), (16383, 4, 4)]  # length of name, type, size


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What tests/windows_registry.c prints of the machine's registry, and of a tree in its place."""
    require()
    if shutil.which(COMPILER) is None:
        pytest.skip("mingw is not installed")
    program = tmp_path_factory.mktemp("registry") / "registry.exe"
    subprocess.run([COMPILER, "-o", program, ROOT / "tests" / "windows_registry.c"], check=True)
    wine = shutil.which("/usr/lib/wine/wine64") or shutil.which("wine64")
    assert wine
    home = {"WINEPREFIX": str(WINDOWS / "wine"), "HOME": str(WINDOWS / "wine"), "WINEDEBUG": "-all", "PATH": "/usr/bin"}
    return {
        which: subprocess.run([wine, program, which], env=home, capture_output=True, text=True, check=True).stdout
        for which in ("real", "own")
    }


def test_registry_of_a_case_answers_as_that_of_the_machine(answers: dict[str, str]) -> None:
    assert answers["own"].splitlines() == answers["real"].splitlines()


@pytest.mark.parametrize("line", DOCUMENTED.splitlines())
def test_registry_of_a_case_answers_as_documented(answers: dict[str, str], line: str) -> None:
    assert line in answers["own"].replace("\r", "").splitlines()


def test_values_are_enumerated_as_documented(answers: dict[str, str]) -> None:
    lines = answers["own"].replace("\r", "").splitlines()
    for number, (length, kind, size) in enumerate(OF_VALUES):
        answer = f"length {length} is 1 type {kind} size {size}"
        assert f"value {number} rooms 70000 64: {SUCCESS} {answer}" in lines
        expected = f"{SUCCESS} {answer}" if size <= 4 else f"{MORE_DATA}"
        assert f"value {number} rooms 70000 4: {expected}" in lines
        expected = f"{SUCCESS} {answer}" if length < 5 else f"{MORE_DATA}"
        assert f"value {number} rooms 5 64: {expected}" in lines
    assert lines.count(f"end {len(OF_VALUES)}") == 4


# --- the description of a machine ---


def test_machine_is_described_line_by_line() -> None:
    machine = Machine()
    machine.registry_vendor("a.dll")
    device = machine.component(vendor="b.dll", parent=machine.adapter())
    vendors = rb"HKLM\SOFTWARE\Khronos\OpenCL\Vendors".hex()
    description = f"{b'DriverDesc'.hex()} 1 {'clharness'.encode('utf-16-le').hex()}0000"
    assert machine.lines == [
        f"value {vendors} {b'a.dll'.hex()} 4 00000000",
        "adapter 0x1001 0x0 1 0",
        f"adapter-value {description}",
        "device display 0 -1",
        f"device-value {description}",
        "device component 0 0",
        f"device-value {description}",
        f"device-value {b'OpenCLDriverName'.hex()} 1 {'b.dll'.encode('utf-16-le').hex()}0000",
    ]
    assert device == 1


def test_data_of_each_type_is_written_as_the_registry_has_it() -> None:
    assert registry_data(1, "REG_DWORD") == b"\1\0\0\0"
    assert registry_data(1, "REG_DWORD_BIG_ENDIAN") == b"\0\0\0\1"
    assert registry_data(1, "REG_QWORD") == b"\1" + bytes(7)
    assert registry_data("a", "REG_SZ") == b"a\0\0\0"
    assert registry_data(["a", "b"], "REG_MULTI_SZ") == b"a\0\0\0b\0\0\0\0\0"
    assert registry_data(b"x", "REG_BINARY") == b"x"


def test_lists_of_libraries_are_written_as_windows_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.sandbox.windows.windows_path", lambda path: "Z:" + str(path).replace("/", "\\"))
    assert variable_value("OPENCL_LAYERS", "/a/b.dll:c.dll:") == r"Z:\a\b.dll;c.dll;"
    assert variable_value("OTHER", "/a:b") == "/a:b"
    assert in_place(7, r"Z:\a\b.dll") == r"Z:\007\..\a\b.dll"
    assert in_place(7, "b.dll") == "b.dll"
