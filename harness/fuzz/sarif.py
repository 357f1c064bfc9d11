# SPDX-License-Identifier: Apache-2.0
"""The findings of a campaign as SARIF 2.1.0, which code-scanning services read."""

from __future__ import annotations

import re
from typing import Any

from harness.escaping import printable
from harness.fuzz.campaign import Campaign
from harness.fuzz.findings import Finding
from harness.fuzz.subject import FuzzSubject
from harness.report.sarif import physical, sarif_of

_KINDS = {
    "crash": "A crash.",
    "hang": "No end in sight.",
    "leak": "Memory, files or libraries that are lost.",
    "environment": "Variables of the process that are changed.",
    "difference": "Another answer than the loader beside it gives.",
    "wrong": "An answer that the specification does not allow.",
}
_SOURCE = re.compile(r" at (\S.*?):(\d+)(?::(\d+))?(?:, in |$)")


def sarif(campaign: Campaign, subject: FuzzSubject) -> dict[str, Any]:
    """What still happens, by target and kind; the key of a finding tells it from others between campaigns."""
    rules = sorted({_rule(finding) for finding in campaign.findings})
    described = [
        {
            "id": rule,
            "shortDescription": {"text": f"{_KINDS[kind]} Seen by fuzzing {target}."},
            "help": {"text": f"{_KINDS[kind]} `clharness fuzz --list` says what {target} tries."},
        }
        for rule in rules
        for _, target, kind in [rule.split("/")]
    ]
    return sarif_of(described, [_result(one, rules.index(_rule(one)), subject) for one in campaign.findings])


def _rule(finding: Finding) -> str:
    return f"fuzz/{finding.target}/{finding.kind}"


def _result(finding: Finding, rule: int, subject: FuzzSubject) -> dict[str, Any]:
    words = printable("\n".join(finding.words()))
    return {
        "ruleId": _rule(finding),
        "ruleIndex": rule,
        "level": "error" if finding.stable else "warning",
        "message": {"text": printable(finding.sentence) + (f"\nInput: {words}" if words else "")},
        "locations": [
            {
                "physicalLocation": _place(finding, subject),
                "logicalLocations": [{"fullyQualifiedName": printable(finding.place), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"clharnessFinding/v1": printable(f"{finding.target} {finding.key}")},
        "properties": {"stable": finding.stable, "reproduce": printable(f"{finding.folder}/reproduce.sh")},
    }


def _place(finding: Finding, subject: FuzzSubject) -> dict[str, Any]:
    """The line of the source where debug information has it, else the library."""
    match = _SOURCE.search(finding.source)
    return physical(match[1], int(match[2])) if match else physical(subject.path.name)
