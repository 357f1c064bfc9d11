# SPDX-License-Identifier: Apache-2.0
"""The two strings that decide about a platform: its extensions and its suffix (DISC-ACC)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import Loader, Sandbox, requirement

# Strings that list cl_khr_icd.
LISTED = {
    "alone": "cl_khr_icd",
    "first": "cl_khr_icd cl_khr_fp64 cl_khr_gl_sharing",
    "middle": "cl_khr_fp64 cl_khr_icd cl_khr_gl_sharing",
    "last": "cl_khr_fp64 cl_khr_gl_sharing cl_khr_icd",
    "twice": "cl_khr_icd cl_khr_icd",
    "after-a-longer-name": "cl_khr_icdx cl_khr_icd",
    "after-a-name-that-ends-so": "xcl_khr_icd cl_khr_icd",
    "before-a-longer-name": "cl_khr_icd cl_khr_icdx",
    "between-longer-names": "xcl_khr_icd cl_khr_icdx cl_khr_icd cl_khr_icd_x xcl_khr_icd",
    "after-a-shorter-name": "cl_khr_ic cl_khr_icd",
    "after-a-prefix": "cl cl_khr cl_khr_ cl_khr_icd",
    "after-one-letter": "c cl_khr_icd",
    "after-unloadable": "cl_khr_icd_unloadable cl_khr_icd",
    "before-unloadable": "cl_khr_icd cl_khr_icd_unloadable",
    **{f"after-{n}-bytes": "x" * (n - 1) + " cl_khr_icd" for n in (2, 15, 16, 17, 63, 64, 65, 255, 256, 1024, 4096)},
    "after-100000-bytes": "x" * 99 * 1000 + " cl_khr_icd",
    "after-1000-names": "cl_khr_something_else " * 1000 + "cl_khr_icd",
    "before-1000-names": "cl_khr_icd " + "cl_khr_something_else " * 1000,
}

# Strings that do not, though cl_khr_icd stands somewhere in most of them.
MORE_SPACES = {
    "space-before": " cl_khr_icd",
    "space-after": "cl_khr_icd ",
    "spaces-around": "  cl_khr_icd  ",
    "two-spaces-between": "cl_khr_fp64  cl_khr_icd  cl_khr_fp16",
}
NEAR_MISSES = {
    "longer": "cl_khr_icdx",
    "longer-first": "cl_khr_icdx cl_khr_fp64",
    "longer-middle": "cl_khr_fp64 cl_khr_icdx cl_khr_gl_sharing",
    "longer-last": "cl_khr_fp64 cl_khr_icdx",
    "number-after": "cl_khr_icd2",
    "letter-before": "xcl_khr_icd",
    "letter-before-first": "xcl_khr_icd cl_khr_fp64",
    "letter-before-middle": "cl_khr_fp64 xcl_khr_icd cl_khr_gl_sharing",
    "letter-before-last": "cl_khr_fp64 xcl_khr_icd",
    "underscore-after": "cl_khr_icd_",
    "unloadable-only": "cl_khr_icd_unloadable",
    "unloadable-first": "cl_khr_icd_unloadable cl_khr_fp64",
    "unloadable-last": "cl_khr_fp64 cl_khr_icd_unloadable",
    "letters-around": "xcl_khr_icdx",
    "comma-after": "cl_khr_icd,cl_khr_fp64",
    "comma-before": "cl_khr_fp64,cl_khr_icd",
    "semicolon-after": "cl_khr_icd;cl_khr_fp64",
    "twice-without-space": "cl_khr_icdcl_khr_icd",
}

# Strings in which it does not stand at all: a loader that searches for it anywhere must refuse them, too.
FAR_MISSES = {
    "empty": "",
    "space": " ",
    "shorter": "cl_khr_ic",
    "cut-at-the-front": "l_khr_icd",
    "capitals": "CL_KHR_ICD",
    "one-capital": "cl_khr_Icd",
    "split": "cl_khr _icd",
    "another": "cl_khr_fp64",
    "prefix": "cl_khr_",
    "many": "cl_khr_something_else " * 1000,
    **{f"another-letter-{n}": f"{'cl_khr_icd'[:n]}#{'cl_khr_icd'[n + 1 :]}" for n in range(10)},
}


@pytest.mark.parametrize(
    "extensions",
    [
        *(
            pytest.param(e, id=i, marks=pytest.mark.requirement("DISC-ACC-014", "DISC-ACC-015"))
            for i, e in LISTED.items()
        ),
        *(pytest.param(e, id=i, marks=pytest.mark.requirement("DISC-ACC-041")) for i, e in MORE_SPACES.items()),
    ],
)
def test_platform_that_lists_the_extension_anywhere_is_offered(
    loader: Loader, sandbox: Sandbox, extensions: str
) -> None:
    """A platform is offered wherever cl_khr_icd stands in its extension string, and however long that is."""
    sandbox.vendor("x", extensions=extensions)
    sandbox.vendor("y", platforms=3, per_platform=[{}, {"extensions": extensions}, {}])

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.platform_names() == {"x", "y.0", "y.1", "y.2"}
        platform = next(p for p in cl.GetPlatformIDs() if cl.GetPlatformInfo(p) == "y.1")
        assert cl.GetPlatformInfo(platform, "CL_PLATFORM_EXTENSIONS") == extensions


@requirement("DISC-ACC-015")
@pytest.mark.parametrize("extensions", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_extension_is_a_whole_name(loader: Loader, sandbox: Sandbox, extensions: str) -> None:
    """A longer name that contains cl_khr_icd is not cl_khr_icd."""
    sandbox.vendor("x", extensions=extensions)
    sandbox.vendor("a", extensions=f"{extensions} cl_khr_icd")

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.platform_names() == {"a"}


@requirement("DISC-ACC-014")
@pytest.mark.parametrize("extensions", FAR_MISSES.values(), ids=FAR_MISSES)
def test_platform_without_the_extension_is_not_offered(loader: Loader, sandbox: Sandbox, extensions: str) -> None:
    """A platform that does not list cl_khr_icd is not offered."""
    sandbox.vendor("x", extensions=extensions)
    sandbox.vendor("a", extensions=f"{extensions} cl_khr_icd")

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.platform_names() == {"a"}


@requirement("DISC-ACC-014")
@pytest.mark.parametrize("separator", ["\t", "\n", "\r", "\v"], ids=["tab", "newline", "return", "vertical-tab"])
def test_extensions_separated_by_other_white_space_harm_no_other_vendor(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], separator: str
) -> None:
    """Names are separated by spaces; what another white space does is the loader's choice, without harm to others."""
    sandbox.vendor("x", extensions=f"cl_khr_fp64{separator}cl_khr_icd{separator}cl_khr_fp16")
    sandbox.vendor("a")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.platform_names()
    assert names == {"a"} or names == {"a", "x"}
    record("offered" if "x" in names else "not offered")


SUFFIXES = ["", "X", "NV", "AMDX", "x" * 7, "Y" * 15, "Y" * 16, "Y" * 17, "Z" * 31, "Z" * 63, "Q" * 64, "W" * 255]


@requirement("DISC-ACC-018")
@pytest.mark.parametrize("suffix", SUFFIXES, ids=lambda suffix: f"{len(suffix)}")
def test_suffix_of_any_length_finds_the_functions(loader: Loader, sandbox: Sandbox, suffix: str) -> None:
    """A platform is offered whatever the length of its suffix, which may be empty; its functions are found by it."""
    sandbox.vendor("a", suffix="FIRST")
    sandbox.vendor("x", suffix=suffix, platforms=3)

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == {"a", "x.0", "x.1", "x.2"}
        platforms = {cl.GetPlatformInfo(p): p for p in cl.GetPlatformIDs()}
        assert cl.GetPlatformInfo(platforms["x.1"], "CL_PLATFORM_ICD_SUFFIX_KHR") == suffix
        if suffix:  # which vendor an empty one stands for is DISP-EXT's subject
            assert cl.vendor_function(f"clSomething{suffix}") == "x"
            assert cl.vendor_function("clSomethingFIRST") == "a"
            assert cl.vendor_function(f"clSomething{suffix}_") is None
            assert cl.vendor_function("clSomethingElse") is None


# Strings without a terminator, of sizes around the multiples of 16 in which heaps give out memory.
UNTERMINATED = {
    **{f"extensions-{n}": ("extensions", ("cl_khr_icd" + " e" * n)[:n]) for n in (10, 16, 17, 31, 32, 33, 64)},
    **{f"extensions-last-{n}": ("extensions", "cl_khr_icd".rjust(n)) for n in (16, 32, 33)},
    **{f"other-extensions-{n}": ("extensions", ("cl_khr_fp" + " e" * n)[:n]) for n in (10, 16, 17, 32, 64)},
    **{f"suffix-{n}": ("suffix", "S" * n) for n in (1, 8, 15, 16, 17, 32, 33, 64)},
}


@requirement("DISC-ACC-021")
@pytest.mark.parametrize("way", UNTERMINATED)
def test_string_without_terminator_is_not_read_past_its_size(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], way: str
) -> None:
    """An extension string or suffix without a terminator is not read past the size that was reported."""
    string, text = UNTERMINATED[way]
    sandbox.vendor("x", faults=[f"{string}_unterminated"], **{"suffix": "MIDDLE", string: text})
    sandbox.vendor("y", **{"suffix": "MIDDLE", string: text})
    sandbox.vendor("a", suffix="FIRST")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.platform_names()
        cl.GetExtensionFunctionAddress("clSomethingUNKNOWN")
    if "other" in way and "y" not in names:
        assert names == {"a"}
    else:
        assert set(names) - {"x"} == {"a", "y"}
    record("offered" if "x" in names else "not offered")


@requirement("DISC-ACC-021")
@pytest.mark.parametrize("size", [0, 1, 5, 11, 12, 200, 4096, 100000])
@pytest.mark.parametrize("string", ["extensions", "suffix"])
def test_string_of_another_size_than_reported_uses_no_other_memory(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], string: str, size: int
) -> None:
    """Where the reported size is not that of the string, no memory outside of the reported size is used."""
    sandbox.vendor("x", suffix="TERMINAL", faults=[f"{string}_size_is={size}"])
    sandbox.vendor("a", suffix="FIRST")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        cl.GetExtensionFunctionAddress("clSomethingUNKNOWN")
        assert cl.vendor_function("clSomethingFIRST") == "a"
    assert names == {"a"} or names == {"a", "x"}
    record("offered" if "x" in names else "not offered")


@requirement("DISC-ACC-037")
@pytest.mark.parametrize("size", [1 << 62, -1, -4096], ids=["2-to-62", "all-ones", "minus-4096"])
@pytest.mark.parametrize("string", ["extensions", "suffix"])
def test_string_of_impossible_size_rejects_only_its_platform(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], string: str, size: int
) -> None:
    """A platform whose extension string or suffix does not fit into memory is not offered, without harm to others."""
    sandbox.vendor("x", suffix="TERMINAL", faults=[f"{string}_size_is={size}"])
    sandbox.vendor("a", suffix="FIRST")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.platform_names()
    assert names == {"a"} or (string == "extensions" and names == {"a", "x"})
    record("offered" if "x" in names else "not offered")


@requirement("DISC-ACC-037")
@pytest.mark.parametrize("string", ["extensions", "suffix"])
def test_size_of_a_string_that_is_not_written_harms_no_other_vendor(
    loader: Loader, sandbox: Sandbox, string: str
) -> None:
    """A size query that succeeds without an answer harms no other vendor, whatever it does to its own."""
    sandbox.vendor("x", faults=[f"{string}_size_unset"])
    sandbox.vendor("a")

    with loader.start(sandbox) as cl:
        names = cl.platform_names()
    assert names == {"a"} or names == {"a", "x"}
