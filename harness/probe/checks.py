# SPDX-License-Identifier: Apache-2.0
"""Assertions about vendors that many checks share. A failure says what was expected and shows the end of the log.

Their names begin with `check_`, by which the lint at collection and the self-test know them for assertions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.calllog import reader
from harness.probe.calls import Convenience
from harness.probe.process_calls import ProcessCalls

ENUMERATE = "clIcdGetPlatformIDsKHR"
LOG_LINES = 15


class Checks(Convenience, ProcessCalls):
    """Assertions of a session: names are those of mock ICDs."""

    def check_vendors(self, *names: str) -> None:
        """These platforms, each once and usable; these vendors and no others loaded (how often is DISC-GEN-025).

        Each vendor has one platform and the suffix "_NAME", by which its own function is found.
        """
        self._expect("platforms", sorted(self.used_platforms()), sorted(names))
        self.check_functions(*names, like="clWho_{name}")
        log = reader.read(self._log_path)
        self._expect("loaded vendors", sorted({event.who for event in log.happened("loaded")}), sorted(names))

    def check_functions(self, *names: str, like: str) -> None:
        """A function of each vendor is its own, by a name such as "clWho_{name}" or "clThing{NAME}"."""
        functions = {name: like.format(name=name, NAME=name.upper()) for name in names}
        answers = {name: self.vendor_function(function) for name, function in functions.items()}
        self._expect(f"vendors of {', '.join(functions.values())}", answers, {name: name for name in names})

    def check_asked_once(self, *names: str) -> None:
        """Each of these vendors was loaded once, and asked once for the number and once for the list of platforms."""
        log = reader.read(self._log_path)
        for name in names:
            self._expect(f"times that {name} was loaded", len(log.happened("loaded", by=name)), 1)
            self._expect(f"calls of {ENUMERATE} of {name}", len(log.calls(ENUMERATE, by=name)), 2)

    @property
    def _log_path(self) -> Path:
        return Path(self.argv[self.argv.index("--log") + 1])

    def _expect(self, what: str, actual: object, expected: object) -> None:
        if actual != expected:
            lines: Sequence[str] = reader.read(self._log_path).tail(LOG_LINES)
            raise AssertionError("\n".join([f"{what}: {actual}, expected {expected}", *lines]))
