# SPDX-License-Identifier: Apache-2.0
"""Subjects with one seeded fault each: the mutants that the checks have to notice, by kind of subject and by section.

loader.py, layer.py, icd.py and vulkan_driver.py read the lists in the folders of the same name; families.py makes the
mutants that exist once for each function of the API.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.requirements.catalogue import catalogue
from harness.tomlfile import wrong

VARIABLE = "CLHARNESS_FAULT"  # of the environment: the name of the mutant that a seeded subject is


@dataclass(frozen=True)
class Mutant:
    """One thing that can be wrong with the loader: `instead` in the place of `code`, or `at_load` in addition."""

    name: str
    requirements: tuple[str, ...]  # whose checks should notice
    sentence: str  # goes on after "makes the loader …", or after "the loader …" where it begins with a capital
    file: str = ""  # name of the source file
    function: str = ""  # in which `code` stands; empty: anywhere in the file
    code: str = ""  # a statement where it ends in ; or }, else an expression
    instead: str = ""
    at_load: str = ""  # statements that run when the library is loaded
    family: str = ""  # of mutants that exist once for each function
    # Parts of the names of cases that should notice, with " or " between them; `clharness selftest` runs those first.
    cases: str = ""

    def about(self, subject: str) -> str:
        """What is wrong with a subject of this kind. The sentence of a mock's fault has a verb of its own."""
        if self.sentence[0].isupper():
            return f"the {subject} {self.sentence[0].lower()}{self.sentence[1:]}"
        return f"makes the {subject} {self.sentence}"

    @property
    def api_function(self) -> str:
        """The API function that it is in, if any."""
        found = re.search(r"(?<![A-Za-z0-9])cl[A-Z][A-Za-z0-9]*", self.function)
        return found.group() if found else ""

    @property
    def parts(self) -> list[str]:
        """The parts of names of cases that `cases` lists."""
        return self.cases.split(" or ") if self.cases else []

    def names(self, case: str) -> bool:
        """Whether `cases` names a case, by its ID."""
        return any(part in case for part in self.parts)

    @property
    def is_statement(self) -> bool:
        """Whether whole statements are replaced, and not a part of an expression."""
        return self.code.rstrip().endswith((";", "}"))


def known(path: Path, where: str, requirement: object) -> None:
    """Raises UsageError where the catalogue does not have the requirement that an entry names."""
    if requirement not in catalogue():
        wrong(path, where, f"names the unknown requirement {requirement}")
