# SPDX-License-Identifier: Apache-2.0
"""What SARIF 2.1.0 demands of a document, and code-scanning services besides, for the parts that we write."""

from __future__ import annotations

import re
from typing import Any

_URI = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})+")
# Properties that an object may have; the standard allows no others.
_OF_RULE = {"id", "shortDescription", "fullDescription", "help", "helpUri", "properties", "name"}
_OF_RESULT = {
    *("ruleId", "ruleIndex", "level", "kind", "message", "locations", "partialFingerprints", "suppressions"),
    "properties",
}


def assert_sarif(document: dict[str, Any]) -> None:
    """Raises AssertionError where it is none."""
    assert set(document) <= {"$schema", "version", "runs"} and document["version"] == "2.1.0"
    for run in document["runs"]:
        assert set(run) <= {"tool", "results"}
        driver = run["tool"].get("driver", {})
        assert set(driver) <= {"name", "version", "rules", "informationUri"} and driver.get("name")
        identifiers = [rule["id"] for rule in driver["rules"]]
        assert len(set(identifiers)) == len(identifiers), "a rule that is listed twice"
        for rule in driver["rules"]:
            assert set(rule) <= _OF_RULE and rule["shortDescription"]["text"] and rule["help"]["text"]
            assert _URI.fullmatch(rule.get("helpUri", "x").replace("#", "/").replace("?", "/")), rule["helpUri"]
        for result in run["results"]:
            _assert_result(result, identifiers)


def _assert_result(result: dict[str, Any], rules: list[str]) -> None:
    assert set(result) <= _OF_RESULT
    assert 0 <= result["ruleIndex"] < len(rules) and rules[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in ("none", "note", "warning", "error")
    assert result["message"]["text"].strip() and result["locations"]
    for location in result["locations"]:
        place = location["physicalLocation"]
        assert set(place) == {"artifactLocation", "region"} and place["region"]["startLine"] >= 1
        assert _URI.fullmatch(place["artifactLocation"]["uri"]), place
        assert all(set(logical) <= {"fullyQualifiedName", "kind", "name"} for logical in location["logicalLocations"])
    for name, value in result["partialFingerprints"].items():
        assert re.fullmatch(r"\w+/v\d+", name) and isinstance(value, str) and value
    for suppression in result.get("suppressions", []):
        assert suppression["kind"] in ("inSource", "external")
