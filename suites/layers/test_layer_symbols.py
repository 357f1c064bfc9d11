# SPDX-License-Identifier: Apache-2.0
"""What makes a library a layer: its functions, and the version that it reports (LAY-API, LAY-INF)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    CL,
    DEINIT,
    INIT,
    INIT_WITH_PROPERTIES,
    LEGACY,
    SCHEMES,
    Loader,
    MockLayer,
    Sandbox,
    build,
    requirement,
    use_layers,
    use_scheme,
)

POSITIONS = ("front", "middle", "back")


def around(sandbox: Sandbox, tested: MockLayer, position: str) -> list[str]:
    """A chain of the tested layer and two good ones; gives the good ones in the order of calls."""
    good = [sandbox.layer("good1"), sandbox.layer("good2")]
    chain = list(good)
    chain.insert(POSITIONS.index(position), tested)
    use_layers(sandbox, chain)
    return [layer.name for layer in good]


def passed(sandbox: Sandbox) -> list[str]:
    """The layers that the application's last clGetPlatformInfo went through."""
    log = sandbox.log.during("clGetPlatformInfo")[-1]
    return [e.who for e in log.calls("clGetPlatformInfo") if e.who not in ("application", "a")]


def chain_with(good: list[str], position: str) -> list[str]:
    names = list(good)
    names.insert(POSITIONS.index(position), "tested")
    return names


def check_variant(loader: Loader, sandbox: Sandbox, variant: str, scheme: str) -> list[str]:
    """A library without clGetLayerInfo or without the init function of the scheme is discarded.

    The layers around it work; a layer that has what is needed is used. Gives the init functions that are to be called.
    """
    used = use_scheme(loader, sandbox, scheme)
    lacks = variant.removeprefix("layer").removeprefix("_without")
    has = {INIT_WITH_PROPERTIES: "_init_with_properties" not in lacks}
    has[INIT] = "_init" not in lacks.replace("_init_with_properties", "")
    expected = has[used.init] and "_info" not in lacks
    sandbox.vendor("a")
    tested = sandbox.layer("tested", variant=variant)
    good = around(sandbox, tested, "middle")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        if expected and not has[INIT]:
            expected = "tested" in passed(sandbox)  # LAY-API-004: both are right
        if used.init == INIT_WITH_PROPERTIES and has[INIT] and not has[used.init] and "_info" not in lacks:
            expected = "tested" in passed(sandbox)  # LAY-API-003: a loader may take it for a layer of the older scheme
        assert passed(sandbox) == (chain_with(good, "middle") if expected else good)
    calls = [name for name in sandbox.log.of("tested").functions() if name in (INIT, INIT_WITH_PROPERTIES)]
    assert bool(calls) == expected
    return [used.init if has[used.init] else INIT] if expected else []


@requirement("LAY-API-002")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("variant", sorted(build().mock_layers))
def test_library_without_the_functions_of_a_layer_is_discarded(
    loader: Loader, sandbox: Sandbox, variant: str, scheme: str
) -> None:
    """A library without clGetLayerInfo or without the init function of the scheme is discarded, and others are used."""
    check_variant(loader, sandbox, variant, scheme)


@requirement("LAY-API-005")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("variant", sorted(build().mock_layers))
def test_one_init_function_of_a_layer_is_called(loader: Loader, sandbox: Sandbox, variant: str, scheme: str) -> None:
    """Of a layer's two init functions that of the scheme is called, once; of a library that is no layer none."""
    expected = check_variant(loader, sandbox, variant, scheme)
    assert [c for c in sandbox.log.of("tested").functions() if c in (INIT, INIT_WITH_PROPERTIES)] == expected


@requirement("LAY-API-003")
def test_layer_of_the_first_version_is_used(loader: Loader, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """A layer that exports clGetLayerInfo and clInitLayer only is used, at least in the older scheme."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    use_layers(sandbox, [sandbox.layer("old", variant="layer_without_init_with_properties_deinit")])
    used = []
    for value in (None, "1"):
        sandbox.env |= {LEGACY: value} if value else {}
        sandbox.forget_log()
        with loader.start(sandbox) as cl:
            assert cl.platform_names() == ["a"]
        used.append(bool(sandbox.log.calls("clGetPlatformInfo", by="old")))
        assert len(sandbox.log.calls(INIT, by="old")) == used[-1]
    record({(True, True): "always", (False, True): "older scheme only"}.get((used[0], used[1]), "not always"))
    assert used[1]


@requirement("LAY-API-004")
def test_layer_of_the_newer_scheme_only_is_used_or_discarded(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """A layer with clInitLayerWithProperties and without clInitLayer is used or discarded; others are not affected."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    good = around(sandbox, sandbox.layer("tested", variant="layer_without_init"), "middle")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        used = "tested" in passed(sandbox)
    record("used" if used else "discarded")
    assert passed(sandbox) == (chain_with(good, "middle") if used else good)
    assert len(sandbox.log.calls(INIT_WITH_PROPERTIES, by="tested")) == used


@requirement("LAY-API-005")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_deinit_belongs_to_init_with_properties(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """clDeinitLayer is called where clInitLayerWithProperties was, also of layers without it in between; else never."""
    used = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    tested = sandbox.layer("tested", variant="layer_without_deinit")
    good = around(sandbox, tested, "middle")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert passed(sandbox) == chain_with(good, "middle")
        cl.close()
    assert [e.who for e in sandbox.log.calls(DEINIT)] == (good if used.deinitialises else [])


VERSIONS = (0, 1, 99, 101, 102, 110, 200, 1000, 100 << 8, 0x64000000, 0xFFFFFFFF, (1 << 16) + 100)


@requirement("LAY-INF-008")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("version", VERSIONS)
def test_layer_of_an_unknown_version_is_not_initialised(
    loader: Loader, sandbox: Sandbox, version: int, scheme: str
) -> None:
    """A layer that reports another version than 100 is asked once and never initialised."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    tested = sandbox.layer("tested", faults=[f"reports_api_version={version}"])
    good = around(sandbox, tested, "middle")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert passed(sandbox) == good
    assert sandbox.log.of("tested").functions() == ["clGetLayerInfo"]


@requirement("LAY-INF-008")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_version_is_asked_before_all_else(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """The loader asks for CL_LAYER_API_VERSION with room for a cl_uint, and only then initialises the layer."""
    used = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    use_layers(sandbox, [sandbox.layer("layer")])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
    calls = sandbox.log.calls(by="layer")
    assert calls.functions()[:2] == ["clGetLayerInfo", used.init]
    query, size, value, _ = calls[0].arguments
    assert (query, size) == (CL.LAYER_API_VERSION, 4)
    assert value


@requirement("LAY-INF-009")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("error", [-30, 1, -(2**31)])
@pytest.mark.parametrize("fault", ["api_version_fails", "api_version_fails_after_writing", "get_layer_info_fails"])
def test_layer_whose_version_query_fails_is_discarded(
    loader: Loader, sandbox: Sandbox, fault: str, error: int, scheme: str
) -> None:
    """Any error of the version query discards the layer, also where the right version was written before."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    tested = sandbox.layer("tested", faults=[f"{fault}={error}"])
    good = around(sandbox, tested, "middle")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert passed(sandbox) == good
    assert sandbox.log.of("tested").functions() == ["clGetLayerInfo"]


DISCARDED = {
    "no-info": {"variant": "layer_without_info"},
    "no-init": {"variant": "layer_without_init_init_with_properties"},
    "query-fails": {"faults": ["get_layer_info_fails"]},
    "other-version": {"faults": ["reports_api_version=200"]},
    "refuses": {"faults": ["init_fails"]},
    "refuses-after-writing": {"faults": ["init_fails_after_writing"]},
}


@requirement("LAY-INF-010")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("reason", DISCARDED)
def test_discarded_layer_is_closed(loader: Loader, sandbox: Sandbox, reason: str, scheme: str) -> None:
    """A library that is not used does not stay loaded; a layer that is used does."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    tested = sandbox.layer("tested", **DISCARDED[reason])  # type: ignore[arg-type]
    good = sandbox.layer("good")
    use_layers(sandbox, [good, tested])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert cl.maps(good)
        assert not cl.maps(tested)


@requirement("LAY-INF-009")
@pytest.mark.parametrize("position", POSITIONS)
def test_layer_that_writes_no_version_is_discarded(loader: Loader, sandbox: Sandbox, position: str) -> None:
    """A layer that answers success and writes no version is not taken for one of the right version.

    A layer of the right version is asked before it, so that what is left from there would be the right number.
    """
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    good = around(sandbox, sandbox.layer("tested", faults=["api_version_unset"]), position)
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert passed(sandbox) == good
    assert sandbox.log.of("tested").functions() == ["clGetLayerInfo"]
