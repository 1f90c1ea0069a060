// Commands that overlap: closed forms, and a scheduler that goes from tick to tick.
#include "models/overlap.hpp"
#include "catch.hpp"
#include "devdb.hpp"
#include "models/queue.hpp"

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
  double call_s = 0, delay_s = 0, gap_s = 0, share = 1;
  std::uint64_t device = 0;
};

model::CommandOrder::Times times_of(std::vector<Given> const& all, double host = 0) {
  model::CommandOrder order;
  std::vector<model::CommandOrder::Cost> costs;
  for (auto const& one : all) {
    record::Command command;
    command.number = order.commands().size() + 1;
    command.kind = one.kind;
    command.after = one.after;
    command.host_waits = one.waits;
    command.host_s = one.host_s;
    command.device = one.device;
    REQUIRE(order.add(command).empty());
    costs.push_back({one.seconds, one.call_s, one.delay_s, one.gap_s, one.share});
  }
  return order.times(costs, host);
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
  CHECK(times_of({{kernel, "", 3}, {wait, "1", 0, true, 4}, {kernel, "", 1}}, 1).together_s == 5);
  CHECK(times_of({{kernel, "", 3}, {wait, "1", 0, true, 4}, {kernel, "", 1}}, 0.5).together_s == 4);
  CHECK(times_of({{kernel, "", 3}, {wait, "1", 0, true, 4}, {kernel, "", 1}}, 2).together_s == 9);
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

TEST_CASE("launches that are issued at once hide their calls, those that are waited for do not") {
  Given const call{kernel, "", 10, false, 0, 2, 5, 1, 1, 0};  // 2 s of the host, 5 s until it begins, 1 s between two
  auto const after = [&](std::string before, double seconds, bool waits = false) {
    auto one = call;
    one.after = std::move(before), one.seconds = seconds, one.waits = waits;
    return one;
  };
  // Waited for: each costs what a lone one does.
  CHECK(times_of({after("", 10, true), after("1", 10, true), after("2", 10, true)}).together_s == 3 * (5 + 10));
  // At once: the first its 5 s, and between two the device's second.
  CHECK(times_of({call, after("1", 10), after("2", 10)}).together_s == 5 + 10 + 1 + 10 + 1 + 10);
  // Kernels of next to nothing begin as fast as the host calls.
  std::vector<Given> tiny;
  for (int i = 0; i < 100; ++i) tiny.push_back(after(i == 0 ? "" : std::to_string(i), 0.25));
  CHECK(times_of(tiny).together_s == 99 * 2 + 5 + 0.25);
  CHECK(times_of(tiny).sum_s == 100 * 5.25);
}

TEST_CASE("processes that operate together run side by side, others one after the other") {
  auto const time_of = [](bool operate) {
    model::CommandOrder order;
    std::vector<model::CommandOrder::Cost> costs;
    for (std::string const process : {"7", "8", "9"})
      for (int number = 1; number <= 2; ++number) {
        record::Command command;
        command.process = process;
        command.number = static_cast<std::uint64_t>(number);
        command.after = number == 1 ? "" : "1";
        if (operate && process != "9" && number == 2) command.kind = collective;
        REQUIRE(order.add(command).empty());
        costs.push_back({process == "8" ? 3.0 : 2.0});
      }
    return order.times(costs, 0).together_s;
  };
  CHECK(time_of(false) == 4 + 6 + 4);
  CHECK(time_of(true) == 6 + 4);
}

TEST_CASE("kernels run at the same time as far as they fit together") {
  auto const part = [](double seconds, double share, std::string after = "") {
    Given out{kernel, std::move(after), seconds};
    out.share = share;
    return out;
  };
  CHECK(times_of({part(4, 0.25), part(4, 0.25), part(4, 0.25), part(4, 0.25)}).together_s == 4);
  CHECK(times_of({part(4, 0.25), part(3, 0.25), part(2, 0.25), part(1, 0.25), part(5, 0.25)}).together_s == 1 + 5);
  CHECK(times_of({part(4, 0.5), part(3, 0.75)}).together_s == 4 + 3);
  CHECK(times_of({part(4, 0.5), part(3, 0.5), part(2, 1)}).together_s == 4 + 2);
  CHECK(times_of({part(4, 0.25), part(3, 0.25, "1")}).together_s == 4 + 3);
}

TEST_CASE("devices of an application have engines of their own") {
  auto const on = [](std::uint64_t device, CommandKind kind, std::string after, double seconds) {
    Given one{kind, std::move(after), seconds};
    one.device = device;
    return one;
  };
  CHECK(times_of({on(0, kernel, "", 4), on(1, kernel, "", 3)}).together_s == 4);
  CHECK(times_of({on(0, kernel, "", 4), on(1, kernel, "1", 3), on(1, h2d, "", 5), on(0, h2d, "", 6)}).together_s == 7);
}

TEST_CASE("a device that no application has is refused") {
  model::CommandOrder order;
  record::Command command;
  command.number = 1;
  command.device = 1'000'000'000'000;
  CHECK(order.add(command).starts_with("device 1000000000000 is beyond"));
}

record::Command launch(std::uint64_t number, std::string after, bool waits = false, std::uint64_t graph = 0) {
  record::Command out;
  out.number = number;
  out.kernel = "k";
  out.after = std::move(after);
  out.host_waits = waits;
  out.graph = graph;
  return out;
}

TEST_CASE("what a launch costs an application is that of its projection, as far as it shows") {
  auto const& known = database();
  model::DeviceLinks const links(known, "");
  auto const& a100 = known.find("a100");
  auto const constants = model::queue::constants_on(a100);
  double const body_s = 20e-6, launch_s = 4e-6;
  constexpr int launches = 10;
  auto const time_of = [&](bool waits, std::uint64_t graph, double with_launch_s) {
    model::CommandOrder order;
    for (int i = 0; i < launches; ++i)
      REQUIRE(
          order.add(launch(static_cast<std::uint64_t>(i + 1), i == 0 ? "" : std::to_string(i), waits, graph)).empty());
    record::Projection p;
    p.kernel = "k";
    p.device = "a100";
    p.model = "queue";
    p.time_s = launches * (body_s + with_launch_s);
    if (with_launch_s > 0) p.t_launch_s = launches * with_launch_s;
    auto const out = model::application_times({{"", order}}, {p}, known, links, "app", 0);
    REQUIRE(out.rows.size() == 2);
    if (graph == 0) CHECK(*out.rows[1].time_s == Approx(*p.time_s));  // sum
    return *out.rows[0].time_s;
  };
  CHECK(time_of(true, 0, launch_s) == Approx(launches * (body_s + launch_s)));
  CHECK(time_of(false, 0, launch_s) ==
        Approx(launch_s + launches * body_s + (launches - 1) * std::min(launch_s, constants.queued_gap_s)));
  CHECK(time_of(false, 1, launch_s) == Approx(launch_s + launches * body_s + (launches - 1) * constants.graph_node_s));
  CHECK(time_of(false, 0, 0) == Approx(launches * body_s));  // of a model without them
}

// From one second to the next: what ends, what the host calls, what is ready, what begins.
double by_ticks(std::vector<Given> const& all, std::vector<std::vector<std::size_t>> const& after) {
  constexpr int unknown = -1;
  std::vector<int> issued(all.size(), unknown), ready(all.size(), unknown), end(all.size(), unknown);
  std::size_t next = 0, waiting = all.size();
  constexpr int none = 6;
  std::vector<int> free(none, 0);
  auto const engine_of = [](Given const& one) {
    int const kind = one.kind == h2d ? 1 : one.kind == d2h ? 2 : one.kind == host || one.kind == wait ? none : 0;
    return kind == none ? none : kind + 3 * static_cast<int>(one.device);
  };
  auto const whole = [](double seconds) { return static_cast<int>(seconds); };
  int last = 0, called = 0;  // the host is in a call until then
  for (int now = 0; now < 10000; ++now) {
    for (bool moved = true; moved;) {
      moved = false;
      if (waiting < all.size() && end[waiting] != unknown && end[waiting] <= now) waiting = all.size(), moved = true;
      if (next < all.size() && waiting == all.size() && called <= now) {
        issued[next] = now;
        called = now + whole(all[next].call_s);
        if (all[next].waits) waiting = next;
        ++next;
        moved = true;
      }
      for (std::size_t c = 0; c < all.size(); ++c) {
        bool const may = issued[c] != unknown && issued[c] + whole(all[c].delay_s) <= now &&
                         std::ranges::all_of(after[c], [&](std::size_t b) {
                           return end[b] != unknown && end[b] + whole(all[c].gap_s) <= now;
                         });
        if (ready[c] == unknown && may) ready[c] = now, moved = true;
        if (ready[c] != unknown && end[c] == unknown && engine_of(all[c]) == none) end[c] = now, moved = true;
      }
      if (moved) continue;
      for (int e = 0; e < none && !moved; ++e) {
        auto& busy = free[static_cast<std::size_t>(e)];
        std::size_t best = all.size();
        for (std::size_t c = 0; c < all.size(); ++c)
          if (ready[c] != unknown && end[c] == unknown && engine_of(all[c]) == e &&
              (best == all.size() || ready[c] < ready[best]))
            best = c;
        if (best == all.size() || (busy > 0 && busy + whole(all[best].gap_s) > now)) continue;
        end[best] = now + whole(all[best].seconds);
        busy = end[best];
        last = std::max(last, end[best]);
        moved = true;
      }
    }
    last = std::max({last, called, next < all.size() ? now : last});
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
      bool const engine = kind != host && kind != wait;
      Given one{kind, "", engine ? static_cast<double>(1 + below(5)) : 0.0, kind == wait || below(5) == 0};
      if (run % 2 == 0 && engine)
        one.call_s = static_cast<double>(below(3)), one.delay_s = static_cast<double>(below(6));
      if (run % 2 == 0 && engine) one.gap_s = static_cast<double>(below(3));
      if (run % 3 == 0) one.device = below(2);
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
