// What the stages of one compilation share.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/process.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/frontend/toolchain.hpp"

namespace kernelcast::frontend {

// Facts about a kernel that PTX does not hold.
struct KernelFacts {
  std::vector<Argument> arguments;  // bytes unknown; kind `value` also stands for "as PTX says"
  std::optional<std::array<std::uint32_t, 3>> required_group;
  std::vector<std::string> attributes;
};

struct Build {
  Request const& request;
  Toolchain const& tools;
  std::string const& source;  // content of request.path
  TemporaryFolder const& scratch;

  std::string ptx = {};
  std::map<std::string, KernelFacts> facts = {};  // by PTX name
  std::vector<std::string> dependencies = {};     // files that the compiler included
  std::vector<std::string> notes = {};
  std::vector<std::string> spirv = {};  // bitcode that defines what sources of SPIR-V call
};

// Each fills `ptx` and what else it has. Throw Error(bad_data) for errors in the user's source.
void build_opencl(Build&);
void build_cuda(Build&);

// Assembly of AMD's machine code of OpenCL C or CUDA C++, in place of PTX. Throws Error: unavailable (clang-19 or
// libclc-19 is not installed, or the source does not compile for this target), limit.
void build_amd(Build&, std::string const& target);

std::string write_cuda_headers(Build const&);  // our own, for clang; the folder

struct AmdTarget {
  std::string triple, processor, bitcode;  // of libclc
};
AmdTarget amd_target(std::string const& target);  // "gfx90a"; "tahiti" is gfx600
// The compiler's, without output. Throws Error(unavailable) where a part of it is not installed.
std::vector<std::string> amd_command(Build const&, AmdTarget const&);

// What a compiler that failed says first: "clang-19 failed: kernel.cl:1:2: error: …".
std::string compiler_failure(std::string_view compiler, ProcessResult const&, double limit_s);

// clang's options that come from a source's: everything but the target and the output.
std::vector<std::string> opencl_options(std::vector<std::string> const& options);

// Throws Error(bad_data) from a compiler's messages, or Error(limit) where it ran out of time; the first error's place
// is the Error's place, further ones follow in the message. Returns the warnings of a run that succeeded.
std::vector<std::string> check_compiler(Build const&, std::string_view compiler, ProcessResult const&);

// The prerequisites in a Makefile rule (-MMD).
std::vector<std::string> parse_dependencies(std::string const& rule);

// Kernels of the module with everything that PTX, facts and names tell; then, unless the request forbids it, the
// registers that outside back ends would use.
std::vector<KernelInfo> describe_kernels(ptx::Module const&, std::map<std::string, KernelFacts> const&);
// What outside compilers tell of each kernel. They start as soon as what they compile is there: those of OpenCL C with
// the object, the others in finish().
using Fill = std::function<void(KernelInfo&)>;  // sets values or notes of one kernel
class RegisterSearch {
 public:
  explicit RegisterSearch(Build const&);  // which outlives it
  void finish(ptx::Module const&, std::vector<KernelInfo>&);

 private:
  void start_amd();
  bool asked(std::string_view target) const;

  Build const& build_;
  std::vector<std::future<Fill>> running_;
};

// A file's name as an argument: compilers take -x.cl for an option and @x.cl for a file of options.
inline std::string as_argument(std::string const& path) {
  return path.starts_with('-') || path.starts_with('@') ? "./" + path : path;
}

// Calls f with each line of the text, without its end.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    auto const end = text.find('\n');
    f(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

// ---- parts that tests call

// `!kernel_arg_*` and `!reqd_work_group_size` of LLVM IR in text form.
std::map<std::string, KernelFacts> parse_kernel_metadata(std::string const& llvm_ir);
// "void matmul<float>(float*, int)" -> {"float*", "int"}.
std::vector<std::string> parameter_types(std::string_view demangled);

std::map<std::string, PtxasFigures> parse_ptxas(std::string const& text);  // of ptxas -v
struct VliwFigures {
  std::uint64_t gprs = 0, operations = 0, bundles = 0;
};
std::map<std::string, VliwFigures> parse_r600(std::string const& assembly);

}  // namespace kernelcast::frontend
