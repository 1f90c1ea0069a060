// Where the outside compilers and their libraries are, and what identifies their version.
//
// Nothing here runs a program: a tool is identified by its path, size and time of change, so that a cached start costs
// a few system calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/frontend/frontend.hpp"

namespace kernelcast::frontend {

struct Toolchain {
  std::string clang;                  // clang-19
  std::string libclc;                 // folder of libclc-19's bitcode, with a '/' at its end
  std::string llvm_spirv;             // Khronos' translator, of any LLVM that is here; empty where absent
  std::string nvcc, ptxas, nvdisasm;  // of a CUDA toolkit; empty where absent
  std::string hip_root;               // where AMD's include/hip is; empty where absent
  std::string hip_bitcode;            // folder of AMD's device libraries, ocml.bc; empty where absent
  std::string cuda_root;              // the toolkit's folder, where its headers are; empty where absent
};
Toolchain find_toolchain();

// Each throws Error(unavailable) that names the Debian package.
std::string const& require_clang(Toolchain const&);
std::string require_libclc(Toolchain const&, std::string_view bitcode);  // "nvptx64--nvidiacl.bc" -> its path

// "path size time" of a file, following links; "path -" where it is absent.
std::string identity(std::string const& path);

// Sources that are part of this library, by file name: shim.cl, atomics.clh, cuda_runtime.h, …
struct EmbeddedFile {
  std::string_view name, text;
};
std::vector<EmbeddedFile> const& embedded_opencl();
std::vector<EmbeddedFile> const& embedded_cuda();

// clang's options for OpenCL C to PTX of this architecture (sm_75); the same on every machine.
std::vector<std::string> opencl_target(std::string const& arch);

// The command that makes a shim's bitcode from its source in `folder`; the build and the first use run the same.
struct ShimPart {
  std::string_view source, bitcode;
  std::vector<std::string> options;
};
std::vector<ShimPart> shim_parts(Request const&);  // in the order in which they are linked

// A folder that holds all of shim_parts(): installed beside the program, else the build tree's; empty where neither has
// them all.
std::string find_shim(Request const&);

}  // namespace kernelcast::frontend
