# Builds for 64-bit ARM under Linux by clang, on another machine: Debian's multiarch packages of arm64 hold its libraries,
# and qemu-user, registered with the kernel (package qemu-user-binfmt), runs what the build and the tests start.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# What is here of these is the building machine's.
set(CMAKE_DISABLE_FIND_PACKAGE_LLVM ON)
set(KERNELCAST_NVCC "" CACHE FILEPATH "makes programs of the building machine")
