# SPDX-License-Identifier: Apache-2.0
"""Sources of requirements lead to the texts, and findings to the lines of the catalogue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.requirements import quotations
from harness.requirements.catalogue import FOLDER, catalogue, index
from harness.requirements.sources import links_of, place_of, tags_of, url_of


def test_every_tag_of_a_source_has_a_url() -> None:
    used = {tag for requirement in catalogue().values() for tag in tags_of(requirement.source)}
    assert len(used) > 10
    assert used - set(index().urls) == set()
    assert set(index().urls) <= set(index().documents)
    for url in index().urls.values():
        assert re.fullmatch(r"https://[\w./-]+(#[\w-]+)?", url), url


def test_a_source_leads_to_each_document_that_it_names_and_to_functions() -> None:
    links = links_of('PLAT clGetPlatformIDs errors; ICD "New Enums"')
    assert [link.text for link in links] == ["PLAT clGetPlatformIDs errors", 'ICD "New Enums"']
    assert links[0].url == f"{index().urls['PLAT']}#clGetPlatformIDs"
    assert links[1].url == index().urls["ICD"]
    assert links[1].document.startswith("OpenCL-Docs, api/cl_khr_icd")
    assert tags_of("RT, after PLAT") == ["RT", "PLAT"]
    assert links_of("quality") == []


def test_no_requirement_leads_to_the_front_page_of_a_repository() -> None:
    urls = {link.url for requirement in catalogue().values() for link in links_of(requirement.source)}
    assert len(urls) > 20
    assert not [url for url in urls if re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/?", url)]


def test_a_source_leads_to_the_part_that_it_names() -> None:
    (link,) = links_of("KL README, table of environment variables")
    assert link.url.endswith("/OpenCL-ICD-Loader#table-of-debug-environment-variables")
    assert [link.url.rpartition("/")[2] for link in links_of("KL icd_linux.c; OI man page")] == [
        "icd_linux.c",
        "libOpenCL.7.txt.in",
    ]
    assert set(index().places) <= set(index().urls)


@pytest.mark.parametrize("family", ["clRetain*", "clEnqueueAcquire/ReleaseGLObjects", "clGet...Info"])
def test_a_family_of_functions_is_not_a_function(family: str) -> None:
    """The page has no anchor clRetain."""
    assert links_of(f"RT {family}")[0].url == index().urls["RT"]


def test_the_url_of_a_case_is_that_of_its_first_requirement_that_has_one() -> None:
    without = next(r.id for r in catalogue().values() if not links_of(r.source))
    assert url_of([without, "DISC-LNX-013"]) == index().urls["ICD"]
    assert url_of([without, "NO-SUCH-001"]) is None


@pytest.mark.parametrize("identifier", ["DISC-LNX-001", "DISP-ICD2-001"])
def test_the_place_of_a_requirement_is_its_line(identifier: str) -> None:
    file, line = place_of(catalogue()[identifier])
    assert (FOLDER / file).read_text().splitlines()[line - 1] == f"[{identifier}]"


DOCUMENT = """\
// a comment
[[anchor]]
=== Adding a Library

If {clGetFoo_anchor} gives `{CL_INVALID_VALUE}` for _param_name_, the <<loader, ICD
Loader>> *must* close the library. It goes on to the next.
fname:vkFoo must: not return ename:VK_INCOMPLETE.
"""


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("If clGetFoo gives CL_INVALID_VALUE for param_name, the ICD Loader must close the library.", True),
        ("the ICD Loader must close the library … goes on to the next", True),
        ("goes on to the next … the ICD Loader must close the library", False),
        ("the ICD Loader may close the library", False),
        ("vkFoo must not return VK_INCOMPLETE", True),
        ("a comment", False),
    ],
)
def test_sentence_is_found_whatever_its_marks(sentence: str, says: bool) -> None:
    assert quotations.stands_in(sentence, quotations.words(DOCUMENT)) is says


def test_misquoted_requirement_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.asciidoc").write_text(DOCUMENT)
    right = replace(catalogue()["DISC-ACC-002"], sentence="It goes on to the next.")
    wrong = replace(catalogue()["DISC-ACC-003"], sentence="It goes on to the last.")
    lines = quotations.misquoted([right, wrong], quotations.documents([tmp_path]))
    assert lines == ["DISC-ACC-003: no document says: It goes on to the last."]


def test_sentence_of_two_documents_is_one_of_each_in_turn() -> None:
    """What "…" parts may stand in several documents, those of one after those of another, each in its order."""
    first, second = quotations.words(DOCUMENT), quotations.words("The vendor is ignored. It stays so.")
    assert quotations.stands_in_some("must close the library … goes on … vendor is ignored … stays", [second, first])
    assert quotations.stands_in_some("vendor is ignored … must close the library", [second, first])
    assert not quotations.stands_in_some("must close the library … vendor is lost", [second, first])
    assert not quotations.stands_in_some("must close … stays … vendor is ignored … and stays", [second, first])


def test_name_that_ends_like_a_mark_is_whole() -> None:
    assert quotations.words("{CL_DEVICE_TYPE} is a {cl_device_type_TYPE}") == "cl_device_type is a cl_device_type"
    assert quotations.words("{cl_khr_foo_EXT}, {CL_FOO_EXT_anchor}") == "cl_khr_foo cl_foo_ext"
    assert quotations.words("{CLeglImageKHR_TYPE}") == "cleglimagekhr"


def test_text_of_a_condition_on_one_line_is_text() -> None:
    document = "ifdef::cl_khr_foo[]\nOpenCL C 3.1\nifdef::cl_khr_foo[or {cl_khr_foo_EXT}]\nmust support it\nendif::[]\n"
    assert quotations.words(document) == "opencl c 3 1 or cl_khr_foo must support it"


def test_folder_without_a_document_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no document"):
        quotations.documents([tmp_path])


def test_every_must_quotes_its_text() -> None:
    assert not [r.id for r in catalogue().values() if r.strength == "must" and not r.sentence]
