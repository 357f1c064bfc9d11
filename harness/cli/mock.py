# SPDX-License-Identifier: Apache-2.0
"""Run a program with mock ICDs, layers and Vulkan drivers in place of real ones, and log all calls that reach them."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.build import ROOT, build
from harness.calllog.reader import CallLog
from harness.cli.loader import output_path
from harness.errors import Exit, UsageError
from harness.escaping import printable
from harness.sandbox.faults import NAMES, faults
from harness.sandbox.mock_config import MockConfig, read
from harness.sandbox.program import run_program
from harness.sandbox.settings import Scope, settings
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject.search import SONAME, VULKAN_SONAME, system_loader

EXAMPLE = """\
  clharness mock -- clinfo -l                                                    with two vendors
  clharness mock --config mine.toml --trace build/trace.json -- ./application    for ui.perfetto.dev
  clharness mock --config mock_icds/vulkan/two-drivers.toml --log -- vulkaninfo  with two Vulkan drivers
  clharness mock --faults
  clharness mock --settings
"""

TWO_VENDORS = ROOT / "mock_icds" / "two-vendors.toml"
_LOG_SIZE = 256 << 20  # bytes of the call log; memory is used only as it fills


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="TOML file that describes the mocks (default: two vendors)"
    )
    parser.add_argument("--faults", action="store_true", help="list everything that the mocks can do wrong")
    parser.add_argument("--settings", action="store_true", help="list every setting of the mocks")
    parser.add_argument("--log", action="store_true", help="print the call log when the program has ended")
    parser.add_argument("--trace", metavar="FILE", help="write the calls as Chrome/Perfetto trace JSON")
    parser.add_argument("--keep", action="store_true", help="keep the folder that the mocks lie in")
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="program to run, with its arguments, after --")


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    if args.faults or args.settings:
        print("\n\n".join([*(_fault_lists() if args.faults else []), *(_setting_lists() if args.settings else [])]))
        return Exit.AS_EXPECTED
    config = read(args.config or TWO_VENDORS)
    if not args.command:
        named = f" --config {args.config}" if args.config else ""
        raise UsageError(f"no command to run: clharness mock{named} -- COMMAND")
    if args.trace is not None:  # finds out before the program runs that a result cannot be written
        args.trace = output_path("--trace", args.trace)
    # The loader's name is enough for mocks that call back: it is loaded when they look for it.
    sandbox = VulkanSandbox(Path(SONAME), stays=args.keep)
    try:
        status = _run_with(config, sandbox, args.command)
        _tell(sandbox, args)
    finally:
        if args.keep:
            _say(f"the mocks are kept in {sandbox.root}")
        else:
            sandbox.close()
    return status


def _say(text: str) -> None:
    print(f"clharness: {text}", file=sys.stderr)


def _list(title: str, entries: Mapping[str, str]) -> str:
    """A list for the terminal: a title, and each entry with its sentence below."""
    width = max(shutil.get_terminal_size((100, 24)).columns, 60)
    lines = [f"{title}:"]
    for name, sentence in entries.items():
        lines.append(f"  {name}")
        lines += textwrap.wrap(sentence, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines)


def _fault_lists() -> list[str]:
    return [_list(name, faults(kind)) for kind, name in NAMES.items()]


def _setting_lists() -> list[str]:
    """The settings of each mock."""
    titles: dict[Scope, str] = {
        "mock": "{}",
        "platform": "{}, each platform",
        "function": "{}, single functions, or `all` (in `functions`, as a list)",
    }
    lists = []
    for kind, mock in NAMES.items():
        for scope, title in titles.items():
            entries = {s.title: s.sentence for s in settings(kind, scope).values()}
            lists += [_list(title.format(mock), entries)] if entries else []
    return lists


def _run_with(config: MockConfig, sandbox: VulkanSandbox, command: Sequence[str]) -> int:
    """Runs the command with the user's environment and the mocks'; gives its exit code as a shell would."""
    sandbox.forget_log(_LOG_SIZE)
    environment = os.environ | config.fill(sandbox)
    loaders: dict[str, Path] = {}  # the reference loaders of what the mocks are for
    if config.icds or config.layers:
        loaders[SONAME] = build().reference_loader
    if config.drivers:
        loaders[VULKAN_SONAME] = build().with_vulkan().reference_loader
    return run_program(command, environment | _lent_loaders(loaders, sandbox, environment))


def _lent_loaders(
    loaders: Mapping[str, Path], sandbox: VulkanSandbox, environment: Mapping[str, str]
) -> dict[str, str]:
    """Where this machine has no loader, the variable with which programs find the reference loader."""
    folders = environment.get("LD_LIBRARY_PATH", "")
    own = [Path(folder) for folder in folders.split(":") if folder]
    missing = [name for name in loaders if not system_loader(name) and not any((f / name).exists() for f in own)]
    if not missing:
        return {}
    lent = sandbox.folder("loader")
    for name in missing:
        (lent / name).symlink_to(loaders[name])
        _say(f"there is no {name} on this machine: the program gets clharness's own reference loader")
    return {"LD_LIBRARY_PATH": f"{lent}:{folders}" if folders else str(lent)}


def _tell(sandbox: VulkanSandbox, args: argparse.Namespace) -> None:
    """What the mocks saw: a summary, and the log in the forms that were asked for."""
    log = sandbox.log_so_far
    text = "\n".join(printable(line) for line in log.text().splitlines())
    where = f"log: {_write_log(text)}"
    if args.log and text:
        print(text)
    if args.trace is not None:
        args.trace.write_text(log.chrome_trace())
    _say(f"{_summary(log)}; {where}")


def _write_log(text: str) -> Path:
    """Writes the last run's log into the build folder, or, where that is not ours to write to, into a new file."""
    path = build().folder / "mock.log"
    try:
        path.write_text(text + "\n")
    except OSError:
        number, name = tempfile.mkstemp(prefix="clharness-mock-", suffix=".log")
        path = Path(name)
        with open(number, "w") as file:
            file.write(text + "\n")
    return path


def _summary(log: CallLog) -> str:
    if not log.events:
        return "no mock was loaded: does the program use an OpenCL or a Vulkan loader?"
    calls = ", ".join(f"{who} {len(log.of(who).calls())}" for who in log.components())
    lost = f" ({log.dropped} more did not fit into the log)" if log.dropped else ""
    return f"calls: {calls}{lost}"
