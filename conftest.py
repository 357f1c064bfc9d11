# SPDX-License-Identifier: Apache-2.0
"""Loads the plugin for every pytest run from the project's root."""

pytest_plugins = ["harness.run.plugin"]
