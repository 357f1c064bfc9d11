# SPDX-License-Identifier: Apache-2.0
"""Where the sources of requirements can be read: links into the specifications, and lines of the catalogue."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.requirements.catalogue import FOLDER, Requirement, catalogue, index

_ANCHORED = "OpenCL_API.html"  # has an anchor for each function of the API
_FUNCTION = re.compile(r"\bcl[A-Z]\w+(?![\w*/]|\.\.)")  # and not clRetain*, which are many


@dataclass(frozen=True)
class Link:
    """A place that a source names."""

    text: str  # the part of the source that names it
    document: str  # what its tag stands for
    url: str


def tags_of(source: str) -> list[str]:
    """The tags of documents in a source, in the order in which it names them."""
    places = {tag: match.start() for tag in index().documents if (match := re.search(rf"\b{tag}\b", source))}
    return sorted(places, key=places.__getitem__)


def links_of(source: str) -> list[Link]:
    """A link for each document that a source names."""
    links: list[Link] = []
    for part in source.split(";"):
        for tag in tags_of(part):
            url = index().urls.get(tag)
            if url is None:
                continue
            named = {words: place for words, place in index().places.get(tag, {}).items() if words in part}
            url = next(iter(named.values()), url)
            function = _FUNCTION.search(part)
            if function and url.endswith(_ANCHORED):
                url = f"{url}#{function.group()}"
            links.append(Link(part.strip(), index().documents[tag], url))
    return links


def url_of(identifiers: Iterable[str], case: str = "") -> str | None:
    """The one place to read first about what a case checks; its name may say about which function."""
    known = [catalogue()[identifier] for identifier in identifiers if identifier in catalogue()]
    url = next((link.url for requirement in known for link in links_of(requirement.source)), None)
    function = _FUNCTION.search(case)
    return f"{url}#{function.group()}" if url and function and url.endswith(_ANCHORED) else url


@functools.cache
def _places() -> dict[str, tuple[str, int]]:
    places: dict[str, tuple[str, int]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("[") and line.endswith("]"):
                places.setdefault(line[1:-1], (path.name, number))
    return places


def place_of(requirement: Requirement) -> tuple[str, int]:
    """Name of the file in the folder of the catalogue, and line, where the requirement stands."""
    return _places()[requirement.id]
