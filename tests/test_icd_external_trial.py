# SPDX-License-Identifier: Apache-2.0
"""Whether a vendor takes the memory that this machine has is tried first; how it refuses is for one check to judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.api.codes import CL
from harness.check.icd import external
from harness.probe.calls import CallFailed
from harness.sandbox import Sandbox, Unsupported
from harness.selftest.mutants.icd import seeded_icd

KIND = CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR
EXTENSION = "cl_khr_external_memory_opaque_fd"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


def refuse(*_arguments: Any, **_named: Any) -> Any:
    raise CallFailed("clCreateBufferWithProperties answered 0x1 with the error 999")


def test_memory_of_the_system_that_is_refused_is_not_there(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the refusal itself is wrong: the checks that need such memory are not about that."""
    icd = seeded_icd(sandbox)
    with icd.open(sandbox) as session:
        assert external.importers(session, KIND, EXTENSION)
        monkeypatch.setattr(external.Importer, "create", refuse)
        with pytest.raises(Unsupported, match=r"no memory is here that this ICD takes .* with the error 999"):
            external.importers(session, KIND, EXTENSION)


def test_memory_of_vulkan_that_is_refused_wrongly_is_a_failure(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the device's own, which an importer has to take."""
    icd = seeded_icd(sandbox)
    with icd.open(sandbox) as session:
        monkeypatch.setattr(external.Importer, "create", refuse)
        monkeypatch.setattr(external.Memory, "_ask_vulkan", lambda *_: "")
        monkeypatch.setattr(external.Memory, "descriptor", lambda *_: 0)
        with pytest.raises(CallFailed, match="with the error 999"):
            external.importers(session, KIND, EXTENSION)
