// Texts that were compiled apart, joined.
#include "kernels/ptx/link.hpp"

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::ptx;

namespace {

std::unique_ptr<Module> linked(std::vector<std::string> const& bodies) {
  std::vector<std::unique_ptr<Module>> parts;
  for (std::size_t k = 0; k < bodies.size(); ++k)
    parts.push_back(parse(".version " + std::string(k ? "8.5" : "7.0") + "\n.target " + (k ? "sm_80" : "sm_75") +
                              "\n.address_size 64\n" + bodies[k],
                          "part.ptx"));
  return parse(link(std::move(parts)), "linked.ptx");
}

Variable const* variable(Module const& m, std::string_view name) {
  for (auto const& v : m.variables)
    if (v.name == name) return &v;
  return nullptr;
}

Function const* function(Module const& m, std::string_view name) {
  for (auto const& f : m.functions)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace

TEST_CASE("a definition takes the place of declarations, wherever it stands") {
  std::string const user =
      ".extern .func (.param .b32 r) twice (.param .b32 a);\n.extern .const .align 4 .u32 scale;\n"
      ".visible .entry k() { .reg .u32 %r<3>; ld.const.u32 %r1, [scale];\n"
      "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), twice, (p); ld.param.b32 %r2, [q]; } }\n";
  std::string const giver =
      ".visible .const .align 4 .u32 scale = 7;\n.visible .func (.param .b32 r) twice (.param .b32 a) { ret; }\n";
  for (auto const& m : {linked({user, giver}), linked({giver, user})}) {
    CHECK(m->version_major == 8);
    CHECK(m->targets.at(0) == "sm_80");
    REQUIRE(m->functions.size() == 2);
    CHECK(function(*m, "twice")->has_body);
    CHECK(function(*m, "twice")->linkage == Linkage::visible);
    CHECK(m->text.find(".extern .func") == std::string::npos);  // ptxas takes it for another function
    REQUIRE(m->variables.size() == 1);
    CHECK(m->variables[0].initializers.size() == 1);
    REQUIRE(m->find_kernel("k"));
    for (auto const& i : m->find_kernel("k")->instructions)
      if (i.is_call()) CHECK(m->functions[i.operands.at(1).id].name == "twice");
  }
}

// What an earlier part defines and a later one declares: ptxas takes a declaration behind the definition for another.
TEST_CASE("each function is declared before its definition, or not at all") {
  std::string const giver = ".visible .func twice (.param .b32 a) { ret; }\n";
  std::string const user =
      ".extern .func twice (.param .b32 a);\n.visible .entry k() { .param .b32 p; call.uni twice, (p); }\n";
  auto const m = linked({giver, user, user.substr(0, user.find('\n') + 1)});
  auto const definition = m->text.rfind("twice(.param");
  REQUIRE(definition != std::string::npos);
  CHECK(m->text.substr(definition, m->text.find_first_of(";{", definition) - definition + 1).ends_with("{"));
}

TEST_CASE("a name without linkage belongs to its part") {
  std::string const one = ".global .u32 own = 1;\n.visible .entry a() { .reg .u32 %r<2>; ld.global.u32 %r1, [own]; }\n";
  std::string const two = ".global .u32 own = 2;\n.visible .entry b() { .reg .u32 %r<2>; ld.global.u32 %r1, [own]; }\n";
  auto const m = linked({one, two});
  auto const loaded = [&](char const* kernel) {
    auto const& address = m->find_kernel(kernel)->instructions.at(0).operands.at(1);
    return m->variables[address.elements.at(0).id].initializers.at(0).value.value;
  };
  CHECK(loaded("a") == 1);
  CHECK(loaded("b") == 2);
  // What others refer to keeps its name even where an earlier part has a private thing of that name.
  auto const n = linked({one, ".visible .global .u32 own = 3;\n"});
  REQUIRE(variable(*n, "own"));
  CHECK(variable(*n, "own")->initializers.at(0).value.value == 3);
}

TEST_CASE("a variable that is declared early may hold addresses of what comes later") {
  std::string const user =
      ".extern .global .align 8 .u64 text;\n.visible .entry a() { .reg .u64 %r; ld.global.u64 %r, [text]; }\n";
  std::string const giver =
      ".const .u8 own[3] = {1, 2, 3};\n.visible .global .align 8 .u64 text = generic(own);\n"
      ".extern .global .align 8 .u64 ring;\n.visible .global .align 8 .u64 link = ring;\n"
      ".visible .global .align 8 .u64 ring = link;\n";
  for (auto const& parts : {std::vector{user, giver}, {user, ".const .u8 own[1] = {4};\n", giver}}) {
    auto const m = linked(parts);
    auto const held_by = [&](char const* name) {
      REQUIRE(variable(*m, name));
      return m->variables[variable(*m, name)->initializers.at(0).value.id];
    };
    CHECK(held_by("text").size == 3);
    CHECK(held_by("link").name == "ring");
    CHECK(held_by("ring").name == "link");
  }
}

TEST_CASE("of weak definitions the first counts") {
  auto const weak = [](int value) {
    return ".weak .global .u32 shared_by_all = " + std::to_string(value) +
           ";\n.weak .func f() { .reg .u32 %r<2>; mov.u32 %r1, " + std::to_string(value) + "; }\n.visible .entry k" +
           std::to_string(value) + "() { call.uni f; }\n";
  };
  auto const m = linked({weak(1), weak(2)});
  CHECK(variable(*m, "shared_by_all")->initializers.at(0).value.value == 1);
  CHECK(function(*m, "f")->instructions.at(0).operands.at(1).value == 1);
  CHECK(m->find_kernel("k2"));
  auto const n = linked({weak(1), ".visible .func f() { .reg .u32 %r<2>; mov.u32 %r1, 5; }\n"});
  CHECK(function(*n, "f")->instructions.at(0).operands.at(1).value == 5);
}

TEST_CASE("source lines of each part are its own") {
  auto const part = [](std::string const& file, std::string const& kernel) {
    return ".file 1 \"" + file + "\"\n.visible .entry " + kernel + "() {\n.loc 1 5 3\nret;\n}\n";
  };
  auto const m = linked({part("a.cu", "a"), part("b.cu", "b")});
  CHECK(m->describe(m->find_kernel("a")->instructions.at(0).source) == "a.cu:5");
  CHECK(m->describe(m->find_kernel("b")->instructions.at(0).source) == "b.cu:5");
}

TEST_CASE("what two parts define is an error") {
  CHECK_THROWS_AS(linked({".visible .func f() { ret; }\n", ".visible .func f() { ret; }\n"}), Error);
}
