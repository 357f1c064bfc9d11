# SPDX-License-Identifier: Apache-2.0
"""Sources of requirements lead to the texts, and findings to the lines of the catalogue."""

from __future__ import annotations

import re

import pytest

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


def test_the_url_of_a_case_is_that_of_its_first_requirement_that_has_one() -> None:
    without = next(r.id for r in catalogue().values() if not links_of(r.source))
    assert url_of([without, "DISC-LNX-013"]) == index().urls["ICD"]
    assert url_of([without, "NO-SUCH-001"]) is None


@pytest.mark.parametrize("identifier", ["DISC-LNX-001", "DISP-ICD2-001"])
def test_the_place_of_a_requirement_is_its_line(identifier: str) -> None:
    file, line = place_of(catalogue()[identifier])
    assert (FOLDER / file).read_text().splitlines()[line - 1] == f"[{identifier}]"
