# SPDX-License-Identifier: Apache-2.0
"""Variables that are true or false: spelling, and what those of trace, unloading and termination do (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import CallLog, Loader, MockIcd, MockLayer, Sandbox, requirement

TRUE = ["True", "true", "T", "1"]
FALSE = [
    "", "0", "2", "11", "10", "01", "-1", "t", "tr", "Tr", "Tru", "TRUE", "tRUE", "truE", "trues", "TrueTrue", "True ",
    " True", "true\n", "\"1\"", "1 ", "y", "yes", "Yes", "on", "ON", "False", "false", "F", "no", "x" * 10_000,
]  # fmt: skip
SPELLINGS = [(value, True) for value in TRUE] + [(value, False) for value in FALSE]
IDS = [f"{value[:12]!r} is {meaning}" for value, meaning in SPELLINGS]
UNSET: tuple[str | None, bool] = (None, False)
CLEAR = [UNSET, *SPELLINGS[: len(TRUE)], *((value, False) for value in ("", "0", "False"))]
PLAIN = [case for case in CLEAR if case[0] != "T"]  # "evaluates to true": what one letter does is DISC-ENV-015
NEARLY = ["yes", "Tr", "TRUE", "true ", "1x", "10", "Tx", "11"]
FEW = [*CLEAR, *((value, False) for value in NEARLY)]

TRACE = "OCL_ICD_ENABLE_TRACE"
KEEP = "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING"
LEGACY = "OCL_ICD_FORCE_LEGACY_TERMINATION"


def unloadable(sandbox: Sandbox, name: str) -> MockIcd:
    return sandbox.vendor(name, extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)


def chain(sandbox: Sandbox, count: int, **settings: Any) -> list[MockLayer]:
    chain_layers = [sandbox.layer(name, **settings) for name in ("inner", "outer")[:count]]
    sandbox.env["OPENCL_LAYERS"] = ":".join(map(str, chain_layers))
    return chain_layers


def two_layers(sandbox: Sandbox) -> list[MockLayer]:
    return chain(sandbox, 2)


# --- the trace ---


@requirement("DISC-ENV-015")
@pytest.mark.parametrize(("value", "meaning"), SPELLINGS, ids=IDS)
def test_trace_is_written_for_four_spellings_of_true(
    loader: Loader, sandbox: Sandbox, value: str, meaning: bool
) -> None:
    """OCL_ICD_ENABLE_TRACE makes the loader write diagnostics for exactly the values True, true, T and 1."""
    loader.require(TRACE)
    sandbox.vendor("a")
    sandbox.env[TRACE] = value
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
    assert bool(cl.stderr) == meaning
    assert cl.stdout == ""


@requirement("DISC-ENV-015")
def test_no_trace_without_the_variable(loader: Loader, sandbox: Sandbox) -> None:
    """A loader that is not asked for diagnostics writes nothing."""
    sandbox.vendor("a")
    sandbox.vendor_file("b.icd", "/missing\n")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
    assert (cl.stderr, cl.stdout) == ("", "")


def good_vendors(sandbox: Sandbox) -> None:
    sandbox.vendors_in_order([f"{sandbox.icd(name, platforms=2)}\n" for name in "abc"])


def bad_vendors(sandbox: Sandbox) -> None:
    lines = [
        f"{sandbox.icd('a')}\n",
        "/missing.so\n",
        "",
        f"{sandbox.icd('symbol', variant='icd_without_get_extension_function_address')}\n",
        f"{sandbox.icd('count', faults=['count_call_fails'])}\n",
        f"{sandbox.icd('list', faults=['list_call_fails'])}\n",
        f"{sandbox.icd('suffix', faults=['suffix_size_fails'])}\n",
        f"{sandbox.icd('extensions', faults=['extensions_size_fails'])}\n",
        f"{sandbox.icd('none', platforms=0)}\n",
        f"{sandbox.icd('z')}\n",
    ]
    sandbox.vendors_in_order(lines)


def unloadable_vendors(sandbox: Sandbox) -> None:
    unloadable(sandbox, "a")
    unloadable(sandbox, "b")


def no_directory(sandbox: Sandbox) -> None:
    sandbox.env["OCL_ICD_VENDORS"] = "/missing"


def listed_libraries(sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    sandbox.env["OCL_ICD_FILENAMES"] = f"{sandbox.icd('b')}:/missing.so:{sandbox.libraries}/liba.so"


def layers(sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    two_layers(sandbox)


def bad_layers(sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    chain_layers = [
        sandbox.layer("good"),
        sandbox.layer("info", variant="layer_without_info"),
        sandbox.layer("version", faults=["reports_api_version=7"]),
        sandbox.layer("init", faults=["init_fails"]),
        sandbox.layer("deinit", faults=["deinit_fails"]),
    ]
    sandbox.env["OPENCL_LAYERS"] = ":".join([*map(str, chain_layers), "/missing.so"])


def texts_like_formats(sandbox: Sandbox) -> None:
    """Everything that a trace may print is a format of printf, which must not be taken for one."""
    text = "%s%n%s%n%999999d"
    sandbox.vendor("a", suffix=text, extensions=f"cl_khr_icd {text}")
    sandbox.vendor_file("b.icd", f"/{text}.so\n")
    sandbox.vendor_file(f"{text}.icd", f"{sandbox.icd('c', file=f'{text}.so')}\n")
    sandbox.env["OPENCL_LAYERS"] = f"{sandbox.layer('layer', file=f'{text}.layer')}:/{text}"


MACHINES = [good_vendors, bad_vendors, unloadable_vendors, no_directory, listed_libraries, layers, bad_layers]
MACHINES += [texts_like_formats]


def course(log: CallLog) -> list[tuple[str, str, str]]:
    """What happened, without addresses and times."""
    return [(event.who, event.kind, event.name) for event in log]


@requirement("DISC-ENV-016")
@pytest.mark.parametrize("end", ["exit", "close"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_trace_alters_nothing(loader: Loader, sandbox: Sandbox, machine: Callable[[Sandbox], None], end: str) -> None:
    """With the trace, discovery and the end take the same course and the program sees the same results."""
    machine(sandbox)
    seen = []
    for value in ("False", "True"):
        sandbox.forget_log()
        sandbox.env[TRACE] = value
        with loader.start(sandbox) as cl:
            before = cl.open_files()
            results = [list(cl.platform_names()), cl.vendor_function("clThingMOCK"), cl.platform_count()]
            assert cl.open_files() == before
            if end == "close":
                cl.close()
        assert cl.stdout == ""
        seen.append((results, course(sandbox.log)))
    assert seen[1] == seen[0]


# --- unloading ---


@requirement("DISC-ENV-017", "DISC-ENV-015")
@pytest.mark.parametrize(("value", "meaning"), FEW, ids=[repr(value) for value, _ in FEW])
def test_unloadable_vendors_are_kept_loaded_without_unloading(
    loader: Loader, sandbox: Sandbox, value: str | None, meaning: bool
) -> None:
    """OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING keeps unloadable vendors mapped when the loader is closed."""
    loader.require("unloads vendors")
    mocks = [unloadable(sandbox, "a"), sandbox.vendor("not_unloadable"), unloadable(sandbox, "b")]
    if value is not None:
        sandbox.env[KEEP] = value
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a", "not_unloadable", "b"}
        cl.close()
        assert [cl.maps(mock) for mock in mocks] == [meaning, True, meaning]
        unloaded = set(sandbox.log.happened("unloaded").components())
    assert unloaded == (set() if meaning else {"a", "b"})


@requirement("DISC-ENV-017")
@pytest.mark.parametrize("end", ["exit", "close"])
@pytest.mark.parametrize("value", [None, "False", "True"], ids=["unset", "false", "true"])
def test_layers_are_deinitialised_and_kept_loaded(
    loader: Loader, sandbox: Sandbox, value: str | None, end: str
) -> None:
    """OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING keeps layers mapped, and each is deinitialised once all the same."""
    loader.require("initialises layers with properties")
    vendor = unloadable(sandbox, "a")
    chain_layers = two_layers(sandbox)
    if value is not None:
        sandbox.env[KEEP] = value
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a"}
        if end == "exit":
            cl.require_removal_at_exit()
        if end == "close":
            cl.close()
            kept = value == "True"
            assert [cl.maps(mock) for mock in (*chain_layers, vendor)] == [
                kept,
                kept,
                kept or not loader.has("unloads vendors"),
            ]
    assert [event.who for event in sandbox.log.calls("clDeinitLayer")] == ["outer", "inner"]
    assert sandbox.log.calls("clInitLayerWithProperties").components() == ["inner", "outer"]


# --- termination of layers by the older scheme ---


@requirement("DISC-ENV-018")
@pytest.mark.parametrize(("value", "meaning"), PLAIN, ids=[repr(value) for value, _ in PLAIN])
def test_legacy_termination_selects_the_init_function(
    loader: Loader, sandbox: Sandbox, value: str | None, meaning: bool
) -> None:
    """OCL_ICD_FORCE_LEGACY_TERMINATION makes the loader call clInitLayer only, without it the newer two functions."""
    check_init_function(loader, sandbox, value, meaning)


@requirement("DISC-ENV-015")
@pytest.mark.parametrize("value", NEARLY)
def test_legacy_termination_has_no_other_spelling_of_true(loader: Loader, sandbox: Sandbox, value: str) -> None:
    """OCL_ICD_FORCE_LEGACY_TERMINATION is true where it says so in one of four ways, and in no other."""
    check_init_function(loader, sandbox, value, False)


def check_init_function(loader: Loader, sandbox: Sandbox, value: str | None, meaning: bool) -> None:
    loader.require("initialises layers with properties")
    sandbox.vendor("a")
    two_layers(sandbox)
    if value is not None:
        sandbox.env[LEGACY] = value
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a"}
        cl.close()
    log = sandbox.log
    assert [event.who for event in log.calls("clInitLayer")] == (["inner", "outer"] if meaning else [])
    assert [event.who for event in log.calls("clInitLayerWithProperties")] == ([] if meaning else ["inner", "outer"])
    assert list(dict.fromkeys(log.calls("clDeinitLayer").components())) == ([] if meaning else ["outer", "inner"])
    assert reached(log) == ["outer", "inner"]


def reached(log: CallLog) -> list[str]:
    """The layers that clGetPlatformInfo went through, in order."""
    return [who for who in log.calls("clGetPlatformInfo").components() if who not in ("application", "a")]


VARIANTS = {
    # which initialisation the layer exports: whether it is a layer of the newer scheme, and of the older one
    "layer": (True, True),
    "layer_without_init_with_properties_deinit": (False, True),
    "layer_without_init": (True, False),
    "layer_without_deinit": (True, True),
}


@requirement("DISC-ENV-018")
@pytest.mark.parametrize("legacy", [False, True], ids=["newer", "older"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_layer_without_the_init_function_of_the_scheme_is_left_out(
    loader: Loader, sandbox: Sandbox, variant: str, legacy: bool
) -> None:
    """The older scheme needs clInitLayer and the newer clInitLayerWithProperties; the other layers are not affected."""
    loader.require("initialises layers with properties")
    sandbox.vendor("a")
    chain_layers = [sandbox.layer("first"), sandbox.layer("tested", variant=variant), sandbox.layer("last")]
    sandbox.env |= {"OPENCL_LAYERS": ":".join(map(str, chain_layers)), LEGACY: str(legacy)}
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a"}
    with_it, without_it = ["last", "tested", "first"], ["last", "first"]
    if not legacy and not all(VARIANTS[variant]):  # LAY-API-003, LAY-API-004: either is right
        assert reached(sandbox.log) in (with_it, without_it)
    else:
        assert reached(sandbox.log) == (with_it if VARIANTS[variant][legacy] else without_it)


@requirement("DISC-ENV-018")
@pytest.mark.parametrize("end", ["exit", "close"])
@pytest.mark.parametrize("count", [0, 1, 2], ids=["no-layer", "1-layer", "2-layers"])
def test_nothing_is_unloaded_in_the_older_scheme(loader: Loader, sandbox: Sandbox, count: int, end: str) -> None:
    """With the older scheme nothing is unloaded at the end, whatever layers there are; both schemes end well."""
    loader.require("initialises layers with properties")
    vendor = unloadable(sandbox, "a")
    chain_layers = chain(sandbox, count)
    for legacy in (False, True):
        sandbox.env[LEGACY] = str(legacy)
        sandbox.forget_log()
        with loader.start(sandbox) as cl:
            assert cl.used_platforms() == {"a"}
            if end == "close":
                cl.close()
                assert not legacy or cl.maps(vendor)  # otherwise: DISC-ACC-035
                assert not legacy or all(cl.maps(mock) for mock in chain_layers)
                assert not legacy or not sandbox.log.happened("unloaded")


@requirement("DISC-ENV-015")
@pytest.mark.parametrize("count", [2, 1, 0], ids=["2-layers", "1-layer", "no-layer"])
@pytest.mark.parametrize("switches", ["", "t", "k", "l", "tk", "tl", "kl", "tkl"])
def test_switches_are_independent(loader: Loader, sandbox: Sandbox, switches: str, count: int) -> None:
    """Each variable that is true or false acts on its own, whatever the others are, and with any number of layers."""
    loader.require(TRACE)
    loader.require("initialises layers with properties")
    vendor = unloadable(sandbox, "a")
    chain_layers = chain(sandbox, count)
    trace, keep, legacy = (letter in switches for letter in "tkl")
    sandbox.env |= {TRACE: str(trace), KEEP: str(keep), LEGACY: str(legacy)}
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a"}
        cl.close()
        stay = keep or legacy
        assert [cl.maps(mock) for mock in chain_layers] == [stay] * count
        assert cl.maps(vendor) == (stay or not loader.has("unloads vendors"))
    assert bool(cl.stderr) == trace
    assert len(sandbox.log.calls("clInitLayer")) == (count if legacy else 0)
    assert len(sandbox.log.calls("clDeinitLayer")) == (0 if legacy else count)
