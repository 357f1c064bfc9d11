# SPDX-License-Identifier: Apache-2.0
"""A driver with known deviations in one case, from --update-expectations to a new one beside them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from harness.build import ROOT
from harness.expectations import load
from harness.requirements.catalogue import catalogue
from harness.sandbox import Sandbox
from harness.tomlfile import read
from tests.forked import clharness

MARKUP = re.compile(r"//|<<|\{\w+\}|Not so here")  # of the texts' sources, and of the tool that fills in what happened
CASE = "test_null_for_an_object_is_the_error_of_its_class[clEnqueueCopyBuffer]"
TAKEN = [
    "command_queue NULL: CL_SUCCESS instead of CL_INVALID_COMMAND_QUEUE",
    "src_buffer NULL: CL_SUCCESS instead of CL_INVALID_MEM_OBJECT",
    "dst_buffer NULL: CL_SUCCESS instead of CL_INVALID_MEM_OBJECT",
]


def run_case(
    library: Path, expected: Path, *options: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    """Runs the case; gives the process and the record."""
    records = expected.with_suffix(".jsonl")
    selection = CASE.replace("[", " and ").removesuffix("]")
    files = ("--expect", expected, "--json", records)
    done = clharness("icd", library, "-j", "1", "-k", selection, *files, *options)
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    return done, next(line for line in lines if line["record"] == "case" and line["case"].endswith(CASE))


def test_a_new_deviation_of_a_driver_is_named_alone(tmp_path: Path) -> None:
    sandbox = Sandbox()
    try:
        library = sandbox.icd("mine", functions={"takes_anything": ["clEnqueueCopyBuffer"]}, validates=True).path
        expected = tmp_path / "mine.toml"
        run_case(library, expected, "--update-expectations")
        entries = {entry.case: entry for entry in load(expected).entries}
        assert entries[CASE].deviates == tuple(TAKEN)

        done, record = run_case(library, expected)
        assert (done.returncode, record["status"]) == (0, "expected"), done.stdout + done.stderr
        assert f"deviation API-HDL-001 {CASE}: to be explained: " in done.stdout

        text = expected.read_text()
        known = text.replace(f'"{TAKEN[1]}"', '""').replace('    "",\n', "").replace(' "",', "")
        assert known != text
        expected.write_text(known)
        done, record = run_case(library, expected)
        assert (done.returncode, record["status"]) == (1, "unexpected"), done.stdout + done.stderr
        assert record["reason"] == f"not listed: {TAKEN[1]}"

        expected.write_text(text.replace(f'"{TAKEN[1]}"', f'"{TAKEN[1]}", "size=0: SIGSEGV"'))
        done, record = run_case(library, expected)
        assert (record["status"], record["reason"]) == ("improved", "no longer: size=0: SIGSEGV")
    finally:
        sandbox.close()


def test_every_deviation_of_a_driver_quotes_its_sentence() -> None:
    """A sentence, not the title of a section, as it is read; what breaks no *must* may say that none demands it."""
    files = sorted((ROOT / "harness" / "expectations" / "icds").glob("*.toml"))
    assert files
    for file in files:
        for entry in read(file)["deviation"]:
            reason, strength = entry["reason"], catalogue()[entry["requirement"]].strength
            where = f"{file.name}: {entry['requirement']} {entry.get('case', '')}: {reason}"
            quoted = re.findall(r'"([^"]*)"', reason)
            silent = strength != "must" and "No sentence of a text has it as a must" in reason
            assert silent or any(len(sentence.split()) > 3 for sentence in quoted), where
            assert len(set(quoted)) == len(quoted), where
            assert not MARKUP.search(reason), where
