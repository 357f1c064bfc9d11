# SPDX-License-Identifier: Apache-2.0
"""A machine for one case: vendor directories, files of any kind, environment, and copies of the mocks."""

from harness.sandbox.machine import Unsupported
from harness.sandbox.sandbox import LogNotWhole, MockIcd, MockLayer, Sandbox

__all__ = ["LogNotWhole", "MockIcd", "MockLayer", "Sandbox", "Unsupported"]
