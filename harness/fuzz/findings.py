# SPDX-License-Identifier: Apache-2.0
"""What a campaign found: made small, replayed, described in words, and kept in a folder for each."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.build import build
from harness.fuzz.job import ProcessEnd
from harness.fuzz.minimise import minimised, needed
from harness.fuzz.subject import address_of, places_of
from harness.fuzz.target_process import STUCK, Defect, Replayer, Setting, environment, read_stack

REPLAYS = 3  # in fresh processes, all with the same key: else a finding is unstable
_MACHINE = "clharness-fuzz: machine: "
_OF_INPUT = "that of the input"
_DESCRIBED = re.compile(r"^clharness-fuzz: input: (.*(?:\n(?!clharness-fuzz:|\S+:|=|#|ALARM).*)*)", re.M)


@dataclass
class Finding:
    """A defect, by its key, and the input that shows it."""

    target: str
    kind: str
    key: str
    sentence: str
    stable: bool
    size: int  # bytes of the input
    folder: str
    mode: str = "legal"
    behind: tuple[str, ...] = ()  # keys that have to be passed over, because the input shows them first
    times: int = 1  # how often a process ended with it
    source: str = ""  # the place in the source, where the loader's debug information has it
    before: int = 0  # how many inputs the same process has to run before it
    stack: tuple[str, ...] = ()  # the loader's places on the stack, innermost first, where a report shows them

    @property
    def place(self) -> str:
        """The function of the loader, or what else the key names."""
        return self.key.partition("@")[2] or self.key

    def input(self) -> Path:
        """The file with the minimised input."""
        return Path(self.folder) / "input"

    def inputs_before(self) -> list[Path]:
        """The files with what a process has to run before it."""
        return sorted((Path(self.folder) / "before").glob("*")) if self.before else []

    def words(self) -> list[str]:
        """The lines that describe the input; of a character that is repeated, the first few."""
        file = Path(self.folder) / "description.txt"
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
        return [_REPEATED.sub(r"\1…", line) for line in lines if line]


# A character, or two or four of them as in an escape, many times.
_REPEATED = re.compile(r"((.{1,4}?)\2{7})\2{12,}")


def word(key: str) -> str:
    """A key as a file name."""
    return re.sub(r"[^\w@+.,-]", "_", key)[:120]


def load(out: Path) -> list[Finding]:
    """What earlier runs wrote into the folder."""
    folders = sorted(file.parent for file in out.glob("findings/*/finding.json"))
    return [finding for finding in map(load_one, folders) if finding]


def load_one(folder: Path) -> Finding | None:
    """The finding that a folder holds; None where it holds none."""
    try:
        entry = json.loads((folder / "finding.json").read_text())
    except FileNotFoundError:
        return None
    lists = {name: tuple(entry.get(name, ())) for name in ("behind", "stack")}
    return Finding(**entry | lists | {"folder": str(folder)})


def source_of(library: Path, key: str) -> str:
    """Where a key's FUNCTION+OFFSET is in the source, innermost function first; "" where nothing says it."""
    match = re.search(r"@(.+)\+0x([0-9a-f]+)$", key)
    if match is None:
        return ""
    base = 0 if match[1] == library.name else address_of(library, match[1])
    if base is None:
        return ""
    return ", in ".join(places_of(library, base + int(match[2], 16)))


class Keeper:
    """Makes findings of inputs."""

    def __init__(self, out: Path, minimising: float, stopped: Callable[[], bool] = lambda: False) -> None:
        """What is not small yet stays as it is once `stopped` says so."""
        self._out, self._minimising, self._stopped = out, minimising, stopped

    def keep(
        self, target: str, program: Path, setting: Setting, end: ProcessEnd, known: Collection[str]
    ) -> Finding | str:
        """Replays the input, makes it small and writes its folder; else says why nothing was found. `known` are the
        keys found before.

        A finding is replayed without breakpoints: what shows only with them is none; nor is what took long by the clock
        alone. Where its input shows nothing in a fresh process, what ran before it is replayed, too: an ICD cannot be
        put back into an earlier state, and there is much that a loader can do to a process.
        """
        work = self._out / "work" / f"replay-{target}-{word(end.defect.key)}"
        try:
            return self._keep(target, program, setting, end, known, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _keep(
        self, target: str, program: Path, setting: Setting, end: ProcessEnd, known: Collection[str], work: Path
    ) -> Finding | str:
        first, data = end.defect, end.data or b""
        watched, setting = setting, replace(setting, blocks=None)
        replayer = self._replayer(program, setting.passing_over(()), work, first)
        again = replayer.replay(data).defect
        if first.is_nameless and again and again.key not in known:
            first = again  # a process that ends at once says more than one that goes on
        behind: tuple[str, ...] = ()
        if (again is None or again.key != first.key) and (behind := tuple(sorted(set(known) - {first.key}))):
            replayer = self._replayer(program, setting.passing_over(behind), work, first)
        shown = [replayer.replay(data).key == first.key for _ in range(1 if first.by_clock else REPLAYS)]
        before: Sequence[Path] = ()
        if not any(shown) and (before := self._needed(replayer, replace(end, defect=first), work)):
            shown = [replayer.replay(data).key == first.key for _ in range(REPLAYS)]
        if not any(shown):
            if first.by_clock:
                return "it took long by the clock alone"
            if watched.blocks and self._replayer(program, watched, work, first).replay(data).key == first.key:
                return "it shows only with breakpoints"
            first = replace(first, sentence=f"{first.sentence}; no replay shows it")
        stable = all(shown)
        if stable and first != STUCK:  # each try would take as long as it is waited for
            data = self._minimised(target, replayer, setting.passing_over(behind), data, first, is_alone=not before)
        finding = Finding(target, first.kind, first.key, first.sentence, stable, len(data), "", setting.mode, behind)
        finding.before = len(before)
        self._write(finding, program, setting, data, replayer, before)
        return finding

    def _replayer(self, program: Path, setting: Setting, work: Path, first: Defect) -> Replayer:
        limit = setting.hang_limit if first.kind == "hang" else setting.time_limit
        replayer = Replayer(program, setting, work, limit, self._stopped)
        if first == STUCK:  # the fuzzer's own limit does not end it, however long that is waited for
            replayer.patience = limit + 1.0
        return replayer

    def _needed(self, replayer: Replayer, end: ProcessEnd, work: Path) -> Sequence[Path]:
        """The inputs without which a fresh process does not show what the last one shows; none where nothing does.
        The replayer runs them before its input from now on."""
        folder = work / "before"
        folder.mkdir()
        files = [folder / f"{number:06}" for number in range(len(end.before))]
        for file, data in zip(files, end.before, strict=True):
            file.write_bytes(data)

        def shows(some: Sequence[Path]) -> bool:
            replayer.run_before(some)
            return replayer.replay(end.data or b"").key == end.defect.key

        found = needed(files, shows, self._minimising, self._stopped) or ()
        replayer.run_before(found)
        return found

    def _minimised(
        self, target: str, slow: Replayer, setting: Setting, data: bytes, first: Defect, is_alone: bool
    ) -> bytes:
        """Made small with the target without a fuzzer where that shows the same: it starts ten times as fast."""
        quick = slow
        plain = build().folder / "fuzz" / f"replay_{target}"
        if is_alone and setting.subject.coverage == "breakpoints" and not setting.against and plain.exists():
            other = self._replayer(plain, replace(setting, engine="none"), slow.folder / "plain", first)
            if other.replay(data).key == first.key:
                quick = other
        quick.symbolizes = not first.by_engine
        small = minimised(
            data, lambda candidate: quick.replay(candidate).key == first.key, self._minimising, self._stopped
        )
        quick.symbolizes = True
        return small if slow.replay(small).key == first.key else data

    def still_happens(self, finding: Finding, program: Path, setting: Setting) -> bool:
        """Whether an earlier finding happens with today's program; breakpoints are left out."""
        work = self._out / "work" / f"replay-{finding.target}-{word(finding.key)}"
        replayer = Replayer(program, replace(setting, blocks=None).passing_over(finding.behind), work)
        replayer.run_before(finding.inputs_before())
        again = replayer.replay_file(finding.input())
        shutil.rmtree(work, ignore_errors=True)
        return again.key == finding.key

    def _write(
        self,
        finding: Finding,
        program: Path,
        setting: Setting,
        data: bytes,
        replayer: Replayer,
        before: Sequence[Path],
    ) -> None:
        folder = self._out / "findings" / f"{finding.target}-{word(finding.key)}"
        folder.mkdir(parents=True, exist_ok=True)
        finding.folder = str(folder)
        (folder / "input").write_bytes(data)
        shutil.rmtree(folder / "before", ignore_errors=True)
        for number, file in enumerate(before):
            (folder / "before").mkdir(exist_ok=True)
            shutil.copyfile(file, folder / "before" / f"{number:06}")
        report = replayer.replay(data)
        if report.defect and report.key == finding.key:
            finding.sentence = report.defect.sentence  # of the small input
        finding.source = source_of(setting.subject.path, finding.key)
        finding.stack = read_stack(report.output, setting.subject)
        (folder / "report.txt").write_text(report.output)
        replayer.run_before(())
        described = replayer.replay(data, {"CLHARNESS_FUZZ_DESCRIBE": "1"})
        (folder / "description.txt").write_text(description(described.output))
        if described.left and finding.place == "nowhere":
            finding.sentence += f"; {described.left.sentence}"
        known = None
        if finding.behind:
            known = folder / "known.txt"
            known.write_text("".join(f"{key}\n" for key in finding.behind))
        script = folder / "reproduce.sh"
        script.write_text(_script(finding, program, setting, known))
        script.chmod(0o755)
        (folder / "finding.json").write_text(json.dumps(asdict(finding), indent=1) + "\n")


def description(output: str) -> str:
    """What a target says of the input; of the last machine where there were several, which is that of the finding."""
    before, _, last = output.rpartition(_MACHINE)
    lines = [line.rstrip("\n") for line in _DESCRIBED.findall(last)]
    if before and not last.startswith(_OF_INPUT):
        lines.insert(0, f"{last.partition(chr(10))[0]}:")
    return "".join(f"{line}\n" for line in lines) or "(the target does not describe it)\n"


def _script(finding: Finding, program: Path, setting: Setting, known: Path | None) -> str:
    variables = setting.replay_variables(None)
    own = environment({})
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"):
        if name in own:
            variables[name] = own[name]
    if known:
        variables["CLHARNESS_FUZZ_KNOWN"] = str(known)
    before = '"$here"/before/* ' if finding.before else ""
    options = f"-timeout={setting.time_limit} " if setting.engine == "libfuzzer" else ""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return "\n".join(
        [
            "#!/bin/sh",
            f"# {finding.kind} {finding.key}",
            "# Replays the input; arguments go to the target. CLHARNESS_FUZZ_DESCRIBE=1 prints the input in words.",
            *lines,
            'here=$(dirname "$(readlink -f "$0")")',
            f'exec {shlex.quote(str(program))} {options}"$@" {before}"$here/input"',
            "",
        ]
    )
