# SPDX-License-Identifier: Apache-2.0
"""What was found in a subject as SARIF 2.1.0, which code-scanning services read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness import __version__
from harness.escaping import printable
from harness.report.causes import actual
from harness.report.ending import Ending
from harness.report.records import CaseResult
from harness.report.whole import write_whole
from harness.requirements.catalogue import Requirement, catalogue
from harness.requirements.sources import url_of

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"must": "error", "should": "warning", "de-facto": "warning", "undefined": "note"}
_RED = ("fail", "crash", "hang", "leak")


def write_sarif(path: Path, document: dict[str, Any]) -> None:
    """Writes the file in one step; OSError if that cannot be."""
    write_whole(path, (json.dumps(document, indent=1) + "\n").encode())


def sarif(ending: Ending) -> dict[str, Any]:
    """The red cases as results; those that are known are suppressed, with the reason on record."""
    red = [result for result in ending.results if result.verdict in _RED]
    rules = list(dict.fromkeys(_rule_of(result) for result in red))
    results = [_result(result, rules.index(_rule_of(result)), ending) for result in red]
    return sarif_of([_rule(identifier) for identifier in rules], results)


def sarif_of(rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of one run."""
    driver = {"name": "clharness", "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _rule_of(result: CaseResult) -> str:
    return _plain(result.requirements[0]) if result.requirements else "none"


def _rule(identifier: str) -> dict[str, Any]:
    requirement: Requirement | None = catalogue().get(identifier)
    text = requirement.text if requirement else "A check that names no requirement of the catalogue."
    source = f" Source: {requirement.source}" if requirement else ""
    rule: dict[str, Any] = {"id": identifier, "shortDescription": {"text": text}, "help": {"text": text + source}}
    if requirement:
        rule["properties"] = {"strength": requirement.strength}
        if url := url_of([identifier]):
            rule["helpUri"] = url
    return rule


def physical(path: str, line: int = 1) -> dict[str, Any]:
    """A place in a file: below the current folder as services want it, relative to that; they all want a line."""
    return {"artifactLocation": {"uri": _uri(Path(path))}, "region": {"startLine": max(line, 1)}}


def _uri(path: Path) -> str:
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_uri() if path.is_absolute() else quote(str(path).encode(errors="surrogateescape"))


def _result(result: CaseResult, rule: int, ending: Ending) -> dict[str, Any]:
    about: dict[str, Any] = {
        "ruleId": _rule_of(result),
        "ruleIndex": rule,
        "level": _LEVELS.get(result.strength, "warning"),
        "message": {"text": _plain(f"{result.verdict}: {actual(result)}")},
        "locations": [
            {
                # The library's name: where it lies on this machine says nothing to a service.
                "physicalLocation": physical(_plain(Path(ending.header.subject.path).name) or "subject"),
                "logicalLocations": [{"fullyQualifiedName": _plain(result.case), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"clharnessCase/v1": _plain(result.case)},
        "properties": {"verdict": result.verdict, "status": result.status, "reproduce": _plain(result.reproduce or "")},
    }
    if result.status == "expected":
        about["suppressions"] = [{"kind": "external", "justification": _plain(result.reason or "")}]
    return about


def _plain(text: str) -> str:
    return printable(text)
