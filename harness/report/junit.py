# SPDX-License-Identifier: Apache-2.0
"""Writes records as JUnit XML: what counts is a failure, so that a CI system agrees with the exit code.

Accepted deviations and unsupported cases are skipped, with the reason; trouble of the harness is an error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from harness.escaping import xml
from harness.report.records import CaseResult, Header
from harness.requirements.catalogue import catalogue


def write_junit(path: Path, header: Header, results: Sequence[CaseResult], interrupted: bool = False) -> None:
    """Writes the file in one step; OSError if that cannot be.

    A run that was `interrupted`, or whose planned cases do not all have a result, has an error of its own.
    """
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="clharness", timestamp=header.started[:19])
    properties = ElementTree.SubElement(suite, "properties")
    for subject in (header.subject, *header.used_with):
        for key in ("path", "name", "version", "build_id"):
            _property(properties, f"{subject.kind}.{key}", str(subject.facts.get(key) or ""))
    tags = {"failure": 0, "error": 0, "skipped": 0}
    for result in results:
        tag = _case(suite, result)
        if tag:
            tags[tag] += 1
    incomplete = interrupted or header.planned not in (None, len(results))
    if incomplete:
        whole = ElementTree.SubElement(suite, "testcase", classname="clharness", name="the whole run", time="0.000")
        planned = "an unknown number of" if header.planned is None else header.planned
        why = "interrupted: " if interrupted else ""
        message = f"{why}{len(results)} of {planned} planned cases have a result"
        ElementTree.SubElement(whole, "error", message=message, type="incomplete")
        tags["error"] += 1
    totals = {
        "tests": str(len(results) + incomplete),
        "failures": str(tags["failure"]),
        "errors": str(tags["error"]),
        "skipped": str(tags["skipped"]),
        "time": f"{sum(r.duration for r in results):.3f}",
    }
    suite.attrib.update(totals)
    root.attrib.update(totals)
    ElementTree.indent(root)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _case(suite: ElementTree.Element, result: CaseResult) -> str | None:
    """Adds one case; gives the tag that says that it did not simply pass."""
    file, _, rest = result.case.partition("::")
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=xml(file.removesuffix(".py").replace("/", ".")),
        name=xml(rest or file),
        time=f"{result.duration:.3f}",
    )
    properties = ElementTree.SubElement(case, "properties")
    for identifier in result.requirements:
        _property(properties, "requirement", identifier)
    for key, value in (("strength", result.strength), ("verdict", result.verdict), ("status", result.status)):
        _property(properties, key, value)
    if result.outcome is not None:
        _property(properties, "outcome", result.outcome)

    if result.verdict == "error":
        tag, message = "error", "the harness failed"
    elif result.counts:
        tag, message = "failure", _headline(result)
    elif result.verdict == "unsupported":
        tag, message = "skipped", f"unsupported: {result.reason or 'no reason given'}"
    elif result.status == "expected":
        tag, message = "skipped", f"expected {result.verdict}: {result.reason or 'no reason given'}"
    elif result.status == "deviation":
        tag, message = "skipped", f"{result.verdict} of a requirement of strength {result.strength}"
    else:
        return None
    element = ElementTree.SubElement(case, tag, message=xml(message))
    if tag != "skipped":
        element.set("type", result.verdict)
    element.text = xml(_details(result))
    return tag


def _headline(result: CaseResult) -> str:
    if result.status == "flaky":
        return f"flaky: {result.runs_in_words}"
    first = result.message.strip().partition("\n")[0]
    return f"{result.status} {result.verdict}: {first}" if first else f"{result.status} {result.verdict}"


def _details(result: CaseResult) -> str:
    known = catalogue()
    parts = [f"{i}: {known[i].text} ({known[i].source})" for i in result.requirements if i in known]
    parts += [result.message.strip(), *result.log]
    if result.reproduce:
        parts.append(f"reproduce: {result.reproduce}")
    return "\n".join(part for part in parts if part)


def _property(parent: ElementTree.Element, name: str, value: str) -> None:
    ElementTree.SubElement(parent, "property", name=name, value=xml(value))
