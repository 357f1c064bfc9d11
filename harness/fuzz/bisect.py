# SPDX-License-Identifier: Apache-2.0
"""Which findings on a library an earlier one does not have: `clharness fuzz --bisect GOOD BAD`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.escaping import printable
from harness.fuzz.campaign import Campaign, Target
from harness.fuzz.findings import REPLAYS, Finding
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Defect, Replayer

_MOST = 20  # defects that the earlier library shows on one input before that of the finding


@dataclass(frozen=True)
class Seen:
    """A finding, and what its input does to the earlier library."""

    finding: Finding
    earlier: str  # the key that it shows there; "" where the finding is new
    hidden_by: str = ""  # a defect of the earlier library that ends the process before the finding's place

    @property
    def is_new(self) -> bool:
        """Whether the finding is of the newer library alone."""
        return not self.earlier and not self.hidden_by


def compared(campaign: Campaign, good: FuzzSubject) -> list[Seen]:
    """Each finding of a campaign, with its input replayed on `good`."""
    targets = {target.name: target for target in campaign.targets}
    return [_seen(campaign, targets[finding.target], finding, good) for finding in campaign.findings]


def _seen(campaign: Campaign, target: Target, finding: Finding, good: FuzzSubject) -> Seen:
    icd = good.path if target.setting.icd else None
    setting = replace(target.setting, subject=good, icd=icd, blocks=None)
    known: set[str] = set()
    for _ in range(_MOST):
        work = campaign.out / "work" / f"bisect-{target.name}"
        replayer = Replayer(target.program, setting.passing_over(known), work)
        replayer.run_before(finding.inputs_before())
        shown = [defect for _ in range(REPLAYS) if (defect := replayer.replay_file(finding.input()).defect)]
        if not shown:
            return Seen(finding, "")
        if same := next((defect for defect in shown if _is_that(defect, finding)), None):
            return Seen(finding, same.key)
        if shown[0].key in known:
            return Seen(finding, "", shown[0].key)
        known.add(shown[0].key)
    return Seen(finding, "", sorted(known)[0])


def _is_that(defect: Defect, finding: Finding) -> bool:
    """The same kind, in the same function as far as both libraries name theirs: places move between builds."""
    if defect.kind != finding.kind:
        return False
    here, there = _function(defect.key), _function(finding.key)
    return here == there or ".so" in here or ".so" in there


def _function(key: str) -> str:
    word, at, place = key.partition("@")
    return re.sub(r"\+0x[0-9a-f]+$|:\d+$", "", place) if at else word


def lines(seen: Sequence[Seen], good: FuzzSubject) -> list[str]:
    """What is new, what is not, and what cannot be told; the sum last."""
    text = [""]
    for one in seen:
        what = f"{one.finding.target}: {one.finding.kind} in {one.finding.place}"
        if one.is_new:
            text.append(f"new:    {what}: {printable(one.finding.sentence)}")
        elif one.hidden_by:
            text.append(f"hidden: {what}: {good.path.name} ends with {one.hidden_by} before")
        else:
            text.append(f"known:  {what}: also in {good.path.name}, as {one.earlier}")
    new = sum(one.is_new for one in seen)
    hidden = sum(bool(one.hidden_by) for one in seen)
    tail = f", {hidden} that cannot be told" if hidden else ""
    text.append(f"since {good.path}: {new} of {len(seen)} finding{'' if len(seen) == 1 else 's'} new{tail}")
    return text
