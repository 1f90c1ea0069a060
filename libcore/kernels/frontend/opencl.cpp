// OpenCL C to PTX in two runs of clang-19.
//
// The first parses the source and writes unoptimised LLVM IR as text (about 25 ms, half of it the built-in header). It
// shows errors in the user's source, and holds the !kernel_arg_* metadata. The IR is marked as vendors' compilers would
// optimise it (unrolling.hpp). The second links our shim and libclc and optimises (about 55 ms). Parsing twice in
// parallel would save some 20 ms of time on two cores, but no processor time; the other back ends use the second core
// then.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "base/cache/cache.hpp"
#include "kernels/frontend/build.hpp"
#include "kernels/frontend/lenient.hpp"
#include "kernels/frontend/spirv.hpp"
#include "kernels/frontend/unrolling.hpp"

namespace kernelcast::frontend {
namespace {

// Makes the shim's bitcode where neither an installation nor a build tree has it.
std::string compile_shim(Build& build, std::string const& folder) {
  for (auto const& file : embedded_opencl()) write_file(folder + std::string(file.name), file.text);
  for (auto const& part : shim_parts(build.request)) {
    std::vector<std::string> argv{build.tools.clang};
    argv.insert(argv.end(), part.options.begin(), part.options.end());
    argv.insert(argv.end(), {folder + std::string(part.source), "-o", folder + std::string(part.bitcode)});
    check_compiler(build, "clang-19 (the built-in functions)", run_process(argv, build.request.time_limit_s));
  }
  return folder;
}

std::string shim_folder(Build& build) {
  if (auto folder = find_shim(build.request); !folder.empty()) return folder;
  std::string key = identity(build.tools.clang);
  for (auto const& file : embedded_opencl()) key += file.text;
  auto const cached = cache_folder();
  if (cached.empty() || !build.request.cache) return compile_shim(build, build.scratch.path().string() + "/");
  auto const name = fmt::format("shim-{}{}{}", content_hash(key), build.request.global_offset ? "o" : "",
                                build.request.fence_flags ? "f" : "");
  std::string made;
  auto kept = keep_files(name, [&](std::filesystem::path const& to) {
    made = compile_shim(build, build.scratch.path().string() + "/");
    for (auto const& part : shim_parts(build.request))
      std::filesystem::copy_file(made + std::string(part.bitcode), to / part.bitcode);
  });
  if (!kept.empty()) return kept;
  return made.empty() ? compile_shim(build, build.scratch.path().string() + "/") : made;
}

std::size_t count(std::string_view text, std::string const& name) {
  std::size_t n = 0;
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    char const next = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    if (!std::isalnum(static_cast<unsigned char>(next)) && next != '_' && next != '.') ++n;
  }
  return n;
}

// clang leaves calls of printf with a format in constant memory; the CUDA ABI's name is vprintf, its format generic.
// ptxas refuses generic addresses of constant memory beside __constant arguments: the format moves to global memory.
void rename_printf(std::string& ir) {
  if (ir.find("@printf(") == std::string::npos) return;
  static std::regex const format(R"(@printf\(ptr addrspace\(4\)(?: noundef)? (@[\w.]+))");
  std::map<std::string, std::size_t> calls;  // by format string
  for (std::sregex_iterator i(ir.begin(), ir.end(), format), end; i != end; ++i) ++calls[(*i)[1]];
  for (auto const& [name, n] : calls) {
    auto const definition = ir.find("\n" + name + " = ");
    auto const space = definition == std::string::npos ? definition : ir.find("addrspace(4)", definition);
    // Used by more than printf, its address space has to stay.
    if (space == std::string::npos || count(ir, name) != n + 1) continue;
    ir.replace(space, 12, "addrspace(1)");
    for (std::string const attribute : {" noundef ", " "}) {
      std::string const from = "@printf(ptr addrspace(4)" + attribute + name;
      std::string const to = "@printf(ptr" + attribute + "addrspacecast (ptr addrspace(1) " + name + " to ptr)";
      for (auto at = ir.find(from); at != ir.npos; at = ir.find(from, at + to.size())) {
        char const next = ir[at + from.size()];
        if (next == ',' || next == ')') ir.replace(at, from.size(), to);
      }
    }
  }
  static std::regex const name(R"(@printf\()");
  static std::regex const type(R"(i32 \(ptr addrspace\(4\), \.\.\.\) (@printf\(ptr (?:noundef )?addrspacecast))");
  ir = std::regex_replace(ir, type, "i32 (ptr, ...) $1");
  ir = std::regex_replace(ir, name, "@vprintf(");
}

}  // namespace

std::vector<std::string> opencl_options(std::vector<std::string> const& options) {
  std::vector<std::string> result{"-x", "cl"};
  std::string standard = "CL1.2";
  bool value_follows = false;
  auto const is_cpp = [](std::vector<std::string> const& o, std::size_t i) {  // AMD's way to ask for C++
    return i + 1 < o.size() && o[i] == "-x" && o[i + 1] == "clc++";
  };
  for (std::size_t i = 0; i < options.size(); ++i)
    if (is_cpp(options, i)) standard = "clc++";
  for (auto const& option : options) {
    if (!value_follows && option.starts_with("-cl-std=")) standard = option.substr(8);
    value_follows = option == "-D" || option == "-I" || option == "-U" || option == "-include";
  }
  // clang defines these features of OpenCL 3.0 for SPIR only; the shim provides them here.
  if (standard == "CL3.0" || standard == "clc3.0")
    for (char const* feature : {"work_group_collective_functions", "atomic_scope_device", "atomic_scope_all_devices"})
      result.push_back(fmt::format("-D__opencl_c_{}=1", feature));
  // What clang leaves to the runtime.
  auto const versioned = [](std::string const& o) { return o.starts_with("-D__OPENCL_VERSION__"); };
  if (std::ranges::none_of(options, versioned)) result.emplace_back("-D__OPENCL_VERSION__=300");
  result.emplace_back("-D__IMAGE_SUPPORT__=1");
  // C99 has no implicit int, as in `__global* x`: clang 15 and older, and drivers made of them, only warn.
  result.insert(result.end(), {"-cl-std=" + standard, "-O2", "-cl-kernel-arg-info", "-fno-caret-diagnostics",
                               "-fno-color-diagnostics", "-Wno-linker-warnings", "-Wno-error=implicit-int", "-Xclang",
                               "-finclude-default-header", "-Xclang", "-cl-ext=+all"});
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (is_cpp(options, i))
      ++i;
    else if (!options[i].starts_with("-cl-std=") && !options[i].starts_with("-cl-nv-"))
      result.push_back(options[i]);
  }
  return result;
}

namespace {

// C99's `inline` leaves a function that is not inlined to another source, which OpenCL programs do not have: vendors'
// compilers keep it, once.
void keep_inline_functions(std::string& ir) {
  constexpr std::string_view from = "\ndefine available_externally ", to = "\ndefine linkonce_odr ";
  for (auto at = ir.find(from); at != ir.npos; at = ir.find(from, at + to.size())) ir.replace(at, from.size(), to);
}

// LLVM 19 reads an argument of two bytes, char2, as one of two 16-bit words. It becomes an integer of 16 bits; all that
// the body does with it so far is to store it.
void pass_byte_pairs(std::string& ir) {
  static std::regex const pair(R"(<2 x i8>((?: [a-z]+)* (%\d+)))");
  for (auto at = ir.find("\ndefine "); at != ir.npos; at = ir.find("\ndefine ", at + 1)) {
    auto const header = ir.substr(at, ir.find('\n', at + 1) - at);
    if (header.find(" spir_kernel ") == header.npos || header.find("<2 x i8>") == header.npos) continue;
    auto body = ir.substr(at + header.size(), ir.find("\n}", at) - at - header.size());
    auto const bytes = header.size() + body.size();
    for (std::sregex_iterator i(header.begin(), header.end(), pair), end; i != end; ++i)
      for (std::string const store : {"store ", "store volatile "})
        if (auto const from = body.find(store + "<2 x i8> " + (*i)[2].str() + ','); from != body.npos)
          body.replace(from + store.size(), 8, "i16");
    ir.replace(at, bytes, std::regex_replace(header, pair, "i16$1") + body);
  }
}

// A source of OpenCL C as clang writes it, without optimisation.
std::string parse_source(Build& build, std::string const& path, std::vector<std::string> const& options,
                         std::string const& ir_file) {
  auto const& request = build.request;
  auto const rule_file = build.scratch.file("kernel.d");
  auto const target = opencl_target(request.arch);
  std::vector<std::string> parse{build.tools.clang};
  parse.insert(parse.end(), target.begin(), target.end());
  for (auto& option : opencl_options(options)) parse.push_back(std::move(option));
  parse.insert(parse.end(), {"-gdwarf-2", "-gline-directives-only", "-Xclang", "-disable-llvm-passes", "-emit-llvm",
                             "-S", "-MMD", "-MF", rule_file, as_argument(path), "-o", ir_file});
  auto parsed = run_process(parse, request.time_limit_s);
  for (bool again = true; again && !parsed.succeeded() && !parsed.timed_out;) {
    again = false;
    for (auto const& [more, note] : leniencies(build, parsed.errors + parsed.output, parse)) {
      parse.insert(parse.end(), more.begin(), more.end());
      build.notes.push_back(note);
      again = true;
    }
    if (again) parsed = run_process(parse, request.time_limit_s);
  }
  auto const warnings = check_compiler(build, "clang-19", parsed);
  build.notes.insert(build.notes.end(), warnings.begin(), warnings.end());
  for (auto const& option : options)
    if (option.starts_with("-cl-nv-")) build.notes.push_back(option + " is left out: only NVIDIA's compiler knows it");
  for (auto& file : parse_dependencies(read_file(rule_file)))
    if (!file.starts_with(build.scratch.path().string())) build.dependencies.push_back(std::move(file));
  return read_file(ir_file);
}

// One source as LLVM IR in text form, not yet optimised; adds what it tells to the build.
void parse_unit(Build& build, std::string const& path, std::vector<std::string> const& options,
                std::string const& name) {
  auto const ir_file = build.scratch.file(name + ".ll");
  auto ir = path.ends_with(spirv_suffix) ? spirv_text(build, path, options, name)
                                         : parse_source(build, path, options, ir_file);
  build.facts.merge(parse_kernel_metadata(ir));
  rename_printf(ir);
  keep_inline_functions(ir);
  pass_byte_pairs(ir);
  inline_functions(ir, build.request.linked.empty() ? UsedBy::this_source : UsedBy::other_sources);
  unroll_private_arrays(ir, PrivatePointers::all);
  write_file(ir_file, ir);
}

// The further sources as bitcode, for the linker within clang.
std::vector<std::string> linked_units(Build& build) {
  std::vector<std::string> bitcode;
  auto const target = opencl_target(build.request.arch);
  for (auto const& unit : build.request.linked) {
    auto const name = fmt::format("unit{}", bitcode.size());
    parse_unit(build, unit.path, unit.options, name);
    bitcode.push_back(build.scratch.file(name + ".bc"));
    std::vector<std::string> convert{build.tools.clang};
    convert.insert(convert.end(), target.begin(), target.end());
    convert.insert(convert.end(), {"-x", "ir", build.scratch.file(name + ".ll"), "-Xclang", "-disable-llvm-passes",
                                   "-emit-llvm", "-c", "-o", bitcode.back()});
    check_compiler(build, "clang-19", run_process(convert, build.request.time_limit_s));
  }
  return bitcode;
}

}  // namespace

void build_opencl(Build& build) {
  auto const& clang = require_clang(build.tools);
  auto const libclc = require_libclc(build.tools, "nvptx64--nvidiacl.bc");
  auto const& request = build.request;
  auto const ir_file = build.scratch.file("kernel.ll"), ptx_file = build.scratch.file("kernel.ptx");
  parse_unit(build, request.path, request.options, "kernel");
  auto const units = linked_units(build);

  auto const shim = shim_folder(build);
  auto const target = opencl_target(request.arch);
  std::vector<std::string> lower{clang};
  lower.insert(lower.end(), target.begin(), target.end());
  for (auto& option : optimisation_options(request.options)) lower.push_back(std::move(option));
  lower.insert(lower.end(),
               {"-x", "ir", ir_file, "-fno-caret-diagnostics", "-fno-color-diagnostics", "-Wno-linker-warnings"});
  for (auto const& unit : units) lower.insert(lower.end(), {"-Xclang", "-mlink-bitcode-file", "-Xclang", unit});
  auto libraries = build.spirv;
  for (auto const& part : shim_parts(request)) libraries.push_back(shim + std::string(part.bitcode));
  libraries.push_back(libclc);
  for (auto const& library : libraries)
    lower.insert(lower.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", library});
  lower.insert(lower.end(), {"-S", "-o", ptx_file});
  check_compiler(build, "clang-19 (code generation)", run_process(lower, request.time_limit_s));
  build.ptx = read_file(ptx_file);
  // libclc's bits of 2/pi, which sines of large doubles read 16 at a time, end 2 bytes early; these are 0.
  std::string_view const table = "PIBITS_TBL[158]";
  if (auto const at = build.ptx.find(table); at != std::string::npos)
    build.ptx.replace(at, table.size(), "PIBITS_TBL[160]");
}

}  // namespace kernelcast::frontend
