# SPDX-License-Identifier: Apache-2.0
"""What a run tests: the subject that pytest's options name, its expectations, and the loaders that it is used with.

The rest of a run asks here, and knows no kind of subject.

Everything is found out when it is needed first, and once in each process.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from harness.build import build
from harness.errors import NotBuilt, UsageError
from harness.expectations import FOLDER, Expectations, find, load
from harness.expectations.abilities import abilities
from harness.expectations.recognition import of_build, recognised
from harness.report import Header, SubjectRecord
from harness.report.records import machine_facts
from harness.requirements.catalogue import fingerprint
from harness.sandbox import Sandbox, guard
from harness.sandbox.folder import OwnFolder
from harness.sandbox.machine import scratch_root
from harness.selftest.targets import SEEDED, seeded_option
from harness.subject import KINDS, Loader, Subject, capabilities

Kind = TypeVar("Kind", bound=Subject)

SUBJECT = pytest.StashKey[Subject]()
LOADER = pytest.StashKey[Loader]()  # the one under test, or the first one that another subject is used with
THROUGH = pytest.StashKey[dict[str, Loader]]()
EXPECTATIONS = pytest.StashKey[Expectations]()
_SEEDED_OPTIONS = {name: seeded_option(name) for name in SEEDED}


def add_options(group: pytest.OptionGroup) -> None:
    """The options by which runs name their subject."""
    for kind in KINDS.values():
        for own in kind.options:
            action = "append" if own.repeated else "store"
            group.addoption(own.name, metavar=own.metavar, action=action, help=own.help)
    for name in SEEDED:
        text = f"test mocks, with $CLHARNESS_FAULT, in the place of the {KINDS[name].word}"
        group.addoption(_SEEDED_OPTIONS[name], action="store_true", help=text)
    group.addoption("--through", metavar="PATH", action="append", help="a further loader to test the subject with")


def _seeded_kinds(config: pytest.Config) -> list[str]:
    """The kinds of which each case makes its own subject, with a fault: one at most."""
    return [name for name, option in _SEEDED_OPTIONS.items() if config.getoption(option)]


def seeded(config: pytest.Config) -> Callable[[Sandbox], Subject] | None:
    """What makes each case's own subject with a fault, where that is what this run tests."""
    return next((SEEDED[name] for name in _seeded_kinds(config)), None)


def kind_of(config: pytest.Config) -> type[Subject]:
    """The kind that this run tests. With that of another subject, the loader's option names what it is used with."""
    others = [kind for kind in KINDS.values() if kind is not Loader]
    named = [kind for kind in others if config.getoption(kind.option)]
    named += [KINDS[name] for name in _seeded_kinds(config)]
    return named[0] if named else Loader


def is_loader(config: pytest.Config) -> bool:
    """Whether a loader is tested."""
    return kind_of(config) is Loader


def is_named(config: pytest.Config) -> bool:
    """Whether an option names what this run tests."""
    return not is_loader(config) or bool(config.getoption(Loader.option))


def _from_options(kind: type[Kind], config: pytest.Config) -> Kind:
    return kind.from_options(config.getoption, lambda: asked_loader(config))


def loader_of(config: pytest.Config) -> Loader:
    """The loader of this process, which may not have been asked yet (Subject.ask). Raises UsageError."""
    if LOADER not in config.stash:
        named = is_loader(config) or config.getoption(Loader.option)
        loader = _from_options(Loader, config) if named else Loader.of(build().reference_loader)
        config.stash[LOADER] = loader
        loader.time_limit = time_limit(config, loader)
    return config.stash[LOADER]


def new_sandbox(config: pytest.Config) -> Sandbox:
    """A sandbox for a case of this run's kind."""
    kind = kind_of(config)
    return kind.sandbox(subject(config).path if kind.stands_alone else loader_of(config).path)


def asked_loader(config: pytest.Config) -> Loader:
    """The loader of this process (`loader_of`), asked for its name and for what it can do. Raises UsageError."""
    loader = loader_of(config)
    loader.ask()
    return loader


def ask(config: pytest.Config) -> None:
    """Asks the subject, and reads what is expected of it, once for each process. Raises ClharnessError.

    A loader that another subject is used with is not asked before a case needs it, but it is seen to be one.
    """
    if not kind_of(config).stands_alone:
        loader_of(config)
    expectations(config)


def is_known(config: pytest.Config) -> bool:
    """Whether the subject has been asked what it is."""
    return EXPECTATIONS in config.stash


def subject(config: pytest.Config) -> Subject:
    """The subject of this process, asked; where each case makes one of its own, the loader. Raises UsageError."""
    if SUBJECT not in config.stash:
        is_the_loader = is_loader(config) or seeded(config)
        tested: Subject = loader_of(config) if is_the_loader else _from_options(kind_of(config), config)
        tested.time_limit = time_limit(config, tested)
        with _while_there(tested.path):
            tested.ask()
        config.stash[SUBJECT] = tested
    return config.stash[SUBJECT]


@contextlib.contextmanager
def _while_there(path: Path) -> Iterator[None]:
    """Raises UsageError where something failed because the library is gone, which was there when it was named."""
    try:
        yield
    except FileNotFoundError as error:
        if path.exists():
            raise
        raise UsageError(f"{path} is not there any more") from error


def case_subject(config: pytest.Config, sandbox: Sandbox) -> Subject:
    """The subject of a case: that of the process, or one with a fault that is made in the sandbox."""
    make = seeded(config)
    return make(sandbox) if make else subject(config)


def time_limit(config: pytest.Config, subject_at_hand: Subject | None = None) -> float:
    """Seconds until a call of the subject under test, or of another one, counts as hung."""
    usual = (subject_at_hand or kind_of(config)).default_time_limit
    return float(config.getoption("--time-limit") or usual)


def expectations(config: pytest.Config) -> Expectations:
    """What is expected of the subject: the file that was asked for, or the one for its name and version."""
    if EXPECTATIONS not in config.stash:
        facts = subject(config).facts
        version = facts.version or None
        able = abilities(facts.as_dict(), lambda: () if is_loader(config) else through(config))
        file = config.getoption("--expect")
        if file and Path(file).exists():
            config.stash[EXPECTATIONS] = load(Path(file), version, able)
        elif file:
            config.stash[EXPECTATIONS] = Expectations()
        else:
            folder = FOLDER / subject(config).expectations_folder
            named = of_build(facts.build_id, folder, able) or find(facts.name, version, folder, able)
            if not named.path:
                with _while_there(subject(config).path):
                    library = subject(config).path.read_bytes()
                named = recognised(library, folder, able, says_name=facts.name != "unknown") or named
            config.stash[EXPECTATIONS] = named
        if config.getoption("--update-expectations"):
            from harness.expectations.update import refuse_unasked  # its library of TOML takes a while

            command = subject(config).identity.command
            refuse_unasked(config.stash[EXPECTATIONS], facts.as_dict(), Path(file) if file else None, command)
    return config.stash[EXPECTATIONS]


def option(config: pytest.Config) -> str:
    """The option that names what this run tests, for the reproduction of a case."""
    tested = subject(config)
    return f"{tested.option} {shlex.quote(str(tested.named))}"


def options(config: pytest.Config) -> list[str]:
    """All options that name what this run tests and how it is judged, for another run of one of its cases."""
    given = [] if seeded(config) else [f"{subject(config).option}={Path(subject(config).named).absolute()}"]
    given += [_SEEDED_OPTIONS[name] for name in _seeded_kinds(config)]
    if not is_loader(config) and config.getoption(Loader.option):
        given.append(f"{Loader.option}={Path(config.getoption(Loader.option)).absolute()}")
    for own in kind_of(config).options[1:]:
        values = config.getoption(own.name) or ()
        given += [f"{own.name}={value}" for value in (values if own.repeated else (values,)) if value]
    given += [f"--through={Path(path).absolute()}" for path in config.getoption("--through") or ()]
    for name in ("--expect", "--time-limit"):
        if value := config.getoption(name):
            given.append(f"{name}={Path(value).absolute() if name == '--expect' else value}")
    return given + ["--clharness-strict"] * bool(config.getoption("--clharness-strict"))


def header(config: pytest.Config, arguments: Sequence[str]) -> Header:
    """The header of the run's records: the subject, and the loader where that is another one.

    `arguments` are the command line.
    """
    tested = subject(config)
    alone = kind_of(config).stands_alone or tested is asked_loader(config)
    used_with = () if alone else (_record(asked_loader(config)),)
    path = expectations(config).path
    expected = str(path) if path else None
    machine = machine_facts() | {"isolation": _isolation()}
    loaders = () if alone or is_loader(config) else tuple(through(config))
    return Header(_record(tested), used_with, loaders, expected, arguments, catalogue=fingerprint(), machine=machine)


def _isolation() -> str:
    """How the guard keeps subjects away from the rest."""
    folder = OwnFolder(scratch_root(), guard.PREFIX)
    try:
        return guard.words(folder.path)
    finally:
        folder.remove()


def _record(subject: Subject) -> SubjectRecord:
    return SubjectRecord(subject.identity.kind, subject.word, subject.facts.as_dict())


def through(config: pytest.Config) -> dict[str, Loader]:
    """The loaders that a subject is tested with, by the names that cases have. Only their names are asked here."""
    if THROUGH not in config.stash:
        named = {"loader" if config.getoption(Loader.option) else "reference": loader_of(config)}
        for path in config.getoption("--through") or ():
            loader = Loader.of(Path(path))
            loader.time_limit = time_limit(config, loader)
            capabilities.tell_name(loader)
            name = loader.facts.name.split()[0] if loader.facts.name != "unknown" else Path(path).name
            named[name if name not in named else f"{name}-{len(named)}"] = loader
        config.stash[THROUGH] = named
    return config.stash[THROUGH]


def for_windows() -> bool:
    """Whether this run is about Windows; without any build it is not."""
    try:
        return build().windows
    except NotBuilt:
        return False


def has_checks_for(config: pytest.Config, folder: Path) -> bool:
    """Whether the checks in a folder of the suites are those of this run's kind: runs never mix them."""
    if folder.name == "windows" and not for_windows():
        return False
    owner = next((kind for kind in KINDS.values() if kind.checks == folder.name), Loader)
    return owner is kind_of(config)
