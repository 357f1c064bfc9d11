# SPDX-License-Identifier: Apache-2.0
"""The mock layer by itself, without any loader: its contract, its log, and its faults."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

import pytest

from harness.api.codes import CL
from harness.api.model import api
from harness.build import build
from harness.sandbox import MockLayer, Sandbox


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


class Loaded:
    """A layer in this process, with a target table whose every entry answers the same number."""

    def __init__(self, layer: MockLayer, entries: int = 150) -> None:
        self.library = ctypes.CDLL(str(layer.path))
        self.called: list[tuple[int, ...]] = []

        def answer(a: int, b: int, c: int) -> int:
            self.called.append((a, b, c))
            return 0x77

        self.target = ctypes.CFUNCTYPE(c_int32, c_uint64, c_uint64, c_uint64)(answer)
        self.targets = (c_void_p * entries)(*[ctypes.cast(self.target, c_void_p)] * entries)
        self.entries = entries
        self.count = c_uint32(0xAAAA)
        self.table = POINTER(c_void_p)()

    def init(self, function: str = "clInitLayer", *more: object) -> int:
        outputs = (byref(self.count), byref(self.table))
        result = self.library[function](c_uint32(self.entries), self.targets, *outputs, *more)
        assert isinstance(result, int)
        return result

    def call(self, function: str, *arguments: int) -> int:
        slot = api().functions[function].slot
        assert slot is not None
        words = [c_uint64(a) for a in (*arguments, 0, 0, 0)[:3]]
        result = ctypes.CFUNCTYPE(c_int32, c_uint64, c_uint64, c_uint64)(self.table[slot] or 0)(*words)
        assert isinstance(result, int)
        return result


def test_a_call_goes_through_and_both_ends_of_it_are_logged(sandbox: Sandbox) -> None:
    layer = Loaded(sandbox.layer("layer"))
    assert layer.init() == 0
    assert layer.count.value == len(api().slots)
    assert layer.call("clFlush", 0x1234) == 0x77
    assert layer.called[0][0] == 0x1234
    log = sandbox.log.of("layer")
    assert log.functions() == ["clInitLayer", "clFlush"]
    assert log.calls("clFlush")[0].arguments == (0x1234,)
    assert log.returns("clFlush")[0].result == 0x77
    assert log.happened("loaded")


def test_every_entry_with_a_signature_is_wrapped(sandbox: Sandbox) -> None:
    layer = Loaded(sandbox.layer("layer"), entries=200)
    assert layer.init() == 0
    known = {f.slot for f in api().functions.values() if f.slot is not None}
    assert len(known) > 100
    wrapped = {slot for slot in range(layer.count.value) if layer.table[slot]}
    assert wrapped == known


def layer_of_20(layer: MockLayer) -> Loaded:
    loaded = Loaded(layer, entries=20)
    assert loaded.init() == 0
    return loaded


def test_a_shorter_table_of_the_loader_is_enough(sandbox: Sandbox) -> None:
    assert layer_of_20(sandbox.layer("short")).count.value == 20
    layer = layer_of_20(sandbox.layer("layer", faults=["table_length_is=150"]))
    assert layer.count.value == 150
    assert layer.call("clFlush") == CL.INVALID_OPERATION  # its slot is beyond the table that the loader gave
    assert sandbox.log.happened("no target", by="layer")
    assert not layer.called


def test_null_arguments_of_init_are_refused(sandbox: Sandbox) -> None:
    layer = Loaded(sandbox.layer("layer"))
    init = layer.library.clInitLayer
    whole = [c_uint32(150), layer.targets, byref(layer.count), byref(layer.table)]
    for missing in (1, 2, 3):
        assert init(*[None if i == missing else value for i, value in enumerate(whole)]) == CL.INVALID_VALUE
    assert layer.count.value == 0xAAAA
    assert init(*whole) == 0


def test_properties_are_refused_unless_there_are_none(sandbox: Sandbox) -> None:
    layer = Loaded(sandbox.layer("layer"))
    function = "clInitLayerWithProperties"
    assert layer.init(function, (c_uint64 * 3)(1, 2, 0)) == CL.INVALID_PROPERTY
    assert not layer.table
    assert layer.init(function, (c_uint64 * 1)(0)) == 0
    assert layer.init(function, None) == 0
    assert layer.library.clDeinitLayer() == 0
    assert sandbox.log.functions() == [function] * 3 + ["clDeinitLayer"]


def test_layer_info_answers_by_the_size_rules(sandbox: Sandbox) -> None:
    info = Loaded(sandbox.layer("layer")).library.clGetLayerInfo
    size, version, text = c_size_t(99), c_uint32(7), (c_char * 16)()
    assert info(CL.LAYER_API_VERSION, c_size_t(4), byref(version), byref(size)) == 0
    assert (version.value, size.value) == (100, 4)
    version.value = 7
    assert info(CL.LAYER_API_VERSION, c_size_t(3), byref(version), None) == CL.INVALID_VALUE
    assert version.value == 7
    assert info(CL.LAYER_NAME, c_size_t(0), None, byref(size)) == 0
    assert size.value == len("layer") + 1
    assert info(CL.LAYER_NAME, size, text, None) == 0
    assert text.value == b"layer"
    assert info(0x4242, c_size_t(16), text, None) == CL.INVALID_VALUE


def test_holes_and_changes_of_the_target_are_noticed(sandbox: Sandbox) -> None:
    layer = Loaded(sandbox.layer("layer"))
    hole = api().functions["clFinish"].slot
    assert hole is not None
    layer.targets[hole] = None
    assert layer.init() == 0
    assert [e.data["detail"] for e in sandbox.log.happened("hole in target")] == ["clFinish"]
    layer.call("clFlush")
    assert not sandbox.log.happened("target changed")
    layer.targets[hole] = layer.targets[hole - 1]
    layer.call("clFlush")
    assert sandbox.log.happened("target changed", by="layer")


def test_functions_are_left_out_changed_and_swallowed(sandbox: Sandbox) -> None:
    only = Loaded(sandbox.layer("only", functions={"only": ["clFlush", "clFinish"]}))
    assert only.init() == 0
    slots = {api().functions[name].slot for name in ("clFlush", "clFinish")}
    assert {slot for slot in range(only.count.value) if only.table[slot]} == slots
    changes = {"swallows": ["clFinish"], "changes_result": ["clFlush"], "changes_arguments": ["clSetKernelArg"]}
    layer = Loaded(sandbox.layer("layer", functions=changes))
    assert layer.init() == 0
    assert layer.call("clFinish", 1) == -7777
    assert not layer.called
    assert layer.call("clFlush", 1) == 0x78
    layer.call("clSetKernelArg", 1, 2, 3)
    assert [called[0] for called in layer.called] == [1, 1]
    assert layer.called[1] == (1, 3, 4)


def symbols(variant: str) -> set[str]:
    library = ctypes.CDLL(str(build().mock_layers[variant]))
    names = ("clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties", "clDeinitLayer")
    return {name for name in names if hasattr(library, name)}


def test_each_variant_exports_what_its_name_says() -> None:
    everything = symbols("layer")
    assert len(everything) == 4
    assert everything - symbols("layer_without_deinit") == {"clDeinitLayer"}
    assert everything - symbols("layer_without_info") == {"clGetLayerInfo"}
    assert symbols("layer_without_init_with_properties_deinit") == {"clGetLayerInfo", "clInitLayer"}
    assert everything - symbols("layer_without_init") == {"clInitLayer"}


@pytest.mark.parametrize(
    ("fault", "result", "count", "has_table"),
    [
        (None, 0, 150, True),
        ("init_fails", CL.OUT_OF_HOST_MEMORY, 0xAAAA, False),
        ("init_fails=-30", CL.INVALID_VALUE, 0xAAAA, False),
        ("init_fails_after_writing", CL.OUT_OF_HOST_MEMORY, 150, True),
        ("init_leaves_outputs", 0, 0xAAAA, False),
        ("table_is_null", 0, 150, False),
        ("table_is_empty", 0, 0, True),
    ],
)
@pytest.mark.parametrize("function", ["clInitLayer", "clInitLayerWithProperties"])
def test_faults_of_init(
    sandbox: Sandbox, function: str, fault: str | None, result: int, count: int, has_table: bool
) -> None:
    layer = Loaded(sandbox.layer("layer", faults=[fault] if fault else []))
    more = [None] if function == "clInitLayerWithProperties" else []
    assert layer.init(function, *more) == result
    assert layer.count.value == count
    assert bool(layer.table) == has_table
    assert sandbox.log.returns(function)[0].result == result % 2**64


def test_faults_that_call_the_target(sandbox: Sandbox) -> None:
    layer = Loaded(sandbox.layer("layer", faults=["init_calls_target", "deinit_calls_target", "deinit_fails=-5"]))
    assert layer.init() == 0
    assert len(layer.called) == 1
    assert layer.library.clDeinitLayer() == -5
    assert len(layer.called) == 2
    assert len(sandbox.log.happened("call of target done")) == 2


def test_faults_of_layer_info(sandbox: Sandbox) -> None:
    version, size = c_uint32(7), c_size_t(4)
    for fault, result, says in [
        ("get_layer_info_fails", CL.OUT_OF_HOST_MEMORY, 7),
        ("api_version_fails=-1", -1, 7),
        ("reports_api_version=200", 0, 200),
    ]:
        info = Loaded(sandbox.layer(fault.partition("=")[0], faults=[fault])).library.clGetLayerInfo
        assert info(CL.LAYER_API_VERSION, size, byref(version), None) == result
        assert version.value == says


def test_constructor_aborts(sandbox: Sandbox) -> None:
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    plain, broken = sandbox.layer("plain"), sandbox.layer("broken", faults=["constructor_aborts"])
    assert subprocess.run([sys.executable, "-c", program, plain.path]).returncode == 0
    assert subprocess.run([sys.executable, "-c", program, broken.path], capture_output=True).returncode == -6
    assert sandbox.log.happened("unloaded", by="plain")
    assert not sandbox.log.happened("unloaded", by="broken")
