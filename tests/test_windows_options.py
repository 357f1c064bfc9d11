# SPDX-License-Identifier: Apache-2.0
"""Windows' loader is started with the options of any loader: what only Linux has makes a case unsupported."""

from __future__ import annotations

import inspect

import pytest

from harness.sandbox import Unsupported
from harness.subject.loader import Loader
from harness.subject.windows_loader import ALWAYS, ONLY_ON_LINUX, WindowsLoader


def options(kind: type[Loader]) -> set[str]:
    named = inspect.signature(kind.start).parameters.values()
    return {parameter.name for parameter in named if parameter.kind is parameter.KEYWORD_ONLY}


def test_each_option_of_a_loader_is_known() -> None:
    assert options(Loader) - options(WindowsLoader) == {*ALWAYS, *ONLY_ON_LINUX}


@pytest.mark.parametrize("value", [True, {}, 1], ids=str)
def test_option_that_only_linux_has_is_unsupported(value: object) -> None:
    loader = object.__new__(WindowsLoader)
    with pytest.raises(Unsupported, match="a private root: only on Linux"):
        loader.start(None, system_binds=value)  # type: ignore[arg-type]


def test_unknown_option_is_refused() -> None:
    loader = object.__new__(WindowsLoader)
    with pytest.raises(TypeError, match="no option 'sytem'"):
        loader.start(None, sytem=True)  # type: ignore[arg-type]
