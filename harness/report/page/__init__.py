# SPDX-License-Identifier: Apache-2.0
"""Runs as one HTML page that needs nothing but itself: no network, no other file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from harness import __version__
from harness.errors import UsageError
from harness.escaping import printable
from harness.report.causes import actual, by_reason, causes, sentence_of, verdicts_of
from harness.report.compare import KINDS, Comparison, groups, how_of, title_of
from harness.report.ending import Ending
from harness.report.layout import section_title
from harness.report.page.data import STATUS_WORDS, page_data
from harness.report.side_by_side import titles
from harness.report.whole import write_whole
from harness.requirements.catalogue import catalogue
from harness.requirements.sources import url_of

if TYPE_CHECKING:
    import jinja2

FOLDER = Path(__file__).parent
NAME = "index.html"
_PARTS = ("style.css", "element.js", "case.js", "timeline.js", "explorer.js")


def write_page(folder: Path, endings: Sequence[Ending], comparison: Comparison | None = None) -> Path:
    """Writes the page into a folder, which is made; gives its path. Raises UsageError."""
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, page(endings, comparison))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; name another folder") from error
    return path


def write_trace(path: Path, title: str, log: Sequence[str], times: Sequence[int], left_out: int) -> None:
    """The calls of a program as a page: the lines of its log, and when each was written, in nanoseconds. OSError."""
    data = {"log": list(log), "times": list(times)}
    _write(path, rendered("trace.html.j2", title=title, left_out=left_out, version=__version__, data=embedded(data)))


def _write(path: Path, text: str) -> None:
    write_whole(path, text.encode("utf-8", "backslashreplace"))


def page(endings: Sequence[Ending], comparison: Comparison | None = None) -> str:
    """The page as text."""
    return rendered(
        "page.html.j2",
        endings=endings,
        titles=titles([ending.header for ending in endings]),
        version=__version__,
        data=embedded(page_data(endings)),
        causes=_causes(endings[0]) if len(endings) == 1 else [],
        reasons=_reasons(endings[0]) if len(endings) == 1 else [],
        counts=[_counts(ending) for ending in endings],
        words=STATUS_WORDS,
        comparison=_comparison(comparison, len(endings) - 1),
    )


def rendered(template: str, **values: Any) -> str:
    """A template of this folder with its values; style and scripts have their file names, with _ for the dot."""
    parts = {name.replace(".", "_"): (FOLDER / name).read_text(encoding="utf-8") for name in _PARTS}
    return _environment().get_template(template).render(**values, **parts)


@cache
def _environment() -> jinja2.Environment:
    """It keeps the templates that it has compiled, which takes longer than to fill one in."""
    # Only here: no other report needs it.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_harmless,
    )
    environment.filters["in_url"] = partial(quote, safe="", errors="replace")  # halves of characters, too
    return environment


def _harmless(value: Any) -> Any:
    """What a template shows; what it marks as safe has no text of a subject."""
    return printable(value) if type(value) is str else value


def embedded(data: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins another."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _causes(ending: Ending) -> list[dict[str, Any]]:
    """What is unexpected, for readers without scripts and for print."""
    return [
        {
            "count": len(cause.cases),
            "status": cause.first.status,
            "verdict": cause.first.verdict,
            "case": cause.first.case,
            "requirements": [catalogue()[i] for i in cause.first.requirements if i in catalogue()],
            "url": url_of(cause.first.requirements, cause.first.name),
            "expected": sentence_of(cause.first),
            "actual": actual(cause.first, 6),
            "reproduce": cause.first.reproduce,
            "others": [case.case for case in cause.cases[1:]],
        }
        for cause in causes(ending.unexpected)
    ]


def _reasons(ending: Ending) -> list[dict[str, Any]]:
    """Known deviations by their reason."""
    known = [r for r in ending.results if r.status == "expected" and r.verdict != "unsupported"]
    return [
        {
            "reason": reason,
            "count": len(cases),
            "verdicts": verdicts_of(cases),
            "requirements": list(dict.fromkeys(i for case in cases for i in case.requirements)),
        }
        for reason, cases in by_reason(known)
    ]


def _counts(ending: Ending) -> list[tuple[str, int]]:
    """Status for bars and tiles, and how many cases have it."""
    counts = dict.fromkeys(STATUS_WORDS, 0)
    for result in ending.results:
        counts["unsupported" if result.verdict == "unsupported" and not result.counts else result.status] += 1
    return [(status, number) for status, number in counts.items() if number]


def _comparison(comparison: Comparison | None, run: int) -> dict[str, Any] | None:
    if comparison is None:
        return None
    parts = []
    for kind in KINDS:
        rows = [
            {
                "change": group[0],
                "title": title_of(group),
                "how": how_of(group),
                "run": run if group[0].after is not None else 0,
                "count": len(group),
                "section": section_title(group[0].case.requirements[0].rpartition("-")[0])
                if group[0].case.requirements
                else "",
                "sentence": next((catalogue()[i].text for i in group[0].case.requirements if i in catalogue()), ""),
            }
            for group in groups(comparison.of(kind))
        ]
        if rows:
            about = {"kind": kind, "title": comparison.title(kind), "meaning": comparison.meaning(kind)}
            parts.append(about | {"rows": rows, "count": len(comparison.of(kind))})
    return {"sentence": comparison.sentence(), "good": comparison.good, "parts": parts}
