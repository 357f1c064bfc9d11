# SPDX-License-Identifier: Apache-2.0
"""Vulkan's API as data, read from the registry file (vk.xml) that the package of its headers ships."""
