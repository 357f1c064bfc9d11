# SPDX-License-Identifier: Apache-2.0
"""Property lists of functions that came with OpenCL 3.0, on loaders of before."""

from __future__ import annotations

import pytest

from harness.build import build
from harness.check import Loader, Sandbox, Unsupported, problems_of_lists
from harness.probe.session import Session

FUNCTION = "clCreateBufferWithProperties"


def test_loader_without_the_function_is_not_asked_for_its_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader of OpenCL 2.2 has nothing to be called: that is not a deviation of its property lists."""
    loader = Loader(build().reference_loader)
    sandbox = Sandbox(loader.path)
    try:
        assert problems_of_lists(loader, sandbox, FUNCTION, {"nothing": [0]}) == []
    finally:
        sandbox.close()
    monkeypatch.setattr(Session, "symbol", lambda self, name: 0)
    sandbox = Sandbox(loader.path)
    try:
        with pytest.raises(Unsupported, match=f"does not export {FUNCTION}"):
            problems_of_lists(loader, sandbox, FUNCTION, {"nothing": [0]})
    finally:
        sandbox.close()
