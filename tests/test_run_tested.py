# SPDX-License-Identifier: Apache-2.0
"""What a run asks about its subject: which kind it is, what is asked when, and that a further kind needs no more."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness import subject
from harness.build import ROOT, build
from harness.errors import UsageError
from harness.expectations import FOLDER
from harness.run import tested
from harness.sandbox import Sandbox
from harness.subject import Icd, Layer, Loader

PRINT = build().folder / "mock_layers" / "examples" / "libprint_layer.so"


def config(**options: Any) -> pytest.Config:
    """A run's configuration with these options, written with underscores."""

    def getoption(name: str) -> Any:
        return options.get(name.removeprefix("--").replace("-", "_"))

    return cast(pytest.Config, SimpleNamespace(stash=pytest.Stash(), getoption=getoption))


def reference() -> str:
    return str(build().reference_loader)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, Loader),
        ({"loader": "x"}, Loader),
        ({"layer": "x"}, Layer),
        ({"layer": "x", "loader": "y"}, Layer),
        ({"icd": "x", "loader": "y", "through": ["z"]}, Icd),
        ({"clharness_seeded_layer": True}, Layer),
        ({"clharness_seeded_icd": True}, Icd),
    ],
)
def test_options_say_the_kind(options: dict[str, Any], kind: type[subject.Subject]) -> None:
    run = config(**options)
    assert tested.kind_of(run) is kind
    assert tested.is_loader(run) == (kind is Loader)
    assert tested.is_named(run) == bool(options)
    folders = {None: "discovery", "layer": "layers/layer", "icd": "interop/icd"}
    has = {name for name, folder in folders.items() if tested.has_checks_for(run, ROOT / "suites" / folder)}
    assert has == {kind.checks or None}


def test_layer_asks_no_loader_before_it_is_needed() -> None:
    """Neither for its name and its expectations, nor for the names of the cases of further loaders."""
    run = config(layer=str(PRINT), through=[reference()])
    tested.ask(run)
    assert tested.subject(run).facts.name == "print example"
    assert tested.expectations(run).folder == FOLDER / "layers"
    assert tested.option(run) == f"--layer {shlex.quote(str(PRINT))}"
    loaders = tested.through(run)
    assert list(loaders) == ["reference", "clharness"]
    assert not any(loader.capabilities for loader in loaders.values())
    layer = tested.subject(run)
    assert isinstance(layer, Layer) and not layer.wraps_handles
    assert loaders["reference"].has("OPENCL_LAYERS") and not loaders["clharness"].capabilities


def test_reference_loader_is_taken_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject.search, "system_loader", lambda: None)
    run = config()
    assert not tested.is_known(run)
    assert tested.loader_of(run).path == Path(reference()).resolve()
    assert tested.time_limit(run) == Loader.default_time_limit
    assert tested.time_limit(config(icd="x")) == Icd.default_time_limit > Loader.default_time_limit


def test_loader_is_asked_once() -> None:
    run = config(loader=reference())
    assert tested.subject(run) is tested.loader_of(run) is tested.asked_loader(run)
    assert tested.loader_of(run).has("OPENCL_LAYERS")
    assert tested.expectations(run).path == FOLDER / "reference.toml"
    assert tested.header(run, ["command"]).subject.facts["capabilities"] == sorted(tested.loader_of(run).capabilities)


def test_expectations_of_an_icd_need_no_loader() -> None:
    sandbox = Sandbox()
    try:
        run = config(icd=str(sandbox.icd("pocl-like", version="OpenCL 3.0 mine 7.25").path), icd_env=["A=b=c"])
        assert tested.expectations(run).folder == FOLDER / "icds"
        assert tested.LOADER not in run.stash
        icd = tested.subject(run)
        assert isinstance(icd, Icd) and icd.variables == {"A": "b=c"} and icd.facts.version == "7.25"
        header = tested.header(run, [])
        assert (header.subject.kind, header.subject.word) == ("icd", "ICD")
        assert [(each.kind, each.path) for each in header.used_with] == [("loader", reference())]
    finally:
        sandbox.close()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"layer": str(PRINT), "loader": str(PRINT)}, "is an OpenCL layer, not an OpenCL loader"),
        ({"layer": str(PRINT), "changes": ["clFlash"]}, "--changes clFlash: is not a function of OpenCL"),
        ({"icd": reference()}, "is an OpenCL loader, not an OpenCL ICD"),
    ],
)
def test_wrong_paths_are_said_at_once(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        tested.ask(config(**options))


def test_a_further_kind_is_a_class_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options, its checks and its expectations come from it alone."""

    class Other(Layer):
        identity = subject.identify.Identity("other", "another layer", "other")
        option = "--other"
        options = (subject.base.Option("--other", "PATH", "another kind to test"),)
        checks = "other"
        expectations_folder = "others"

    kind: type[subject.Subject] = Other
    monkeypatch.setitem(subject.KINDS, "other", kind)
    added: list[str] = []
    group = SimpleNamespace(addoption=lambda name, **_: added.append(name))
    tested.add_options(cast(Any, group))
    run = config(other="x")
    assert "--other" in added
    assert tested.kind_of(run) is Other
    assert tested.has_checks_for(run, Path("suites/layers/other"))
    assert not tested.has_checks_for(config(layer="x"), Path("suites/layers/other"))
