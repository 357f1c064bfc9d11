# SPDX-License-Identifier: Apache-2.0
"""The OpenCL calls of a program on the real vendors: the mock layer between the program and its loader records them.

Unlike the rest of doctor this needs a build, and it runs the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.build import build
from harness.calllog import naming
from harness.calllog.reader import CallLog, Event
from harness.doctor.linker import Linker
from harness.doctor.loaders import SONAME, read_loader
from harness.doctor.programs import Program, look_at
from harness.doctor.text import printable
from harness.errors import UsageError
from harness.report.page import write_trace
from harness.sandbox import Sandbox
from harness.sandbox.program import run_program

_MOST_ON_A_PAGE = 4000  # events
_LOG_SIZE = 256 << 20  # bytes of the call log; memory is used only as it fills
_OF_LAYERS = ("clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties", "clDeinitLayer")


def trace(command: Sequence[str], perfetto: str | None = None, html: str | None = None) -> int:
    """Runs the command and shows its calls, as text or in files; gives its exit code as a shell would.

    Raises UsageError where it cannot be run, or where the file cannot be written.
    """
    if not command:
        raise UsageError("no program to run: clharness doctor --trace -- PROGRAM")
    program = look_at(command[0], os.environ)
    for option, path in (("--perfetto", perfetto), ("--html", html)):
        if path:
            _require_writable(option, Path(path))
    sandbox = Sandbox(Path(SONAME))
    try:
        sandbox.forget_log(_LOG_SIZE)
        status = run_program(command, _environment(program, sandbox, os.environ))
        log = sandbox.log_so_far
        if perfetto:
            Path(perfetto).write_text(log.chrome_trace())
        if html:
            _write_page(Path(html), " ".join(command), log)
        if not perfetto and not html:
            print("\n".join(map(printable, lines(log))))
        _say(_summary(log, perfetto, html))
    finally:
        sandbox.close()
    return status


def _say(text: str) -> None:
    print(f"clharness: {text}", file=sys.stderr)


def _write_page(path: Path, title: str, log: CallLog) -> None:
    """As many calls as a browser draws at once."""
    log = CallLog([event for event in log if event.kind != "event" and event.name not in _OF_LAYERS])
    shown = CallLog(log.events[:_MOST_ON_A_PAGE])
    begin = log.events[0].time if log.events else 0
    lines_shown = [line.strip() for line in naming.lines(shown)]
    write_trace(path, title, lines_shown, [event.time - begin for event in shown], len(log) - len(shown))


def _require_writable(option: str, path: Path) -> None:
    try:
        path.open("ab").close()
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot be written: {(error.strerror or '').lower()}") from None


def _environment(program: Program, sandbox: Sandbox, before: Mapping[str, str]) -> dict[str, str]:
    """The user's own, with the layer next to the program; and with a loader that has layers, where its own has none."""
    if program.secure:
        raise UsageError(f"{program.name} runs with elevated privileges, which lets no layer into it")
    if program.elf and program.linker and program.linker.machine != Linker(before).machine:
        raise UsageError(
            f"{program.name} is a {program.elf.words} program, which the layer of this build cannot be loaded into"
        )
    variables = dict(before)
    layers = [part for part in before.get("OPENCL_LAYERS", "").split(":") if part]
    variables["OPENCL_LAYERS"] = ":".join([*layers, str(sandbox.layer("application"))])  # the last one is called first
    if program.loader and program.linker:
        loader = read_loader(program.loader.path, program.loader.how, program.linker)
        if "OPENCL_LAYERS" not in loader.variables:
            _say(f"{loader.path} knows no layers: the reference loader of clharness takes its place for this run")
            instead = sandbox.root / SONAME  # a path without blanks
            instead.symlink_to(build().reference_loader)
            variables["LD_PRELOAD"] = ":".join(filter(None, (str(instead), before.get("LD_PRELOAD"))))
    return variables


# --- what is shown ---


def lines(log: CallLog) -> Iterator[str]:
    """One line for each call, in the order in which they began: when, how long, the call and its answer."""
    begin = log.events[0].time if log.events else 0
    for call, answer in _pairs(log):
        if call.name in _OF_LAYERS:
            continue
        text = str(call).partition(" | ")[2]
        took = f"{(answer.time - call.time) / 1e6:9.3f}" if answer else "  for ever"
        result = str(answer).partition(" = ")[2] if answer else "it did not return"
        yield f"{(call.time - begin) / 1e6:11.3f} {took} ms  {text} = {result}"


def _pairs(log: CallLog) -> list[tuple[Event, Event | None]]:
    """Each call with its return, which is None where there is none."""
    pairs: list[tuple[Event, Event | None]] = []
    open_calls: dict[int, list[int]] = {}  # by thread, as indices of pairs
    for event in log:
        within = open_calls.setdefault(event.thread, [])
        if event.kind == "call":
            within.append(len(pairs))
            pairs.append((event, None))
        elif event.kind == "return" and within and pairs[within[-1]][0].name == event.name:
            index = within.pop()
            pairs[index] = (pairs[index][0], event)
    return pairs


def _summary(log: CallLog, perfetto: str | None, html: str | None) -> str:
    calls = sum(event.name not in _OF_LAYERS for event in log.calls())
    if not calls:
        return (
            "no OpenCL call was seen: the program uses no loader, or its loader finds no vendor and hands nothing on; "
            "clharness doctor PROGRAM says which"
        )
    lost = f" ({log.dropped} lines did not fit)" if log.dropped else ""
    where = f"; open {perfetto} at ui.perfetto.dev" if perfetto else ""
    where += f"; open {html} in a browser" if html else ""
    return f"{calls} OpenCL calls{lost}{where}"
