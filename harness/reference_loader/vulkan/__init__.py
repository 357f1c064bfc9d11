# SPDX-License-Identifier: Apache-2.0
"""The interface between Vulkan loaders and drivers as a small loader in C; start with vulkan_loader.h."""
