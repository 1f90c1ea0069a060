// The grammar case by case, then whole files, then hostile ones.
#include "kernels/ptx/parser.hpp"
#include "error_of.hpp"

#include <algorithm>
#include <bit>
#include <random>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "samples.hpp"

using namespace kernelcast;
using namespace kernelcast::ptx;
using Kind = Operand::Kind;

namespace {

std::unique_ptr<Module> parse_kernel(std::string const& body, std::string const& before = {}) {
  return parse(samples::kernel(body, before), "k.ptx");
}

std::string failure(std::string const& text) {
  auto const error = error_of([&] { parse(text, "k.ptx"); });
  if (error.status() == Status::done) return "accepted";
  CHECK(error.status() == Status::bad_data);
  CHECK(error.where().file == "k.ptx");
  CHECK(error.where().line > 0);
  CHECK_FALSE(error.hint().empty());
  return error.text("test");
}

std::uint64_t folded(std::string const& expression) {
  auto const m = parse_kernel(".reg .b64 a; mov.b64 a, " + expression + ";");
  auto const& operand = m->functions[0].instructions.at(0).operands.at(1);
  REQUIRE(operand.kind == Kind::integer);
  return operand.value;
}

double folded_real(std::string const& expression) {
  auto const m = parse_kernel(".reg .f64 a; mov.f64 a, " + expression + ";");
  auto const& operand = m->functions[0].instructions.at(0).operands.at(1);
  REQUIRE(operand.kind == Kind::f64);
  return std::bit_cast<double>(operand.value);
}

}  // namespace

TEST_CASE("constant expressions follow the manual's types and precedence") {
  CHECK(folded("1 + 2 * 3") == 7);
  CHECK(folded("(1 + 2) * 3") == 9);
  CHECK(folded("10 - 4 - 3") == 3);
  CHECK(folded("-7 / 2") == static_cast<std::uint64_t>(-3));
  CHECK(folded("-7 % 3") == static_cast<std::uint64_t>(-1));
  CHECK(folded("(.u64)-1 / 2") == 0x7FFFFFFFFFFFFFFF);
  CHECK(folded("-1 >> 60") == ~std::uint64_t{0});
  CHECK(folded("(.u64)-1 >> 60") == 15);
  CHECK(folded("1 << 64") == 0);
  CHECK(folded("0x8000000000000000 / -1 == 0") == 1);
  CHECK(folded("0xFFU") == 255);
  CHECK(folded("0b1010") == 10);
  CHECK(folded("0777") == 511);
  CHECK(folded("0") == 0);
  CHECK(folded("0U") == 0);
  CHECK(folded("~0 & 0xF0 | 3 ^ 1") == 0xF2);
  CHECK(folded("3 > 2 ? 10 : 20") == 10);
  CHECK(folded("0 ? 1 : 0 ? 2 : 3") == 3);
  CHECK(folded("-1 < 0") == 1);
  CHECK(folded("-1 < 0U") == 0);
  CHECK(folded("!5 || 2 && 0") == 0);
  CHECK(folded("WARP_SZ - 1") == 31);
  CHECK(folded("-WARP_SZ") == static_cast<std::uint64_t>(-32));
  CHECK(folded("(.s64) 3.9") == 3);
  CHECK(folded_real("1.5 + 2") == 3.5);
  CHECK(folded_real("-1.5e2 * 2.") == -300);
  CHECK(folded_real(".5") == 0.5);
  CHECK(folded_real("0d3FF8000000000000") == 1.5);
}

TEST_CASE("operands are resolved") {
  auto const m = parse_kernel(R"(
    .reg .pred %p<4>; .reg .b32 %r<100>; .reg .f32 %f<4>; .shared .u32 s[8]; .reg .v2 .u32 v;
    ld.shared.u32 %r7, [s+4];
    @!%p1 st.global.f32 [%r7-8], 1.5;
    mov.u32 %r9, s+12;
    cvt.f64.f32 %f1, 1.5;
    cvt.f32.f64 %f1, 1.5;
    ld.param.u64 %r9, [p+0x8];
    mov.u32 %r9, %ntid.y;
    ld.global.u32 %r9, [16];
    setp.lt.or.u32 %p1|%p2, %r7, v.y, !%p3;
    mov.u32 %r9, %tid.w;)");
  auto const& f = m->functions[0];
  auto const& i = f.instructions;
  REQUIRE(i.size() == 10);
  CHECK(f.registers.size() == 7);  // v, and those of the ranges that are used
  CHECK(full_opcode(i[0]) == "ld.shared.u32");
  CHECK(f.registers[i[0].operands[0].id].name == "%r7");
  CHECK(f.registers[i[0].operands[0].id].type == Type::b32);
  CHECK(i[0].operands[1].kind == Kind::address);
  CHECK(i[0].operands[1].value == 4);
  CHECK(i[0].operands[1].elements[0].kind == Kind::variable);
  CHECK(i[0].operands[1].elements[0].local);
  CHECK(i[1].guard.present);
  CHECK(i[1].guard.negated);
  CHECK(f.registers[i[1].guard.reg].name == "%p1");
  CHECK(i[1].operands[0].value == static_cast<std::uint64_t>(-8));
  CHECK(i[1].operands[1].kind == Kind::f32);
  CHECK(i[1].operands[1].value == 0x3FC00000);
  CHECK(i[2].operands[1].kind == Kind::variable);
  CHECK(i[2].operands[1].value == 12);
  CHECK(i[3].operands[1].kind == Kind::f32);
  CHECK(i[4].operands[1].kind == Kind::f64);
  CHECK(i[5].operands[1].elements[0].kind == Kind::parameter);
  CHECK(i[5].operands[1].value == 8);
  CHECK(i[6].operands[1].kind == Kind::special);
  CHECK(i[6].operands[1].id == static_cast<std::uint32_t>(Special::ntid_y));
  CHECK(i[7].operands[1].elements[0].kind == Kind::integer);
  CHECK(i[7].operands[1].value == 16);
  CHECK(i[8].operands[0].kind == Kind::list);
  CHECK(i[8].operands[0].elements.size() == 2);
  CHECK(i[8].operands[2].component == 2);
  CHECK(i[8].operands[3].negated);
  CHECK(i[9].operands[1].kind == Kind::integer);
  CHECK(i[1].at.line == 10);
}

TEST_CASE("numbered variables are declared together") {
  auto const m = parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n.func f(.param .u64 a, .param .u64 b);\n"
      ".entry k() { .reg .u64 %R<2>;\n{ .param .u64 %P<2>; st.param.u64 [%P0], %R0; st.param.u64 [%P1], %R1; "
      "call.uni f, (%P0, %P1); } }\n.global .u32 g<3>;\n",
      "k.ptx");
  auto const& k = *m->find_kernel("k");
  REQUIRE(k.variables.size() == 2);
  for (std::size_t v = 0; v < 2; ++v) {
    CHECK(k.variables[v].name == "%P" + std::to_string(v));
    CHECK(k.variables[v].space == StateSpace::param);
    CHECK(k.variables[v].size == 8);
    CHECK(k.instructions.at(v).operands.at(0).elements.at(0).id == v);
    CHECK(k.instructions.at(2).operands.at(0).kind == Kind::function);
    CHECK(k.instructions.at(2).operands.at(1).elements.at(v).id == v);
  }
  REQUIRE(m->variables.size() == 3);
  CHECK(m->variables[2].name == "g2");
  for (std::string const bad : {"%P<2> = 1", "%P<70000>", "%P<2", "%P<2>, %P1"}) {
    CAPTURE(bad);
    CHECK(failure(".version 7.0\n.target sm_80\n.entry k() { .param .u64 " + bad + "; }\n") != "accepted");
  }
}

TEST_CASE("inner scopes hide outer names, of registers, ranges and labels") {
  auto const m = parse_kernel(R"(
    .reg .b32 %r<4>; .reg .b32 t;
    mov.b32 %r1, t;
    { .reg .b64 %r<4>, t; mov.b64 %r1, t; bra L; L: { mov.b64 %r2, %r1; bra L; } }
    mov.b32 %r1, t;
    bra L;
    L: ret;)");
  auto const& f = m->functions[0];
  auto type = [&](std::size_t i, std::size_t o) { return f.registers[f.instructions[i].operands[o].id].type; };
  CHECK(type(0, 0) == Type::b32);
  CHECK(type(1, 0) == Type::b64);
  CHECK(type(1, 1) == Type::b64);
  CHECK(type(3, 0) == Type::b64);
  CHECK(f.instructions[3].operands[1].id == f.instructions[1].operands[0].id);
  CHECK(type(5, 0) == Type::b32);
  CHECK(f.instructions[5].operands[0].id == f.instructions[0].operands[0].id);
  REQUIRE(f.labels.size() == 2);
  CHECK(f.instructions[2].operands[0].id == 0);
  CHECK(f.instructions[4].operands[0].id == 0);
  CHECK(f.instructions[6].operands[0].id == 1);
  CHECK(f.labels[1].instruction == 7);
}

TEST_CASE("a parameter may have the name of its function") {
  auto const m = parse(
      ".version 8.5\n.target sm_80\n.entry a(.param .u64 a);\n.func b(.param .b32 b) { ret; }\n"
      ".entry a(.param .u64 a) { .reg .b64 %rd1; ld.param.u64 %rd1, [a]; ret; }\n"
      ".entry c() { .param .b32 p; call b, (p); ret; }\n",
      "k.ptx");
  REQUIRE(m->functions.size() >= 3);
  CHECK(m->functions[0].has_body);
  CHECK(m->functions[0].instructions.at(0).operands.at(1).elements.at(0).kind == Kind::parameter);
  CHECK(std::ranges::count(m->functions, "a", &Function::name) == 1);
}

TEST_CASE("sample: calls, brx, debug information") {
  auto const m = parse(samples::all().at("calls.ptx"), "calls.ptx");
  CHECK(std::ranges::count_if(m->functions, [](auto const& f) { return f.entry && f.has_body; }) == 1);
  auto const* k = m->find_kernel("kernel");
  REQUIRE(k);
  CHECK(k->directives.at("reqntid") == std::vector<std::uint64_t>{64, 2});
  CHECK(k->directives.at("maxnreg") == std::vector<std::uint64_t>{40});
  CHECK(k->parameters[0].pointer);
  CHECK(k->parameters[0].pointer_space == StateSpace::global);
  CHECK(k->parameters[0].pointer_align == 16);
  CHECK(k->parameters[1].offset == 8);
  CHECK(k->parameter_bytes == 12);
  REQUIRE(k->branch_targets.size() == 1);
  CHECK(k->branch_targets[0].ids.size() == 3);
  CHECK(k->labels[k->branch_targets[0].ids[2]].name == "$C");
  CHECK(k->prototypes[0].parameters[0].size == 24);
  CHECK(k->call_targets[0].ids.size() == 2);
  CHECK(k->variables[0].size == 128);
  CHECK(m->describe(k->instructions[0].source) == "a.cu:7");
  CHECK(m->files.at(2) == "b.cu");
  auto const& twice = m->functions[1];
  CHECK(twice.name == "twice");
  CHECK(twice.noreturn);
  CHECK(twice.parameters[1].in_register);
  CHECK(m->functions[3].alias_of == 2U);
  auto const& table = m->variables[1];
  CHECK(table.initializers[0].value.kind == Kind::function);
  CHECK(table.initializers[1].generic_address);
  CHECK(table.initializers[1].value.value == 8);
}

TEST_CASE("where no directive says it, registers that hold addresses tell how wide those are") {
  auto const size = [](std::string const& version, std::string const& type) {
    return parse(".version " + version + "\n.target sm_20\n.entry k(.param ." + type + " p) { .reg ." + type +
                     " a; ld.param." + type + " a, [p]; st.global." + type + " [a], a; }\n",
                 "k.ptx")
        ->address_size;
  };
  CHECK(size("1.4", "u64") == 64);
  CHECK(size("2.2", "u64") == 64);
  CHECK(size("2.2", "u32") == 32);
  CHECK(size("2.3", "u64") == 32);  // has the directive, whose default is 32
}

TEST_CASE("sample: PTX 1.4") {
  auto const m = parse(samples::all().at("old14.ptx"), "old14.ptx");
  CHECK(m->version_major == 1);
  CHECK(m->targets.size() == 2);
  CHECK(m->address_size == 32);
  auto const& table = m->variables[0];
  CHECK(table.space == StateSpace::constant);
  REQUIRE(table.initializers.size() == 4);
  CHECK(std::bit_cast<float>(static_cast<std::uint32_t>(table.initializers[2].value.value)) == -15.0f);
  CHECK(m->variables[2].size == 0);
  CHECK(m->variables[2].align == 16);
  CHECK(m->functions[0].parameter_bytes == 12);
  CHECK(m->functions[0].labels[2].instruction == m->functions[0].instructions.size());
}

TEST_CASE("sample: textures, initialisers, instructions to come") {
  auto const m = parse(samples::all().at("texture.ptx"), "texture.ptx");
  auto const& bytes = m->variables[4];
  CHECK(bytes.initializers[2].mask_shift == 16);
  CHECK(bytes.initializers[2].value.value == 4);
  auto const& grid = m->variables[5];
  CHECK(grid.size == 24);
  std::map<std::uint64_t, std::uint64_t> values;
  for (auto const& i : grid.initializers) values[i.offset] = i.value.value;
  CHECK(values == std::map<std::uint64_t, std::uint64_t>{{0, 1}, {4, 2}, {8, 3}, {16, 4}, {20, 5}});
  auto const& last = m->functions[0].instructions[m->functions[0].instructions.size() - 2];
  CHECK(full_opcode(last) == "some_future.op.shared::cta::b.2x");
  CHECK(last.operands[3].value == 5);
  CHECK(m->slice(m->variables[1].attributes[0].second) == "wrap");
}

TEST_CASE("every mistake has its place and a hint") {
  CHECK_THAT(failure(samples::kernel("add.s32 %r1, %r1, 1;")), Contains("k.ptx:7:9: error: unknown name '%r1'"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 %r<2>; mov.b32 %r2, 1;")), Contains(".reg declares %r<2>"));
  CHECK_THAT(failure(samples::kernel("bra nowhere;")), Contains("unknown name 'nowhere'"));
  CHECK_THAT(failure(samples::kernel(".reg .u31 a;")), Contains("did you mean '.u32'"));
  CHECK_THAT(failure(samples::kernel("ret", "")), Contains("every statement ends in ';'"));
  CHECK_THAT(failure(".version 8.5\n.target sm_75\n.visable .entry k {}"), Contains("did you mean 'visible'"));
  CHECK_THAT(failure("mov.u32 a, b;"), Contains(".version"));
  CHECK_THAT(failure(samples::kernel("ret;") + "ret;"), Contains("body of an .entry"));
  CHECK_THAT(failure(".version 8.5\n.target sm_75\n.entry k {"), Contains("has no end"));
  CHECK_THAT(failure(".version 8.5\n.target sm_75\n/* "), Contains("no end"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; .reg .b32 a;")), Contains("declared already"));
  CHECK_THAT(failure(".version 7.0\n.target sm_70\n.address_size 64\n.global .b32 %tid;\n"),
             Contains("special register"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; @a ret;")), Contains("not a predicate"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; mov.b32 a, 1/0;")), Contains("division by zero"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; mov.b32 a, 18446744073709551616;")), Contains("64 bits"));
}

TEST_CASE("hostile sizes are refused at once") {
  CHECK_THAT(failure(samples::kernel(".reg .b32 %r<4000000000>;")), Contains("too large"));
  CHECK_THAT(failure(samples::kernel(".shared .b8 a[4294967296][4294967296][4294967296];")), Contains("too large"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; mov.b32 a, " + std::string(100000, '(') + "1;")), Contains("deep"));
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; mov.b32 a, " + std::string(100000, '-') + "1;")), Contains("deep"));
  CHECK_THAT(failure(samples::kernel(std::string(100000, '{'))), Contains("nested"));
  CHECK_THAT(failure(samples::kernel("mov.b32 " + std::string(100000, '[') + "1;")), Contains("expected a constant"));
  CHECK_THAT(failure(samples::kernel("mov.b32 " + std::string(100000, '{') + "1;")), Contains("deep"));
  std::string conditional = "1";
  for (int i = 0; i < 50000; ++i) conditional += "?1:1";
  CHECK_THAT(failure(samples::kernel(".reg .b32 a; mov.b32 a, " + conditional + ";")), Contains("deep"));
  auto const m = parse_kernel(".reg .b32 %r<16777216>; mov.b32 %r16777215, 0;");
  CHECK(m->functions[0].registers.size() == 1);
}

TEST_CASE("damaged texts end in an error or a module, never otherwise") {
  std::mt19937 random(1);
  for (auto const& [name, text] : samples::all()) {
    int accepted = 0;
    for (int i = 0; i < 3000; ++i) {
      std::string damaged = text;
      auto const place = [&] { return random() % damaged.size(); };
      switch (i % 3) {
        case 0:
          damaged.resize(place());
          break;
        case 1:
          damaged[place()] = static_cast<char>(random());
          break;
        default: {  // a piece twice
          auto const from = place(), to = place();
          damaged.insert(to, damaged.substr(from, random() % 200));
        }
      }
      if (failure(damaged) == "accepted") ++accepted;
    }
    CHECK(accepted < 3000);
  }
}

TEST_CASE("an opcode is known by its text, and an instruction answers what it is") {
  for (std::size_t i = 1; i < op_count; ++i) {
    auto const op = static_cast<Op>(i);
    INFO(name(op));
    CHECK(op_named(name(op)) == op);
    CHECK(Opcode(name(op)) == Opcode(op));
    CHECK(op_named(std::string(name(op)) + "_") == Op::other);
  }
  CHECK(op_named("") == Op::other);
  CHECK(op_named("frobnicate") == Op::other);
  CHECK(Opcode("frobnicate") != Opcode("tricate"));
  CHECK(Opcode("and") == Op::and_);

  auto const load = instruction_of("ld.relaxed.gpu.shared::cluster.L1::no_allocate.v4.f32");
  CHECK((load.is_load() && load.is_memory() && !load.is_atomic() && !load.accesses_parameter()));
  CHECK((load.has("relaxed") && load.has("shared::cluster") && !load.has("shared")));
  CHECK(load.space() == StateSpace::shared);
  CHECK(load.elements() == 4);
  CHECK(full_opcode(load) == "ld.relaxed.gpu.shared::cluster.L1::no_allocate.v4.f32");
  CHECK(instruction_of("ld.param.u64").accesses_parameter());
  CHECK(instruction_of("st.param::func.b32").space() == StateSpace::param);
  CHECK(instruction_of("red.add.u32").space() == StateSpace::generic);
  CHECK(instruction_of("red.add.u32").elements() == 1);
  CHECK((instruction_of("red.add.u32").is_atomic() && instruction_of("ldu.global.f32").is_load()));
  CHECK((instruction_of("barrier.cluster.wait").is_barrier() && !instruction_of("mbarrier.init.b64").is_barrier()));
  CHECK((instruction_of("exit").ends_function() && instruction_of("brx.idx").is_branch()));
  CHECK((instruction_of("suld.b.2d.b32.trap").is_image_access() && !instruction_of("txq.width.b32").is_image_access()));
}

TEST_CASE("the next barrier has the text of a pragma of ours as a modifier") {
  auto const m = parse_kernel(R"(.reg .b32 a; .pragma "fence::local"; mov.b32 a, 0; bar.sync 0; bar.sync 0;
.pragma "nounroll"; bar.sync 0; .pragma "fence::local", "fence::none"; bar.warp.sync a; .pragma "fence::word"; bar.sync 1;)");
  std::vector<std::string> opcodes;
  for (auto const& i : m->functions[0].instructions) opcodes.push_back(full_opcode(i));
  CHECK(opcodes == std::vector<std::string>{"mov.b32", "bar.sync.fence::local", "bar.sync", "bar.sync",
                                            "bar.warp.sync.fence::none", "bar.sync"});
}

TEST_CASE("every opcode of the public suites parses") {
  std::string const table = samples::read(KERNELCAST_SHARED_DATA "/data/ptx_opcodes.csv");
  if (table.empty()) SKIP_BECAUSE("no shared data");
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  int count = 0;
  while (std::getline(lines, line)) {
    auto const opcode = line.substr(0, line.find(','));
    INFO(opcode);
    auto const m = parse_kernel(".reg .b32 a; " + opcode + " a, a, a;");
    CHECK(full_opcode(m->functions[0].instructions.at(0)) == opcode);
    ++count;
  }
  CHECK(count > 300);
}
