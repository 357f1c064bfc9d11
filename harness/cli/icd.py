# SPDX-License-Identifier: Apache-2.0
"""Test a vendor's ICD, or a Vulkan driver, before its release: its library, and what loaders expect of it."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path

from harness.build import ROOT
from harness.cli.layer import add_loader_argument, folders_of_checks
from harness.cli.loader import WAITING_FOR_DRIVERS, add_run_arguments, library_path, run_suites
from harness.cli.variables import add_variables_argument, variable_options
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
  clharness icd pocl --release release-3.2 --previous release-3.1/records.jsonl     the report of a release
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
    add_variables_argument(parser, "the ICD needs, such as RUSTICL_ENABLE=llvmpipe")
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
    parser.add_argument(
        "--release",
        metavar="DIR",
        help="write the report of a release there: release.md, release.html (one page that prints) and records.jsonl",
    )
    parser.add_argument("--previous", metavar="FILE", help="with --release: the records of the release before")
    add_run_arguments(parser, WAITING_FOR_DRIVERS)


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
    if args.release:
        raise UsageError("--release is about OpenCL: leave it out; --markdown of `clharness report` has the results")
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
    if args.previous and not args.release:
        raise UsageError("--previous is compared in the report of --release: give that, too")
    is_vulkan = _is_vulkan(Path(args.file))
    kind = VulkanDriver if is_vulkan else Icd
    folders = folders_of_checks(kind)
    options = _vulkan_options(args) if is_vulkan else _options(args)
    options += variable_options(f"{kind.option}-env", args.env)
    options += [f"--icd-{name}={which}" for name in ("platform", "device") if (which := vars(args)[name])]
    if args.reproducers:
        options.append(f"--clharness-reproducers={_empty_folder(args.reproducers)}")
    return _released(args, options, folders) if args.release else run_suites(options, args, *folders)


def _released(args: argparse.Namespace, options: list[str], folders: Sequence[Path]) -> int:
    """Runs the suites, and writes the report of a release whatever they find."""
    from harness.run import release  # most runs need none of it

    previous = Path(args.previous).absolute() if args.previous else None
    if previous and not previous.is_file():
        raise UsageError(f"--previous {args.previous}: there is no such file; give the records.jsonl of a release")
    folder, records = release.prepare(args.release, args.json)
    args.json = str(records)
    code = run_suites(options, args, *folders)
    release.write(folder, records, previous)
    print(f"{folder / 'release.html'} and release.md are the report of this release.")
    return code
