# SPDX-License-Identifier: Apache-2.0
"""Statements of documents: which there are, which requirements carry them, and what is a gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import Exit, UsageError
from harness.requirements import statements
from harness.requirements.catalogue import catalogue
from harness.requirements.statements import Carried, Listed, Statement, carried, listed, page, unknown_entries
from tests.forked import Done, clharness

ROOT = Path(__file__).parents[1]
ASCIIDOC = """\
== Closing

If any of these functions are not present then the ICD Loader will close and
ignore the library. A sentence of praise.
Will there be a question?

[source,c]
----
you must not count this
----

  * It must also do a second thing
    in two lines.

== Later
// must not count, either
Nothing that is demanded. A library may be
asked for `this`: It returns that.
"""
MARKDOWN = "# One\n\n<table><tr><td>It **must** be.</td></tr><tr><td>It shall.</td></tr></table>\n```\nmust\n```\n"
DEMANDED = "If any of these functions are not present then the ICD Loader will close and ignore the library."


def test_sentences_that_demand_permit_or_promise_are_counted_by_section() -> None:
    assert [(one.section, one.number, one.text) for one in statements.statements(ASCIIDOC)] == [
        ("Closing", 1, DEMANDED),
        ("Closing", 2, "* It must also do a second thing in two lines."),
        ("Later", 1, "A library may be asked for `this`:"),
        ("Later", 2, "It returns that."),
    ]
    assert [one.section for one in statements.statements(MARKDOWN)] == ["One", "One"]


def known(**entries: list[str] | str) -> Listed:
    """A file of `statements/` about the section "Closing"."""
    return Listed(Path("x.toml"), "ICD", "x.asciidoc", {("Closing", int(n[1:])): one for n, one in entries.items()})


def test_a_statement_is_carried_by_who_quotes_it_or_is_listed_for_it() -> None:
    quoting = [one for one in catalogue().values() if one.sentence == DEMANDED]
    assert "DISC-ACC-002" in [one.id for one in quoting]
    statements = carried(ASCIIDOC, known(_2=["DISC-GEN-001"]), quoting)
    assert statements[0].requirements == tuple(one.id for one in quoting)
    assert statements[1].requirements == ("DISC-GEN-001",)
    assert [one.is_gap for one in statements] == [False, False, True, True]
    assert [one.is_gap for one in carried(ASCIIDOC, known(_2="advice"), [])] == [True, False, True, True]


def test_an_entry_for_what_the_document_has_not_is_told() -> None:
    entries = known(_1="advice", _7="advice")
    lines = unknown_entries(entries, carried(ASCIIDOC, entries, []))
    assert lines == ["x.toml: Closing, 7: the document has no such statement"]


def test_page_has_numbers_requirements_and_reasons_and_not_the_text() -> None:
    statements = [
        Carried(Statement("Closing", 1, DEMANDED), ("DISC-ACC-002", "DISC-ACC-003")),
        Carried(Statement("Closing", 2, "It must."), (), "advice"),
        Carried(Statement("Later", 1, "It may."), ()),
    ]
    text = "\n".join(page(known(), statements))
    assert "## Closing\n\n| statement | requirements |\n| --: | --- |\n| 1 | DISC-ACC-002, DISC-ACC-003 |" in text
    assert "| 2 | none: advice |" in text and "## Later" in text and "| 1 | **none** |" in text
    assert "close and ignore" not in text


def test_every_document_has_its_page() -> None:
    pages = ROOT / "docs" / "statements"
    for one in listed():
        assert (pages / f"{one.path.stem}.md").read_text().count("\n| ") > len(one.entries)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('1 = ["DISC-ACC-999"]', "needs requirements of the catalogue"),
        ("1 = []", "needs requirements of the catalogue"),
        ('one = "advice"', "needs numbers"),
        ('1 = "advice"\n"1, 2" = "advice"', "each of them once"),
    ],
)
def test_a_wrong_file_of_statements_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, message: str
) -> None:
    (tmp_path / "x.toml").write_text(f'document = "ICD"\nfile = "x.adoc"\n[sections.A]\n{entry}\n')
    monkeypatch.setattr(statements, "FOLDER", tmp_path)
    with pytest.raises(UsageError, match=message):
        listed()


def run(*arguments: str) -> Done:
    return clharness("requirements", *arguments)


def test_command_writes_pages_and_complains_of_gaps(tmp_path: Path) -> None:
    texts, pages = tmp_path / "texts", tmp_path / "pages"
    texts.mkdir()
    for one in listed():
        (texts / Path(one.file).name).write_text("== New\n\nIt must be new.\n")
    done = run("--statements", str(pages), "--texts", str(texts))
    assert done.returncode == Exit.UNEXPECTED
    assert "ICD, New, 1: no requirement, no reason" in done.stdout
    assert "icd.toml: Description, 1: the document has no such statement" in done.stdout
    assert "| 1 | **none** |" in (pages / "icd.md").read_text()
    alone = run("--statements", str(pages))
    assert alone.returncode == Exit.USAGE and "needs the documents" in alone.stderr
