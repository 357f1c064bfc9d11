# SPDX-License-Identifier: Apache-2.0
"""Measures the suites on themselves: each seeded fault of the reference loader against the checks."""
