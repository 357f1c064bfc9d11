# SPDX-License-Identifier: Apache-2.0
"""Tables as lines of text: columns two spaces apart, without colours or lines of their own."""

from __future__ import annotations

from collections.abc import Sequence

_UNLIMITED = 10_000  # columns of a terminal: nothing is folded


def table(rows: Sequence[Sequence[str]], texts: int = 1, width: int | None = None) -> list[str]:
    """The rows, head included, as lines. The first `texts` columns are flush left, the others, numbers, flush right.

    To fit into `width` characters, text is folded between words within its column; where that does not suffice,
    nothing is folded. Cells are text that is `printable`; the only escapes in them are those of `Terminal.style`.
    """
    if _is_plain(rows) and (width is None or _plain_width(rows) <= width):
        return _plain(rows, texts)
    # Only here: most commands print no table, and the import takes longer than many of them.
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in range(len(rows[0])):
        grid.add_column(justify="left" if column < texts else "right", no_wrap=column >= texts)
    for row in rows:
        grid.add_row(*(Text.from_ansi(cell.expandtabs(1)) for cell in row))
    # Nothing is left to the environment, which `Terminal` has asked; a width counts only together with a height.
    console = Console(
        width=_UNLIMITED, height=25, force_terminal=True, force_jupyter=False, color_system="standard", no_color=False
    )
    fits = width is not None and Measurement.get(console, console.options, grid).minimum <= width
    with console.capture() as capture:
        console.print(grid, width=width if fits else None)
    return [line.rstrip() for line in capture.get().splitlines()]


# --- where each character is one column, and nothing is folded ---


def _is_plain(rows: Sequence[Sequence[str]]) -> bool:
    return all(cell.isascii() and cell.isprintable() for row in rows for cell in row)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _plain_width(rows: Sequence[Sequence[str]]) -> int:
    return sum(_widths(rows)) + 2 * len(rows[0]) - 2


def _plain(rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    widths = _widths(rows)
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned = [cell.ljust(w) if number < texts else cell.rjust(w) for number, (cell, w) in enumerate(cells)]
        lines.append("  ".join(aligned).rstrip())
    return lines
