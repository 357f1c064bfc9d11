# SPDX-License-Identifier: Apache-2.0
"""The environment of the process that a case runs, whatever its subject is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from harness.build import build
from harness.probe.torture import Torture
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.machine import SEPARATORS
from harness.sandbox.sandbox import LOADER_VARIABLES, PASSED_ON
from harness.subject import neighbours

# glibc's heap without caches of its own, so that what is allocated and freed can be counted exactly.
_COUNTED_HEAP = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"


def environment(
    sandbox: Sandbox,
    library: Path,
    sanitizer: str,
    *,
    vendors: str | None = None,
    unset: Iterable[str] = (),
    preload: Iterable[str | Path] = (),
    counted_heap: bool = False,
    guarded_heap: bool = False,
    guarded_front: bool = False,
    failing_allocation: int = 0,
    torture: Torture | None = None,
    watch: Path | None = None,
) -> dict[str, str]:
    """An allow-list, the vendor directory where one is shown, what the case set itself, and libraries to preload.

    Where the user's LD_LIBRARY_PATH and LD_PRELOAD hold for the `library`, too, harness.subject.neighbours says.

    `sanitizer` is the runtime that the `library` under test needs, "" for none. `unset` are names to leave out, also
    that of the vendor directory. counted_heap: what is allocated and freed can be counted; guarded_heap: misuse of the
    heap is a crash (guarded_front: the same, where reads before a block are found in place of those past it);
    failing_allocation: the n-th allocation of the library fails, from 1; torture: its calls for any resource are
    counted, and one may fail; watch: the file into which go the names of the variables that the process asks for.
    A sanitizer brings a heap of its own, which guards as well: raises Unsupported where it would have to be counted or
    to fail.
    """
    variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    variables |= {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}
    # Leaks have checks of their own, and memory that is refused is no error of a program that looks at the answer.
    if "ASAN_OPTIONS" not in variables:
        variables["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"
        variables.setdefault("LSAN_OPTIONS", "detect_leaks=0")  # would have the last word where both are set
    assert not set(variables) & set(LOADER_VARIABLES)
    if vendors is not None:
        variables["OCL_ICD_VENDORS"] = vendors
    variables |= sandbox.env
    for name in unset:
        variables.pop(name, None)
    if folders := neighbours.folders():
        given = variables.get(neighbours.FOLDERS)
        variables[neighbours.FOLDERS] = neighbours.joined(*([] if given is None else [given]), folders)
    libraries = [sanitizer if not build().sanitize else "", *map(str, preload)]
    if sanitizer or build().sanitize:
        if counted_heap or failing_allocation or torture:
            raise Unsupported("machine", "a sanitizer's heap can neither be counted nor be made to fail")
    else:
        libraries += [str(build().guarded_heap)] * (guarded_heap or guarded_front or failing_allocation > 0)
        variables |= {"CLHARNESS_GUARD": "front"} if guarded_front else {}
        variables |= {"GLIBC_TUNABLES": _COUNTED_HEAP} if counted_heap else {}
        if failing_allocation:
            variables |= {"CLHARNESS_FAIL_ALLOCATION": str(failing_allocation), "CLHARNESS_FAIL_IN": str(library)}
        if torture:
            libraries.append(str(build().torture))
            variables |= torture.environment()
    if watch:
        libraries.append(str(build().variables_watch))
        variables |= {"CLHARNESS_VARIABLES_WATCH": str(watch)}
    own = [_preloadable(sandbox, name) for name in libraries if name]
    own += [variables.get("LD_PRELOAD", ""), *neighbours.preloaded(library)]
    if preloaded := [name for name in dict.fromkeys(own) if name]:
        variables["LD_PRELOAD"] = ":".join(preloaded)
    return variables


def _preloadable(sandbox: Sandbox, library: str) -> str:
    """A path of the library that LD_PRELOAD can hold: its elements end at blanks and colons."""
    folder, name = os.path.split(library)
    if not SEPARATORS & set(folder):
        return library
    link = sandbox.root / f"preloaded-{name}"
    if not link.is_symlink():
        link.symlink_to(library)
    return str(link)
