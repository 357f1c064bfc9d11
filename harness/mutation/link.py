# SPDX-License-Identifier: Apache-2.0
"""How a library is linked: as its build says, or like a built one."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.errors import UsageError


def cmake_link(folder: Path, target: str) -> tuple[Path, tuple[str, ...]]:
    """The command that links a target, as CMake wrote it for make or ninja, and its folder."""
    if scripts := list(folder.rglob(f"{target}.dir/link.txt")):
        return scripts[0].parents[2], with_output(shlex.split(scripts[0].read_text().strip()))
    if not (folder / "build.ninja").exists():
        raise UsageError(f"{folder}: how {target} is linked is not found; give --link")
    commands = subprocess.run(["ninja", "-C", folder, "-t", "commands", target], capture_output=True, text=True)
    for line in reversed(commands.stdout.splitlines()):
        words = [word for word in shlex.split(line) if word not in ("&&", ":")]
        if f"/{target}.dir/" in line and "-o" in words and "-c" not in words:
            return folder, with_output(words)
    raise UsageError(f"{folder}: ninja knows no command that links {target}; give --link")


def loaders_target(folder: Path) -> str:
    """The one target of a build by CMake that is an OpenCL loader. Raises UsageError where none is, or several are."""
    scripts = filter(_is_loaders, folder.rglob("*.dir/link.txt"))
    targets = {script.parent.name.removesuffix(".dir") for script in scripts}
    if not targets and (folder / "build.ninja").exists():
        listed = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True).stdout
        targets = set(_NINJA_LOADER.findall(listed))
    if len(targets) == 1:
        return targets.pop()
    which = f"its targets {', '.join(sorted(targets))} link" if targets else "none of its targets links"
    raise UsageError(
        f"{folder}: {which} a libOpenCL.so; say what is to be linked: "
        "--loader PATH (the built library), --target NAME, or --link COMMAND"
    )


# "libOpenCL.so.1.0.0: C_SHARED_LIBRARY_LINKER__NAME_CONFIGURATION"
_NINJA_LOADER = re.compile(r"^(?:.*/)?libOpenCL\.so[.\d]*: C(?:XX)?_SHARED_LIBRARY_LINKER__(\w+)_\w*$", re.MULTILINE)


def _is_loaders(script: Path) -> bool:
    words = shlex.split(script.read_text())
    return "-o" in words[:-1] and Path(words[words.index("-o") + 1]).name.startswith("libOpenCL.so")


def with_output(link: Sequence[str]) -> tuple[str, ...]:
    """The command with {output} in place of what follows -o."""
    words = list(link)
    if "{output}" not in words:
        if "-o" not in words:
            raise UsageError("--link: name the output, -o {output}")
        words[words.index("-o") + 1] = "{output}"
    return tuple(words)


def link_like(library: Path, compiler: str) -> tuple[str, ...]:
    """Links {objects} to a library with the name, the exports, their versions and the needs of one that was built."""
    with library.open("rb") as file:
        tags = list(_dynamic(ELFFile(file)))
    command = [compiler, "-shared", "-o", "{output}", "{objects}", "-Wl,--version-script={versions}"]
    command += [f"-Wl,-soname,{tag.soname}" for tag in tags if tag.entry.d_tag == "DT_SONAME"]
    return (*command, *(f"-l:{tag.needed}" for tag in tags if tag.entry.d_tag == "DT_NEEDED"))


def source_names(library: Path) -> set[str]:
    """The names of the files that a library was compiled of, as its symbol table has them; none if it is stripped."""
    with library.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        symbols = table.iter_symbols() if table else ()
        return {str(s.name) for s in symbols if s["st_info"]["type"] == "STT_FILE" and s.name.endswith(".c")}


def undefined_symbols(library: Path) -> frozenset[str]:
    """The names that a library must find in others, but for those that it can do without."""
    with library.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".dynsym")
        symbols = table.iter_symbols() if table else ()
        return frozenset(
            str(s.name)
            for s in symbols
            if s.name and s["st_shndx"] == "SHN_UNDEF" and s["st_info"]["bind"] != "STB_WEAK"
        )


def _dynamic(elf: Any) -> list[Any]:
    section = elf.get_section_by_name(".dynamic")
    if section is None:
        raise UsageError("--loader: that is not a shared library")
    return list(section.iter_tags())


def version_script(library: Path) -> str:
    """Exports what the library exports, under the same versions, each with those that it inherits from."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".dynsym")
        versions = elf.get_section_by_name(".gnu.version")
        definitions = elf.get_section_by_name(".gnu.version_d")
        names: dict[int, str] = {}
        inherited: dict[str, list[str]] = {}  # parents come first
        for definition, auxiliaries in definitions.iter_versions() if definitions else ():
            name, *parents = (auxiliary.name for auxiliary in auxiliaries)
            if definition["vd_ndx"] > 1:  # the first one is the library's own name
                names[definition["vd_ndx"]] = name
                inherited[name] = parents
        exported: dict[str, list[str]] = {}
        for number, symbol in enumerate(symbols.iter_symbols()):
            if symbol["st_shndx"] == "SHN_UNDEF" or not symbol.name or symbol["st_shndx"] == "SHN_ABS":
                continue
            index = versions.get_symbol(number)["ndx"] if versions else 1
            index = index & 0x7FFF if isinstance(index, int) else 1
            exported.setdefault(names.get(index, "") if index > 1 else "", []).append(symbol.name)
    plain = exported.pop("", [])
    if not inherited:
        return "{ global: " + "".join(f"{name}; " for name in plain) + "local: *; };\n"
    lines: list[str] = []
    for version, parents in inherited.items():
        of_version = [*exported.get(version, ()), *([] if lines else plain)]
        shown = f"global: {' '.join(f'{name};' for name in of_version)}" if of_version else ""
        lines.append(" ".join((version, "{", shown, "" if lines else "local: *;", "}", *parents)) + ";")
    return "\n".join(lines) + "\n"
