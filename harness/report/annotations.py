# SPDX-License-Identifier: Apache-2.0
"""Annotations of a job of GitHub Actions: an error at the line of the catalogue that says what was demanded."""

from __future__ import annotations

from collections.abc import Mapping

from harness.escaping import printable
from harness.report.causes import actual, causes
from harness.report.ending import Ending
from harness.requirements.catalogue import catalogue
from harness.requirements.sources import place_of, url_of

FOLDER = "harness/requirements"
_MOST = 10  # GitHub shows so many errors of a step
_PLAIN = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_OF_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def error_lines(ending: Ending, environ: Mapping[str, str]) -> list[str]:
    """A line for each cause that is unexpected, where a job of GitHub Actions asks for them."""
    if environ.get("GITHUB_ACTIONS") != "true":
        return []
    lines = []
    for cause in causes(ending.unexpected)[:_MOST]:
        first = cause.first
        known = [catalogue()[i] for i in first.requirements if i in catalogue()]
        count = f"{len(cause.cases)} cases, first " if len(cause.cases) > 1 else ""
        place = ""
        if known:
            file, line = place_of(known[0])
            place = f"file={FOLDER}/{file},line={line},"
        title = printable(f"{first.status} {first.verdict} {' '.join(first.requirements)}".strip())
        parts = [f"{count}{first.case}", known[0].text if known else "", actual(first), first.reproduce or ""]
        url = url_of(first.requirements, first.name)
        message = "\n".join(printable(part) for part in [*parts, url or ""] if part)
        lines.append(f"::error {place}title={title.translate(_OF_PROPERTY)}::{message.translate(_PLAIN)}")
    return lines
