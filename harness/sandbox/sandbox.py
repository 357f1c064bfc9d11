# SPDX-License-Identifier: Apache-2.0
"""One sandbox: a folder of its own that holds everything that a case makes, and that disappears with it."""

from __future__ import annotations

import itertools
import os
import random
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from harness import untrusted
from harness.build import build
from harness.calllog import reader
from harness.calllog.reader import CallLog, LogFile
from harness.errors import UsageError
from harness.sandbox import kept
from harness.sandbox.faults import NAMES, Kind, check_faults, nearest
from harness.sandbox.folder import OwnFolder, sweep
from harness.sandbox.guard import PREFIX
from harness.sandbox.machine import Unsupported, scratch_root
from harness.sandbox.settings import Value, function_lines, lines, settings
from harness.sandbox.windows import VENDORS, Machine, in_place, library_path, value_line
from harness.sandbox.wine import windows_path

KEPT_PREFIX = "clharness-kept-"  # of sandboxes that are not swept
MAX_WALKED = 2000  # entries of a sandbox that are looked at for a report

# Variables that choose vendors, layers or behaviour of any loader: none of them reaches a case by accident.
LOADER_VARIABLES = [
    "OCL_ICD_VENDORS",
    "OCL_ICD_FILENAMES",
    "OPENCL_VENDOR_PATH",
    "OPENCL_LAYERS",
    "OPENCL_LAYER_PATH",
    "OCL_ICD_LAYERS",
    "OCL_ICD_ENABLE_TRACE",
    "OCL_ICD_DEBUG",
    "OCL_ICD_DEFAULT_PLATFORM",
    "OCL_ICD_PLATFORM_SORT",
    "OCL_ICD_ASSUME_ICD_EXTENSION",
    "OCL_ICD_FORCE_LEGACY_TERMINATION",
    "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
]

# What a case may see of the harness's own environment: options of instrumented builds, the fault that the seeded
# reference loader is to have (clharness selftest), and nothing else.
PASSED_ON = (
    "CLHARNESS_FAULT",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
    "LSAN_OPTIONS",
    "LLVM_PROFILE_FILE",
    "GCOV_PREFIX",
)


@dataclass(frozen=True)
class MockIcd:
    """A copy of the mock ICD. `name` is its component in the call log and the name of its (first) platform."""

    name: str
    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class MockLayer:
    """A copy of the mock layer. `name` is its component in the call log."""

    name: str
    path: Path

    def __str__(self) -> str:
        return str(self.path)


def _mock(kind: Kind, variant: str) -> Path:
    """The built library of a variant."""
    built = {"icd": build().mock_icds, "layer": build().mock_layers}.get(kind) or build().with_vulkan().drivers
    if variant not in built:
        raise UsageError(f"there is no variant {variant!r} of the {NAMES[kind]}; {nearest(variant, built)}")
    return built[variant]


@cache
def _content(built: Path) -> bytes:
    """A library of the build, which does not change under a running case, and is copied for every vendor of each."""
    return built.read_bytes()


def _bytes(content: str | bytes) -> bytes:
    """What a file is to hold; paths in it may have any bytes."""
    return os.fsencode(content) if isinstance(content, str) else content


def _named_library(content: str | bytes) -> str:
    """The library that a line of a configuration file names. Raises Unsupported where it is more than that."""
    try:
        text = _bytes(content).decode()
    except UnicodeDecodeError:
        raise Unsupported("machine", "names of files on Windows are Unicode, and these bytes are not") from None
    if text.count("\n") != 1 or not text.endswith("\n"):
        raise Unsupported("machine", "Windows has no configuration files: what they can hold is a matter of Linux")
    return text[:-1]


class LogNotWhole(AssertionError):
    """The call log does not hold all that happened: what it lacks shows nothing."""


class Run(Protocol):
    """What a sandbox needs to know of a session that was started in it."""

    @property
    def calls_made(self) -> int:
        """How many calls were sent up to now."""

    @property
    def exit_code(self) -> int | None:
        """How the process ended; None while it runs, or after a signal."""


@cache
def _swept_root() -> Path:
    """Where sandboxes are made; those that killed runs left there are removed, once in each process."""
    sweep(scratch_root(), PREFIX)
    return scratch_root()


class Sandbox(Machine):
    """The machine of one case.

    `vendors` is its vendor directory, which the loader under test is shown as `OCL_ICD_VENDORS` (or, with
    `loader.start(sandbox, system=True)`, as the compiled-in /etc/OpenCL/vendors). `env` holds what else the
    application's environment has. Everything lies below `root` and is removed by `close`.
    """

    def __init__(self, loader_path: Path | None = None, *, stays: bool = False) -> None:
        """stays: nobody but a person removes it, unless it is closed."""
        super().__init__()
        self._own = OwnFolder(_swept_root(), KEPT_PREFIX if stays else PREFIX)
        self.root = self._own.path
        self.problems: list[str] = []  # what could not be done when it was closed
        self.vendors = self.folder("vendors")
        self.libraries = self.folder("libraries")
        self.log_path = self.root / "calllog"
        self._log = LogFile(self.log_path)
        self._runs_before = 0  # sessions that write to a log that was forgotten
        self.loader_path = loader_path
        self._log_line = f"log = {windows_path(self.log_path)}"
        self._loader_lines = [f"loader = {windows_path(loader_path)}"] if loader_path else []
        self.platforms = 0  # of all mock ICDs that were made here
        self.env: dict[str, str] = {}
        self.runs: list[Run] = []  # sessions started here, newest last (harness.probe.session.Session)

    def require_linux(self, what: str) -> None:
        """Makes the case `unsupported` on another system; `what` it needs, in words."""
        if build().windows:
            raise Unsupported("machine", f"{what}: a matter of Linux")

    @property
    def suffix(self) -> str:
        """What the names of libraries end in."""
        return ".dll" if build().windows else ".so"

    def _place(self) -> Path:
        """`root`, for writing. Fails where a subject put something else in its place."""
        assert self._own.is_in_place(), f"the subject removed or replaced the case's folder {self.root}"
        return self.root

    # --- files ---

    def folder(self, name: str) -> Path:
        """A new folder in the sandbox."""
        path = self._place() / name
        path.mkdir(parents=True)
        return path

    def new_place(self, name: str) -> Path:
        """The path of a folder that is to be made in the sandbox: `name` and a number."""
        return next(path for n in itertools.count() if not (path := self._place() / f"{name}-{n}").exists())

    def file(self, name: str, content: str | bytes = b"", mode: int = 0o644) -> Path:
        """A file in the sandbox (`name` may contain folders that exist)."""
        path = self._place() / name
        path.write_bytes(_bytes(content))
        path.chmod(mode)
        return path

    def vendor_file(self, name: str, content: str | bytes, folder: Path | None = None) -> Path:
        """A configuration file in the vendor directory, with exactly these bytes.

        On Windows, where there are no such files, a line that names a library is a value of the registry.
        """
        self._place()
        if build().windows:
            if folder or not name.endswith(".icd"):
                self.require_linux("folders of configuration files")
            _named_library(content)
        path = (folder or self.vendors) / name
        path.write_bytes(_bytes(content))
        return path

    def machine_lines(self) -> list[str]:
        """What is installed on Windows now: what the case said, and a value for each file of the vendor directory."""
        files = sorted(self.vendors.glob("*.icd")) if self.vendors.is_dir() else []
        if any(not path.is_file() for path in files):
            self.require_linux("what is not a file among configuration files")
        named = [library_path(_named_library(path.read_bytes())) for path in files]
        return [*self.lines, *(value_line(VENDORS, library) for library in named)]

    # --- mocks ---

    def icd(
        self,
        name: str,
        *,
        platforms: int = 1,
        faults: Iterable[str] = (),
        variant: str = "icd",
        file: str | None = None,
        folder: Path | None = None,
        functions: Mapping[str, Iterable[str]] | None = None,
        per_platform: Sequence[Mapping[str, Value]] = (),
        **values: Value,
    ) -> MockIcd:
        """A copy of the mock ICD, a vendor of its own.

        Further keywords are settings of the ICD, such as `icd2=True`, or hold for all its platforms, such as
        `suffix="A"`; `per_platform` has those of the n-th platform. mock_icds/settings.h explains them all, and
        `clharness mock --settings` prints them. With several platforms their names are "NAME.0", "NAME.1", …
        `faults` are entries of mock_icds/faults.h: "name", "name=VALUE", "name@PLATFORM".
        `variant` is a build of the mock (which symbols it exports), `file` the copy's file name.
        `functions` has settings of single functions, each with the functions that it is for:
        {"lacks": ["clFinish", "clFlush 1"], "waits_at": ["clFlush /path/of/a/FIFO"]}; "all" is every function.
        An ICD `refuses` where no loader is under test, unless `refuses` is given.
        """
        path = (folder or self.libraries) / (file or f"lib{name}{self.suffix}")
        about: dict[str, Value] = {"platforms": platforms, "refuses": not self.loader_path, **values}
        of_platforms = {key: about.pop(key) for key in values if key in settings("icd", "platform")}
        for key in about:
            if key not in settings("icd", "mock"):  # what was meant may be a setting of platforms, too
                known = settings("icd", "mock") | settings("icd", "platform")
                raise UsageError(f"the {NAMES['icd']} has no setting {key!r}; {nearest(key, known)}")
        configuration = [*lines("icd", "mock", about), *(function_lines("icd", functions) if functions else ())]
        for index in range(platforms):
            own: dict[str, Value] = {"name": name if platforms == 1 else f"{name}.{index}", **of_platforms}
            own |= per_platform[index] if index < len(per_platform) else {}
            configuration += lines("icd", "platform", own, f"platform.{index}.")
        configuration += [f"fault = {fault}" for fault in check_faults("icd", faults)]
        self.platforms += platforms
        self._copy_configured(_mock("icd", variant), path, name, configuration)
        return MockIcd(name, path)

    def vendor(self, name: str, **settings: object) -> MockIcd:
        """A mock ICD with its configuration file `NAME.icd` in the vendor directory; settings are those of `icd`."""
        mock = self.icd(name, **settings)  # type: ignore[arg-type]
        self.vendor_file(f"{name}.icd", f"{mock.path}\n")
        return mock

    def vendor_of_each_kind(self, icd2: bool, **settings: Any) -> None:
        """Vendors "a" of ICD 1 and "b" of ICD 2 (or of ICD 1, too, where `icd2` is false), listed in this order.

        The order is the same for every loader, as far as it can be: where ICD 2 is at fault, that has checks of its
        own, and should not turn those red that are about something else.
        """
        mocks = [self.icd("a", **settings), self.icd("b", icd2=icd2, **settings)]
        self.vendors_in_order([f"{mock}\n" for mock in mocks])
        self.env["OCL_ICD_PLATFORM_SORT"] = "none"

    def layer(
        self,
        name: str,
        *,
        faults: Iterable[str] = (),
        variant: str = "layer",
        file: str | None = None,
        folder: Path | None = None,
        functions: Mapping[str, Iterable[str]] | None = None,
        logs: bool = True,
    ) -> MockLayer:
        """A copy of the mock layer; `faults` are entries of mock_layers/faults.h.

        `variant` is a build of the mock: "layer" exports all four functions, the others say what they lack.
        `functions` has settings of single functions (mock_layers/settings.h), each with the functions that it is for:
        {"only": ["clFinish"]}. Without `logs` it keeps out of the call log.
        """
        path = (folder or self.libraries) / (file or f"lib{name}{self.suffix}")
        configuration = [*function_lines("layer", functions or {})]
        configuration += [f"fault = {fault}" for fault in check_faults("layer", faults)]
        self._copy_configured(_mock("layer", variant), path, name, configuration, logs=logs)
        return MockLayer(name, path)

    def _copy_configured(
        self, built: Path, path: Path, name: str, configuration: Iterable[str], *, logs: bool = True
    ) -> None:
        """A copy of a mock with its configuration beside it, which begins with what every mock needs."""
        self.copy_mock(built, path)
        common = [f"name = {name}", *[self._log_line] * logs, *self._loader_lines]
        Path(f"{path}.conf").write_bytes(_bytes("\n".join([*common, *configuration]) + "\n"))

    def copy_mock(self, built: Path, to: Path) -> None:
        """Copies a library: a copy is a file of its own, so that `dlopen` gives it a handle of its own."""
        self._place()
        with to.open("wb") as copy:
            copy.write(_content(built))
            os.fchmod(copy.fileno(), 0o755)

    # --- directory order ---

    def vendors_in_order(self, contents: Sequence[str | bytes]) -> list[Path]:
        """Files in the vendor directory that `readdir` lists in this order, whatever the file system's own order is.

        Returns the files in that order. All files of the directory should be made by this call.
        """
        if build().windows:
            return self._values_in_order(contents)
        count = len(contents)
        source = random.Random(count)
        for _ in range(20):
            for path in self.vendors.iterdir():
                path.unlink()
            for _ in range(count):
                (self.vendors / f"{source.randrange(10**6):06}.icd").touch()
            listed = [entry.name for entry in os.scandir(self.vendors)]
            if len(listed) == count:
                break
        paths = [self.vendors / name for name in listed]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(_bytes(content))
        if [entry.name for entry in os.scandir(self.vendors)] != listed:
            raise Unsupported("machine", "the order of directory entries cannot be controlled on this file system")
        return paths

    def _values_in_order(self, contents: Sequence[str | bytes]) -> list[Path]:
        """The registry has no order of its own; Wine has that of names, and Windows that in which they were made.

        Paths are spelt so that both are this one.
        """
        named = [library_path(_named_library(content)) for content in contents]
        libraries = [in_place(number, library) for number, library in enumerate(named)]
        if libraries != sorted(libraries, key=str.lower):
            raise Unsupported("machine", "the registry lists values in no order of ours")
        for path in self.vendors.glob("*.icd"):
            path.unlink()
        paths = [self.vendors / f"{number:03}.icd" for number in range(len(libraries))]
        for path, library in zip(paths, libraries, strict=True):
            path.write_text(f"{library}\n")
        return paths

    # --- what happened ---

    def gone(self) -> str:
        """What is not there any more of what each sandbox has, which nothing but a subject removes; "" for none."""
        paths = {"its folder": self.root, "the folder of vendors": self.vendors, "the call log": self.log_path}
        return next((name for name, path in paths.items() if not path.exists()), "")

    @property
    def log(self) -> CallLog:
        """The call log so far, of all processes that ran in this sandbox. Fails where it is not whole."""
        log = self.log_so_far
        calls = sum(run.calls_made for run in self.runs[self._runs_before :])
        at_rest = all(run.exit_code == 0 for run in self.runs)
        if problem := self._log.problem(log, calls, at_rest):
            raise LogNotWhole(f"the call log is not whole: {problem}")
        return log

    @property
    def log_so_far(self) -> CallLog:
        """The same, whatever happened to it: for a report."""
        return self._log.read()

    def forget_log(self, size: int = reader.DEFAULT_SIZE) -> None:
        """Empties the call log, between two runs in one sandbox; `size` is that of the new one in bytes."""
        self._place()
        self._log.close()
        self.log_path.unlink()
        self._log = LogFile(self.log_path, size)
        self._runs_before = len(self.runs)

    def paths(self) -> Iterator[tuple[Path, os.stat_result]]:
        """What lies in the sandbox, with its state, folder by folder; links are not followed."""
        for path, _, _, state in self._own.walk():
            yield self.root / path, state

    def listing(self) -> list[str]:
        """What lies in the sandbox, for a report: kind, size and start of each file; at most 60 files."""
        kinds = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket"}
        lines = []
        for path, name, at, state in itertools.islice(self._own.walk(), MAX_WALKED):
            shown = kinds.get(stat.S_IFMT(state.st_mode), f"{state.st_size} bytes")
            try:
                if stat.S_ISLNK(state.st_mode):
                    shown += f" to {os.readlink(name, dir_fd=at)}"
                elif name.endswith((".icd", ".lay", ".conf")) and stat.S_ISREG(state.st_mode):
                    shown += f": {untrusted.head(name, 200, at)!r}"
            except OSError as error:
                shown += f", {error.strerror}"
            lines.append((path.split("/"), f"{path}  ({shown})"))
        return [line for _, line in sorted(lines)[:60]]

    def keep(self, where: Path) -> Path:
        """Copies the sandbox (what can be copied of it) to `where`, for a person or a replay."""
        kept.keep(self._own, where)
        return where

    def close(self) -> None:
        """Removes the sandbox, also what a case made unreadable; `problems` says where that could not be done."""
        self._log.close()
        if problem := self._own.remove():
            self.problems.append(problem)
