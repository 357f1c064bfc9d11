# SPDX-License-Identifier: Apache-2.0
"""Reads the command line, runs the subcommand, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import argparse
import difflib
import functools
import gc
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import harness.cli
from harness import __version__
from harness.errors import ClharnessError, Exit, UsageError
from harness.escaping import no_command, printable

_EPILOG = """\
exit codes: 0 as expected, 1 unexpected results, 2 wrong usage,
3 the harness itself failed, 4 nothing ran, 77 not applicable here,
130 interrupted

example: clharness loader build/libOpenCL.so.1 -k fifo
"""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _require_command(arguments)
        args, unknown = _parser(arguments).parse_known_args(arguments)
        if unknown:
            _refuse(arguments[0], unknown, args.known_options)
        gc.enable()  # see __main__.py
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except ClharnessError as error:
        print(no_command(f"clharness: {printable(str(error))}"), file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("clharness: interrupted", file=sys.stderr)
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.AS_EXPECTED)
    except ModuleNotFoundError as error:
        if (error.name or "harness").partition(".")[0] == "harness":
            raise
        print(
            f"clharness: {sys.executable} has no module {error.name}: install it, or set CLHARNESS_PYTHON",
            file=sys.stderr,
        )
        return int(Exit.HARNESS)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"clharness: {printable(f'{where}{error.strerror or error}')}", file=sys.stderr)
        _drop_output()
        return int(Exit.HARNESS)
    except Exception:  # Python itself would end with 1, which is what a subject's deviations end with
        traceback.print_exc()
        print("clharness: this is a defect of clharness, and says nothing of what was tested", file=sys.stderr)
        return int(Exit.HARNESS)


def _require_command(arguments: Sequence[str]) -> None:
    """Raises UsageError for a word that is not a subcommand."""
    words = [name.replace("_", "-") for name in _names()]
    if not arguments:
        raise UsageError("name a command; clharness --help lists them")
    if arguments[0].startswith("-") and arguments[0] not in ("-h", "--help", "--version"):
        raise UsageError(f"the option {arguments[0]} comes after a command; clharness --help lists the commands")
    if not arguments[0].startswith("-") and arguments[0] not in words:
        similar = difflib.get_close_matches(arguments[0], words, 1)
        hint = f"did you mean {similar[0]}?" if similar else "clharness --help lists them"
        raise UsageError(f"{arguments[0]} is not a command; {hint}")


def _refuse(command: str, unknown: Sequence[str], options: Sequence[str]) -> NoReturn:
    """Raises UsageError for arguments that a subcommand, which has these options, does not know."""
    option = next((word.partition("=")[0] for word in unknown if word.startswith("-")), None)
    if option is None:
        raise UsageError(f"{command} takes no further argument {unknown[0]!r}; see clharness {command} --help")
    similar = difflib.get_close_matches(option.lstrip("-"), [name[2:] for name in options], 1)
    hint = f"did you mean --{similar[0]}?" if similar else f"clharness {command} --help lists them"
    raise UsageError(f"{command} has no option {option}; {hint}")


def _drop_output() -> None:
    """Lets go of output that cannot be written, so that the flush at exit does not add a second complaint."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clharness",
        description="Conformance and fuzz tests for OpenCL ICD loaders, layers and ICDs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"clharness {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_commands(commands, arguments)
    return parser


def command_parser() -> dict[str, tuple[argparse.ArgumentParser, str]]:
    """The parser of each subcommand, with its one line of help."""
    parser = argparse.ArgumentParser(prog="clharness")
    commands = parser.add_subparsers(metavar="COMMAND")
    _add_commands(commands, ())
    summaries = {action.dest: action.help or "" for action in commands._choices_actions}
    return {name: (command, summaries[name]) for name, command in commands.choices.items()}


def _add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser], arguments: Sequence[str]) -> None:
    names = _names()
    matches = [name for name in names if name.replace("_", "-") in arguments[:1]]
    if not matches and arguments:  # help, or what is refused: the lines of help are enough
        for name in names:
            commands.add_parser(name.replace("_", "-"), help=_summary(name))
        return
    for name in matches or names:
        module = importlib.import_module(f"harness.cli.{name}")
        summary = (module.__doc__ or "").strip().partition("\n")[0]
        command = commands.add_parser(
            name.replace("_", "-"),
            help=summary,
            description=textwrap.fill(summary, _width()),
            epilog=f"example:\n{_narrow(module.EXAMPLE)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run, known_options=tuple(command._option_string_actions))


def _width() -> int:
    """Of help, as argparse takes it."""
    return max(shutil.get_terminal_size().columns - 2, 40)


def _narrow(example: str) -> str:
    """Examples as they fit: where a line does not, what follows the command has a line of its own."""
    lines = example.splitlines()
    if max(map(len, lines)) <= _width():
        return example
    narrow: list[str] = []
    for line in lines:
        command, _, words = line.strip().partition("  ")
        if not line.startswith("  clharness") or not words:
            command, words = "", line
        indent = " " * (6 if line.startswith("  ") else 0)
        narrow += [f"  {command}"] if command else []
        words = words.strip()
        own = words.startswith(("git ", "clharness "))  # commands are not cut
        narrow += (
            [f"  {words}"] if own else textwrap.wrap(words, _width(), initial_indent=indent, subsequent_indent=indent)
        )
    return "\n".join(part for line in narrow for part in _continued(line))


def _continued(command: str) -> list[str]:
    """A command in lines that fit, where its options allow that; a shell reads them as the one that they are."""
    parts = []
    while len(command) > _width():
        places = [at.start() for at in re.finditer(r" -", command) if command.lstrip().startswith(("clharness ", "-"))]
        fitting = [at for at in places if 20 < at < _width() - 2 and command[:at].count("'") % 2 == 0]
        if not fitting:
            break
        parts.append(f"{command[: fitting[-1]]} \\")
        command = f"      {command[fitting[-1] + 1 :]}"
    return [*parts, command]


def _names() -> list[str]:
    """The modules of the subcommands: those that have a `run`."""
    modules = sorted(info.name for info in pkgutil.iter_modules(harness.cli.__path__))
    return [name for name in modules if "\ndef run(args" in _source(name)]


def _summary(name: str) -> str:
    """The first line of a module's documentation, without importing it: what some of them need takes its time."""
    return _source(name).partition('"""')[2].partition('"""')[0].partition("\n")[0]


@functools.cache
def _source(name: str) -> str:
    spec = importlib.util.find_spec(f"harness.cli.{name}")
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
