// SPIR-V to the LLVM IR that clang makes of OpenCL C.
//
// Khronos' translator, llvm-spirv (Debian has those of LLVM 14 and 15), writes bitcode for the target spir64, which
// clang-19 reads. What is another target's in it is rewritten in the text form:
//   address spaces   constant 2 becomes 4, generic 4 becomes 0, as private memory is
//   names            calls of built-in functions carry the address spaces of their arguments: _Z6vload4mPU3AS4Kf. A
//                    source of OpenCL C defines each such name as a call of the function itself
//   kernels          are listed in !nvvm.annotations, and their arguments get the names that the IR has
//
// Limits: addresses of 64 bits. What no OpenCL C function is called like stays undefined, which ends a launch of a
// kernel that calls it.
#include "kernels/frontend/spirv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <set>

#include "base/diag/diag.hpp"
#include "base/diag/names.hpp"
#include "base/diag/text.hpp"

namespace kernelcast::frontend {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// "float4" of "<4 x float>"; empty for what OpenCL C has no type for.
std::string opencl_type(std::string_view llvm) {
  static std::map<std::string_view, std::string_view> const scalars{
      {"void", "void"}, {"i1", "bool"},   {"i8", "char"},     {"i16", "short"},    {"i32", "int"},
      {"i64", "long"},  {"half", "half"}, {"float", "float"}, {"double", "double"}};
  auto const scalar = [](std::string_view name) {
    auto const found = scalars.find(name);
    return found == scalars.end() ? std::string() : std::string(found->second);
  };
  if (!llvm.starts_with('<')) return scalar(llvm);
  auto const x = llvm.find(" x ");
  if (x == llvm.npos || !llvm.ends_with('>')) return {};
  auto const element = scalar(llvm.substr(x + 3, llvm.size() - x - 4));
  return element.empty() ? element : element + std::string(llvm.substr(1, x - 1));
}

// "__generic const float *" of "float const AS4*", "uchar4" of "unsigned char __vector(4)".
std::string parameter_type(std::string_view demangled) {
  std::string base, space = "__private", count, qualifiers;
  bool pointer = false;
  if (demangled.ends_with('*')) pointer = true, demangled.remove_suffix(1);
  for (auto const word : split(demangled, ' ')) {
    static std::map<std::string_view, std::string_view> const spaces{
        {"AS1", "__global"}, {"AS2", "__constant"}, {"AS3", "__local"}, {"AS4", "__generic"}};
    if (auto const found = spaces.find(word); found != spaces.end())
      space = found->second;
    else if (word == "const" || word == "volatile")
      qualifiers += std::string(word) + ' ';
    else if (word == "_Atomic")
      base = "atomic_" + base;  // of OpenCL C, which has five
    else if (word.starts_with("__vector("))
      count = word.substr(9, word.size() - 10);
    else if (word == "unsigned")
      base += 'u';
    else if (word == "ocl_sampler" || word == "ocl_event")
      base = std::string(word.substr(4)) + "_t";
    else if (word.starts_with("ocl_image"))  // ocl_image2d_array_ro
      base = (word.ends_with("_ro")   ? "read_only "
              : word.ends_with("_wo") ? "write_only "
                                      : "read_write ") +
             std::string(word.substr(4, word.size() - 7)) + "_t";
    else if (word != "signed")
      base += word;
  }
  auto const value = qualifiers + base + count;
  return pointer ? space + ' ' + value + " *" : value;
}

// The definition of a mangled name as a call of the function of OpenCL C; empty where it is none.
std::string definition(std::string const& mangled, std::string_view result, std::size_t number) {
  auto const signature = demangled(mangled);
  auto const open = signature.find('(');
  auto const type = opencl_type(result);
  if (open == signature.npos || !signature.ends_with(')') || type.empty()) return {};
  std::string parameters, arguments, part;
  std::size_t n = 0;
  auto const finish = [&] {
    parameters += fmt::format("{}{} a{}", n ? ", " : "", parameter_type(trimmed(part)), n);
    arguments += fmt::format("{}a{}", n ? ", " : "", n);
    ++n;
    part.clear();
  };
  int depth = 0;
  for (char const c : std::string_view(signature).substr(open + 1, signature.size() - open - 2)) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      finish();
    else
      part += c;
  }
  if (!part.empty()) finish();
  auto const called = fmt::format("{}({})", signature.substr(0, open), arguments);
  auto const body = type == "void" || type == "bool" ? called : fmt::format("__builtin_astype({}, {})", called, type);
  return fmt::format("{} f{}({}) __asm__(\"{}\"); __attribute__((always_inline)) {} f{}({}) {{ {}{}; }}\n",  //
                     type, number, parameters, mangled, type, number, parameters, type == "void" ? "" : "return ",
                     body);
}

// The source of OpenCL C that defines what the IR calls by the address spaces of SPIR.
std::string definitions(std::string const& ir) {
  std::string source = "#pragma OPENCL EXTENSION all : enable\n";
  std::size_t number = 0;
  each_line(ir, [&](std::string_view line) {
    auto const name = line.find("@_Z");
    if (!line.starts_with("declare ") || name == line.npos) return;
    auto const mangled = line.substr(name + 1, line.find('(', name) - name - 1);
    if (mangled.find("AS2") == mangled.npos && mangled.find("AS4") == mangled.npos) return;
    auto const at = line.find("spir_func ");
    auto const from = at == line.npos ? 8 : at + 10;
    source += definition(std::string(mangled), trimmed(line.substr(from, name - from)), number++);
  });
  return source;
}

// Lines that the compiler refuses are left out: they call no function of OpenCL C.
void compile_definitions(Build& build, std::string const& source, std::string const& path, std::string const& bitcode) {
  auto const target = opencl_target(build.request.arch);
  std::vector<std::string> command{build.tools.clang};
  command.insert(command.end(), target.begin(), target.end());
  for (auto& option : opencl_options({"-cl-std=CL3.0"})) command.push_back(std::move(option));
  command.insert(command.end(),
                 {"-Xclang", "-disable-llvm-passes", "-ferror-limit=0", "-w", "-emit-llvm", "-c", path, "-o", bitcode});
  write_file(path, source);
  auto run = run_process(command, build.request.time_limit_s);
  if (run.succeeded()) return;
  std::set<std::size_t> refused;
  static std::regex const place(R"((?:^|\n)[^\n:]*definitions\.cl:(\d+):\d+: error)");
  for (std::sregex_iterator i(run.errors.begin(), run.errors.end(), place), end; i != end; ++i)
    refused.insert(to_number<std::size_t>((*i)[1].str()).value_or(0));
  std::string kept;
  std::size_t n = 0;
  each_line(source, [&](std::string_view line) {
    if (refused.contains(++n)) line = {};
    kept += std::string(line) + '\n';
  });
  write_file(path, kept);
  check_compiler(build, "clang-19 (functions of SPIR-V)", run_process(command, build.request.time_limit_s));
}

// Casts within one address space are none.
void rewrite_spaces(std::string& ir) {
  replace_all(ir, " addrspace(4)", "");
  replace_all(ir, "addrspace(2)", "addrspace(4)");
  static std::regex const instruction(R"(addrspacecast (ptr [^ ,()]+ to ptr)(?! addrspace))");
  static std::regex const constant(R"(addrspacecast \((ptr [^()]*(?:\([^()]*\))?[^()]* to ptr)\))");
  ir = std::regex_replace(ir, instruction, "bitcast $1");
  ir = std::regex_replace(ir, constant, "bitcast ($1)");
}

// `%25 = getelementptr …, ptr addrspace(4) @.str, i64 0, i64 0` or a bitcast is @.str: printf's format is looked for by
// its name.
void fold_strings(std::string& ir) {
  static std::regex const element(
      R"(\n  (%[\w.]+) = (?:getelementptr (?:inbounds )?\[\d+ x i8\], ptr addrspace\(4\) (@[\w.]+), i\d+ 0, i\d+ 0|)"
      R"(bitcast ptr addrspace\(4\) (@[\w.]+) to ptr addrspace\(4\))(?=[,\n]))");
  std::smatch match;
  for (auto from = std::string::size_type{0};;) {
    auto const begin = ir.cbegin() + static_cast<std::ptrdiff_t>(from);
    if (!std::regex_search(begin, ir.cend(), match, element)) return;
    auto const value = match[1].str(), name = match[match[2].matched ? 2 : 3].str();
    from += static_cast<std::size_t>(match.position() + match.length());
    auto const end = std::min(ir.find("\n}", from), ir.size());
    auto body = ir.substr(from, end - from);
    auto const use = "ptr addrspace(4) " + value;
    for (auto at = body.find(use); at != body.npos; at = body.find(use, at + 1))
      if (auto const next = at + use.size(); next == body.size() || body[next] == ',' || body[next] == ')')
        body.replace(at + use.size() - value.size(), value.size(), name);
    ir.replace(from, end - from, body);
  }
}

// Numbers that printf takes are doubles, where SPIR-V has floats.
void promote_printed(std::string& ir) {
  static std::regex const number(R"(, (float|half) ([^ ,()]+)(?=[,)]))");
  std::size_t made = 0;
  for (auto at = ir.find("@printf(ptr"); at != ir.npos; at = ir.find("@printf(ptr", at + 1)) {
    auto const begin = ir.rfind('\n', at) + 1, end = std::min(ir.find('\n', at), ir.size());
    if (ir.compare(begin, 8, "declare ") == 0) continue;
    auto call = ir.substr(at, end - at);
    std::string before;
    for (std::smatch match; std::regex_search(call, match, number);) {
      auto const name = fmt::format("%printed.{}", made++);
      before += fmt::format("  {} = fpext {} {} to double\n", name, match[1].str(), match[2].str());
      call.replace(static_cast<std::size_t>(match.position()), static_cast<std::size_t>(match.length()),
                   ", double " + name);
    }
    ir.replace(at, end - at, call);
    ir.insert(begin, before);
    at += before.size();
  }
}

// !nvvm.annotations and !kernel_arg_name.
void annotate_kernels(std::string& ir) {
  std::string list, tuples;
  std::size_t number = 1'000'000;  // of metadata; beyond what a module has
  static std::regex const parameter(R"(%([A-Za-z_][\w.]*)$)");
  for (auto at = ir.find("\ndefine "); at != ir.npos; at = ir.find("\ndefine ", at + 1)) {
    auto const end = ir.find('\n', at + 1);
    auto const line = ir.substr(at + 1, end - at - 1);
    if (line.find(" spir_kernel ") == line.npos) continue;
    auto const name = line.find('@'), open = line.find('(', name);
    list += fmt::format("{}!{}", list.empty() ? "" : ", ", number);
    tuples += fmt::format("!{} = !{{ptr {}, !\"kernel\", i32 1}}\n", number++, line.substr(name, open - name));
    std::string names, part;
    int depth = 0;
    for (auto i = open + 1; i < line.size() && depth >= 0; ++i) {
      depth += (line[i] == '(') - (line[i] == ')');
      if ((line[i] == ',' && depth == 0) || depth < 0) {
        std::smatch found;
        if (!trimmed(part).empty())
          names += fmt::format("{}!\"{}\"", names.empty() ? "" : ", ",
                               std::regex_search(part, found, parameter) ? found[1].str() : "");
        part.clear();
      } else {
        part += line[i];
      }
    }
    auto const brace = line.rfind('{');
    if (line.find("!kernel_arg_name ") != line.npos || brace == line.npos) continue;
    tuples += fmt::format("!{} = !{{{}}}\n", number, names);
    ir.insert(at + 1 + brace, fmt::format("!kernel_arg_name !{} ", number++));
  }
  if (!list.empty()) ir += "\n!nvvm.annotations = !{" + list + "}\n" + tuples;
}

}  // namespace

std::map<std::uint32_t, unsigned> specialisation_constants(std::string_view spirv) {
  enum : std::uint32_t {
    type_bool = 20,
    type_int,
    type_float,
    constant_true = 48,
    constant_false,
    constant,
    decorate = 71
  };
  constexpr std::uint32_t spec_id = 1, header_words = 5;
  std::vector<std::uint32_t> words(spirv.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), spirv.data(), 4 * words.size());
  std::map<std::uint32_t, unsigned> bytes_of_type, out;
  std::map<std::uint32_t, std::uint32_t> numbers;  // by the result's id
  for (std::size_t at = header_words; at < words.size();) {
    auto const length = words[at] >> 16, op = words[at] & 0xffff;
    if (length == 0 || length > words.size() - at) break;
    auto const* const operand = &words[at] + 1;
    if (op == type_bool && length >= 2) bytes_of_type[operand[0]] = 1;
    if ((op == type_int || op == type_float) && length >= 3) bytes_of_type[operand[0]] = operand[1] / 8;
    if (op == decorate && length >= 4 && operand[1] == spec_id) numbers[operand[0]] = operand[2];
    if (op >= constant_true && op <= constant && length >= 3)
      if (auto const number = numbers.find(operand[1]); number != numbers.end())
        out[number->second] = bytes_of_type[operand[0]];
    at += length;
  }
  return out;
}

std::string spirv_text(Build& build, std::string const& path, std::vector<std::string> const& options,
                       std::string const& name) {
  auto const& translator = build.tools.llvm_spirv;
  if (translator.empty())
    throw Error(Status::unavailable, "llvm-spirv is not installed: SPIR-V cannot be read",
                "apt-get install llvm-spirv-15");
  if (!is_spirv(read_file(path)))
    throw Error(Status::bad_data, Where{path},
                "no SPIR-V: the file does not begin with 0x07230203 in little-endian order",
                "spirv-as makes SPIR-V of its assembly, clang -target spirv64 of OpenCL C");
  auto const bitcode = build.scratch.file(name + ".spir.bc"), text = build.scratch.file(name + ".spir.ll");
  std::vector<std::string> translate{translator, "-r", "--spirv-target-env=CL2.0", path, "-o", bitcode};
  for (auto const& option : options)
    if (option.starts_with(spirv_constants)) translate.push_back("--" + option.substr(1));
  check_compiler(build, "llvm-spirv", run_process(translate, build.request.time_limit_s));
  check_compiler(build, "clang-19 (bitcode of SPIR-V)",
                 run_process({build.tools.clang, "-target", "spir64", "-x", "ir", bitcode, "-w", "-Xclang",
                              "-disable-llvm-passes", "-emit-llvm", "-S", "-o", text},
                             build.request.time_limit_s));
  auto ir = read_file(text);
  build.spirv.push_back(build.scratch.file(name + ".definitions.bc"));
  compile_definitions(build, definitions(ir), build.scratch.file(name + ".definitions.cl"), build.spirv.back());
  static std::regex const target(R"(\ntarget (datalayout|triple) = "[^"]*")");
  ir = std::regex_replace(ir, target, "");
  replace_all(ir, " spir_func ", " ");
  rewrite_spaces(ir);
  fold_strings(ir);
  promote_printed(ir);
  annotate_kernels(ir);
  return ir;
}

}  // namespace kernelcast::frontend
