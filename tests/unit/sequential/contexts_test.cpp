#include "sequential/contexts.hpp"
#include "catch.hpp"

using namespace kernelcast::seq;

namespace {

struct Nest {
  std::vector<LoopDescriptor> loops;
  FunctionDescriptor function{};
  Contexts contexts;
  LoopCounter* counters = nullptr;

  explicit Nest(std::vector<std::int64_t> const& parents) {
    for (auto const parent : parents) loops.push_back({{"a.c", 1 + loops.size()}, LoopKind::plain, parent, ""});
    function.name = "f";
    function.loop_count = loops.size();
    function.loops = loops.data();
    contexts.invocations().iterations = 1;
    counters = contexts.enter(function, &contexts.invocations());
  }
  void ran(std::size_t i, std::uint64_t entries, std::uint64_t iterations, bool carried) {
    counters[i].entries = entries;
    counters[i].iterations = iterations;
    counters[i].carried = carried;
  }
};

}  // namespace

TEST_CASE("Figure 6: the trips of a sequential loop around a parallel one, less one") {
  Nest nest({-1, 0});
  nest.ran(0, 1, 99, true);
  nest.ran(1, 99, 99 * 50, false);
  CHECK(nest.contexts.outcome().sync == 98);
}

TEST_CASE("a sequential loop inside a parallel one does not synchronise") {
  Nest nest({-1, 0, 1});
  nest.ran(0, 1, 10, false);
  nest.ran(1, 10, 100, true);
  nest.ran(2, 100, 1000, false);
  CHECK(nest.contexts.outcome().sync == 0);
}

TEST_CASE("a sequential loop without a parallel one inside does not synchronise") {
  Nest nest({-1});
  nest.ran(0, 1, 10, true);
  CHECK(nest.contexts.outcome().sync == 0);
}

TEST_CASE("sequential loops inside each other add up") {
  Nest nest({-1, 0, 1});
  nest.ran(0, 1, 10, true);
  nest.ran(1, 10, 200, true);
  nest.ran(2, 200, 2000, false);
  CHECK(nest.contexts.outcome().sync == 9 + 190);
}

TEST_CASE("invocations of the kernel are an outer loop") {
  Nest nest({-1});
  nest.ran(0, 5, 50, false);
  nest.contexts.invocations().iterations = 5;
  CHECK(nest.contexts.outcome().sync == 0);
  nest.contexts.invocations().carried = 1;
  CHECK(nest.contexts.outcome().sync == 4);
  CHECK(nest.contexts.outcome().sync_invocations == 4);
}

TEST_CASE("a function called in two loops is told apart by its caller") {
  Nest nest({-1, -1});
  nest.ran(0, 1, 10, true);
  nest.ran(1, 1, 10, false);
  LoopDescriptor inner{{"a.c", 9}, LoopKind::plain, -1, ""};
  FunctionDescriptor callee{};
  callee.name = "g";
  callee.loop_count = 1;
  callee.loops = &inner;
  auto* const in_sequential = nest.contexts.enter(callee, &nest.counters[0]);
  auto* const in_parallel = nest.contexts.enter(callee, &nest.counters[1]);
  REQUIRE(in_sequential != in_parallel);
  CHECK(nest.contexts.enter(callee, &nest.counters[0]) == in_sequential);
  for (auto* const counter : {in_sequential, in_parallel}) counter->entries = 10, counter->iterations = 100;
  auto const outcome = nest.contexts.outcome();
  CHECK(outcome.sync == 9);
  CHECK(outcome.loops.size() == 3);
}

TEST_CASE("recursion is folded into the first call") {
  Nest nest({-1});
  CHECK(nest.contexts.enter(nest.function, &nest.counters[0]) == nest.counters);
}
