# SPDX-License-Identifier: Apache-2.0
"""The specification as code."""
