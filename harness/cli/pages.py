# SPDX-License-Identifier: Apache-2.0
"""Writes the command's manual page, and its completions for bash, zsh and fish, from the command line's own parsers.

python -m harness.cli.pages --out DIR
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.cli.main import command_parser

SHELL_HEAD = "# Generated from the command line of clharness.\n"


@dataclass(frozen=True)
class Option:
    """An option of a command; `words` are what may follow it, None where nothing does, empty where a file may."""

    names: tuple[str, ...]
    metavar: str
    help: str
    words: tuple[str, ...] | None


@dataclass(frozen=True)
class Command:
    """A subcommand; `words` are what its first argument may be, empty where it may be a file."""

    name: str
    help: str
    usage: str
    positionals: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    options: tuple[Option, ...]
    epilog: str


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return " ".join(text.split())


def _option(action: argparse.Action) -> Option:
    takes_nothing = action.nargs == 0
    words = tuple(str(choice) for choice in action.choices or ())
    metavar = action.metavar or (action.dest.upper() if not words else "|".join(words))
    metavar = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    return Option(
        tuple(action.option_strings), "" if takes_nothing else metavar, _help(action), None if takes_nothing else words
    )


def commands() -> list[Command]:
    """All subcommands with everything that they take."""
    listed = []
    for name, (parser, summary) in sorted(command_parser().items()):
        actions = parser._actions
        positionals = [action for action in actions if not action.option_strings]
        listed.append(
            Command(
                name=name,
                help=summary,
                usage=" ".join(parser.format_usage().removeprefix("usage: ").split()),
                positionals=tuple((str(a.metavar or a.dest), _help(a)) for a in positionals),
                words=tuple(str(word) for a in positionals[:1] for word in a.choices or ()),
                options=tuple(_option(action) for action in actions if action.option_strings),
                epilog=parser.epilog or "",
            )
        )
    return listed


# --- manual page ---


def _roff(text: str) -> str:
    """Text as troff reads it: no request, no escape, no typographic hyphen."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines())


def manual(listed: Sequence[Command]) -> str:
    """The manual page clharness(1)."""
    lines = [f'.TH CLHARNESS 1 "" "clharness {__version__}" "User Commands"', ".SH NAME"]
    lines += [r"clharness \- conformance and fuzz tests for OpenCL ICD loaders, layers and ICDs", ".SH SYNOPSIS"]
    lines += [r".B clharness", r".I COMMAND", r"[\fIARGUMENT\fR]...", ".SH COMMANDS"]
    for command in listed:
        lines += [f'.SS "clharness {_roff(command.name)}"', _roff(command.help), ".PP", _roff(command.usage)]
        for name, text in command.positionals:
            lines += [".TP", f".I {_roff(name)}", _roff(text)]
        for option in command.options:
            names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in option.names)
            lines += [".TP", f"{names} \\fI{_roff(option.metavar)}\\fR".rstrip(), _roff(option.help)]
        lines += [".PP", ".nf", _roff(command.epilog.rstrip()), ".fi"]
    lines += [".SH EXIT STATUS"]
    for code, meaning in (
        (0, "everything as expected"),
        (1, "unexpected results"),
        (2, "wrong usage"),
        (3, "the harness itself failed, or something it needs is missing"),
        (4, "nothing ran"),
        (77, "not applicable here"),
        (130, "interrupted"),
    ):
        lines += [".TP", f".B {code}", meaning]
    lines += [".SH ENVIRONMENT"]
    for name, meaning in (
        ("CLHARNESS_PYTHON", "Python to run with (3.11 or newer, with the modules that the harness needs)"),
        ("CLHARNESS_OUTPUT", "folder for kept sandboxes and caches (default: $XDG_CACHE_HOME/clharness)"),
        ("CLHARNESS_BUILD", "build folder whose parts are used in the place of the installed ones"),
    ):
        lines += [".TP", f".B {name}", _roff(meaning)]
    return "\n".join(lines) + "\n"


# --- completions ---


def bash(listed: Sequence[Command]) -> str:
    """For bash: names of commands, options of the command, words or files after an option."""
    lines = [
        SHELL_HEAD + "_clharness() {",
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}",
    ]
    lines += ["    local options='' words=''", "    COMPREPLY=()", "    if ((COMP_CWORD == 1)); then"]
    names = " ".join(command.name for command in listed)
    lines += [
        f"        mapfile -t COMPREPLY < <(compgen -W '{names} --help --version' -- \"$current\")",
        "        return",
        "    fi",
    ]
    lines += ["    case ${COMP_WORDS[1]} in"]
    for command in listed:
        options = " ".join(name for option in command.options for name in option.names)
        lines += [f"    {command.name})", f"        options='{options}' words='{' '.join(command.words)}'"]
        with_words = [option for option in command.options if option.words]
        if with_words:
            lines += ["        case $previous in"]
            for option in with_words:
                lines += [f"        {' | '.join(option.names)})"]
                lines += [
                    f"            mapfile -t COMPREPLY < <(compgen -W '{' '.join(option.words or ())}' -- \"$current\")"
                ]
                lines += ["            return", "            ;;"]
            lines += ["        esac"]
        lines += ["        ;;"]
    lines += ["    esac", "    if [[ $current == -* ]]; then"]
    lines += ['        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")']
    lines += [
        "    else",
        '        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")',
    ]
    lines += ["    fi", "}", "complete -o filenames -F _clharness clharness"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(listed: Sequence[Command]) -> str:
    """For zsh, with the help of each option."""
    lines = ["#compdef clharness", SHELL_HEAD + "local -a commands", "commands=("]
    lines += [f"    {_quoted(f'{command.name}:{command.help}')}" for command in listed]
    lines += [")", "if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "fi"]
    lines += ["local chosen=$words[2]", "shift words", "(( CURRENT-- ))", "case $chosen in"]
    for command in listed:
        lines += [f"{command.name})", "    _arguments \\"]
        for option in command.options:
            text = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
            for name in option.names:
                after = (
                    ""
                    if option.words is None
                    else f":{option.metavar.replace(':', '')}:"
                    + (f"({' '.join(option.words)})" if option.words else "_files")
                )
                lines += [f"        {_quoted(f'{name}[{text}]{after}')} \\"]
        arguments = f"({' '.join(command.words)})" if command.words else "_files"
        lines += [f"        {_quoted(f'*:argument:{arguments}')}", "    ;;"]
    return "\n".join([*lines, "esac"]) + "\n"


def fish(listed: Sequence[Command]) -> str:
    """For fish, with the help of each option."""
    lines = [SHELL_HEAD.rstrip()]
    for command in listed:
        lines += [f"complete -c clharness -n __fish_use_subcommand -f -a {command.name} -d {_fish(command.help)}"]
    for command in listed:
        when = f"-n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            lines += [f"complete -c clharness {when} -a '{' '.join(command.words)}'"]
        for option in command.options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            after = "" if option.words is None else f" -x -a '{' '.join(option.words)}'" if option.words else " -r"
            lines += [f"complete -c clharness {when} {names}{after} -d {_fish(option.help)}"]
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.cli.pages")
    parser.add_argument("--out", required=True, type=Path)
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    listed = commands()
    for name, text in (
        ("clharness.1", manual(listed)),
        ("clharness.bash", bash(listed)),
        ("_clharness", zsh(listed)),
        ("clharness.fish", fish(listed)),
    ):
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
