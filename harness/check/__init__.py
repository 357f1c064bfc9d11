# SPDX-License-Identifier: Apache-2.0
"""What the author of a check imports: `from harness.check import Loader, Sandbox, requirement`.

This is the only door between suites/ and the harness; the lint at collection holds it. The imports below say what there
is, by topic. Readers and type checkers see them; at run time a module is loaded when the first of its names is needed:
the suites of loaders do not wait for the vocabulary of vendors.
"""

# ruff: noqa: F401

from __future__ import annotations

import ast
import functools
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

# isort: off
# fmt: off
if TYPE_CHECKING:
    # --- marks: which requirement a check proves, what an ICD must have for it ---
    from harness.check.marks import extension, requirement, scenario

    # --- the subject under test, as fixtures bring it, and the machine around it ---
    from harness.build import build
    from harness.sandbox import MockIcd, MockLayer, Sandbox, Unsupported
    from harness.subject.capabilities import (
        CAPABILITIES, outcomes as capability_outcomes, signs as capability_signs,
    )
    from harness.subject.icd import Icd
    from harness.subject.questions import LOADER_INFO
    from harness.subject.layer import DEINIT, INFO as LAYER_INFO, INIT, INIT_WITH_PROPERTIES, Layer
    from harness.subject.loader import ANDROID_VENDORS, SYSTEM_LAYERS, SYSTEM_VENDORS, Loader

    # --- Windows: its registry and its devices ---
    from harness.sandbox.windows import (
        INTEGRITY, LAYERS as LAYERS_KEY, NEED_RESTART, PACKAGE_FAMILY,
        VENDORS as VENDORS_KEY, VENDORS_32 as VENDORS_KEY_32,
    )
    from harness.subject.pe import file_version
    from harness.subject.windows_loader import WindowsLoader

    # --- the API as data: CL.INVALID_VALUE and all other constants by name, functions, slots, queries ---
    from harness.api.codes import CL, Code
    from harness.api.commands import command_type
    from harness.api.contract.queries import Query, queries
    from harness.api.contract.slots import opencl_version, slots
    from harness.api.model import Function, Parameter, api

    # --- a session: calls, values, how it can end ---
    from harness.probe.calls import CallFailed
    from harness.probe.deviations import Parts
    from harness.probe.process_calls import state_changes
    from harness.probe.session import CANARY, CommandError, Session
    from harness.probe.calls import Buffer, Later
    from harness.probe.values import Callback, CallbackArgument, Names, Value, pack, unpack
    from harness.probe.verdicts import AbnormalExit, Crashed, Hung, Leaked, SubjectFailure

    # --- the call log ---
    from harness.calllog.reader import CallLog, Event

    # --- objects of every class; calls whose every bit is known, of one function or of the whole API ---
    from harness.probe.objects import Objects
    from harness.probe.patterns import (
        LIST as LIST_LENGTH, PatternedCall, Sent, address_of, answered as answer_pattern, arriving, make_all,
        read_all, routing_parameter, variants,
    )
    from harness.probe.whole_api import (
        call_all, exchanges, lacking_calls, misrouted, reached, refusal_problems, with_slots,
    )

    # --- functions that are reached by address query; their lists ---
    from harness.check.addressed import DEVICE, NAME, Words, problems_of_function, problems_of_lists
    from harness.probe.extensions import (
        FUNCTIONS as EXTENSION_FUNCTIONS, function_of, memory_handle_types, semaphore_handle_types,
    )

    # --- calls of the loader for resources that fail ---
    from harness.probe.torture import Failure, Torture, answered_in_order

    # --- calls of every function while the process ends ---
    from harness.check.late import (
        POINTS as LATE_POINTS, VENDOR as LATE_VENDOR, keep_late_calls, late_outcomes, open_before,
        summary as late_summary,
    )

    # --- layers in front of a loader; what a call costs ---
    from harness.check.through_layers import also_through_layers
    from harness.check.layer_schemes import LEGACY, SCHEMES, use_layers, use_scheme
    from harness.probe.counting import counted

    # --- a layer under test ---
    from harness.check.layer.chain import (
        preparing, require_kept, start as start_with_layers, use_layer, without as log_without,
    )
    from harness.check.layer.compared import handles_of, problems as noticeable_problems
    from harness.check.layer.workload import (
        run_mistakes,
        run_rare_mistakes,
        run_rarities,
        run_workload,
        vendors_calls,
        vendors_numbers,
    )
    from harness.probe.layer_session import LayerSession, OrdinaryCall, Table, all_entries, ordinary_variants

    # --- a Vulkan loader under test: its session, its sandbox, the API as data ---
    from harness.api.vulkan.model import VK, version_number, version_text, vulkan
    from harness.check.vulkan_dispatch import (
        Calls as VulkanCalls, by_origin as vulkan_functions_by_origin, chain_of as vulkan_chain_of,
        extensions_of as vulkan_extensions_of, names_of as vulkan_names_of,
        physical_device_functions as vulkan_physical_device_functions,
    )
    from harness.probe.vulkan_session import Extension, VulkanSession
    from harness.sandbox.vulkan import MockDriver, VulkanSandbox, manifest_of
    from harness.subject.vulkan_capabilities import NEGOTIATE
    from harness.subject.vulkan_loader import VulkanLoader

    # --- a Vulkan driver under test: its session, in which the probe is in the place of the loader ---
    from harness.probe.vulkan_driver_session import (
        GET_INSTANCE, GET_PHYSICAL_DEVICE, MAGIC as LOADER_MAGIC, OFFICIAL as OFFICIAL_NAMES, VulkanDriverSession,
    )
    from harness.subject.vulkan_driver import VulkanDriver

    # --- a vendor's ICD under test: its session, its objects, calls by the contract ---
    from harness.check.icd import calls
    from harness.check.icd.advertised import platforms_with_devices
    from harness.check.icd.compute import Compute, compiles, require_compiler
    from harness.probe.icd_objects import (
        ARGUMENT_INFORMATION, FURTHER as FURTHER_OBJECTS, INFO as OBJECT_QUERIES, KERNEL_OF_ARGUMENTS, KERNELS,
        QUERIED as QUERIED_OBJECTS, IcdObjects,
    )
    from harness.probe.icd_session import ENUMERATE, ICD2_FUNCTIONS, NO_TEXTS, QUERY, TAGGED, IcdSession, misspelt

    # --- what its memory objects hold, what it says of its objects ---
    from harness.check.icd.arguments import PARAMETERS, ArgumentObjects, KernelParameter
    from harness.check.icd.info import Info, numeric_version
    from harness.check.icd.kernels import (
        DEFINED, IDS, SOURCES as KERNEL_SOURCES, TYPES as KERNEL_TYPES, Kernels, Range,
    )
    from harness.check.icd.memory import (
        PLAIN as PLAIN_FORMAT, SHAPES, Format, Images, Layout, Memory, Shared, copied, flags_of, layout_of,
        native_memory, numbered, expect_same, with_bytes,
    )

    # --- its property lists ---
    from harness.check.icd.creators import (
        Answer, BUFFER, CONTEXT, CONTEXTS, CREATORS, FROM_TYPE, HIGH, IMAGE, LOW, MED, MEMORY, OLDER, QUEUE,
        QUEUES, QUEUE_KHR, SAMPLER, Creator, creators_of, list_of, orders, shown,
    )

    # --- its sharing with OpenGL, its external memory and semaphores ---
    from harness.check.icd.outside import from_outside
    from harness.check.icd.external import SIZE as MEMORY_SIZE, STATUS, TYPE, Importer, Semaphores, importers, target
    from harness.check.icd.platform import Platform, may_block, platforms_with
    from harness.check.icd.gl import FILL, GlPlatform, gl_platforms
    from harness.check.icd.recorders import SIZE as RECORDED_SIZE, Recorder, recorders
# fmt: on
# isort: on


@functools.cache
def _homes() -> dict[str, tuple[str, str]]:
    """The module of each name above, and its name there."""
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: (block.module, alias.name)
        for block in ast.walk(tree)
        if isinstance(block, ast.ImportFrom) and block.module and block.col_offset
        for alias in block.names
    }


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _homes():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, original = _homes()[name]
        home = importlib.import_module(module)
        value = getattr(home, original) if hasattr(home, original) else importlib.import_module(f"{module}.{original}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(_homes())
