# SPDX-License-Identifier: Apache-2.0
"""The page on how real ICDs answer the contract: a row that none of them agrees with is listed, and has to be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci.contract import table
from harness.api.contract import calls, rules

FUNCTION, ROW = "clSetKernelExecInfo", "param_name=0x7fff"


def survey(path: Path, name: str, *answers: tuple[str, str, str, bool | None]) -> Path:
    """The file of an ICD that answered so to rules: function, row, answer, whether that is as expected."""
    listed = [
        {
            "table": "rules",
            "function": f,
            "row": row,
            "expected": "CL_INVALID_VALUE",
            "answer": answer,
            "agrees": agrees,
        }
        for f, row, answer, agrees in answers
    ]
    about: dict[str, Any] = {"name": name, "platform": f"platform {name}", "version": "1.2", "answers": listed}
    file = path / f"{name}.json"
    file.write_text(json.dumps(about))
    return file


def written(path: Path, *surveys: Path) -> tuple[int, str]:
    """The exit code, and the section of rows that no ICD agrees with."""
    out = path / "contract.md"
    code = table.main([*map(str, surveys), "--out", str(out)])
    return code, out.read_text().split("\n## ")[1]


def test_a_row_that_one_icd_agrees_with_is_not_listed(tmp_path: Path) -> None:
    a = survey(tmp_path, "a", ("clCreatePipe", "pipe_packet_size=0", "CL_SUCCESS", False))
    b = survey(tmp_path, "b", ("clCreatePipe", "pipe_packet_size=0", "CL_INVALID_PIPE_SIZE", True))
    assert written(tmp_path, a, b) == (0, "Rows that no real ICD agrees with\n\nNone.\n")


def test_a_row_that_no_icd_agrees_with_fails_until_it_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = survey(tmp_path, "a", ("clCreatePipe", "pipe_packet_size=0", "CL_SUCCESS", False))
    b = survey(tmp_path, "b", ("clCreatePipe", "pipe_packet_size=0", "a pipe is not there", None))
    code, section = written(tmp_path, a, b)
    assert code == 1
    assert "| clCreatePipe | `pipe_packet_size=0` | CL_INVALID_VALUE | CL_SUCCESS (a) | RT Creating Pipe" in section
    assert "not read yet" in section
    assert "clCreatePipe pipe_packet_size=0 -> CL_INVALID_VALUE, but CL_SUCCESS" in capsys.readouterr().out


def test_a_row_that_was_read_is_listed_with_what_was_found(tmp_path: Path) -> None:
    code, section = written(tmp_path, survey(tmp_path, "a", (FUNCTION, ROW, "CL_SUCCESS", False)))
    assert code == 0
    assert table.readings()[FUNCTION, ROW] in section


def test_readings_are_of_rows_that_exist() -> None:
    known = {(rule.function, str(rule)) for rule in (*rules.rules(), *rules.states())}
    known |= {(name, " ".join(recipe.words)) for name, recipe in calls.recipes().items()}
    assert table.readings().keys() - known == set()
