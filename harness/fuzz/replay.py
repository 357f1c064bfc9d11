# SPDX-License-Identifier: Apache-2.0
"""Replays seeds and reproducers on loaders, without a fuzzer: the ctest entry fuzz-replay.

    python -m harness.fuzz.replay [--loader PATH] [--update]

Every seed is replayed on the reference loader and on the loader under test (those of Vulkan's targets on the reference
loader for Vulkan and on the machine's own), and has to be read: the targets say how
many inputs of how many bytes they read, and fuzz/corpus/inputs.txt says how many there are. A reproducer shows on the
loaders that findings.toml lists with it what is listed there, and nothing on others.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.build import build
from harness.errors import ClharnessError, Exit, HarnessError, UsageError
from harness.fuzz import builds
from harness.fuzz.reproducers import Reproducer, reproducers, unlisted
from harness.fuzz.target_process import Defect, environment, read_line
from harness.subject.capabilities import tell_name
from harness.subject.loader import Loader
from harness.subject.search import VULKAN_SONAME, system_loader
from harness.subject.vulkan_capabilities import tell_name as tell_vulkan_name
from harness.subject.vulkan_loader import VulkanLoader

LIST = builds.FUZZ / "corpus" / "inputs.txt"
_ENDED = re.compile(r"^clharness-fuzz: (.+) ended with .*$", re.M)
_TIME_LIMIT = 120.0  # seconds of one replay


@dataclass(frozen=True)
class Subject:
    """A loader, and what it says of itself."""

    path: Path
    name: str
    version: str
    sha256: str
    is_vulkan: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip() if self.name != "unknown" else str(self.path)


def subject(path: Path) -> Subject:
    """An OpenCL loader whose inputs are replayed, with the name that it answers."""
    loader = Loader(path)
    tell_name(loader)
    digest = hashlib.sha256(loader.path.read_bytes()).hexdigest()
    return Subject(loader.path, loader.facts.name, loader.facts.version, digest)


def vulkan_subject(path: Path) -> Subject:
    """A Vulkan loader whose inputs are replayed, with its name."""
    loader = VulkanLoader(path)
    tell_vulkan_name(loader)
    digest = hashlib.sha256(loader.path.read_bytes()).hexdigest()
    return Subject(loader.path, loader.facts.name, loader.facts.version, digest, is_vulkan=True)


@dataclass(frozen=True)
class Replayed:
    """What a replay of one or many inputs said."""

    status: int
    output: str  # what it read
    errors: str

    @property
    def ended(self) -> str:
        """How the process ended, in words."""
        return signal.strsignal(-self.status) or "a signal" if self.status < 0 else f"exit code {self.status}"


def replay(
    target: str, loader: Path, inputs: Path, *options: str, known: Collection[str] = (), mode: str = "legal"
) -> Replayed:
    """Runs replay_TARGET over a file or a folder."""
    program = build().folder / "fuzz" / f"replay_{target}"
    if not program.exists():
        raise HarnessError(f"{program} is not built: cmake --build {build().folder}")
    with tempfile.NamedTemporaryFile("w", prefix="clharness-known-") as file:
        file.write("".join(f"{key}\n" for key in known))
        file.flush()
        variables = {"CLHARNESS_FUZZ_KNOWN": file.name, "CLHARNESS_FUZZ_MODE": mode}
        try:
            done = subprocess.run(
                [program, "--loader", loader, *options, inputs],
                env=environment(variables),
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return Replayed(-signal.SIGKILL, "", f"{program} did not end within {_TIME_LIMIT:.0f} s\n")
    return Replayed(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


# --- seeds ---


def expected_lines(file: Path = LIST) -> dict[str, str]:
    """By target what a replay of all its seeds has to say."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise HarnessError(f"{file} is missing: python -m harness.fuzz.replay --update writes it") from None
    return {line.partition(":")[0]: line for line in lines if line and not line.startswith("#")}


def seed_trouble(target: str, on: Subject, expected: str | None, own: bool) -> Iterator[str]:
    """Sentences on what is wrong. The project's own loader runs all seeds in one process."""
    if expected is None:
        yield f"{target}: {LIST.name} does not list it: python -m harness.fuzz.replay --update"
        return
    listed = [one for one in reproducers() if one.holds_for(on.name, on.version)]
    known = {one.finding for one in listed}
    done = replay(target, on.path, builds.seeds(target), *([] if own else ["--each"]), known=known)
    lines = done.output.strip().splitlines()
    if done.status not in (0, 1):
        yield f"{target} on {on}: the replay ended with {done.ended}:\n{_shortened(done.errors)}"
    for seed, defect in ends(done.errors):
        if defect is None or not any(one.is_same(defect.kind, defect.key, on.sha256) for one in listed):
            what = f"{defect.kind} {defect.key}: {defect.sentence}" if defect else "it ended without a finding"
            yield f"{target} on {on}: {seed}: {what}; findings.toml does not list that"
    if done.status in (0, 1) and (not lines or lines[-1] != expected):
        yield (
            f"{target} on {on}: {lines[-1] if lines else 'nothing was read'}; {LIST.name} says {expected!r}. "
            "Were seeds added? python -m harness.fuzz.replay --update"
        )


def ends(errors: str) -> Iterator[tuple[str, Defect | None]]:
    """The inputs that ended their process, and with what, of what a replay of many said."""
    begin = 0
    for end in _ENDED.finditer(errors):
        yield end[1], read_line(errors[begin : end.start()])
        begin = end.end()


# --- reproducers ---


def reproducer_trouble(path: Path, target: str, entries: Sequence[Reproducer], on: Subject) -> Iterator[str]:
    """Sentences on what is wrong with one input on one loader."""
    listed = next((one for one in entries if one.holds_for(on.name, on.version)), None)
    mode = entries[0].mode
    if listed is None and mode == "violations":
        return  # vendors that break the contract may crash a loader
    # Another known finding may come before the one that is meant.
    before = {one.finding for one in reproducers() if listed and one.holds_for(on.name, on.version)}
    done = replay(target, on.path, path, known=before - {listed.finding} if listed else (), mode=mode)
    name = f"{target}/{path.name} on {on}"
    defect = read_line(done.errors)
    if listed is None:
        if done.status:
            yield f"{name}: findings.toml does not list this loader with it ({done.ended}):\n{_shortened(done.errors)}"
        elif done.output.strip() != f"{target}: read 1 inputs, {path.stat().st_size} bytes":
            yield f"{name}: it was not read: {done.output.strip()!r}"
    elif done.status == 0:
        yield f"{name}: improved: {listed.finding} does not happen any more; correct `versions` in findings.toml"
    elif defect is None or not listed.is_same(defect.kind, defect.key, on.sha256):
        shown = f"{defect.kind} {defect.key}" if defect else done.ended
        yield f"{name}: findings.toml lists {listed.kind} {listed.finding}, it shows {shown}"


def by_input() -> dict[tuple[str, Path], list[Reproducer]]:
    """The entries of each input: several loaders may show something with the same."""
    groups: dict[tuple[str, Path], list[Reproducer]] = {}
    for one in reproducers():
        groups.setdefault((one.target, one.path), []).append(one)
    return groups


def _shortened(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(f"  {line[:300]}" for line in lines[-8:])


# --- all of it ---


def own_loaders() -> list[Subject]:
    """The reference loaders; that of Vulkan where its headers are."""
    vulkan = build().vulkan
    return [subject(build().reference_loader), *([vulkan_subject(vulkan.reference_loader)] if vulkan else [])]


def others(own: Sequence[Subject], loader: Path | None) -> Iterator[Subject]:
    """The loader under test, and this machine's for Vulkan, where they are not the reference loaders."""
    for one in own:
        path = system_loader(VULKAN_SONAME) if one.is_vulkan else loader or system_loader()
        if path and os.path.realpath(path) != os.path.realpath(one.path):
            yield vulkan_subject(path) if one.is_vulkan else subject(path)


def trouble(on: Subject, own: bool) -> Iterator[str]:
    """What is not as expected of all seeds and reproducers, a line each; `own`: of the project's own loader."""
    expected = expected_lines()
    for target in builds.chosen_targets([], True, on.is_vulkan):
        yield from seed_trouble(target, on, expected.get(target), own)
    for (target, path), entries in by_input().items():
        if builds.is_of_vulkan(target) == on.is_vulkan:
            yield from reproducer_trouble(path, target, entries, on)


def update(loaders: Sequence[Subject]) -> None:
    """Writes down what the replays read."""
    lines = ["# What a replay of all seeds says: python -m harness.fuzz.replay --update writes it."]
    for on in loaders:
        for target in builds.chosen_targets([], True, on.is_vulkan):
            done = replay(target, on.path, builds.seeds(target), "--each")
            if done.status not in (0, 1):
                raise UsageError(f"{target}: {done.errors.strip()}")
            lines.append(done.output.strip().splitlines()[-1])
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Replay fuzz seeds and reproducers.")
    parser.add_argument("--loader", type=Path, help="loader under test; default: the system's, where there is one")
    parser.add_argument("--update", action="store_true", help=f"write {LIST.name}")
    args = parser.parse_args(arguments)
    try:
        own = own_loaders()
        if args.update:
            update(own)
            return Exit.AS_EXPECTED
        subjects = [(loader, True) for loader in own] + [(loader, False) for loader in others(own, args.loader)]
        wrong = [f"{path} is in no entry of findings.toml" for path in unlisted()]
        for on, is_own in subjects:
            started = time.monotonic()
            troubles = list(trouble(on, is_own))
            wrong += troubles
            print(f"{on}: {len(troubles)} troubles, {time.monotonic() - started:.1f} s")
    except ClharnessError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return int(error.exit_code)
    print("\n".join(wrong))
    return Exit.UNEXPECTED if wrong else Exit.AS_EXPECTED


if __name__ == "__main__":
    sys.exit(main())
