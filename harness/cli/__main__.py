# SPDX-License-Identifier: Apache-2.0
"""python -m harness.cli"""

import gc
import os
import sys

if sys.flags.optimize:  # PYTHONOPTIMIZE: nothing that is asserted would be looked at, and no check has its docstring
    os.environ.pop("PYTHONOPTIMIZE", None)
    words = sys.orig_argv[1:]
    own = words.index("-m")
    os.execv(sys.executable, [sys.executable, *(word for word in words[:own] if word.strip("O") != "-"), *words[own:]])

gc.disable()  # until the command is known, nearly all that is made are modules, which stay

# Compiled modules are kept in the build folder, whatever the user's Python is told about others: to compile the harness
# takes longer than most commands. The checkout may be read-only or shared, and nothing is written there.
_BUILD = os.environ.get("CLHARNESS_BUILD")
if _BUILD and os.path.exists(os.path.join(_BUILD, "clharness.json")):
    sys.pycache_prefix, sys.dont_write_bytecode = os.path.join(os.path.abspath(_BUILD), "pycache"), False

from harness.cli import standard  # noqa: E402 - compiled as said above

standard.prepare()

from harness.cli.main import main  # noqa: E402

sys.exit(main())
