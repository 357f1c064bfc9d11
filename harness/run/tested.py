"""What the rest of a run asks about the subject that it tests: the one door to the plugin's options and fixtures."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.expectations import Expectations
from harness.report import Header
from harness.run import plugin
from harness.subject.icd import ICD_TIME_LIMIT
from harness.subject.loader import DEFAULT_TIME_LIMIT


def ask(config: pytest.Config) -> None:
    """Asks the subject what it is, once for each process. Raises ClharnessError where it cannot be asked."""
    plugin._loader(config)


def is_known(config: pytest.Config) -> bool:
    """Whether the subject has been asked what it is."""
    return plugin.EXPECTATIONS in config.stash


def expectations(config: pytest.Config) -> Expectations:
    """What the subject is known to do differently."""
    ask(config)
    return config.stash[plugin.EXPECTATIONS]


def header(config: pytest.Config, arguments: Sequence[str]) -> Header:
    """The header of the run's records. `arguments` are the command line."""
    loader, layer, icd = plugin._loader(config), plugin._layer(config), plugin._icd(config)
    path = expectations(config).path
    return Header(
        loader.facts.as_dict(),
        str(path) if path else None,
        arguments,
        layer=layer.facts.as_dict() if layer else None,
        icd=icd.facts.as_dict() if icd else None,
    )


def option(config: pytest.Config) -> str:
    """The option of pytest that names the subject."""
    return plugin._subject(config)


def is_loader(config: pytest.Config) -> bool:
    """Whether a loader is tested."""
    return plugin.for_loaders(config)


def time_limit(config: pytest.Config) -> float:
    """Seconds until a call of the subject counts as hung."""
    usual = ICD_TIME_LIMIT if plugin.for_icds(config) else DEFAULT_TIME_LIMIT
    return float(config.getoption("--time-limit") or usual)
