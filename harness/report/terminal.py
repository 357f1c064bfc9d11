# SPDX-License-Identifier: Apache-2.0
"""The terminal: a line of progress that is redrawn, colours, and text that cannot do harm there.

When the output is not a terminal, or a CI system or TERM=dumb says that it is a poor one, progress comes as
plain lines now and then.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TextIO

from harness.escaping import no_command, printable

Color = Literal["auto", "always", "never"]

_CODES = {"bad": "31", "good": "32", "warn": "33", "dim": "2", "bold": "1"}
_REDRAW = 0.1  # seconds between two states of the progress line
_PLAIN = 30.0  # seconds until the first plain line of progress; each comes after twice the time of the one before


def color_option(option: str | None) -> Color:
    """`--color` in the spellings of pytest (yes, no) and of other tools (always, never)."""
    spellings: dict[str | None, Color] = {
        "yes": "always",
        "always": "always",
        "no": "never",
        "never": "never",
    }
    return spellings.get(option, "auto")


def _columns() -> int:
    """The width of the terminal as it is now; $COLUMNS overrides it."""
    return shutil.get_terminal_size((100, 24)).columns


class Terminal:
    """Writes lines, and one line of progress below them. A closed or full output silences it: `trouble`."""

    def __init__(
        self,
        stream: TextIO,
        color: Color = "auto",
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._environ = environ
        self.trouble: str | None = None
        self._capable = stream.isatty() and environ.get("TERM") != "dumb"
        self._redraws = self._capable and not environ.get("CI")
        self._colors = color == "always" or (color == "auto" and self._capable and not environ.get("NO_COLOR"))
        self._progress = ""
        self._drawn = clock()
        self._pause = _REDRAW if self._redraws else _PLAIN

    @property
    def width(self) -> int:
        """The number of characters in a line of text."""
        return max(_columns(), 40) if self._capable else 100

    @property
    def table_width(self) -> int | None:
        """The number of characters in a line of a table; None in pipes and CI, where tables are not folded."""
        return _columns() if self._redraws else None

    def style(self, text: str, style: str) -> str:
        """The text in a style of the terminal; unchanged where there are no colours."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colors else text

    def line(self, text: str = "") -> None:
        """Writes one or several lines above the line of progress. Escapes in it are ours: see `printable`."""
        erase = "\r\x1b[K" if self._progress else ""
        self._write(f"{erase}{no_command(text, self._environ)}\n{self._progress}")

    def commands(self, lines: Sequence[str]) -> None:
        """Writes commands for the runner of GitHub Actions, which no other line is."""
        self._write("".join(f"{line}\n" for line in lines))

    def progress(self, text: str) -> None:
        """Shows how far the work is, not too often."""
        now = self._clock()
        if now - self._drawn < self._pause:
            return
        self._drawn = now
        if not self._redraws:
            self._pause *= 2  # so that a long run leaves few lines
            self._write(f"{no_command(printable(text), self._environ)}\n")
            return
        line = printable(text).expandtabs(1).replace("\n", " ")
        from rich.cells import cell_len, set_cell_size  # a run without a line of progress does without it

        # Counted in columns, of which a character can take two; the terminal may have been resized since.
        self._progress = set_cell_size(line, min(cell_len(line), _columns() - 1))
        self._write(f"\r\x1b[K{self._progress}")

    def end_progress(self) -> None:
        """Removes the line of progress, if one is shown."""
        if self._progress:
            self._progress = ""
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if self.trouble:
            return
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()
        except BrokenPipeError:
            self.trouble = "closed"  # whoever read it (head, a pager) has seen enough: no trouble for the run
        except (OSError, ValueError) as error:
            self.trouble = f"the report could not be printed: {error}"

    @property
    def failed(self) -> bool:
        """Whether output was lost; a reader that went away is not a loss."""
        return self.trouble not in (None, "closed")
