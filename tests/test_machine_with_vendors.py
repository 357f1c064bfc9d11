# SPDX-License-Identifier: Apache-2.0
"""A machine that has vendors of its own: what they do in a process is not what a loader under test did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build

VENDOR = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
static int get_info(void *platform, unsigned query, size_t size, char *value, size_t *needed)
{
    static const char *const texts[] = {"FULL_PROFILE", "OpenCL 3.0 own", "own", "own", "cl_khr_icd"};
    const char *text = query == 0x920 ? "OWN" : query >= 0x900 && query < 0x905 ? texts[query - 0x900] : NULL;
    if (!text || (value && size <= strlen(text)))
        return -30;
    if (needed)
        *needed = strlen(text) + 1;
    if (value)
        strcpy(value, text);
    return 0;
}
static void *table[200] = {0, (void *)get_info};
static void *platform = table;
__attribute__((constructor)) static void is_noticed(void)
{
    open("/dev/null", O_RDWR | O_CLOEXEC);
    setenv("OWN", "1", 1);
}
int clGetPlatformInfo(void *p, unsigned q, size_t s, char *v, size_t *r) { return get_info(p, q, s, v, r); }
int clIcdGetPlatformIDsKHR(unsigned count, void **platforms, unsigned *listed)
{
    if (listed)
        *listed = 1;
    if (count && platforms)
        platforms[0] = &platform;
    return 0;
}
void *clGetExtensionFunctionAddress(const char *name)
{
    return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : (void *)clIcdGetPlatformIDsKHR;
}
"""
# Elevated processes, and variables that are empty, lead a loader to the folder of the system.
CASES = "elevated or values_of_any_length or environment_is_unchanged or variable_is_read_within"
# In a mount namespace of its own /etc/OpenCL/vendors has one file, of a library that every user can read.
SCRIPT = """
mount -t tmpfs none "$1" && mkdir -p "$1/upper/OpenCL/vendors" "$1/work" &&
    cp "$2" "$1/upper/OpenCL/libown.so" && echo /etc/OpenCL/libown.so >"$1/upper/OpenCL/vendors/own.icd" &&
    mount -t overlay none -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc || exit 77
shift 2
exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a private /etc needs root")
def test_vendors_of_the_machine_take_no_part_in_a_run(tmp_path: Path) -> None:
    """One that lists a platform, keeps a device open and sets a variable changes no verdict."""
    library = tmp_path / "libown.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=VENDOR, text=True, check=True)
    (tmp_path / "etc").mkdir()
    command: list[str | Path] = ["unshare", "-m", "sh", "-c", SCRIPT, "sh", tmp_path / "etc", library]
    command += [sys.executable, "-m", "harness.cli", "loader", build().reference_loader, "-k", CASES, "-j", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"this machine allows no private /etc: {done.stderr}")
    assert done.returncode == 0, done.stdout + done.stderr
