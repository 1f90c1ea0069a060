#include "base/process/call_place.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unwind.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <mutex>

#include "base/process/process.hpp"

namespace kernelcast {

namespace {

constexpr double symbolizer_limit_s = 10;

bool begins_with_one(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// What lies between a program and its driver, whichever way it is linked, or before its main.
bool is_of_runtime(std::string_view function) {
  return begins_with_one(function, {"cuda", "cuMem", "hip", "libcudart", "__cuda", "__hip"});
}
bool is_runtime_file(std::string_view name) {
  return begins_with_one(name, {"libcudart.", "libcuda.", "libamdhip64.", "libkernelcast", "libc.", "ld-"});
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

struct Walk {
  void const* own;  // where the library begins that asks
  CallPlace found{};
  std::size_t used = 0;
};

_Unwind_Reason_Code see(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  auto const* const address = reinterpret_cast<char const*>(_Unwind_GetIP(context));  // NOLINT: as the system has it
  Dl_info info{};
  if (!address || !dladdr(address - 1, &info)) return _URC_END_OF_STACK;
  if (info.dli_fbase != walk.own && !(info.dli_fname && is_runtime_file(file_name(info.dli_fname))))
    walk.found[walk.used++] = address;
  return walk.used == walk.found.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// A program that is not loaded wherever there is room has absolute addresses.
std::string offset_in(Dl_info const& info, char const* address) {
  auto const* const header = static_cast<ElfW(Ehdr) const*>(info.dli_fbase);
  auto const from = header->e_type == ET_EXEC ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(header);
  std::array<char, 20> text;
  auto const* const end =
      std::to_chars(text.data(), text.data() + text.size(), reinterpret_cast<std::uintptr_t>(address) - from, 16).ptr;
  return "0x" + std::string(text.data(), static_cast<std::size_t>(end - text.data()));
}

// The file of a loaded object: the program's own name may be a word without a folder.
std::string module_of(Dl_info const& info) {
  Dl_info program{};
  std::error_code error;
  bool const is_program = dladdr(reinterpret_cast<void const*>(getauxval(AT_ENTRY)), &program) != 0 &&  // NOLINT
                          program.dli_fbase == info.dli_fbase;
  return is_program ? std::filesystem::read_symlink("/proc/self/exe", error).string() : info.dli_fname;
}

std::string look_up(CallPlace const& place) {
  std::string without_line;
  for (void const* const each : place) {
    if (!each) break;
    auto const* const call = static_cast<char const*>(each) - 1;  // a return address lies behind its call
    Dl_info info{};
    if (!dladdr(call, &info) || !info.dli_fname || !info.dli_fbase) continue;
    std::string const module = module_of(info);
    auto const found = source_place(module, offset_in(info, call));
    std::string const function = found.function.empty() && info.dli_sname ? info.dli_sname : found.function;
    if (is_of_runtime(function)) continue;
    if (found.line.line > 0)
      return "at " + std::string(file_name(found.line.file)) + ":" + std::to_string(found.line.line);
    if (without_line.empty())
      without_line = (function.empty() ? "in " : "by " + function + " in ") + std::string(file_name(module));
  }
  return without_line;
}

}  // namespace

CallPlace call_place() {
  Dl_info own{};
  dladdr(reinterpret_cast<void const*>(&call_place), &own);
  Walk walk{.own = own.dli_fbase};
  _Unwind_Backtrace(see, &walk);
  return walk.found;
}

std::string text_of(CallPlace const& place) {
  static std::mutex looking;
  static auto* const known = new std::map<CallPlace, std::string>;  // messages come while a process ends, too
  std::lock_guard const lock(looking);
  auto const [at, is_new] = known->try_emplace(place);
  if (is_new) at->second = look_up(place);
  return at->second;
}

SourcePlace source_place(std::string const& module, std::string const& offset) {
  SourcePlace out;
  std::vector<std::string> command;
  if (auto llvm = find_program("llvm-symbolizer-19", {"/usr/lib/llvm-19/bin"}); !llvm.empty())
    command = {std::move(llvm), "--output-style=GNU", "--no-inlines", "--functions", "--demangle", "-e", module,
               offset};
  else if (auto binutils = find_program("addr2line"); !binutils.empty())
    command = {std::move(binutils), "-C", "-f", "-e", module, offset};
  else
    return out;
  std::string const text = run_process(command, symbolizer_limit_s).output;
  auto const end = text.find('\n');
  if (end == std::string::npos) return out;
  if (!text.starts_with('?')) out.function = text.substr(0, text.find_first_of("(\n"));
  auto const line = text.find(':', end);
  if (line == std::string::npos || text[end + 1] == '?') return out;
  std::uint64_t number = 0;
  std::from_chars(text.data() + line + 1, text.data() + text.size(), number);
  if (number > 0) out.line = Where{text.substr(end + 1, line - end - 1), number, 0};
  return out;
}

}  // namespace kernelcast
