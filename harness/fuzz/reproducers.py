# SPDX-License-Identifier: Apache-2.0
"""Findings that were kept: inputs below fuzz/reproducers, and in findings.toml which loader does what with them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from harness import tomlfile
from harness.errors import UsageError
from harness.expectations.versions import matches, parse_version
from harness.fuzz import builds
from harness.fuzz.findings import load_one
from harness.subject.capabilities import tell_name
from harness.subject.identify import VULKAN_LOADER, identify
from harness.subject.loader import Loader
from harness.subject.vulkan_capabilities import tell_name as tell_vulkan_name
from harness.subject.vulkan_loader import VulkanLoader

FOLDER = builds.FUZZ / "reproducers"
LIST = FOLDER / "findings.toml"
_KINDS = ("crash", "hang", "leak", "environment", "difference", "wrong")
_OPTIONAL = {"versions": "", "mode": "legal", "sha256": ""}
_KEYS = ("target", "file", "finding", "kind", "subject", "versions", "sentence", "mode", "sha256")


@dataclass(frozen=True)
class Reproducer:
    """An input, and a loader that shows a finding with it."""

    target: str
    file: str
    kind: str
    finding: str  # its key
    subject: str  # the loader's name, as it reports it
    versions: str  # such as ">=2.3, <2.4"; empty for all
    sentence: str
    mode: str
    sha256: str  # of the loader's file in which it was seen, or ""

    @property
    def path(self) -> Path:
        """The file with the input, below fuzz/reproducers."""
        return FOLDER / self.target / self.file

    def holds_for(self, name: str, version: str) -> bool:
        """Whether this loader in this version is listed to have the defect."""
        return name == self.subject and matches(self.versions, version)

    def is_same(self, kind: str, key: str, sha256: str) -> bool:
        """A key names an offset in one binary: for others the kind is all that can be compared."""
        return kind == self.kind and (key == self.finding or sha256 != self.sha256)


def reproducers(file: Path = LIST) -> list[Reproducer]:
    """All that are listed. UsageError where an entry is wrong, or where its input is missing."""
    if not file.exists():
        return []
    listed = []
    for number, entry in enumerate(tomlfile.read(file).get("reproducer", []), 1):
        where = f"reproducer {number}"
        tomlfile.only_keys(file, where, entry, _KEYS)
        needed = ("target", "file", "kind", "finding", "subject", "sentence")
        values = {key: tomlfile.text(file, where, entry, key) for key in needed}
        optional = {key: entry.get(key, default) for key, default in _OPTIONAL.items()}
        one = Reproducer(**values, **optional)
        tomlfile.one_of(file, where, "kind", one.kind, _KINDS)
        tomlfile.one_of(file, where, "mode", one.mode, ("legal", "violations"))
        try:
            matches(one.versions, None)
        except ValueError as error:
            tomlfile.wrong(file, where, str(error))
        if one.target not in builds.targets():
            tomlfile.wrong(file, where, f"is of the unknown target {one.target!r}")
        if not (file.parent / one.target / one.file).is_file():
            tomlfile.wrong(file, where, f"names {one.target}/{one.file}, which does not exist")
        listed.append(one)
    return listed


def unlisted(file: Path = LIST) -> list[Path]:
    """Inputs that no entry names."""
    listed = {file.parent / one.target / one.file for one in reproducers(file)}
    inputs = (path for folder in file.parent.glob("*/") for path in folder.iterdir())
    return sorted(path for path in inputs if path.is_file() and path not in listed)


def keep(name: str, folder: Path, to: Path | None = None) -> Path:
    """Copies a finding's input below fuzz/reproducers and appends its entry."""
    to = to or FOLDER
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise UsageError(f"{name!r} is not a name for a reproducer: use a-z, 0-9 and _")
    finding = load_one(folder)
    if finding is None:
        raise UsageError(f"{folder} is not a finding (there is no finding.json in it): a summary names the folders")
    if not finding.stable:
        raise UsageError(f"{folder}: an unstable finding cannot be a regression case")
    if finding.before:
        raise UsageError(f"{folder}: a finding that needs other inputs before it cannot be a regression case")
    input_file = to / finding.target / name
    if input_file.exists():
        raise UsageError(f"{input_file} is there already: give another name")
    input_file.parent.mkdir(parents=True, exist_ok=True)
    input_file.write_bytes(finding.input().read_bytes())
    subject = _subject(folder)
    name_of_loader, version = _told(subject)
    entry = {
        "target": finding.target,
        "file": name,
        "kind": finding.kind,
        "finding": finding.key,
        "subject": name_of_loader,
        "versions": version,
        "sentence": finding.sentence,
        "sha256": hashlib.sha256(subject.read_bytes()).hexdigest(),
    }
    if finding.mode != "legal":
        entry["mode"] = finding.mode
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    file = to / LIST.name
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(f"{before}\n[[reproducer]]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return input_file


def _told(subject: Path) -> tuple[str, str]:
    """The name of the loader, and the one version for which the finding is known. A person widens that.

    A loader that is instrumented has another name than others: these show nothing of what its sanitizer noticed.
    """
    if not subject.is_file():
        raise UsageError(f"{subject}: the loader of the finding is not there any more")
    loader: Loader | VulkanLoader
    if identify(subject) is VULKAN_LOADER:
        loader = VulkanLoader(subject)
        tell_vulkan_name(loader)
    else:
        loader = Loader(subject)
        tell_name(loader)
    instrumented = loader.facts.sanitizer or loader.facts.name == "unknown"
    name = f"{subject.name}, instrumented" if instrumented else loader.facts.name
    return name, f"=={loader.facts.version}" if parse_version(loader.facts.version) else ""


def _subject(folder: Path) -> Path:
    script = (folder / "reproduce.sh").read_text(encoding="utf-8")
    match = re.search(r"^export CLHARNESS_FUZZ_LOADER='?([^'\n]+)", script, re.M)
    return Path(match[1] if match else "unknown")
