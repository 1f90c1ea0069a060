#include "catch.hpp"
#include "models/rank.hpp"

using namespace kernelcast;
using record::Limiter;

namespace {
record::Projection row(std::string kernel, std::string device, std::optional<double> time_s,
                       record::LimiterName limiter) {
  record::Projection p;
  p.kernel = std::move(kernel);
  p.case_name = "c";
  p.model = "m";
  p.device = std::move(device);
  p.time_s = time_s;
  p.limiter = std::move(limiter);
  return p;
}
}  // namespace

TEST_CASE("a total adds kernels and repeated configurations, and names what holds most of the time") {
  auto const totals = model::total({row("a", "x", 1.0, Limiter::global), row("a", "x", 2.0, Limiter::global),
                                    row("b", "x", 2.5, Limiter::compute), row("a", "y", 4.0, Limiter::shared),
                                    row("a", "y", 0.5, Limiter::shared), row("b", "y", 0.25, Limiter::compute)});
  REQUIRE(totals.rows.size() == 2);
  CHECK(totals.incomplete == 0);
  CHECK(totals.rows[0].device == "x");
  CHECK(totals.rows[0].kernel == "total");
  CHECK(totals.rows[0].time_s == 5.5);
  CHECK(totals.rows[0].limiter == Limiter::global);
  CHECK_FALSE(totals.rows[0].time_low_s.has_value());
  CHECK(totals.rows[1].time_s == 4.75);
  CHECK(totals.rows[1].limiter == Limiter::shared);
}

TEST_CASE("a device that lacks a time of the case has no total") {
  auto const totals = model::total({row("a", "x", 1.0, Limiter::global), row("b", "x", 2.0, Limiter::global),
                                    row("a", "y", 1.0, Limiter::global), row("b", "y", std::nullopt, {}),
                                    row("a", "z", std::nullopt, {})});
  REQUIRE(totals.rows.size() == 1);
  CHECK(totals.rows[0].device == "x");
  CHECK(totals.incomplete == 2);
}

TEST_CASE("a sum of each kernel has its configurations and what a compiler made of one region") {
  auto const totals = model::total({row("f:3", "x", 1.0, Limiter::global), row("f:3#2", "x", 2.0, Limiter::global),
                                    row("b", "x", 2.5, Limiter::compute), row("b", "y", 0.25, Limiter::compute)},
                                   {}, model::SumOf::each_kernel);
  REQUIRE(totals.rows.size() == 3);
  CHECK(totals.incomplete == 0);
  CHECK(totals.rows[0].kernel == "b");
  CHECK(totals.rows[0].time_s == 2.5);
  CHECK(totals.rows[2].kernel == "f:3");
  CHECK(totals.rows[2].time_s == 3.0);
}

TEST_CASE("ends of intervals add up, an absent end is the time") {
  auto a = row("a", "x", 2.0, Limiter::global), b = row("b", "x", 3.0, Limiter::global);
  a.time_low_s = 1.5;
  b.time_high_s = 3.5;
  auto const totals = model::total({a, b});
  REQUIRE(totals.rows.size() == 1);
  CHECK(totals.rows[0].time_low_s == 4.5);
  CHECK(totals.rows[0].time_high_s == 5.5);
}

TEST_CASE("devices of parties that run different kernels have a total where they have all of their own") {
  auto const party = [](std::string const& device) { return device.substr(0, 1); };
  auto const totals = model::total(
      {row("a", "n1", 1.0, Limiter::global), row("b", "n1", 2.0, Limiter::global), row("a", "n2", 1.0, Limiter::global),
       row("b", "n2", std::nullopt, {}), row("a", "n3", 1.0, Limiter::global), row("c", "m1", 4.0, Limiter::shared),
       row("d", "k1", std::nullopt, {})},
      party);
  REQUIRE(totals.rows.size() == 2);
  CHECK(totals.rows[0].device == "m1");
  CHECK(totals.rows[0].time_s == 4.0);
  CHECK(totals.rows[1].device == "n1");
  CHECK(totals.rows[1].time_s == 3.0);
  CHECK(totals.incomplete == 3);
}
