# SPDX-License-Identifier: Apache-2.0
# Toolchain: 32-bit x86 on a 64-bit machine, whose kernel runs both (Debian: gcc-multilib, or gcc-12-multilib and so on,
# which leaves the kernel's headers for both kinds where they are for this machine's).
set(CMAKE_C_FLAGS_INIT -m32)
if(IS_DIRECTORY /usr/include/x86_64-linux-gnu/asm AND NOT EXISTS /usr/include/asm)
  string(APPEND CMAKE_C_FLAGS_INIT " -idirafter /usr/include/x86_64-linux-gnu")
endif()
