# SPDX-License-Identifier: Apache-2.0
"""Makes the pages of the documentation site: docs/ as it is, the commands with their options, and the catalogue.

python -m ci.site_pages --out DIR

A line `<!-- run: COMMAND -->` in a page becomes the command with what it prints now, so that no example is made up; a
page of a section of the catalogue has an anchor for each requirement, its ID.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

from harness.build import ROOT
from harness.cli.pages import Command, Option, commands
from harness.requirements.catalogue import Requirement, catalogue, index
from harness.requirements.marks import Check, find_checks
from harness.requirements.sources import links_of
from harness.requirements.state import checks_by_requirement

RUN = re.compile(r"^<!-- run: (.+) -->$", re.M)
LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")


def output_of(line: str) -> str:
    """What a command of clharness prints; it must have run, but may have found something."""
    words = shlex.split(line)
    assert words[0] == "clharness", f"only clharness is run for a page, not {line}"
    done = subprocess.run(
        [ROOT / "clharness", *words[1:]],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "110"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.replace(str(ROOT) + "/", "")


def with_outputs(page: str, run: Callable[[str], str] = output_of) -> str:
    """A page with each command that it names run."""
    return RUN.sub(lambda match: f"```console\n$ {match[1]}\n{run(match[1]).rstrip()}\n```", page)


def without_outside_links(page: str, place: Path, pages: Path) -> str:
    """A page whose links to files that are not pages, such as sources, are their paths in the repository."""

    def kept(match: re.Match[str]) -> str:
        target = match[2].partition("#")[0]
        if re.match(r"[a-z]+:", match[2]) or not target:
            return match[0]
        path = (place.parent / target).resolve()
        if path.is_relative_to(pages) and path.suffix == ".md" and path.exists():
            return match[0]
        return match[1] if "`" in match[1] else f"`{match[1]}`"

    return LINK.sub(kept, page)


# --- commands ---


def escaped(text: str) -> str:
    return re.sub(r"([<>|*_])", r"\\\1", text)


def value_of(option: Option) -> str:
    """What follows an option; of several words, in the form of help: a bar would end the cell of a table."""
    words = option.metavar.split("|")
    return f" {{{','.join(words)}}}" if len(words) > 1 else f" {option.metavar}" * bool(option.metavar)


def command_page(command: Command) -> str:
    summary = command.help[:1].upper() + command.help[1:].rstrip(".")
    lines = [f"# clharness {command.name}", "", f"{escaped(summary)}.", ""]
    usage = textwrap.fill(command.usage, 78, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    lines += ["```", usage, "```", ""]
    rows = [(f"`{name}`", help_text) for name, help_text in command.positionals]
    rows += [(f"`{', '.join(option.names)}{value_of(option)}`", option.help) for option in command.options]
    lines += ["| argument | meaning |", "| --- | --- |"]
    lines += [f"| {name} | {escaped(text)} |" for name, text in rows]
    if command.epilog:
        lines += ["", "```", command.epilog.strip("\n"), "```"]
    return "\n".join(lines) + "\n"


# --- the catalogue ---


def requirement_entry(requirement: Requirement, checks: list[Check]) -> str:
    links = ", ".join(f"[{escaped(link.text)}]({link.url})" for link in links_of(requirement.source))
    lines = [
        f"## {requirement.id} {{#{requirement.id}}}",
        "",
        f"**{requirement.strength}** · {requirement.subject}",
        "",
    ]
    lines += [escaped(" ".join(requirement.text.split())), ""]
    lines += [f"*Written in*: {escaped(' '.join(requirement.source.split()))}" + (f" ({links})" if links else ""), ""]
    lines += [f"*Checked by*: {escaped(' '.join(requirement.check.split()))}", ""]
    names = sorted({f"`{check.file}` `{check.name}`" for check in checks if check.name})
    reason = requirement.no_check or requirement.later
    if names:
        lines += [f"- {name}" for name in names]
    elif reason:
        lines += [f"No check: {escaped(' '.join(reason.split()))}"]
    return "\n".join(lines) + "\n"


def section_page(key: str, checks: dict[str, list[Check]]) -> str:
    entries = [r for r in catalogue().values() if r.key == key]
    parts = [f"# {key}: {index().titles[key]}\n"]
    return "\n".join(parts + [requirement_entry(r, list(checks.get(r.id, []))) for r in entries])


def catalogue_page(keys: list[str]) -> str:
    lines = ["# Requirements", "", "Each has an ID that never changes; a report names it, and `clharness explain ID`"]
    lines += ["prints the same. The address of one is its section's page and its ID, `disc-lnx/#DISC-LNX-013`.", ""]
    lines += ["| section | requirements |", "| --- | --: |"]
    for key in keys:
        count = sum(r.key == key for r in catalogue().values())
        lines.append(f"| [{key}]({key.lower()}.md) {escaped(index().titles[key])} | {count} |")
    return "\n".join(lines) + "\n"


# --- all of it ---


def write_pages(out: Path, run: Callable[[str], str] = output_of) -> None:
    """Fills a folder, which must not exist, with every page."""
    shutil.copytree(ROOT / "docs", out, ignore=shutil.ignore_patterns("*.yml"))
    (out / "commands").mkdir()
    for command in commands():
        (out / "commands" / f"{command.name}.md").write_text(command_page(command))
    names = [command.name for command in commands()]
    rows = [f"| [{command.name}]({command.name}.md) | {escaped(command.help)} |" for command in commands()]
    (out / "commands" / "index.md").write_text(
        "\n".join(["# Commands", "", "| command | |", "| --- | --- |", *rows]) + "\n"
    )
    assert len(names) > 10

    marks = find_checks(ROOT / "suites")
    checks = {key: list(value) for key, value in checks_by_requirement(marks).items()}
    keys = [key for key in index().section_order if any(r.key == key for r in catalogue().values())]
    (out / "requirements").mkdir()
    (out / "requirements" / "index.md").write_text(catalogue_page(keys))
    for key in keys:
        (out / "requirements" / f"{key.lower()}.md").write_text(section_page(key, checks))

    for page in sorted(out.rglob("*.md")):
        page.write_text(without_outside_links(with_outputs(page.read_text(), run), page, out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_pages(out)


if __name__ == "__main__":
    main()
