# SPDX-License-Identifier: Apache-2.0
"""Why a library cannot be loaded: what can be seen of its file, and what dlopen said."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.doctor import access, elf
from harness.doctor.access import globbed
from harness.doctor.ask import Answer
from harness.doctor.elf import Damaged
from harness.doctor.findings import Finding, listed, note
from harness.doctor.linker import Closure, Linker, configured
from harness.doctor.packages import how_to_get, package_of


@dataclass
class Library:
    """A library by the name that somebody gave it. `step` is how far it came: library, ELF, dependencies, loading."""

    name: str
    path: Path | None = None
    closure: Closure | None = None
    findings: list[Finding] = field(default_factory=list)
    step: str = "library"

    @property
    def elf(self) -> elf.Elf | None:
        """What the file says of itself; None where it was not found or cannot be read."""
        return self.closure.elves.get(str(self.path)) if self.closure else None


def inspect(name: str, where: str, linker: Linker) -> Library:
    """Looks for a library and at its file, without loading it. `where` it is named, for findings."""
    library = Library(name)
    library.findings += _find(library, where, linker)
    if library.path is None or library.findings:
        return library
    library.step = "ELF"
    library.findings += _look_at_file(library.path, where, linker)
    if library.findings:
        return library
    library.step = "dependencies"
    library.closure = linker.closure(library.path)
    library.findings += _look_at_dependencies(library.closure, where, linker)
    if not library.findings:
        library.step = "loading"
    return library


# --- where it is ---


def _find(library: Library, where: str, linker: Linker) -> Iterator[Finding]:
    name = library.name
    if "/" in name:
        yield from _find_by_path(library, where, linker)
        return
    search = linker.search(name)
    if search.place:
        library.path = search.place.path
        return
    if search.passed_over:
        other = search.passed_over[0]
        yield Finding(
            "library-wrong-machine",
            f"{name} is there for {elf.read(other).words} only, and this needs {elf.machine_words(*linker.machine)}.",
            str(other),
            f"Install the {elf.machine_words(*linker.machine)} build of the driver.",
        )
        return
    if search.closed:
        yield _unreadable("library-unreadable", search.closed[0], "", where)
        return
    yield _not_found(name, where, linker)


def _find_by_path(library: Library, where: str, linker: Linker) -> Iterator[Finding]:
    path = Path(library.name)
    if library.name.endswith("/") and path.is_file():
        what = f"{library.name} ends with a slash, and so it names a folder that does not exist."
        yield Finding("library-not-found", what, where, f"Write {path}, which exists, into the file.")
        return
    try:
        path.stat()
        library.path = path
        if not path.is_absolute():
            yield note(
                "library-relative",
                f"{path} is a relative path: it is found from this folder only.",
                where,
                f"Write the whole path: {path.absolute()}.",
            )
        return
    except PermissionError:
        yield Finding(
            "library-closed",
            f"{path} cannot be reached: {access.barrier(path)}.",
            where,
            "Open the folder to all users (chmod a+rx), or install the driver where everybody can read it.",
        )
        return
    except OSError:
        pass
    if not path.is_absolute():
        yield Finding(
            "library-relative",
            f"The library {path} is a relative path, and from this folder it leads to nothing.",
            where,
            f"Write {within[0]}, which exists, into the file."
            if (within := _within(library.name))
            else f"Write the whole path, or the bare name {path.name} if the linker can find that.",
        )
        return
    if "$" in library.name and (expanded := linker.expanded(library.name)) != library.name:
        library.path = Path(expanded)
        return
    yield _absent(path, where, linker)


def _absent(path: Path, where: str, linker: Linker) -> Finding:
    elsewhere = linker.search(path.name).place
    others = [elsewhere.path] if elsewhere else linker.outside(path.name)
    others = [*_within(str(path)), *others, *_similar(path)]
    if others:
        do = f"Write {others[0]}, which exists, into the file."
    else:
        package = package_of(path.name)
        do = (
            f"Install it: sudo apt install {package}."
            if package
            else "Install the driver again, or remove what names it."
        )
    return Finding("library-not-found", f"The library {path} {access.why_absent(path)}.", where, do)


def _within(text: str) -> list[Path]:
    """Libraries whose paths are part of a text that is not a path itself, such as library=/usr/lib/libfoo.so."""
    return [Path(name) for name in re.findall(r"/[^\s:=,;\"']+\.so[.\d]*", text) if os.path.isfile(name)]


def _similar(path: Path) -> list[Path]:
    """What a path may have meant: another version of the library, or its name in other letters."""
    stem = path.name.partition(".so")[0]
    others = [other for other in globbed(path.parent, "*.so*") if other.name.lower() == path.name.lower()]
    return [other for other in [*globbed(path.parent, f"{glob.escape(stem)}.so*"), *others] if other.is_file()]


def _not_found(name: str, where: str, linker: Linker) -> Finding:
    what = f"The dynamic linker does not find the library {name}."
    outside, dangling = linker.outside(name), linker.search(name).dangling
    if dangling:
        words = f"{dangling[0]} {access.why_absent(dangling[0])}"
        return Finding("library-not-found", f"{what} {words}.", where, f"Repair the link. {how_to_get(name)}")
    if not outside:
        similar = [path for folder in linker.default for path in globbed(Path(folder), f"{name}.*")]
        do = f"Run sudo ldconfig, which makes the link to {similar[0]}." if similar else how_to_get(name)
        return Finding("library-not-found", what, where, do)
    path = outside[0]
    if path.parent in configured():
        return Finding(
            "library-not-in-cache", f"{what} {path} is newer than the linker's cache.", where, "Run sudo ldconfig."
        )
    return Finding(
        "library-not-in-path",
        f"{what} {path} is not in a folder that it searches.",
        where,
        f"Write the whole path {path} into the file, or add {path.parent} to /etc/ld.so.conf.d and run sudo ldconfig.",
    )


# --- the file ---


def _look_at_file(path: Path, where: str, linker: Linker) -> Iterator[Finding]:
    again = "Install the package of the driver again, or write the path of the real library."
    if kind := access.special(path):
        yield Finding("library-not-a-file", f"{path} is {kind}, not a library.", where, again)
        return
    try:
        file = elf.read(path)
    except PermissionError:
        yield _unreadable("library-unreadable", path, "", where)
        return
    except (Damaged, OSError) as error:
        words = str(error) if isinstance(error, Damaged) else f"cannot be read: {error.strerror}"
        yield Finding("library-damaged", f"{path} {words}.", where, again)
        return
    if access.readable_by_nobody(path):
        yield _unreadable("library-unreadable", path, "", where)
    if (file.bits, file.machine) != linker.machine:
        yield Finding(
            "library-wrong-machine",
            f"{path} is a {file.words} library, and this needs {elf.machine_words(*linker.machine)}.",
            where,
            f"Install the {elf.machine_words(*linker.machine)} build of the driver.",
        )
    elif file.kind != "library":
        yield Finding(
            "library-not-shared", f"{path} is {_with_article(file.kind)}, not a shared library.", where, again
        )


def _unreadable(name: str, path: Path, needed: str, where: str) -> Finding:
    """A library that the mode of its file hides; `needed` says by whom, after the path."""
    hidden = "can be read by root only: its mode lets nobody"
    if not access.readable_by_nobody(path):
        hidden = f"cannot be read: {access.barrier(path) or 'permission denied'}"
    return Finding(name, f"{path}{needed} {hidden}.", where, f"Let all users read it: sudo chmod a+r {path}.")


def _with_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _look_at_dependencies(closure: Closure, where: str, linker: Linker) -> Iterator[Finding]:
    for name in closure.missing():
        search, by = closure.searches[name], closure.needed_by[name]
        if search.closed:
            yield _unreadable("dependency-unreadable", search.closed[0], f", which {by} needs,", where)
        elif search.passed_over:
            yield Finding(
                "dependency-wrong-machine",
                f"{name}, which {by} needs, is there for another machine only.",
                str(search.passed_over[0]),
                how_to_get(name),
            )
        else:
            yield Finding(
                "dependency-missing",
                f"{name} is missing, which {by} needs.",
                where,
                _where_else(name, Path(by).parent, linker),
            )
    for name, search in closure.searches.items():
        if name in closure.needed_by and search.place and access.closed(search.place.path):
            by = f", which {closure.needed_by[name]} needs,"
            yield _unreadable("dependency-unreadable", search.place.path, by, where)
        elif search.place and name not in closure.elves:
            yield Finding(
                "dependency-damaged",
                f"{search.place.path}, which {closure.needed_by[name]} needs, cannot be read as a library.",
                where,
                how_to_get(name),
            )
    yield from _look_at_versions(closure, where)


def _where_else(name: str, beside: Path, linker: Linker) -> str:
    """What to do about a dependency: it may be in a folder that is not searched, or of another C library."""
    if re.match(r"libc\.(musl-.*\.so|so$)|ld-(musl-|android)", name):
        return "Use a build of the driver for this system's C library (glibc): this one is for another."
    outside = linker.outside(name, beside)
    if not outside:
        return how_to_get(name)
    if outside[0].parent in configured():
        return f"{outside[0]} is newer than the linker's cache: run sudo ldconfig."
    return f"{outside[0]} is in a folder that is not searched: add that to LD_LIBRARY_PATH or /etc/ld.so.conf.d."


def _look_at_versions(closure: Closure, where: str) -> Iterator[Finding]:
    for needer in closure.elves.values():
        for name, versions in needer.versions.items():
            provider = closure.elves.get(name)
            if provider is None or not provider.defined_versions:
                continue
            lacking = [version for version in versions if version not in provider.defined_versions]
            if lacking:
                yield _old_version(lacking, str(needer.path), str(provider.path), where)


def _old_version(lacking: list[str], needer: str, provider: str, where: str) -> Finding:
    if any(version.startswith("GLIBC_") for version in lacking):
        do = "Use a build of the driver for this release of the system, or a newer release: glibc cannot be exchanged."
    else:
        do = f"Install a newer {os.path.basename(provider)}, or a build of the driver for this release of the system."
    return Finding(
        "version-missing", f"{needer} needs {listed(lacking)}, which {provider} is too old to have.", where, do
    )


# --- what dlopen said ---

_SAID: tuple[tuple[str, str, str, str], ...] = (
    (
        r"undefined symbol: ([^\s,]+)",
        "symbol-missing",
        "{path} needs the symbol {0}, which no library that it loads has.",
        "Install the versions of the driver and of its libraries that belong together (apt -f install, or reinstall).",
    ),
    (
        r"version [`']([^']+)' not found \(required by ([^)]+)\)",
        "version-missing",
        "{1} needs {0}, which the library on this system is too old to have.",
        "Use a build of the driver for this release of the system.",
    ),
    (
        r"cannot enable executable stack",
        "executable-stack",
        "{path} wants an executable stack, which this system refuses.",
        "Get a newer build of the driver, or clear the mark on a copy: patchelf --clear-execstack.",
    ),
    (
        r"CPU ISA level is lower than required",
        "processor-too-old",
        "{path} was built for a newer processor than this one.",
        "Get a build of the driver for this processor.",
    ),
    (
        r"ELF file OS ABI invalid",
        "library-wrong-system",
        "{path} was built for another operating system.",
        "Install the driver's build for Linux.",
    ),
    (
        r"static TLS",
        "static-tls",
        "{path} finds no room among the thread-local variables of the program.",
        "Start the program with the library in LD_PRELOAD, or with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192.",
    ),
    (
        r"Too many open files",
        "open-files",
        "{path} cannot be opened: the process may not open more files.",
        "Raise the limit: ulimit -n 1024.",
    ),
    (
        r"[Cc]annot allocate memory|failed to map segment from shared object$|cannot map zero-fill",
        "memory-limit",
        "{path} cannot be loaded: the process may not have more memory.",
        "Raise the limit: ulimit -v unlimited, and ulimit -d unlimited.",
    ),
    (
        r"cannot restore segment prot after reloc|cannot change memory protections",
        "text-relocations",
        "{path} changes its own code while it is loaded, which the kernel refuses.",
        "Get a newer build of the driver; on SELinux: chcon -t textrel_shlib_t on the library.",
    ),
)


def explain(library: Library, answer: Answer, where: str) -> Iterator[Finding]:
    """Why dlopen refused a library whose file looks well, by what it said with all symbols bound."""
    text = answer.errors[0]
    path = library.path or library.name
    if "failed to map" in text and library.path and access.is_noexec(library.path):
        yield Finding(
            "mounted-noexec",
            f"{path} lies on a file system that is mounted noexec.",
            where,
            "Install the driver on another file system, or mount this one without noexec.",
        )
        return
    for pattern, name, what, do in _SAID:
        if match := re.search(pattern, text):
            yield Finding(name, what.format(*match.groups(), path=path), where, do)
            return
    hint = access.access_control() if "denied" in text or "not permitted" in text else ""
    yield Finding(
        "loading-fails",
        f"{path} cannot be loaded: {text}.",
        where,
        f"{hint}." if hint else "Install the package of the driver again.",
    )
