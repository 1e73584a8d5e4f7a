# SPDX-License-Identifier: Apache-2.0
# A build for AArch64 on another machine: HARTFS_ROOT, in the environment, is an arm64 Debian with the build's packages.
# With Debian's crossbuild-essential-arm64, and qemu-user-static and binfmt_misc for the root's llvm-config. BUILDING.md
# has the commands.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT $ENV{HARTFS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(LLVM_CONFIG ${CMAKE_SYSROOT}/usr/lib/llvm-19/bin/llvm-config CACHE FILEPATH "In the root")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(ENV{QEMU_LD_PREFIX} ${CMAKE_SYSROOT})
