# SPDX-License-Identifier: Apache-2.0
"""What is known about a loader: accepted deviations from the requirements, its side in the grey areas.

One TOML file holds what is known of one loader in one range of versions. An entry names a requirement and,
where needed, cases by a pattern in which only `*` and `?` are special: pytest's brackets stand for
themselves. `deviates` lists which calls or parameters of such a case deviate, and how, by patterns of the same
kind ("num_devices=0: CL_SUCCESS instead of CL_INVALID_VALUE"): any other deviation in the case is unexpected.
A deviation that is only waived for a time has `expires`, the last day on which it holds ("2027-03-31"), and may have
`owner` and `bug`, whom and what to ask.

`versions` in an entry is a range of versions for which it holds, and `when` a list of what the subject must have or
lack for it (abilities.py).

`pinned` in the head is a range of versions of which every recorded outcome has an entry: one without is red.
`recognised_by` are texts of the loader's file, `[[nameless]]` those of its releases without a name, `build_ids` its
builds, for a loader that does not say its name (recognition.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

from harness.deviation import Deviation, fits_pattern
from harness.errors import UsageError
from harness.expectations.abilities import holds, is_left_out
from harness.expectations.versions import matches
from harness.requirements.catalogue import catalogue
from harness.tomlfile import one_of, only_keys, optional_text, read, text, wrong

FOLDER = Path(__file__).parent  # of loaders; other kinds of subjects have folders in it

# "error" is missing on purpose: trouble of the harness is never what one expects of a loader.
EXPECTABLE = ("pass", "fail", "crash", "hang", "leak", "unsupported")

TO_BE_EXPLAINED = "to be explained"  # how the reason of an entry begins that nobody has given one

_HEAD_KEYS = {
    "loader", "versions", "recognised_by", "build_ids", "nameless", "confirmed", "pinned", "sections", "capabilities",
    "deviation", "outcome",
}  # fmt: skip
_ENTRY_KEYS = {
    "deviation": {
        "requirement",
        "case",
        "verdict",
        "deviates",
        "reason",
        "link",
        "versions",
        "when",
        "owner",
        "bug",
        "expires",
    },
    "outcome": {"requirement", "case", "outcome", "reason", "link", "versions", "when"},
}


@dataclass(frozen=True)
class Entry:
    """One [[deviation]] or one [[outcome]]."""

    kind: Literal["deviation", "outcome"]
    number: int  # position among the entries of its kind in the file, from 0
    requirement: str
    case: str | None  # pattern on the case's name; None stands for every case of the requirement
    verdicts: tuple[str, ...]  # of a deviation
    outcome: str | None  # of an outcome
    reason: str | None
    link: str | None
    versions: str
    deviates: tuple[str, ...] | None = None  # patterns on "what: how"; None, of older files: whatever has the verdict
    owner: str | None = None  # who answers for it
    bug: str | None = None
    when: tuple[str, ...] = ()  # what the subject has or lacks where the entry holds
    expires: date | None = None  # the last day on which it holds; None: until the subject changes

    @property
    def unexplained(self) -> bool:
        """Whether its reason still has to be written."""
        return (self.reason or "").startswith(TO_BE_EXPLAINED)

    @property
    def expired(self) -> bool:
        """Whether the waiver holds no longer."""
        return self.expires is not None and self.expires < today()

    def unlisted(self, deviations: Sequence[Deviation]) -> list[Deviation]:
        """The deviations that the entry does not list."""
        patterns = self.deviates
        return [] if patterns is None else [d for d in deviations if not any(map(d.fits, patterns))]

    def gone(self, deviations: Sequence[Deviation]) -> list[str]:
        """What the entry lists and is not there any more. Of an entry with several verdicts, what happens is chance."""
        if len(self.verdicts) > 1:
            return []
        return [pattern for pattern in self.deviates or () if not any(d.fits(pattern) for d in deviations)]

    @property
    def id(self) -> str:
        """How messages name the entry: "deviation DISC-LNX-011 *fifo*"."""
        return " ".join(filter(None, (self.kind, self.requirement, self.case)))

    def covers(self, requirements: Sequence[str], case: str) -> bool:
        """Whether the entry is about this case of a check with these requirements."""
        if self.requirement not in requirements:
            return False
        return self.case is None or fits_pattern(case, self.case)

    def is_narrower(self, other: Entry) -> bool:
        """Whether it holds for versions or builds to which `other` is not confined."""
        return bool(self.versions and self.versions != other.versions) or not set(self.when) <= set(other.when)


@dataclass(frozen=True)
class Expected:
    """What a case is expected to do."""

    verdicts: tuple[str, ...] = ("pass",)
    outcome: str | None = None  # None: not pinned
    reason: str | None = None
    deviation: Entry | None = None  # the entries that say so
    pin: Entry | None = None
    all_pinned: bool = False  # every recorded outcome must have an entry

    @property
    def entry(self) -> str | None:
        """The ID of the entry that is about the case; None where there is none."""
        entry = self.deviation or self.pin
        return entry.id if entry else None


class Expectations:
    """The expectations that hold for one loader; `path` is None where there is no file for it."""

    def __init__(
        self,
        path: Path | None = None,
        loader: str = "",
        versions: str = "",
        entries: Sequence[Entry] = (),
        version: str | None = None,
        capabilities: Mapping[str, str] | None = None,
        folder: Path = FOLDER,
        confirmed: str | None = None,
        sections: Collection[str] | None = None,
        pinned: str | None = None,
        able: Collection[str] | None = None,
    ) -> None:
        self.path = path
        self.version = version
        self.able = able  # what the subject has, for conditions; None: not known
        self.folder = folder  # where a first file of this subject belongs
        # What this version has beyond the core: where one of these vanishes, its checks count.
        known = (name for name, versions in (capabilities or {}).items() if matches(versions, version))
        self.capabilities = frozenset(name for name in known if not is_left_out(name, able))
        self.loader = loader
        self.versions = versions
        self.confirmed = confirmed  # the day of the last run of all cases that the file was brought up to
        self.sections = None if sections is None else frozenset(sections)  # of the catalogue, as it was on that day
        # Whether every outcome that is recorded of this version has an entry: what has none is new.
        self.all_pinned = pinned is not None and matches(pinned, version)
        self.all_entries = tuple(entries)
        of_version = [e for e in entries if matches(e.versions, version) and holds(e.when, able)]
        self.entries = tuple(e for e in of_version if not e.expired)
        self.expired = tuple(e for e in of_version if e.expired)
        self._of: dict[str, dict[str, list[Entry]]] = {"deviation": {}, "outcome": {}}  # by kind and requirement
        for entry in self.entries:
            self._of[entry.kind].setdefault(entry.requirement, []).append(entry)

    def expected(self, requirements: Sequence[str], case: str) -> Expected:
        """The expectation of a case: an entry with a case pattern before one without, then the first."""
        deviation = self._first("deviation", requirements, case)
        pin = self._first("outcome", requirements, case)
        expired = next((e for e in self.expired if deviation is None and e.covers(requirements, case)), None)
        reason = deviation.reason if deviation else f"waiver expired {waiver(expired)}" if expired else None
        return Expected(
            verdicts=deviation.verdicts if deviation else ("pass",),
            outcome=pin.outcome if pin else None,
            all_pinned=self.all_pinned,
            reason=reason or (pin.reason if pin else None),
            deviation=deviation,
            pin=pin,
        )

    def _first(self, kind: str, requirements: Sequence[str], case: str) -> Entry | None:
        return _deciding(self._covering(kind, requirements, case))

    def _covering(self, kind: str, requirements: Sequence[str], case: str) -> list[Entry]:
        of_kind = self._of[kind]
        if of_kind.keys().isdisjoint(requirements):
            return []
        of_requirements = [e for i in dict.fromkeys(requirements) for e in of_kind.get(i, ())]
        return [e for e in of_requirements if e.case is None or fits_pattern(case, e.case)]

    @property
    def unexplained(self) -> list[Entry]:
        """The entries that still lack a reason."""
        return [entry for entry in self.entries if entry.unexplained]

    def has_seen(self, requirements: Sequence[str]) -> bool:
        """Whether the section of a case was in the catalogue when the file was last confirmed."""
        return self.sections is None or section_key(requirements) in (None, *self.sections)

    def stale(self, cases: Iterable[tuple[Sequence[str], str]]) -> list[Entry]:
        """The entries that decide no case. Only meaningful with all cases of the suites, whether they ran or not.

        `cases` gives the requirements and the name of each case. Entries for groups of requirements that no case has
        are another suite's. What an entry for this version or this build alone decides in an entry's stead does not
        make it stale: elsewhere it decides.
        """
        used: set[Entry] = set()
        of_cases: set[str] = set()
        for requirements, case in cases:
            of_cases.update(requirements)
            for kind in self._of:
                covering = self._covering(kind, requirements, case)
                if decides := _deciding(covering):
                    used.update(e for e in covering if e is decides or decides.is_narrower(e))
        groups = {_group(identifier) for identifier in of_cases}
        return [e for e in self.entries if e not in used and _group(e.requirement) in groups]


def _deciding(covering: Sequence[Entry]) -> Entry | None:
    """Which of the entries about a case decides: one with a case pattern before one without, then the first."""
    return min(covering, key=lambda e: (e.case is None, e.number), default=None)


def today() -> date:
    """The day that decides whether a waiver has expired; tests replace it."""
    return date.today()


def waiver(entry: Entry) -> str:
    """Until when an entry holds, who answers for it, and why it is there."""
    about = ", ".join(filter(None, (entry.owner, entry.bug)))
    when = f"on {entry.expires}" if entry.expires else ""
    return " ".join(filter(None, (when, f"({about})" if about else "", f": {entry.reason}"))).replace(" : ", ": ")


def section_key(requirements: Iterable[str]) -> str | None:
    """The section under which a case is reported: that of its first known requirement."""
    return next((catalogue()[i].key for i in requirements if i in catalogue()), None)


def _group(identifier: str) -> str:
    return identifier.partition("-")[0]


def load(path: Path, version: str | None = None, able: Collection[str] | None = None) -> Expectations:
    """Reads one file; entries that do not hold for `version`, or for what the subject has (`able`), are left aside."""
    data = read(path)
    loader = text(path, "the head", data, "loader")
    versions = _versions(path, "the head", data)
    only_keys(path, "the head", data, _HEAD_KEYS)
    entries: list[Entry] = []
    for kind in ("deviation", "outcome"):
        tables = data.get(kind, [])
        if not isinstance(tables, list):
            wrong(path, kind, f"is not a list; write [[{kind}]] above each entry")
        entries += [_entry(path, kind, number, table) for number, table in enumerate(tables)]
    return Expectations(
        path,
        loader,
        versions,
        entries,
        version,
        _capabilities(path, data),
        confirmed=optional_text(path, "the head", data, "confirmed"),
        sections=_sections(path, data),
        pinned=_pinned(path, data),
        able=able,
    )


def _pinned(path: Path, data: Mapping[str, Any]) -> str | None:
    """The head's range of versions of which every recorded outcome has an entry; None where it names none."""
    versions = optional_text(path, "the head", data, "pinned")
    if versions:
        _versions(path, "`pinned`", {"versions": versions})
    return versions


def _sections(path: Path, data: Mapping[str, Any]) -> list[str] | None:
    """The head's list of sections; None where it has none: then nothing counts as new."""
    sections = data.get("sections")
    if sections is not None and (not isinstance(sections, list) or not all(isinstance(s, str) for s in sections)):
        wrong(path, "the head", 'needs `sections` as a list, such as ["DISC-GEN", "DISC-LNX"]')
    return sections


def _capabilities(path: Path, data: Mapping[str, Any]) -> dict[str, str]:
    """The head's table of capabilities: name and range of versions ("" stands for all)."""
    table = data.get("capabilities", {})
    if not isinstance(table, dict):
        wrong(path, "the head", 'needs `[capabilities]` as a table: one line for each, such as "ICD 2" = ">=3.1"')
    for name, versions in table.items():
        if not isinstance(versions, str):
            wrong(path, f"capability {name!r}", 'needs a range of versions as text; "" stands for all')
        if versions:
            _versions(path, f"capability {name!r}", {"versions": versions})
    return dict(table)


def find(name: str, version: str | None, folder: Path = FOLDER, able: Collection[str] | None = None) -> Expectations:
    """The expectations for a loader, by the name and version it gives itself; empty where no file fits."""
    fitting = [path for path, loader, versions in _heads(folder) if loader == name and matches(versions, version)]
    if len(fitting) > 1:
        both = " and ".join(path.name for path in fitting)
        raise UsageError(f"{folder}: {both} hold for {name} {version}; make their `versions` exclude each other")
    return load(fitting[0], version, able) if fitting else Expectations(folder=folder)


def known(folder: Path = FOLDER) -> list[Expectations]:
    """All expectation files. Their `all_entries` hold what applies to some versions only, too."""
    return [load(path) for path, _, _ in _heads(folder)]


def _heads(folder: Path) -> list[tuple[Path, str, str]]:
    """Path, loader and versions of each file."""
    heads = []
    for path in sorted(folder.glob("*.toml")):
        data = read(path)
        heads.append((path, text(path, "the head", data, "loader"), _versions(path, "the head", data)))
    return heads


def _entry(path: Path, kind: str, number: int, table: Any) -> Entry:
    where = f"[[{kind}]] number {number + 1}"
    if not isinstance(table, dict):
        wrong(path, where, f"is not a table; write [[{kind}]] above each entry")
    requirement = text(path, where, table, "requirement")
    where += f" ({requirement})"
    if requirement not in catalogue():
        wrong(path, where, "names a requirement that the catalogue does not have; correct the ID")
    only_keys(path, where, table, _ENTRY_KEYS[kind])
    deviation = kind == "deviation"
    return Entry(
        kind="deviation" if deviation else "outcome",
        number=number,
        requirement=requirement,
        case=optional_text(path, where, table, "case"),
        verdicts=_verdicts(path, where, table) if deviation else (),
        outcome=None if deviation else text(path, where, table, "outcome"),
        reason=text(path, where, table, "reason") if deviation else optional_text(path, where, table, "reason"),
        link=optional_text(path, where, table, "link"),
        versions=_versions(path, where, table),
        deviates=_deviates(path, where, table) if "deviates" in table else None,
        owner=optional_text(path, where, table, "owner"),
        bug=optional_text(path, where, table, "bug"),
        when=_when(path, where, table),
        expires=_day(path, where, table),
    )


def _day(path: Path, where: str, table: Mapping[str, Any]) -> date | None:
    value = table.get("expires")
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        wrong(path, where, f"has {value!r} as the day on which it expires; write it as in 2027-03-31")


def _deviates(path: Path, where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    value = table["deviates"]
    if not isinstance(value, list) or not value or not all(isinstance(p, str) and p.strip() for p in value):
        wrong(path, where, 'needs `deviates` as a list of "what: how"; records of a run show what to write')
    return tuple(value)


def _when(path: Path, where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    value = table.get("when", [])
    if not isinstance(value, list) or not all(isinstance(c, str) and c.strip() for c in value):
        wrong(path, where, 'needs `when` as a list of what the subject has or lacks: ["ICD 2", "no OPENCL_LAYERS"]')
    return tuple(value)


def _verdicts(path: Path, where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    value = table.get("verdict")
    verdicts = [value] if isinstance(value, str) else value
    if not isinstance(verdicts, list) or not verdicts:
        wrong(path, where, f"needs `verdict`, one or a list of {', '.join(EXPECTABLE)}")
    for verdict in verdicts:
        one_of(path, where, "verdict", verdict, EXPECTABLE)
    if verdicts == ["pass"]:
        wrong(path, where, "expects a pass, which is not a deviation; remove the entry")
    return tuple(verdicts)


def _versions(path: Path, where: str, table: Mapping[str, Any]) -> str:
    versions = optional_text(path, where, table, "versions") or ""
    try:
        matches(versions, None)
    except ValueError as error:
        wrong(path, where, f"has a malformed version range: {error}")
    return versions
