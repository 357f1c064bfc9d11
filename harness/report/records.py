# SPDX-License-Identifier: Apache-2.0
"""The records of a run: a header, one line per case and a footer, in memory and as JSON Lines.

The JSON form is published in `schema.json` beside this file; `FORMAT` changes when a reader would break.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from harness import __version__
from harness.deviation import Deviation
from harness.escaping import one_line
from harness.requirements.catalogue import STRENGTHS

FORMAT = 3
_LONGEST = 1e9  # seconds of a case
_REQUIREMENT = re.compile("[A-Z]+-[A-Z0-9]+-[0-9]{3}")

Verdict = Literal["pass", "fail", "crash", "hang", "leak", "unsupported", "error"]
Status = Literal["ok", "expected", "unexpected", "improved", "changed", "flaky", "deviation"]
UnsupportedKind = Literal["loader", "machine"]

VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "crash", "hang", "leak", "unsupported", "error")
STATUSES: tuple[Status, ...] = ("ok", "expected", "unexpected", "improved", "changed", "flaky", "deviation")
# The statuses that make a run end with exit code 1.
COUNTING: frozenset[Status] = frozenset({"unexpected", "improved", "changed", "flaky"})


def now() -> str:
    """The time in UTC, as ISO 8601 with milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def case_name(case: str) -> str:
    """The name by which expectations know a case: what stands after the last `::` of its pytest ID.

    >>> case_name("suites/discovery/test_x.py::TestY::test_z[a::b]")
    'test_z[a::b]'
    """
    head, bracket, parameters = case.partition("[")
    return head.rpartition("::")[2] + bracket + parameters


@dataclass(frozen=True)
class CaseResult:
    """What one case did. The pytest plugin fills in the facts; `harness.report.judge` the judgement."""

    # Facts.
    case: str  # pytest ID
    requirements: tuple[str, ...]
    verdict: Verdict
    outcome: str | None = None  # which of several acceptable outcomes this loader shows
    unsupported: UnsupportedKind | None = None  # who lacks what the case needs; only with that verdict
    capability: str | None = None  # which capability the loader lacks, where it is a named one
    reason: str | None = None  # why unsupported; else `judge` says here why it is expected, or what is not
    message: str = ""  # what was expected and what happened, several lines
    deviations: tuple[Deviation, ...] = ()  # which calls or parameters of a red case deviate, and how
    log: tuple[str, ...] = ()  # the slice of the call log that shows it
    log_times: tuple[int, ...] = ()  # of each of its lines, in nanoseconds since the first; older records have none
    sandbox: str | None = None  # the folder, if it was kept
    files: tuple[str, ...] = ()  # what the sandbox held, one line per file
    environment: Mapping[str, str] = field(default_factory=dict)  # what the case set
    reproduce: str | None = None  # command
    duration: float = 0.0  # seconds
    number: int | None = None  # its place in the selection, from 0: lines come in the order in which cases end
    runs: tuple[str, ...] = ()  # what each run of a case that ran several times did: its verdict and outcome

    # Judgement.
    strength: str = "must"
    expected: tuple[str, ...] = ("pass",)
    expected_outcome: str | None = None
    status: Status = "ok"

    @property
    def name(self) -> str:
        """The case's name without its file."""
        return case_name(self.case)

    @property
    def counts(self) -> bool:
        """Whether this case makes the run fail."""
        return self.status in COUNTING

    @property
    def runs_in_words(self) -> str:
        """What several runs did: "pass 3 times, fail 1 time"."""
        return ", ".join(f"{run} {n} {'time' if n == 1 else 'times'}" for run, n in Counter(self.runs).most_common())

    def to_json(self) -> dict[str, Any]:
        """The record, as harness/report/schema.json has it."""
        # Not by dataclasses.asdict, which copies every text of a log, and takes as long as the rest of a small case.
        record = {"record": "case", **{name: getattr(self, name) for name in self.__dataclass_fields__}}
        record["deviations"] = tuple({"what": one.what, "how": one.how} for one in self.deviations)
        record["environment"] = dict(self.environment)
        return record

    def run_to_json(self, run: int) -> dict[str, Any]:
        """The record of one of several runs of the case, the `run`-th."""
        keys = ("case", "verdict", "outcome", "status", "duration")
        return {"record": "run", "run": run, **{key: getattr(self, key) for key in keys}}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> CaseResult:
        """The inverse of `to_json`; keys that this version does not know are dropped.

        Raises ValueError where the record, which may come from anybody, is not what `to_json` could have given.
        """
        known = {f.name for f in dataclasses.fields(cls)}
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items() if k in known}
        try:
            values["deviations"] = tuple(Deviation(d["what"], d["how"]) for d in record.get("deviations", ()))
            result = cls(**values)
        except (TypeError, KeyError) as error:
            raise ValueError("the record of a case is not complete") from error
        result._check()
        return result

    def _check(self) -> None:
        texts = (self.case, self.verdict, self.status, self.strength, self.message)
        optional = (self.outcome, self.unsupported, self.capability, self.reason, self.sandbox, self.reproduce)
        lists = (self.requirements, self.log, self.files, self.expected, self.runs)
        right = (
            all(isinstance(text, str) for text in texts)
            and all(text is None or isinstance(text, str) for text in (*optional, self.expected_outcome))
            and all(isinstance(a_list, tuple) and all(isinstance(text, str) for text in a_list) for a_list in lists)
            and all(_REQUIREMENT.fullmatch(identifier) for identifier in self.requirements)
            and all(isinstance(text, str) for deviation in self.deviations for text in (deviation.what, deviation.how))
            and isinstance(self.log_times, tuple)
            and all(isinstance(time, int) for time in self.log_times)
            and isinstance(self.environment, Mapping)
            and all(isinstance(text, str) for pair in self.environment.items() for text in pair)
            and isinstance(self.duration, (int, float))
            and abs(self.duration) < _LONGEST
            and (self.number is None or isinstance(self.number, int))
        )
        known = self.verdict in VERDICTS and self.status in STATUSES and self.strength in STRENGTHS
        if not (right and known):
            raise ValueError(f"the record of {self.case!r:.200} is not one of a case")


@dataclass(frozen=True)
class SubjectRecord:
    """A subject as records have it: one form for every kind, so that a new kind changes no reader."""

    kind: str = "loader"  # a key of harness.subject.KINDS
    word: str = "loader"  # what reports call that kind
    facts: Mapping[str, Any] = field(default_factory=dict)  # harness.subject.facts: path, name, version, build_id, ...

    @property
    def name(self) -> str:
        """Its own answer; "" where it gives none."""
        name = str(self.facts.get("name") or "")
        return "" if name == "unknown" else name

    @property
    def version(self) -> str:
        """Its own answer; "" where it gives none."""
        return str(self.facts.get("version") or "")

    @property
    def path(self) -> str:
        """As it was given; "" where nothing was named."""
        return str(self.facts.get("path") or "")

    @property
    def title(self) -> str:
        """The subject in a few words, for headlines: its name and version, else its path."""
        if not self.name:
            return one_line(self.path or f"unknown {self.word}")
        return one_line(f"{'' if self.kind == 'loader' else f'{self.word} '}{self.name} {self.version}".strip())

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> SubjectRecord:
        """The subject that a header's record names; records of old runs have no `word`."""
        return cls(record["kind"], record.get("word", record["kind"]), record["facts"])


@dataclass(frozen=True)
class Header:
    """What a run is about; the first line of the records."""

    subject: SubjectRecord = SubjectRecord()
    used_with: tuple[SubjectRecord, ...] = ()  # what the subject was tested with, such as the loader of a layer
    loaders: tuple[str, ...] = ()  # that a layer or an ICD was used with, by the names that cases and conditions have
    expectations: str | None = None  # path of the expectation file
    arguments: Sequence[str] = ()
    planned: int | None = None  # how many cases were to run; unknown where their selection never came to its end
    selection: Mapping[str, Any] | None = None  # see `selection_of`; of all shards where this run is one
    catalogue: str | None = None  # fingerprint of the requirements
    shard: Mapping[str, int] | None = None  # `index` (from 1) and `of`, where only a part of the selection ran
    repeat: int | None = 1  # how often each case was to run; None: until one is red
    random_seed: int | None = None  # of the order in which cases ran; None: that of their collection
    machine: Mapping[str, Any] = field(default_factory=lambda: machine_facts())
    started: str = field(default_factory=now)

    def to_json(self) -> dict[str, Any]:
        """The record, as harness/report/schema.json has it."""
        own = dataclasses.asdict(self)
        return {"record": "header", "format": FORMAT, "clharness": __version__, **own}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Header:
        """The inverse of `to_json`, for every format there has been; keys that are not known are dropped."""
        known = {f.name for f in dataclasses.fields(cls)} - {"subject", "used_with"}
        values: dict[str, Any] = {k: v for k, v in record.items() if k in known}
        loaders = record.get("loaders")
        values["loaders"] = tuple(map(str, loaders)) if isinstance(loaders, list) else ()
        subject, *others = _subjects(record)
        return cls(subject, tuple(others), **values)


def paired(one: Header, other: Header) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """The subjects of two runs by their kind: what that is called, and the facts of both, {} where one has none."""
    before = {subject.kind: subject for subject in (one.subject, *one.used_with)}
    after = {subject.kind: subject for subject in (other.subject, *other.used_with)}
    none = SubjectRecord()
    return [
        (subject.word, before.get(kind, none).facts, after.get(kind, none).facts)
        for kind, subject in (before | after).items()
    ]


def _subjects(record: Mapping[str, Any]) -> list[SubjectRecord]:
    """The subject of a header, then what it was used with."""
    if "subject" in record:
        return [SubjectRecord.from_json(each) for each in (record["subject"], *record.get("used_with", ()))]
    # Until format 2 each kind had a key of its own, and what a layer or an ICD was used with was "loader".
    words = {"layer": "layer", "icd": "ICD", "loader": "loader"}
    return [SubjectRecord(kind, word, record[kind]) for kind, word in words.items() if record.get(kind) is not None]


@dataclass(frozen=True)
class Footer:
    """How a run ended; its absence shows that the records are truncated."""

    counts: Mapping[str, Mapping[str, int]]  # verdict and status
    exit: int
    complete: bool  # false when the run was interrupted, or stopped at unexpected cases
    planned: int | None = None  # as in the header
    recorded: int = 0  # how many cases have a record; as many as planned where the run is complete
    stale: Sequence[str] = ()  # entries of the expectation file that no case has
    finished: str = field(default_factory=now)

    def to_json(self) -> dict[str, Any]:
        """The record, as harness/report/schema.json has it."""
        return {"record": "footer", **dataclasses.asdict(self)}


def counts_of(results: Sequence[CaseResult]) -> dict[str, dict[str, int]]:
    """How many cases have each verdict and each status, zeros included."""
    counts: dict[str, dict[str, int]] = {
        "verdict": dict.fromkeys(VERDICTS, 0),
        "status": dict.fromkeys(STATUSES, 0),
    }
    for result in results:
        counts["verdict"][result.verdict] += 1
        counts["status"][result.status] += 1
    return counts


def selection_of(cases: Iterable[str]) -> dict[str, Any]:
    """What tells one selection of cases, given by their IDs, from another: how many they are, and a digest."""
    names = sorted(cases)
    digest = hashlib.sha256("\n".join(names).encode(errors="surrogatepass"))
    return {"cases": len(names), "digest": digest.hexdigest()[:32]}


def machine_facts() -> dict[str, Any]:
    """What of the machine may matter to a result. Its name and user are nobody's business."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "python": platform.python_version(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "root": hasattr(os, "geteuid") and os.geteuid() == 0,
        "platform": sys.platform,
    }


def to_line(record: Mapping[str, Any]) -> str:
    """One record as one line of JSON, in ASCII: bytes that are no text (surrogates) stay escaped."""
    return json.dumps(record, ensure_ascii=True, separators=(", ", ": ")) + "\n"
