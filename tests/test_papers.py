# SPDX-License-Identifier: Apache-2.0
"""The papers agree with the project: what they name exists, and the picture of the imports is that of the code."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.build import ROOT

ARCHITECTURE = ROOT / "docs" / "architecture.md"
MARKDOWN = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("fuzz/*.md"), *ROOT.glob("mock_layers/*/*.md")]
)
# What is in the build folder, in a sandbox or in a campaign is made later: `build/…`, `OUT/…`, `/dev/shm`.
MADE_LATER = ("build/", "OUT/", "/")
ENDINGS = (".py", ".c", ".h", ".toml", ".md", ".json", ".txt", ".yaml", ".yml", ".cmake", ".sh", ".ini")


def is_path(text: str) -> bool:
    """Whether a text in backticks names files of this repository."""
    if " " in text or "<" in text or text.startswith(MADE_LATER):
        return False
    return "/" in text or text.endswith(ENDINGS)


def paths_in(text: str) -> list[str]:
    """The paths in backticks, outside of blocks of code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [name for name in re.findall(r"`([^`\n]+)`", prose) if is_path(name)]


def exists(name: str) -> bool:
    """Whether there is such a file or folder; the name may be a pattern."""
    return any(ROOT.glob(name)) if "*" in name else (ROOT / name).exists()


@pytest.mark.parametrize("paper", [ARCHITECTURE, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_paper_names_files_that_exist(paper: Path) -> None:
    named = paths_in(paper.read_text())
    assert len(named) >= 5
    assert [name for name in named if not exists(name)] == []


def test_path_in_a_paper_is_told_from_other_code() -> None:
    assert paths_in("`gone.py` `gone/` `-k fifo` `CL_SUCCESS` `build/x.json` `ci/<name>`\n```\n`no.py`\n```\n") == [
        "gone.py",
        "gone/",
    ]
    assert not exists("gone.py") and not exists("gone/*.py") and exists("harness/*.py")


# --- links ---


def links(paper: Path) -> list[str]:
    """The files that a paper links to, without those on the web."""
    targets = re.findall(r"\]\(([^)\s]+)\)", paper.read_text())
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]


def test_links_between_papers_lead_somewhere() -> None:
    linked = [(paper, target) for paper in MARKDOWN for target in links(paper)]
    assert ROOT / "README.md" in MARKDOWN and len(linked) >= 10
    assert [f"{paper.relative_to(ROOT)}: {to}" for paper, to in linked if not (paper.parent / to).exists()] == []


# --- README ---


def folders(parent: Path) -> list[str]:
    """The folders in a folder that belong to the project, as paths from its root."""
    ignored = [line.strip("/\n") for line in (ROOT / ".gitignore").open() if not line.startswith("#")]
    names = [path for path in sorted(parent.iterdir()) if path.is_dir() and path.name != ".git"]
    kept = [path for path in names if not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored)]
    return [str(path.relative_to(ROOT)) for path in kept]


def places() -> list[str]:
    """The paths in the first column of README's table of folders."""
    section = (ROOT / "README.md").read_text().partition("## Where things are")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.M)
    return [name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("parent", [".", "harness"])
def test_readme_names_every_folder(parent: str) -> None:
    wanted = folders(ROOT / parent)
    assert len(wanted) >= 8
    assert [folder for folder in wanted if folder not in places()] == []


def test_readme_names_no_place_that_is_gone() -> None:
    assert len(places()) >= 20
    assert [name for name in places() if not exists(name)] == []


# --- licence and linters ---


def test_licence_is_there_and_is_the_one_that_the_papers_name() -> None:
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence and "Version 2.0, January 2004" in licence
    assert "Apache License 2.0" in (ROOT / "CONTRIBUTING.md").read_text()


def versions(text: str) -> dict[str, str]:
    """The versions that a text pins, NAME==VERSION, by name."""
    return dict(re.findall(r"([\w-]+)==([\w.]+)", text))


def test_linters_before_a_commit_have_the_versions_of_ci() -> None:
    before_commit = versions((ROOT / ".pre-commit-config.yaml").read_text())
    wanted = versions((ROOT / "ci" / "lint-requirements.txt").read_text())
    assert {"mypy", "ruff"} <= wanted.keys()
    assert {name: before_commit.get(name) for name in wanted} == wanted


# --- the picture ---

# Modules in harness/ itself, which every room may use.
COMMON = ("build", "errors", "derived", "tomlfile", "untrusted", "escaping", "deviation", "__version__")
# The selftest room has two floors: the mutants, and what runs the suites against them.
MUTANTS = ("mutants", "seed", "seeded", "targets")
# A record's type, for the type checker alone.
TYPES_ALONE = ("expectations", "report")

Graph = Mapping[str, set[str]]


def room(module: str) -> str:
    """The node of the picture that a module belongs to, such as harness.selftest.seed."""
    first, *rest = module.split(".")
    if first != "harness" or not rest:
        return first
    return "mutants" if rest[0] == "selftest" and rest[1:2] and rest[1] in MUTANTS else rest[0]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imports_between_rooms() -> Graph:
    graph: dict[str, set[str]] = defaultdict(set)
    for path in (path for folder in ("harness", "suites") for path in (ROOT / folder).rglob("*.py")):
        here = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        there = {room(name) for name in imported(path) if name.startswith(("harness.", "suites."))}
        if here not in (*COMMON, "__init__"):
            graph[here] |= there - {here, *COMMON}
    graph[TYPES_ALONE[0]].discard(TYPES_ALONE[1])
    return graph


def drawn_arrows() -> Graph:
    """The arrows of the first picture; a node's text is its room's name."""
    picture = ARCHITECTURE.read_text().partition("```mermaid\n")[2].partition("```")[0]
    graph: dict[str, set[str]] = defaultdict(set)
    for sources, targets in re.findall(r"^ *(\w[\w &]*?) --> (\w[\w &]*)$", picture, re.M):
        for source in sources.split(" & "):
            graph[source] |= set(targets.split(" & "))
    return graph


def reachable(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    ahead = set(graph.get(start, ()))
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead |= graph.get(node, set())
    return found


def test_every_arrow_of_the_picture_is_an_import() -> None:
    real, drawn = imports_between_rooms(), drawn_arrows()
    assert "check" in drawn["suites"]
    assert [f"{a} --> {b}" for a, targets in drawn.items() for b in sorted(targets - real.get(a, set()))] == []


def test_every_import_between_rooms_follows_the_arrows_of_the_picture() -> None:
    real, drawn = imports_between_rooms(), drawn_arrows()
    assert "probe" in real["check"]
    assert [f"{a} --> {b}" for a in real for b in sorted(real[a] - reachable(drawn, a))] == []


def test_arrows_of_the_picture_form_no_circle() -> None:
    drawn = drawn_arrows()
    assert len(drawn) >= 10
    assert [node for node in drawn if node in reachable(drawn, node)] == []
