# SPDX-License-Identifier: Apache-2.0
# Toolchain: 64-bit ARM on a machine of another kind, with Debian's gcc-aarch64-linux-gnu; qemu-user runs what it makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(CLHARNESS_QEMU NAMES qemu-aarch64-static qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CLHARNESS_QEMU} -L /usr/aarch64-linux-gnu)
