# SPDX-License-Identifier: Apache-2.0
"""What a library under test brings for fuzzing: coverage, a sanitizer, or nothing at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.errors import UsageError
from harness.probe.process import no_session
from harness.subject.library import SharedLibrary, read_library, require_this_machine

_EXAMPLE = "build/libOpenCL.so.1"
_HOW = "build it with clang: CC=clang CFLAGS='-g -fsanitize=address,fuzzer-no-link' (fuzz/README.md)"


@dataclass(frozen=True)
class FuzzSubject:
    """A loader or an ICD, and how a fuzz target sees what an input reaches in it."""

    path: Path
    coverage: str  # "compiler", "breakpoints", or "AFL++"
    sanitized: bool
    sha256: str

    @property
    def words(self) -> str:
        """One line about where coverage comes from."""
        if self.coverage == "breakpoints":
            return "a binary without instrumentation; coverage by breakpoints on its blocks"
        return f"instrumented ({self.coverage}), {'with' if self.sanitized else 'without'} the address sanitizer"


def fuzz_subject(path: Path, engine: str) -> FuzzSubject:
    """Reads the library. UsageError, with the remedy, where these targets cannot load it or would see nothing."""
    library = read_library(path, "a loader or an ICD", _EXAMPLE)
    require_this_machine(path, library)
    _refuse(path, library)
    covered = any(
        name.startswith(("__sanitizer_cov_8bit", "__sanitizer_cov_trace_pc_guard")) for name in library.undefined
    )
    of_afl = any(name.startswith("__afl_") for name in library.undefined | library.exported)
    if of_afl and engine != "afl":
        raise UsageError(f"{path} is instrumented for AFL++: use --engine afl, or {_HOW}")
    if any(name == "__sanitizer_cov_trace_pc" for name in library.undefined):
        raise UsageError(f"{path} counts with -fsanitize-coverage=trace-pc, which no fuzzer here reads: {_HOW}")
    coverage = "AFL++" if of_afl else "compiler" if covered else "breakpoints"
    sanitized = any(name.startswith("__asan_") for name in library.undefined)
    return FuzzSubject(
        library.real_path, coverage, sanitized, hashlib.sha256(library.real_path.read_bytes()).hexdigest()
    )


def _refuse(path: Path, library: SharedLibrary) -> None:
    """Sanitizers whose runtime cannot be in one process with that of the fuzz targets."""
    if library.sanitizer.startswith(("libasan", "libtsan")):
        raise UsageError(f"{path} was built with gcc's sanitizer ({library.sanitizer}), which cannot be mixed: {_HOW}")
    if library.sanitizer:
        raise UsageError(
            f"{path} brings clang's sanitizer as a library ({library.sanitizer}): leave out -shared-libsan"
        )
    for prefix, name in (("__tsan_", "thread"), ("__msan_", "memory"), ("__hwasan_", "hwaddress")):
        if any(symbol.startswith(prefix) for symbol in library.undefined):
            raise UsageError(
                f"{path} was built with the {name} sanitizer; the fuzz targets have the address sanitizer: {_HOW}"
            )


def symbolizer() -> str | None:
    """clang's programs find it by this name alone; Debian's has the version appended, of which the newest is taken."""
    if plain := shutil.which("llvm-symbolizer"):
        return plain
    folders = map(Path, filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep)))
    versioned = [path for folder in folders for path in folder.glob("llvm-symbolizer-*") if os.access(path, os.X_OK)]
    numbered = [(int(number), str(path)) for path in versioned if (number := path.name.rpartition("-")[2]).isdigit()]
    return max(numbered)[1] if numbered else None


def places_of(library: Path, address: int) -> list[str]:
    """FUNCTION at FILE:LINE of an address in a library, innermost first, as far as its debug information has them."""
    if tool := symbolizer():
        command = [tool, f"--obj={library}", "--output-style=GNU", "--pretty-print", hex(address)]
    elif tool := shutil.which("addr2line"):
        command = [tool, f"--exe={library}", "--functions", "--inlines", "--pretty-print", hex(address)]
    else:
        return []
    with no_session():
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = [line.strip().removeprefix("(inlined by) ") for line in done.stdout.splitlines()]
    return [line for line in lines if line and "??" not in line]


def address_of(library: Path, function: str) -> int | None:
    """Where a function is in the library's file, if its symbols say so."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        for table in (".symtab", ".dynsym"):
            section = elf.get_section_by_name(table)
            if section and (symbol := section.get_symbol_by_name(function)):
                return int(symbol[0]["st_value"])
    return None
