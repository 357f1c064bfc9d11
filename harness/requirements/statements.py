# SPDX-License-Identifier: Apache-2.0
"""Which requirement carries each normative statement of a document: by section and number, without its text.

A statement is a sentence, or a cell of a table, with a word that demands, permits or promises. It is carried by the
requirements that quote it, and by those that a file in `statements/` names for it; for what demands nothing that can
be tested, that file has the reason. The documents are not part of the project: they lie in folders of the user's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import tomlfile
from harness.errors import UsageError
from harness.requirements.catalogue import Requirement, catalogue, index
from harness.requirements.quotations import words

FOLDER = Path(__file__).with_name("statements")
_NORMATIVE = re.compile(
    r"\b(?:must|shall|should|required|cannot|can not|will|may"
    r"|returns?|returned|ignores?|ignored|undefined|responsible)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?ms)^(----|```)[^\n]*\n.*?^\1$|<!--.*?-->")
_HEADING = re.compile(r"(?:=+|#+) +(.+)")
_NO_TEXT = re.compile(r"\s*$|//|\+$|--$|\|===|(?:ifdef|ifndef|endif|include)::|\[.*\]$")
_ITEM = re.compile(r"\s*(?:[*.-]+|\||\d+\.) ")
_END_OF_SENTENCE = re.compile(r"(?<=[.:;]) +(?=[A-Z`{<*_\[(])")
_SHORTEST = 12  # characters of a quotation that tell one statement from another


@dataclass(frozen=True)
class Statement:
    """A normative statement of a document."""

    section: str
    number: int  # of those of its section, from 1
    text: str


@dataclass(frozen=True)
class Carried:
    """A statement with the requirements that carry it; `reason` says why none does; neither is a gap."""

    statement: Statement
    requirements: tuple[str, ...]
    reason: str = ""

    @property
    def is_gap(self) -> bool:
        """Whether nothing answers for the statement."""
        return not self.requirements and not self.reason


@dataclass(frozen=True)
class Listed:
    """A file of `statements/`: what is known of the statements of a document that nobody quotes."""

    path: Path
    document: str  # its tag in the catalogue
    file: str  # the end of its path in a checkout
    entries: Mapping[tuple[str, int], list[str] | str]  # by section and number: requirements, or a reason


def listed() -> list[Listed]:
    """All files of `statements/`. Raises UsageError where one is malformed or names what the catalogue has not."""
    return [_listed(path) for path in sorted(FOLDER.glob("*.toml"))]


def _listed(path: Path) -> Listed:
    table = tomlfile.read(path)
    document, file = (tomlfile.text(path, "the file", table, key) for key in ("document", "file"))
    if document not in index().documents:
        tomlfile.wrong(path, "`document`", f"{document}: index.toml has no such document")
    entries: dict[tuple[str, int], list[str] | str] = {}
    for section, listed_there in table.get("sections", {}).items():
        for numbers, entry in listed_there.items():
            unknown = [name for name in entry if name not in catalogue()] if isinstance(entry, list) else []
            if unknown or not entry or not isinstance(entry, (list, str)):
                tomlfile.wrong(
                    path, f"{section}, {numbers}:", f"needs requirements of the catalogue, or a reason: {entry}"
                )
            for number in numbers.split(","):
                if not number.strip().isdigit() or (section, int(number)) in entries:
                    tomlfile.wrong(path, f"{section}, {numbers}:", "needs numbers, each of them once in its section")
                entries[section, int(number)] = entry
    return Listed(path, document, file, entries)


def statements(text: str) -> list[Statement]:
    """The normative statements of a document in AsciiDoc or Markdown, in its order."""
    numbers: dict[str, int] = defaultdict(int)
    result = []
    for section, sentence in _sentences(text):
        if _NORMATIVE.search(sentence) and not sentence.endswith("?"):
            numbers[section] += 1
            result.append(Statement(section, numbers[section], sentence))
    return result


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    section, paragraph = "", list[str]()
    for line in [*_CODE.sub("", text).replace("<tr>", "\n\n").splitlines(), ""]:
        heading = _HEADING.fullmatch(line)
        if heading or _NO_TEXT.match(line) or _ITEM.match(line):
            yield from ((section, one) for one in _END_OF_SENTENCE.split(" ".join(paragraph)) if one)
            paragraph = []
        if heading:
            section = heading[1].strip()
        elif not _NO_TEXT.match(line):
            paragraph.append(line.strip())


def carried(text: str, known: Listed, requirements: Iterable[Requirement]) -> list[Carried]:
    """Each statement of a document with what carries it."""
    quoted = [(one.id, [words(part) for part in one.sentence.split("…")]) for one in requirements if one.sentence]
    result = []
    for statement in statements(text):
        phrase = words(statement.text)
        names = [
            identifier
            for identifier, parts in quoted
            if any(len(part) >= _SHORTEST and (part in phrase or phrase in part) for part in parts)
        ]
        entry = known.entries.get((statement.section, statement.number))
        more = [name for name in entry if name not in names] if isinstance(entry, list) else []
        result.append(Carried(statement, (*names, *more), entry if isinstance(entry, str) else ""))
    return result


def unknown_entries(known: Listed, all_of_it: Iterable[Carried]) -> list[str]:
    """Entries of a file for statements that the document does not have."""
    there = {(one.statement.section, one.statement.number) for one in all_of_it}
    return [
        f"{known.path.name}: {section}, {number}: the document has no such statement"
        for section, number in known.entries
        if (section, number) not in there
    ]


def document_of(known: Listed, folders: Iterable[Path]) -> str:
    """The text of the document, from the first of the folders that has it. Raises UsageError where none has."""
    name = Path(known.file).name
    result = sorted(file for folder in folders for file in folder.rglob(name))
    if not result:
        raise UsageError(f"--texts: {known.file} is in none of the folders; give a checkout that has it")
    return result[0].read_text(encoding="utf-8", errors="replace")


def page(known: Listed, all_of_it: Iterable[Carried]) -> list[str]:
    """The statements of a document as a page in Markdown: numbers, requirements and reasons."""
    address = index().urls[known.document]
    lines = [
        f"# Statements of {index().documents[known.document]}",
        "",
        f"[The document]({address}), section by section: a number counts the statements of the section that demand,",
        "permit or promise something. Made by `clharness requirements --statements DIR --texts FOLDER`.",
    ]
    section = None
    for one in all_of_it:
        if one.statement.section != section:
            section = one.statement.section
            lines += ["", f"## {section}", "", "| statement | requirements |", "| --: | --- |"]
        answer = ", ".join(one.requirements) or (f"none: {one.reason}" if one.reason else "**none**")
        lines.append(f"| {one.statement.number} | {answer} |")
    return lines
