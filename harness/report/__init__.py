# SPDX-License-Identifier: Apache-2.0
"""Results of a run: how they are recorded, which of them count, and how they are told."""

from harness.report.records import CaseResult, Footer, Header, SubjectRecord
from harness.report.reporter import Reporter
from harness.report.status import judge, status

__all__ = ["CaseResult", "Footer", "Header", "Reporter", "SubjectRecord", "judge", "status"]
