# SPDX-License-Identifier: Apache-2.0
"""Reads TOML files that people edit; what is wrong in one is a UsageError: file, entry and remedy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from harness.derived import derived
from harness.errors import UsageError

MAX_SIZE = 4 << 20  # bytes
MAX_DOTS = 400  # in a line


def read(path: Path) -> dict[str, Any]:
    """A TOML file as a table. Raises UsageError where it is too large, not UTF-8 or not TOML."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SIZE + 1)
        if len(content) > MAX_SIZE:
            raise UsageError(f"{path}: is larger than {MAX_SIZE >> 20} MiB, which no such file needs")
        table: dict[str, Any] = derived("toml", path, content, lambda: _parsed(path, content))
        return table
    except RecursionError:
        raise UsageError(f"{path}: is nested deeper than any such file needs; correct its brackets") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not valid UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except ValueError as error:
        raise UsageError(f"{path}: not valid TOML: {error}; correct that line") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; name a readable file") from error


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib

    lines = content.decode()
    for number, line in enumerate(lines.split("\n"), 1):
        if line.count(".") > MAX_DOTS:  # the parser takes the square of their number
            raise UsageError(f"{path}: line {number} has more than {MAX_DOTS} dots, which no such file needs")
    return tomllib.loads(lines.replace("\r\n", "\n"))


def wrong(path: Path, where: str, what: str) -> NoReturn:
    """Raises UsageError: what is wrong, and where in which file."""
    raise UsageError(f"{path}: {where} {what}")


def text(path: Path, where: str, table: object, key: str) -> str:
    """The string under a key that has to be there."""
    value = table.get(key) if isinstance(table, (dict, Mapping)) else None
    if not isinstance(value, str) or not value.strip():
        wrong(path, where, f"needs `{key}`, a string that is not empty")
    return value


def optional_text(path: Path, where: str, table: Mapping[str, Any], key: str) -> str | None:
    """The string under a key that may be missing, but may not be empty or something else."""
    return text(path, where, table, key) if key in table else None


def only_keys(path: Path, where: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    """A misspelt key is an error: ignored, it would change the meaning of an entry without a word."""
    if unknown := sorted(set(table) - set(known)):
        wrong(path, where, f"has the unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def one_of(path: Path, where: str, key: str, value: object, allowed: Collection[str]) -> None:
    """Raises UsageError where a key has a value that is not allowed."""
    if value not in allowed:
        wrong(path, where, f"has {key} {value!r}; it must be one of {', '.join(sorted(allowed))}")
