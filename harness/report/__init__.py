# SPDX-License-Identifier: Apache-2.0
"""Results of a run: how they are recorded, which of them count, and how they are told."""

from harness.report.records import CaseResult, Footer, Header, SubjectRecord
from harness.report.status import judge, status

__all__ = ["CaseResult", "Footer", "Header", "SubjectRecord", "judge", "status"]
