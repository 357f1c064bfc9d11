# SPDX-License-Identifier: Apache-2.0
"""Writes records as JUnit XML: what counts is a failure, so that a CI system agrees with the exit code.

Each section of the catalogue is a suite. A known deviation passes, with the reason as its output and as a property;
only what is unsupported is skipped; trouble of the harness is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from harness.escaping import xml
from harness.report.layout import section_counts, section_of, section_title
from harness.report.records import CaseResult, Header
from harness.report.whole import write_whole
from harness.requirements.catalogue import catalogue
from harness.requirements.sources import url_of


def write_junit(path: Path, header: Header, results: Sequence[CaseResult], interrupted: bool = False) -> None:
    """Writes the file in one step; OSError if that cannot be.

    A run that was `interrupted`, or whose planned cases do not all have a result, has an error of its own.
    """
    root = ElementTree.Element("testsuites", name="clharness")
    sections: dict[str, list[CaseResult]] = {}
    for result in results:
        sections.setdefault(section_of(result), []).append(result)
    suites = [_suite(root, section_title(key), header, sections[key]) for key in section_counts(results)]
    if interrupted or header.planned not in (None, len(results)):
        suites.append(_whole_run(root, header, len(results), interrupted))
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    root.set("time", f"{sum(r.duration for r in results):.3f}")
    ElementTree.indent(root)
    write_whole(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _suite(root: ElementTree.Element, name: str, header: Header, results: Sequence[CaseResult]) -> ElementTree.Element:
    """Adds the cases of one section."""
    suite = ElementTree.SubElement(root, "testsuite", name=xml(name), timestamp=xml(header.started[:19]))
    properties = ElementTree.SubElement(suite, "properties")
    for subject in (header.subject, *header.used_with):
        for key in ("path", "name", "version", "build_id"):
            _property(properties, f"{subject.kind}.{key}", str(subject.facts.get(key) or ""))
    tags = Counter(_case(suite, result) for result in results)
    suite.set("tests", str(len(results)))
    for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(key, str(tags[tag]))
    suite.set("time", f"{sum(r.duration for r in results):.3f}")
    return suite


def _whole_run(root: ElementTree.Element, header: Header, recorded: int, interrupted: bool) -> ElementTree.Element:
    """The error of a run that is not whole."""
    numbers = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0", "time": "0.000"}
    suite = ElementTree.SubElement(root, "testsuite", {"name": "the whole run", **numbers})
    whole = ElementTree.SubElement(suite, "testcase", classname="clharness", name="the whole run", time="0.000")
    planned = "an unknown number of" if header.planned is None else header.planned
    why = "interrupted: " if interrupted else ""
    message = f"{why}{recorded} of {planned} planned cases have a result"
    ElementTree.SubElement(whole, "error", message=message, type="incomplete")
    return suite


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
    elif result.status in ("expected", "deviation"):
        known = "known deviation" if result.status == "expected" else "deviation that does not count"
        reason = result.reason or f"of a requirement of strength {result.strength}"
        _property(properties, known.replace(" ", "-"), reason)
        ElementTree.SubElement(case, "system-out").text = xml(f"{known}: {result.verdict}: {reason}")
        return None
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
    parts += filter(None, [url_of(result.requirements, result.name)])
    parts += [result.message.strip(), *result.log]
    if result.reproduce:
        parts.append(f"reproduce: {result.reproduce}")
    return "\n".join(part for part in parts if part)


def _property(parent: ElementTree.Element, name: str, value: str) -> None:
    ElementTree.SubElement(parent, "property", name=xml(name), value=xml(value))
