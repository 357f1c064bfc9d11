# SPDX-License-Identifier: Apache-2.0
"""What a loader can do beyond the specification's core: found out by asking it, never by its name.

A capability that is missing makes checks of it `unsupported`. So that a broken one does not look like a missing one,
each is asked for in several ways, of which one must hold; and a loader that shows a sign of it, a text that stands in
its file or a variable that it asks for, but for which none holds is a loader that does not do what it says
(suites/discovery/test_general_signs.py).
Where the loader's expectation file is known, a capability that vanished is a deviation.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import derived
from harness.build import build
from harness.probe import SubjectFailure
from harness.sandbox import LogNotWhole, Sandbox, Unsupported
from harness.subject import questions
from harness.subject.answers import remembered
from harness.subject.base import NO_ANSWER
from harness.subject.places import ANDROID_VENDORS
from harness.subject.questions import LOADER_INFO, Loader
from harness.untrusted import head

Question = Callable[[Loader, Sandbox], bool]

_VARIABLE = re.compile(rb"(?<![A-Za-z0-9_])(O[A-Z]*(?:_[A-Z]+)+)\0")
# How alike two names of variables are (difflib's ratio), where one must be a slip in the other; how much of a name is
# left where it was cut off.
_ALIKE, _LEFT = 0.9, 0.7
_MOST_OF_NAMES = 1 << 16  # bytes


@dataclass(frozen=True)
class Capability:
    """`ways`: questions, one of which must hold; `signs`: texts of which a loader that has it contains one."""

    ways: tuple[Question, ...]
    signs: tuple[str, ...] = ()


LAYERS_IN_REGISTRY = "layers of the registry"

CAPABILITIES: dict[str, Capability] = {
    "OCL_ICD_VENDORS": Capability(
        (questions.directory_by_variable, questions.directory_by_variable_with_slash), ("OCL_ICD_VENDORS",)
    ),
    LOADER_INFO: Capability((questions.loader_info, questions.loader_info_has_an_address), (LOADER_INFO,)),
    "Android vendor directory": Capability(
        (questions.android_directory, questions.android_directory_of_two), (ANDROID_VENDORS,)
    ),
    "OCL_ICD_VENDORS as a library": Capability((questions.library_as_vendors, questions.library_as_vendors_by_name)),
    "OCL_ICD_FILENAMES": Capability(
        (
            questions.libraries_by_variable,
            questions.two_libraries_by_variable,
            questions.library_beside_directory,
        ),
        ("OCL_ICD_FILENAMES",),
    ),
    "OPENCL_VENDOR_PATH": Capability(
        (questions.vendor_path_alias, questions.vendor_path_alias_with_slash), ("OPENCL_VENDOR_PATH",)
    ),
    "OCL_ICD_ENABLE_TRACE": Capability((questions.trace, questions.trace_beside_no_vendor), ("OCL_ICD_ENABLE_TRACE",)),
    "OCL_ICD_ASSUME_ICD_EXTENSION": Capability(
        (questions.assumes_icd_extension, questions.assumes_icd_extension_to_debug), ("OCL_ICD_ASSUME_ICD_EXTENSION",)
    ),
    # Where it has clGetPlatformInfo from before it knows what a platform has: the text leaves that to it.
    "clGetPlatformInfo of the table": Capability((questions.info_function_of_the_table,)),
    "clGetPlatformInfo of the table first": Capability((questions.info_function_of_the_table_first,)),
    "clGetPlatformInfo of the table by assumption": Capability((questions.info_function_of_the_table_by_assumption,)),
    "OPENCL_LAYERS": Capability(
        (questions.one_layer, questions.first_of_two_layers, questions.second_of_two_layers),
        ("OPENCL_LAYERS", "clInitLayer", "clInitLayerWithProperties"),
    ),
    "OCL_ICD_LAYERS": Capability((questions.one_layer_by_former_name,), ("OCL_ICD_LAYERS",)),
    "OPENCL_LAYER_PATH": Capability(
        (questions.layer_directory, questions.layer_directory_with_slash), ("OPENCL_LAYER_PATH",)
    ),
    LAYERS_IN_REGISTRY: Capability(
        (questions.layer_of_the_registry, questions.second_layer_of_the_registry),
        (r"SOFTWARE\Khronos\OpenCL\Layers",),
    ),
    "OCL_ICD_DEFAULT_PLATFORM": Capability(
        (questions.default_platform, questions.default_platform_of_two_vendors), ("OCL_ICD_DEFAULT_PLATFORM",)
    ),
    "initialises layers with properties": Capability(
        (questions.layers_with_properties, questions.one_of_two_layers_with_properties), ("clInitLayerWithProperties",)
    ),
    "deduplicates libraries": Capability((questions.deduplicates, questions.deduplicates_the_last)),
    "sorts platforms by devices": Capability(
        (questions.sorts_by_devices, questions.sorts_by_cpus), ("OCL_ICD_PLATFORM_SORT",)
    ),
    "unloads vendors": Capability((questions.unloads, questions.unloads_one_of_two), ("cl_khr_icd_unloadable",)),
    "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING": Capability(
        (questions.keeps_vendors_loaded, questions.keeps_layers_loaded),
        ("OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING",),
    ),
    "ICD 2": Capability((questions.icd2, questions.icd2_beside_icd1), ("clIcdSetPlatformDispatchDataKHR",)),
}


# Shown by a loader that honours a folder in a variable only where its name ends with a slash.
NEEDS_SLASH = "OCL_ICD_VENDORS needs a slash"

NAMES = (*CAPABILITIES, NEEDS_SLASH)


# What a build can leave out: its capabilities, and the texts of which none stands in a library without it. There are
# several texts, so that one that is misspelt does not look like a part that was left out.
_PARTS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("OPENCL_LAYERS", "OPENCL_LAYER_PATH", LAYERS_IN_REGISTRY, "initialises layers with properties"): (
        "OPENCL_LAYERS",
        "OPENCL_LAYER_PATH",
        "clGetLayerInfo",
        "clInitLayer",
    ),
    ("ICD 2",): ("clIcdGetFunctionAddressForPlatformKHR", "clIcdSetPlatformDispatchDataKHR"),
}
# A loader that knows the two functions of ICD 2 may do so only to refuse them to applications. One that uses them asks
# vendors for each function by its name, so that these stand in its data, not only in its table of symbols.
_ASKED_BY_ICD2 = ("clFlush", "clFinish", "clRetainContext", "icd 2", "ICD 2")


# What only Windows has.
_OF_WINDOWS = (LAYERS_IN_REGISTRY,)

# What Windows has no counterpart of: vendors and layers are in the registry.
_OF_LINUX = (
    "OCL_ICD_VENDORS",
    "Android vendor directory",
    "OCL_ICD_VENDORS as a library",
    "OPENCL_VENDOR_PATH",
    "OPENCL_LAYER_PATH",
)


# How a loader is led to its vendors.
_WAYS_TO_VENDORS = ("by_variable", "folder_ending", "system_vendors")


def _of_this_system() -> dict[str, Capability]:
    """The capabilities that loaders of the build's system can have."""
    left_out = _OF_LINUX if build().windows else _OF_WINDOWS
    return {name: capability for name, capability in CAPABILITIES.items() if name not in left_out}


def detect(loader: Loader) -> set[str]:
    """The capabilities of a loader; fills in how it is led to vendors, and the name and version that it answers.

    Starts some thirty processes, each in a sandbox of its own that is removed; raises nothing: what the loader does
    wrong there, its checks report.
    """
    answers = remembered(loader, lambda: _asked(loader))
    for name in _WAYS_TO_VENDORS:
        setattr(loader, name, answers[name])
    facts = loader.facts
    facts.name, facts.version, facts.opencl_version = answers["says"]
    return set(answers["shown"])


def _asked(loader: Loader) -> tuple[dict[str, Any], bool]:
    """What the loader answers, as JSON can hold it; and whether it answered everything."""
    shown: set[str] = set()
    trouble: list[Exception] = []
    for name, capability in _of_this_system().items():
        answers = [_ask(loader, way, trouble) for way in capability.ways[:1]]
        if name == "OCL_ICD_VENDORS" and answers == [None]:
            break  # it cannot even list one vendor: the checks will say so
        if any(answers) or _shows_otherwise(loader, name, answers, trouble):
            shown.add(name)
        if name == "OCL_ICD_VENDORS":
            loader.by_variable = name in shown
            loader.folder_ending = "" if any(answers) else "/"
            shown |= {NEEDS_SLASH} if loader.folder_ending and name in shown else set()
    claims = [loader.facts.name, loader.facts.version, loader.facts.opencl_version]
    ways = {name: getattr(loader, name) for name in _WAYS_TO_VENDORS}
    return {"shown": sorted(shown), "says": claims, **ways}, not trouble


def _shows_otherwise(loader: Loader, name: str, answers: list[bool | None], trouble: list[Exception]) -> bool:
    """Whether one of the other ways holds, after these answers; or the loader shows a sign of it and survives none."""
    for way in CAPABILITIES[name].ways[1:]:
        answers = [*answers, _ask(loader, way, trouble)]
        if answers[-1]:
            return True
    return all(answer is None for answer in answers) and bool(signs(loader, name))


def _ask(loader: Loader, question: Question, trouble: list[Exception] | None = None) -> bool | None:
    """What the loader answers in a sandbox of its own; None where it, or the call log, did not survive the question.

    `trouble` gets why it may answer otherwise another time: on a busy machine, or one that can do more.
    """
    sandbox = Sandbox(loader.path)
    try:
        return question(loader, sandbox)
    except (SubjectFailure, LogNotWhole) as error:
        (trouble if trouble is not None else []).append(error)
        return None
    except NO_ANSWER as error:
        if trouble is not None and isinstance(error, Unsupported):
            trouble.append(error)
        return False
    finally:
        sandbox.close()


def outcomes(loader: Loader, name: str) -> dict[str, str]:
    """What each way of asking for a capability gives now, by the question's name: "yes", "no" or "crash or hang"."""
    words = {True: "yes", False: "no", None: "crash or hang"}
    return {way.__name__.strip("_"): words[_ask(loader, way)] for way in CAPABILITIES[name].ways}


def left_out(loader: Loader) -> list[str]:
    """The capabilities that belong to parts of a loader of which nothing stands in the file; kept for that file."""
    file = _file_with_signs(loader)
    readers = (__file__, str(Path(__file__).with_name("elf.py")))
    return [str(name) for name in derived.of_file("left-out", file, readers, lambda: _left_out(file))]


def _left_out(file: Path) -> list[str]:
    from harness.subject import elf  # only here: what it reads with takes a while to import

    content = file.read_bytes()
    absent = {
        name for names, texts in _PARTS.items() if not any(t.encode() in content for t in texts) for name in names
    }
    if not any(text.encode() in elf.data(file) for text in _ASKED_BY_ICD2):
        absent.add("ICD 2")
    return sorted(absent & _of_this_system().keys())


def signs(loader: Loader, name: str) -> list[str]:
    """The signs of a capability: texts in the loader's file, variables that it asks for when it runs (a name may be put
    together there), and names of variables that only a slip tells from one.
    """
    if name not in _of_this_system():
        return []
    content = _file_with_signs(loader).read_bytes()
    asked_for = _asked_for(loader)
    names = CAPABILITIES[name].signs
    in_file = [] if name in left_out(loader) else [sign for sign in names if _stands_in(content, sign)]
    seen = in_file or [sign for sign in names if sign in asked_for]
    known = {sign for capability in CAPABILITIES.values() for sign in capability.signs}
    others = sorted(({match.decode() for match in _VARIABLE.findall(content)} | asked_for) - known)
    return seen or [other for other in others if any(_is_slip(other, sign) for sign in names)]


def _is_slip(other: str, name: str) -> bool:
    cut_off = name.startswith(other) and len(other) >= _LEFT * len(name)
    return cut_off or bool(difflib.get_close_matches(name, [other], cutoff=_ALIKE))


def _stands_in(content: bytes, sign: str) -> bool:
    return re.search(rb"(?<![A-Za-z0-9_])" + re.escape(sign.encode()) + rb"\0", content) is not None


def _asked_for(loader: Loader) -> set[str]:
    """The variables of OpenCL's loaders that it asks the C library for; on Windows nothing sees that."""
    if build().windows:
        return set()
    sandbox = Sandbox(loader.path)
    try:
        watch = sandbox.new_place("variables")
        watch.touch()
        with suppress(*NO_ANSWER):
            questions.ask_for_variables(loader, sandbox, watch)
        return {name.decode() for name in _VARIABLE.findall(head(watch, _MOST_OF_NAMES).replace(b"\n", b"\0"))}
    finally:
        sandbox.close()


def _file_with_signs(loader: Loader) -> Path:
    """The loader itself; for the seeded copy of the reference loader, which holds its mutants' texts, the original."""
    return build().reference_loader if loader.path == build().seeded_loader else loader.path


def lists_a_vendor(loader: Loader) -> bool:
    """Whether the loader lists a correct vendor, in the way in which it is led to vendors. Raises nothing."""
    return bool(_ask(loader, questions.one_vendor))


def tell_name(loader: Loader) -> None:
    """Fills in the name and the version that it answers, and nothing else: one process. Raises nothing."""
    _ask(loader, questions.loader_info)
