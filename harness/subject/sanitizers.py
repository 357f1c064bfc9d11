# SPDX-License-Identifier: Apache-2.0
"""The runtime of the sanitizer that a library was built with: a program that was not must have it from the start.

gcc's runtimes are libraries of their own, which the library names and the dynamic linker finds. clang's are part of
programs: a shared library has functions without a definition, and names the runtime only where it was linked with
-shared-libsan. The same runtimes exist as libraries in a folder of clang's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness.build import build
from harness.errors import UsageError
from harness.subject.facts import SharedLibrary

# What a library calls first, or in every check, and the runtime that has it; the first that is found has the others.
_SIGNS = (
    ("__asan_init", "asan"),
    ("__tsan_init", "tsan"),
    ("__msan_init", "msan"),
    ("__ubsan_handle_", "ubsan_standalone"),
)
_NAMES = {"asan": "address", "tsan": "thread", "msan": "memory", "ubsan_standalone": "undefined-behaviour"}
_MACHINES = {"EM_386": "i386", "EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}


def runtime(path: Path, library: SharedLibrary) -> str:
    """What has to be preloaded for the library in a file: a path, a name that the dynamic linker finds, or "".

    Raises UsageError where no such runtime works on this machine.
    """
    named = library.sanitizer
    if named and not named.startswith("libclang_rt"):
        return named
    kind = "" if named else _kind_without_runtime(library)
    if not named and (not kind or build().sanitize):  # that build's programs bring it
        return ""
    if kind == "msan":
        raise UsageError(
            f"{path} was built with clang's memory sanitizer, which the whole program has to be built with"
        )
    machine = _MACHINES.get(library.machine, library.machine)
    names = (named,) if named else (f"libclang_rt.{kind}-{machine}.so", f"libclang_rt.{kind}.so")
    for file in _places(library, names, kind):
        if file.is_file() and (named or _works(file)):
            return str(file)
    built = f"was built with clang's {_NAMES[kind]} sanitizer" if kind else "was linked with -shared-libsan"
    raise UsageError(
        f"{path} {built}, and no runtime of it, such as {names[0]}, was found where the library and "
        "clang have them, or works here: install it (Debian: libclang-rt-dev), or build the library with gcc"
    )


def _works(file: Path) -> bool:
    """Some releases of clang have runtimes that end every program which is not linked to them."""
    variables = {"LD_PRELOAD": str(file), "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(["/bin/true"], env=variables, capture_output=True, check=False).returncode == 0


def _kind_without_runtime(library: SharedLibrary) -> str:
    """The runtime that the library takes for granted; "" where it names one itself, or needs none."""
    if any(name.startswith("libubsan") for name in library.needed):
        return ""
    for sign, kind in _SIGNS:
        if any(name.startswith(sign) for name in library.undefined):
            return kind
    return ""


def _places(library: SharedLibrary, names: tuple[str, ...], kind: str) -> Iterator[Path]:
    for folder in library.search_paths:
        yield from (Path(folder.replace("$ORIGIN", str(library.real_path.parent))) / name for name in names)
    asked = [(clang, name) for clang in _clangs() for name in names]
    if kind and (gcc := shutil.which("gcc")):  # its runtimes are made from the same sources
        asked.append((gcc, f"lib{kind.partition('_')[0]}.so"))
    for compiler, name in asked:
        answer = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        if (file := Path(answer.stdout.strip())).is_absolute():  # else it has none
            yield file.resolve()


def _clangs() -> Iterator[str]:
    """The compilers of that name: the build's own, the usual one, and those with a version, the newest first."""
    compiler = build().compiler
    compilers = [compiler] if "clang" in Path(compiler).name else []
    compilers += [path for path in (shutil.which("clang"),) if path]
    numbered = {path.name: path for path in Path("/usr/bin").glob("clang-*") if re.fullmatch(r"clang-\d+", path.name)}
    compilers += [str(numbered[name]) for name in sorted(numbered, key=lambda name: -int(name.partition("-")[2]))]
    yield from dict.fromkeys(compilers)
