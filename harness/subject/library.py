# SPDX-License-Identifier: Apache-2.0
"""Facts that stand in the file of a shared library, read without loading it. One reader for each format of file."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Literal

from harness.build import build
from harness.errors import UsageError
from harness.subject import elf, pe
from harness.subject.facts import SharedLibrary

Format = Literal["ELF", "PE", ""]

_FIRST_BYTES: dict[bytes, Format] = {b"\x7fELF": "ELF", b"MZ": "PE"}


def file_format(path: Path) -> Format:
    """The format of a file by its first bytes; "" where it is not that of a library. Raises OSError."""
    with path.open("rb") as file:
        start = file.read(4)
    return next((known for magic, known in _FIRST_BYTES.items() if start.startswith(magic)), "")


def read_library(path: Path, what: str, example: str) -> SharedLibrary:
    """Reads the file. Raises UsageError in one clear sentence where it is not a shared library that can be read.

    `what` it should be, with its article, and the path of an `example`, are for that sentence.
    """
    real = Path(os.path.realpath(path))
    if not real.is_file():
        problem = "is not a file" if real.exists() else "does not exist"
        raise UsageError(f"{path} {problem}: give the path of {what}, for example {example}")
    if "\n" in str(real):
        raise UsageError(f"{str(real)!r} has a line break in its path, which no vendor file can hold: move it")
    library = SharedLibrary(real)
    try:
        library.format = file_format(real)
        (pe if library.format == "PE" else elf).read(real, library)
    except PermissionError:
        raise UsageError(f"{path} cannot be read: permission denied") from None
    except (elf.NotShared, pe.NotShared) as error:
        raise UsageError(f"{path} {error}") from None
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise UsageError(f"{path} is a damaged library ({error})") from None
    return library


def require_this_machine(path: Path, library: SharedLibrary) -> None:
    """Raises UsageError for a library of another ELF class or machine: no process here can load it."""
    bits, here = 8 * struct.calcsize("P"), os.uname().machine
    if (library.format == "PE") != build().windows:
        needed = "./clharness loader OpenCL.dll" if library.format == "PE" else "./clharness loader libOpenCL.so.1"
        system = "Windows" if library.format == "PE" else "Linux"
        raise UsageError(f"{path} is a library for {system}: the build in {build().folder} is not; use {needed}")
    if library.format == "PE" and library.machine != "x86_64":
        raise UsageError(
            f"{path} is a {library.bits}-bit Windows library for {library.machine}: only x86_64 is run here"
        )
    if library.format == "PE":
        return
    if library.bits != bits or (here == "x86_64" and bits == 64 and library.machine != "EM_X86_64"):
        machine = library.machine.removeprefix("EM_")
        raise UsageError(
            f"{path} is a {library.bits}-bit library for {machine}; this harness was built for {bits} bit {here}"
        )


__all__ = ["Format", "SharedLibrary", "file_format", "read_library", "require_this_machine"]
