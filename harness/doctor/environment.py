# SPDX-License-Identifier: Apache-2.0
"""What in the environment hides platforms or devices: found out by asking the loader again without it."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.doctor import elf
from harness.doctor.ask import LIMITS, Asker, Limit, can_be_written
from harness.doctor.elf import Damaged
from harness.doctor.findings import Finding, listed, note
from harness.doctor.loaders import Listing, ask_loader

# What a program needs to run at all, and what opens devices rather than hides them.
_KEPT = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "RUSTICL_ENABLE",
    "LP_CL",
)
_ROUNDS = 3
_FEW_FILES = 32  # with which nothing that loads libraries works well


class Experiments:
    """Asks a loader again in other environments. `before`: what it lists as things are."""

    def __init__(self, name: str, asker: Asker, before: Listing) -> None:
        self.name = name
        self.asker = asker
        self.before = before

    def findings(self) -> Iterator[Finding]:
        """What another environment changes for vendors that do not work: variables, limits, the home folder."""
        yield from self._variables()
        yield from self._limits()
        yield from self._home()

    # --- variables ---

    def _without(self, names: list[str]) -> Listing:
        return ask_loader(self.name, self.asker, without=names)

    def _variables(self) -> Iterator[Finding]:
        suspects = [name for name in self.asker.environment if name not in _KEPT]
        guilty: list[str] = []
        before = self.before
        for _ in range(_ROUNDS if suspects else 0):
            without_any = self._without([*guilty, *suspects])
            hidden = without_any.more_than(before)
            if not hidden:
                return
            names = self._narrow(suspects, guilty, before)
            yield self._hiding(names, hidden)
            guilty += names
            suspects = [name for name in suspects if name not in names]
            before = self._without(guilty)

    def _narrow(self, suspects: list[str], removed: list[str], before: Listing) -> list[str]:
        """The one variable whose removal shows more, by halves; several where no single one does it."""
        likely = [name for name in suspects if re.search("OCL|OPENCL|OpenCL|VISIBLE|LD_|DEVICE", name)]
        for group in (likely, suspects):
            left = group
            while len(left) > 1:
                half = left[: len(left) // 2]
                left = half if self._without([*removed, *half]).more_than(before) else left[len(half) :]
            if left and self._without([*removed, *left]).more_than(before):
                return left
        return likely or suspects

    def _hiding(self, names: list[str], hidden: list[str]) -> Finding:
        shown = listed([f"{name}={_short(self.asker.environment[name])}" for name in names])
        plural = "hide" if len(names) > 1 else "hides"
        return Finding(
            "variable-hides",
            f"{shown} {plural} {listed(hidden)}.",
            listed(names),
            f"Start the program without it: env {' '.join(f'-u {name}' for name in names[:4])} PROGRAM.",
        )

    # --- limits ---

    def _limits(self) -> Iterator[Finding]:
        here = {limit: resource.getrlimit(limit.which) for limit in LIMITS}
        if self.asker.files is not None:
            here[LIMITS[0]] = self.asker.files
        low = {limit: values for limit, values in here.items() if limit.is_low(values[0])}
        if not low:
            return
        hidden = ask_loader(self.name, self.asker, raise_limits=True).more_than(self.before)
        if hidden or here[LIMITS[0]][0] < _FEW_FILES:
            words = ", ".join(f"{limit.words} {soft}" for limit, (soft, _) in low.items())
            yield Finding(
                "limits",
                f"The limits of this session ({words}) hide {listed(hidden) or 'vendors'}.",
                "ulimit -a",
                f"Raise them: {'; '.join(f'ulimit -{one.letter} {_more(one, low[one][1])}' for one in low)}.",
            )

    # --- home ---

    def _home(self) -> Iterator[Finding]:
        """Drivers that compile, such as PoCL, fail where they can keep nothing."""
        home = self.asker.environment.get("HOME", "")
        if can_be_written(Path(self.asker.environment.get("XDG_CACHE_HOME") or f"{home}/.cache")):
            return
        hidden = ask_loader(self.name, self.asker, new_home=True).more_than(self.before)
        if hidden:
            what = f"The home {home or '(none)'} cannot be written to; with another one there is {listed(hidden)}."
            yield Finding(
                "home-not-writable",
                what,
                home or "HOME",
                "Set HOME or XDG_CACHE_HOME to a folder that can be written to.",
            )


def _more(limit: Limit, hard: int) -> str:
    """What ulimit takes for enough of it."""
    if limit.which == resource.RLIMIT_NOFILE:
        return str(1024 if hard == resource.RLIM_INFINITY else min(1024, hard))
    return "unlimited" if hard == resource.RLIM_INFINITY else "hard"


def preloaded(environment: Mapping[str, str]) -> Iterator[Finding]:
    """What LD_PRELOAD brings into every program."""
    for name in re.split("[: ]+", environment.get("LD_PRELOAD", "")):
        if not name or "/" not in name:
            continue
        path = Path(name)
        try:
            exported = elf.read(path).exported
        except (Damaged, OSError):
            yield note(
                "preload-missing",
                f"LD_PRELOAD names {name}, which cannot be loaded and is ignored.",
                "LD_PRELOAD",
                "Remove it from LD_PRELOAD.",
            )
            continue
        functions = sorted(symbol for symbol in exported if re.fullmatch(r"cl[A-Z]\w+", symbol))
        if functions:
            yield note(
                "preload-interposes",
                f"{path} in LD_PRELOAD takes the place of {listed(functions)} in every program.",
                "LD_PRELOAD",
                "Start the program without LD_PRELOAD where that is not wanted.",
            )


def _short(text: str) -> str:
    shown = text if text.isprintable() else ascii(text)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def default_platform(environment: Mapping[str, str], count: int) -> Iterator[Finding]:
    """OCL_ICD_DEFAULT_PLATFORM past the last platform: programs that name no platform get none."""
    text = environment.get("OCL_ICD_DEFAULT_PLATFORM", "")
    if text and count and not (text.isdigit() and int(text) < count):
        yield Finding(
            "default-platform",
            f"OCL_ICD_DEFAULT_PLATFORM={_short(text)} names no platform: there are {count}, from 0.",
            "OCL_ICD_DEFAULT_PLATFORM",
            "Correct it, or remove it: unset OCL_ICD_DEFAULT_PLATFORM.",
        )
