"""Faults of ICDs: mock ICDs that are wrong in one thing, for `clharness selftest --icd`."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.sandbox import Sandbox
from harness.selftest.layers import VARIABLE, check_known, read_fault, without_log
from harness.selftest.loaders import Fault
from harness.subject.icd import Icd
from harness.tomlfile import only_keys, read, wrong

FOLDER = Path(__file__).parent / "mutants" / "icd"
_SETTINGS = (
    "icd2",
    "platforms",
    "extensions",
    "features",
    "suffix",
    "version",
    "table",
    "gpus",
    "per_platform",
    "refuses",
)
_KEYS = ("name", "requirement", "sentence", "faults", "functions", "variant", "cases", "file", *_SETTINGS)
_EXTERNAL = (
    " cl_khr_external_memory cl_khr_external_memory_opaque_fd cl_khr_external_memory_dma_buf cl_khr_semaphore "
    "cl_khr_external_semaphore cl_khr_external_semaphore_opaque_fd cl_khr_external_semaphore_sync_fd "
    "cl_khr_command_buffer"
)
# Two platforms, so that what one does to another shows; the first can do whatever is optional, the second nothing.
_PLAIN: dict[str, Any] = {
    "platforms": 2,
    "icd2": True,
    "refuses": True,
    "gpus": 2,
    "extensions": "cl_khr_icd cl_khr_icd_unloadable",
    "per_platform": [
        {
            "extensions": "cl_khr_icd cl_khr_icd_unloadable cl_khr_create_command_queue cl_khr_initialize_memory "
            "cl_khr_mipmap_image cl_khr_priority_hints cl_khr_terminate_context cl_khr_throttle_hints "
            "cl_ext_buffer_device_address cl_khr_gl_sharing cl_khr_gl_event cl_khr_gl_depth_images "
            "cl_khr_gl_msaa_sharing cl_khr_egl_image cl_khr_egl_event cl_APPLE_gl_sharing" + _EXTERNAL,
            "cpus": 1,
            "accelerators": 1,
            "features": "compiler device_queues images out_of_order pipes terminate",
        },
        {"extensions": "cl_khr_icd cl_khr_terminate_context cl_khr_command_buffer", "features": "compiler images"},
    ],
}


@dataclass(frozen=True)
class IcdFault:
    """A mock ICD that is wrong in one thing: its settings (Sandbox.icd)."""

    fault: Fault
    settings: Mapping[str, Any] = field(default_factory=dict)


@functools.cache
def icd_faults(folder: Path = FOLDER) -> dict[str, IcdFault]:
    """The lists faults*.toml by name."""
    found: dict[str, IcdFault] = {}
    for path in sorted(folder.glob("faults*.toml")):
        data = read(path)
        only_keys(path, "the head", data, ("fault",))
        listed = [_fault(path, table) for table in data.get("fault", [])]
        check_known(path, (one.fault for one in listed))
        if twice := {one.fault.name for one in listed} & found.keys():
            wrong(path, min(twice), "is in another list, too")
        found |= {one.fault.name: one for one in listed}
    return found


def _fault(path: Path, table: Mapping[str, Any]) -> IcdFault:
    fault = read_fault(path, table, "icd", _KEYS)
    about = ("name", "requirement", "sentence", "cases")
    return IcdFault(fault, {key: value for key, value in table.items() if key not in about})


def seeded_icd(sandbox: Sandbox) -> Icd:
    """An ICD with the fault that the environment names; without a log, like any ICD."""
    name = os.environ.get(VARIABLE)
    own = dict(icd_faults()[name].settings if name else {})
    settings = _PLAIN | own
    if "per_platform" not in own:  # what the fault tells, it tells of all platforms
        settings["per_platform"] = [
            {key: value for key, value in about.items() if key not in own} for about in _PLAIN["per_platform"]
        ]
    made = sandbox.icd("subject", folder=sandbox.folder("subject"), **settings)
    without_log(made.path)
    return Icd(made.path)
