# SPDX-License-Identifier: Apache-2.0
"""The page of a mutation run, for which no other file is needed: the survivors, each with its edit and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from harness.mutation.operators import Mutant
from harness.mutation.report import TITLES, checks_of, detail, groups, of_state, place, share
from harness.mutation.results import FOUND, Fate

AROUND = 2  # lines of the source that are shown before and after an edit
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
table { border-collapse: collapse; } th, td { padding: .15em .8em .15em 0; text-align: left; }
td + td { text-align: right; } pre { background: #f4f4f4; color: #111; padding: .6em; overflow-x: auto; }
del { background: #ffd7d5; } ins { background: #ccf2d4; text-decoration: none; }
section { margin: 1.4em 0; } h3 { font-size: 1em; margin: 0 0 .3em; } p { margin: .3em 0; }
@media screen and (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; } pre { background: #262626; color: #ddd; }
  del { background: #6b2320; } ins { background: #1f5130; }
}
"""


def page(fates: Sequence[Fate], summary: str, texts: Mapping[Path, bytes]) -> str:
    """`texts`: the unchanged sources, by path."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'><title>Mutants</title>",
        f"<style>{_STYLE}</style><h1>{share(fates):.1%} of the mutants are found</h1><p>{escape(summary)}</p>",
    ]
    for title, of_name in zip(("file", "operator"), groups(fates), strict=True):
        parts += _table(title, of_name)
    for state, title in TITLES.items():
        group = of_state(fates, state)
        if group:
            parts.append(f"<h2>{escape(title)}: {len(group)}</h2>")
            parts += (_survivor(fate, texts.get(fate.mutant.file, b"")) for fate in group)
    return "\n".join(parts) + "\n"


def _table(title: str, of_name: Mapping[str, Sequence[Fate]]) -> Iterator[str]:
    yield f"<table><tr><th>{title}<th>mutants<th>found<th>share"
    for name, fates in sorted(of_name.items()):
        result = sum(fate.state == FOUND for fate in fates)
        yield f"<tr><td>{escape(name)}<td>{len(fates)}<td>{result}<td>{result / len(fates):.0%}"
    yield "</table>"


def _survivor(fate: Fate, text: bytes) -> str:
    mutant = fate.mutant
    where = f"{place(mutant.file)}:{mutant.line} {mutant.function}(): {mutant.operator}"
    what = f"{detail(fate)} {', '.join(checks_of(fate))}"
    checks = "".join(f"<br><code>{escape(check)}</code>" for check in fate.near)
    near = f"<details><summary>nearest checks</summary>{checks}</details>" if checks else ""
    return f"<section><h3>{escape(where)}</h3><pre>{_edit(mutant, text)}</pre><p>{escape(what)}</p>{near}</section>"


def _edit(mutant: Mutant, text: bytes) -> str:
    """The lines around an edit, with what is gone and what is new."""
    if text[mutant.start : mutant.end].decode(errors="replace") != mutant.before:
        return f"<del>{escape(mutant.before)}</del><ins>{escape(mutant.after)}</ins>"
    start, end = mutant.start, mutant.end
    for _ in range(AROUND + 1):
        start = text.rfind(b"\n", 0, max(start, 0)) if start > 0 else start
        end = text.find(b"\n", end + 1) if 0 <= end < len(text) else end
    before = text[start + 1 if start > 0 else 0 : mutant.start].decode(errors="replace")
    after = text[mutant.end : end if end >= 0 else len(text)].decode(errors="replace")
    edit = f"<del>{escape(mutant.before)}</del><ins>{escape(mutant.after)}</ins>"
    return f"{escape(before)}{edit}{escape(after)}"
