# SPDX-License-Identifier: Apache-2.0
"""Corpora that campaigns have grown: an archive for each target, fuzz/corpus/TARGET.zip.

    python -m harness.fuzz.grown CAMPAIGN...                makes the archives of what campaigns (--out DIR) have kept
    python -m harness.fuzz.grown --seed-corpus TARGET ZIP   writes all that a service for fuzzing should begin with

Campaigns begin with them, so that what they leave at their end, merged, is what the next archive holds: ci/fuzz-grow
runs them on several loaders. An input that shows something in the reference loader is never kept here: it is a finding.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.build import build
from harness.errors import ClharnessError, Exit, HarnessError, UsageError
from harness.fuzz import builds, sweep
from harness.fuzz.replay import ends, replay
from harness.fuzz.seeds import by_name, keep_folder

LARGEST = 4096  # bytes of an input, as ci/oss-fuzz/target.options has it
AT_ONCE = 500  # inputs of one replay, whose time is limited
_AGE = (1980, 1, 1, 0, 0, 0)  # of all files: the same inputs make the same archive


def archive(target: str) -> Path:
    """Where the grown corpus of a target is, or would be."""
    return builds.seeds(target).with_suffix(".zip")


def inputs(target: str) -> list[bytes]:
    """The grown corpus of a target, which may be empty. Raises HarnessError for an archive that cannot be read."""
    path = archive(target)
    try:
        with zipfile.ZipFile(path) as file:
            return [file.read(name) for name in file.namelist()]
    except FileNotFoundError:
        return []
    except (OSError, zipfile.BadZipFile) as error:
        raise HarnessError(f"{path} cannot be read ({error}); python -m harness.fuzz.grown makes it") from error


def folder(target: str, build_folder: Path) -> Path | None:
    """The folder with the grown corpus of a target, brought up to date; None where it has none."""
    grown = inputs(target)
    return keep_folder(build_folder / "grown" / target, grown) if grown else None


def _files(path: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(path.iterdir()) if file.is_file()] if path.is_dir() else []


def _swept(target: str) -> list[bytes]:
    return list(sweep.TARGETS[target]()) if target in sweep.TARGETS else []


def write_archive(path: Path, data: Iterable[bytes]) -> int:
    """Writes inputs as an archive, the same bytes for the same inputs. Gives how many there are."""
    named = by_name(data)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in sorted(named.items()):
            file.writestr(zipfile.ZipInfo(name, _AGE), content, zipfile.ZIP_DEFLATED)
    return len(named)


def _loader(target: str) -> Path:
    vulkan = build().vulkan
    if not builds.is_of_vulkan(target):
        return build().reference_loader
    if vulkan is None:
        raise HarnessError(f"{target}: the reference loader for Vulkan is not built")
    return vulkan.reference_loader


def without_findings(target: str, data: Sequence[bytes]) -> list[bytes]:
    """The inputs with which the reference loader is in order."""
    portions = (data[at : at + AT_ONCE] for at in range(0, len(data), AT_ONCE))
    return [one for portion in portions for one in _without_findings(target, portion)]


def _without_findings(target: str, data: Sequence[bytes]) -> list[bytes]:
    with tempfile.TemporaryDirectory(prefix="clharness-grown-") as place:
        of_all = keep_folder(Path(place), data)
        done = replay(target, _loader(target), of_all, "--each")
        if done.status not in (0, 1):
            raise HarnessError(f"{target}: the replay ended with {done.ended}: {done.errors[-500:]}")
        for name, _ in ends(done.errors):
            (of_all / Path(name).name).unlink(missing_ok=True)
        return _files(of_all)


def take(campaigns: Sequence[Path]) -> dict[str, int]:
    """Makes the archive of each target of which these campaigns have a corpus; gives how many inputs each has."""
    counts = {}
    for target in builds.targets():
        folders = [path for campaign in campaigns if (path := campaign / "corpus" / target).is_dir()]
        if not folders:
            continue
        known = by_name([*_files(builds.seeds(target)), *_swept(target)])
        of_all = by_name(data for path in folders for data in _files(path) if len(data) <= LARGEST)
        new = [data for name, data in of_all.items() if name not in known]
        counts[target] = write_archive(archive(target), without_findings(target, new))
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.fuzz.grown", description=__doc__.partition("\n")[0])
    parser.add_argument("campaign", metavar="CAMPAIGN", nargs="*", type=Path, help="the --out folder of a campaign")
    parser.add_argument("--seed-corpus", nargs=2, metavar=("TARGET", "ZIP"), help="write seeds and grown corpus there")
    args = parser.parse_args(arguments)
    try:
        if args.seed_corpus:
            target, path = args.seed_corpus
            if target not in builds.targets():
                raise UsageError(f"{target}: there is no such fuzz target")
            write_archive(Path(path), [*_files(builds.seeds(target)), *_swept(target), *inputs(target)])
            return Exit.AS_EXPECTED
        if not args.campaign:
            raise UsageError("name the folders of campaigns, or --seed-corpus")
        if strange := [path for path in args.campaign if not (path / "corpus").is_dir()]:
            raise UsageError(f"{strange[0]}: is not the --out folder of a campaign: it has no corpus")
        counts = take(args.campaign)
    except ClharnessError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return int(error.exit_code)
    for target, count in counts.items():
        print(f"{target:<24}{count:>6} inputs, {archive(target).stat().st_size} bytes")
    print(f"{'all targets':<24}{sum(counts.values()):>6} inputs")
    return Exit.AS_EXPECTED


if __name__ == "__main__":
    sys.exit(main())
