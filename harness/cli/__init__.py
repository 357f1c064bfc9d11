# SPDX-License-Identifier: Apache-2.0
"""The clharness command line: one module of this package for each subcommand.

A subcommand is a module with `add_arguments(parser)`, `run(args)` that gives an exit code, and `EXAMPLE`, the
text at the end of its --help. The first line of its docstring is what `clharness --help` says about it.
"""
