// Commands that overlap: closed forms, and a scheduler that goes from tick to tick.
#include "models/overlap.hpp"
#include "catch.hpp"

#include <algorithm>
#include <random>

namespace kernelcast::overlap_test {

namespace {

using record::CommandKind;

struct Given {
  CommandKind kind;
  std::string after;
  double seconds;
  bool waits = false;
  double host_s = 0;
};

model::CommandOrder::Times times_of(std::vector<Given> const& all, bool host = false) {
  model::CommandOrder order;
  std::vector<double> seconds;
  for (auto const& one : all) {
    record::Command command;
    command.number = order.commands().size() + 1;
    command.kind = one.kind;
    command.after = one.after;
    command.host_waits = one.waits;
    command.host_s = one.host_s;
    REQUIRE(order.add(command).empty());
    seconds.push_back(one.seconds);
  }
  return order.times(seconds, host);
}

using enum CommandKind;

TEST_CASE("streams overlap their copies with kernels, and kernels follow each other") {
  // Two streams: 2 s to the device, a kernel of 3 s, 1 s to the host. The second copy runs beside the first kernel.
  auto const two =
      times_of({{h2d, "", 2}, {kernel, "1", 3}, {d2h, "2", 1}, {h2d, "", 2}, {kernel, "4", 3}, {d2h, "5", 1}});
  CHECK(two.together_s == 9);  // 2 + 3 + 3 + 1
  CHECK(two.sum_s == 12);
}

TEST_CASE("a call that waits holds up what comes after it") {
  CHECK(times_of({{h2d, "", 2, true}, {kernel, "1", 3}, {h2d, "", 2, true}, {kernel, "3", 3}}).together_s == 8);
  CHECK(times_of({{h2d, "", 2}, {kernel, "1", 3}, {wait, "2", 0, true}, {h2d, "", 2}}).together_s == 7);
  // The host works for 4 s while the kernel runs.
  CHECK(times_of({{kernel, "", 3}, {wait, "1", 0, true, 4}, {kernel, "", 1}}, true).together_s == 5);
  CHECK(times_of({{kernel, "", 3}, {wait, "1", 0, true, 4}, {kernel, "", 1}}).together_s == 4);
}

TEST_CASE("a fork of copies joins in the kernel that needs both") {
  CHECK(times_of({{fill, "", 1}, {h2d, "1", 4}, {d2h, "1", 3}, {kernel, "2;3", 2}}).together_s == 7);
  CHECK(times_of({{kernel, "", 1}, {host, "1", 0}, {kernel, "2", 1}, {d2h, "3", 5}, {d2h, "1", 5}}).together_s == 11);
}

TEST_CASE("what is ready first is next on an engine, whichever was called first") {
  // The second kernel waits for a copy of 5 s; the third is ready at once.
  CHECK(times_of({{h2d, "", 5}, {kernel, "1", 1}, {kernel, "", 4}}).together_s == 6);
}

TEST_CASE("numbers that are not those of earlier commands are refused") {
  model::CommandOrder order;
  record::Command command;
  command.number = 1;
  CHECK(order.add(command).empty());
  CHECK(order.add(command) == "command 1 is duplicated");
  for (std::string const wrong : {"2", "x", "1;", "1;;1", "-1", "1 "}) {
    command.number = 2;
    command.after = wrong;
    if (wrong == "1;") continue;  // an end without a number says nothing
    CHECK(order.add(command).find("is not the number of an earlier command") != std::string::npos);
  }
  command.after = "1";
  command.process = "other";
  CHECK_FALSE(order.add(command).empty());
}

TEST_CASE("the link of a device says how fast copies are") {
  CHECK(*model::host_link_bytes_per_s("PCIe 3.0 x16") == 0.75 * 16 * 984.6e6);
  CHECK(*model::host_link_bytes_per_s("PCIe 4.0 x8") == 0.75 * 8 * 1969e6);
  for (auto const* const unknown : {"", "PCIe", "PCIe 9.0 x16", "PCIe 3.0 x", "NVLink3"})
    CHECK_FALSE(model::host_link_bytes_per_s(unknown));
}

// From one second to the next: what ends, what the host calls, what is ready, what begins.
double by_ticks(std::vector<Given> const& all, std::vector<std::vector<std::size_t>> const& after) {
  constexpr int unknown = -1;
  std::vector<int> issued(all.size(), unknown), ready(all.size(), unknown), end(all.size(), unknown);
  std::size_t next = 0, waiting = all.size();
  std::vector<int> free(3, 0);
  auto const engine_of = [](CommandKind kind) {
    return kind == h2d ? 1 : kind == d2h ? 2 : kind == host || kind == wait ? 3 : 0;
  };
  int last = 0;
  for (int now = 0; now < 10000; ++now) {
    for (bool moved = true; moved;) {
      moved = false;
      if (waiting < all.size() && end[waiting] != unknown && end[waiting] <= now) waiting = all.size(), moved = true;
      if (next < all.size() && waiting == all.size()) {
        issued[next] = now;
        if (all[next].waits) waiting = next;
        ++next;
        moved = true;
      }
      for (std::size_t c = 0; c < all.size(); ++c) {
        bool const may = issued[c] != unknown && std::ranges::all_of(after[c], [&](std::size_t b) {
                           return end[b] != unknown && end[b] <= now;
                         });
        if (ready[c] == unknown && may) ready[c] = now, moved = true;
        if (ready[c] != unknown && end[c] == unknown && engine_of(all[c].kind) == 3) end[c] = now, moved = true;
      }
      if (moved) continue;
      for (int e = 0; e < 3 && !moved; ++e) {
        if (free[static_cast<std::size_t>(e)] > now) continue;
        std::size_t best = all.size();
        for (std::size_t c = 0; c < all.size(); ++c)
          if (ready[c] != unknown && end[c] == unknown && engine_of(all[c].kind) == e &&
              (best == all.size() || ready[c] < ready[best]))
            best = c;
        if (best == all.size()) continue;
        end[best] = now + static_cast<int>(all[best].seconds);
        free[static_cast<std::size_t>(e)] = end[best];
        last = std::max(last, end[best]);
        moved = true;
      }
    }
    last = std::max(last, next < all.size() ? now : last);
    if (next == all.size() && std::ranges::none_of(end, [&](int e) { return e == unknown || e > now; })) return last;
  }
  return unknown;
}

TEST_CASE("random commands take as long as a scheduler of ticks says") {
  std::mt19937 random(20);
  auto const below = [&](unsigned n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::array kinds{kernel, library, h2d, d2h, d2d, fill, host, wait};
  for (int run = 0; run < 300; ++run) {
    std::vector<Given> all;
    std::vector<std::vector<std::size_t>> after;
    auto const count = 1 + below(30);
    for (std::size_t c = 0; c < count; ++c) {
      auto const kind = kinds[below(kinds.size())];
      Given one{kind, "", kind == host || kind == wait ? 0.0 : static_cast<double>(1 + below(5)),
                kind == wait || below(5) == 0};
      auto& others = after.emplace_back();
      for (std::size_t k = 0; c > 0 && k < below(4); ++k) {
        others.push_back(below(static_cast<unsigned>(c)));
        one.after += (one.after.empty() ? "" : ";") + std::to_string(others.back() + 1);
      }
      all.push_back(one);
    }
    REQUIRE(times_of(all).together_s == by_ticks(all, after));
  }
}

}  // namespace

}  // namespace kernelcast::overlap_test
