// Random structured programs (arithmetic, guarded operations, nested branches and loops, switches, early exits, shared
// memory and barriers) against a reference that executes one work-item at a time and shares nothing with the emulator:
// results and the number of executed instructions must agree, for every group size, with and without divergence.
#include <bit>
#include <map>

#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;
constexpr u32 registers = 20;  // that programs compute with
constexpr u32 words = 8;       // of them, come from memory and go back; the others begin as 0

struct Step {
  enum class Kind {
    add,
    sub,
    mul,
    mad,
    exclusive,
    conjunction,
    left,
    right,
    least,
    select,
    constant,
    divide,
    branch,
    table,
    exit,
    store,
    load,
    barrier,
    label
  } kind;
  u32 d = 0, a = 0, b = 0, c = 0;
  u32 constant = 0;
  int compare = 0;       // branch, select: 0 eq, 1 lt unsigned, 2 gt signed
  bool guarded = false;  // @(register c is odd)
  bool always = false;   // branch
  u32 target = 0;        // label number
  std::vector<u32> targets = {};
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_{seed} {}
  std::vector<Step> program() {
    block(0, 4 + random_.below(12), true);
    return std::move(steps_);
  }
  u32 labels() const { return labels_; }

 private:
  using Kind = Step::Kind;
  u32 reg() { return random_.below(registers); }
  void put(Step step) { steps_.push_back(std::move(step)); }
  void label(u32 number) {
    Step s{Kind::label};
    s.target = number;
    put(s);
  }
  void branch(u32 target, bool always) {
    Step s{Kind::branch};
    s.a = reg();
    s.b = reg();
    s.compare = static_cast<int>(random_.below(3));
    s.always = always;
    s.target = target;
    put(s);
  }
  void arithmetic() {
    static constexpr Kind kinds[] = {Kind::add,       Kind::sub,         Kind::mul,      Kind::mad,
                                     Kind::exclusive, Kind::conjunction, Kind::left,     Kind::right,
                                     Kind::least,     Kind::select,      Kind::constant, Kind::divide};
    Step s{kinds[random_.below(std::size(kinds))]};
    s.d = reg();
    s.a = reg();
    s.b = reg();
    s.c = reg();
    s.constant = random_.below(3) ? random_.below(16) : static_cast<u32>(random_());
    s.compare = static_cast<int>(random_.below(3));
    s.guarded = random_.below(5) == 0;
    put(s);
  }
  void memory() {
    Step s{random_.below(2) ? Kind::store : Kind::load};
    s.d = reg();
    s.a = reg();
    s.guarded = random_.below(6) == 0;
    s.c = reg();
    put(s);
  }
  // Only `outer` code may hold barriers: all work-items that have not left pass there.
  void block(int depth, u32 length, bool outer) {
    for (u32 i = 0; i < length; ++i) {
      u32 const draw = random_.below(20);
      if (draw < 9 || depth > 3)
        arithmetic();
      else if (draw < 12)
        memory();
      else if (draw < 15) {
        u32 const otherwise = labels_++, end = labels_++;
        branch(otherwise, false);
        block(depth + 1, 1 + random_.below(3), false);
        branch(end, true);
        label(otherwise);
        if (random_.below(2)) block(depth + 1, 1 + random_.below(3), false);
        label(end);
      } else if (draw < 17) {
        // for (n = r & 7; n != 0; --n): the counter lives in shared memory of its own register file slot, see text().
        u32 const begin = labels_++, end = labels_++, counter = counters_++ % 4;
        Step s{Kind::constant};
        s.d = registers + counter * 4 + static_cast<u32>(depth);
        s.a = reg();
        s.guarded = false;
        s.compare = 3;
        put(s);
        label(begin);
        Step leave{Kind::branch};
        leave.a = s.d;
        leave.b = s.d;
        leave.compare = 3;
        leave.target = end;
        put(leave);
        block(depth + 1, 1 + random_.below(3), false);
        Step less{Kind::constant};
        less.d = s.d;
        less.compare = 4;
        put(less);
        branch(begin, true);
        label(end);
      } else if (draw < 18) {
        u32 const end = labels_++;
        Step s{Kind::table};
        s.a = reg();
        for (int k = 0; k < 4; ++k) s.targets.push_back(labels_++);
        put(s);
        for (u32 t : s.targets) {
          label(t);
          block(depth + 1, 1 + random_.below(2), false);
          if (random_.below(3)) branch(end, true);
        }
        label(end);
      } else if (draw < 19) {
        Step s{Kind::exit};
        s.c = reg();
        s.a = reg();
        s.guarded = true;
        if (random_.below(4) == 0) put(s);
      } else if (outer) {
        put({Kind::barrier});
      }
    }
  }
  Random random_;
  std::vector<Step> steps_;
  u32 labels_ = 0, counters_ = 0;
};

// Each work-item has 4 words of shared memory; a load reads those of its neighbour of 5 further, but only after a
// barrier may that be anything but its own, so loads take the own words here and the neighbour's at the end.
std::string text_of(std::vector<Step> const& steps) {
  using Kind = Step::Kind;
  static std::map<Kind, std::string> const of_two{
      {Kind::add, "add.s32 "},   {Kind::sub, "sub.s32 "},   {Kind::mul, "mul.lo.s32 "}, {Kind::exclusive, "xor.b32 "},
      {Kind::right, "shr.u32 "}, {Kind::least, "min.s32 "}, {Kind::divide, "div.u32 "}};
  auto r = [](u32 i) { return "%r" + std::to_string(i); };
  std::string text =
      ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %r<40>; .reg .b32 %t<8>; .reg .pred %p<8>; .reg "
      ".b64 %a<8>; .shared .align 4 .b8 words[16384];\n";
  int tables = 0;
  for (Step const& s : steps)
    if (s.kind == Kind::table) {
      text += "$T" + std::to_string(tables++) + ": .branchtargets";
      for (std::size_t k = 0; k < s.targets.size(); ++k)
        text += (k ? ", " : " ") + ("L" + std::to_string(s.targets[k]));
      text += ";\n";
    }
  text +=
      "mov.u32 %t0, %tid.x; ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mul.wide.u32 %a2, %t0, 32; add.s64 %a0, "
      "%a0, %a2; add.s64 %a1, %a1, %a2;\n"
      "shl.b32 %t1, %t0, 4; mov.u32 %t2, words; add.s32 %t1, %t1, %t2;\n";
  for (u32 i = words; i < registers; ++i) text += "mov.u32 " + r(i) + ", 0;\n";
  for (u32 i = 0; i < words; ++i) text += "ld.global.u32 " + r(i) + ", [%a0+" + std::to_string(4 * i) + "];\n";
  tables = 0;
  for (Step const& s : steps) {
    std::string guard;
    if (s.guarded) {
      text += "and.b32 %t3, " + r(s.c) + ", 1; setp.ne.s32 %p0, %t3, 0;\n";
      guard = "@%p0 ";
    }
    std::string const d = r(s.d), a = r(s.a), b = r(s.b), c = r(s.c);
    auto compare = [&](std::string const& p) {
      char const* names[] = {"setp.eq.s32 ", "setp.lt.u32 ", "setp.gt.s32 "};
      if (s.compare == 3) return "setp.eq.s32 " + p + ", " + a + ", 0;\n";
      return names[s.compare] + p + ", " + a + ", " + b + ";\n";
    };
    switch (s.kind) {
      case Kind::add:
      case Kind::sub:
      case Kind::mul:
      case Kind::exclusive:
      case Kind::right:
      case Kind::least:
      case Kind::divide:
        text += guard + of_two.at(s.kind) + d + ", " + a + ", " + b;
        break;
      case Kind::mad:
        text += guard + "mad.lo.s32 " + d + ", " + a + ", " + b + ", " + c;
        break;
      case Kind::conjunction:
        text += guard + "and.b32 " + d + ", " + a + ", " + std::to_string(s.constant);
        break;
      case Kind::left:
        text += guard + "shl.b32 " + d + ", " + a + ", " + std::to_string(s.constant & 63);
        break;
      case Kind::select:
        text += compare("%p1") + guard + "selp.b32 " + d + ", " + a + ", " + b + ", %p1";
        break;
      case Kind::constant:
        if (s.compare == 3)
          text += "and.b32 " + d + ", " + a + ", 7";
        else if (s.compare == 4)
          text += "sub.s32 " + d + ", " + d + ", 1";
        else
          text += guard + "mov.u32 " + d + ", " + std::to_string(s.constant);
        break;
      case Kind::branch:
        if (s.always)
          text += "bra L" + std::to_string(s.target);
        else
          text += compare("%p2") + "@%p2 bra L" + std::to_string(s.target);
        break;
      case Kind::table:
        text += "and.b32 %t4, " + a + ", 3;\nbrx.idx %t4, $T" + std::to_string(tables++);
        break;
      case Kind::exit:
        text += "and.b32 %t5, " + a + ", 7; setp.eq.and.s32 %p3, %t5, 0, %p0;\n@%p3 exit";
        break;
      case Kind::store:
        text += guard + "st.shared.u32 [%t1+" + std::to_string(s.a % 4 * 4) + "], " + d;
        break;
      case Kind::load:
        text += guard + "ld.shared.u32 " + d + ", [%t1+" + std::to_string(s.a % 4 * 4) + "]";
        break;
      case Kind::barrier:
        text += "bar.sync 0";
        break;
      case Kind::label:
        text += "L" + std::to_string(s.target) + ":\n";
        continue;
    }
    text += ";\n";
  }
  // After the last barrier each takes a word of its neighbour in the group.
  text +=
      "bar.sync 0;\nmov.u32 %t6, %ntid.x; add.s32 %t0, %t0, 5; rem.u32 %t0, %t0, %t6; shl.b32 %t1, %t0, 4; add.s32 "
      "%t1, %t1, %t2; ld.shared.u32 %r7, [%t1];\n";
  for (u32 i = 0; i < words; ++i) text += "st.global.u32 [%a1+" + std::to_string(4 * i) + "], " + r(i) + ";\n";
  return text + "ret;\n}\n";
}

struct Item {
  u32 r[40] = {};
  u32 shared[4] = {};
  bool left = false;
  std::uint64_t executed = 0;
};

// One work-item to its end; communication happens only after everything else, so items need no interleaving.
void execute(std::vector<Step> const& steps, Item& item) {
  using Kind = Step::Kind;
  std::vector<std::size_t> at(1000, 0);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].kind == Kind::label) at[steps[i].target] = i;
  u32* r = item.r;
  item.executed += 6 + 3 + registers;
  for (std::size_t pc = 0; pc < steps.size();) {
    Step const& s = steps[pc++];
    if (s.kind == Kind::label) continue;
    bool on = true;
    if (s.guarded) {
      item.executed += 2;
      on = r[s.c] & 1;
    }
    bool const test = s.compare == 0   ? r[s.a] == r[s.b]
                      : s.compare == 1 ? r[s.a] < r[s.b]
                      : s.compare == 2 ? static_cast<std::int32_t>(r[s.a]) > static_cast<std::int32_t>(r[s.b])
                                       : r[s.a] == 0;
    u32 value = r[s.d];
    switch (s.kind) {
      case Kind::add:
        value = r[s.a] + r[s.b];
        break;
      case Kind::sub:
        value = r[s.a] - r[s.b];
        break;
      case Kind::mul:
        value = r[s.a] * r[s.b];
        break;
      case Kind::mad:
        value = r[s.a] * r[s.b] + r[s.c];
        break;
      case Kind::exclusive:
        value = r[s.a] ^ r[s.b];
        break;
      case Kind::conjunction:
        value = r[s.a] & s.constant;
        break;
      case Kind::left:
        value = (s.constant & 63) < 32 ? r[s.a] << (s.constant & 63) : 0;
        break;
      case Kind::right:
        value = r[s.b] < 32 ? r[s.a] >> r[s.b] : 0;
        break;
      case Kind::least:
        value = static_cast<u32>(std::min(static_cast<std::int32_t>(r[s.a]), static_cast<std::int32_t>(r[s.b])));
        break;
      case Kind::divide:
        value = r[s.b] ? r[s.a] / r[s.b] : ~0u;
        break;
      case Kind::select:
        item.executed += 1;
        value = test ? r[s.a] : r[s.b];
        break;
      case Kind::constant:
        value = s.compare == 3 ? r[s.a] & 7 : s.compare == 4 ? r[s.d] - 1 : s.constant;
        break;
      case Kind::branch:
        item.executed += s.always ? 1 : 2;
        if (s.always || test) pc = at[s.target];
        continue;
      case Kind::table:
        item.executed += 2;
        pc = at[s.targets[r[s.a] & 3]];
        continue;
      case Kind::exit:
        item.executed += 2;  // the exit itself is guarded, counted where it is taken
        if (on && (r[s.a] & 7) == 0) {
          item.executed += 1;
          item.left = true;
          return;
        }
        continue;
      case Kind::store:
        item.executed += on;
        if (on) item.shared[s.a % 4] = r[s.d];
        continue;
      case Kind::load:
        value = item.shared[s.a % 4];
        break;
      default:
        item.executed += 1;
        continue;  // barrier
    }
    item.executed += on;
    if (on) r[s.d] = value;
  }
  item.executed += 1 + 6 + words + 1;
}

struct Counter : Observer {
  Program const* program;
  std::uint64_t executed = 0;
  explicit Counter(Program const& p) : program(&p) {}
  static u32 lanes(Lanes const& l) {
    u32 n = 0;
    for (u32 w = 0; w < l.warps; ++w) n += static_cast<u32>(std::popcount(l.masks[w]));
    return n;
  }
  void block(u32 b, Lanes const& l) override {
    BasicBlock const& block = program->blocks()[b];
    u32 unguarded = 0;
    for (u32 i = block.first; i < block.last; ++i) unguarded += !program->guarded(i);
    executed += std::uint64_t{unguarded} * lanes(l);
  }
  void guarded(u32, Lanes const& l) override { executed += lanes(l); }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Counter>(*program); }
  void join(Observer const& o) override { executed += static_cast<Counter const&>(o).executed; }
};

}  // namespace

TEST_CASE("random programs run as one work-item at a time would") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Generator generator{seed};
    std::vector<Step> const steps = generator.program();
    static constexpr u32 sizes[] = {256, 32, 100, 1, 513, 64, 1024};
    u32 const size = sizes[seed % std::size(sizes)];
    Random random{seed * 77};
    // A third of the programs sees equal inputs in all work-items, so that undiverged paths are taken as well.
    bool const uniform = seed % 3 == 0;
    std::vector<u32> input(size * words);
    for (u32 i = 0; i < input.size(); ++i)
      input[i] = uniform && i >= words ? input[i - words]
                 : random.below(2)     ? random.below(12)
                                       : static_cast<u32>(random());

    std::string const text = text_of(steps);
    Bench bench(text);
    bench.launch.block = {size, 1, 1};
    bench.buffer("in", input);
    std::uint64_t const out = bench.buffer("out", std::vector<u32>(size * words, 0xdeadbeef));
    Counter counter(*bench.program);
    Observer* observers[] = {&counter};
    Outcome const& outcome = bench.run(observers);
    CAPTURE(seed, size, text);
    if (outcome.finding) FAIL(outcome.finding->message);

    std::vector<Item> items(size);
    std::uint64_t executed = 0;
    for (u32 i = 0; i < size; ++i) {
      std::copy_n(input.data() + i * words, words, items[i].r);
      execute(steps, items[i]);
      executed += items[i].executed;
    }
    std::vector<u32> expected(size * words, 0xdeadbeef);
    for (u32 i = 0; i < size; ++i) {
      if (items[i].left) continue;
      items[i].r[7] = items[(i + 5) % size].shared[0];
      std::copy_n(items[i].r, words, expected.data() + i * words);
    }
    REQUIRE(bench.read<u32>(out) == expected);
    REQUIRE(counter.executed == executed);
  }
}

}  // namespace kernelcast::emu::test
