# SPDX-License-Identifier: Apache-2.0
"""clharness: conformance and fuzz tests for OpenCL ICD loaders, layers and ICDs."""

__version__ = "0.1.0"
