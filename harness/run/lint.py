# SPDX-License-Identifier: Apache-2.0
"""What must be true of the suites before any check runs: known requirements, in the right folder, one name for one
check, one door to the harness, no check that cannot fail; and of the whole suites: no fault and no expectation that
nothing uses.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.expectations import Expectations
from harness.requirements.catalogue import catalogue, index, suite_of
from harness.run import assertions
from harness.run.cases import Case
from harness.run.torture import FOLDER as TORTURE
from harness.sandbox.faults import NAMES, fault_lists
from harness.selftest.mutants import Mutant

DOOR = "harness.check"


def lint(cases: Sequence[Case]) -> list[str]:
    """Sentences that say what is wrong; none when all is well."""
    problems = []
    known, groups = catalogue(), index().groups
    suites = {group.suite for group in groups.values()}
    seen: set[str] = set()
    for case in cases:
        where = case.id.partition("[")[0]
        if case.suite not in suites:
            problems.append(f"{where}: there is no suite '{case.suite}'")
            continue
        if not case.requirements:
            problems.append(f'{where}: names no requirement; write @requirement("ID") above it')
        if not case.sentence:
            problems.append(f"{where}: has no docstring; say in one sentence what must hold")
        for identifier in case.requirements:
            if identifier not in known:
                problems.append(f"{where}: there is no requirement {identifier}")
            elif groups[known[identifier].group].suite != case.suite:
                problems.append(f"{where}: {identifier} is of group {known[identifier].group}, not of this folder")
        if case.is_for_nothing:
            problems.append(f"{where}: its parametrisation yields nothing")
        if case.check is not None and where not in seen:
            problems += [f"{where}: {problem}" for problem in assertions.problems(case.check)]
        seen.add(where)
    problems += [f"{i}: is there {n} times; give each case a name of its own"
                 for i, n in Counter(case.id for case in cases).items() if n > 1]  # fmt: skip
    files = sorted({Path(inspect.unwrap(case.check).__code__.co_filename) for case in cases if case.check is not None})
    for file in files:
        problems += side_doors(file)
    for root in sorted({root for file in files if (root := _root(file)) is not None}):
        problems += repeated_names(root)
    return list(dict.fromkeys(problems))


# --- sources ---


def _root(file: Path) -> Path | None:
    """The project's folder: the one above the suites that a file belongs to."""
    return next((folder.parent for folder in file.parents if folder.name == "suites"), None)


def side_doors(file: Path) -> Iterator[str]:
    """Imports of the harness that go around harness.check."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for module in modules:
            if module.partition(".")[0] == "harness" and module != DOOR:
                where = file.relative_to(_root(file) or file.parent)
                yield f"{where}: line {node.lineno}: imports {module}; import from {DOOR} only, see there what there is"


def repeated_names(root: Path) -> Iterator[str]:
    """Test functions of the same name, in the suites and in the project's own tests."""
    files: dict[str, list[Path]] = defaultdict(list)
    for path in (path for folder in ("suites", "tests") for path in sorted((root / folder).rglob("test_*.py"))):
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M):
            files[name].append(path)
    for name, suspects in files.items():  # few, so that few files are parsed
        places = [str(path.relative_to(root)) for path in suspects if len(suspects) > 1 and name in _functions_of(path)]
        if len(places) > 1:
            yield f"{name} is the name of {len(places)} tests, in {' and '.join(places)}; give each a name of its own"


def _functions_of(path: Path) -> set[str]:
    """The functions of a file, without those in its texts: tests write suites."""
    body = ast.parse(path.read_text(encoding="utf-8"), str(path)).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


# --- only where whole suites were collected ---


def unused_expectations(cases: Sequence[Case], known: Iterable[Expectations]) -> Iterator[str]:
    """Entries of expectation files that no case of the collected suites can meet."""
    suites = {case.suite for case in cases}
    by_requirement: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        for identifier in case.requirements:
            by_requirement[identifier].append(case)
    for expectations in known:
        for entry in expectations.all_entries:
            if suite_of(entry.requirement) == TORTURE:
                continue  # its cases are named for places in the subject's own code
            if suite_of(entry.requirement) in suites and not any(
                entry.covers(case.requirements, case.name) for case in by_requirement[entry.requirement]
            ):
                file = expectations.path.name if expectations.path else "expectations"
                yield f"{file}: {entry.id}: no case is named so; correct or remove the entry"


def faults_without_their_cases(cases: Sequence[Case], faults: Iterable[Mutant]) -> Iterator[str]:
    """Mutants that name cases which do not exist."""
    suites = {case.suite for case in cases}
    names = "\n".join(case.id for case in cases)
    for fault in faults:
        own = set(map(suite_of, fault.requirements))
        for part in fault.parts if own <= suites else ():
            if part not in names:
                yield f"mutant {fault.name}: no case has {part!r} in its name; correct `cases`"


_LITERAL = re.compile(r"""(f?)(?:"([^"\n]*)"|'([^'\n]*)')""")
_HOLE = re.compile(r"\{[^{}]*\}")
_SHORTEST = 4  # letters that a text with holes must give, to stand for a fault


def unused_mock_faults(header: Path, folders: Iterable[Path]) -> Iterator[str]:
    """Faults of a list (mock_icds/faults.h) that no Python or TOML file of the folders writes, and those listed twice.

    A fault is written as a text, with `=VALUE` or `@PLATFORM` or without; an f-string may leave parts of it open.
    """
    return _unused(header, *_written(folders))


def _written(folders: Iterable[Path]) -> tuple[set[str], re.Pattern[str]]:
    """The texts in the files of folders, and what those look like that are put together."""
    texts: set[str] = set()
    patterns: set[str] = set()
    for path in (path for folder in folders for kind in ("*.py", "*.toml") for path in folder.rglob(kind)):
        for formatted, *either in _LITERAL.findall(path.read_text(encoding="utf-8")):
            text = re.split("[@=]", _HOLE.sub("\0", "".join(either)) if formatted else "".join(either))[0]
            if "\0" in text and len(text.replace("\0", "")) >= _SHORTEST:
                patterns.add(r"\w+".join(map(re.escape, text.split("\0"))))
            elif "\0" not in text:
                texts.add(text)
    return texts, re.compile("|".join(patterns) or "$.")


def _unused(header: Path, texts: Collection[str], composed: re.Pattern[str]) -> Iterator[str]:
    listed = re.findall(r"^FAULT\((\w+)\)", header.read_text(), re.M)
    name = f"{header.parent.name}/{header.name}"
    yield from (f"{name}: {fault} is there {n} times" for fault, n in Counter(listed).items() if n > 1)
    for fault in listed:
        if fault not in texts and not composed.fullmatch(fault):
            yield f"{name}: no suite and no test uses {fault}; write its check, or remove it"


def _users(root: Path) -> list[Path]:
    """The folders that use faults of mocks."""
    return [root / "suites", root / "tests", root / "harness" / "check", root / "harness" / "selftest"]


def lint_whole(
    cases: Sequence[Case], root: Path, known: Iterable[Expectations], faults: Mapping[str, Mutant]
) -> list[str]:
    """What can only be said where the cases of all suites are there. `root` is the project's."""
    collected = {case.suite for case in cases}
    folders = [folder for folder in (root / "suites").iterdir() if folder.name != TORTURE]  # collected where wanted
    if any(folder.name not in collected and any(folder.glob("test_*.py")) for folder in folders):
        return []
    problems = [*unused_expectations(cases, known), *faults_without_their_cases(cases, faults.values())]
    written = _written(_users(root))
    for header in (path for kind in NAMES for path in fault_lists(kind, root)):
        problems += _unused(header, *written)
    return problems
