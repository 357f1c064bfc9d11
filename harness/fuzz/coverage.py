# SPDX-License-Identifier: Apache-2.0
"""What corpora reach in a loader, as HTML: lines of its source where there is a build that counts them, else blocks."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.build import build
from harness.errors import HarnessError, UsageError
from harness.fuzz import builds
from harness.fuzz.blocks import Reached, find_blocks, reached
from harness.fuzz.builds import FuzzBuild
from harness.fuzz.history import Code
from harness.fuzz.libfuzzer import MEMORY
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Setting, environment, read_finding, stop_message
from harness.subject.library import read_library

_WHOLE = re.compile(r"^Done \d+ runs", re.M)  # libFuzzer's last line; a target that ends the process is cut short

# Counts lie in a mapped file from the start (%c), because at its end the loader finds no file system any more.
FLAGS = "-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation"
_MOST_FINDINGS = 200  # that are passed over in one corpus
_REPLAY_LIMIT = 1800.0  # seconds of replaying one corpus


def require_counts(path: Path) -> None:
    """UsageError for a loader that does not count its source's regions."""
    library = read_library(path, "a loader built for source coverage", "build/libOpenCL.so.1")
    if b"__llvm_prf_cnts" not in library.real_path.read_bytes():
        raise UsageError(f"{path} does not count what is reached: build it with clang and CFLAGS='-g {FLAGS}'")


def reference_loader_with_counts() -> Path:
    """The reference loader, built to count what is reached. Raises HarnessError where that fails."""
    folder = build().folder / "fuzzing-coverage"
    options = ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={FLAGS}"]
    builds.compile_folder(folder, [*options, "-DCLHARNESS_SEEDED_FAULTS=OFF"], ["clharness_reference_loader"])
    return FuzzBuild(folder).reference_loader()


def write_source_coverage(
    folder: Path, corpora: Mapping[str, Path], fuzz_build: FuzzBuild, setting: Setting, known: Path, loader: Path
) -> tuple[Path, Code]:
    """Replays the corpora on a loader that counts; gives the page, and what is on it in numbers."""
    profiles = _fresh(folder / "profiles")
    subject = FuzzSubject(loader, "compiler", False, "")
    for target, corpus in corpora.items():
        variables = {"LLVM_PROFILE_FILE": f"{profiles}/{target}-%p%c.profraw"}
        _replay(fuzz_build.program(target), replace(setting, subject=subject, blocks=None), known, corpus, variables)
    merged = folder / "coverage.profdata"
    raw = sorted(map(str, profiles.glob("*.profraw")))
    _tool("llvm-profdata", ["merge", "-sparse", "-o", str(merged), *raw])
    pages = folder / "html"
    _tool("llvm-cov", ["show", str(loader), f"-instr-profile={merged}", "-format=html", f"-output-dir={pages}"])
    shutil.rmtree(profiles)
    counted = _tool("llvm-cov", ["export", str(loader), f"-instr-profile={merged}", "-skip-expansions"])
    return pages / "index.html", _code(json.loads(counted), loader)


def _unreached(counts: Mapping[str, int], library: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The functions whose count is 0, and those of them which the library exports."""
    names = tuple(sorted(name for name, count in counts.items() if not count))
    exported = read_library(library, "a library", "libOpenCL.so.1").exported
    return names, tuple(name for name in names if name in exported)


def _code(counted: Mapping[str, Any], loader: Path) -> Code:
    """What llvm-cov's export says; functions that are static have their file before their name."""
    (data,) = counted["data"]
    lines = data["totals"]["lines"]
    counts = {one["name"].rpartition(":")[2]: one["count"] for one in data["functions"]}
    return Code(lines["covered"], lines["count"], "lines", len(counts), *_unreached(counts, loader))


def write_block_coverage(
    folder: Path, corpora: Mapping[str, Path], fuzz_build: FuzzBuild, setting: Setting, known: Path
) -> tuple[Path, Code]:
    """Replays the corpora with breakpoints; gives a page that says of each function what was reached, and its sums."""
    folder.mkdir(parents=True, exist_ok=True)
    library = setting.icd or setting.subject.path
    hits = folder / "hits.txt"
    hits.write_text("")
    for target, corpus in corpora.items():
        variables = {"CLHARNESS_FUZZ_HITS": str(hits)}
        if setting.icd:
            _replay_each(fuzz_build.program(target), setting, known, corpus, variables)
        else:
            _replay(fuzz_build.program(target), setting, known, corpus, variables)
    page = folder / "index.html"
    rows = reached(find_blocks(library), hits)
    page.write_text(_page(library, rows), encoding="utf-8")
    names = {row.function.name or f"{row.function.start:#x}": row.hit for row in rows}
    hit, blocks = sum(row.hit for row in rows), sum(row.blocks for row in rows)
    return page, Code(hit, blocks, "blocks", len(names), *_unreached(names, library))


def _replay(program: Path, setting: Setting, known: Path, corpus: Path, variables: Mapping[str, str]) -> None:
    """One process runs the whole corpus. What it finds is of no interest any more, unless it ends with it: then it has
    not run all inputs. Keys hold offsets of a build, so that they are collected again: each run passes over one more.
    """
    passed_over = set(known.read_text().split()) if known.exists() else set()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "known.txt"
        for _ in range(_MOST_FINDINGS):
            file.write_text("".join(f"{key}\n" for key in sorted(passed_over)))
            status, output = _run(program, setting, file, corpus, variables)
            if status == 0 and _WHOLE.search(output):
                return
            defect = read_finding(output, setting.subject)
            if defect is None or defect.key in passed_over or not defect.by_engine:
                break
            passed_over.add(defect.key)
    raise HarnessError(
        f"coverage: the replay of {corpus} did not run to its end (exit code {status}): "
        f"{defect.sentence if defect else stop_message(output)}"
    )


def _replay_each(program: Path, setting: Setting, known: Path, corpus: Path, variables: Mapping[str, str]) -> None:
    """A known crash of an ICD ends the process: each input has one of its own, and may end it."""
    for file in sorted(corpus.iterdir()):
        status, output = _run(program, setting, known, file, variables)
        if status and read_finding(output, setting.subject) is None:
            raise HarnessError(f"coverage: {file} cannot be replayed (exit code {status}): {stop_message(output)}")


def _run(program: Path, setting: Setting, known: Path, corpus: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and what it said."""
    command = [str(program), "-runs=0", f"-timeout={setting.time_limit}", f"-rss_limit_mb={MEMORY}", str(corpus)]
    try:
        done = subprocess.run(
            command,
            env=environment(setting.variables(known) | dict(variables)),
            cwd=corpus if corpus.is_dir() else corpus.parent,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_REPLAY_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise HarnessError(f"coverage: {program.name} took longer than {_REPLAY_LIMIT:.0f} s over {corpus}") from None
    return done.returncode, done.stderr.decode(errors="replace")


def _tool(name: str, arguments: Sequence[str]) -> str:
    """Of the version of clang: Debian has it in the name. Gives what it says."""
    version = subprocess.run(["clang", "-dumpversion"], capture_output=True, text=True).stdout.partition(".")[0]
    path = shutil.which(f"{name}-{version}") or shutil.which(name)
    if path is None:
        raise HarnessError(f"{name} is not installed, and the coverage report needs it: {builds.install('llvm')}")
    done = subprocess.run([path, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise HarnessError(f"{name} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _page(library: Path, rows: Sequence[Reached]) -> str:
    hit, blocks = sum(row.hit for row in rows), sum(row.blocks for row in rows)
    title = html.escape(f"{os.path.basename(library)}: {hit} of {blocks} blocks")
    ordered = sorted(rows, key=lambda row: row.hit - row.blocks)
    body = "\n".join(
        f"<tr><td>{html.escape(row.function.name or 'no symbol')}</td><td>{row.function.start:#x}</td>"
        f"<td>{row.hit}</td><td>{row.blocks}</td><td><meter value='{row.hit}' max='{row.blocks}'></meter></td></tr>"
        for row in ordered
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif }} td {{ padding-right: 1.5em }} td + td {{ text-align: right }}</style></head>
<body><h1>{title}</h1><p>Functions of {html.escape(str(library))}, the least reached first.</p>
<table><tr><th>function</th><th>at</th><th>reached</th><th>blocks</th><th></th></tr>
{body}
</table></body></html>
"""
