# SPDX-License-Identifier: Apache-2.0
"""The C files of a folder stand on floors: none needs, in a roundabout way, itself. Symbols of the object files say who
needs whom.
"""

from __future__ import annotations

import graphlib
import itertools
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.build import ROOT, build

# Folders whose files must form no circle.
FOLDERS = (
    "mock_icds",
    "mock_layers",
    "harness/calllog",
    "harness/reference_loader",
    "harness/probe",
    "harness/sandbox",
    "fuzz/engine",
    "fuzz/targets",
)
# What any of them may need, generated code included; its own files come first where both define a symbol.
SHARED = ("harness/api", "harness/calllog")
# Generated dispatch code that belongs to the hand-written entry points: each calls the other, as one part in two files.
ONE_PART = {"harness/reference_loader": ("clharness_dispatch.c", "clharness_trampolines.c")}
# Folders in which every symbol that a file exports begins with the file's name, or with its folder's and its own.
NAMED_BY_FILE = ("mock_icds", "mock_layers")
# The entries of the API, and what their generated code calls, have names that others chose.
NAMED_BY_OTHERS = ("cl", "vk", "component_call", "vulkan_component_call")

# Headers that only x86 has.
X86_HEADER = re.compile(r"#\s*include\s*<(sys/reg\.h|sys/io\.h|sys/vm86\.h|cpuid\.h|\w*intrin\.h)>")

# From file to file, with the symbols that the first takes from the second.
Needs = dict[str, dict[str, set[str]]]


class Symbols:
    """What one source file defines for others, and what it takes from others: of all objects made of it."""

    def __init__(self) -> None:
        self.defined: set[str] = set()
        self.taken: set[str] = set()


def object_files(folder: str) -> dict[Path, str]:
    """The object files that the build made in a folder, each with its source file.

    Those of files that are gone since, and of copies that the build made in folders of its own, are left out.
    """
    files = {}
    # CMake puts the objects of a folder that has no CMakeLists.txt below those of the folder that names it.
    where = next(path for path in (build().folder / folder, *(build().folder / folder).parents) if path.is_dir())
    for path in where.rglob("*.o"):
        made_for = next((parent for parent in path.parents if parent.suffix == ".dir"), None)
        if made_for is None:
            continue
        within = str(path.relative_to(made_for).with_suffix("")).replace("__", "..")  # as CMake writes it
        source = os.path.normpath(made_for.parent.parent.relative_to(build().folder) / within)
        exists = any((root / source).is_file() for root in (ROOT, build().folder))
        if exists and (ROOT / source).parent.is_dir() and source.startswith(folder):
            files[path] = source
    return files


def read_symbols(objects: Mapping[Path, str]) -> dict[str, Symbols]:
    """The symbols of object files by source file."""
    sources: dict[str, Symbols] = defaultdict(Symbols)
    if not objects:
        return {}
    names = {str(path): source for path, source in objects.items()}
    listed = subprocess.run(["nm", "-P", "-g", *names], capture_output=True, text=True, check=True).stdout
    source = next(iter(names.values()))  # of a single file nm does not print the name
    for line in listed.splitlines():
        if line.endswith(":") and line[:-1] in names:
            source = names[line[:-1]]
        elif line:
            symbol, kind = line.split()[:2]
            if kind.isupper():  # small letters are weak references
                (sources[source].taken if kind == "U" else sources[source].defined).add(symbol)
    return dict(sources)


def needs_between(own: Mapping[str, Symbols], shared: Mapping[str, Symbols]) -> Needs:
    """Which file needs which, by symbols that are defined in the one and taken by the other."""
    homes: dict[str, list[str]] = {}
    for sources in (shared, own):  # the later one wins
        found: dict[str, list[str]] = defaultdict(list)
        for source, symbols in sources.items():
            for symbol in symbols.defined:
                found[symbol].append(source)
        homes.update(found)
    needs: Needs = {}
    for source, symbols in {**shared, **own}.items():
        targets = needs.setdefault(source, {})
        for symbol in symbols.taken - symbols.defined:
            for home in homes.get(symbol, []):
                targets.setdefault(home, set()).add(symbol)
    return needs


def circle(needs: Mapping[str, Mapping[str, set[str]]]) -> list[str]:
    """The files of a circle in order, the first one again at the end; empty where there is none."""
    try:
        graphlib.TopologicalSorter({source: list(targets) for source, targets in needs.items()}).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))  # graphlib goes from a file to those that need it
    return []


def described(files: Sequence[str], needs: Needs) -> str:
    """A circle in words, an arrow a line."""
    return "\n".join(
        f"{one} needs {other} for {', '.join(sorted(needs[one][other]))}" for one, other in itertools.pairwise(files)
    )


def needs_of_folder(folder: str) -> Needs:
    part = ONE_PART.get(folder, ())
    own = read_symbols({path: s for path, s in object_files(folder).items() if Path(s).name not in part})
    shared = {s: symbols for other in SHARED for s, symbols in read_symbols(object_files(other)).items()}
    return needs_between(own, {source: symbols for source, symbols in shared.items() if source not in own})


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_files_form_a_circle(folder: str) -> None:
    needs = needs_of_folder(folder)
    assert any(needs.values()), f"no file of {folder} needs another one: are these its object files?"
    files = circle(needs)
    assert not files, f"a circle of files:\n{described(files, needs)}"


def test_every_folder_of_several_c_files_is_looked_at() -> None:
    sources = [path for top in ("fuzz", "harness", "mock_icds", "mock_layers") for path in (ROOT / top).rglob("*.c")]
    files = Counter(path.parent for path in sources)
    several = {folder for folder, count in files.items() if count > 1}
    within = {folder for folder in several for one in FOLDERS if folder.is_relative_to(ROOT / one)}
    assert several and several == within


@pytest.mark.parametrize("folder", NAMED_BY_FILE)
def test_exported_symbols_name_their_file(folder: str) -> None:
    sources = read_symbols(object_files(folder))
    strays = []
    for source, symbols in sources.items():
        path = Path(source)
        stem = path.stem.removeprefix("clharness_")
        prefixes = (stem, stem.rstrip("s"), f"{path.parent.name}_{stem.rstrip('s')}", *NAMED_BY_OTHERS)
        strays += [f"{source}: {s}" for s in sorted(symbols.defined) if not s.startswith(prefixes)]
    assert sources
    assert not strays, "symbols that do not name the file they are from:\n" + "\n".join(strays)


# A function's own variable that every thread writes to: a number or a flag that is neither constant, atomic nor each
# thread's own.
PLAIN_STATIC = re.compile(
    r"^[ \t]+static (?!const |_Atomic |_Thread_local |inline )(?:volatile )?"
    r"(?:bool|char|int|long|unsigned|size_t|u?int\d+_t|cl_\w+)[ \w]*(?: = [^;(]*)?;",
    re.MULTILINE,
)


def test_mock_icds_have_no_storage_of_each_thread() -> None:
    """For that the dynamic linker takes memory with each library, and checks of a loader's memory would count it."""
    built = build().mock_icds.values()
    assert built
    for path in built:
        with path.open("rb") as file:
            assert not list(ELFFile(file).iter_segments("PT_TLS")), f"{path.name} has thread-local storage"


@pytest.mark.parametrize("folder", ["mock_icds", "mock_layers"])
def test_functions_of_mocks_keep_no_number_that_threads_race_for(folder: str) -> None:
    sources = sorted((ROOT / folder).rglob("*.c"))
    races = [
        f"{path.relative_to(ROOT)}: {race[0].strip()}"
        for path in sources
        for race in PLAIN_STATIC.finditer(path.read_text())
    ]
    assert sources
    assert not races, "declare these _Atomic:\n" + "\n".join(races)


# --- that the checks above can fail ---


@pytest.mark.parametrize(
    "line", ["    static long buffers;\n", "\tstatic bool made = false;\n", "    static cl_ulong last;\n"]
)
def test_a_number_that_threads_race_for_is_found(line: str) -> None:
    assert PLAIN_STATIC.search(line)


@pytest.mark.parametrize(
    "line", ["    static _Atomic long buffers;\n", "    static const int most = 3;\n", "static int own;\n"]
)
def test_a_number_that_no_thread_races_for_is_not_found(line: str) -> None:
    assert not PLAIN_STATIC.search(line)


def included_anywhere(text: str) -> list[str]:
    """The headers of x86 alone that a C file includes where nothing asks for that processor."""
    conditions: list[str] = []
    found = []
    for line in text.splitlines():
        if match := re.match(r"#\s*(if|el|endif)\w*(.*)", line):
            if match[1] != "if":
                conditions.pop()
            if match[1] != "endif":
                conditions.append(match[2])
        elif (match := X86_HEADER.match(line)) and not any(re.search("x86|i386|SSE|AVX", each) for each in conditions):
            found.append(match[1])
    return found


def test_headers_of_one_processor_are_included_there_alone() -> None:
    """Probe and mocks build for 64-bit ARM, too (ci/arm64)."""
    files = [
        path for folder in ("fuzz", "harness", "mock_icds", "mock_layers") for path in (ROOT / folder).rglob("*.[ch]")
    ]
    found = {str(path.relative_to(ROOT)): names for path in files if (names := included_anywhere(path.read_text()))}
    assert found == {}
    assert any("x86_64" in path.read_text() for path in files), "nothing was read"


def test_headers_of_one_processor_are_found_and_those_behind_a_condition_are_not() -> None:
    assert included_anywhere("#include <sys/reg.h>\n#ifdef __x86_64__\n#include <cpuid.h>\n#endif\n") == ["sys/reg.h"]
    assert included_anywhere("#ifdef __x86_64__\n#else\n#include <cpuid.h>\n#endif\n") == ["cpuid.h"]


def test_a_circle_is_found_and_named() -> None:
    needs: Needs = {
        "top": {"a": {"a_run"}},
        "a": {"b": {"b_run"}, "floor": {"floor_size"}},
        "b": {"c": {"c_run", "c_count"}},
        "c": {"a": {"a_run"}},
        "floor": {},
    }
    files = circle(needs)
    assert files[0] == files[-1] and set(files) == {"a", "b", "c"}
    text = described(files, needs)
    assert "b needs c for c_count, c_run" in text and "c needs a for a_run" in text and "floor" not in text


def test_floors_are_no_circle() -> None:
    assert circle({"top": {"a": {"x"}, "floor": {"y"}}, "a": {"floor": {"y"}}, "floor": {}}) == []


def test_a_circle_of_real_object_files_is_found(tmp_path: Path) -> None:
    programs = {
        "one": "int two(void); int one(void); int one(void) { return two(); }",
        "two": "int one(void); int two(void); int two(void) { return one(); }",
        "three": "int one(void); static int two(void) { return 1; } int three(void); int three(void) "
        "{ return one() + two(); }",
    }
    objects = {}
    for name, program in programs.items():
        (tmp_path / f"{name}.c").write_text(program)
        objects[tmp_path / f"{name}.o"] = name
        subprocess.run([build().compiler, "-c", f"{name}.c", "-o", f"{name}.o"], cwd=tmp_path, check=True)
    needs = needs_between(read_symbols(objects), {})
    assert needs["three"] == {"one": {"one"}}  # a static function is its own
    assert set(circle(needs)) == {"one", "two"}
