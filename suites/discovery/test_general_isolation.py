# SPDX-License-Identifier: Apache-2.0
"""A vendor that fails costs only itself, wherever it stands and however many there are (DISC-GEN)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence

import pytest

from harness.check import Loader, Sandbox, Session, requirement


def _icd(**settings: object) -> Callable[[Sandbox, str], str]:
    return lambda sandbox, name: f"{sandbox.icd(name, suffix=name.upper(), **settings)}\n"  # type: ignore[arg-type]


def _broken_library(sandbox: Sandbox, name: str) -> str:
    """A library that is cut off after its ELF header (later, and reading it is a fault of the dynamic linker)."""
    path = sandbox.icd(name).path
    os.truncate(path, 64)
    return f"{path}\n"


# What a file of the vendor directory says that brings no platform.
BAD: dict[str, Callable[[Sandbox, str], str]] = {
    "empty-file": lambda sandbox, name: "",
    "only-a-newline": lambda sandbox, name: "\n",
    "missing-library": lambda sandbox, name: f"{sandbox.libraries}/lib{name}-missing.so\n",
    "no-library": lambda sandbox, name: f"{sandbox.file(name, 'no ELF file')}\n",
    "empty-library": lambda sandbox, name: f"{sandbox.file(name)}\n",
    "broken-library": _broken_library,
    "a-folder": lambda sandbox, name: f"{sandbox.folder(name)}\n",
    "no-icd": _icd(variant="not_an_icd"),
    "needs-a-missing-library": _icd(variant="icd_needs_absent_library"),
    "no-address-function": _icd(variant="icd_without_get_extension_function_address"),
    "no-list-function": _icd(variant="icd_without_get_platform_ids", faults=["get_platform_ids_not_returned"]),
    "count-fails": _icd(faults=["count_call_fails"]),
    "count-fails-after-writing": _icd(faults=["count_call_fails_after_writing"]),
    "says-not-found": _icd(faults=["platform_not_found"]),
    "no-platforms": _icd(platforms=0),
    "list-fails": _icd(faults=["list_call_fails"]),
    "list-fails-after-writing": _icd(faults=["list_call_fails_after_writing"]),
    "list-of-three-fails": _icd(faults=["list_call_fails"], platforms=3),
    "suffix-size-fails": _icd(faults=["suffix_size_fails"]),
    "suffix-data-fails": _icd(faults=["suffix_data_fails"]),
    "suffixes-of-three-fail": _icd(faults=["suffix_size_fails"], platforms=3),
    "info-fails": _icd(faults=["platform_info_fails"]),
}

# Not mixed with others: a file without a name, which some loaders take for the program itself.
MIXED = [kind for kind in BAD if kind not in ("empty-file", "only-a-newline")]


def good(sandbox: Sandbox, name: str, platforms: int = 1) -> str:
    return f"{sandbox.icd(name, suffix=name.upper(), platforms=platforms)}\n"


def check_only(cl: Session, sandbox: Sandbox, names: Sequence[str], platforms: int = 1) -> None:
    """The good vendors, all of them and nobody else, can be used; no bad one is asked again."""
    assert cl.platform_count() == len(names) * platforms
    before = len(sandbox.log)
    assert cl.used_platforms() == {n if platforms == 1 else f"{n}.{i}" for n in names for i in range(platforms)}
    assert {e.who for e in sandbox.log[before:]} <= {"application", *names}, "a rejected vendor is called later"


def check_functions(cl: Session, sandbox: Sandbox, names: Sequence[str]) -> None:
    """The good vendors' own functions are theirs, and no bad vendor is asked for them."""
    before = len(sandbox.log)
    cl.check_functions(*names, like="clSomething{NAME}")
    assert {e.who for e in sandbox.log[before:]} <= {"application", *names}, "a rejected vendor is asked for a function"


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("places", ["first", "last", "all-around"])
def test_vendors_around_a_bad_one_work(
    loader: Loader, sandbox: Sandbox, bad: Callable[[Sandbox, str], str], places: str
) -> None:
    """Vendors before and after one that brings no platform are offered and work."""
    order = {"first": "xab", "last": "abx", "all-around": "xaybz"}[places]
    sandbox.vendors_in_order([good(sandbox, n) if n in "ab" else bad(sandbox, n) for n in order])

    with loader.start(sandbox) as cl:
        check_only(cl, sandbox, ["a", "b"])
        check_functions(cl, sandbox, ["a", "b"])


# Vendors that loaders judge differently: what becomes of them is recorded.
DOUBTFUL: dict[str, Callable[[Sandbox, str], str]] = {
    "no-info-function": _icd(variant="icd_without_get_platform_info", faults=["get_platform_info_not_returned"]),
    "info-only-by-address": _icd(variant="icd_without_get_platform_info"),
    "list-function-only-exported": _icd(faults=["get_platform_ids_not_returned"]),
    "list-function-only-by-address": _icd(variant="icd_without_get_platform_ids"),
    "extensions-size-fails": _icd(faults=["extensions_size_fails"]),
    "extensions-data-fails": _icd(faults=["extensions_data_fails"]),
    "no-icd-extension": _icd(extensions="cl_khr_other"),
    "one-of-three-fails": _icd(platforms=3, faults=["suffix_size_fails@1"]),
    "one-of-three-has-no-icd-extension": _icd(platforms=3, per_platform=[{}, {"extensions": "cl_khr_other"}, {}]),
    "first-of-three-has-no-icd-extension": _icd(platforms=3, per_platform=[{"extensions": "cl_khr_other"}, {}, {}]),
    "no-devices": _icd(gpus=0),
    "devices-fail": _icd(faults=["device_list_fails"]),
}


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("doubtful", DOUBTFUL.values(), ids=DOUBTFUL.keys())
def test_vendors_around_a_doubtful_one_work(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], doubtful: Callable[[Sandbox, str], str]
) -> None:
    """Whatever becomes of a vendor that loaders judge differently, those around it are offered and work."""
    order = ["x0", "a", "x1", "b", "x2"]
    sandbox.vendors_in_order([good(sandbox, n) if n in "ab" else doubtful(sandbox, n) for n in order])

    with loader.start(sandbox) as cl:
        listed = list(cl.platform_names())
        check_functions(cl, sandbox, ["a", "b"])
    assert [listed.count("a"), listed.count("b")] == [1, 1]
    others = sorted(name for name in listed if name not in "ab")
    kept = [name[2:] for name in others if name.startswith("x0")]
    assert all(name.startswith("x") for name in others)
    record(f"lists {len(kept)} of them")


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("way", ["linked", "system", "bind_now"])
@pytest.mark.parametrize("count", [1, 8, 9], ids=str)
def test_good_vendors_among_all_kinds_of_bad_ones_work(loader: Loader, sandbox: Sandbox, way: str, count: int) -> None:
    """Good vendors among all kinds of bad ones are offered and work."""
    contents = [BAD[kind](sandbox, f"x{i}") for i, kind in enumerate(MIXED)]
    names = [f"g{i}" for i in range(count)]
    for i, name in enumerate(names):
        contents.insert(1 + i * 7 % len(contents), good(sandbox, name))
    sandbox.vendors_in_order(contents)

    with loader.start(sandbox, linked=way == "linked", system=way == "system", bind_now=way == "bind_now") as cl:
        check_only(cl, sandbox, names)


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("seed", range(18))
def test_good_vendors_work_in_any_order_with_bad_ones(loader: Loader, sandbox: Sandbox, seed: int) -> None:
    """Good and bad vendors in any order and number: the good ones are offered and work."""
    chance = random.Random(seed)
    platforms = 1 + seed % 3
    names, contents = [], []
    for i in range(chance.choice([3, 5, 7, 8, 9, 12, 16])):
        if chance.random() < (0.25, 0.5, 0.75)[seed // 6]:
            names.append(f"g{i}")
            contents.append(good(sandbox, names[-1], platforms))
        else:
            contents.append(BAD[chance.choice(MIXED)](sandbox, f"x{i}"))
    names.append("end")
    contents.insert(chance.randrange(len(contents) + 1), good(sandbox, "end", platforms))
    sandbox.vendors_in_order(contents)
    sandbox.env["GLIBC_TUNABLES"] = "glibc.malloc.perturb=165"  # what is freed does not look as it did

    with loader.start(sandbox) as cl:
        check_only(cl, sandbox, names, platforms)


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("kind", ["list-fails", "suffix-size-fails", "no-icd", "missing-library"])
@pytest.mark.parametrize("order", ["xa", "ax", "xab", "axb", "abx", "xaxb", "xxxab", "xaybz"])
def test_functions_of_vendors_around_bad_ones_are_found(
    loader: Loader, sandbox: Sandbox, order: str, kind: str
) -> None:
    """A vendor's own functions are found in it, whatever was done with memory when others were rejected."""
    good_ones = [n for n in order if n in "ab"]
    sandbox.vendors_in_order(
        [good(sandbox, n) if n in good_ones else BAD[kind](sandbox, f"{n}{i}") for i, n in enumerate(order)]
    )
    sandbox.env["GLIBC_TUNABLES"] = "glibc.malloc.perturb=165"  # what is freed does not look as it did

    with loader.start(sandbox) as cl:
        check_only(cl, sandbox, good_ones)
        check_functions(cl, sandbox, good_ones)


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("bad", [1, 7, 8, 9, 33], ids=str)
@pytest.mark.parametrize("where", ["before", "after"])
def test_one_good_vendor_is_found_among_many_bad_ones(loader: Loader, sandbox: Sandbox, where: str, bad: int) -> None:
    """One good vendor is found after or before any number of bad ones."""
    contents = [BAD["list-fails" if i % 2 else "missing-library"](sandbox, f"x{i}") for i in range(bad)]
    contents.insert(0 if where == "after" else bad, good(sandbox, "good"))
    sandbox.vendors_in_order(contents)

    with loader.start(sandbox) as cl:
        check_only(cl, sandbox, ["good"])


@requirement("DISC-ENV-009")
def test_bad_libraries_named_by_variable_cost_only_themselves(loader: Loader, sandbox: Sandbox) -> None:
    """Bad libraries that a variable names cost neither the other named ones nor those of the directory."""
    loader.require("OCL_ICD_FILENAMES")
    lines = [BAD[kind](sandbox, f"x{i}") for i, kind in enumerate(["missing-library", "list-fails", "no-icd"])]
    named = [lines[0], good(sandbox, "a"), lines[1], good(sandbox, "b"), lines[2]]
    sandbox.env["OCL_ICD_FILENAMES"] = ":".join(line.rstrip("\n") for line in named)
    sandbox.vendors_in_order([BAD["suffix-size-fails"](sandbox, "y"), good(sandbox, "c")])

    with loader.start(sandbox) as cl:
        check_only(cl, sandbox, ["a", "b", "c"])
        check_functions(cl, sandbox, ["a", "b", "c"])
