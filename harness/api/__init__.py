# SPDX-License-Identifier: Apache-2.0
"""The OpenCL API as data: read from the installed OpenCL-Headers, used by the C parts and by Python.

`headers` parses the headers, `generate` writes the C tables and `api.json`, `model` is what Python code uses.
"""
