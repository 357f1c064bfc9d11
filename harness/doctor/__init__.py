# SPDX-License-Identifier: Apache-2.0
"""Why is my ICD skipped: looks at this machine, its loader, its vendors and their devices, and changes nothing.

Needs Python alone, no build: machines on which OpenCL does not work rarely have a compiler. `examine` puts it together.
"""
