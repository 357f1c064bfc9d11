# SPDX-License-Identifier: Apache-2.0
# Toolchain: 32-bit x86 on a 64-bit machine, whose kernel runs both (Debian: gcc-multilib).
set(CMAKE_C_FLAGS_INIT -m32)
