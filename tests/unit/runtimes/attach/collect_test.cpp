// Repeating a kernel: how often, and what time comes of it.
#include "catch.hpp"
#include "runtimes/attach/collect/repeat.hpp"

using kernelcast::attach::collect::repeat;

TEST_CASE("a kernel is repeated in batches until the time has passed") {
  std::vector<std::uint64_t> asked;
  bool begun = false;
  auto const out = repeat(
      [&](std::uint64_t runs) {
        asked.push_back(runs);
        CHECK(begun == asked.size() > 2);
        return (asked.size() == 1 ? 1.0 : 0.001) * static_cast<double>(runs);  // the first run loads the code
      },
      1.0, [&] { begun = true; });
  CHECK_FALSE(out.failed);
  CHECK(asked.size() == 2 + 50);  // of 20 runs each
  CHECK(out.runs == 1000);
  CHECK(out.time_s == Approx(0.001));
  CHECK(out.mad_s == Approx(0).margin(1e-12));
}

TEST_CASE("long kernels run once more, kernels without a time do not run for ever, failures end it") {
  auto const nothing = [] {};
  CHECK(repeat([](std::uint64_t runs) { return 3.0 * static_cast<double>(runs); }, 1.0, nothing).runs == 1);
  auto const none = repeat([](std::uint64_t) { return 0.0; }, 0.001, nothing);
  CHECK(none.time_s == 0);
  CHECK(none.runs == 1000 * std::uint64_t{100000});
  for (int failing = 1; failing <= 3; ++failing) {
    int calls = 0;
    auto const out = repeat(
        [&](std::uint64_t runs) { return ++calls == failing ? -1.0 : 0.01 * static_cast<double>(runs); }, 1.0, nothing);
    CHECK(out.failed);
    CHECK(out.time_s == 0);
    CHECK(calls == failing);
  }
}
