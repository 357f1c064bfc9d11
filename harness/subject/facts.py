# SPDX-License-Identifier: Apache-2.0
"""What is known of a library, and of a subject: what stands in the file, and what it answers about itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SANITIZERS = ("libasan", "libtsan", "liblsan", "libclang_rt")
_OF_THE_LINKER = {"_init", "_fini", "_edata", "_end", "__bss_start", "__bss_start__", "__bss_end__", "__end__"}
# Names of C++'s standard library are the same everywhere.
_OF_CXX = ("_ZSt", "_ZZSt", "_ZZNSt", "_ZNSt", "_ZNKSt", "_ZTVSt", "_ZTISt", "_ZTSSt")
_SHOWN = 12
_COMMON = ("path", "real_path", "soname", "build_id", "sanitizer", "name", "version")


class NotShared(ValueError):
    """The file is not a shared library, or not for any system; the message goes on after its path."""


@dataclass
class SharedLibrary:
    """What the file of a shared library says. `real_path`: links followed; sets hold names of symbols."""

    real_path: Path
    format: str = ""  # ELF or PE
    bits: int = 0
    machine: str = ""
    soname: str = ""
    build_id: str = ""  # of a library without one: of its content
    needed: list[str] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)  # of the exported names, those of code
    vague: set[str] = field(default_factory=set)  # of the exported names, those that may be in several libraries (C++)
    undefined: set[str] = field(default_factory=set)
    by_name: set[str] = field(default_factory=set)  # own exported names that another library's of that name may replace
    symbol_versions: list[str] = field(default_factory=list)
    text_relocations: bool = False
    executable_stack: bool = False
    search_paths: list[str] = field(default_factory=list)  # DT_RPATH and DT_RUNPATH

    @property
    def sanitizer(self) -> str:
        """The runtime that must be preloaded because the library was built with a sanitizer; "" where it names none."""
        return next((name for name in self.needed if name.startswith(SANITIZERS)), "")


@dataclass
class Facts:
    """What is known of a subject; `name` and `version` are what it answers about itself, or "unknown" and "".

    `shown` are the fields that its records have besides those of every subject.
    """

    path: str
    real_path: str
    shown: tuple[str, ...] = ()
    soname: str = ""
    build_id: str = ""
    sanitizer: str = ""  # runtime that must be preloaded because the library was built with a sanitizer
    name: str = "unknown"
    version: str = ""
    opencl_version: str = ""  # of a loader, as it answers
    vulkan_version: str = ""  # of a Vulkan loader, as it answers
    interface: int = 0  # of a Vulkan loader: the highest version of its interface with drivers
    capabilities: list[str] = field(default_factory=list)  # of a loader, found out by asking
    left_out: list[str] = field(default_factory=list)  # capabilities of a loader of which nothing stands in its file
    functions: list[str] = field(default_factory=list)  # of those that its kind is known by, the ones that it exports
    exports: int = 0  # number of exported names that begin with cl
    exported: list[str] = field(default_factory=list)  # other functions of OpenCL that it exports
    leaked: int = 0  # exported symbols that are not OpenCL's
    leaked_names: list[str] = field(default_factory=list)  # the first of them
    outside: list[str] = field(default_factory=list)  # functions of OpenCL that it takes from another library
    by_name: list[str] = field(default_factory=list)  # own ones that another library of these names may replace
    needed: list[str] = field(default_factory=list)
    symbol_versions: list[str] = field(default_factory=list)  # those of OpenCL
    text_relocations: bool = False
    executable_stack: bool = False
    search_paths: list[str] = field(default_factory=list)
    devices: list[dict[str, str]] = field(default_factory=list)  # of an ICD: platform, name, version, driver

    def as_dict(self) -> dict[str, Any]:
        """The fields as records have them, by name."""
        return {name: getattr(self, name) for name in (*_COMMON, *self.shown)}


def facts_of(
    path: Path, library: SharedLibrary, functions: Collection[str], api: Collection[str], shown: tuple[str, ...]
) -> Facts:
    """What the file says. `functions`: those that the kind is known by; `api`: all functions of the API."""
    facts = Facts(str(path), str(library.real_path), shown, library.soname, library.build_id)
    known = set(api)
    facts.functions = [name for name in functions if name in library.functions]
    facts.exports = sum(name.startswith("cl") for name in library.exported)
    facts.exported = sorted((library.functions & known) - set(functions))
    others = library.exported - library.vague - known - _OF_THE_LINKER
    leaked = sorted(name for name in others if not name.startswith(_OF_CXX))
    facts.leaked, facts.leaked_names = len(leaked), leaked[:_SHOWN]
    facts.outside = sorted(library.undefined & known)
    facts.by_name = sorted(library.by_name & known)
    facts.needed = library.needed
    facts.symbol_versions = [name for name in library.symbol_versions if name.startswith("OPENCL")]
    facts.text_relocations = library.text_relocations
    facts.executable_stack = library.executable_stack
    facts.search_paths = library.search_paths
    return facts
