# SPDX-License-Identifier: Apache-2.0
"""Lengths that fuzz targets draw: small ones often, and all around the powers of two where limits are."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from harness.build import ROOT, build
from harness.fuzz.target_process import environment

ENGINE = ROOT / "fuzz" / "engine"
EDGES = {2**power + step for power in range(2, 13) for step in (-1, 0, 1)}

TARGET = """
#include "engine.h"
#include <string.h>
const char *const target_name = "lengths";
bool target_needs_loader = false;
void target_run(void)
{
    unsigned most = take_byte() ? 5000 : 100;
    size_t length = strlen(take_long_text(most));
    describe("%zu of %u", length, most);
}
"""


def test_lengths_are_small_or_at_the_edges(tmp_path: Path) -> None:
    (tmp_path / "lengths.c").write_text(TARGET)
    cache = (build().folder / "CMakeCache.txt").read_text()
    headers = re.findall(r"^CLHARNESS_OPENCL_HEADERS:PATH=(.+)$", cache, re.M)
    options = [f"-I{path}" for path in (ENGINE, ROOT / "harness/api/include", build().folder / "harness/api", *headers)]
    libraries = [build().folder / "fuzz/libclharness_fuzz_engine.a", build().folder / "harness/api/libclharness_api.a"]
    sources = [tmp_path / "lengths.c", ENGINE / "replay.c"]
    program = [build().compiler, *options, *sources, *libraries, "-lpthread", "-ldl", "-o", tmp_path / "lengths"]
    subprocess.run(list(map(str, program)), check=True)
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for first in (0, 1):
        for byte in range(256):
            (inputs / f"{first}-{byte:03}").write_bytes(bytes([first, byte, byte, byte]))
    done = subprocess.run(
        [tmp_path / "lengths", "--describe", inputs], env=environment({}), capture_output=True, text=True, check=True
    )
    lengths = [(int(length), int(most)) for length, most in re.findall(r"input: (\d+) of (\d+)$", done.stderr, re.M)]
    assert len(lengths) == 512 and all(length <= most for length, most in lengths)
    drawn = Counter(length for length, most in lengths if most == 5000)
    assert set(drawn) >= EDGES
    assert sum(count for length, count in drawn.items() if length <= 16) > 96
