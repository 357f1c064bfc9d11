# SPDX-License-Identifier: Apache-2.0
"""The whole examination: asks the real loader what it lists, walks each vendor itself, and explains the difference."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.doctor import environment as surroundings
from harness.doctor import processes
from harness.doctor.ask import Answer, Asker, take_files
from harness.doctor.elf import machine_words
from harness.doctor.findings import Finding, listed, note, without_repeats
from harness.doctor.hardware import Hardware
from harness.doctor.layers import Layer, walk_layers
from harness.doctor.libraries import inspect
from harness.doctor.linker import Linker, Place
from harness.doctor.loaders import (
    SONAME,
    VENDORS_FOLDER,
    Listing,
    LoaderFile,
    Sources,
    ask_loader,
    installed,
    no_loader,
    read_loader,
    sources,
)
from harness.doctor.programs import Program, bundled, look_at
from harness.doctor.vendors import Vendor, platform_key, walk

# Reasons that matter although the loader lists the vendor: other users do not see it; what another line names is lost.
_REASONS_ALWAYS = ("file-unreadable", "file-lines")
_ENDS_LOADERS = ("library-crashes", "library-hangs", "no-dispatch", "null-platform", "file-not-regular")


@dataclass
class Diagnosis:
    """What was seen of the machine. `findings` are reasons why something is missing; `notes` are not."""

    loader: LoaderFile | None = None
    others: list[LoaderFile] = field(default_factory=list)
    vendors: list[Vendor] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def listing(self) -> Listing | None:
        """The platforms and devices that the loader lists; None without a loader."""
        return self.loader.listing if self.loader else None


class Examination:
    """One examination of the machine: what it asks with, and what it has found so far."""

    def __init__(self, environment: Mapping[str, str], limit: float) -> None:
        self.environment = environment
        self.asker = Asker(environment, limit, take_files())
        self.linker = Linker(environment)
        self.hardware = Hardware(environment)
        self.found: list[Finding] = []
        self.result = Diagnosis()

    def examine(self, names: Sequence[str]) -> Diagnosis:
        """Everything about this machine, and about how the named programs find their loader."""
        result = self.result
        result.programs = [look_at(name, self.environment) for name in names]
        self.found += [one for program in result.programs for one in program.findings]
        self.found += surroundings.preloaded(self.environment)
        loader = result.loader = self._loader()
        # Without a loader vendors are walked all the same: else their reasons would be found one round later.
        from_where = sources(loader or LoaderFile(Path(SONAME), "", folders=[VENDORS_FOLDER]), self.environment)
        self.found += loader.findings if loader else []
        result.vendors = [walk(entry, self.asker, self.linker, self.hardware) for entry in from_where.entries]
        if loader is not None:
            self.found += from_where.findings
            loader.listing = self._ask(loader)
            self._account(loader, from_where)
            self.found += processes.when_linked(loader, self._name(loader), self.result.vendors, self.asker)
            self.found += processes.at_the_end(loader.listing, self.result.vendors)
            result.layers = walk_layers(loader, self.environment, self.asker, self.linker)
            self.found += [one for layer in result.layers for one in layer.findings]
            self._compare_loaders(loader)
        else:
            self._demote()
            self.found += [one for vendor in result.vendors for one in vendor.findings]
        self._other_programs()
        self._collect()
        return result

    # --- loaders ---

    def _loader(self) -> LoaderFile | None:
        """The loader in question: the first program's that has one for this machine, else the linker's choice."""
        for program in self.result.programs:
            if program.loader and program.linker and program.linker.machine == self.linker.machine:
                return read_loader(program.loader.path, program.loader.how, self.linker)
        if any(program.loader is None and program.elf for program in self.result.programs):
            return None  # said of the program
        search = self.linker.search(SONAME)
        if search.place is None:
            self.found.append(no_loader(self.linker))
            return None
        return read_loader(search.place.path, search.place.how, self.linker)

    def _name(self, loader: LoaderFile) -> str:
        """What is opened: the bare name where the linker finds this loader by it, as programs do."""
        place = self.linker.search(SONAME).place
        return SONAME if place and place.path == loader.path else str(loader.path)

    def _ask(self, loader: LoaderFile) -> Listing:
        listing = ask_loader(self._name(loader), self.asker)
        loader.name, loader.version = listing.answer.get("loader_name", ""), listing.answer.get("loader_version", "")
        if listing.answer.errors and not any(not one.harmless for one in loader.findings):
            self.found.append(
                Finding(
                    "loader-fails",
                    f"{loader.path} cannot be loaded: {listing.answer.errors[0]}.",
                    str(loader.path),
                    "Install the loader again (Debian: sudo apt install --reinstall ocl-icd-libopencl1).",
                )
            )
        return listing

    def _compare_loaders(self, loader: LoaderFile) -> None:
        """Other installed loaders, and whether one of them lists more than the one that is taken."""
        assert loader.listing is not None
        if loader.listing.answer.end == "hang":
            return  # so would the others
        for path in installed(self.linker):
            if os.path.realpath(path) == os.path.realpath(loader.path):
                continue
            other = read_loader(path, "not taken", self.linker)
            other.listing = ask_loader(str(path), self.asker)
            other.name, other.version = (
                other.listing.answer.get("loader_name", ""),
                other.listing.answer.get("loader_version", ""),
            )
            self.result.others.append(other)
            more = other.listing.more_than(loader.listing)
            if more:
                result = Finding(
                    "other-loader",
                    f"Programs get {loader.path} (by {loader.how}); {path} would list {listed(more)} as well.",
                    str(loader.path),
                    f"Remove that copy of {SONAME}, or let {path} be found first.",
                )
                # One in a folder of its own, such as conda's, has vendors of its own as well.
                self.found.append(result if self.linker.searches(path) else result.as_note())

    # --- vendors and the loader's list ---

    def _account(self, loader: LoaderFile, from_where: Sources) -> None:
        """Compares what the loader lists with the vendors that were walked."""
        assert loader.listing is not None
        left = [platform_key(platform) for platform in loader.listing.platforms]
        for vendor in self.result.vendors:
            for key in map(platform_key, vendor.platforms):
                if key in left:
                    left.remove(key)
                    vendor.listed += 1
        waits = loader.listing.answer.end == "hang" and bool(self._guilty())  # each further question would hang as well
        experiments = surroundings.Experiments(self._name(loader), self.asker, loader.listing)
        hiding = [] if waits else list(experiments.findings())
        self.found += hiding
        self.found += surroundings.default_platform(self.environment, len(loader.listing.platforms))
        self._demote()
        if loader.listing.answer.end:
            self.found += self._why_loader_ends(loader.listing.answer)
        elif not loader.listing.answer.errors and not any(one.name == "not-a-loader" for one in loader.findings):
            self.found += [
                one for vendor in self.result.vendors for one in self._why_not_listed(vendor, loader, bool(hiding))
            ]
        self.found += [one for vendor in self.result.vendors for one in vendor.findings]
        if not loader.listing.platforms and not any(not one.harmless for one in self.found):
            self.found.append(
                Finding(
                    "no-platforms",
                    f"{loader.path} lists no platform, and no vendor is installed.",
                    ", ".join(loader.folders),
                    "Install a driver, such as pocl-opencl-icd for the CPU.",
                )
            )

    def _demote(self) -> None:
        """What does no harm on this machine becomes a note."""
        devices = sum(vendor.devices for vendor in self.result.vendors if vendor.entry.in_use)
        for vendor in self.result.vendors:
            is_listed = bool(vendor.platforms) and vendor.listed >= len(vendor.platforms)
            idle = (
                vendor.step in ("devices", "platforms")
                and vendor.path is not None
                and not self.hardware.has_any(vendor.path)
            )
            for index, one in enumerate(vendor.findings):
                about_file = one.name not in _REASONS_ALWAYS and (
                    one.name.startswith("file-") or vendor.step in ("platforms", "functions")
                )
                if (is_listed and about_file) or (idle and devices) or not vendor.entry.in_use:
                    vendor.findings[index] = one.as_note()

    def _why_not_listed(self, vendor: Vendor, loader: LoaderFile, explained: bool) -> Iterator[Finding]:
        """Why the loader does not list a vendor that works by itself."""
        earlier = itertools.takewhile(lambda other: other is not vendor, self.result.vendors)
        twin = next(
            (o for o in earlier if o.entry.in_use and o.path and vendor.path and os.path.samefile(o.path, vendor.path)),
            None,
        )
        if twin and vendor.entry.in_use:
            yield Finding(
                "named-twice",
                f"{vendor.where} names the same library as {twin.where}.",
                vendor.where,
                "Remove one of the two: loaders list it once, or twice by mistake.",
            )
            return
        if not vendor.works or vendor.listed >= len(vendor.platforms) or explained or not vendor.entry.in_use:
            return
        if any(not one.harmless and one.name.startswith("file-") for one in vendor.findings):
            return
        unbound = next((one for one in vendor.findings if one.name in ("symbol-missing", "version-missing")), None)
        if unbound:
            yield replace(unbound, harmless=False)
            return
        suffix = {platform.get("suffix") for platform in vendor.platforms}
        same = [o for o in self.result.vendors if o is not vendor and suffix & {p.get("suffix") for p in o.platforms}]
        if same:
            yield Finding(
                "same-suffix",
                f"{vendor.where} has the same suffix ({', '.join(map(str, suffix))}) as {same[0].where}, "
                "and the loader lists one of them.",
                vendor.where,
                "Remove one of the two drivers.",
            )
            return
        yield Finding(
            "not-listed",
            f"{vendor.path} works by itself, but {loader.path} does not list it.",
            vendor.where,
            "Ask the loader: OCL_ICD_DEBUG=15 (ocl-icd) or OCL_ICD_ENABLE_TRACE=True (Khronos) with clinfo -l.",
        )

    def _guilty(self) -> list[str]:
        """Where vendors are named that make any loader crash or hang."""
        named = [
            (one, v.where) for v in self.result.vendors if v.entry.in_use for one in v.findings if not one.harmless
        ]
        return [where for one, where in named if one.name in _ENDS_LOADERS]

    def _why_loader_ends(self, answer: Answer) -> Iterator[Finding]:
        """Who makes the loader crash or hang: a vendor by itself, else two that do not go together."""
        accused = any(not one.harmless for vendor in self.result.vendors for one in vendor.findings)
        guilty = self._guilty()
        how = processes.in_words(answer.end)
        if guilty:
            yield note("loader-ends", f"So every program that lists platforms {how}.", guilty[0], "See above.")
            return
        able = [vendor for vendor in self.result.vendors if vendor.works and vendor.entry.in_use]
        for one, other in itertools.combinations(able, 2):
            both = self.asker.ask("together", one.entry.meant, other.entry.meant)
            if both.end:
                words = f" Its last words: {both.last_words}" if both.last_words else ""
                yield Finding(
                    "vendors-clash",
                    f"{one.path} and {other.path} work alone, but a program that loads both "
                    f"{processes.in_words(both.end)}.{words}",
                    other.where,
                    "Keep one of the two: move the other's file out of the folder, or get a build that hides its LLVM.",
                )
                return
        words = f" Its last words: {answer.last_words}" if answer.last_words else ""
        ends = Finding(
            "loader-ends",
            f"A program that lists platforms {how} in {answer.within}.{words}",
            SONAME,
            "Move the files out of the vendors folder one by one to see whose it is.",
        )
        known = accused or any(not one.harmless for one in self.found)
        yield ends.as_note() if known else ends

    # --- programs ---

    def _other_programs(self) -> None:
        """Vendors for programs of another class or machine: looked at, not loaded."""
        for program in self.result.programs:
            linker = program.linker
            if linker is None:
                continue
            if linker.machine == self.linker.machine:
                self._compare_program(program)
                continue
            in_use = [vendor for vendor in self.result.vendors if vendor.entry.in_use and vendor.entry.meant]
            able = [v for v in in_use if not inspect(v.entry.meant, v.where, linker).findings]
            if not able:
                words = machine_words(*linker.machine)
                self.found.append(
                    Finding(
                        "program-other-machine",
                        f"{program.name} is a {words} program, and no vendor here has a library for {words}.",
                        str(program.path),
                        f"Install a driver for {words}, or use a build of the program for this machine.",
                    )
                )

    def _compare_program(self, program: Program) -> None:
        """A program that gets another loader than the one that was examined."""
        places = [program.loader] if program.loader else []
        places += [Place(path, "the package that brings it") for path in bundled(program)]
        for place in places:
            self._compare_place(program, place)

    def _compare_place(self, program: Program, place: Place) -> None:
        loader = self.result.loader
        if not (loader and loader.listing) or os.path.realpath(place.path) == os.path.realpath(loader.path):
            return
        own = read_loader(place.path, place.how, self.linker)
        own.listing = ask_loader(str(place.path), self.asker)
        self.found += own.findings
        if lacking := loader.listing.more_than(own.listing):
            self.found.append(
                Finding(
                    "program-other-loader",
                    f"{program.name} gets {place.path} (by {place.how}), which does not list {listed(lacking)}.",
                    str(place.path),
                    f"Let it find {loader.path}, or remove that copy.",
                )
            )

    def _collect(self) -> None:
        result = self.result
        results = without_repeats(self.found)
        result.findings = [one for one in results if not one.harmless]
        result.notes = [one for one in results if one.harmless]
        absent = {"folder-missing", "folder-empty", "node-missing", "no-platforms"}
        words = self.hardware.confinement()
        if (
            words
            and absent & {one.name for one in result.findings}
            and not any(n.name == "confined" for n in result.notes)
        ):
            result.notes.append(
                note(
                    "confined",
                    f"This runs in {words}: the vendors and devices of the host are not visible here.",
                    "here",
                    "Install the driver inside, and start it with the host's devices.",
                )
            )
        names = ("LD_LIBRARY_PATH", "LD_PRELOAD", "OCL_", "OPENCL_", "CUDA_VISIBLE", "RUSTICL_")
        result.variables = {name: value for name, value in self.environment.items() if name.startswith(names)}


def examine(names: Sequence[str], environment: Mapping[str, str], limit: float) -> Diagnosis:
    """Examines this machine for programs of these names, or in general. Raises UsageError for a name of no program."""
    return Examination(environment, limit).examine(names)
