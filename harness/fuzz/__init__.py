# SPDX-License-Identifier: Apache-2.0
"""What `clharness fuzz` does outside of the fuzz targets themselves."""
