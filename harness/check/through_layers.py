# SPDX-License-Identifier: Apache-2.0
"""Checks that must hold with layers in front of the loader as well as without.

Layers that only hand calls on are invisible: a check that reads what the application got and what the vendors saw has
the same to say. The layers that these checks get keep out of the call log, so that nothing in it is in their way.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, MutableMapping
from typing import Any

import pytest

from harness.check.layer_schemes import use_layers
from harness.sandbox import Sandbox
from harness.subject.loader import Loader

SUFFIX = "_through_layers"
_COUNT = "layers_in_front"


def also_through_layers(
    module: MutableMapping[str, Any], *, counts: Collection[int] = (1, 3), leaving_out: Collection[str] = ()
) -> None:
    """Adds to a file of checks, given as its `globals()`, each check once more, with that many layers in front.

    The end of a file; once for each choice of numbers. The added check has the name of the first and the end
    `_through_layers`, and proves the same requirements. `leaving_out` are names of checks that are about layers
    themselves, or for which they make a difference that is right.
    """
    names = [n for n, value in module.items() if n.startswith("test_") and not n.endswith(SUFFIX) and callable(value)]
    unknown = set(leaving_out) - set(names)
    assert not unknown, f"no such checks here: {', '.join(sorted(unknown))}"
    assert set(names) - set(leaving_out), "no check is left to run with layers"
    for name in names:
        if name not in leaving_out:
            assert name + SUFFIX not in module, f"{name} has layers already"
            module[name + SUFFIX] = _with_layers(module[name], counts)


def _with_layers(check: Callable[..., None], counts: Collection[int]) -> Callable[..., None]:
    @functools.wraps(check)
    def layered(loader: Loader, sandbox: Sandbox, **arguments: Any) -> None:
        loader.require("OPENCL_LAYERS")
        use_layers(sandbox, [sandbox.layer(f"layer{n}", logs=False) for n in range(arguments.pop(_COUNT))])
        check(loader=loader, sandbox=sandbox, **arguments)

    signature = inspect.signature(check)
    count = inspect.Parameter(_COUNT, inspect.Parameter.KEYWORD_ONLY, annotation=int)
    changed: Any = layered
    changed.__signature__ = signature.replace(parameters=[*signature.parameters.values(), count])
    changed.__name__ += SUFFIX
    changed.__qualname__ += SUFFIX
    changed.__doc__ = f"{inspect.getdoc(check)}\n\nWith layers in front of the loader, which hand all calls on."
    marks = list(getattr(check, "pytestmark", ()))
    by_count = pytest.mark.parametrize(_COUNT, counts, ids=[f"{n}-layer{'s' * (n > 1)}" for n in counts])
    changed.pytestmark = [*marks, by_count.mark]
    return layered
