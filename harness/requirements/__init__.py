# SPDX-License-Identifier: Apache-2.0
"""The catalogue of requirements: what a loader, a layer or an ICD has to do, and where that is written."""
