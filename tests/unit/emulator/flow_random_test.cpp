// Random control flow against a walker that executes one lane after the other: blocks in any order with jumps, branches
// and tables to anywhere (loops with several entries, jumps out of and into loops), functions that call each other and
// themselves, directly and by address, and early exits of lanes. Every lane's result must agree.
#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u32 registers = 5;

struct Operation {
  enum class Kind { add, exclusive, multiply, shift, constant, store, load } kind;
  u32 d, a, b, constant;
  bool guarded;  // by the lowest bit of register b
};

struct Block {
  std::vector<Operation> operations;
  enum class End { give_back, jump, branch, table, call, indirect, exit } end;
  u32 d = 0, a = 0, compare = 0, function = 0;
  std::vector<u32> targets;
};

// f(x, fuel) -> value | fuel << 32. Each block burns one unit; who has none left returns.
struct Body {
  std::vector<Block> blocks;
  std::vector<u32> order;  // in the text
};

class Generator {
 public:
  explicit Generator(u64 seed) : random_{seed * 7919} {}
  std::vector<Body> bodies() {
    u32 const count = 1 + random_.below(4);
    std::vector<Body> result(count);
    for (Body& body : result) make(body, count);
    return result;
  }

 private:
  void make(Body& body, u32 functions) {
    u32 const blocks = 2 + random_.below(8);
    for (u32 i = 0; i < blocks; ++i) {
      Block b;
      for (u32 n = random_.below(4); n > 0; --n)
        b.operations.push_back({static_cast<Operation::Kind>(random_.below(7)), random_.below(registers),
                                random_.below(registers), random_.below(registers), random_.below(1000),
                                random_.below(4) == 0});
      static constexpr Block::End ends[] = {
          Block::End::give_back, Block::End::jump,  Block::End::branch, Block::End::branch,   Block::End::branch,
          Block::End::branch,    Block::End::table, Block::End::call,   Block::End::indirect, Block::End::exit};
      b.end = ends[random_.below(std::size(ends))];
      if (b.end == Block::End::exit && random_.below(4)) b.end = Block::End::branch;
      b.d = random_.below(registers);
      b.a = random_.below(registers);
      b.compare = random_.below(64);
      b.function = random_.below(functions);
      for (int k = 0; k < 4; ++k) b.targets.push_back(random_.below(blocks));
      body.blocks.push_back(std::move(b));
      body.order.push_back(i);
    }
    for (u32 i = blocks; i > 1; --i) std::swap(body.order[i - 1], body.order[random_.below(i)]);
  }
  Random random_;
};

// ---------------------------------------------------------------- one lane after the other

struct Lane {
  std::vector<Body> const& bodies;
  bool left = false;

  u64 call(u32 f, u32 x, std::int32_t fuel) {
    Body const& body = bodies[f];
    u32 r[registers] = {x, x * 3 + f, 7, x >> 3, 11};
    u32 memory[2] = {x, 5};
    for (u32 at = 0;;) {
      if (--fuel <= 0) break;
      Block const& b = body.blocks[at];
      for (Operation const& o : b.operations) {
        if (o.guarded && !(r[o.b] & 1)) continue;
        switch (o.kind) {
          case Operation::Kind::add:
            r[o.d] = r[o.a] + r[o.b];
            break;
          case Operation::Kind::exclusive:
            r[o.d] = r[o.a] ^ r[o.b];
            break;
          case Operation::Kind::multiply:
            r[o.d] = r[o.a] * (o.constant | 1);
            break;
          case Operation::Kind::shift:
            r[o.d] = r[o.a] >> (o.constant % 20);
            break;
          case Operation::Kind::constant:
            r[o.d] = o.constant;
            break;
          case Operation::Kind::store:
            memory[o.constant % 2] = r[o.a];
            break;
          case Operation::Kind::load:
            r[o.d] = memory[o.constant % 2];
            break;
        }
      }
      switch (b.end) {
        case Block::End::jump:
          at = b.targets[0];
          continue;
        case Block::End::branch:
          at = (r[b.a] & 63) < b.compare ? b.targets[0] : b.targets[1];
          continue;
        case Block::End::table:
          at = b.targets[r[b.a] & 3];
          continue;
        case Block::End::exit:
          if ((r[b.a] & 63) < b.compare / 8) {
            left = true;
            return 0;
          }
          at = b.targets[0];
          continue;
        case Block::End::call:
        case Block::End::indirect: {
          u32 const callee = b.end == Block::End::call ? b.function : r[b.a] % static_cast<u32>(bodies.size());
          u64 const got = call(callee, r[b.a], fuel);
          if (left) return 0;
          r[b.d] = static_cast<u32>(got);
          fuel = static_cast<std::int32_t>(got >> 32);
          at = b.targets[0];
          continue;
        }
        default:
          break;
      }
      break;
    }
    return (r[0] ^ r[1] ^ r[2] ^ (r[3] + r[4])) | static_cast<u64>(static_cast<u32>(fuel)) << 32;
  }
};

// ---------------------------------------------------------------- as PTX

std::string text_of(Body const& body, u32 f, u32 functions) {
  auto r = [](u32 i) { return "%r" + std::to_string(i); };
  auto label = [](u32 i) { return "L" + std::to_string(i); };
  std::string text;
  auto put = [&](std::string const& line) { text += "  " + line + "\n"; };
  u32 tables = 0;
  for (Block const& b : body.blocks)
    if (b.end == Block::End::table) {
      std::string list = "T" + std::to_string(tables++) + ": .branchtargets ";
      for (u32 k = 0; k < 4; ++k) list += (k ? ", " : "") + label(b.targets[k]);
      put(list + ";");
    }
  put("P: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b32 _);");
  put("mul.lo.u32 %r1, %r0, 3; add.u32 %r1, %r1, " + std::to_string(f) + "; mov.u32 %r2, 7; shr.u32 %r3, %r0, 3;");
  put("mov.u32 %r4, 11; st.local.u32 [memory], %r0; st.local.u32 [memory+4], 5;");
  put("bra " + label(0) + ";");
  std::vector<u32> number(body.blocks.size());
  tables = 0;
  for (u32 i = 0; i < body.blocks.size(); ++i)
    if (body.blocks[i].end == Block::End::table) number[i] = tables++;
  for (u32 i : body.order) {
    Block const& b = body.blocks[i];
    text += label(i) + ":\n";
    put("sub.s32 %fuel, %fuel, 1; setp.le.s32 %p0, %fuel, 0; @%p0 bra END;");
    for (Operation const& o : b.operations) {
      std::string guard;
      if (o.guarded) {
        put("and.b32 %t0, " + r(o.b) + ", 1; setp.ne.u32 %p1, %t0, 0;");
        guard = "@%p1 ";
      }
      std::string const d = r(o.d), a = r(o.a), k = std::to_string(o.constant);
      std::string const place = "[memory+" + std::to_string(o.constant % 2 * 4) + "]";
      switch (o.kind) {
        case Operation::Kind::add:
          put(guard + "add.u32 " + d + ", " + a + ", " + r(o.b) + ";");
          break;
        case Operation::Kind::exclusive:
          put(guard + "xor.b32 " + d + ", " + a + ", " + r(o.b) + ";");
          break;
        case Operation::Kind::multiply:
          put(guard + "mul.lo.u32 " + d + ", " + a + ", " + std::to_string(o.constant | 1) + ";");
          break;
        case Operation::Kind::shift:
          put(guard + "shr.u32 " + d + ", " + a + ", " + std::to_string(o.constant % 20) + ";");
          break;
        case Operation::Kind::constant:
          put(guard + "mov.u32 " + d + ", " + k + ";");
          break;
        case Operation::Kind::store:
          put(guard + "st.local.u32 " + place + ", " + a + ";");
          break;
        case Operation::Kind::load:
          put(guard + "ld.local.u32 " + d + ", " + place + ";");
          break;
      }
    }
    std::string const a = r(b.a);
    auto compare = [&](u32 bound) {
      put("and.b32 %t0, " + a + ", 63; setp.lt.u32 %p1, %t0, " + std::to_string(bound) + ";");
    };
    switch (b.end) {
      case Block::End::jump:
        put("bra " + label(b.targets[0]) + ";");
        break;
      case Block::End::branch:
        compare(b.compare);
        put("@%p1 bra " + label(b.targets[0]) + "; bra " + label(b.targets[1]) + ";");
        break;
      case Block::End::table:
        put("and.b32 %t0, " + a + ", 3; brx.idx %t0, T" + std::to_string(number[i]) + ";");
        break;
      case Block::End::exit:
        compare(b.compare / 8);
        put("@%p1 exit; bra " + label(b.targets[0]) + ";");
        break;
      case Block::End::call:
      case Block::End::indirect: {
        std::string callee = "f" + std::to_string(b.function), prototype;
        if (b.end == Block::End::indirect) {
          put("rem.u32 %t0, " + a + ", " + std::to_string(functions) +
              "; mul.wide.u32 %rd1, %t0, 8; mov.u64 %rd2, table; add.u64 %rd1, %rd1, %rd2; ld.global.u64 %rd3, "
              "[%rd1];");
          callee = "%rd3";
          prototype = ", P";
        }
        put("{ .param .b32 x; .param .b32 y; .param .b64 z; st.param.b32 [x], " + a +
            "; st.param.b32 [y], %fuel; call (z), " + callee + ", (x, y)" + prototype + "; ld.param.b64 %rd4, [z]; }");
        put("mov.b64 {" + r(b.d) + ", %fuel}, %rd4; bra " + label(b.targets[0]) + ";");
        break;
      }
      default:
        put("bra END;");
    }
  }
  text += "END:\n";
  put("xor.b32 %t0, %r0, %r1; xor.b32 %t0, %t0, %r2; add.u32 %t1, %r3, %r4; xor.b32 %t0, %t0, %t1;");
  put("mov.b64 %rd5, {%t0, %fuel};");
  return text;
}

std::string const declarations =
    " .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %t<4>; .reg .b32 %fuel; .reg .b64 %rd<12>; .local .align 4 .b8 "
    "memory[8];\n";

std::string program(std::vector<Body> const& bodies) {
  std::string text, names;
  u32 const count = static_cast<u32>(bodies.size());
  for (u32 f = 0; f < count; ++f) {
    std::string const name = "f" + std::to_string(f);
    text += ".func (.param .b64 result) " + name + "(.param .b32 a, .param .b32 b);\n";
    names += (f ? ", " : "") + name;
  }
  text += ".global .align 8 .u64 table[" + std::to_string(count) + "] = {" + names + "};\n";
  for (u32 f = 0; f < count; ++f)
    text += ".func (.param .b64 result) f" + std::to_string(f) + "(.param .b32 a, .param .b32 b)\n{" + declarations +
            "  ld.param.u32 %r0, [a]; ld.param.u32 %fuel, [b];\n" + text_of(bodies[f], f, count) +
            "  st.param.b64 [result], %rd5;\n  ret; }\n";
  // The kernel itself is a copy of the first function.
  return text + ".visible .entry k(.param .u64 in, .param .u64 out)\n{" + declarations + R"(
  mov.u32 %t0, %tid.x; ld.param.u64 %rd8, [in]; ld.param.u64 %rd9, [out]; mul.wide.u32 %rd10, %t0, 8;
  add.s64 %rd8, %rd8, %rd10; add.s64 %rd9, %rd9, %rd10;
  ld.global.v2.u32 {%r0, %fuel}, [%rd8];
)" + text_of(bodies[0], 0, count) +
         "  st.global.u64 [%rd9], %rd5;\n  ret; }\n";
}

void compare(u64 seed, u32 size) {
  std::vector<Body> const bodies = Generator{seed}.bodies();
  Random random{seed};
  std::vector<u32> input;
  for (u32 i = 0; i < size; ++i) {
    input.push_back(seed % 5 == 0 ? 77 : random.below(3) ? random.below(64) : static_cast<u32>(random()));
    input.push_back(seed % 5 == 0 ? 60 : 20 + random.below(60));
  }
  std::vector<u64> expected;
  for (u32 i = 0; i < size; ++i) {
    Lane lane{bodies};
    u64 const value = lane.call(0, input[2 * i], static_cast<std::int32_t>(input[2 * i + 1]));
    expected.push_back(lane.left ? ~u64{0} : value);
  }
  std::string const text = program(bodies);
  CAPTURE(seed, size, text);
  Bench b(text);
  b.launch.block = {size, 1, 1};
  b.buffer("in", input);
  u64 const out = b.buffer("out", std::vector<u64>(size, ~u64{0}));
  b.run();
  INFO((b.outcome.finding ? b.outcome.finding->message : ""));
  REQUIRE(b.outcome.ending == Ending::done);
  REQUIRE(b.read<u64>(out) == expected);
}

}  // namespace

TEST_CASE("random control flow with calls agrees with one lane after the other") {
  static constexpr u32 sizes[] = {32, 64, 7, 100};
  for (u64 seed = 1; seed <= 2500; ++seed) compare(seed, sizes[seed % std::size(sizes)]);
  for (u64 seed = 10'000; seed < 10'100; ++seed) compare(seed, 1024);
}

}  // namespace kernelcast::emu::test
