# SPDX-License-Identifier: Apache-2.0
"""Counted instructions, asked of the probe in any order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.subject import Loader


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(build().reference_loader)
    yield sandbox
    sandbox.close()


@pytest.mark.skipif(bool(build().sanitize), reason="a guarded heap and a sanitizer's exclude each other")
def test_instructions_of_a_loader_that_was_closed_are_told_by_its_path(sandbox: Sandbox) -> None:
    """What the dynamic linker said of it is freed memory by then."""
    loader = Loader(build().reference_loader)
    sandbox.vendor("a")
    with loader.start(sandbox, guarded_heap=True) as cl:
        cl.clGetPlatformIDs(0, None, None)
        cl.command("count 2f6e6f6e65 call 9 clGetPlatformIDs 0 0 0")
        before = cl.command("counted")
        cl.close()
        assert cl.command("counted") == before
    assert str(loader.path) in bytes.fromhex(before).decode()
