// Random PTX with all that control flow can be: counters in the code against the emulator's.
#include <random>

#include <fmt/format.h>

#include "catch.hpp"
#include "kernels.hpp"
#include "runs.hpp"

using namespace kernelcast;
using namespace flux_test;

namespace {

// A function of some blocks with branches anywhere, by predicates that depend on a state that every block stirs. A
// budget of steps ends what would go on for ever. Beside: guarded instructions, tables, counted loops of every form,
// calls of the functions before it, early ends.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string module() {
    std::string text = header;
    unsigned const functions = below(3);
    for (unsigned f = 0; f < functions; ++f) text += function(f, false);
    return text + function(functions, true);
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool one_in(unsigned n) { return below(n) == 0; }
  template <class... A>
  void put(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
    out_ += '\n';
  }

  std::string function(unsigned index, bool kernel) {
    out_.clear();
    labels_ = 0;
    kernel_ = kernel;
    callable_ = index;
    if (kernel)
      put(".visible .entry k(.param .u64 .ptr .global out, .param .u32 seed)\n{{");
    else
      put(".func (.param .b32 result) f{}(.param .b32 seed)\n{{", index);
    put(".reg .pred %p<9>; .reg .b32 %s, %left, %t<9>, %i<40>, %n<40>; .reg .b64 %rd<9>, %w<40>;");
    put("ld.param.b32 %s, [seed];");
    if (kernel) put("mov.u32 %t0, %tid.x; mad.lo.s32 %s, %t0, 7919, %s; mov.u32 %t0, %ctaid.x; add.s32 %s, %s, %t0;");
    put("mov.u32 %left, {};", kernel ? 60 : 12);
    blocks_ = 1 + below(kernel ? 12 : 6);
    loops_ = 0;
    for (unsigned b = 0; b < blocks_; ++b) block(b);
    put("END:");
    if (kernel)
      put("ld.param.u64 %rd0, [out]; mov.u32 %t0, %tid.x; mul.wide.u32 %rd1, %t0, 4; add.s64 %rd2, %rd0, %rd1;\n"
          "st.global.u32 [%rd2], %s;");
    else
      put("st.param.b32 [result], %s;");
    if (!one_in(5)) put("ret;");  // or the end of the text
    put("}}");
    return out_;
  }

  void stir() {
    put("mad.lo.s32 %s, %s, 1664525, {}; shr.u32 %t1, %s, {}; xor.b32 %s, %s, %t1;", 1013904223u + below(1000) * 2,
        9 + below(8));
  }
  void predicate(unsigned p, unsigned one_of) {
    put("shr.u32 %t2, %s, {}; rem.u32 %t3, %t2, {}; setp.eq.u32 %p{}, %t3, 0;", below(12), one_of, p);
  }
  std::string target() { return one_in(6) ? "END" : fmt::format("B{}", below(blocks_)); }

  void block(unsigned b) {
    put("B{}:", b);
    put("sub.s32 %left, %left, 1; setp.le.s32 %p0, %left, 0; @%p0 bra END;");
    stir();
    for (unsigned k = below(3); k > 0; --k) guarded();
    if (loops_ < 30 && one_in(2)) loop(2);
    if (callable_ > 0 && one_in(3)) call();
    end();
  }

  void guarded() {
    predicate(1, 2 + below(3));
    put("@%p1 add.s32 %s, %s, 5;");
    if (one_in(2)) put("@!%p1 xor.b32 %s, %s, 3;");
    if (one_in(3)) put("@%p1 sub.s32 %s, %s, 9;");
  }

  // for (i = a; i < b; i += c) and what else a compiler may make of it.
  void loop(unsigned depth) {
    unsigned const l = loops_++;
    bool const wide = one_in(3), constant_start = one_in(2), constant_bound = one_in(2), down = one_in(3);
    std::string const type = wide ? "64" : "32", i = fmt::format("{}{}", wide ? "%w" : "%i", l);
    std::string bound = fmt::format("%n{}", l);
    int const step = (down ? -1 : 1) * (one_in(2) ? 1 : static_cast<int>(1 + below(6)));
    int const count = static_cast<int>(1 + below(6));
    bool const not_equal = one_in(2);
    int const start = static_cast<int>(below(20)) - 10, last = start + step * count;
    if (constant_start) {
      put("mov.b{} {}, {};", type, i, start);
    } else {  // 0, 1 or 2 iterations fewer, by the state
      put("rem.u32 %t4, %s, 3; min.u32 %t4, %t4, {}; mad.lo.s32 %t4, %t4, {}, {};", count - 1, step, start);
      put("{} {}, %t4;", wide ? "cvt.s64.s32" : "mov.b32", i);
    }
    if (constant_bound)
      bound = std::to_string(last);
    else if (wide)
      put("mov.b64 %rd8, {}; ", last), bound = "%rd8";
    else
      put("mov.b32 %n{}, {};", l, last);
    bool const nested = depth > 0 && !wide && loops_ < 30 && one_in(3);
    bool const tested_first = one_in(3);
    put("L{}_{}:", callable_, l);
    std::string const compare = not_equal ? "ne" : down ? "gt" : "lt";
    if (tested_first) put("setp.{}.s{} %p2, {}, {}; @!%p2 bra X{}_{};", compare, type, i, bound, callable_, l);
    put("xor.b32 %s, %s, {};", 1 + below(100));
    if (one_in(3)) guarded();
    if (nested) loop(depth - 1);
    put("add.s{} {}, {}, {};", type, i, i, step);
    if (tested_first)
      put("bra L{}_{};", callable_, l);
    else
      put("setp.{}.s{} %p2, {}, {}; @%p2 bra L{}_{};", compare, type, i, bound, callable_, l);
    put("X{}_{}:", callable_, l);
  }

  void call() {
    unsigned const f = below(callable_);
    bool const conditional = one_in(3);
    if (conditional) predicate(3, 2);
    put("{{ .param .b32 a; .param .b32 r; st.param.b32 [a], %s; {}call (r), f{}, (a); ld.param.b32 {}, [r]; }}",
        conditional ? "@%p3 " : "", f, conditional ? "%t6" : "%s");  // ptxas takes no guarded ld.param
  }

  void end() {
    switch (below(6)) {
      case 0:
        predicate(4, 2);
        put("@{}%p4 bra {};", one_in(2) ? "!" : "", target());
        break;
      case 1:
        predicate(4, 3);
        put("@{}%p4 bra {};", one_in(2) ? "!" : "", target());
        put("bra {};", target());
        break;
      case 2: {
        auto const table = labels_++;
        put("rem.u32 %t5, %s, 4;\nT{}: .branchtargets {}, {}, {}, {};\nbrx.idx %t5, T{};", table, target(), target(),
            target(), target(), table);
        break;
      }
      case 3:
        predicate(5, 9);
        if (!kernel_) put("st.param.b32 [result], %s;");
        put("@{}%p5 {};", one_in(4) ? "!" : "", kernel_ || one_in(8) ? "exit" : "ret");
        break;
      case 4:
        put("bra {};", target());
        break;
      default:
        break;
    }
  }

  std::mt19937_64 random_;
  std::string out_;
  unsigned blocks_ = 0, labels_ = 0, loops_ = 0, callable_ = 0;
  bool kernel_ = false;
};

std::string difference(Way const& a, Way const& b) {
  std::string out;
  for (auto const& [opcode, lanes] : a.lanes)
    if (auto const other = b.lanes.contains(opcode) ? b.lanes.at(opcode) : 0; other != lanes)
      out += fmt::format("{}: {} and {}\n", opcode, lanes, other);
  return out;
}

}  // namespace

TEST_CASE("1,000 random kernels: the counters' counts are the emulator's") {
  Scratch const scratch;
  bool const ptxas = have_ptxas();
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    auto const text = Generator(seed).module();
    auto const path = scratch.file("k.ptx", text);
    auto const plan = plan_for(path, "2", "48", {"buf:u32:48:zero", "i32:" + std::to_string(seed)});
    auto const ways = count_all_ways(plan, scratch);
    INFO("seed " << seed << "\n" << text);
    REQUIRE(difference(ways.emulator, ways.minimal) == "");
    REQUIRE(difference(ways.emulator, ways.every_block) == "");
    if (seed % 50 != 0 || !ptxas) continue;
    auto const module = ptx::parse(text, "k.ptx");
    CHECK(ptxas_accepts(scratch.file("i.ptx", flux::instrument(*module).ptx), "sm_80"));
  }
}
