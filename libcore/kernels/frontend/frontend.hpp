// Problem: a kernel comes as OpenCL C (.cl), SPIR-V (.spv), CUDA C++ (.cu) or PTX (.ptx); the emulator and the models
// need PTX, the kernels' arguments and the registers that each target's compiler would use.
//
// Method: outside compilers, run as processes without a shell: clang-19 with libclc-19 and our shim for .cl, and for
// .spv behind llvm-spirv; nvcc, else clang-19, for .cu. Facts that PTX does not hold (argument names, images, required
// group sizes) come from LLVM metadata and from demangled names; registers come from the real back ends where they are
// installed and from live ranges always. Everything is cached by the content of all inputs under
// $XDG_CACHE_HOME/kernelcast.
//
// Limits: 64-bit addresses. A back end that is missing or fails leaves its value empty and says why in `notes`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frontend/source_kind.hpp"
#include "kernels/ptx/module.hpp"

namespace kernelcast::frontend {

// Of what outside compilers tell the registers: sm_75 and later, gfx600, gfx90a, gfx1030, cypress.
std::vector<std::string> const& register_targets();
// The one whose registers stand for `target`: of NVIDIA's those of the same machine code, of older ones sm_75. Throws
// Error(usage) where there is none.
std::string register_target(std::string_view target);

// Bytes of each constant of specialisation, by its number.
std::map<std::uint32_t, unsigned> specialisation_constants(std::string_view spirv);

struct Request {
  std::string path;                  // .cl, .spv, .cu or .ptx
  std::vector<std::string> options;  // for the compiler, each one argument: "-DN=4", "-I", "dir", "-cl-std=CL2.0"
  std::string arch = "sm_75";        // of the PTX that is generated
  bool cache = true;                 // false: neither read nor write the cache
  // Whose back ends run; without any there are only live ranges, and a first compilation is faster.
  std::vector<std::string> registers = register_targets();
  // get_global_id() adds the launch's global offset only on request: nearly every launch has offset 0, and the real
  // compilers' kernels would not carry these instructions. get_global_offset() always works.
  // Environment registers: %envreg3..5 hold the offset, %envreg6 the number of dimensions.
  bool global_offset = false;
  // Barriers of OpenCL C carry their flags, as ptx::fence_pragmas: for the check of races. Flags that are known only at
  // run time cost branches.
  bool fence_flags = false;
  double time_limit_s = 300;  // for each run of a compiler; Error(limit) beyond
  // Further sources of OpenCL C that are compiled by themselves, then linked with the first.
  struct Unit {
    std::string path;
    std::vector<std::string> options;
    bool operator==(Unit const&) const = default;
  };
  std::vector<Unit> linked = {};
  // Of a source of HIP: where relative paths in its options begin. AMD's machine code alone is made of such, with AMD's
  // own headers and libraries.
  std::string hip_folder = {};
  bool operator==(Request const&) const = default;
};

enum class ArgumentKind {
  value,            // scalar, vector or struct by value
  global_buffer,    // a pointer to global memory; in CUDA every pointer
  constant_buffer,  // __constant pointer
  shared_buffer,    // __local pointer: the launch gives its size
  image,
  sampler,
};

struct Argument {
  std::string name;       // as in the source; the PTX parameter's name where that is unknown
  std::string type_name;  // "float*", "uint4", "image2d_t"; empty when unknown
  ArgumentKind kind = ArgumentKind::value;
  std::uint32_t bytes = 0;  // in the kernel's parameter block; 8 for pointers, images and samplers
  // Of OpenCL C, as its metadata has them: "read_only", "write_only", "read_write" of images, else "none"; words of
  // "const restrict volatile". Empty when unknown.
  std::string access = {}, qualifiers = {};
};

// What ptxas assigns a kernel, per work-item: 32-bit registers; memory for arrays that are not in registers, and for
// registers that are not (spilled ones are on the stack, too). Shared memory is that of a group, static.
struct PtxasFigures {
  std::uint64_t registers = 0, shared_bytes = 0, stack_bytes = 0;
  bool operator==(PtxasFigures const&) const = default;
};

// Empty = unknown; KernelInfo::notes says why. Registers are 32-bit registers per work-item.
struct Registers {
  std::optional<std::uint64_t> ptx;            // live ranges of the PTX
  std::map<std::string, PtxasFigures> ptxas;   // by target, "sm_86"
  std::optional<std::uint64_t> vgprs_gfx6;     // AMD GCN (Tahiti), gfx600
  std::optional<std::uint64_t> vgprs_gfx90a;   // AMD CDNA 2
  std::optional<std::uint64_t> vgprs_gfx1030;  // AMD RDNA 2
  std::optional<std::uint64_t> gprs_cypress;   // AMD VLIW5 (HD 5870): 128-bit registers
  // ALU operations per VLIW bundle (1..5): a static mean over the kernel's bundles; a bundle in a loop counts once.
  std::optional<double> vliw_ops_per_bundle;
};

struct KernelInfo {
  std::string name;       // of the PTX entry: "matmul", "_Z6matmulPfS_i"
  std::string signature;  // "matmul(float*, float*, int)": demangled, or from OpenCL's metadata
  std::vector<Argument> arguments;
  std::optional<std::array<std::uint32_t, 3>> required_group;  // reqd_work_group_size, .reqntid
  std::vector<std::string> attributes;                         // of OpenCL C: "vec_type_hint(float4)"
  Registers registers;
  std::uint64_t shared_bytes = 0;    // static
  std::vector<std::string> missing;  // functions that it calls, directly or not, and that are not defined
  std::vector<std::string> notes;    // why a value is unknown: "gprs_cypress: clang-19 failed: …"
};

struct Compiled {
  std::unique_ptr<ptx::Module> module;
  std::vector<KernelInfo> kernels;  // in the order of the PTX
  std::vector<std::string> notes;   // about the whole file: an unwritable cache, the compiler's warnings
  bool from_cache = false;
};

// Throws Error: bad_data (the user's source does not compile: the compiler's words with file:line:column, or an unknown
// suffix), io (unreadable file), unavailable (a compiler is not installed: the hint names the package), limit.
Compiled compile(Request const&);

// The same without parsing the PTX a second time when it comes from the cache.
struct CompiledText {
  std::string ptx;
  std::vector<KernelInfo> kernels;
  std::vector<std::string> notes;
  bool from_cache = false;
};
CompiledText compile_text(Request const&);
// From the cache alone; empty where it is not there. No compiler runs.
std::optional<CompiledText> find_cached(Request const&);

// By PTX name, by full signature, by qualified name, or by plain identifier where only one kernel has it: `matmul`
// finds `_Z6matmulPfS_i`. Throws Error(usage) that lists the kernels of the file, or the candidates.
KernelInfo const& find_kernel(std::vector<KernelInfo> const& kernels, std::string_view name, std::string const& path);

// Machine code of one kernel as `nvdisasm -gp` lists it: each instruction with its line of module.text.
struct MachineCode {
  std::string listing;          // at most output_limit_bytes
  std::uint64_t registers = 0;  // per work-item; 0: ptxas does not report them
};
// `target`: "sm_86". Throws Error: unavailable (ptxas or nvdisasm is not installed, or ptxas refuses the target),
// limit.
MachineCode machine_code(ptx::Module const& module, std::string const& kernel, std::string const& target, bool cache,
                         double time_limit_s);
bool is_machine_target(std::string_view target);  // by its form: sm_86, sm_90a, gfx90a
bool is_amd_target(std::string_view target);      // gfx90a, tahiti
bool has_images(std::string_view target);         // of AMD's: whether it has instructions for them

// Assembly of all kernels of a source for an AMD target, "gfx90a", as clang-19 prints it, with lines of the source.
// Throws Error: unavailable (clang-19 or libclc-19 is not installed, or the source does not compile for this target),
// usage (the source is PTX, or several sources are linked), io, limit.
std::string amd_assembly(Request const&, std::string const& target);

// Sources of HIP that kernelcast-hipcc has left in a program: those with their options that a section of it names, text
// by text, each with a zero behind it (`working folder`, options, source, in lines).
inline constexpr std::string_view hip_section = "kernelcast_hip";
std::vector<Request> hip_requests(std::string_view section);

// "matmul(float* a, float* b, int n)" for messages about arguments.
std::string describe(KernelInfo const&);

}  // namespace kernelcast::frontend
