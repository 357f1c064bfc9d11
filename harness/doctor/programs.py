# SPDX-License-Identifier: Apache-2.0
"""Which loader a program gets: read from its file and the linker's rules, without running it."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.doctor import elf
from harness.doctor.access import globbed
from harness.doctor.elf import Damaged, Elf
from harness.doctor.findings import Finding, listed, note
from harness.doctor.linker import Closure, Linker, Place
from harness.doctor.loaders import SONAME, VARIABLES, no_loader
from harness.doctor.packages import how_to_get
from harness.errors import UsageError


@dataclass
class Program:
    """A program: `path` is what the kernel runs in the end, which is the interpreter of a script."""

    name: str
    path: Path
    started: Path  # what was named: the script
    elf: Elf | None = None
    linker: Linker | None = None
    loader: Place | None = None
    linked: bool = False  # else it opens the loader itself, if it uses OpenCL at all
    secure: bool = False
    findings: list[Finding] = field(default_factory=list)


def look_at(name: str, environment: Mapping[str, str]) -> Program:
    """Looks at a program. Raises UsageError where there is no such program."""
    path = shutil.which(name, path=environment.get("PATH"))
    if path is None:
        problem = (
            "is not executable" if os.path.isfile(name) else "is a folder" if os.path.isdir(name) else "is not found"
        )
        raise UsageError(f"{name} {problem}: name a program, such as clinfo, that uses OpenCL")
    program = Program(name, _run_by_kernel(Path(path)), Path(path))
    program.findings += _confined(Path(path))
    try:
        program.elf = elf.read(program.path)
    except (Damaged, OSError) as error:
        words = str(error) if isinstance(error, Damaged) else f"cannot be read ({(error.strerror or '').lower()})"
        program.findings.append(
            Finding(
                "program-damaged",
                f"{program.path}{'' if program.path == program.started else f', which {name} is run by,'} {words}.",
                str(program.path),
                "Install it again.",
            )
        )
        return program
    program.secure = _is_secure(program.path)
    linker = program.linker = Linker(environment, (program.elf.bits, program.elf.machine), program.secure)
    if not program.elf.interpreter:
        program.findings.append(
            Finding(
                "program-static",
                f"{name} is linked statically: it cannot load a loader or vendors.",
                str(program.path),
                "Use a build that is linked dynamically.",
            )
        )
        return program
    closure = linker.closure(program.path)
    _find_loader(program, closure, linker)
    program.findings += _problems(program, closure, environment)
    return program


def _run_by_kernel(path: Path) -> Path:
    """The interpreter of a script, else the program itself."""
    try:
        with path.open("rb") as file:
            line = file.readline(256)
    except OSError:
        return path
    words = line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [shutil.which(word) or word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return Path(words[0]) if words else path


def _is_secure(path: Path) -> bool:
    """Whether it gets privileges that its user does not have: then the linker and loaders ignore variables."""
    state = path.stat()
    if state.st_mode & stat.S_ISUID and state.st_uid != os.geteuid():
        return True
    if state.st_mode & stat.S_ISGID and state.st_gid not in (os.getegid(), *os.getgroups()):
        return True
    try:
        return "security.capability" in os.listxattr(path) and os.geteuid() != 0
    except OSError:
        return False


def _confined(path: Path) -> Iterator[Finding]:
    real = os.path.realpath(path)
    if str(path).startswith(("/snap/", "/var/lib/snapd/")) or real.endswith("/bin/snap"):
        yield note(
            "program-confined",
            f"{path} is a snap: it sees the vendors and libraries of its snap, not of this system.",
            str(path),
            "Use a build that is not confined, or a snap that has the interface opengl or gpu-2404.",
        )
    elif "/flatpak/exports/" in str(path) or real.endswith("/bin/flatpak"):
        yield note(
            "program-confined",
            f"{path} is a Flatpak: it sees the vendors of its runtime, not of this system.",
            str(path),
            "Install the driver's Flatpak extension (org.freedesktop.Platform.GL…), or use another build.",
        )


def _find_loader(program: Program, closure: Closure, linker: Linker) -> None:
    name = next((name for name in closure.searches if re.match(r"libOpenCL\.so(\.|$)", os.path.basename(name))), "")
    program.linked = bool(name)
    opened = name or _name_that_is_opened(program.path)
    search = closure.searches[name] if name else linker.search(opened, program.elf, program.elf)
    program.loader = search.place
    if search.place is None and opened == "libOpenCL.so" and linker.search(SONAME).place:
        program.findings.append(
            Finding(
                "program-opens-other-name",
                f"{program.name} opens libOpenCL.so, and there is only {SONAME} here.",
                str(program.path),
                "Install the link of that name (Debian: sudo apt install ocl-icd-opencl-dev).",
            )
        )
    elif search.place is None:
        program.findings.append(no_loader(linker, f", as {program.name} is"))


def _problems(program: Program, closure: Closure, environment: Mapping[str, str]) -> Iterator[Finding]:
    for name in closure.missing():
        if not name.startswith("libOpenCL.so"):
            yield Finding(
                "program-dependency",
                f"{program.name} does not start: {name} is missing, which {closure.needed_by[name]} needs.",
                str(program.path),
                how_to_get(name),
            )
    file = program.elf
    yield from _own_functions(program, closure)
    if file and program.loader and program.linked:
        yield from _lacking(program, file, closure, program.loader.path)
    in_use = [name for name in (*VARIABLES, "LD_LIBRARY_PATH", "LD_PRELOAD") if environment.get(name)]
    if program.secure and in_use:
        yield Finding(
            "program-elevated",
            f"{program.name} runs with elevated privileges, so {listed(in_use)} may be ignored.",
            str(program.path),
            "Install loader and vendors in the system's folders, which need no variable.",
        )


_OWN = {"clGetPlatformIDs", "clGetPlatformInfo"}
_OF_LOADERS = (b"OpenCL/vendors", b"clIcdGetPlatformIDsKHR")


def _own_functions(program: Program, closure: Closure) -> Iterator[Finding]:
    """OpenCL functions that come before those of any loader: the program's, or those of a library that it loads."""
    file = program.elf
    if file and file.exported >= _OWN:
        yield Finding(
            "program-has-own",
            f"{program.name} has OpenCL functions of its own, which come before any loader's.",
            str(program.path),
            "Use a build that is linked to libOpenCL.so.1.",
        )
    elif not program.linked and _holds_all(program.path, _OF_LOADERS):
        yield Finding(
            "program-holds-loader",
            f"{program.name} has a loader linked into it, so no libOpenCL.so.1 of this machine is used.",
            str(program.path),
            "Use a build that is linked to libOpenCL.so.1, or look at what the program's own loader reads.",
        )
    for name, library in closure.elves.items():
        if "libOpenCL.so" in name:
            return
        if name != str(program.path) and library.exported >= _OWN:
            yield Finding(
                "functions-interposed",
                f"{library.path}, which {closure.needed_by[name]} needs, has OpenCL functions of its own, and in "
                f"{program.name} they come before the loader's.",
                str(library.path),
                "Use a build of that library without them, or one of the program that does not need it.",
            )


def _holds_all(path: Path, texts: tuple[bytes, ...]) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return all(data.find(text) >= 0 for text in texts)
    except (OSError, ValueError):
        return False


def _name_that_is_opened(path: Path) -> str:
    """The name by which a program that is not linked to a loader opens one, where its file says so."""
    if _holds_all(path, (b"libOpenCL.so\0",)) and not _holds_all(path, (b"libOpenCL.so.1\0",)):
        return "libOpenCL.so"
    return SONAME


def bundled(program: Program) -> list[Path]:
    """Loaders that packages of a Python bring in their own folders, as wheels of pyopencl do."""
    if not re.match(r"python[\d.]*$|pypy", os.path.basename(program.path)):
        return []
    roots = {Path(os.path.abspath(path)).parent.parent for path in (program.started, program.path)}
    patterns = [f"lib/python3*/site-packages/{inner}libOpenCL*.so*" for inner in ("*.libs/", "*/", "*/.libs/")]
    result = [path for root in sorted(roots) for pattern in patterns for path in globbed(root, pattern)]
    return list({os.path.realpath(path): path for path in result}.values())


def _lacking(program: Program, file: Elf, closure: Closure, loader: Path) -> Iterator[Finding]:
    try:
        elf.read(loader)
    except (Damaged, OSError):
        return  # which is said of the loader
    exported = {name for library in closure.elves.values() for name in library.exported}
    lacking = sorted(name for name in file.undefined if re.match(r"cl[A-Z]", name) and name not in exported)
    if lacking:
        yield Finding(
            "loader-too-old",
            f"{program.name} needs {listed(lacking)}, which {loader} does not have.",
            str(loader),
            "Install a newer loader, or remove this copy if a newer one is installed elsewhere.",
        )
