# SPDX-License-Identifier: Apache-2.0
"""A vendor's ICD under test: its library, sessions that drive it without a loader, and faulty mock ICDs."""
