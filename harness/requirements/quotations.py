# SPDX-License-Identifier: Apache-2.0
"""Holds the sentences that requirements quote against the documents that they are from.

The documents lie in folders of the user's: checkouts of OpenCL-Docs, Vulkan-Loader and Vulkan-Docs, say. They are
compared word by word: the marks of AsciiDoc and Markdown, punctuation and case do not count. Numbers and prototypes
stand in cl.xml alone, whose elements are text here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from harness.errors import UsageError
from harness.requirements.catalogue import Requirement

_KINDS = (".adoc", ".asciidoc", ".md", ".txt")
_NUMBERS = "cl.xml"
_MARKS = (
    (r"(?m)^ifn?def::[^\[\n]*\[(.+)\]$", r"\1"),  # ifdef::cl_khr_foo[or {cl_khr_foo_EXT}]
    (r"(?m)^(?://|ifdef::|ifndef::|ifeval::|endif::|include::).*$", ""),  # lines that are not text
    (r"(?m)^\[.*\]$", ""),
    (r"</?[a-z]+(?: [^<>]{1,80})?/?>", ""),  # HTML in Markdown
    (r"<<[^,>]*,\s*([^>]*)>>", r"\1"),  # links: what they show
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"\{([A-Z0-9_]+)\}", r"\1"),  # {CL_DEVICE_TYPE}
    (r"\{(\w+?)(?:_anchor|_TYPE|_EXT)?\}", r"\1"),  # {clName}, {CL_NAME_anchor}, {CLeglImageKHR_TYPE}
    (r"\b[a-z]?(?:name|link|text|code|undefined|must|can|may|cannot)(:)(?=\w)", ""),  # fname:vkName
    (r"[^A-Za-z0-9_]+", " "),
    (r"(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])", ""),  # _emphasis_
)


def words(text: str) -> str:
    """The words of a text, without marks, in lower case, with one blank between them."""
    for pattern, instead in _MARKS:
        text = re.sub(pattern, instead, text)
    return " ".join(text.lower().split())


def documents(folders: Iterable[Path]) -> list[str]:
    """The words of each document below the folders. Raises UsageError where there is none."""
    files = sorted(f for folder in folders for f in folder.rglob("*") if f.suffix in _KINDS or f.name == _NUMBERS)
    if not files:
        raise UsageError(f"--texts: no document ({', '.join(_KINDS)}) below {', '.join(map(str, folders))}")
    return [words(_text(file)) for file in files]


def _text(file: Path) -> str:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.name != _NUMBERS:
        return text
    return re.sub(r"</?\w+>", " ", text).replace("<", " ").replace(">", " ")


def stands_in(sentence: str, document: str) -> bool:
    """Whether a document has the sentence; what "…" leaves out lies between its parts, in their order."""
    at = 0
    for part in sentence.split("…"):
        phrase = words(part)
        at = document.find(phrase, at)
        if at < 0:
            return False
        at += len(phrase)
    return True


def stands_in_some(sentence: str, texts: list[str]) -> bool:
    """Whether documents have the sentence: one after the other, each a run of its parts, in their order."""
    parts = sentence.split("…")
    at = 0
    while at < len(parts):
        ends = range(len(parts), at, -1)
        end = next((end for end in ends if any(stands_in("…".join(parts[at:end]), text) for text in texts)), None)
        if end is None:
            return False
        at = end
    return True


def misquoted(requirements: Iterable[Requirement], texts: list[str]) -> list[str]:
    """What no document says: one line each."""
    return [
        f"{requirement.id}: no document says: {requirement.sentence}"
        for requirement in requirements
        if requirement.sentence and not stands_in_some(requirement.sentence, texts)
    ]
