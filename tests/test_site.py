# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation site: what is generated is there, whole, and no example is made up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci.site_pages import RUN, with_outputs, without_outside_links, write_pages
from harness.build import ROOT
from harness.cli.pages import commands
from harness.requirements.catalogue import catalogue


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    write_pages(folder, lambda line: f"output of {line}")
    return folder


def test_each_requirement_has_one_anchor_on_the_page_of_its_section(pages: Path) -> None:
    anchors = {
        (page.stem, anchor)
        for page in (pages / "requirements").glob("*.md")
        for anchor in re.findall(r"^## \S+ \{#(\S+)\}$", page.read_text(), re.M)
    }
    assert len(anchors) > 300
    assert anchors == {(requirement.key.lower(), requirement.id) for requirement in catalogue().values()}


def test_each_command_has_a_page_with_its_options(pages: Path) -> None:
    for command in commands():
        text = (pages / "commands" / f"{command.name}.md").read_text()
        assert text.startswith(f"# clharness {command.name}\n")
        assert [o.names for o in command.options if f"`{', '.join(o.names)}" not in text] == []
        assert [o.names for o in command.options if not o.help] == [], "each is explained"
        assert "\\|" not in text and ".." not in text.partition("```")[0]
        assert max(map(len, text.partition("```\n")[2].partition("\n```")[0].splitlines())) <= 78


def test_site_loads_nothing_from_elsewhere() -> None:
    """It is read from disk and behind walls; ci/site looks at what the generator made, too."""
    assert re.search(r"^  highlightjs: false\b", (ROOT / "docs" / "site.yml").read_text(), re.M)


def test_every_page_of_the_menu_is_made(pages: Path) -> None:
    named = re.findall(r": (\S+\.md)$", (ROOT / "docs" / "site.yml").read_text(), re.M)
    assert len(named) > 8
    assert [name for name in named if not (pages / name).is_file()] == []


def test_examples_are_what_commands_print(pages: Path) -> None:
    lines = [line for page in (ROOT / "docs").rglob("*.md") for line in RUN.findall(page.read_text())]
    assert len(lines) >= 4 and all(line.startswith("clharness ") for line in lines)
    page = with_outputs("# A\n<!-- run: clharness explain X -->\n", lambda line: f"<{line}>\n")
    assert page == "# A\n```console\n$ clharness explain X\n<clharness explain X>\n```\n"
    assert not [page for page in pages.rglob("*.md") if RUN.search(page.read_text())]


def test_links_out_of_the_pages_become_paths(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("")
    text = "[b](b.md#x) [web](https://example.org) [`c.py`](../c.py) [other](../d.md)"
    assert (
        without_outside_links(text, tmp_path / "a.md", tmp_path)
        == "[b](b.md#x) [web](https://example.org) `c.py` `other`"
    )
