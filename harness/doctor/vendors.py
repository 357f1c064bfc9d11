# SPDX-License-Identifier: Apache-2.0
"""One vendor on its way through a loader's decisions: file, line, library, loading, functions, platforms, devices."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.doctor import access, libraries
from harness.doctor.ask import Answer, Asker
from harness.doctor.entries import Entry
from harness.doctor.findings import Finding, listed, note
from harness.doctor.hardware import Hardware
from harness.doctor.helpers import missing_helpers
from harness.doctor.libraries import Library
from harness.doctor.linker import Linker

STEPS = ("file", "line", "library", "ELF", "dependencies", "loading", "functions", "platforms", "devices")
_CODES = {
    0: "CL_SUCCESS",
    -1: "CL_DEVICE_NOT_FOUND",
    -2: "CL_DEVICE_NOT_AVAILABLE",
    -5: "CL_OUT_OF_RESOURCES",
    -6: "CL_OUT_OF_HOST_MEMORY",
    -30: "CL_INVALID_VALUE",
    -31: "CL_INVALID_DEVICE_TYPE",
    -32: "CL_INVALID_PLATFORM",
    -59: "CL_INVALID_OPERATION",
    -1001: "CL_PLATFORM_NOT_FOUND_KHR",
}
_NOTHING_TO_OFFER = {"no-platform", "no-devices", "no-enumeration"}
_READS_VENDORS = b"OpenCL/vendors"
_NOT_ASKED: dict[str, Any] = {"code": 0, "count": 0, "devices": [], "asked": False}


def code_name(code: int) -> str:
    """An error code by name."""
    return _CODES.get(code, f"error {code}")


@dataclass
class Vendor:
    """A vendor as it was walked, without a loader. `listed`: how many of its platforms the loader lists."""

    entry: Entry
    library: Library | None = None
    answer: Answer | None = None
    step: str = "file"
    findings: list[Finding] = field(default_factory=list)
    platforms: list[dict[str, Any]] = field(default_factory=list)
    listed: int = 0

    @property
    def where(self) -> str:
        """The file, or variable, that names the vendor."""
        return self.entry.where

    @property
    def works(self) -> bool:
        """Whether the loader's every step with the vendor succeeded; having no device is no failure of a step."""
        return self.step in ("devices", "")

    @property
    def fails_at(self) -> str:
        """The step at which a loader gives it up; "" for none. A malformed line stops it before what was meant does."""
        malformed = any(one.name.startswith("file-") and not one.harmless for one in self.findings)
        return "line" if malformed and self.step != "file" else self.step

    @property
    def devices(self) -> int:
        """How many devices its platforms have."""
        return sum(platform["devices"]["count"] for platform in self.platforms)

    @property
    def path(self) -> Path | None:
        """The library's file; None where none was found."""
        return self.library.path if self.library else None

    def found(self, step: str, *findings: Finding) -> None:
        """It comes no further than this step."""
        self.step = step
        self.findings += findings


def walk(entry: Entry, asker: Asker, linker: Linker, hardware: Hardware) -> Vendor:
    """Walks one vendor, in a process of its own where its library is loaded."""
    vendor = Vendor(entry, step=entry.step, findings=list(entry.findings))
    if not entry.meant:
        return vendor
    vendor.library = library = libraries.inspect(entry.meant, entry.where, linker)
    vendor.found(library.step, *library.findings)
    if library.step != "loading":
        return vendor
    if _is_loader(library):  # not to be asked: it would look for vendors, and find itself
        vendor.found("functions", _names_a_loader(vendor))
        return vendor
    vendor.answer = answer = asker.ask("vendor", entry.meant)
    if answer.errors and answer.get("exports") is None and not answer.end:
        vendor.found("loading", *libraries.explain(library, answer, entry.where))
        return vendor
    if answer.errors:  # with its functions bound as they are called it can be loaded
        vendor.findings += [one.as_note() for one in libraries.explain(library, answer, entry.where)]
    _judge(vendor, answer, hardware)
    if vendor.path and {one.name for one in vendor.findings} & _NOTHING_TO_OFFER:
        vendor.findings += missing_helpers(entry.meant, vendor.path, entry.where, asker)
    return vendor


def _judge(vendor: Vendor, answer: Answer, hardware: Hardware) -> None:
    if answer.end:
        step = {"dlopen": "loading", "clIcdGetPlatformIDsKHR": "platforms", "clGetDeviceIDs": "devices"}
        vendor.found(step.get(answer.within, "functions"), _ended(vendor, answer))
        vendor.platforms = []
        return
    vendor.step = "functions"
    if findings := list(_functions(vendor, answer)):
        vendor.found("functions", *findings)
        return
    vendor.step = "platforms"
    if findings := list(_platform_list(vendor, answer, hardware)):
        vendor.found("platforms", *findings)
        return
    vendor.platforms = _platforms(answer)
    findings = [*_icd2(vendor, answer), *(one for p in vendor.platforms for one in _platform(vendor, p))]
    if findings:
        vendor.found("platforms", *findings)
        return
    vendor.step = "devices"
    findings = [one for platform in vendor.platforms for one in _devices(vendor, platform, hardware)]
    vendor.findings += findings
    if not any(not one.harmless for one in findings):
        vendor.step = ""


def _ended(vendor: Vendor, answer: Answer) -> Finding:
    how = {"hang": "does not come back from"}.get(answer.end, f"crashes ({answer.end}) in")
    if answer.end.startswith("exit code"):
        how = f"ends the whole program ({answer.end}) in"
    place = "its constructor (dlopen)" if answer.within == "dlopen" else answer.within
    words = f" Its last words: {answer.last_words}" if answer.last_words else ""
    if answer.end == "SIGSYS":
        words += " A filter of system calls (seccomp) of this container, service or sandbox forbids what it does."
    if answer.end == "SIGILL":
        words += " The library was built for a newer processor than this one."
    return Finding(
        "library-hangs" if answer.end == "hang" else "library-crashes",
        f"{vendor.path} {how} {place}.{words}",
        vendor.where,
        "Move its file out of the folder until the driver is repaired: every program that lists platforms meets this.",
    )


def _functions(vendor: Vendor, answer: Answer) -> Iterator[Finding]:
    exports = answer.get("exports") or []
    library = vendor.path
    if "clGetExtensionFunctionAddress" in exports and answer.get("enumerates"):
        return
    if "clGetExtensionFunctionAddress" not in exports:
        yield Finding(
            "no-query",
            f"{library} does not export clGetExtensionFunctionAddress, which every ICD has.",
            vendor.where,
            "Name the driver's ICD library: this one is something else, or too old.",
        )
        return
    yield Finding(
        "no-enumeration",
        f"{library} does not have clIcdGetPlatformIDsKHR, by which loaders ask for platforms.",
        vendor.where,
        "Name the driver's ICD library: this one can only be used without a loader.",
    )


def _is_loader(library: Library) -> bool:
    file = library.elf
    if file is None or library.path is None or "clIcdGetPlatformIDsKHR" in file.exported:
        return False
    return "clGetPlatformIDs" in file.exported and _READS_VENDORS in library.path.read_bytes()


def _names_a_loader(vendor: Vendor) -> Finding:
    return Finding(
        "names-a-loader",
        f"{vendor.path} is an ICD loader itself, not a vendor's ICD.",
        vendor.where,
        "Name the library of the driver, or remove the file.",
    )


def _platform_list(vendor: Vendor, answer: Answer, hardware: Hardware) -> Iterator[Finding]:
    code, number, list_code = answer.get("code"), answer.get("count"), answer.get("list_code", 0)
    name = vendor.path.name if vendor.path else ""
    if code == 0 and number and list_code == 0:
        if answer.get("null_handles"):
            yield Finding("null-platform", f"{name} lists NULL among its platforms.", vendor.where, _REPAIR)
        return
    hints = _hints(vendor, hardware)
    words = f" ({answer.last_words})" if answer.last_words else ""
    message = "0 platforms" if code == 0 and not number else code_name(list_code if code == 0 else code)
    yield Finding(
        "no-platform",
        f"{name} has no platform for this machine: clIcdGetPlatformIDsKHR answers {message}{words}.",
        vendor.where,
        "See the findings about its devices below." if hints else _without_platform(answer.last_words),
    )
    yield from hints


def _without_platform(last_words: str) -> str:
    """What to do where nothing is known but what the driver says, if it does: a path there comes first."""
    path = re.search(r"(?<![\w.])/[\w./+-]+\w", last_words)
    if path and not os.path.exists(path[0]):
        return f"It names {path[0]}, which {access.why_absent(Path(path[0]))}: install what brings that."
    if path and not os.access(path[0], os.R_OK):
        why = access.barrier(Path(path[0])) or "permission denied"
        return f"It names {path[0]}: {why}; give this user access to it."
    look = "see that hardware and kernel driver are there."
    if last_words:
        return f"What it says is why, as far as it tells; else {look}"
    return f"Its driver finds no device that it can use: {look}"


_REPAIR = "Report it to the vendor, and install another version of the driver."


def _platforms(answer: Answer) -> list[dict[str, Any]]:
    """What was reported of each platform: its texts, dispatch, devices."""
    platforms: list[dict[str, Any]] = []
    for report in answer.reports:
        if "dispatch" in report:
            platforms.append({"dispatch": report["dispatch"], "refused": {}, "devices": dict(_NOT_ASKED)})
        elif "platform" in report and platforms:
            platforms[-1] |= report["platform"]
        elif "devices" in report and platforms:
            platforms[-1]["devices"] = report["devices"]
    return platforms


def platform_key(platform: dict[str, Any]) -> tuple[str, str]:
    """What tells a platform from others, whoever lists it."""
    return str(platform.get("name", "")), str(platform.get("version", ""))


def _icd2(vendor: Vendor, answer: Answer) -> Iterator[Finding]:
    """What loaders need of an ICD of cl_khr_icd 2.0 besides its platforms."""
    for functions in answer.every("icd2_functions"):
        names = {"get": "clIcdGetFunctionAddressForPlatformKHR", "set": "clIcdSetPlatformDispatchDataKHR"}
        if lacking := [name for key, name in names.items() if not functions[key]]:
            what = f"{vendor.path} is an ICD of cl_khr_icd 2.0 without {listed(lacking)}, so loaders leave it out."
            yield Finding("icd2-functions", what, vendor.where, _REPAIR)
        elif functions["code"]:
            what = (
                f"{vendor.path} refuses a loader's dispatch data with {code_name(functions['code'])} (cl_khr_icd 2.0)."
            )
            yield Finding("icd2-functions", what, vendor.where, _REPAIR)


def _platform(vendor: Vendor, platform: dict[str, Any]) -> Iterator[Finding]:
    name = f"The platform {platform.get('name') or 'of ' + (vendor.path.name if vendor.path else '')}"
    refused: dict[str, int] = platform["refused"]
    if not platform["dispatch"]:
        yield Finding(
            "no-dispatch",
            f"{name} has NULL in the place of its dispatch table: calls through a loader crash.",
            vendor.where,
            _REPAIR,
        )
    if platform.get("without_info"):
        yield Finding(
            "no-info", f"{name} cannot be asked: the library has no clGetPlatformInfo.", vendor.where, _REPAIR
        )
        return
    failing = [query for query in ("extensions", "suffix", "name", "version", "profile", "vendor") if query in refused]
    if failing:
        yield Finding(
            "info-fails",
            f"{name} refuses queries ({listed(failing)}) with {code_name(refused[failing[0]])}.",
            vendor.where,
            _REPAIR,
        )
    if "extensions" in platform and "cl_khr_icd" not in platform["extensions"].split():
        yield Finding(
            "no-cl_khr_icd",
            f"{name} does not list cl_khr_icd among its extensions, so loaders leave it out.",
            vendor.where,
            "Update the driver; ocl-icd takes it with OCL_ICD_ASSUME_ICD_EXTENSION=1.",
        )
    if "suffix" in platform and not platform["suffix"].strip():
        yield Finding(
            "no-suffix",
            f"{name} has an empty CL_PLATFORM_ICD_SUFFIX_KHR, so loaders leave it out.",
            vendor.where,
            _REPAIR,
        )


def _devices(vendor: Vendor, platform: dict[str, Any], hardware: Hardware) -> Iterator[Finding]:
    devices, name = platform["devices"], platform.get("name", "")
    gone = [str(device.get("name")) for device in devices["devices"] if not device.get("available", True)]
    if gone:
        yield note(
            "device-unavailable",
            f"{listed(gone)} of {name} says that it is not available.",
            vendor.where,
            "Look at other programs that use it, and at its driver.",
        )
    if devices["count"] or not devices.get("asked", True):
        return
    answer = code_name(devices["code"]) if devices["code"] else "0 devices"
    hints = _hints(vendor, hardware)
    yield Finding(
        "no-devices",
        f"The platform {name} has no device on this machine: clGetDeviceIDs answers {answer}.",
        vendor.where,
        "See the findings about its devices below."
        if any(not h.harmless for h in hints)
        else "See that the hardware and its kernel driver are there, and what the driver's own variables say.",
    )
    yield from hints


def _hints(vendor: Vendor, hardware: Hardware) -> list[Finding]:
    if vendor.path is None:
        return []
    closure = vendor.library.closure if vendor.library else None
    places = [search.place.path for search in closure.searches.values() if search.place] if closure else []
    others = [path for path in places if not re.search(r"/(libc|libm|libstdc|libgcc|libLLVM|libclang)", str(path))]
    return hardware.hints(vendor.path, others)
