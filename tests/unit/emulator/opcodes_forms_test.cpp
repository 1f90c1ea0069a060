// Every form of every scalar, warp, atomic and memory opcode is executed, not refused: opcode_forms.txt lists them. And
// every opcode of opcodes_of_suites.txt, which are those that public benchmark suites use.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

// <a/b/c> is a choice, of which one may be empty.
void expand(std::string const& pattern, std::vector<std::string>& all) {
  std::size_t const open = pattern.find('<');
  if (open == std::string::npos) return all.push_back(pattern);
  std::size_t const close = pattern.find('>', open);
  std::string const rest = pattern.substr(close + 1);
  std::size_t at = open + 1;
  while (at <= close) {
    std::size_t const end = std::min(pattern.find('/', at), close);
    expand(pattern.substr(0, open) + pattern.substr(at, end - at) + rest, all);
    at = end + 1;
  }
}

std::vector<std::string> lines_of(std::string const& name) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR) + "/tests/unit/emulator/" + name);
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') expand(line, lines);
  return lines;
}

std::string const module_variables = ".const .align 32 .b8 cc[64];\n";
std::string const registers =
    ".reg .pred %p<8>; .reg .b8 %c<8>; .reg .b16 %h<32>; .reg .b32 %w<32>; .reg .b64 %d<8>; .reg .b64 %a<2>;\n"
    ".reg .b32 %s<2>; .reg .b32 %l<2>; .reg .b128 %q<4>;\n"
    ".shared .align 32 .b8 sh[64]; .local .align 32 .b8 lo[64];\n";

// What is wrong with a kernel that executes this text, as far as opcodes go.
std::string refusal(std::string const& text, std::string const& before = {}) {
  Bench bench(module_variables + before + ".visible .entry k(.param .u64 p) {\n" + registers +
              "ld.param.u64 %a0, [p]; mov.u32 %s0, 0; mov.u32 %l0, 0;\n" + text + "\nret;\n}\n");
  bench.buffer("p", 256);
  bench.recorded = false;  // its registers hold nothing
  Outcome const& outcome = bench.run();
  return outcome.finding && outcome.finding->kind == Finding::Kind::unknown_opcode ? outcome.finding->message : "";
}

bool is_type(std::string const& word) {
  return word.size() >= 2 && std::string("busf").find(word[0]) != std::string::npos &&
         word.find_first_not_of("0123456789", 1) == std::string::npos;
}
std::string register_for(std::string const& type, int index) {
  std::string const n = std::to_string(index);
  if (type == "pred") return "%p" + n;
  std::string const bits = type.substr(1);
  return (bits == "8" ? "%c" : bits == "16" ? "%h" : bits == "64" ? "%d" : "%w") + n;
}
std::string doubled(std::string const& type) {
  return type[0] + std::to_string(2 * std::stoi(type.substr(1)));
}

// An instruction with this opcode, with operands as its family has them.
std::string instruction(std::string const& opcode) {
  std::vector<std::string> words, types;
  for (std::size_t at = 0; at <= opcode.size();) {
    std::size_t const end = std::min(opcode.find('.', at), opcode.size());
    words.push_back(opcode.substr(at, end - at));
    at = end + 1;
  }
  std::set<std::string> const all(words.begin(), words.end());
  std::string const base = words[0];
  for (std::size_t k = 1; k < words.size(); ++k)
    if (is_type(words[k]) || words[k] == "pred") types.push_back(words[k]);
  if (base == "ret") return opcode;
  if (base == "bra") return opcode + " L;\nL: add.u32 %w0, %w0, 1";
  if (base == "call") return opcode + " subroutine";
  if (base == "membar") return opcode;
  if (base == "bar") return opcode + " 0";
  std::string const type = types.back();
  auto r = [&](int index) { return register_for(type, index); };
  if (base == "ld" || base == "st") {
    int const count = all.contains("v4") ? 4 : all.contains("v2") ? 2 : 1;
    std::string values = r(0);
    for (int k = 1; k < count; ++k) values += ", " + r(k);
    if (count > 1) values = "{" + values + "}";
    std::string const place = all.contains("param")    ? (base == "ld" ? "p" : "x")
                              : all.contains("const")  ? "cc"
                              : all.contains("shared") ? "%s0"
                              : all.contains("local")  ? "%l0"
                                                       : "%a0";
    if (base == "ld") return opcode + " " + values + ", [" + place + "]";
    if (place == "x") return "{ .param .align 16 .b8 x[16]; st" + opcode.substr(2) + " [x], " + values + "; }";
    return opcode + " [" + place + "], " + values;
  }
  if (base == "atom") return opcode + " " + r(0) + ", [" + (all.contains("shared") ? "%s0" : "%a0") + "], " + r(1);
  if (base == "tex")
    return opcode + " {%w0, %w1, %w2, %w3}, [%d0, {" + (all.contains("2d") ? "%w4, %w5" : "%w4") + "}]";
  if (base == "txq") return opcode + " %w0, [%d0]";
  if (base == "setp") return opcode + " %p0, " + r(1) + ", " + r(2);
  if (base == "selp") return opcode + " " + r(0) + ", " + r(1) + ", " + r(2) + ", %p3";
  if (base == "cvt") return opcode + " " + register_for(types[0], 0) + ", " + register_for(types[1], 1);
  if (base == "clz") return opcode + " %w0, " + r(1);
  if (base == "shl" || base == "shr") return opcode + " " + r(0) + ", " + r(1) + ", %w2";
  if (base == "bfe") return opcode + " " + r(0) + ", " + r(1) + ", %w2, %w3";
  if (base == "bfi") return opcode + " " + r(0) + ", " + r(1) + ", " + r(2) + ", %w3, %w4";
  if (all.contains("wide")) {
    std::string const text = opcode + " " + register_for(doubled(type), 0) + ", " + r(1) + ", " + r(2);
    return base == "mad" ? text + ", " + register_for(doubled(type), 3) : text;
  }
  static std::set<std::string> const unary = {"abs",  "neg",   "not", "mov", "cvta", "rcp",
                                              "sqrt", "rsqrt", "sin", "cos", "ex2"};
  static std::set<std::string> const ternary = {"mad", "madc", "fma", "prmt", "shf"};
  int const sources = unary.contains(base) ? 1 : ternary.contains(base) ? 3 : 2;
  std::string text = opcode + " " + r(0);
  for (int k = 1; k <= sources; ++k) text += ", " + r(k);
  return text;
}

}  // namespace

TEST_CASE("every opcode of the benchmark suites is executed") {
  std::vector<std::string> const opcodes = lines_of("opcodes_of_suites.txt");
  CHECK(opcodes.size() == 343);
  std::size_t executed = 0;
  for (std::string const& opcode : opcodes) {
    std::string const text = instruction(opcode);
    INFO(text);
    std::string const reason = refusal(text + ";", ".func subroutine() { ret; }\n");
    CHECK(reason == "");
    executed += reason.empty();
  }
  CHECK(executed == opcodes.size());
}

// Where ptxas is installed: the list holds nothing that it rejects. Targets differ in what they have, so each form must
// be right on one of them.
TEST_CASE("ptxas accepts the forms of the list") {
  if (std::system("command -v ptxas >/dev/null 2>&1") != 0 ||
      std::system("ptxas --version | grep -q 'release 13'") != 0) {
    std::puts("kernelcast-skipped: no ptxas of CUDA 13");
    return;
  }
  std::vector<std::string> left = lines_of("opcode_forms.txt");
  char const* scratch = std::getenv("TMPDIR");
  std::string const path = std::string(scratch ? scratch : "/tmp") + "/kernelcast-forms-" + std::to_string(getpid());
  for (std::string const target : {"sm_90a", "sm_100a"}) {
    std::ofstream(path + ".ptx") << [&] {
      std::string text = ".version 9.0\n.target " + target + "\n.address_size 64\n" + module_variables +
                         ".visible .entry k(.param .u64 p) {\n" + registers;
      for (std::string const& form : left) text += form + ";\n";
      return text + "ret;\n}\n";
    }();
    std::string const command = "ptxas -O0 -arch=" + target + " -o /dev/null " + path + ".ptx 2>" + path + ".log";
    std::set<std::size_t> wrong;
    if (std::system(command.c_str()) != 0) {
      std::size_t const first = 5 + static_cast<std::size_t>(std::count(registers.begin(), registers.end(), '\n'));
      std::ifstream log(path + ".log");
      for (std::string line; std::getline(log, line);)
        if (std::size_t const at = line.find(", line "); at != std::string::npos)
          wrong.insert(static_cast<std::size_t>(std::stoul(line.substr(at + 7))) - first - 1);
      REQUIRE(!wrong.empty());
    }
    std::vector<std::string> rest;
    for (std::size_t k = 0; k < left.size(); ++k)
      if (wrong.contains(k)) rest.push_back(left[k]);
    left = std::move(rest);
  }
  std::remove((path + ".ptx").c_str());
  std::remove((path + ".log").c_str());
  CHECK(left == std::vector<std::string>{});
}

TEST_CASE("every form of an opcode is executed") {
  std::vector<std::string> const forms = lines_of("opcode_forms.txt");
  CHECK(forms.size() > 6000);
  std::size_t executed = 0;
  for (std::string const& form : forms) {
    INFO(form);
    std::string const reason = refusal(form + ";");
    CHECK(reason == "");
    executed += reason.empty();
  }
  CHECK(executed == forms.size());
}

TEST_CASE("what would need several devices is refused with a reason") {
  CHECK(refusal("multimem.ld_reduce.global.add.u32 %w0, [%a0];") ==
        "opcode 'multimem.ld_reduce.global.add.u32' cannot be executed: there is one device here");
  CHECK(refusal("frobnicate.u32 %w0, %w1;") == "opcode 'frobnicate.u32' cannot be executed");
}

}  // namespace kernelcast::emu::test
