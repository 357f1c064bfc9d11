# SPDX-License-Identifier: Apache-2.0
"""The library of a layer: what it exports, and what it takes from elsewhere (LAY-API, LAY-INI-027)."""

from __future__ import annotations

from harness.check import CL, DEINIT, INIT, INIT_WITH_PROPERTIES, LAYER_INFO, Layer, Sandbox, requirement


@requirement("LAY-API-001")
def test_layer_exports_info_and_init(layer: Layer) -> None:
    """A layer exports clGetLayerInfo and clInitLayer; loaders discard a library that lacks one of them."""
    missing = [name for name in (LAYER_INFO, INIT) if not layer.has(name)]
    assert not missing


@requirement("LAY-API-006")
def test_deinit_comes_with_its_init(layer: Layer) -> None:
    """A layer that exports clDeinitLayer exports clInitLayerWithProperties: without it nobody calls the former."""
    layer.require(DEINIT)
    assert layer.has(INIT_WITH_PROPERTIES)


@requirement("LAY-DEI-011")
def test_layer_is_initialised_and_deinitialised(layer: Layer, sandbox: Sandbox) -> None:
    """A layer is initialised, is deinitialised with success where it can be, and the process ends as usual."""
    layer.require(INIT_WITH_PROPERTIES)
    with layer.open(sandbox) as session:
        answer = session.initialize(INIT_WITH_PROPERTIES)
        assert answer.result == 0
        if layer.has(DEINIT):
            assert session.layer_call(DEINIT) == CL.SUCCESS
        session.close()
        assert session.quit() == 0


@requirement("LAY-INI-027")
def test_layer_imports_no_function_of_a_loader(layer: Layer) -> None:
    """No function of OpenCL is taken from another library: all calls go through the target's table."""
    assert layer.facts.functions
    assert not layer.facts.outside
