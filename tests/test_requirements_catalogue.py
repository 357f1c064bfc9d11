# SPDX-License-Identifier: Apache-2.0
"""The catalogue: what is in it, how it is read, and what is said of files that are wrong."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from harness.api.contract.slots import slots
from harness.errors import UsageError
from harness.requirements import catalogue as module
from harness.requirements.catalogue import (
    FOLDER,
    STRENGTHS,
    catalogue,
    grey_area_of,
    grey_areas,
    index,
    load_catalogue,
    strongest,
)


def test_no_requirement_goes() -> None:
    """No requirement goes: the numbers are those that there once were."""
    once = {"DISC": 128, "DISP": 145, "LAY": 81, "API": 81, "GL": 67, "XM": 80, "PL": 58, "VK": 92, "TORT": 10}
    now = Counter(r.group for r in catalogue().values())
    assert {group: number for group, number in once.items() if now[group] < number} == {}
    assert {r.strength for r in catalogue().values()} == {"must", "should", "de-facto", "undefined"}


def test_ids_count_up_in_each_section_without_a_gap() -> None:
    for key in index().section_order:
        numbers = [int(i[-3:]) for i, r in catalogue().items() if r.key == key]
        assert numbers == list(range(1, len(numbers) + 1)), key


def test_an_entry_is_read_as_it_stands() -> None:
    fifo = catalogue()["DISC-LNX-011"]
    assert (fifo.subject, fifo.strength, fifo.source) == ("loader", "should", "KL type check")
    assert fifo.text == "Special files (FIFO, socket, device) with the right suffix must not block discovery."
    assert fifo.fault == "fopen without checking the file type."
    assert fifo.for_loader


def test_prose_wrapped_over_lines_is_one_paragraph() -> None:
    for requirement in catalogue().values():
        for prose in (requirement.text, requirement.source, requirement.check, requirement.fault):
            assert "\n" not in prose
            assert "  " not in prose
            assert prose == prose.strip()


def test_backslashes_survive() -> None:
    assert "SOFTWARE\\Khronos\\OpenCL\\Vendors" in catalogue()["DISC-WIN-001"].text


def test_what_an_entry_waits_for_is_derived() -> None:
    known = catalogue()
    assert known["DISC-LNX-011"].later is None
    assert known["DISP-ARG-001"].later == index().groups["DISP"].later  # from the group
    assert known["LAY-DEI-009"].later == index().later_by_subject["tool"]  # from the subject


def test_a_reason_why_no_check_can_be_had_ends_the_waiting() -> None:
    installer = catalogue()["DISC-WIN-014"]
    assert installer.no_check
    assert installer.later is None


def test_every_section_has_a_title_and_a_group() -> None:
    assert set(index().titles) == set(index().section_order)
    assert len(index().titles) >= 60
    assert index().titles["DISC-LNX"] == "Linux: directory and file format"


def test_strongest() -> None:
    assert strongest(["undefined", "should", "de-facto"]) == "should"
    assert strongest(STRENGTHS) == "must"
    assert strongest([]) == "must"


def test_slots_are_the_dispatch_table() -> None:
    assert [slot.number for slot in slots().values()] == list(range(150))
    exported = Counter(s.class_ for s in slots().values() if s.reached == "export")
    assert exported == {
        "queue": 40,
        "context": 30,
        "program": 10,
        "kernel": 10,
        "memory": 9,
        "device": 6,
        "event": 6,
        "platform": 3,
        "sampler": 3,
        "devices": 1,
        "events": 1,
        "properties": 1,
        "loader": 3,
        "none": 1,
    }
    assert Counter(s.reached for s in slots().values()) == {"export": 124, "query": 10, "windows-query": 16}


def test_slots_say_where_the_vendor_comes_from() -> None:
    finish = slots()["clFinish"]
    assert (finish.number, finish.argument, finish.null) == (47, "command_queue", -36)
    assert not finish.errcode_ret
    assert finish.empty_slot == "undefined"
    image = slots()["clCreateFromGLTexture"]
    assert (image.class_, image.null, image.errcode_ret) == ("context", -34, True)
    assert image.empty_slot == "CL_INVALID_OPERATION"
    assert slots()["clGetPipeInfo"].argument == "pipe"  # its own, not its class's
    svm = slots()["clSVMAlloc"]
    assert (svm.null, svm.null_note) == (None, "returns NULL")


def test_grey_areas_name_requirements() -> None:
    assert [area.number for area in grey_areas()] == list(range(1, 46))
    area = grey_area_of("DISC-LNX-022")
    assert area is not None
    assert area.number == 15
    assert grey_area_of("DISC-LNX-001") is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A catalogue of one section with one requirement, to be broken."""
    (tmp_path / "index.toml").write_text(
        '[group.A]\ntitle = "Group"\nsuite = "discovery"\nsections = ["B"]\nlater = "waits for A"\n'
    )
    (tmp_path / "a-b.toml").write_text(
        'title = "Section"\n\n[A-B-001]\nsubject = "loader"\nstrength = "must"\ntext = """\nOne\nline."""\n'
        'source = "S"\ncheck = "C"\nfault = "F"\n'
    )
    return tmp_path


def test_the_small_catalogue_is_fine(folder: Path) -> None:
    index, requirements = load_catalogue(folder)
    assert index.titles == {"A-B": "Section"}
    assert requirements["A-B-001"].text == "One line."
    assert requirements["A-B-001"].later == "waits for A"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('strength = "must"', "strength = must", "not valid TOML"),
        ('strength = "must"', 'strength = "perhaps"', "[A-B-001] has strength 'perhaps'; it must be one of"),
        ('subject = "loader"', 'subject = "lorry"', "[A-B-001] has subject 'lorry'"),
        ('fault = "F"', "", "[A-B-001] needs `fault`"),
        ('fault = "F"', 'fault = "  "', "[A-B-001] needs `fault`"),
        ('fault = "F"', "fault = 3", "[A-B-001] needs `fault`"),
        ('fault = "F"', 'fault = "F"\nfautl = "G"', "unknown key 'fautl'"),
        ("[A-B-001]", "[A-C-001]", "[A-C-001] is not an ID of A-B"),
        ("[A-B-001]", "[A-B-1]", "[A-B-1] is not an ID of A-B"),
        ('title = "Section"', "", "the head needs `title`"),
        ('title = "Section"', 'title = "Section"\nA-B-002 = 1', "A-B-002 is not a table"),
        (
            'fault = "F"',
            'fault = "F"\n[A-B-001]\nsubject = "loader"',
            "not valid TOML: Cannot declare ('A-B-001',) twice",
        ),
    ],
)
def test_a_malformed_section_is_said_clearly(folder: Path, old: str, new: str, says: str) -> None:
    path = folder / "a-b.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        load_catalogue(folder)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_section_file_is_said_clearly(folder: Path) -> None:
    (folder / "a-b.toml").unlink()
    with pytest.raises(UsageError, match=r"a-b\.toml: cannot be read: No such file"):
        load_catalogue(folder)


def test_a_file_that_is_not_utf8_is_said_clearly(folder: Path) -> None:
    (folder / "a-b.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(UsageError, match="not valid UTF-8 at byte 9"):
        load_catalogue(folder)


def test_a_section_of_no_group_is_noticed(folder: Path) -> None:
    shutil.copy(folder / "a-b.toml", folder / "z-c.toml")
    with pytest.raises(UsageError, match=r"z-c\.toml.*is in no group of index\.toml"):
        load_catalogue(folder)


def test_a_section_that_is_not_listed_follows_those_that_are(folder: Path) -> None:
    (folder / "a-a.toml").write_text((folder / "a-b.toml").read_text().replace("A-B-", "A-A-"))
    index, requirements = load_catalogue(folder)
    assert index.section_order[:2] == ["A-B", "A-A"]
    assert {requirement.section for requirement in requirements.values()} >= {"A", "B"}


def test_grey_areas_cannot_name_unknown_requirements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grey_areas.toml").write_text(
        '[[area]]\nnumber = 7\ntopic = "t"\ntext = "t"\npolicy = "p"\nrequirements = ["DISC-LNX-999"]\n'
    )
    grey_areas()  # the requirements themselves are read before the folder is another one
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    with pytest.raises(UsageError, match="area 7 names the unknown requirement DISC-LNX-999"):
        grey_areas.__wrapped__()


def test_documents_of_all_tags_are_named() -> None:
    for tag in ("S0", "ICD", "LAY", "KL", "OI", "APPA"):
        assert index().documents[tag]
    assert (FOLDER / "index.toml").is_file()
