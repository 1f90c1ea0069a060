#include "models/execcost.hpp"
#include "catch.hpp"

using namespace kernelcast;
using namespace kernelcast::model;

namespace {

device::Device machine(char const* kind) {
  device::Device d;
  d.device = "d";
  d.kind = kind;
  d.wave_width = 8;  // 4 doubles
  d.automatch_cores = 4;
  d.automatch_flop_per_s = 1e9;
  d.automatch_fast_bytes = 8000;
  d.automatch_line_bytes = 64;
  d.automatch_fast_bytes_per_s = 1e11;
  d.automatch_fast_latency_s = 1e-9;
  d.automatch_slow_bytes_per_s = 1e10;
  d.automatch_slow_latency_s = 9e-9;
  d.automatch_barrier_s = 1e-6;
  return d;
}

execcost::Work work() {
  execcost::Work w;
  w.kernel = "k";
  w.flop = 26;
  w.add = 20;
  w.mul = 6;
  w.vec = 13;
  w.depth = 3;
  w.widths = {{2, 1}, {12, 2}};
  w.locality[8] = {{{0, 1, 100}, {2000, 2001, 50}}, 10};
  w.footprint_bytes[8] = 80;
  w.sync = 5;
  return w;
}

}  // namespace

TEST_CASE("equation 1: the mix of additions and multiplications") {
  CHECK(execcost::instruction_mix(10, 10) == 1);
  CHECK(execcost::instruction_mix(10, 0) == 0.5);
  CHECK(execcost::instruction_mix(30, 10) == Approx(40.0 / 60));
  CHECK(execcost::instruction_mix(0, 0) == 0.5);
}

TEST_CASE("equation 2: vectorizable operations, at least one lane") {
  CHECK(execcost::vectorization(50, 100, 4) == 0.5);
  CHECK(execcost::vectorization(0, 100, 4) == 0.25);
  CHECK(execcost::vectorization(0, 0, 4) == 1);
}

TEST_CASE("equations 3 to 5 by hand") {
  auto const cost = execcost::project(work(), machine("cpu"));
  double const mix = 26.0 / 40, vectors = 0.5;
  // One level of 2 operations takes one step, two of 12 on 4 cores take 3 each.
  double const comp = 3 / 1e9 + (1 + 2 * 3) / (1e9 * mix * vectors);
  CHECK(*cost.t_comp_s == Approx(comp));
  CHECK(*cost.t_latency_s == Approx(3 * 10e-9));
  CHECK(*cost.t_fast_s == Approx(100 * 8 / 1e11));
  CHECK(*cost.t_slow_s == Approx(60 * 8 / 1e10));
  CHECK(*cost.t_sync_s == Approx(5e-6));
  CHECK(*cost.time_s == Approx(comp + 30e-9 + 8e-9 + 48e-9 + 5e-6));
  CHECK(cost.limiter == record::Limiter::sync);
  CHECK(*cost.time_low_s == *cost.time_s);
  CHECK_FALSE(cost.t_transfer_s.has_value());
}

TEST_CASE("on a GPU lanes are cores") {
  CHECK(*execcost::project(work(), machine("gpu")).vectorization == 1);
}

TEST_CASE("no operations, no compute time") {
  auto w = work();
  w.flop = w.add = w.mul = w.depth = 0;
  w.widths.clear();
  CHECK(*execcost::project(w, machine("gpu")).t_comp_s == 0);
}

TEST_CASE("neither additions nor multiplications are said") {
  auto w = work();
  w.add = w.mul = 0;
  auto const cost = execcost::project(w, machine("gpu"));
  CHECK(*cost.instruction_mix == 0.5);
  CHECK_THAT(cost.reason, Contains("0.5"));
}

TEST_CASE("a reference hits iff its distance is below the capacity") {
  execcost::Locality const l{{{999, 1000, 3}, {1000, 1001, 5}}, 7};
  auto const q = execcost::split(l, 1000);
  CHECK(q.hits == 3);
  CHECK(q.misses == 12);
}

TEST_CASE("the bin that holds the capacity is split, and the interval spans it") {
  auto w = work();
  w.locality[8].bins = {{900, 1100, 100}};
  auto const cost = execcost::project(w, machine("gpu"));
  CHECK(*cost.t_fast_s == Approx(50 * 8 / 1e11));
  CHECK(*cost.time_high_s - *cost.time_s == Approx(50 * 8 / 1e10 - 50 * 8 / 1e11));
  CHECK(*cost.time_s - *cost.time_low_s == Approx(50 * 8 / 1e10 - 50 * 8 / 1e11));
}

TEST_CASE("line granularity moves a whole message per reference") {
  auto w = work();
  w.locality[64] = {{{0, 1, 10}}, 2};
  auto const cost = execcost::project(w, machine("gpu"), {0, {}});
  CHECK(*cost.t_fast_s == Approx(10 * 64 / 1e11));
  CHECK(*cost.t_slow_s == Approx(2 * 64 / 1e10));
}

TEST_CASE("a link adds the touched bytes on a GPU and nothing on a CPU") {
  CHECK(*execcost::project(work(), machine("gpu"), {8, 1e9}).t_transfer_s == Approx(80e-9));
  CHECK(*execcost::project(work(), machine("cpu"), {8, 1e9}).t_transfer_s == 0);
}

TEST_CASE("what is not known is said") {
  auto d = machine("gpu");
  d.automatch_barrier_s.reset();
  auto const cost = execcost::project(work(), d);
  CHECK(cost.status == record::RowStatus::unknown);
  CHECK_FALSE(cost.time_s.has_value());
  CHECK_THAT(cost.reason, Contains("automatch_barrier_s"));
  CHECK_THAT(execcost::project(work(), machine("gpu"), {128, {}}).reason, Contains("128 bytes"));
}

TEST_CASE("more bandwidth, cores or speed is never slower") {
  auto const w = work();
  auto const time = *execcost::project(w, machine("gpu")).time_s;
  for (auto const column :
       {&device::Device::automatch_cores, &device::Device::automatch_flop_per_s, &device::Device::automatch_fast_bytes,
        &device::Device::automatch_fast_bytes_per_s, &device::Device::automatch_slow_bytes_per_s}) {
    auto d = machine("gpu");
    *(d.*column) *= 3;
    CHECK(*execcost::project(w, d).time_s <= time);
  }
}

TEST_CASE("Table I of the paper is in the device database") {
  auto const database = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  struct Row {
    char const* device;
    double cores, giga_flop, fast_mb, line, fast_gb, fast_us, slow_gb, slow_us, barrier_us;
  };
  for (auto const& r : {Row{"i5-2400", 4, 20, 6, 64, 285, 0.004, 18.88, 0.065, 0.2},
                        Row{"i7-4700", 4, 33, 6, 64, 349, 0.004, 11.5, 0.052, 0.44},
                        Row{"c2075", 448, 0.9, 1.6, 128, 2117, 0.028, 87.92, 0.71, 7.22},
                        Row{"k20", 2496, 0.41, 2.3, 128, 2018, 0.045, 129.73, 0.68, 6.5},
                        Row{"k20x", 2688, 0.42, 2.3, 128, 2424, 0.045, 160.1, 0.68, 6.5}}) {
    INFO(r.device);
    auto const& d = database.find(r.device);
    CHECK(execcost::missing_columns(d).empty());
    CHECK(*d.automatch_cores == r.cores);
    CHECK(*d.automatch_flop_per_s == Approx(r.giga_flop * 1e9));
    CHECK(*d.automatch_fast_bytes == Approx(r.fast_mb * 1e6));
    CHECK(*d.automatch_line_bytes == r.line);
    CHECK(*d.automatch_fast_bytes_per_s == Approx(r.fast_gb * 1e9));
    CHECK(*d.automatch_fast_latency_s == Approx(r.fast_us * 1e-6));
    CHECK(*d.automatch_slow_bytes_per_s == Approx(r.slow_gb * 1e9));
    CHECK(*d.automatch_slow_latency_s == Approx(r.slow_us * 1e-6));
    CHECK(*d.automatch_barrier_s == Approx(r.barrier_us * 1e-6));
  }
}
