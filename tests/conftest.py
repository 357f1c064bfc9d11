# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several files share."""

from __future__ import annotations

from tests.small_runs import library, small

__all__ = ["library", "small"]
