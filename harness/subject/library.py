# SPDX-License-Identifier: Apache-2.0
"""Facts that stand in the file of a shared library, read without loading it. One reader for each format of file."""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import Any, Literal

from harness import derived
from harness.build import build
from harness.errors import UsageError
from harness.subject.facts import NotShared, SharedLibrary

Format = Literal["ELF", "PE", ""]

_FIRST_BYTES: dict[bytes, Format] = {b"\x7fELF": "ELF", b"MZ": "PE"}
_MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}  # of 64 bits, by the name that uname has
_READERS = ("library.py", "elf.py", "pe.py", "facts.py")


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
    try:
        return _read(real)
    except PermissionError:
        raise UsageError(f"{path} cannot be read: permission denied") from None
    except NotShared as error:
        raise UsageError(f"{path} {error}") from None
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise UsageError(f"{path} is a damaged library ({error})") from None


def _read(real: Path) -> SharedLibrary:
    """Reads the file, or what was read in it when it was the same: its tables take longer than most cases."""
    readers = (str(Path(__file__).with_name(name)) for name in _READERS)
    fields = derived.of_file("libraries", real, readers, lambda: _fields(real))
    return SharedLibrary(real, **{name: _of_json(value) for name, value in fields.items()})


def _fields(real: Path) -> dict[str, Any]:
    """What the file says, as JSON can hold it: sets as tables."""
    from harness.subject import elf, pe  # only here: what reads them takes a while to import

    library = SharedLibrary(real, file_format(real))
    (pe if library.format == "PE" else elf).read(real, library)
    library.build_id = library.build_id or _digest(real)
    fields = {name: value for name, value in vars(library).items() if name != "real_path"}
    return {name: {"": sorted(value)} if isinstance(value, set) else value for name, value in fields.items()}


def _digest(real: Path) -> str:
    """In place of a build ID, which some linkers do not make: another build must not pass for the same."""
    with real.open("rb") as file:
        return f"sha256-{hashlib.file_digest(file, 'sha256').hexdigest()[:40]}"


def _of_json(value: Any) -> Any:
    return set(value[""]) if isinstance(value, dict) else value


def require_this_machine(path: Path, library: SharedLibrary) -> None:
    """Raises UsageError for a library of another ELF class or machine: no process here can load it."""
    bits, here = build().bits, build().machine or os.uname().machine
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
    if library.bits != bits or (bits == 64 and library.machine != _MACHINES.get(here, library.machine)):
        machine = library.machine.removeprefix("EM_")
        raise UsageError(
            f"{path} is a {library.bits}-bit library for {machine}; this harness was built for {bits} bit {here}"
        )


__all__ = ["Format", "SharedLibrary", "file_format", "read_library", "require_this_machine"]
