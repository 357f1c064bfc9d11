# SPDX-License-Identifier: Apache-2.0
"""The report of an ICD's release: what it is made of, in both forms, from the records of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report import CaseResult, Header, SubjectRecord
from harness.report.records import Footer, counts_of, to_line
from harness.run import release

RED = CaseResult(
    "suites/dispatch/icd/test_a.py::test_size[clCreateBuffer]",
    ("API-ARG-001",),
    "fail",
    message="Size 0 is refused.\nsize=0: answered CL_SUCCESS <b>",
    status="unexpected",
    strength="must",
    number=0,
)
GREEN = CaseResult("suites/dispatch/icd/test_a.py::test_query[clGetDeviceInfo]", ("API-QRY-001",), "pass", number=1)
WAIVED = """
loader = "Some"
[[deviation]]
requirement = "API-ARG-001"
case = "test_size*"
verdict = "fail"
reason = "known"
owner = "Jane"
bug = "BUG-12"
expires = 2020-01-01
"""


def records(path: Path, *results: CaseResult, version: str = "2.0", expectations: Path | None = None) -> Path:
    facts = {
        "name": "Some",
        "version": version,
        "real_path": "/opt/libsome.so",
        "build_id": "abc123",
        "devices": [{"platform": "P", "name": "D", "version": "OpenCL 3.0 some", "driver": "7.1"}],
    }
    header = Header(
        SubjectRecord("icd", "ICD", facts),
        expectations=str(expectations) if expectations else None,
        arguments=["clharness", "icd", "x"],
        planned=len(results),
        loaders=("reference", "Khronos"),
        catalogue="fingerprint",
    )
    bad = any(result.counts for result in results)
    footer = Footer(counts_of(results), int(bad), True, len(results), len(results))
    lines = [header.to_json(), *(result.to_json() for result in results), footer.to_json()]
    path.write_text("".join(map(to_line, lines)))
    return path


def reports(folder: Path, *, previous: Path | None = None, expectations: Path | None = None) -> tuple[str, str]:
    file = records(folder / "records.jsonl", RED, GREEN, expectations=expectations)
    release.write(folder, file, previous)
    return (folder / "release.md").read_text(), (folder / "release.html").read_text()


def test_report_says_what_was_tested_and_found(tmp_path: Path) -> None:
    text, page = reports(tmp_path)
    for output in ("NOT as expected", "/opt/libsome.so", "abc123", "driver 7.1", "fingerprint", "clharness icd x"):
        assert output in text
        assert output in page
    assert "| API-ARG-001 | must | FAILED | 1 fail |" in text
    assert "| API-QRY-001 | must | passed | 1 pass |" in text
    assert "1 findings." in text


def test_text_of_a_subject_is_harmless_on_the_page(tmp_path: Path) -> None:
    text, page = reports(tmp_path)
    assert "<b>" not in text + page
    assert "&lt;b&gt;" in page


def test_waiver_has_owner_bug_and_day_and_is_seen_to_expire(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text(WAIVED)
    text, _ = reports(tmp_path, expectations=file)
    assert "1 waivers, 1 of them expired." in text
    assert r"| API-ARG-001 | test\_size\* | 1 | EXPIRED | Jane | BUG-12 | 2020-01-01 | known |" in text


@pytest.mark.parametrize(("loader", "waivers"), [("Khronos", 1), ("OpenCL", 0)])
def test_waiver_for_a_loader_holds_where_that_one_was_used(tmp_path: Path, loader: str, waivers: int) -> None:
    file = tmp_path / "some.toml"
    file.write_text(WAIVED + f'when = ["loader {loader}"]\n')
    text, _ = reports(tmp_path, expectations=file)
    assert f"{waivers} waivers, " in text


def test_release_before_is_compared(tmp_path: Path) -> None:
    good = CaseResult(RED.case, RED.requirements, "pass", number=0)
    before = records(tmp_path / "before.jsonl", good, GREEN, version="1.0")
    text, _ = reports(tmp_path, previous=before)
    assert "ICD Some 1.0 -&gt; ICD Some 2.0: 1 broken" in text
    assert "| broken | size" in text or r"| broken | test\_size" in text


def test_coverage_names_functions_and_queries(tmp_path: Path) -> None:
    text, _ = reports(tmp_path)
    assert "| clCreateBuffer | 1 | 1 fail | 15 |" in text
    assert r"| clGetDeviceInfo | CL\_DEVICE\_NAME | asked |" in text
    assert r"| clGetKernelInfo | CL\_KERNEL\_FUNCTION\_NAME | not asked |" in text


def test_page_needs_nothing_else(tmp_path: Path) -> None:
    _, page = reports(tmp_path)
    assert "src=" not in page
    assert "<link" not in page
    assert "@media print" in page


def test_records_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("no\n")
    with pytest.raises(UsageError):
        release.write(tmp_path, tmp_path / "records.jsonl", None)
