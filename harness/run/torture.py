# SPDX-License-Identifier: Apache-2.0
"""The cases of torture: for each scenario one in which nothing fails, and one for each call that can be made to fail.

Which calls there are is found out when cases are collected: each scenario runs once then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.probe.torture import Failure, Torture
from harness.run import tested
from harness.sandbox import Sandbox
from harness.subject import Loader

FOLDER = "torture"  # of the suites
SCENARIO = "scenario"  # the mark of a check whose cases are the calls of a scenario
ONLY, TOO = "--torture", "--clharness-torture-too"

Scenario = Callable[[Loader, Sandbox, Torture], Any]


def add_options(group: pytest.OptionGroup) -> None:
    """Adds the options of torture, for pytest and the command alike."""
    group.addoption(ONLY, action="store_true", help="run the checks in which calls of the loader for resources fail")
    group.addoption(TOO, action="store_true", help="run these checks besides the others")


def options(config: pytest.Config) -> list[str]:
    """Those of them that this run was given."""
    return [option for option in (ONLY, TOO) if config.getoption(option)]


def is_wanted(config: pytest.Config, path: Path) -> bool:
    """Whether a file of the suites is one that this run collects."""
    if config.getoption(TOO):
        return True
    return (path.relative_to(config.rootpath).parts[1] == FOLDER) == bool(config.getoption(ONLY))


def failures(config: pytest.Config, scenario: Scenario) -> list[Failure]:
    """All cases of a scenario. One that cannot be brought to its end has one case, which shows why."""
    loader = tested.asked_loader(config)
    sandbox = Sandbox(loader.path)
    try:
        torture = Torture(sandbox, loader.path)
        scenario(loader, sandbox, torture)
        calls = tuple(torture.calls) if torture.ended else ()
        return [Failure(None, calls, torture.left), *(Failure(call, calls, torture.left) for call in calls)]
    except Exception:  # whatever it is, the one case meets it again and reports it
        return [Failure(None)]
    finally:
        sandbox.close()


def parametrize(metafunc: pytest.Metafunc, scenario: Scenario) -> None:
    """Gives a check with the mark `scenario`, which takes `failure`, its cases."""
    metafunc.parametrize("failure", failures(metafunc.config, scenario), ids=str)
