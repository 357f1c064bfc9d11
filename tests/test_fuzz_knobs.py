# SPDX-License-Identifier: Apache-2.0
"""Every knob of the vendors and layers that fuzz targets make: set alone, its description says so, and a loader that
passes over the vendor for it is not blamed.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.fuzz import builds
from harness.fuzz.target_process import environment
from harness.subject.search import system_loader

ENGINE = ROOT / "fuzz" / "engine"
# What is not an answer that a target chooses: what a vendor is made of, and what happened to a layer.
NOT_CHOSEN = {
    "vendor": {"number", "platform", "platform_count"},
    "platform": {"object", "device", "table", "extensions_answer", "suffix_answer"},
    "layer": {"number", "library", "table", "version_queries", "inits", "inits_with_properties", "deinits", "closed",
              "order", "accepted", "target", "target_before", "target_length", "next"},
    "answer": set(),
}  # fmt: skip
VALUES = {
    "bool": "true",
    "cl_int": "-9999",
    "int": "1",
    "unsigned": "1",
    "cl_uint": "1",
    "const char *": '"other"',
    "set": "{1}",
}
# Where one is not a value of its own: a table that is shorter, and a second platform whose handle is the first one's.
SPECIAL = {"platform.table_length": "120", "platform.extensions": '"cl_khr_icd cl_other"', "layer.table_length": "120"}

Knob = tuple[str, str, str]  # of what, which field, and the C value that is set


def knobs(structure: str, header: str) -> list[Knob]:
    """The fields of a structure that say what it does."""
    text = (ENGINE / header).read_text()
    body = text[text.index(f"struct {structure} {{\n") :].partition("\n};")[0]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    knobs = []
    for kind, name, many in re.findall(r"^ {4}([\w ]+?[ *]+)(\w+)(\[.*\])?;", body, re.M):
        kind = "set" if kind.strip() in ("function_set", "uint8_t") else kind.strip()
        if name not in NOT_CHOSEN[structure] and (kind == "set" or not many):
            value = SPECIAL.get(f"{structure}.{name}", VALUES[kind])
            knobs.append((structure, name, value))
    return knobs


ANSWERS = [(f"{which}_answer.{field}", value) for which in ("extensions", "suffix") for _, field, value in
           knobs("answer", "vendor.h")]  # fmt: skip
VENDOR_KNOBS = [
    *knobs("vendor", "vendor.h"),
    *knobs("platform", "vendor.h"),
    *(("platform", name, value) for name, value in ANSWERS),
    # Loaders ask for it only where it is advertised.
    ("platform", "unloadable_error", '-9999; platform->extensions = "cl_khr_icd cl_khr_icd_unloadable"'),
]
LAYER_KNOBS = knobs("layer", "layer.h")
# Knobs with which nothing is wrong: a loader offers the platform all the same. All others count against it.
FREE = {"errs_late", "also", "name", "suffix", "extensions", "unloadable", "icd2", "bare", "table_length", "missing",
        "device_count"}  # fmt: skip
# Knobs that break the contract: no vendor and no layer of a legal input has them.
VIOLATIONS = {"null_in_list", "count_unset", "count_more", "list_fewer", "longer", "unterminated", "unset", "same_as"}

TARGET = """
#include "calls.h"
#include "layer.h"
#include <string.h>

const char *const target_name = "knobs";

static void set(unsigned number, struct vendor *vendor, struct layer *layer)
{
    struct platform *platform = &vendor->platform[1];
    switch (number) {
@CASES@
    }
    (void)platform;
    (void)layer;
}

void target_run(void)
{
    unsigned number = take_byte();
    struct vendor *vendor = vendor_plain(0);
    vendor->platform_count = 2;
    layers_clear();
    struct layer *layer = layer_plain(0);
    set(number, vendor, layer);
    vendor_make(vendor);
    vendor_library(vendor, "/lib/liba.so");
    world_file("/etc/OpenCL/vendors/a.icd", FILE_REGULAR, "/lib/liba.so", 12);
    vendor_describe(vendor);
    layer_describe(layer);
    layer_make(layer, "/lib/liblayer.so");
    world_variable("OPENCL_LAYERS", "/lib/liblayer.so");
    bool faultless = vendor_is_listed(vendor) && platform_is_faultless(&vendor->platform[1]);
    struct offered offered = platforms_offered();
    bool is_offered = false;
    for (cl_uint i = 0; i < offered.count; i++) {
        is_offered |= offered.platform[i] == &vendor->platform[1].object[HANDLE_cl_platform_id];
    }
    describe("faultless: %d, offered: %d", faultless, is_offered);
}
"""


def case(number: int, knob: Knob) -> str:
    structure, field, value = knob
    one_byte = f"{structure}->{field}[0] = 1;"
    action = one_byte if value == "{1}" else f"{structure}->{field} = {value};"
    return f"    case {number}:\n        {action}\n        break;"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target that sets the knob whose number its input is; 0 is none."""
    folder = tmp_path_factory.mktemp("knobs")
    cases = "\n".join(case(number, knob) for number, knob in enumerate([*VENDOR_KNOBS, *LAYER_KNOBS], 1))
    (folder / "knobs.c").write_text(TARGET.replace("@CASES@", cases))
    cache = (build().folder / "CMakeCache.txt").read_text()
    headers = re.findall(r"^CLHARNESS_OPENCL_HEADERS:PATH=(.+)$", cache, re.M)
    options = [f"-I{path}" for path in (ENGINE, ROOT / "harness/api/include", build().folder / "harness/api", *headers)]
    libraries = [build().folder / "fuzz/libclharness_fuzz_engine.a", build().folder / "harness/api/libclharness_api.a"]
    sources = [folder / "knobs.c", ENGINE / "replay.c"]
    command = [build().compiler, "-g", *options, *sources, *libraries, "-lpthread", "-ldl", "-o", folder / "knobs"]
    subprocess.run(list(map(str, command)), check=True)
    return folder / "knobs"


def described(program: Path, number: int, folder: Path, loader: Path | str) -> list[str]:
    (folder / "input").write_bytes(bytes([number]))
    command: Sequence[str] = [str(program), "--loader", str(loader), "--describe", str(folder / "input")]
    done = subprocess.run(command, env=environment({}), capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, -signal.SIGABRT) and "finding: wrong" not in done.stderr, done.stderr
    return re.findall(r"^clharness-fuzz: input: (.*)$", done.stderr, re.M)


def loaders() -> list[Path]:
    """The reference loader, and those of others that this machine has."""
    packaged = build().folder / "loaders/root/usr/lib/x86_64-linux-gnu/libOpenCL.so.1"
    own = system_loader()
    return [build().reference_loader, *([own] if own else []), *([packaged] if packaged.exists() else [])]


def test_there_are_knobs() -> None:
    names = {name for _, name, _ in VENDOR_KNOBS}
    assert names >= {"unloadable_error", "set_data_error", "count_error", "missing", "extensions_answer.unset"}
    assert {name for _, name, _ in LAYER_KNOBS} >= {"hides_info", "count_more", "missing", "answers", "init_calls"}


def test_ordinary_vendor_is_faultless_and_offered(program: Path, tmp_path: Path) -> None:
    for loader in loaders():
        assert described(program, 0, tmp_path, loader)[-1] == "faultless: 1, offered: 1", loader


@pytest.mark.parametrize("number", range(1, len(VENDOR_KNOBS) + 1), ids=lambda n: ".".join(VENDOR_KNOBS[n - 1][:2]))
def test_knob_of_a_vendor_is_described_and_counted(program: Path, tmp_path: Path, number: int) -> None:
    _, name, _ = VENDOR_KNOBS[number - 1]
    for loader in loaders() if name.rpartition(".")[2] not in VIOLATIONS else loaders()[:1]:
        plain = described(program, 0, tmp_path, loader)
        words = described(program, number, tmp_path, loader)
        assert words[:-1] != plain[:-1], "nothing is said of it"
        if name in FREE:
            assert words[-1] == "faultless: 1, offered: 1", f"{loader} refuses it"
        else:
            assert words[-1].startswith("faultless: 0"), f"{loader} may refuse it, and would be blamed"


@pytest.mark.parametrize("number", range(len(LAYER_KNOBS)), ids=lambda n: LAYER_KNOBS[n][1])
def test_knob_of_a_layer_is_described(program: Path, tmp_path: Path, number: int) -> None:
    loader = build().reference_loader
    words = described(program, len(VENDOR_KNOBS) + 1 + number, tmp_path, loader)
    assert words[:-1] != described(program, 0, tmp_path, loader)[:-1], "nothing is said of it"


def test_place_of_a_vendor_file_is_described(tmp_path: Path) -> None:
    """Each bit of the first byte, alone."""
    program = builds.ordinary(["icd_file"]).replay("icd_file")
    texts = [described(program, number, tmp_path, build().reference_loader) for number in (0, 1, 2, 4, 8, 16, 32, 64)]
    assert len(set(map(tuple, texts))) == len(texts)
