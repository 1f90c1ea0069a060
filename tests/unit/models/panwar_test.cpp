// The [panwar] projection: closed forms on a made-up device, properties, and every GPU of the database.
#include <cmath>
#include <random>

#include "catch.hpp"
#include "devdb.hpp"
#include "models/panwar.hpp"

#include <limits>

using namespace kernelcast;
using model::panwar::explain;
using model::panwar::project;
using record::Kernel;

namespace {

using Class = record::InstructionClass;
using enum Class;

// 10 units at 1 GHz, wavefronts of 32, 32 lanes each; 100 GB/s; shared memory 32 banks, one pass a clock; 8 groups.
device::Device made_up() {
  device::Device d;
  d.device = "made-up";
  d.vendor = "NVIDIA";
  d.kind = "gpu";
  d.target = "sm_99";
  d.compute_units = 10;
  d.clock_base_hz = 0.5e9;
  d.clock_hz = d.clock_boost_hz = 1e9;
  d.throughput.all = {32, 16, 64, 32, 8, 16, 32, 4, 8};
  d.throughput_sync = 16;
  d.throughput_issue = 64;
  d.lanes_per_cu = 32;
  d.shared_banks = 32;
  d.shared_bank_bytes = 4;
  d.shared_passes_per_cu_cycle = 1;
  d.shared_fraction = 0.5;
  d.l1_per_cu_bytes = 16384;
  d.measured_bandwidth_bytes_per_s = 100e9;
  d.peak_bandwidth_bytes_per_s = 125e9;
  d.global_access_rule = record::AccessRule::sectors32;
  d.global_latency_s = 1e-9;
  d.rule.target = "made-up";
  d.rule.wave_width = 32;
  d.rule.max_waves_per_cu = 64;
  d.rule.max_groups_per_cu = 8;
  d.rule.max_group_size = 1024;
  d.rule.registers_per_cu = 65536;
  d.rule.register_unit = 256;
  d.rule.register_scope = record::RegisterScope::wave;
  d.rule.wave_granularity = d.rule.subpartitions = 4;
  d.rule.max_registers_per_item = 255;
  d.rule.shared_per_cu_bytes = 65536;
  d.rule.shared_per_group_bytes = 49152;
  d.rule.shared_unit_bytes = 256;
  return d;
}

// 1000 groups of 256 work-items, one launch; nothing is executed yet.
Kernel idle_kernel(std::uint64_t groups = 1000) {
  Kernel k;
  k.kernel = "k";
  k.case_name = "c";
  k.grid_x = k.groups_total = k.groups_emulated = groups;
  k.block_x = 256;
  k.registers_sm75 = 32;
  k.vgprs_gfx6 = k.vgprs_gfx90a = k.vgprs_gfx1030 = 32;
  k.gprs_cypress = 8;
  k.vliw_ops_per_bundle = 2.5;
  return k;
}

// A kernel of many classes, transactions and passes, as if counted for every width.
Kernel plain_kernel(std::uint64_t groups = 1000) {
  auto k = idle_kernel(groups);
  double const items = static_cast<double>(groups) * 256;
  for (Class const c : {fp32, int_add, int_mul, shift, logic, special, convert, memory, control, Class::sync, other})
    for (std::size_t w = 0; w < 3; ++w)
      k.issues[c][w] = items / (16 << w) * static_cast<double>(record::index_of(c) + 1);
  for (std::size_t w = 0; w < 3; ++w)
    for (std::size_t s = 0; s < 3; ++s) {
      k.global_load_tx[w][s] = items * 8 / (32 << s);
      k.global_store_tx[w][s] = items * 4 / (32 << s);
      k.shared_load_passes[w][s] = items / 16;
      k.shared_store_passes[w][s] = items / 32;
    }
  k.global_load_cc13 = {0, 0, items * 8 / 128};
  k.global_store_cc13 = {items / 32, items / 64, items / 128};
  k.global_load_bytes = items * 8;
  k.global_store_bytes = items * 4;
  k.global_footprint_bytes = items * 12;
  return k;
}

Kernel times(Kernel k, double factor) {
  k.launches = static_cast<std::uint64_t>(factor);
  k.groups_total *= k.launches;
  k.groups_emulated *= k.launches;
  for (auto& c : k.issues)
    for (auto& w : c) w *= factor;
  for (auto* const table : {&k.global_load_tx, &k.global_store_tx, &k.shared_load_passes, &k.shared_store_passes})
    for (auto& row : *table)
      for (auto& cell : row) cell *= factor;
  for (auto* const row : {&k.global_load_cc13, &k.global_store_cc13})
    for (auto& cell : *row) cell *= factor;
  for (auto* const cell : {&k.global_load_bytes, &k.global_store_bytes, &k.global_footprint_bytes, &k.atomics_global,
                           &k.atomics_shared, &k.local_load_bytes, &k.local_store_bytes, &k.texture_bytes})
    *cell *= factor;
  if (k.global_load_rounds) *k.global_load_rounds *= factor;
  return k;
}

double time_of(Kernel const& k, device::Device const& d) {
  auto const p = project(k, d);
  INFO(d.device << ": " << p.reason);
  REQUIRE(p.time_s);
  return *p.time_s;
}

}  // namespace

TEST_CASE("compute time is the sum of issues over throughputs") {
  auto k = idle_kernel();
  // 1000 groups of 8 wavefronts on 10 units: every unit has 100 groups, 800 wavefronts.
  k.issues[fp32][1] = 8000 * 10;                 // 10 per wavefront: 800*10*32/32 = 8000 clocks
  k.issues[int_mul][1] = 8000 * 3;               // 800*3*32/8 = 9600
  k.issues[special][1] = 8000;                   // 800*32/4 = 6400
  k.issues[fp16][1] = 8000;                      // 64 results of packed pairs are 32 instructions: 800
  k.issues[memory][1] = 8000 * 2;                // issue slots, 64 lanes: 800
  k.issues[Class::sync][1] = 8000;               // 800*32/16 = 1600
  k.issues[other][1] = 8000;                     // 400
  k.issues[fp32][0] = k.issues[fp32][2] = 1e12;  // other widths do not matter
  auto const p = project(k, made_up());
  double const expected = (8000 + 9600 + 6400 + 800 + 800 + 1600 + 400) / 1e9;
  CHECK(*p.t_compute_s == Approx(expected));
  CHECK(*p.time_s == Approx(expected));
  CHECK(p.limiter == record::Limiter::compute);
  CHECK(p.status == record::RowStatus::ok);
  CHECK(p.reason.empty());
  CHECK(*p.occupancy == 1);
  CHECK(*project(k, made_up(), {model::panwar::Clock::base}).t_compute_s == Approx(2 * expected));
}

TEST_CASE("launches cost what was measured, where that is asked for") {
  auto const k = times(plain_kernel(), 20);
  auto d = made_up();
  model::panwar::Options options;
  auto const without = project(k, d, options);
  CHECK(!without.t_launch_s);
  options.launch_cost.of_device = true;
  auto p = project(k, d, options);  // nothing was measured
  CHECK(!p.t_launch_s);
  CHECK(*p.time_s == *without.time_s);
  CHECK(p.reason == "launch_delay_s not known: nothing added");
  d.launch_delay_s = 5e-6;
  CHECK(*project(k, d).time_s == *without.time_s);
  p = project(k, d, options);
  CHECK(*p.t_launch_s == Approx(20 * 5e-6));
  CHECK(*p.time_s == Approx(*without.time_s + 20 * 5e-6));
  CHECK(*p.time_low_s == Approx(*without.time_low_s + 20 * 5e-6));
  CHECK(*p.time_high_s == Approx(*without.time_high_s + 20 * 5e-6));
  CHECK(p.limiter == without.limiter);
  d.launch_delay_s = 1;
  CHECK(project(k, d, options).limiter == record::Limiter::launch);
}

TEST_CASE("global time is transactions by the device's rule over the bandwidth of reads and writes") {
  auto k = plain_kernel();
  double const items = 256000;
  auto d = made_up();
  CHECK(*project(k, d).t_global_s == Approx(items * 12 / 100e9));
  d.global_read = {{1}, {50e9}, "measured here"};
  d.global_write = {{1}, {25e9}, "measured here"};
  auto p = project(k, d);
  CHECK(*p.t_global_s == Approx(items * (8 / 50e9 + 4 / 25e9)));
  CHECK(p.bandwidth_source == "measured x saturation 1");
  d = made_up();
  d.measured_bandwidth_bytes_per_s.reset();
  p = project(k, d);
  CHECK(*p.t_global_s == Approx(items * 12 / (0.85 * 125e9)));
  CHECK(p.bandwidth_source == "peak x 0.85 x saturation 1");
  // Each rule reads its own columns: change only those, and see that only they count.
  struct Rule {
    record::AccessRule name;
    double read, write;
  };
  k = idle_kernel();
  k.global_load_tx = {{{11, 12, 13}, {14, 15, 16}, {17, 18, 19}}};
  k.global_store_tx = {{{21, 22, 23}, {24, 25, 26}, {27, 28, 29}}};
  k.global_load_cc13 = {31, 32, 33};
  k.global_store_cc13 = {41, 42, 43};
  for (auto const& rule :
       {Rule{record::AccessRule::sectors32, 14 * 32, 24 * 32}, Rule{record::AccessRule::lines128, 16 * 128, 24 * 32},
        Rule{record::AccessRule::amd64, 12 * 64, 22 * 64},
        Rule{record::AccessRule::cc1x_segments, 31 * 32 + 32 * 64 + 33 * 128, 41 * 32 + 42 * 64 + 43 * 128}}) {
    INFO(record::name(rule.name));
    d = made_up();
    d.global_access_rule = rule.name;
    auto const terms = explain(k, d);
    CHECK(terms.global_read_bytes == rule.read);
    CHECK(terms.global_write_bytes == rule.write);
    CHECK(*terms.projection.t_global_s == Approx((rule.read + rule.write) / 100e9));
  }
}

TEST_CASE("resident work-items that cannot ask for the whole bandwidth wait for the latency, in whole rounds") {
  auto k = plain_kernel();
  auto d = made_up();
  double own_s = 0;  // a wavefront's own instructions, two a clock
  for (auto const& of_class : k.issues) own_s += of_class[1] / (1000 * 8) / 2 / 1e9;
  d.global_latency_s = 1e-6;  // 80 groups resident, 1000 in 13 rounds, 8 bytes an item fit under way at once
  auto p = project(k, d);
  CHECK(*p.t_global_s == Approx(256000 * 12 / 100e9));  // 30.7 us > 13 us
  d.global_latency_s = 4e-6;
  auto terms = explain(k, d);
  CHECK(*terms.projection.t_global_s == Approx(13 * (4e-6 + own_s)));
  CHECK(terms.rounds == 13);
  CHECK(terms.saturation == Approx(256000 * 12 / 100e9 / (13 * (4e-6 + own_s))));
  k.global_load_bytes *= 8;  // 64 bytes an item: four latencies of 16 bytes each
  CHECK(*project(k, d).t_global_s == Approx(13 * (4 * 4e-6 + own_s)));
  k.global_footprint_bytes /= 2;  // half of it is fetched again, from a cache where there is one
  CHECK(*project(k, d).t_global_s == Approx(13 * (2 * 4e-6 + own_s)));
  d.l2_bytes = 0;
  CHECK(*project(k, d).t_global_s == Approx(13 * (4 * 4e-6 + own_s)));
  k.global_load_rounds = 256000 * 6;  // counted: six waits an item, however many bytes are under way
  CHECK(*project(k, d).t_global_s == Approx(13 * (6 * 4e-6 + own_s)));
  k.global_load_rounds = 256000 / 2;  // half of the items load: they wait once
  CHECK(*project(k, d).t_global_s == Approx(13 * (4e-6 + own_s)));
  d.schedulers_per_cu = 4;  // each has a quarter of the lanes
  CHECK(*project(k, d).t_global_s == Approx(13 * (4e-6 + 4 * own_s)));
  d.schedulers_per_cu.reset();
  k.global_load_rounds.reset();
  d.l2_bytes.reset();
  k.global_footprint_bytes *= 2;
  d.global_latency_s.reset();
  CHECK(*project(k, d).t_global_s == Approx(256000 * 12 / 100e9));  // 13 * 4 * 400 ns are less
  // With full rounds this is bytes in flight over latency x bandwidth.
  k = plain_kernel(800);
  d.global_latency_s = 10e-6;
  terms = explain(k, d);
  double const in_flight = 80 * 256 * 12;  // its loads ask for 8 bytes, its stores add 4
  CHECK(terms.saturation == Approx(in_flight / ((10e-6 + own_s) * 100e9)));
}

TEST_CASE("a device that was measured above its peak holds a higher clock, if it boosts by itself") {
  auto d = made_up();  // 10 units * 32 lanes * 2 * 1 GHz = 640 Gflop/s
  d.measured_fp32_flop_per_s = 800e9;
  auto const terms = explain(plain_kernel(), d);
  CHECK(terms.clock_hz == Approx(1.25e9));
  CHECK_THAT(terms.projection.reason, Contains("clock of 1250 MHz"));
  CHECK(explain(plain_kernel(), d, {model::panwar::Clock::boost}).clock_hz == 1e9);
  d.measured_fp32_flop_per_s = 600e9;  // fewer operations than lanes say nothing of the clock
  CHECK(explain(plain_kernel(), d).clock_hz == 1e9);
  d.measured_fp32_flop_per_s = 800e9;
  d.clock_base_hz = 1e9;
  CHECK(explain(plain_kernel(), d).clock_hz == 1e9);
}

TEST_CASE("AMD's units start arithmetic, memory and control instructions of different wavefronts at once") {
  auto k = idle_kernel();
  auto d = made_up();
  auto const wavefronts = [&](Class c, double each) { k.issues[c].fill(1000 * 8 * each); };
  wavefronts(fp32, 10);
  wavefronts(other, 2);
  wavefronts(memory, 8);
  wavefronts(control, 4);
  double const clocks = 100 * 8;  // wavefronts of a unit
  CHECK(*project(k, d).t_compute_s == Approx(clocks * (10 + (2 + 8 + 4) / 2.0) * 1e-9));
  d.vendor = "AMD";
  CHECK(*project(k, d).t_compute_s == Approx(clocks * (10 + 2 / 2.0) * 1e-9));
  wavefronts(memory, 40);
  CHECK(*project(k, d).t_compute_s == Approx(clocks * 40 / 2.0 * 1e-9));
  wavefronts(control, 60);
  CHECK(*project(k, d).t_compute_s == Approx(clocks * 60 / 2.0 * 1e-9));
}

TEST_CASE("compute capability 1.x takes an operand from shared memory in half the time of a load") {
  auto k = idle_kernel();
  auto d = made_up();
  d.shared_banks = 16;
  k.issues[memory].fill(1000 * 8 * 10);
  k.shared_load_passes[1][0] = 1000 * 8 * 6 * 2;  // six of the ten, two half wavefronts each
  CHECK(*project(k, d).t_compute_s == Approx(100 * 8 * 10 / 2.0 * 1e-9));
  d.global_access_rule = record::AccessRule::cc1x_segments;
  CHECK(*project(k, d).t_compute_s == Approx(100 * 8 * (10 - 6 / 2.0) / 2.0 * 1e-9));
  k.shared_load_passes[1][0] *= 100;  // conflicts: no more than all of them
  CHECK(*project(k, d).t_compute_s == Approx(100 * 8 * 10 / 2.0 / 2.0 * 1e-9));
}

TEST_CASE("a curve gives the bandwidth of full rounds and of the last one at their occupancies") {
  auto d = made_up();
  d.global_read = {{0.1, 0.5, 1}, {20e9, 80e9, 100e9}, "curve"};
  auto const k = plain_kernel(88);  // one full round of 80 groups, then 8: a tenth of the occupancy
  auto const p = project(k, d);
  CHECK(p.bandwidth_source == "curve");
  CHECK(*p.t_global_s == Approx(256 * 12 * (80 / 100e9 + 8 / 20e9)));
}

TEST_CASE("shared time is passes over the measured or the peak bandwidth") {
  auto k = idle_kernel();
  k.shared_load_passes[1] = {1e9, 3000, 1e9};
  k.shared_store_passes[1] = {1e9, 2000, 1e9};
  auto d = made_up();  // 10 units * 32 banks * 4 bytes * 1 GHz * 0.5 = 640 GB/s
  CHECK(*project(k, d).t_shared_s == Approx(5000 * 128 / 640e9));
  d.shared_read = {{1}, {320e9}, "measured here"};
  d.shared_write = {{1}, {160e9}, "measured here"};
  CHECK(*project(k, d).t_shared_s == Approx(128 * (3000 / 320e9 + 2000 / 160e9)));
  d = made_up();
  d.shared_banks = 16;  // one-wide words of 16 banks: 64 bytes a pass
  k.shared_load_passes[1] = {700, 1e9, 1e9};
  k.shared_store_passes[1] = {0, 1e9, 1e9};
  CHECK(*project(k, d).t_shared_s == Approx(700 * 64 / 320e9));
  d = made_up();
  d.rule.wave_width = 64;  // conflicts are those of half a wavefront
  k.shared_load_passes[1] = {1e9, 800, 1e9};
  k.shared_store_passes[1] = {1e9, 0, 1e9};
  k.shared_load_passes[2].fill(1e9);
  CHECK(*project(k, d).t_shared_s == Approx(800 * 128 / 640e9));
  d = made_up();
  d.shared_bank_bytes = 8;
  k.shared_load_passes[1] = {1e9, 1e9, 900};
  k.shared_store_passes[1] = {1e9, 1e9, 0};
  CHECK(*project(k, d).t_shared_s == Approx(900 * 128 / 640e9));
}

TEST_CASE("few groups and the last round are those of the busiest unit") {
  auto const d = made_up();
  auto const compute = [&](std::uint64_t groups) {
    auto k = idle_kernel(groups);
    k.issues[fp32][1] = static_cast<double>(groups) * 8 * 100;  // a group: 8 wavefronts, 800 clocks of a unit
    return *project(k, d).t_compute_s;
  };
  for (auto const& [groups, busiest] : {std::pair{1, 1}, {7, 1}, {10, 1}, {11, 2}, {20, 2}, {1000, 100}, {1001, 101}}) {
    INFO(groups);
    CHECK(compute(static_cast<std::uint64_t>(groups)) == Approx(busiest * 800e-9));
  }
}

TEST_CASE("VLIW: bundles hold several operations but one of those of a single slot") {
  auto d = made_up();
  d.vendor = "AMD";
  d.rule.wave_width = 64;
  d.global_access_rule = record::AccessRule::amd64;
  d.vliw_slots = 5;
  d.throughput.all = {80, 16, {}, 80, 16, 80, 80, 16, 16};
  auto k = idle_kernel();
  k.issues[fp32][2] = 4000 * 10;  // 400 wavefronts a unit, 4 clocks a bundle
  k.vliw_ops_per_bundle = 2.5;
  CHECK(*project(k, d).t_compute_s == Approx(400 * 10 / 2.5 * 4e-9));
  k.issues[special][2] = 4000 * 2;  // packed with the others
  CHECK(*project(k, d).t_compute_s == Approx(400 * 12 / 2.5 * 4e-9));
  k.issues[special][2] = 4000 * 30;  // these bound the bundles
  CHECK(*project(k, d).t_compute_s == Approx(400 * 30 * 4e-9));
  k.issues[special][2] = 0;
  k.issues[other][2] = 4000 * 3;  // register moves are packed as well, and operations on shared memory
  k.issues[memory][2] = 4000 * 4;
  k.shared_load_passes[1][1] = 4000 * 2 * 2;  // two for each wavefront, one of 32 lanes a pass
  CHECK(*project(k, d).t_compute_s == Approx(400 * 15 / 2.5 * 4e-9));
  k.shared_load_passes[1][1] = 0;
  k.issues[other][2] = k.issues[memory][2] = 0;
  k.vliw_ops_per_bundle.reset();
  auto const p = project(k, d);
  CHECK(*p.t_compute_s == Approx(400 * 10 / 3.0 * 4e-9));
  CHECK(*p.time_low_s == Approx(400 * 10 / 5.0 * 4e-9));
  CHECK(*p.time_high_s == Approx(400 * 10 * 4e-9));
  CHECK_THAT(p.reason, Contains("vliw_ops_per_bundle not known"));
}

TEST_CASE("the interval spans the cache, private memory and the spread between groups") {
  auto k = plain_kernel(100);
  for (auto& c : k.issues) c.fill(0);
  for (auto* const t : {&k.shared_load_passes, &k.shared_store_passes})
    for (auto& row : *t) row.fill(0);
  auto d = made_up();
  double const moved = 100 * 256 * 12;
  auto p = project(k, d);
  CHECK(*p.time_low_s == *p.time_s);
  CHECK(*p.time_high_s == *p.time_s);
  k.global_footprint_bytes = moved / 4;  // 80 resident groups touch 61440 bytes
  d.l2_bytes = 61439;
  CHECK(*project(k, d).time_low_s == Approx(moved / 100e9));
  d.l2_bytes = 61440;
  CHECK(*project(k, d).time_low_s == Approx(moved / 4 / 100e9));
  d.l2_bandwidth_bytes_per_s = 300e9;
  CHECK(*project(k, d).time_low_s == Approx(moved / 4 / 100e9 + moved * 3 / 4 / 300e9));
  CHECK(*project(k, d).time_s == Approx(moved / 100e9));
  auto ten = times(k, 10);  // the same memory ten times over: fetched again, unless all of it stays in the cache
  ten.global_footprint_bytes = moved / 4;
  CHECK(*project(ten, d).time_low_s == Approx(10 * (moved / 4 / 100e9 + moved * 3 / 4 / 300e9)));
  d.l2_bytes = moved / 4;
  CHECK(*project(ten, d).time_low_s == Approx(moved / 4 / 100e9 + (10 * moved - moved / 4) / 300e9));
  k.local_load_bytes = moved;
  CHECK(*project(k, d).time_high_s == Approx(2 * moved / 100e9));
  CHECK(*project(k, d).time_s == Approx(moved / 100e9));
  d.l1_per_cu_bytes = 0;
  CHECK(*project(k, d).time_s == Approx(2 * moved / 100e9));
  k = plain_kernel(100);
  k.spread_pct = 25;
  CHECK(*project(k, made_up()).time_high_s == time_of(k, made_up()));  // every group was emulated
  k.groups_emulated = 5;
  p = project(k, made_up());
  CHECK(*p.time_high_s == Approx(1.25 * *p.time_s));
  CHECK(*p.time_low_s == Approx(*p.time_s / 1.25));
  k.sampling_error_pct = 2;
  CHECK(*project(k, made_up()).time_high_s == Approx(1.04 * *p.time_s));
}

TEST_CASE("what does not run has a reason and no time") {
  auto const refused = [](Kernel const& k, device::Device const& d, record::RowStatus status, char const* reason) {
    auto const p = project(k, d);
    INFO(p.reason);
    CHECK(p.status == status);
    CHECK_THAT(p.reason, Contains(reason));
    CHECK_FALSE(p.time_s);
    CHECK_FALSE(p.time_low_s);
    CHECK_FALSE(p.time_high_s);
    CHECK(p.limiter.empty());
  };
  auto k = plain_kernel();
  k.block_x = 2048;
  refused(k, made_up(), record::RowStatus::infeasible, "2048 work-items in a work-group, at most 1024");
  k = plain_kernel();
  k.shared_bytes = 50000;
  refused(k, made_up(), record::RowStatus::infeasible, "50000 bytes of shared memory for a work-group, at most 49152");
  k = plain_kernel();
  k.issues[fp64][1] = 1;
  auto d = made_up();
  d.throughput[fp64] = 0;
  refused(k, d, record::RowStatus::infeasible, "no fp64 arithmetic");
  d.throughput[fp64].reset();
  refused(k, d, record::RowStatus::unknown, "lacks throughput_fp64");
  d = made_up();
  d.global_access_rule.reset();
  refused(plain_kernel(), d, record::RowStatus::unknown, "global_access_rule");
  d = made_up();
  d.compute_units.reset();
  refused(plain_kernel(), d, record::RowStatus::unknown, "compute_units");
  d = made_up();
  d.rule.max_groups_per_cu.reset();
  refused(plain_kernel(), d, record::RowStatus::unknown, "max_groups_per_cu");
  refused(plain_kernel(), database().find("i5-2400"), record::RowStatus::unknown, "CPU");
  k = plain_kernel();
  k.block_x = k.block_y = k.block_z = std::uint64_t{1} << 32;  // the product does not fit into 64 bits
  refused(k, made_up(), record::RowStatus::infeasible, "7.92e+28 work-items in a work-group");
  refused(idle_kernel(), made_up(), record::RowStatus::unknown, "nothing is counted that takes time");
  k = plain_kernel();
  k.issues[fp32][1] = k.issues[int_add][1] = std::numeric_limits<double>::max();
  refused(k, made_up(), record::RowStatus::unknown, "the counts are too large");
  k = plain_kernel();
  k.block_x = 512;
  refused(k, database().find("hd7970"), record::RowStatus::infeasible, "512 work-items in a work-group, at most 256");
  // CUDA's shuffles: a wavefront of 64 is not a warp of 32, unless the group is no larger.
  k = plain_kernel();
  k.warp_lanes = 32;
  k.block_x = 128;
  refused(k, database().find("mi210"), record::RowStatus::infeasible,
          "exchanges values within warps of 32, wavefronts have 64");
  CHECK(project(k, database().find("w6600")).status != record::RowStatus::infeasible);
  k.block_x = 32;
  CHECK(project(k, database().find("mi210")).status != record::RowStatus::infeasible);
}

TEST_CASE("what the device refuses is refused before anything that the model lacks") {
  auto bare = database().find("gtx1080");
  bare.clock_hz.reset();
  bare.compute_units.reset();
  bare.throughput = {};
  bare.throughput_issue.reset();
  bare.global_access_rule.reset();
  bare.peak_bandwidth_bytes_per_s.reset();
  auto const of = [&](Kernel const& k) { return project(k, bare); };
  auto const infeasible = [&](Kernel const& k, char const* reason) {
    auto const p = of(k);
    INFO(p.reason);
    CHECK(p.status == record::RowStatus::infeasible);
    CHECK(p.reason == reason);
    CHECK_FALSE(p.time_s);
  };
  CHECK(of(plain_kernel()).status == record::RowStatus::unknown);
  auto k = plain_kernel();
  k.block_x = 2048;
  infeasible(k, "2048 work-items in a work-group, at most 1024");
  k = plain_kernel();
  k.grid_y = 65536;
  infeasible(k, "65536 work-groups along y, at most 65535");
  k = plain_kernel();
  k.shared_bytes = 50000;
  infeasible(k, "50000 bytes of shared memory for a work-group, at most 49152");
  k = plain_kernel();
  k.registers_sm75 = 255;
  k.block_x = 512;
  infeasible(k, "131072 registers for a work-group, at most 65536");
  k.block_x = 256;
  CHECK(of(k).status == record::RowStatus::unknown);
  k = plain_kernel();
  k.allocated_bytes = 12300000000;
  infeasible(k, "needs 12.3 GB, the device has 8.6 GB");
  k.allocated_bytes = 8589934592;
  CHECK(of(k).status == record::RowStatus::unknown);
  k.allocated_bytes = 8589934593;
  infeasible(k, "needs 8.589934593 GB, the device has 8.589934592 GB");
  bare.memory_bytes.reset();
  CHECK(of(k).status == record::RowStatus::unknown);
  bare.rule.register_unit.reset();  // what is not known refuses nothing, the rest does
  k.block_x = 2048;
  k.registers_sm75 = 32;
  infeasible(k, "2048 work-items in a work-group, at most 1024");
}

TEST_CASE("what is assumed is said, and registers above the limit are spilled") {
  auto k = plain_kernel();
  auto d = made_up();
  d.throughput[convert].reset();
  d.throughput[int_mul].reset();
  auto p = project(k, d);
  CHECK_THAT(p.reason, Contains("throughput_convert as special") && Contains("throughput_int_mul as int_add / 4"));
  k.registers_sm75.reset();
  k.registers_ptx = 64;
  auto terms = explain(k, made_up());
  CHECK_THAT(terms.projection.reason, Contains("registers_sm75 not known, registers_ptx taken"));
  CHECK(terms.occupancy.occupancy == 0.5);
  k.registers_ptx.reset();
  CHECK_THAT(project(k, made_up()).reason, Contains("occupancy without registers"));
  k.registers_ptx = 300;
  terms = explain(k, made_up());
  CHECK(terms.registers == 255);
  CHECK_THAT(terms.projection.reason, Contains("300 registers, 255 and the rest spilled"));
  k.block_x = 1024;
  terms = explain(k, made_up());
  CHECK(terms.registers == 64);  // 65536 registers for 1024 work-items
  CHECK(terms.projection.status == record::RowStatus::ok);
}

TEST_CASE("which register column a device uses") {
  auto k = plain_kernel();
  k.registers_ptx = 91;
  k.registers_sm75 = 31;
  k.vgprs_gfx6 = 32;
  k.vgprs_gfx90a = 33;
  k.vgprs_gfx1030 = 34;
  k.gprs_cypress = 5;
  k.block_x = 64;
  for (auto const& [device, registers, column] :
       std::vector<std::tuple<char const*, std::uint64_t, char const*>>{{"c1060", 31, "registers_sm75"},
                                                                        {"h200", 31, "registers_sm75"},
                                                                        {"hd7970", 32, "vgprs_gfx6"},
                                                                        {"rx480", 32, "vgprs_gfx6"},
                                                                        {"mi100", 33, "vgprs_gfx90a"},
                                                                        {"mi300x", 33, "vgprs_gfx90a"},
                                                                        {"w6600", 34, "vgprs_gfx1030"},
                                                                        {"rx7900xtx", 34, "vgprs_gfx1030"},
                                                                        {"hd5870", 5, "gprs_cypress"}}) {
    INFO(device);
    auto const terms = explain(k, database().find(device));
    CHECK(terms.registers == registers);
    CHECK(terms.registers_source == column);
  }
  k.gprs_cypress.reset();
  CHECK(explain(k, database().find("hd5870")).registers == 23);  // 91 registers of 32 bits are 23 of 128
}

TEST_CASE("every GPU of the database yields a time or a reason") {
  for (auto const& d : database().devices()) {
    INFO(d.device);
    auto const p = project(plain_kernel(), d);
    CHECK(p.time_s.has_value() == (d.kind == "gpu"));
    CHECK((p.time_s.has_value() != (p.status != record::RowStatus::ok)));
    CHECK((p.status == record::RowStatus::ok || !p.reason.empty()));
    if (!p.time_s) continue;
    CHECK(*p.time_s > 0);
    CHECK(*p.time_low_s <= *p.time_s);
    CHECK(*p.time_high_s >= *p.time_s);
    CHECK((*p.occupancy > 0 && *p.occupancy <= 1));
    double const most = std::max({*p.t_compute_s, *p.t_global_s, *p.t_shared_s});
    CHECK(*p.time_s == most);
    double const named = p.limiter == record::Limiter::compute  ? *p.t_compute_s
                         : p.limiter == record::Limiter::global ? *p.t_global_s
                                                                : *p.t_shared_s;
    CHECK(named == most);
  }
}

TEST_CASE("the fallbacks for unknown figures are those of the devices that are known") {
  std::vector<double> fractions;
  double fastest = 1, slowest = 0;
  for (auto const& d : database().devices()) {
    if (d.kind != "gpu") continue;
    bool const derived = d.assumed.find("measured_bandwidth_bytes_per_s: that of") != std::string::npos;
    if (d.measured_bandwidth_bytes_per_s && !derived)
      fractions.push_back(*d.measured_bandwidth_bytes_per_s / *d.peak_bandwidth_bytes_per_s);
    if (!d.global_latency_s) continue;
    fastest = std::min(fastest, *d.global_latency_s);
    slowest = std::max(slowest, *d.global_latency_s);
  }
  std::sort(fractions.begin(), fractions.end());
  REQUIRE(fractions.size() > 15);
  double const median = (fractions[(fractions.size() - 1) / 2] + fractions[fractions.size() / 2]) / 2;
  INFO("median of " << fractions.size() << ": " << median << ", latencies " << fastest << " to " << slowest);
  CHECK(model::panwar::measured_fraction == Approx(median).margin(0.01));
  CHECK(fastest < model::panwar::default_latency_s);
  CHECK(slowest > model::panwar::default_latency_s);
}

TEST_CASE("properties: a better device is never slower, time scales with the launches") {
  std::mt19937_64 random(8);
  auto const uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 300; ++i)
    for (auto const* const id : {"c1060", "c2050", "hd5870", "hd7970", "k20", "v100", "h200", "mi100", "rx7900xtx"}) {
      auto k = plain_kernel(1 + random() % 5000);
      k.block_x = 16 << (random() % 5);
      k.shared_bytes = random() % 16384;
      k.registers_sm75 = k.vgprs_gfx6 = k.vgprs_gfx90a = k.vgprs_gfx1030 = 8 + random() % 100;
      for (auto& c : k.issues)
        for (auto& w : c) w *= uniform(0, 3);
      auto const& d = database().find(id);
      INFO(id << " " << k.groups_total << " groups of " << k.block_x);
      double const time = time_of(k, d);
      double const slack = 1 + 1e-9;
      auto better = d;
      for (auto* const curve : {&better.global_read, &better.global_write})
        for (auto& b : curve->bandwidth_bytes_per_s) b *= 1.3;
      if (better.measured_bandwidth_bytes_per_s) *better.measured_bandwidth_bytes_per_s *= 1.3;
      *better.peak_bandwidth_bytes_per_s *= 1.3;
      CHECK(time_of(k, better) <= time * slack);
      better = d;
      *better.compute_units += 1 + random() % 40;
      // A curve over occupancy is of so many units.
      if (d.shared_read.empty() && d.global_read.occupancy.size() < 2) CHECK(time_of(k, better) <= time * slack);
      better = d;
      *better.clock_hz *= 1.2;
      CHECK(time_of(k, better) <= time * slack);
      double const factor = static_cast<double>(2 + random() % 50);
      CHECK(time_of(times(k, factor), d) == Approx(factor * time));
    }
}
