# SPDX-License-Identifier: Apache-2.0
"""Test a vendor's ICD, or a Vulkan driver, before its release: its library, and what loaders expect of it."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from harness.build import ROOT
from harness.cli.layer import add_loader_argument, folders_of_checks
from harness.cli.loader import add_run_arguments, library_path, run_suites
from harness.errors import UsageError
from harness.subject import Icd, Loader, VulkanDriver
from harness.subject.icd import find_library
from harness.subject.identify import identify
from harness.subject.search import SONAME, system_loader
from harness.subject.vulkan_manifest import is_manifest

EXAMPLE = """\
  clharness icd build/libmyvendor.so                             directly, and through the loaders that are here
  clharness icd pocl --loader /usr/lib/libOpenCL.so.1            the installed pocl.icd, through that loader
  clharness icd ./myvendor.icd --junit build/icd.xml             what the file names; a report for the release
  clharness icd pocl --reproducers build/pocl                    a C program for each failure
  clharness icd rusticl --env RUSTICL_ENABLE=llvmpipe            one that needs a variable
  clharness icd /usr/share/vulkan/icd.d/lvp_icd.x86_64.json      a Vulkan driver, by its manifest or its library
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="library, .icd file, name of an installed .icd file, or manifest of a Vulkan driver (.json)",
    )
    add_loader_argument(parser, "the ICD", "the reference loader; default: the system's, and what ci/loaders fetched")
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a variable that the ICD needs, such as RUSTICL_ENABLE=llvmpipe; may be given several times",
    )
    parser.add_argument(
        "--platform", metavar="WHICH", help="use this platform only: its number, from 0, or a part of its name"
    )
    parser.add_argument(
        "--device",
        metavar="WHICH",
        help="make objects for this device of it: its number, from 0, or a part of its name",
    )
    parser.add_argument(
        "--reproducers",
        metavar="DIR",
        help="copy a small C program for each failed case there, known or not, with a README; a new or empty folder",
    )
    add_run_arguments(parser)


def loaders_of_the_machine() -> list[Path]:
    """Loaders that are here without being asked for: the system's, and what `ci/loaders` has fetched."""
    fetched = sorted((ROOT / "build" / "loaders" / "root" / "usr" / "lib").glob(f"*/{SONAME}"))
    loaders: dict[Path, Path] = {}
    for path in (system_loader(), *fetched):
        with contextlib.suppress(UsageError):
            if path is not None:
                Loader(path)  # some other library may have that name
                loaders.setdefault(path.resolve(), path)
    return list(loaders.values())


def _empty_folder(text: str) -> Path:
    """Makes it. Raises UsageError where it cannot be made, or holds anything."""
    path = Path(text).absolute()
    try:
        path.mkdir(exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(f"--reproducers {text}: is not empty; name a new folder")
    except OSError as error:
        raise UsageError(f"--reproducers {text}: {(error.strerror or str(error)).lower()}") from None
    return path


def _is_vulkan(path: Path) -> bool:
    """Whether a file is a Vulkan driver's, or can only be meant as its manifest."""
    return path.is_file() and (is_manifest(path) or identify(path).kind == VulkanDriver.identity.kind)


def _vulkan_options(args: argparse.Namespace) -> list[str]:
    if args.loader:
        raise UsageError(f"{args.file} is a Vulkan driver, which is tested without a loader: leave --loader out")
    if args.platform or args.device:
        raise UsageError("--platform and --device are of OpenCL: leave them out")
    if args.reproducers:
        raise UsageError("--reproducers writes programs of OpenCL: leave it out; `clharness replay` runs a failed case")
    VulkanDriver(Path(args.file))  # says what is wrong with a manifest or a library before anything is collected
    return [f"{VulkanDriver.option}={Path(args.file).absolute()}"]


def _options(args: argparse.Namespace) -> list[str]:
    options = [f"{Icd.option}={library_path(str(find_library(args.file)), 'an ICD, such as build/libmyvendor.so')}"]
    loaders = [library_path(path) for path in args.loader] if args.loader else loaders_of_the_machine()
    return options + [f"--through={path}" for path in loaders]


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    is_vulkan = _is_vulkan(Path(args.file))
    folders = folders_of_checks(VulkanDriver if is_vulkan else Icd)
    options = _vulkan_options(args) if is_vulkan else _options(args)
    for text in args.env:
        if not text.partition("=")[0] or "=" not in text:
            raise UsageError(f"--env {text}: give a name and a value, as in RUSTICL_ENABLE=llvmpipe")
    options += [f"--icd-env={text}" for text in args.env]
    options += [f"--icd-{name}={which}" for name in ("platform", "device") if (which := vars(args)[name])]
    if args.reproducers:
        options.append(f"--clharness-reproducers={_empty_folder(args.reproducers)}")
    return run_suites(options, args, *folders)
