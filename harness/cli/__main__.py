# SPDX-License-Identifier: Apache-2.0
"""python -m harness.cli"""

import sys

from harness.cli.main import main

sys.exit(main())
