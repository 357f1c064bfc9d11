# SPDX-License-Identifier: Apache-2.0
"""The contract of the API as data: proper and improper calls, queries, the vendor inference of each slot."""

from pathlib import Path

FOLDER = Path(__file__).parent
