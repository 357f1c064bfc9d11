# SPDX-License-Identifier: Apache-2.0
"""What earlier runs collected: so that a run of some checks (`-k`) reads their files, and not those of all others.

The index has, for each file of tests, its cases and the words that `-k` looks at. An entry holds while the file is the
same and so is all that its cases may depend on: for the suites the harness's code and tables, the headers of the mocks
and what the build wrote about the API; for the project's own tests every file of the project. It also says which files
the lint has passed. Where anything is in doubt, files are collected as if there were no index.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness import derived
from harness.build import ROOT, build
from harness.errors import NotBuilt
from harness.run import tested, torture
from harness.run.cases import CASE, Case
from harness.subject import KINDS

INDEX = pytest.StashKey["Index"]()

_FORMAT = 1
_SKIPPED = {".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules"}
_CODE = (".py", ".toml", ".h")  # of the harness and the mocks, which the suites' cases may depend on
_TESTS = ("suites", "tests")
# Of the environment, and about what cases do when they run. Which there are depends on no loader, nor on its fault.
_OF_RUNS = {"CLHARNESS_FAULT", "CLHARNESS_SCRATCH", "CLHARNESS_SCREENSHOTS", "CLHARNESS_BUILD_WAIT"}

Function = dict[str, Any]  # of a file: `words` that all its cases share, and `cases`


class Index:
    """The index of one kind of run. `narrows` is whether files may be left out in this run."""

    def __init__(self, config: pytest.Config) -> None:
        place = derived.folder()
        assert place is not None
        self._config = config
        self._file = place / f"cases-{_digest(_context(config))}.json"
        self._stamps = dict(_stamps(ROOT))
        self._common = {area: _common(area, self._stamps) for area in _TESTS}
        self._old: dict[str, Any] = _read(self._file)
        self._expression = _expression(config)
        self._chosen_of: dict[str, frozenset[str]] = {}
        self._partial: set[str] = set()  # files of which only some functions are collected now

    # --- before files are collected ---

    def leaves_out(self, path: Path) -> bool:
        """Whether no case of a file can be selected."""
        name = _name(path)
        return name is not None and self._expression is not None and self._is_valid(name) and not self._chosen(name)

    def leaves_out_function(self, path: Path, function: str) -> bool:
        """The same of a function of a file."""
        name = _name(path)
        if name is None or self._expression is None or not self._is_valid(name):
            return False
        self._partial.add(name)
        return function in self._old["files"][name]["functions"] and function not in self._chosen(name)

    def _is_valid(self, name: str) -> bool:
        entry = self._old["files"].get(name)
        area = name.partition("/")[0]
        return bool(
            entry
            and entry["stamp"] == self._stamps.get(name)
            and self._old["common"].get(area) == self._common.get(area)
        )

    def _chosen(self, name: str) -> frozenset[str]:
        """The functions of which at least one case is selected."""
        if name not in self._chosen_of:
            functions = self._old["files"][name]["functions"]
            chosen = (function for function in functions if any(map(self._selects, _words(functions[function]))))
            self._chosen_of[name] = frozenset(chosen)
        return self._chosen_of[name]

    def _selects(self, words: str) -> bool:
        assert self._expression is not None
        return bool(self._expression.evaluate(lambda word, **_: word.lower() in words))

    # --- when they are ---

    def passed_lint(self, path: Path) -> bool:
        """Whether the cases of a file are in order, as nothing has changed since they were found to be."""
        name = _name(path)
        return name is not None and self._is_valid(name)

    @property
    def is_unchanged(self) -> bool:
        """Whether all is as it was when the whole of the suites was found to be in order."""
        return bool(self._old["whole"] == self._whole())

    def not_collected(self) -> Iterator[Case]:
        """The cases of the suites that this run left out, without their functions; of the folders that it is of."""
        if self._expression is None:
            return
        paths = [Path(self._config.invocation_params.dir, argument).resolve() for argument in self._config.args]
        for name, entry in self._old["files"].items():
            is_asked = any(Path(ROOT, name).resolve().is_relative_to(path) for path in paths)
            if name.startswith("suites/") and is_asked and self._is_valid(name):
                for function, content in entry["functions"].items():
                    if function not in self._chosen(name):
                        for place, requirements, _ in content["cases"]:
                            yield Case(f"{name}::{place}", tuple(requirements), name.split("/")[1])

    def update(self, items: Sequence[pytest.Item], whole_in_order: bool) -> None:
        """Takes in what was collected, all of it in order; writes the index where that is new."""
        files = {name: entry for name, entry in self._old["files"].items() if self._is_valid(name)}
        new: dict[str, Any] = {}
        for item in items:
            name = _name(item.path)
            if name is not None and name not in files and name not in self._partial and name in self._stamps:
                entry = new.setdefault(name, {"stamp": self._stamps[name], "functions": {}})
                _add(entry["functions"], item)
        for entry in new.values():
            for content in entry["functions"].values():
                _share_words(content)
        whole = self._whole() if whole_in_order else self._old["whole"]
        if new or whole != self._old["whole"]:
            content = {"format": _FORMAT, "common": self._common, "files": files | new, "whole": whole}
            derived.write_whole(self._file, json.dumps(content))

    def _test_files(self) -> list[str]:
        return [name for name in self._stamps if os.path.basename(name).startswith("test_") and not _is_torture(name)]

    def _whole(self) -> str:
        return _digest([sorted(self._common.items()), [(name, self._stamps[name]) for name in self._test_files()]])


def index_of(config: pytest.Config) -> Index | None:
    """The index of this run; None where it is of something else, or of pieces of files."""
    option = config.option
    in_pieces = any("::" in argument for argument in config.args)
    if config.rootpath != ROOT or in_pieces or getattr(option, "lf", False) or getattr(option, "failedfirst", False):
        return None
    try:
        return Index(config) if derived.keeps and derived.folder() is not None and _matcher() is not None else None
    except NotBuilt:
        return None


# --- what cases depend on ---


def _context(config: pytest.Config) -> list[Any]:
    """What decides which cases there are, besides files."""
    kind = tested.kind_of(config)
    others = list(tested.through(config)) if kind is not KINDS["loader"] and not kind.stands_alone else []
    plugins = sorted(f"{d.project_name} {d.version}" for _, d in config.pluginmanager.list_plugin_distinfo())
    own = {name for name in os.environ if name.startswith("CLHARNESS_") and not name.endswith("IN_USE")}
    variables = [(name, os.environ[name]) for name in sorted(own - _OF_RUNS)]
    torture_options = [config.getoption(torture.ONLY), config.getoption(torture.TOO)]
    return [_FORMAT, sys.version, pytest.__version__, plugins, kind.identity.kind, others, torture_options, variables]


def _stamps(root: Path) -> Iterator[tuple[str, list[int]]]:
    """Every file of the project, in order, with what changes when it is written; those of builds are left out."""
    folders = [""]
    while folders:
        folder = folders.pop()
        with contextlib.suppress(OSError), os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED and not (not folder and entry.name.startswith("build")):
                        folders.append(name)
                    continue
                status = entry.stat(follow_symlinks=False)
                yield name, [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    yield from _of_build()


def _of_build() -> Iterator[tuple[str, list[int]]]:
    """What the build wrote about itself and the API: the content counts, which a build may write again unchanged."""
    try:
        built = build()
    except NotBuilt:
        return
    paths = [built.api, *([built.vulkan.api] if built.vulkan else [])]
    for path in [built.folder / "clharness.json", *paths]:
        with contextlib.suppress(OSError):
            yield f"build:{path}", list(hashlib.sha256(path.read_bytes()).digest())


def _common(area: str, stamps: dict[str, list[int]]) -> str:
    """A digest of all that the cases of an area may depend on, but for the file that has them."""

    def counts(name: str) -> bool:
        if area == "tests":
            return not (name.startswith("tests/test_") and name.endswith(".py"))
        folder = name.partition("/")[0]
        if folder == "suites":
            return not os.path.basename(name).startswith("test_")
        return folder.startswith(("build:", "conftest", "pytest.ini")) or (
            folder in ("harness", "mock_icds", "mock_layers") and name.endswith(_CODE)
        )

    return _digest([(name, stamp) for name, stamp in stamps.items() if counts(name)])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def _name(path: Path) -> str | None:
    """The name of a file that the index may have: relative to the project, and not of torture, whose cases are found
    out by asking the subject.
    """
    text, root = str(path), f"{ROOT}/"
    name = text.removeprefix(root)
    known = text.startswith(root) and name.startswith(_TESTS) and name.endswith(".py") and not _is_torture(name)
    return name if known else None


def _is_torture(name: str) -> bool:
    return name.startswith(f"suites/{torture.FOLDER}/")


# --- the file ---


def _read(file: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.get("format") == _FORMAT:
            return content
    return {"format": _FORMAT, "common": {}, "files": {}, "whole": ""}


def _add(functions: dict[str, Function], item: pytest.Item) -> None:
    function = item.nodeid.split("::")[1].partition("[")[0]
    case = item.stash.get(CASE, None)
    content = functions.setdefault(function, {"words": [], "cases": []})
    requirements = list(case.requirements) if case else []
    content["cases"].append([item.nodeid.partition("::")[2], requirements, sorted(_words_of(item))])


def _share_words(content: Function) -> None:
    """Keeps the words that all cases of a function have once."""
    cases = content["cases"]
    shared = set.intersection(*(set(words) for _, _, words in cases))
    content["words"] = "\n".join(sorted(shared))
    for case in cases:
        case[2] = "\n".join(word for word in case[2] if word not in shared and word != _own_word(case[0]))


def _words(content: Function) -> Iterable[str]:
    """The words of each case, a line for each."""
    return (f"{content['words']}\n{_own_word(place)}\n{own}" for place, _, own in content["cases"])


def _own_word(place: str) -> str:
    """The word that most cases have alone, and is not written twice: the name of the case."""
    return "" if "::" in place else place.lower()


# --- pytest's -k ---


def _matcher() -> Any:
    """pytest's own idea of the words that `-k` looks at; None where this pytest has another one."""
    try:
        from _pytest.mark import KeywordMatcher
    except ImportError:
        return None
    return KeywordMatcher if hasattr(KeywordMatcher, "from_item") else None


def _words_of(item: pytest.Item) -> set[str]:
    names: Iterable[str] = _matcher().from_item(item)._names
    return {name.lower() for name in names}


def _expression(config: pytest.Config) -> Any:
    """The compiled expression of -k; None where there is none, or pytest will refuse it."""
    text = (config.option.keyword or "").lstrip()
    if not text:
        return None
    try:
        from _pytest.mark.expression import Expression

        expression = Expression.compile(text)
        expression.evaluate(lambda word, **_: False)
        return expression
    except Exception:  # whatever it is, pytest says it when it gets there
        return None
