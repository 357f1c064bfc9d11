# SPDX-License-Identifier: Apache-2.0
"""The folders that loaders have compiled in."""

SYSTEM_VENDORS = "/etc/OpenCL/vendors"
SYSTEM_LAYERS = "/etc/OpenCL/layers"
ANDROID_VENDORS = "/system/vendor/Khronos/OpenCL/vendors"
