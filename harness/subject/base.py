# SPDX-License-Identifier: Apache-2.0
"""What every subject has: its kind, the facts of its file, how a process on it is started, what it can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from harness.api.model import api
from harness.build import build
from harness.errors import UsageError
from harness.probe import SubjectFailure
from harness.probe.calls import Calls
from harness.probe.patience import ExpectedHangs
from harness.probe.process_calls import ProcessCalls
from harness.probe.replies import CommandError
from harness.sandbox import Sandbox, Unsupported, guard
from harness.subject import neighbours, sanitizers
from harness.subject.environment import environment
from harness.subject.facts import facts_of
from harness.subject.identify import BY_EXPORTS, Identity, require_kind
from harness.subject.library import read_library, require_this_machine

Kind = TypeVar("Kind", bound=Calls)
# How asking a subject ends where it does something wrong: what is not known then, its checks report. An assertion is a
# call that failed, or a call log that the subject spoilt.
NO_ANSWER = (SubjectFailure, CommandError, AssertionError, Unsupported)


@dataclass(frozen=True)
class Option:
    """An option of pytest that a kind of subject has."""

    name: str
    metavar: str
    help: str
    repeated: bool = False


def pairs(texts: Iterable[str] | None) -> dict[str, str]:
    """The variables of an option that is given as NAME=VALUE, once for each."""
    return dict(text.split("=", 1) for text in texts or ())


class Subject(ABC):
    """A library under test. A kind of subject is a class in a file of its own, listed in harness.subject.KINDS.

    Construction reads the file and starts nothing. Raises UsageError in one clear sentence where the file is not a
    library of this kind for this machine; the sentence says what it is then.
    """

    identity: ClassVar[Identity]  # what files of this kind are; its `kind` is also the name of the fixture
    word: ClassVar[str]  # what reports call it: "loader", "layer", "ICD"
    option: ClassVar[str]  # pytest's option that names one; reports give it for the reproduction of a case
    options: ClassVar[tuple[Option, ...]]  # all of pytest's options for this kind, that one first
    example: ClassVar[str]  # of a path
    functions: ClassVar[tuple[str, ...]]  # one of them, at least, is exported
    shown: ClassVar[tuple[str, ...]]  # the fields of its facts that are of interest for this kind
    lacks: ClassVar[str]  # the sentence where a capability is missing, with {} for its name
    expectations_folder: ClassVar[str]  # below harness/expectations; "" for that folder itself
    checks: ClassVar[str]  # the folder within each suite that has the checks for this kind; "" for the suite itself
    default_time_limit: ClassVar[float] = 5.0  # seconds for an answer
    sandbox: ClassVar[type[Sandbox]] = Sandbox  # what its cases get
    stands_alone: ClassVar[bool] = False  # whether it is used without an OpenCL loader; records have it in that place

    def __init_subclass__(cls, **more: Any) -> None:
        """Has files of this kind recognised by what they export, where its identity says that this is enough."""
        super().__init_subclass__(**more)
        if (own := cls.__dict__.get("identity")) and own.exports:
            BY_EXPORTS.append(own)

    def __init__(self, path: Path) -> None:
        library = read_library(path, self.identity.words, self.example)
        require_this_machine(path, library)
        require_kind(path, library, self.identity, self.functions)
        self.facts = facts_of(path, library, self.functions, self.api_functions(), self.shown)
        self.facts.sanitizer = sanitizers.runtime(path, library) or neighbours.preloaded_sanitizer()
        self.path = neighbours.as_opened(path, library.real_path, library.search_paths)
        guard.share(self.path)
        self.time_limit = self.default_time_limit
        self.expected_hangs = ExpectedHangs()
        self.variables: dict[str, str] = {}  # what it needs in the environment of each case
        self._asked = False
        self._elevated_problem: str | None = None  # why an elevated process cannot load it; None: not known yet

    def __str__(self) -> str:
        return str(self.path)

    @classmethod
    def api_functions(cls) -> Collection[str]:
        """The functions of the API that it implements, which it may export."""
        return api().functions

    @property
    def named(self) -> Path:
        """The file that names it to a run."""
        return self.path

    @classmethod
    @abstractmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        """The subject that pytest's options name. Raises UsageError.

        `get` gives the value of an option; `loader` the loader that subjects of other kinds are used with, asked.
        """

    # --- what it can do ---

    @abstractmethod
    def has(self, capability: str) -> bool:
        """Whether it has a capability of its kind, by name."""

    def require(self, capability: str, reason: str = "") -> None:
        """Makes the case `unsupported` where the subject lacks a capability."""
        if not self.has(capability):
            raise Unsupported("loader", reason or self.lacks.format(capability), capability)

    def ask(self) -> None:
        """Asks the subject, once, for its name, its version, and what checks must know; `facts` has the answers.

        What it does not answer stays unknown: its checks say why. Raises UsageError where no case could be run at all.
        """
        if not self._asked:
            self._asked = True
            self._ask()

    @abstractmethod
    def _ask(self) -> None: ...

    def choose(self, cases: Collection[str]) -> None:
        """Takes note of which cases are run, by their pytest IDs."""
        return

    def _load(self, session: ProcessCalls) -> None:
        """Loads the library in a late session. Raises UsageError where it cannot be: no loader would have it either."""
        try:
            session.open()
        except CommandError as error:
            reason = str(error).rpartition("open: ")[2]
            raise UsageError(f"{self.facts.path} cannot be loaded: {reason}") from None

    # --- how a process on it is started ---

    def give_variables(self, sandbox: Sandbox) -> None:
        """Sets in a sandbox what the subject needs in its environment; what the case itself has set stays."""
        for name, value in self.variables.items():
            sandbox.env.setdefault(name, value)

    def neighbours(self) -> list[Path]:
        """The folders in which what it needs may be."""
        return neighbours.neighbours(self.path, self.facts.search_paths)

    def require_loading_when_elevated(self, start: Callable[[Any], ProcessCalls]) -> None:
        """Makes the case `unsupported` where the subject needs a library that elevated processes do not look for: they
        take neither LD_LIBRARY_PATH nor LD_PRELOAD. `start` gives such a process in a sandbox, late.
        """
        if preloaded := neighbours.preloaded(self.path):
            raise Unsupported("loader", f"an elevated process takes no LD_PRELOAD, which has {preloaded[0]} for it")
        if self._elevated_problem is None:
            self._elevated_problem = ""  # for this trial itself
            if neighbours.folders():
                sandbox = self.sandbox()
                try:
                    with start(sandbox) as session:
                        session.open()
                except CommandError as error:
                    self._elevated_problem = str(error).rpartition("open: ")[2]
                except NO_ANSWER:
                    pass  # the checks will say so
                finally:
                    sandbox.close()
        if self._elevated_problem:
            raise Unsupported("loader", f"an elevated process cannot load it where it is: {self._elevated_problem}")

    @abstractmethod
    def open(self, sandbox: Any) -> Calls:
        """A session, to be entered with `with`, in which the probe has loaded the subject itself."""

    def _session(
        self,
        kind: type[Kind],
        sandbox: Sandbox,
        variables: dict[str, str],
        *,
        probe: Path | None = None,
        prefix: Sequence[str] = (),
        flags: Iterable[str] = (),
        time_limit: float | None = None,
        **popen: Any,
    ) -> Kind:
        """A session that is not started yet; the sandbox knows of it. `prefix`: a command in front of the probe."""
        guard.share(self.path)
        command = [*prefix, *build().emulator, str(probe or build().probe), "--loader", str(self.path)]
        command += ["--socket", "{socket}", "--log", str(sandbox.log_path), *flags]
        limit = time_limit or self.time_limit
        session = kind(command, variables, sandbox.root, limit, cwd=sandbox.root, **popen)
        session.expected_hangs = self.expected_hangs
        sandbox.runs.append(session)
        return session

    def _open_directly(
        self,
        kind: type[Kind],
        sandbox: Sandbox,
        *,
        counted_heap: bool = False,
        preload: Iterable[str | Path] = (),
        late: bool = False,
        now: bool = False,
    ) -> Kind:
        """A session without a loader: the probe opens the library itself; late: not yet; now: with all its functions
        bound at once.
        """
        variables = environment(sandbox, self.path, self.facts.sanitizer, preload=preload, counted_heap=counted_heap)
        return self._session(kind, sandbox, variables, flags=["--late"] * late + ["--now"] * now)
