# SPDX-License-Identifier: Apache-2.0
"""What campaigns in one folder have reached, run by run: OUT/history.jsonl, and OUT/history.html for people.

A campaign that goes on with a folder, as that of each night does, adds a line; and the page says of the last run that
counted it what no target reaches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from harness.errors import HarnessError
from harness.fuzz.campaign import Campaign
from harness.fuzz.subject import FuzzSubject

_LINES, PAGE = "history.jsonl", "history.html"
_TEMPLATE = Path(__file__).parent / "page" / "history.html.j2"
_WIDTH, _HEIGHT, _MARGIN = 300, 90, 10  # of a chart, in its own units


@dataclass(frozen=True)
class Code:
    """How much of a library's code the corpora of all targets reach."""

    reached: int
    all: int
    unit: str  # lines or blocks
    functions: int
    unreached: tuple[str, ...]  # names of functions
    exported: tuple[str, ...]  # those of them which the library exports


def runs(out: Path) -> list[dict[str, Any]]:
    """The earlier runs of a campaign's folder, oldest first. Raises HarnessError for a line that cannot be read."""
    try:
        lines = (out / _LINES).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise HarnessError(f"{out / _LINES} cannot be read ({error}): move it away") from error


def add(campaign: Campaign, subject: FuzzSubject, code: Code | None, at: datetime | None = None) -> Path:
    """Adds this run, and writes the page anew; gives the page."""
    earlier = runs(campaign.out)
    states = {target.name: campaign.states[target.name] for target in campaign.targets}
    run = {
        "finished": (at or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M"),
        "subject": subject.sha256,
        "unit": "blocks" if subject.coverage == "breakpoints" else "edges",
        "targets": {
            name: {"edges": state.edges, "inputs": state.inputs, "corpus": state.corpus, "seconds": state.seconds}
            for name, state in states.items()
            if state.seconds
        },
        "findings": len(campaign.findings),
        "code": asdict(code) if code else None,
    }
    with (campaign.out / _LINES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")
    page = campaign.out / PAGE
    page.write_text(rendered(str(subject.path), [*earlier, json.loads(json.dumps(run))]), encoding="utf-8")
    return page


def rendered(subject: str, all_runs: Sequence[Mapping[str, Any]]) -> str:
    """The page of these runs, of which there is one at least."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    counted = next((run for run in reversed(all_runs) if run["code"]), None)
    code = counted["code"] if counted else None
    exported = set(code["exported"]) if code else set()
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        subject=subject,
        runs=all_runs,
        charts=[_chart(name, all_runs) for name in sorted({name for run in all_runs for name in run["targets"]})],
        code=code,
        counted=counted["finished"] if counted else "",
        exported=sorted(exported),
        internal=sorted(name for name in (code["unreached"] if code else ()) if name not in exported),
    )


def _chart(target: str, all_runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A target's line: from left to right its runs, from the bottom what they reached."""
    values = [run["targets"][target]["edges"] for run in all_runs if target in run["targets"]]
    most, step = max(*values, 1), _WIDTH / max(1, len(values) - 1)
    points = [
        f"{step * number:.1f},{_HEIGHT - (_HEIGHT - _MARGIN) * value / most:.1f}" for number, value in enumerate(values)
    ]
    unit = next(run["unit"] for run in reversed(all_runs) if target in run["targets"])
    return {
        "target": target,
        "last": values[-1],
        "unit": unit,
        "points": " ".join(points),
        "single": len(values) == 1,
        "words": f"{values[0]} {unit} in the first run, {values[-1]} in the last",
    }
