// faults KERNEL...
//
// Each kernel of this folder has one planted fault; its head says how to launch it and what must be found:
//   // launch: -g 64 -l 32 -a buf:i32:64:iota
//   // expect: race, line 12, work-item (0, 0, 0) of work-group (1, 0, 0)
//   // says: text that the message has (optional)
// The kernel runs with all checks on, all groups; kind, line and work-item of the finding must be as said. Its twin,
// the same kernel with the fault mended (compiled with -DMENDED, or NAME.mended.ptx), must pass without a finding.
// Where findings do not end runs the first one is the same, and a kernel that can go on has its row.
// Kernels that need more than this machine has (a compiler) are skipped.
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <sstream>

#include "emulator/launch/launch.hpp"

namespace {

using namespace kernelcast;

constexpr std::pair<std::string_view, emu::Finding::Kind> kinds[] = {
    {"out_of_bounds", emu::Finding::Kind::out_of_bounds},
    {"misaligned", emu::Finding::Kind::misaligned},
    {"race", emu::Finding::Kind::race},
    {"proxy_fence", emu::Finding::Kind::proxy_fence},
    {"in_flight", emu::Finding::Kind::in_flight},
    {"uninitialized", emu::Finding::Kind::uninitialized},
    {"use_after_free", emu::Finding::Kind::use_after_free},
    {"invalid_free", emu::Finding::Kind::invalid_free},
    {"division_by_zero", emu::Finding::Kind::division_by_zero},
    {"assertion", emu::Finding::Kind::assertion},
    {"divergent_barrier", emu::Finding::Kind::divergent_barrier},
    {"deadlock", emu::Finding::Kind::deadlock},
    {"trap", emu::Finding::Kind::trap},
    {"stack_overflow", emu::Finding::Kind::stack_overflow},
    {"limit", emu::Finding::Kind::limit},
};

std::string name(emu::Finding::Kind kind) {
  for (auto const& [text, value] : kinds)
    if (value == kind) return std::string(text);
  return "another kind";
}

struct Head {
  launch::CommandLine line;
  std::uint64_t max_steps = 0;
  std::string expect, says;
};

Head read_head(std::string const& path) {
  Head head;
  head.line.path = path;
  std::ifstream file(path);
  if (!file) throw Error(Status::io, Where{path, 0, 0}, "cannot be read", "is the name right?");
  for (std::string text; std::getline(file, text) && text.starts_with("// ");) {
    if (text.starts_with("// expect: ")) head.expect = text.substr(11);
    if (text.starts_with("// says: ")) head.says = text.substr(9);
    if (!text.starts_with("// launch: ")) continue;
    std::istringstream words(text.substr(11));
    for (std::string option, value; words >> option >> value;) {
      if (option == "-g")
        head.line.global = value;
      else if (option == "--grid")
        head.line.grid = value;
      else if (option == "-l")
        head.line.local = value;
      else if (option == "-a")
        head.line.arguments.push_back(value);
      else if (option == "--shared")
        head.line.dynamic_shared_bytes = std::stoull(value);
      else if (option == "--cl-std")
        head.line.options.push_back("-cl-std=" + value);
      else if (option == "--max-steps")
        head.max_steps = std::stoull(value);
      else
        throw Error(Status::bad_data, Where{path, 0, 0}, "unknown option " + option, "see faults.cpp");
    }
  }
  return head;
}

std::string describe(emu::Finding const& f) {
  auto const colon = f.source.rfind(':');
  std::string const line = colon == std::string::npos ? std::to_string(f.at.line) : f.source.substr(colon + 1);
  return fmt::format("{}, line {}, work-item ({}, {}, {}) of work-group ({}, {}, {})", name(f.kind), line, f.local_id.x,
                     f.local_id.y, f.local_id.z, f.group_id.x, f.group_id.y, f.group_id.z);
}

enum class Mode { stop, go_on, mended };

// What is found first, in the form of `expect`; empty for nothing. `text`: as miniemu prints it.
std::string run(Head const& head, std::string const& path, Mode mode, std::string& text) {
  launch::CommandLine line = head.line;
  line.path = path;
  if (mode == Mode::mended) line.options.emplace_back("-DMENDED");
  launch::Plan plan = launch::plan_of(line);
  plan.request.registers.clear();
  launch::RunOptions options;
  options.groups = launch::parse_groups("all");
  options.limits.max_steps = head.max_steps;
  options.check_options.uninit = options.check_options.races = options.check_options.division = true;
  options.goes_on = mode == Mode::go_on;
  std::string found;
  bool ends = false;
  options.on_finding = [&](emu::Finding const& f) {
    if (found.empty()) found = describe(f);
    using enum emu::Finding::Kind;
    for (auto const kind : {assertion, divergent_barrier, deadlock, trap, stack_overflow, limit})
      ends |= f.kind == kind;
  };
  try {
    auto const report = launch::run(plan, options);
    if (!report.finding) return found;
    text = report.finding->text("miniemu");
    if (report.rows.empty() || ends) return "a run that goes on, without a row or after its end";
  } catch (Error const& error) {
    text = error.text("miniemu");
    if (error.status() == Status::unavailable || found.empty()) throw;
  }
  return found;
}

bool test(std::string const& path) {
  Head const head = read_head(path);
  std::string text, mended_text;
  std::string const found = run(head, path, Mode::stop, text);
  bool good = true;
  if (auto const first = run(head, path, Mode::go_on, text); first != head.expect) {
    fmt::print("{}: expected where findings end nothing: {}\n  found: {}\n{}", path, head.expect, first, text);
    good = false;
  }
  if (found != head.expect) {
    fmt::print("{}: expected: {}\n  found: {}\n{}", path, head.expect, found.empty() ? "nothing" : found, text);
    good = false;
  }
  if (text.find(head.says) == std::string::npos) {
    fmt::print("{}: expected in the message: {}\n  found:\n{}", path, head.says, text);
    good = false;
  }
  std::string twin = path;
  if (path.ends_with(".ptx")) twin.replace(path.size() - 4, 4, ".mended.ptx");
  std::string const in_twin = run(head, twin, Mode::mended, mended_text);
  if (!in_twin.empty()) {
    fmt::print("{}: the mended twin: expected nothing\n  found: {}\n{}", path, in_twin, mended_text);
    good = false;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  for (int i = 1; i < argc; ++i) try {
      if (!test(argv[i])) status = 1;
    } catch (kernelcast::Error const& error) {
      if (error.status() == kernelcast::Status::unavailable) {
        fmt::print("kernelcast-skipped: {}", error.text("faults"));
        continue;
      }
      fmt::print("{}", error.text("faults"));
      status = 1;
    } catch (std::exception const& error) {
      fmt::print("faults: {}: {}\n", argv[i], error.what());
      status = 1;
    }
  return status;
}
