# SPDX-License-Identifier: Apache-2.0
"""The loaders of this machine: which one is taken, what it reads, and what it lists when it is asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.doctor import elf, libraries
from harness.doctor.access import globbed
from harness.doctor.ask import Answer, Asker
from harness.doctor.elf import Damaged
from harness.doctor.entries import Entry, Folder, read_entry, read_folder, same_library
from harness.doctor.findings import Finding
from harness.doctor.linker import Linker, cached
from harness.doctor.vendors import platform_key

SONAME = "libOpenCL.so.1"
VENDORS_FOLDER = "/etc/OpenCL/vendors"
LAYERS_FOLDER = "/etc/OpenCL/layers"
VARIABLES = (
    "OCL_ICD_VENDORS",
    "OPENCL_VENDOR_PATH",
    "OCL_ICD_FILENAMES",
    "OPENCL_LAYERS",
    "OPENCL_LAYER_PATH",
    "OCL_ICD_DEFAULT_PLATFORM",
    "OCL_ICD_PLATFORM_SORT",
    "OCL_ICD_ASSUME_ICD_EXTENSION",
)
_COMPILED_IN = re.compile(rb"(/[\w./+@-]*OpenCL/vendors)/?\0")


@dataclass
class Listing:
    """What a loader lists: its platforms with their devices, in its order."""

    answer: Answer
    platforms: list[dict[str, Any]] = field(default_factory=list)

    def more_than(self, other: Listing) -> list[str]:
        """What this one has more than another: platforms, or devices of platforms."""
        left = [(platform_key(p), p["devices"]["count"]) for p in other.platforms]
        more = []
        for platform in self.platforms:
            same = next((entry for entry in left if entry[0] == platform_key(platform)), None)
            if same is None:
                more.append(f"the platform {platform.get('name', '')}")
                continue
            left.remove(same)
            if platform["devices"]["count"] > same[1]:
                more.append(f"devices of {platform.get('name', '')}")
        return more


@dataclass
class LoaderFile:
    """A loader: its file, the rule by which it is taken, what it reads by the names in its file."""

    path: Path
    how: str
    name: str = ""
    version: str = ""
    variables: set[str] = field(default_factory=set)
    folders: list[str] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    listing: Listing | None = None

    @property
    def title(self) -> str:
        """Path, and name and version where the loader gave them."""
        known = f"{self.name} {self.version}".strip()
        return f"{self.path} ({known})" if known else str(self.path)


def read_loader(path: Path, how: str, linker: Linker) -> LoaderFile:
    """Looks at the file of a loader, without loading it."""
    loader = LoaderFile(path, how)
    library = libraries.inspect(str(path), str(path), linker)
    loader.findings += [_of_loader(one) for one in library.findings]
    if library.elf is None:
        return loader
    loader.exported = library.elf.exported
    data = path.read_bytes()
    loader.variables = {name for name in VARIABLES if name.encode() in data}
    loader.folders = list(dict.fromkeys(match[1].decode() for match in _COMPILED_IN.finditer(data)))
    if "clIcdGetPlatformIDsKHR" in loader.exported or (not loader.folders and b"OpenCL/vendors" not in data):
        loader.findings.append(
            Finding(
                "not-a-loader",
                f"{path} is called {SONAME} but is not an ICD loader: it shows its own platforms only.",
                str(path),
                "Let programs find a loader first: move it away, or correct LD_LIBRARY_PATH.",
            )
        )
    return loader


def _of_loader(finding: Finding) -> Finding:
    """A finding about a vendor's library, in words for a loader."""
    do = finding.do
    if finding.name.startswith("library"):
        do = "Install the loader again (Debian: sudo apt install --reinstall ocl-icd-libopencl1), or remove this file."
    return Finding(
        f"loader-{finding.name}".replace("loader-library", "loader"), finding.what, finding.where, do, finding.harmless
    )


def no_loader(linker: Linker, for_whom: str = "") -> Finding:
    """The finding that programs of the linker's machine find no loader."""
    passed_over = linker.search(SONAME).passed_over
    outside = linker.outside(SONAME)
    what = f"There is no {SONAME} for {elf.machine_words(*linker.machine)} programs{for_whom}"
    if passed_over:
        return Finding(
            "no-loader",
            f"{what}, only one for {elf.read(passed_over[0]).words}.",
            str(passed_over[0]),
            "Install a loader for that class of programs (Debian: ocl-icd-libopencl1, with :i386 for 32 bits).",
        )
    if outside:
        return Finding(
            "no-loader",
            f"{what} where the linker looks; {outside[0]} is outside.",
            str(outside[0]),
            f"Run sudo ldconfig, or add {outside[0].parent} to LD_LIBRARY_PATH or /etc/ld.so.conf.d.",
        )
    return Finding(
        "no-loader", f"{what}.", "the linker's folders", "Install a loader: sudo apt install ocl-icd-libopencl1."
    )


def installed(linker: Linker) -> list[Path]:
    """Every loader for this class of programs, each file once."""
    folders = [*linker.variable, *linker.default]
    paths = [
        *(Path(folder) / SONAME for folder in folders),
        *map(Path, cached().get(SONAME, [])),
        *linker.outside(SONAME),
    ]
    result: dict[str, Path] = {}
    for path in paths:
        if os.path.exists(path) and _fits(path, linker):
            result.setdefault(os.path.realpath(path), path)
    return list(result.values())


def _fits(path: Path, linker: Linker) -> bool:
    try:
        file = elf.read(path)
    except (Damaged, OSError):
        return False
    return (file.bits, file.machine) == linker.machine


def ask_loader(name: str, asker: Asker, mode: str = "loader", **how: Any) -> Listing:
    """What the loader lists, asked in a process of its own; `mode` "loader" or "linked"; `how` as for Asker.ask."""
    answer = asker.ask(mode, name, **how)
    listing = Listing(answer)
    for report in answer.reports:
        if "platform" in report:
            listing.platforms.append({**report["platform"], "devices": {"code": 0, "count": 0, "devices": []}})
        elif "devices" in report and listing.platforms:
            listing.platforms[-1]["devices"] = report["devices"]
    return listing


# --- what it reads ---


@dataclass
class Sources:
    """Entries in the order of their folders; findings about folders and variables, and which variable decides."""

    folders: list[Folder] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    deciding: str = ""

    def reads(self, library: str) -> bool:
        """Whether an entry that the loader reads names this library, or is this file."""
        return any(
            entry.in_use and (same_library(entry.meant, library) or os.path.realpath(entry.where) == library)
            for entry in self.entries
            if entry.meant
        )


def sources(loader: LoaderFile, environment: Mapping[str, str]) -> Sources:
    """Where the loader takes vendors from, in this environment."""
    places = Sources()
    for variable in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"):
        if not places.deciding and variable in loader.variables and environment.get(variable):
            places.deciding = variable
            _use_variable(places, variable, environment[variable])
    if "OCL_ICD_FILENAMES" in loader.variables:
        for name in filter(None, environment.get("OCL_ICD_FILENAMES", "").split(":")):
            places.entries.append(Entry("OCL_ICD_FILENAMES", name, name, "library"))
    named_elsewhere = bool(places.entries)
    read = [os.path.realpath(folder.path) for folder in places.folders]
    for path in loader.folders or [VENDORS_FOLDER]:
        if os.path.realpath(path) in read:
            continue
        folder = read_folder(Path(path), ".icd")
        places.folders.append(folder)
        for entry in folder.entries:
            entry.in_use = not places.deciding
        places.entries += folder.entries
        if not places.deciding:
            places.findings += [
                one.as_note() if named_elsewhere and one.name.startswith("folder") else one for one in folder.findings
            ]
    places.findings += _other_folders(loader, places)
    places.findings += _unknown_variables(loader, environment, places)
    return places


def _unknown_variables(loader: LoaderFile, environment: Mapping[str, str], places: Sources) -> Iterator[Finding]:
    """Variables that name vendors to other loaders, and nothing to this one; a note where it reads them elsewhere."""
    for variable in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"):
        names = [name for name in environment.get(variable, "").split(":") if name]
        names = [name for name in names if os.path.exists(name)]
        if variable in loader.variables or not names:
            continue
        yield Finding(
            "variable-unknown",
            f"{loader.path} does not know {variable}, so what that names is not looked at.",
            variable,
            f"Make an .icd file in {(loader.folders or [VENDORS_FOLDER])[0]}, or use a loader that knows the variable.",
            harmless=all(os.path.isfile(name) and places.reads(name) for name in names),
        )


def _use_variable(places: Sources, variable: str, value: str) -> None:
    path = Path(value)
    if os.path.isdir(path):
        folder = read_folder(path, ".icd")
        places.folders.append(folder)
        places.entries += folder.entries
        places.findings += folder.findings
    elif value.endswith(".icd"):
        file = path if os.path.exists(path) or "/" in value else Path(VENDORS_FOLDER) / value
        places.entries.append(read_entry(file))
    elif "/" in value and not os.path.exists(path):
        places.findings.append(
            Finding(
                "variable-names-nothing",
                f"{variable} names {value}, which does not exist.",
                variable,
                f"Correct it, or remove it: unset {variable}.",
            )
        )
    else:
        places.entries.append(Entry(variable, value, value, "library"))


# Where files of vendors are put by mistake, or by another system's habit.
_ELSEWHERE = (
    *("etc/[Oo][Pp][Ee][Nn][Cc][Ll]*", "etc/[Oo][Pp][Ee][Nn][Cc][Ll]*/[Vv]endor*", "usr/share/OpenCL/vendors"),
    *("usr/lib/OpenCL/vendors", "usr/local/etc/OpenCL/vendors", "usr/local/share/OpenCL/vendors"),
    *("run/opengl-driver/etc/OpenCL/vendors", "opt/etc/OpenCL/vendors"),
)


def _other_folders(loader: LoaderFile, places: Sources) -> Iterator[Finding]:
    """Folders that look like the one that is read, and are not."""
    read = {os.path.realpath(folder.path) for folder in places.folders}
    conda = os.environ.get("CONDA_PREFIX", "")
    elsewhere = [path for pattern in _ELSEWHERE for path in globbed(Path("/"), pattern)]
    elsewhere += [Path(conda, "etc/OpenCL/vendors")] if conda else []
    for folder in filter(os.path.isdir, elsewhere):
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".icd"))
        except OSError:
            continue
        lost = [name for name in names if not places.reads(read_entry(folder / name).meant)]
        if names and os.path.realpath(folder) not in read:
            at = " and ".join(loader.folders or [VENDORS_FOLDER])
            yield Finding(
                "other-folder",
                f"{loader.path} does not read {folder}, where {(lost or names)[0]} is: it reads {at}.",
                str(folder),
                f"Move or link the file to {(loader.folders or [VENDORS_FOLDER])[0]}.",
                harmless=not lost or (folder.is_relative_to(conda or "/nowhere") and _has_loader(Path(conda))),
            )


def _has_loader(environment: Path) -> bool:
    """Whether an environment of conda has a loader for its own vendors, which its programs get."""
    return bool(globbed(environment, "lib/libOpenCL.so*"))
