#include "kernels/ptx/printer.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/regions.hpp"
#include "samples.hpp"

using namespace kernelcast::ptx;

namespace {

// Everything a module says, without names of scoped things and without places in the text.
void describe(Module const& m, Operand const& o, std::string& out) {
  auto value = fmt::format("{}", o.value);
  if (o.component == 11 || (o.kind == Operand::Kind::special && o.id == static_cast<std::uint32_t>(Special::other)))
    value = m.slice(o.value);
  out += fmt::format(" {}:{}{}{}:{}:{}:{}", static_cast<int>(o.kind), o.negated, o.local, o.result, o.component, o.id,
                     value);
  for (auto const& e : o.elements) out += '(', describe(m, e, out), out += ')';
}

void describe(Module const& m, Variable const& v, bool named, std::string& out) {
  out += fmt::format("var {} {} {} {} {} {} {} {}\n", named ? v.name : "", static_cast<int>(v.space), name(v.type),
                     v.vector, v.align, v.size, v.array, static_cast<int>(v.linkage));
  for (auto const& i : v.initializers) {
    if (i.value.kind == Operand::Kind::integer && i.value.value == 0) continue;
    out += fmt::format(" {} {} {} {}", i.offset, i.bytes, i.generic_address, i.mask_shift.value_or(99));
    describe(m, i.value, out);
  }
  for (auto const& [attribute, value] : v.attributes)
    out += fmt::format(" {}={}", attribute, value < 65536 ? fmt::format("{}", value) : std::string(m.slice(value)));
  out += '\n';
}

void describe(std::vector<Parameter> const& list, std::string& out) {
  for (auto const& p : list)
    out += fmt::format("param {} {} {} {} {} {} {} {} {} {}\n", p.name, name(p.type), p.in_register, p.reg, p.align,
                       p.size, p.offset, p.pointer, static_cast<int>(p.pointer_space), p.pointer_align);
}

std::string describe(Module const& m) {
  std::string out = fmt::format("{} {} {} {}\n", m.version_major, m.version_minor, m.address_size, m.targets.size());
  for (auto const& v : m.variables) describe(m, v, true, out);
  for (auto const& f : m.functions) {
    out += fmt::format("function {} {} {} {} {} {}\n", f.name, f.entry, f.has_body, f.noreturn,
                       static_cast<int>(f.linkage), f.parameter_bytes);
    describe(f.results, out);
    describe(f.parameters, out);
    for (auto const& [directive, values] : f.directives) out += fmt::format("{} {}\n", directive, values.size());
    out += fmt::format("alias {}\n", f.alias_of.value_or(0));
    for (auto const& r : f.registers) out += fmt::format("reg {} {}\n", name(r.type), r.vector);
    for (auto const& v : f.variables) describe(m, v, false, out);
    for (auto const& l : f.labels) out += fmt::format("label {}\n", l.instruction);
    for (auto const& p : f.prototypes) describe(p.results, out), describe(p.parameters, out);
    for (auto const* lists : {&f.branch_targets, &f.call_targets})
      for (auto const& l : *lists) {
        for (auto id : l.ids) out += fmt::format(" {}", id);
        out += '\n';
      }
    for (auto const& i : f.instructions) {
      out += fmt::format("{} @{}{}{} {}:{}:{}", full_opcode(i), i.guard.present, i.guard.negated, i.guard.reg,
                         i.source.file, i.source.line, i.source.column);
      for (auto const& o : i.operands) describe(m, o, out);
      out += '\n';
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a module can be printed without some of its kernels") {
  auto const m = parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry a (.param .u64 %arg, .param .u64 %stack, .param .u64 %sz) { ret; }\n"
      ".visible .entry b (.param .u64 %arg) { ret; }\n.visible .func c () { ret; }\n",
      "three.ptx");
  CHECK(starts_teams(*m->find_kernel("a")));
  CHECK_FALSE(starts_teams(*m->find_kernel("b")));
  auto const printed = parse(print_without(*m, {0}), "two.ptx");
  REQUIRE(printed->functions.size() == 2);
  CHECK(printed->functions[0].name == "b");
  CHECK(printed->functions[1].name == "c");
}

TEST_CASE("parse after print gives the same module, and print after that the same text") {
  for (auto const& [name, text] : samples::all()) {
    INFO(name);
    auto const m = parse(text, name);
    auto const printed = print(*m);
    INFO(printed);
    auto const again = parse(printed, name + ", printed");
    CHECK(describe(*again) == describe(*m));
    CHECK(print(*again) == printed);
  }
}
