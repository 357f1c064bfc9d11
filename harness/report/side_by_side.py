# SPDX-License-Identifier: Apache-2.0
"""What runs that stand side by side are called: no two alike, and as short as that allows."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import PurePath

from harness.report.records import Header

_MARKS: tuple[Callable[[Header], str], ...] = (
    lambda header: header.subject.path,
    lambda header: f"build {str(header.subject.facts.get('build_id') or 'unknown')[:12]}",
    lambda header: header.started[:10],
    lambda header: header.started[:19].replace("T", " "),
)


def title(header: Header) -> str:
    """Name and version; of a subject without a name its file, whose whole path would widen a column for nothing."""
    subject = header.subject
    return subject.title if subject.name else f"unknown {subject.word} {PurePath(subject.path).name}".strip()


def marks(headers: Sequence[Header]) -> list[str]:
    """For each run what tells it from those of the same title: path, build, day or time; "" where there are none."""
    groups: dict[str, list[int]] = defaultdict(list)
    for number, header in enumerate(headers):
        groups[title(header)].append(number)
    result = [""] * len(headers)
    for numbers in groups.values():
        if len(numbers) > 1:
            for number, mark in zip(numbers, _of_group([headers[n] for n in numbers]), strict=True):
                result[number] = mark
    return result


def titles(headers: Sequence[Header]) -> list[str]:
    """The title of each run with what tells it apart."""
    return [with_mark(title(header), mark) for header, mark in zip(headers, marks(headers), strict=True)]


def with_mark(text: str, mark: str) -> str:
    """A title, or a name, and what tells it apart."""
    return f"{text} ({mark})" if mark else text


def _of_group(headers: Sequence[Header]) -> list[str]:
    """The first mark that differs in all of them, else those that differ in some, else their place."""
    columns = [_shortened([mark(header) for header in headers]) for mark in _MARKS]
    for column in columns:
        if len(set(column)) == len(headers):
            return column
    some = [column for column in columns[:-1] if len(set(column)) > 1]
    joined = [", ".join(texts) for texts in zip(*some, strict=True)] if some else [""] * len(headers)
    if len(set(joined)) == len(headers):
        return joined
    return [f"{mark}, run {n}" if mark else f"run {n}" for n, mark in enumerate(joined, 1)]


def _shortened(texts: list[str]) -> list[str]:
    """Paths without the folders that all are in."""
    if len(set(texts)) < 2 or not all(text.startswith("/") for text in texts):
        return texts
    common = os.path.commonpath(texts)
    return [os.path.relpath(text, common) for text in texts]
