# SPDX-License-Identifier: Apache-2.0
"""The table of how long planted faults take to be found."""

from __future__ import annotations

import os
import shutil

import pytest

from harness.fuzz import builds, proof


def test_median_counts_what_was_not_found() -> None:
    assert proof.median([1.0, 3.0, 2.0]) == 2.0
    assert proof.median([1.0, None, 2.0]) == 2.0
    assert proof.median([1.0, None, None]) is None


def test_row_says_how_many_searches_found_it() -> None:
    times = {"suffix_cut_at_64": {"libFuzzer": [1.5, 2.5, None], "AFL++": [None, None, 4.0]}}
    title, _, row = proof.lines(times, 60)
    assert title == "| fault | target | libFuzzer | AFL++ |"
    assert row == "| suffix_cut_at_64 | limits | 2.5 s (2 of 3) | > 60 s (1 of 3) |"


def test_unknown_fault_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert proof.main(["no_such_fault"]) == 2
    assert "there is no such planted fault" in capsys.readouterr().err


def test_unknown_way_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        proof.main(["--way", "honggfuzz"])
    assert "invalid choice: 'honggfuzz'" in capsys.readouterr().err


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets")
@pytest.mark.parametrize(("way", "swept"), [("libFuzzer", True), ("AFL++", False)])
def test_search_ends_with_the_fault(way: str, swept: bool) -> None:
    """afl-fuzz runs every input that it begins with several times: from the sweep it would come late to its own."""
    kind = proof.WAYS[way].kind
    if shutil.which(kind.compiler) is None:
        pytest.skip(f"{kind.compiler} is not installed")
    build = builds.make(kind, ["limits"], planted=True)
    seconds = proof.search(build, proof.Search("suffix_cut_at_64", way, 30, swept))
    assert seconds is not None and seconds > 0, "it was not found"
