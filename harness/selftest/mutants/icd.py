# SPDX-License-Identifier: Apache-2.0
"""Mutants of an ICD: mock ICDs that are wrong in one thing, for `clharness selftest --icd`.

The lists lie in icd/, a file for each section of the catalogue. An entry `[[mutant]]` has these keys:

name         of the mutant
requirement  the ID, or a list of IDs, of what it breaks
sentence     goes on after "makes the ICD …"; left out, that of the first fault in mock_icds/faults.h
cases        parts of the names of cases that should notice, with " or " between them

The other keys are those of Sandbox.icd; where none are given the ICD has two platforms and cl_khr_icd 2.0. Some
faults are in several mutants: one for each check that only notices them in its own function.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from harness.sandbox import Sandbox
from harness.selftest.mutants.of_mocks import MockMutant, chosen, read_lists, read_mutants, without_log
from harness.subject.icd import Icd

FOLDER = Path(__file__).with_name("icd")
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
_KEYS = ("faults", "functions", "variant", "file", *_SETTINGS)
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
            "cl_khr_device_uuid cl_khr_integer_dot_product cl_khr_pci_bus_info cl_khr_suggested_local_work_size "
            "cl_khr_subgroups cl_khr_spir "
            "cl_ext_buffer_device_address cl_khr_gl_sharing cl_khr_gl_event cl_khr_gl_depth_images "
            "cl_khr_gl_msaa_sharing cl_khr_egl_image cl_khr_egl_event cl_APPLE_gl_sharing" + _EXTERNAL,
            "unloadable": True,
            "cpus": 1,
            "accelerators": 1,
            "features": "compiler device_queues il images out_of_order pipes sub_groups terminate",
        },
        {
            "extensions": "cl_khr_icd cl_khr_icd_unloadable cl_khr_terminate_context cl_khr_command_buffer",
            "unloadable": True,
            "features": "compiler images",
        },
    ],
}


@functools.cache
def icd_mutants(folder: Path = FOLDER) -> dict[str, MockMutant]:
    """The mutants of the lists in a folder, by name."""
    return read_lists(folder, functools.partial(read_mutants, "icd", _KEYS))


def seeded_icd(sandbox: Sandbox) -> Icd:
    """The mutant that the environment names, or else a correct mock ICD; without a log, like any ICD."""
    own = chosen(icd_mutants())
    settings = {**_PLAIN, **own}
    if "per_platform" not in own:  # what a mutant sets, it sets for all platforms
        settings["per_platform"] = [
            {key: value for key, value in about.items() if key not in own} for about in _PLAIN["per_platform"]
        ]
    mock = sandbox.icd("subject", folder=sandbox.folder("subject"), **settings)
    without_log(mock.path)
    return Icd(mock.path)
