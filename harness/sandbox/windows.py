# SPDX-License-Identifier: Apache-2.0
"""The machine that a case on Windows has around it: registry, display adapters, devices, packages, privileges.

Written as a file that the probe reads (harness/probe/windows/machine.h); each thing is one line in a check:

    sandbox.registry_vendor(mock, data=0, type="REG_DWORD")
    sandbox.adapter(vendor=mock)
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from harness.sandbox.wine import windows_path

VENDORS = r"HKLM\SOFTWARE\Khronos\OpenCL\Vendors"
VENDORS_32 = r"HKLM\SOFTWARE\WOW6432Node\Khronos\OpenCL\Vendors"
LAYERS = r"HKLM\SOFTWARE\Khronos\OpenCL\Layers"
DRIVER_NAME = "OpenCLDriverName"
DRIVER_NAME_WOW = "OpenCLDriverNameWoW"
PACKAGE_FAMILY = "Microsoft.D3DMappingLayers_8wekyb3d8bbwe"
NEED_RESTART = 14  # CM_PROB_NEED_RESTART: the driver waits for a restart

TYPES = {
    "REG_NONE": 0,
    "REG_SZ": 1,
    "REG_EXPAND_SZ": 2,
    "REG_BINARY": 3,
    "REG_DWORD": 4,
    "REG_DWORD_BIG_ENDIAN": 5,
    "REG_LINK": 6,
    "REG_MULTI_SZ": 7,
    "REG_QWORD": 11,
}
INTEGRITY = {"low": 0x1000, "medium": 0x2000, "medium plus": 0x2100, "high": 0x3000, "system": 0x4000}

Data = int | str | bytes | Sequence[str]


class Library(Protocol):
    """A mock."""

    @property
    def path(self) -> Path:
        """The file, in the file system of Linux."""


def registry_data(data: Data, kind: str) -> bytes:
    """The bytes of a value: numbers little-endian, texts in UTF-16 with their NUL, lists of texts with one more."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, int):
        order, format_ = (">" if kind.endswith("BIG_ENDIAN") else "<"), "Q" if kind == "REG_QWORD" else "I"
        return struct.pack(order + format_, data)
    texts = [data] if isinstance(data, str) else list(data)
    content = "".join(f"{text}\0" for text in texts) + ("\0" if kind == "REG_MULTI_SZ" else "")
    return content.encode("utf-16-le")


def _hex(content: str | bytes) -> str:
    return (content.encode() if isinstance(content, str) else content).hex() or "-"


def value_line(key: str, name: str, data: Data = 0, type: str = "REG_DWORD") -> str:
    """The line of a value."""
    return f"value {_hex(key)} {_hex(name)} {TYPES[type]} {_hex(registry_data(data, type))}"


class Machine:
    """What is installed, as lines for the probe."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._adapters = 0
        self._devices = 0

    # --- the registry ---

    def registry_value(self, key: str, name: str, data: Data, type: str = "REG_DWORD") -> str:
        """A value of any key; gives its line of the description."""
        self.lines.append(value_line(key, name, data, type))
        return self.lines[-1]

    def registry_vendor(
        self, library: Library | str, data: Data = 0, type: str = "REG_DWORD", key: str = VENDORS
    ) -> str:
        """A value of the Vendors key: its name is a mock's path, or any text."""
        return self.registry_value(key, library_path(library), data, type)

    def registry_layer(
        self, library: Library | str, priority: Data = 0, type: str = "REG_DWORD", key: str = LAYERS
    ) -> str:
        """A value of the Layers key."""
        return self.registry_value(key, library_path(library), priority, type)

    def registry_key(self, key: str) -> None:
        """A key without values."""
        self.lines.append(f"key {_hex(key)}")

    def registry_deny(self, key: str) -> None:
        """A key of HKLM that nobody may open."""
        self.registry_key(key)
        self.lines.append(f"deny {_hex(key.partition(chr(92))[2])}")

    # --- devices ---

    def adapter(
        self,
        vendor: Library | Sequence[Library | str] | str | None = None,
        *,
        wow: Library | str | None = None,
        type: str = "",
        raw: bytes | None = None,
        problem: int = 0,
        dxgi: int | None = None,
        luid: int | None = None,
        kernel: bool = True,
        devices: bool = True,
        traits: Sequence[str] = (),
        undescribed: bool = False,
        late: bool = False,
        headless: bool = False,
        translated: Library | str | None = None,
        bare: bool = False,
        unreadable: bool = False,
    ) -> int:
        """A display adapter whose driver names a vendor, by all ways that Windows has; gives the number of its device.

        A list of vendors is a REG_MULTI_SZ; raw: the bytes that stand in the value in place of a vendor. wow: what the
        driver names for 32-bit processes. dxgi: its place in the order of DXGI (default: as they were added). luid: its
        number of 64 bits for DXGI and the kernel (default: a new one, in the lower half). kernel, devices: whether
        D3DKMT lists it, and the configuration manager. problem: of the device, such as NEED_RESTART; traits: as in
        harness/probe/windows/machine.h. undescribed: DXGI cannot describe it. late: it comes when the kernel was asked
        how many there are. headless: it has no outputs. translated: what the driver names for who has D3DKMT translate
        the path. bare: its driver has no key; those of others have values of other names, too. unreadable: the kernel
        tells the size of a value, and then cannot read it.
        """
        place = self._adapters if dxgi is None else dxgi
        self._adapters += 1
        number = 0x1000 + self._adapters if luid is None else luid
        self.lines.append(f"adapter {number & 0xFFFFFFFF:#x} {number >> 32:#x} {int(kernel)} {place}")
        values = [*_other_values(bare), *_driver_values(vendor, wow, type)]
        if raw is not None:
            values.append(f"{_hex(DRIVER_NAME)} {TYPES[type]} {_hex(raw)}")
        self.lines += [f"adapter-value {value}" for value in values]
        self.lines += [f"adapter-translated {value}" for value in _driver_values(translated, None, type)]
        self.lines += ["adapter-trait undescribed"] * undescribed + ["adapter-trait late"] * late
        self.lines += ["adapter-trait headless"] * headless + ["adapter-trait unreadable"] * unreadable
        return self._device("display", problem, -1, values, traits) if devices else -1

    def component(
        self,
        vendor: Library | Sequence[Library | str] | str | None = None,
        *,
        wow: Library | str | None = None,
        type: str = "",
        problem: int = 0,
        parent: int = -1,
        kind: str = "component",
        traits: Sequence[str] = (),
        bare: bool = False,
    ) -> int:
        """A software component, which belongs to the device `parent`; -1: to a new display adapter of no vendor.

        bare: it has no key.
        """
        if parent < 0:
            parent = self.adapter()
        values = [*_other_values(bare), *_driver_values(vendor, wow, type)]
        return self._device(kind, problem, parent, values, traits)

    def device_of_another_class(self, vendor: Library | str, *, parent: int = -1) -> int:
        """A device that is neither an adapter nor a component, with a key like theirs, below a device or on its own."""
        return self._device("other", 0, parent, [*_other_values(False), *_driver_values(vendor, None, "")], ())

    def _device(self, kind: str, problem: int, parent: int, values: Sequence[str], traits: Sequence[str]) -> int:
        self.lines.append(f"device {kind} {problem} {parent}")
        self.lines += [f"device-value {value}" for value in values]
        self.lines += [f"device-trait {trait}" for trait in traits]
        self._devices += 1
        return self._devices - 1

    def older_system(self) -> None:
        """A Windows whose kernel lists no adapters (before 10, version 1803): the configuration manager is left."""
        self.lines.append("older")

    def no_dxgi(self, how: str) -> None:
        """A system without DXGI: its library is "absent", its functions are "missing", or they "fail"."""
        self.lines.append(f"no-dxgi {how}")

    def no_token(self) -> None:
        """A process that cannot ask what it may do."""
        self.lines.append("no-token")

    def strict_paths(self) -> None:
        """A system that refuses LOAD_WITH_ALTERED_SEARCH_PATH for relative paths, for which it is undefined."""
        self.lines.append("strict-paths")

    def failing(self, question: str) -> None:
        """The system fails to answer, with the answer left behind.

        question: "count-of-adapters" or "list-of-adapters" of the kernel, "length-of-devices" or "list-of-devices" of
        the configuration manager.
        """
        self.lines.append(f"fails {question}")

    def class_numbers(self) -> None:
        """A configuration manager that tells the class of a device as a number to who has no room for its text."""
        self.lines.append("class-numbers")

    def package(
        self,
        folder: Path,
        family: str = PACKAGE_FAMILY,
        name: str = "clharness.package",
        *,
        traits: Sequence[str] = (),
    ) -> None:
        """An installed package; its files are in the folder.

        traits: "gone": it is listed, and has no path any more; "late": it comes when the system was asked how many
        there are; "counted": it goes then; "measured": it goes when the system was asked how long its path is.
        """
        self.lines.append(f"package {_hex(family)} {_hex(name)} {_hex(windows_path(folder))}")
        self.lines += [f"package-trait {trait}" for trait in traits]

    def no_packages(self) -> None:
        """A system that lacks the functions that packages are asked for with."""
        self.lines.append("no-packages")


def library_path(library: Library | str) -> str:
    """The path of a mock, or of a file of this machine, as Windows has it; any other text as it is."""
    text = library if isinstance(library, str) else str(library.path)
    return windows_path(Path(text)) if text.startswith("/") else text


# Variables that list libraries; checks write lists as Linux has them.
_LISTS = ("OCL_ICD_FILENAMES", "OPENCL_LAYERS")


def variable_value(name: str, value: str) -> str:
    """The value of a variable as Windows has it."""
    return ";".join(library_path(part) for part in value.split(":")) if name in _LISTS else value


def in_place(number: int, path: str) -> str:
    """Another spelling of an absolute path, which has its place among others where they are sorted."""
    drive, _, rest = path.partition("\\")
    return f"{drive}\\{number:03}\\..\\{rest}" if drive.endswith(":") else path


def _other_values(bare: bool) -> list[str]:
    """NAME TYPE DATA of what every driver has in its key, whether it names a vendor or not."""
    data = registry_data("clharness", "REG_SZ")
    return [] if bare else [f"{_hex('DriverDesc')} {TYPES['REG_SZ']} {_hex(data)}"]


def _driver_values(
    vendor: Library | Sequence[Library | str] | str | None, wow: Library | str | None, type: str
) -> list[str]:
    """NAME TYPE DATA of the values that a driver has."""
    values = []
    for name, what in ((DRIVER_NAME, vendor), (DRIVER_NAME_WOW, wow)):
        if what is None:
            continue
        data: Data = (
            [library_path(one) for one in what]
            if isinstance(what, Sequence) and not isinstance(what, str)
            else library_path(what)
        )
        kind = type or ("REG_SZ" if isinstance(data, str) else "REG_MULTI_SZ")
        values.append(f"{_hex(name)} {TYPES[kind]} {_hex(registry_data(data, kind))}")
    return values
