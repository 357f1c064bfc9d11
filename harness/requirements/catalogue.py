# SPDX-License-Identifier: Apache-2.0
"""Reads the catalogue: requirements and the grey areas.

One TOML file holds one section, one table one requirement; `index.toml` holds what they have in common. Prose
may be wrapped in the files at will: it is read as one paragraph.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.tomlfile import one_of, only_keys, optional_text, read, text, wrong

FOLDER = Path(__file__).parent

# Strongest first.
STRENGTHS = ("must", "should", "de-facto", "undefined")
SUBJECTS = frozenset({"loader", "ICD", "layer", "driver", "application", "installer", "tool", "harness", "loader+ICD"})

_PROSE = ("text", "source", "check", "fault")
_KEYS = frozenset({"subject", "strength", "sentence", "no_check", "later", *_PROSE})
_ID = re.compile(r"([A-Z]+)-([A-Z0-9]+)-(\d{3})")


@dataclass(frozen=True)
class Requirement:
    """One sentence that can be checked."""

    id: str  # "DISC-LNX-011"
    group: str  # "DISC"
    section: str  # "LNX"
    subject: str  # who has to do it: loader, ICD, layer, ...
    strength: str  # one of STRENGTHS
    text: str  # the statement, in our own words
    source: str  # where it is written; the tags are explained by `Index.documents`
    check: str  # how a black-box harness can check it
    fault: str  # a fault that would break it, and that its check has to find
    sentence: str | None = None  # what its source says, word for word; " … " stands for what was left out
    no_check: str | None = None  # why no check can be had
    later: str | None = None  # what its check waits for

    @property
    def key(self) -> str:
        """Its section with the group in front: "DISC-LNX"."""
        return f"{self.group}-{self.section}"

    @property
    def for_loader(self) -> bool:
        """Whether a loader, possibly together with others, has to fulfil it."""
        return "loader" in self.subject.split("+")


@dataclass(frozen=True)
class Group:
    """One group of sections, such as DISC: what belongs to one suite."""

    title: str
    suite: str  # folder below suites/
    sections: tuple[str, ...]  # in the order of reports
    later: str | None = None


@dataclass(frozen=True)
class Index:
    """What index.toml says of the catalogue: its groups, documents and titles."""

    groups: Mapping[str, Group]
    later_by_subject: Mapping[str, str]
    documents: Mapping[str, str]  # tag used in `source`: what it stands for
    titles: Mapping[str, str]  # "DISC-LNX": title of the section
    urls: Mapping[str, str] = field(default_factory=dict)  # tag used in `source`: where it can be read
    places: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of a tag: words that name a part of it

    @property
    def section_order(self) -> list[str]:
        """The sections in the order of the catalogue, such as "DISC-LNX"."""
        return [f"{name}-{section}" for name, group in self.groups.items() for section in group.sections]


@dataclass(frozen=True)
class GreyArea:
    """What texts are silent about or contradict each other in, and what the checks accept there."""

    number: int
    topic: str
    text: str
    policy: str
    requirements: tuple[str, ...]


@functools.cache
def catalogue() -> dict[str, Requirement]:
    """All requirements by ID, in the order of reports."""
    return _whole()[1]


@functools.cache
def index() -> Index:
    """The catalogue's index. Raises UsageError where a file of the catalogue is wrong."""
    return _whole()[0]


@functools.cache
def _whole() -> tuple[Index, dict[str, Requirement]]:
    return load_catalogue(FOLDER)


@functools.cache
def fingerprint() -> str:
    """What tells one state of the catalogue from another: a digest of what it demands, and how strongly."""
    text = "\n".join(f"{r.id} {r.strength} {r.text}" for r in catalogue().values())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def suite_of(identifier: str) -> str:
    """The suite whose folder holds the checks of a requirement."""
    return index().groups[identifier.partition("-")[0]].suite


def strongest(strengths: Iterable[str]) -> str:
    """The strongest of several strengths; "must" if there is none."""
    return min(strengths, key=STRENGTHS.index, default="must")


def load_catalogue(folder: Path) -> tuple[Index, dict[str, Requirement]]:
    """Reads index.toml and the sections that it lists; UsageError names the file and entry that are wrong."""
    path = folder / "index.toml"
    data = read(path)
    groups: dict[str, Group] = {}
    for name, table in data.get("group", {}).items():
        where = f"group.{name}"
        groups[name] = Group(
            title=text(path, where, table, "title"),
            suite=text(path, where, table, "suite"),
            sections=tuple(table.get("sections", ())),
            later=optional_text(path, where, table, "later"),
        )
    by_subject = {name: text(path, name, t, "later") for name, t in data.get("subject", {}).items()}
    titles: dict[str, str] = {}
    requirements: dict[str, Requirement] = {}
    for file in sorted(folder.glob("*.toml")):
        if file.name not in ("index.toml", "grey_areas.toml"):
            _add_section(groups, file)
    for name, group in groups.items():
        for section in group.sections:
            file = folder / f"{name}-{section}.toml".lower()
            titles[f"{name}-{section}"], entries = _load_section(file, name, section, group.later, by_subject)
            requirements.update(entries)
    return Index(
        groups, by_subject, data.get("document", {}), titles, data.get("url", {}), data.get("place", {})
    ), requirements


def _add_section(groups: dict[str, Group], file: Path) -> None:
    """The section of a file that its group does not list comes after those that it does."""
    name, _, section = file.stem.upper().partition("-")
    if name not in groups or not section:
        wrong(file, "its section", "is in no group of index.toml; name the file GROUP-SECTION.toml")
    if section not in groups[name].sections:
        groups[name] = replace(groups[name], sections=(*groups[name].sections, section))


def _load_section(
    path: Path, group: str, section: str, group_later: str | None, by_subject: Mapping[str, str]
) -> tuple[str, dict[str, Requirement]]:
    data = read(path)
    title = text(path, "the head", data, "title")
    section_later = optional_text(path, "the head", data, "later")
    entries: dict[str, Requirement] = {}
    for identifier, table in data.items():
        if identifier in ("title", "later"):
            continue
        match = _ID.fullmatch(identifier)
        if not match or match.group(1, 2) != (group, section):
            wrong(path, f"[{identifier}]", f"is not an ID of {group}-{section}; its IDs add three digits to that")
        if not isinstance(table, dict):
            wrong(path, identifier, "is not a table; a requirement starts with its ID in brackets")
        where = f"[{identifier}]"
        only_keys(path, where, table, _KEYS)
        subject = text(path, where, table, "subject")
        strength = text(path, where, table, "strength")
        one_of(path, where, "subject", subject, SUBJECTS)
        one_of(path, where, "strength", strength, STRENGTHS)
        later = optional_text(path, where, table, "later") or section_later or group_later or by_subject.get(subject)
        no_check = optional_text(path, where, table, "no_check")
        sentence = optional_text(path, where, table, "sentence")
        prose = {key: _paragraph(text(path, where, table, key)) for key in _PROSE}
        entries[identifier] = Requirement(
            id=identifier,
            group=group,
            section=section,
            subject=subject,
            strength=strength,
            sentence=_paragraph(sentence) if sentence else None,
            no_check=_paragraph(no_check) if no_check else None,
            later=None if no_check else later,
            **prose,
        )
    return title, entries


@functools.cache
def grey_areas() -> tuple[GreyArea, ...]:
    """The grey areas by number."""
    path = FOLDER / "grey_areas.toml"
    areas: list[GreyArea] = []
    for table in read(path)["area"]:
        where = f"area {table.get('number')}"
        prose = {key: _paragraph(text(path, where, table, key)) for key in ("topic", "text", "policy")}
        for identifier in table["requirements"]:
            if identifier not in catalogue():
                wrong(path, where, f"names the unknown requirement {identifier}")
        areas.append(GreyArea(number=table["number"], requirements=tuple(table["requirements"]), **prose))
    return tuple(areas)


def grey_area_of(requirement: str) -> GreyArea | None:
    """The grey area in which a requirement lies, if any."""
    return next((area for area in grey_areas() if requirement in area.requirements), None)


def _paragraph(text: str) -> str:
    return " ".join(text.split())
