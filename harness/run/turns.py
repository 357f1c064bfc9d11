# SPDX-License-Identifier: Apache-2.0
"""Which case is next for which worker: each goes on with its file, so that what one case left compiled serves the next.

A driver keeps what it compiled where only its worker finds it (harness/subject/compiled.py), and the cases of one file
have their kernels in common. No worker is without work as long as a case waits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable


class Turns:
    """Cases that wait, by their numbers, each with its file; those of one file, and the files, in the order given."""

    def __init__(self, cases: Iterable[tuple[int, str]]) -> None:
        self._waiting: dict[str, list[int]] = {}
        for number, file in cases:
            self._waiting.setdefault(file, []).append(number)
        self._file_of: dict[int, str] = {}  # by the worker's place

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self, place: int, running: Collection[int]) -> int | None:
        """The case for the worker of a place, which waits no more; None where all that wait are running already."""
        for file in self._files(place):
            waiting = self._waiting[file]
            for index, number in enumerate(waiting):
                if number not in running:
                    del waiting[index]
                    if not waiting:
                        del self._waiting[file]
                    self._file_of[place] = file
                    return number
        return None

    def _files(self, place: int) -> Iterable[str]:
        """Those with cases: the worker's own, then those that are nobody's, then those with the most cases."""
        own = self._file_of.get(place)
        if own in self._waiting:
            yield own
        others = {file for of, file in self._file_of.items() if of != place}
        yield from [file for file in self._waiting if file != own and file not in others]
        yield from sorted((file for file in self._waiting if file in others), key=lambda f: -len(self._waiting[f]))
