# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as text for the terminal, and as JSON."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from typing import Any

from harness.doctor.examine import Diagnosis
from harness.doctor.findings import Finding, count
from harness.doctor.loaders import LoaderFile
from harness.doctor.vendors import STEPS, Vendor


def verdict(diagnosis: Diagnosis) -> str:
    """The one sentence that matters."""
    platforms = diagnosis.listing.platforms if diagnosis.listing else []
    devices = sum(platform["devices"]["count"] for platform in platforms)
    seen = f"{count(len(platforms), 'platform')} with {count(devices, 'device')}"
    if not diagnosis.findings:
        return f"healthy: programs see {seen}, and no ICD is skipped."
    reasons = count(len(diagnosis.findings), "reason")
    return f"not healthy: programs see {seen}; {reasons} why something is missing."


def as_text(diagnosis: Diagnosis, verbose: bool = False, width: int = 0) -> str:
    """Verdict, findings, what was seen, verdict."""
    width = max(min(width or shutil.get_terminal_size((80, 24)).columns, 100), 40)
    conclusion = textwrap.fill(f"clharness doctor: {verdict(diagnosis)}", width, subsequent_indent="  ")
    parts = [conclusion]
    parts += ["\n".join(_finding(one, f"{n}.", width)) for n, one in enumerate(diagnosis.findings, 1)]
    parts.append("\n".join(_seen(diagnosis, width, verbose)))
    notes = [line for one in diagnosis.notes for line in _note(one, width)]
    if notes and (diagnosis.findings or verbose):
        parts.append("\n".join(notes))
    elif notes:
        parts.append(f"{count(len(diagnosis.notes), 'note')} that need nothing: --verbose shows them.")
    if diagnosis.findings:
        parts.append(conclusion)
    return "\n\n".join(part for part in parts if part)


def printable(text: str) -> str:
    """Text as a terminal may get it: nothing in it moves the cursor."""
    return "".join(c if c == "\n" or c.isprintable() else ascii(c)[1:-1] for c in text)


def _wrap(text: str, width: int, first: str, following: str) -> list[str]:
    return textwrap.wrap(
        printable(text), width, initial_indent=first, subsequent_indent=following, break_on_hyphens=False
    )


def _finding(one: Finding, number: str, width: int) -> list[str]:
    indent = " " * 4
    lines = _wrap(one.what, width, f"{number:<4}", indent)
    return [
        *lines,
        *_wrap(f"where: {one.where}", width, indent, indent + " " * 7),
        *_wrap(f"do:    {one.do}", width, indent, indent + " " * 7),
    ]


def _note(one: Finding, width: int) -> list[str]:
    return _wrap(f"note: {one.what} {one.do}", width, "", " " * 6)


def _seen(diagnosis: Diagnosis, width: int, verbose: bool) -> Iterator[str]:
    for program in diagnosis.programs:
        yield from _row("program", f"{program.path} ({program.elf.words if program.elf else 'not ELF'})", width)
        how = "linked to" if program.linked else "not linked to a loader; would open"
        if program.loader:
            yield from _row("", f"{how} {program.loader.path}, found by {program.loader.how}", width)
    if diagnosis.loader:
        yield from _row("loader", f"{diagnosis.loader.title}, found by {diagnosis.loader.how}", width)
    for other in diagnosis.others:
        yield from _row("", f"not taken: {other.title}, {_lists(other)}", width)
    for vendor in diagnosis.vendors:
        yield from _row("vendor", f"{vendor.where}: {_state(vendor)}", width)
        if verbose or any(not one.harmless for one in vendor.findings):
            yield from _row("", _path(vendor), width)
    for layer in diagnosis.layers:
        state = "loaded" if layer.loaded else "not loaded"
        yield from _row("layer", f"{layer.entry.where}: {layer.path or layer.entry.meant} is {state}", width)
    for name, value in diagnosis.variables.items():
        yield from _row("variable", f"{name}={value}", width)


def _row(title: str, text: str, width: int) -> list[str]:
    return _wrap(text, width, f"{title:<10}", " " * 12)


def _lists(loader: LoaderFile) -> str:
    return f"which would list {count(len(loader.listing.platforms) if loader.listing else 0, 'platform')}"


def _state(vendor: Vendor) -> str:
    if not vendor.entry.in_use:
        return "not read by the loader"
    names = ", ".join(f"{p.get('name', '')} with {count(p['devices']['count'], 'device')}" for p in vendor.platforms)
    if not vendor.platforms:
        return "skipped"
    return names if vendor.listed >= len(vendor.platforms) else f"not listed ({names})"


def _path(vendor: Vendor) -> str:
    """How far it came on its way through a loader's decisions."""
    passed = STEPS[: STEPS.index(vendor.fails_at)] if vendor.fails_at else STEPS
    end = "FAILS" if any(not one.harmless for one in vendor.findings) else "none"
    steps = [*(f"{name} ok" for name in passed), *([f"{vendor.fails_at} {end}"] if vendor.fails_at else [])]
    return ", ".join(steps)


def as_data(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as harness/doctor/schema.json describes it."""
    return {
        "version": 1,
        "verdict": verdict(diagnosis),
        "healthy": not diagnosis.findings,
        "findings": [one.as_dict() for one in diagnosis.findings],
        "notes": [one.as_dict() for one in diagnosis.notes],
        "loader": _loader(diagnosis.loader) if diagnosis.loader else None,
        "other_loaders": [_loader(other) for other in diagnosis.others],
        "programs": [
            {
                "name": program.name,
                "path": str(program.path),
                "machine": program.elf.words if program.elf else None,
                "linked": program.linked,
                "elevated": program.secure,
                "loader": str(program.loader.path) if program.loader else None,
                "found_by": program.loader.how if program.loader else None,
            }
            for program in diagnosis.programs
        ],
        "vendors": [_vendor(vendor) for vendor in diagnosis.vendors],
        "layers": [
            {
                "named_in": layer.entry.where,
                "path": str(layer.path) if layer.path else None,
                "loaded": layer.loaded,
                "findings": [one.name for one in layer.findings],
            }
            for layer in diagnosis.layers
        ],
        "variables": diagnosis.variables,
    }


def _loader(loader: LoaderFile) -> dict[str, Any]:
    return {
        "path": str(loader.path),
        "found_by": loader.how,
        "name": loader.name or None,
        "version": loader.version or None,
        "reads": loader.folders,
        "variables": sorted(loader.variables),
        "platforms": [_platform(platform) for platform in (loader.listing.platforms if loader.listing else [])],
        "end": (loader.listing.answer.end or None) if loader.listing else None,
    }


def _platform(platform: dict[str, Any]) -> dict[str, Any]:
    texts = {name: platform.get(name) for name in ("name", "vendor", "version", "suffix")}
    return {**texts, "devices": [device.get("name") for device in platform["devices"]["devices"]]}


def _vendor(vendor: Vendor) -> dict[str, Any]:
    return {
        "named_in": vendor.where,
        "in_use": vendor.entry.in_use,
        "library": str(vendor.path) if vendor.path else vendor.entry.meant or None,
        "steps": {name: _passed(vendor, name) for name in STEPS},
        "platforms": [_platform(platform) for platform in vendor.platforms],
        "listed": vendor.listed,
        "findings": [one.name for one in vendor.findings],
    }


def _passed(vendor: Vendor, step: str) -> str:
    if not vendor.fails_at or STEPS.index(step) < STEPS.index(vendor.fails_at):
        return "ok"
    return "fails" if step == vendor.fails_at else "not reached"
