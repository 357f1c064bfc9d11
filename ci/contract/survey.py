# SPDX-License-Identifier: Apache-2.0
"""Asks a real ICD what the contract of the API says of improper calls, proper calls and queries, row by row.

python3 -m ci.contract.survey LIBRARY --name NAME --out FILE.json [--env NAME=VALUE]…

The mock ICD and the checks share the tables, so a wrong row would be right in both; real ICDs do not know them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.api.codes import CL
from harness.api.contract.queries import Query, queries
from harness.check.icd import calls
from harness.errors import UsageError
from harness.probe.calls import CallFailed
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.verdicts import SubjectFailure
from harness.sandbox import Sandbox, Unsupported
from harness.subject.icd import Icd

Ask = Callable[[IcdObjects], str]


@dataclass(frozen=True)
class Answer:
    """What an ICD answered to a row: `agrees` is None where it does not have what the row is about."""

    table: str  # rules, states, calls or queries
    function: str
    row: str
    expected: str
    answer: str
    agrees: bool | None


class Survey:
    """One ICD; calls share a process as long as they are answered as expected."""

    def __init__(self, icd: Icd, sandbox: Sandbox) -> None:
        self.icd = icd
        self.sandbox = sandbox
        self.session: IcdSession | None = None
        self.objects: IcdObjects | None = None
        self.driver = ""  # the device's CL_DRIVER_VERSION

    def answers(self) -> Iterator[Answer]:
        """The answers to all rows."""
        for rule in calls.rules():
            yield self._answer("rules", rule.function, str(rule), list(rule.errors), self._of_rule(rule))
        for rule in calls.states():
            yield self._answer("states", rule.function, str(rule), list(rule.errors), self._of_rule(rule))
        for name, recipe in calls.recipes().items():
            if name not in calls.FOREIGN_PROGRAMS:
                yield self._answer("calls", name, " ".join(recipe.words), ["CL_SUCCESS"], self._of_call(name))
        for query in queries():
            if query.function in calls.recipes():
                yield self._answer("queries", query.function, query.name, [_size(query)], self._of_query(query))

    def _of_rule(self, rule: calls.Rule) -> Ask:
        def ask(objects: IcdObjects) -> str:
            calls.require_sentence(objects, rule)
            return _shown(calls.prepare(objects, rule.function, rule.changed), "NULL" in rule.errors)

        return ask

    def _of_call(self, function: str) -> Ask:
        def ask(objects: IcdObjects) -> str:
            if function == "clSVMAlloc":
                return "CL_SUCCESS" if objects.named("svm") else "NULL"
            error = calls.prepare(objects, function).make()
            if calls.lacks(objects, function, error):
                raise Unsupported("loader", str(error), function)
            return str(error)

        return ask

    def _of_query(self, query: Query) -> Ask:
        def ask(objects: IcdObjects) -> str:
            version = objects.device_version() if query.function == "clGetDeviceInfo" else objects.version()
            if query.version > version:
                raise Unsupported("loader", f"came with OpenCL {query.version[0]}.{query.version[1]}", query.name)
            size = objects.session.buffer(8)
            call = calls.prepare(objects, query.function)
            call.arguments[-4:] = [query.number, 0, None, size]
            error = call.make()
            calls.require_answer(query, error)
            if error != CL.SUCCESS:
                return str(error)
            return _size(query) if query.fits(size.u64()) else f"{size.u64()} bytes"

        return ask

    def _answer(self, table: str, function: str, row: str, expected: list[str], ask: Ask) -> Answer:
        answer, agrees = self._asked(function, expected, ask)
        if not agrees:
            self.end()
        return Answer(table, function, row, "|".join(expected), answer, agrees)

    def _asked(self, function: str, expected: list[str], ask: Ask) -> tuple[str, bool | None]:
        try:
            if self.session is None or self.objects is None:
                self.session = self.icd.open(self.sandbox).__enter__()
                self.objects = self.session.objects(self.session.some_platforms()[0])
                self.driver = self.driver or _driver(self.objects)
            self.session.deadline = time.monotonic() + self.session.time_limit
            answer = ask(self.objects)
        except Unsupported as error:
            return str(error), None
        except SubjectFailure as error:
            return error.verdict, False
        except CallFailed as error:
            return f"an object could not be made: {error}".splitlines()[0], None
        if answer in expected:
            return answer, True
        refused = calls.optional(function) and answer == "CL_INVALID_OPERATION"
        return answer, None if refused else False

    def end(self) -> None:
        """Ends the process; the next row begins another."""
        if self.session is not None:
            self.session.__exit__(RuntimeError, None, None)  # killed, not asked to end
        self.session = self.objects = None


def _driver(objects: IcdObjects) -> str:
    text = objects.session.buffer(256, 0)
    objects.session.call("clGetDeviceInfo", objects.device, CL.DRIVER_VERSION, 256, text, None)
    return text.text()


def _shown(call: calls.Call, pointer: bool) -> str:
    """The answer to a call as the tables write it."""
    error = call.make()
    if pointer:
        return "an address" if error else "NULL"
    return str(error)


def _size(query: Query) -> str:
    return "text" if query.size == 0 else f"{query.size}{'*' if query.many else ''} bytes"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m ci.contract.survey", description=__doc__)
    parser.add_argument("library", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(arguments)
    sandbox = Sandbox()
    try:
        icd = Icd(options.library, dict(setting.split("=", 1) for setting in options.env))
        icd.share_compiled()
        icd.ask()
        survey = Survey(icd, sandbox)
        answers = [asdict(answer) for answer in survey.answers()]
        survey.end()
    except UsageError as error:
        print(f"ci/icds: {error}", file=sys.stderr)
        return 2
    finally:
        sandbox.close()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    about = {"name": options.name, "platform": icd.facts.name, "version": icd.facts.version or survey.driver}
    options.out.write_text(json.dumps({**about, "answers": answers}, indent=1) + "\n")
    print(f"{options.name}: {sum(answer['agrees'] is True for answer in answers)} of {len(answers)} rows as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
