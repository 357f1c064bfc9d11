# SPDX-License-Identifier: Apache-2.0
"""The mutations of whole records, as afl-fuzz makes them: by a library, from what a target says of its inputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import builds, sweep
from harness.fuzz.target_process import environment

pytestmark = pytest.mark.skipif(
    os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets on this machine"
)

# What afl-fuzz does with the library, for one input and another one to splice it with.
_ALONE = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
library.afl_custom_init.restype = ctypes.c_void_p
library.afl_custom_fuzz.restype = ctypes.c_size_t
library.afl_custom_fuzz.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
                                    ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
library.afl_custom_deinit.argtypes = [ctypes.c_void_p]
state = library.afl_custom_init(None, 1)
first, second = map(bytes.fromhex, sys.argv[2:4])
results = []
for _ in range(400):
    out = ctypes.POINTER(ctypes.c_ubyte)()
    size = library.afl_custom_fuzz(state, first, len(first), ctypes.byref(out), second, len(second), 4096)
    results.append(bytes(out[:size]).hex())
library.afl_custom_deinit(state)
print(json.dumps(results))
"""


def _mutated(first: bytes, second: bytes, borders: Path) -> list[bytes]:
    library = builds.afl_mutator()
    assert library is not None, "this build has no mutator for AFL++"
    command = [sys.executable, "-c", _ALONE, str(library), first.hex(), second.hex()]
    done = subprocess.run(
        command, env=environment({"CLHARNESS_FUZZ_BORDERS": str(borders)}), capture_output=True, text=True, check=True
    )
    return [bytes.fromhex(text) for text in json.loads(done.stdout)]


@pytest.mark.parametrize("target_says", [True, False], ids=["the target says where", "nothing says where"])
def test_records_stay_whole(tmp_path: Path, target_says: bool) -> None:
    first = b"".join(sweep.setting(name, 3) for name in ("VENDORS_COUNT", "SUFFIX", "LAYERS_COUNT", "PAIRS"))
    second = b"".join(sweep.setting(name, 5) for name in ("NAME", "LIST", "JUNK"))
    borders = tmp_path / "borders"
    inputs = [tmp_path / "first", tmp_path / "second", tmp_path / "third"]
    for file, data in zip(inputs, (first, second, b""), strict=True):
        file.write_bytes(data)
    if target_says:
        command = [builds.ordinary(["limits"]).replay("limits"), "--loader", build().reference_loader, *inputs]
        variables = environment({"CLHARNESS_FUZZ_BORDERS": str(borders)})
        subprocess.run(list(map(str, command)), env=variables, check=True, capture_output=True)
    results = [data for data in _mutated(first, second, borders) if data]
    if not target_says:
        assert not results
        return
    own = {first[at : at + sweep.RECORD] for at in range(0, len(first), sweep.RECORD)}
    others = {second[at : at + sweep.RECORD] for at in range(0, len(second), sweep.RECORD)}
    records = [{data[at : at + sweep.RECORD] for at in range(0, len(data), sweep.RECORD)} for data in results]
    assert len(results) > 100 and all(record <= own | others for record in records)
    assert any(record & own and record & others for record in records), "nothing was spliced"
    assert any(len(data) < len(first) for data in results) and any(len(data) > len(first) for data in results)
