# SPDX-License-Identifier: Apache-2.0
"""No fault that is chosen at run time exports a function: the check of those that loaders must not export, proven."""

from __future__ import annotations

import inspect
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.selftest.further import BY_TESTS
from harness.subject import Loader
from suites.dispatch.test_vendor_functions import (
    test_semaphore_and_command_buffer_functions_are_not_exported as check,
)

check.__test__ = False  # type: ignore[attr-defined]

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
int clGetPlatformIDs(unsigned room, void *platforms, unsigned *count)
{
    int (*next)(unsigned, void *, unsigned *) = dlsym(RTLD_NEXT, "clGetPlatformIDs");
    return next(room, platforms, count);
}
int FUNCTION(void)
{
    return 0;
}
"""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox(build().reference_loader)
    yield box
    box.close()


def loader_with(folder: Path, function: str) -> Loader:
    """A library before the reference loader that has one more function."""
    source = folder / "more.c"
    source.write_text(SOURCE.replace("FUNCTION", function))
    path = folder / "libOpenCL.so.1"
    reference = build().reference_loader
    command = [build().compiler, "-shared", "-fPIC", str(source), "-o", str(path), "-Wl,--no-as-needed"]
    subprocess.run([*command, str(reference), f"-Wl,-rpath,{reference.parent}", "-Wl,-soname,more"], check=True)
    loader = Loader(path)
    loader.ask()
    return loader


@pytest.mark.parametrize("function", ["clEnqueueWaitSemaphoresKHR", "clEnqueueCommandBufferKHR"])
def test_function_of_semaphores_or_command_buffers_that_is_exported_is_noticed(
    tmp_path: Path, sandbox: Sandbox, function: str
) -> None:
    with pytest.raises(AssertionError, match=function):
        check(loader_with(tmp_path, function), sandbox)


def test_self_test_knows_what_this_file_proves() -> None:
    root = Path(__file__).parent.parent
    proven = f"{Path(inspect.getfile(check)).relative_to(root)}::{check.__name__}"
    assert {proven: str(Path(__file__).relative_to(root))} == BY_TESTS


def test_another_function_is_no_matter_of_this_check(tmp_path: Path, sandbox: Sandbox) -> None:
    check(loader_with(tmp_path, "clharness_more"), sandbox)
