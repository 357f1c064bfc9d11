# SPDX-License-Identifier: Apache-2.0
"""A layer under test: its library, sessions that drive it without a loader, and faulty mock layers in its place."""
