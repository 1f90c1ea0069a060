// The default model: closed forms, properties, and what it says where it knows too little.
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "catch.hpp"
#include "devdb.hpp"
#include "kernels.hpp"
#include "models/queue.hpp"
#include "models/rates.hpp"
#include "records/latency_gap.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using model::queue::Constants;
using model::queue::Options;
using record::Limiter, record::Pipe, record::Step;

namespace {

Options no_launches() {
  Options o;
  o.has_launch_cost = true;
  o.constants.code_s = o.constants.ramp_s = o.constants.dirty_part = 0;
  return o;
}

double queue_time(record::Kernel const& k, device::Device const& d, Options const& o = no_launches()) {
  auto const p = model::queue::Kernel(k).project(d, o);
  INFO(p.reason);
  REQUIRE(p.time_s);
  return *p.time_s;
}

}  // namespace

TEST_CASE("a long stream takes its bytes over the bandwidth") {
  for (auto const* const name : {"a100", "rtx3080", "v100", "t4"}) {
    auto const& d = database().find(name);
    auto const k = stream_kernel(1 << 20);
    double const bandwidth =
        d.measured_bandwidth_bytes_per_s.value_or(Constants{}.dram_part * d.peak_bandwidth_bytes_per_s.value_or(0));
    INFO(name);
    CHECK(queue_time(k, d) >= 2048.0 * (1 << 20) / bandwidth);
    CHECK(queue_time(k, d) <= 1.15 * 2048.0 * (1 << 20) / bandwidth);
    CHECK(model::queue::Kernel(k).project(d, no_launches()).limiter == Limiter::dram);
  }
}

TEST_CASE("a slot keeps the station of its architecture busy") {
  auto k = group_kernel(1 << 20);
  k.slots[Pipe::fp32] = 0;
  k.slots[Pipe::int_to_fp32] = 1000.0 * (1 << 20);
  for (auto const& [name, station, lanes] : {std::tuple{"a100", model::queue::Station::special, 16.0},
                                             std::tuple{"t4", model::queue::Station::special, 16.0},
                                             std::tuple{"rtx3080", model::queue::Station::integer, 64.0}}) {
    auto const& d = database().find(name);
    auto const terms = model::queue::Kernel(k).explain(d, no_launches());
    INFO(name);
    CHECK(terms.stations[station] == Approx(1000 * 32 / lanes / terms.common.clock_hz));
    CHECK(*terms.projection.time_s >= terms.groups_of_unit * terms.stations[station] * (1 - 1e-12));
  }
}

TEST_CASE("matrix products keep the matrix units busy") {
  // 1024 products of 16 x 8 x 16 a group, and nothing else.
  constexpr double of_group = 1024 * 2. * 16 * 8 * 16;
  auto k = group_kernel(1 << 16);
  for (auto const& [name, kind, rate] :
       {std::tuple{"v100", "mma/f16/f32", 1024.0}, std::tuple{"a100", "mma/f16/f32", 2048.0},
        std::tuple{"a100", "mma/f16/f32/sparse", 4096.0}, std::tuple{"rtx3080", "mma/f16/f32", 512.0},
        std::tuple{"a40", "mma/f16/f32", 1024.0}, std::tuple{"h100", "wgmma/bf16/f32", 4096.0},
        std::tuple{"mi300x", "mfma/f16/f32", 2048.0}}) {
    INFO(name << ' ' << kind);
    auto const& d = database().find(name);
    k.matrix_flop = std::string(kind) + ":" + record::number_text(of_group * (1 << 16));
    auto const terms = model::queue::Kernel(k).explain(d, no_launches());
    CHECK(terms.stations[model::queue::Station::tensor] == Approx(of_group / rate / terms.common.clock_hz));
    CHECK(terms.projection.limiter == Limiter::tensor);
    // The whole device at its peak, and not much longer.
    double const peak = rate * static_cast<double>(*d.compute_units) * terms.common.clock_hz;
    CHECK(*terms.projection.time_s >= of_group * (1 << 16) / peak);
    CHECK(*terms.projection.time_s < 1.1 * of_group * (1 << 16) / peak);
  }
}

TEST_CASE("copy engines and matrix units keep shared memory busy, not the load/store unit") {
  auto const& d = database().find("h100");
  auto k = group_kernel(1 << 12);
  auto const before = model::queue::Kernel(k).explain(d, no_launches());
  constexpr double bytes = 1 << 20;
  k.group.shared_engine_bytes = bytes;
  for (auto& passes : k.shared_load_passes) passes = {bytes / 64 * (1 << 12), bytes / 128 * (1 << 12), 0};
  auto const terms = model::queue::Kernel(k).explain(d, no_launches());
  using model::queue::Station;
  CHECK(terms.stations[Station::lsu] == Approx(before.stations[Station::lsu]));
  CHECK(terms.stations[Station::shared] == Approx(bytes / 128 / terms.common.clock_hz));
  CHECK(terms.projection.limiter == Limiter::shared);
  CHECK(*terms.projection.time_s >= terms.groups_of_unit * terms.stations[Station::shared]);
  // A request by an engine, of a line of four sectors, asks the second-level cache alone.
  auto engine = group_kernel(1 << 12), unit = group_kernel(1 << 12);
  engine.group.load_requests = "4/16/0:1000", unit.group.load_requests = "4/16/4:1000";
  for (auto* const one : {&engine, &unit}) {
    one->group.load_sectors = "x:16000", one->group.load_lines = "x:4000";
    one->global_load_tx[1] = {16000. * (1 << 12), 0, 0};
  }
  auto const by_engine = model::queue::Kernel(engine).explain(d, no_launches());
  auto const by_unit = model::queue::Kernel(unit).explain(d, no_launches());
  CHECK(by_engine.stations[Station::lsu] == Approx(before.stations[Station::lsu]));
  CHECK(by_unit.stations[Station::lsu] > 1000 / by_unit.common.clock_hz);
  CHECK(by_engine.stations[Station::l2] == Approx(by_unit.stations[Station::l2]));
  // Half of the groups copy for all: the one that was profiled stands for the mean.
  engine.global_load_tx[1][0] /= 2;
  CHECK(model::queue::Kernel(engine).explain(d, no_launches()).l2_bytes == Approx(by_engine.l2_bytes / 2));
}

TEST_CASE("matrix units read factors while they multiply") {
  auto const& d = database().find("h100");
  using model::queue::Station;
  constexpr double groups = 1 << 12, clocks = 10000;
  auto const kernel = [&](double factors, double copies) {  // clocks that each takes
    auto k = group_kernel(1 << 12);
    k.matrix_flop = "wgmma/bf16/f32:" + record::number_text(4096 * clocks * groups);
    k.group.shared_engine_bytes = 128 * (factors + copies);
    for (auto& passes : k.shared_load_passes)
      passes = {2 * (factors + copies) * groups, (factors + copies) * groups, 0};
    if (copies > 0) {
      k.group.load_requests = "4/16/0:" + record::number_text(copies / 4);
      k.group.load_sectors = "x:16", k.group.load_lines = "x:4";
      k.global_load_tx[1] = {4 * copies * groups, 0, 0};
    }
    return model::queue::Kernel(k).explain(d, no_launches());
  };
  auto const alone = kernel(0, 0), both = kernel(0.9 * clocks, 0);
  CHECK(alone.stations[Station::tensor] == Approx(clocks / alone.common.clock_hz));
  CHECK(both.stations[Station::shared] == Approx(0.9 * clocks / both.common.clock_hz));
  CHECK(both.service == Approx(alone.service));
  CHECK(both.latency == Approx(alone.latency));
  CHECK(*both.projection.time_s == Approx(*alone.projection.time_s));
  // Factors that take longer than products are what counts.
  auto const narrow = kernel(2 * clocks, 0);
  CHECK(narrow.service == Approx(2 * alone.service).epsilon(0.01));
  CHECK(narrow.projection.limiter == Limiter::shared);
  // Copies get in their way: by the norm, and not less than shared memory moves.
  for (double const copies : {0.05, 0.4, 3.0}) {
    auto const terms = kernel(0.9 * clocks, copies * clocks);
    double norm = 0;
    for (auto const one : {Station::l2, Station::dram, Station::lsu}) norm += std::pow(terms.stations[one], 3);
    norm += std::pow(terms.stations[Station::tensor], 3) + std::pow(copies * clocks / terms.common.clock_hz, 3);
    INFO(copies);
    CHECK(terms.stations[Station::shared] == Approx((0.9 + copies) * clocks / terms.common.clock_hz));
    CHECK(terms.service == Approx(std::max(std::cbrt(norm), terms.stations[Station::shared])).epsilon(0.001));
  }
}

TEST_CASE("a device without the matrix unit is infeasible, one whose rate is not known has no time") {
  auto k = group_kernel(1 << 10);
  k.matrix_flop = "mma/f16/f32:1e9";
  model::queue::Kernel const ready(k);
  for (auto const* const name : {"k40", "hd5870", "p100", "mi300x"}) {
    auto const p = ready.project(database().find(name), no_launches());
    INFO(name);
    CHECK(p.status == record::RowStatus::infeasible);
    CHECK(p.reason == "no matrix unit for mma/f16/f32");
    CHECK(model::panwar::project(k, database().find(name), {}).status == record::RowStatus::infeasible);
  }
  auto const unknown = ready.project(database().find("b200"), no_launches());
  CHECK(unknown.status == record::RowStatus::unknown);
  CHECK(unknown.reason.find("mma/f16/f32") != std::string::npos);
  CHECK_FALSE(unknown.time_s);
  // A database without such facts does not say that the unit is missing.
  auto silent = database().find("k40");
  silent.knows_matrix = false;
  CHECK(ready.project(silent, no_launches()).status == record::RowStatus::unknown);
  k.matrix_flop = "wgmma/f16/f32:1e9";  // of sm_90a alone
  model::queue::Kernel const of_hopper(k);
  CHECK(of_hopper.project(database().find("h100"), no_launches()).time_s);
  for (auto const* const name : {"a100", "b200", "rtx4090"})
    CHECK(of_hopper.project(database().find(name), no_launches()).status == record::RowStatus::infeasible);
  for (auto const* const kind : {"tcgen05/f16/f32:1e9", "tcgen05/f8/f16:1e9", "tcgen05/f4/f32:1e9",
                                 "tcgen05/tf32/f32/sparse:1e9"}) {  // of sm_100a alone
    k.matrix_flop = kind;
    model::queue::Kernel const of_blackwell(k);
    CHECK(of_blackwell.project(database().find("b200"), no_launches()).time_s);
    for (auto const* const name : {"a100", "h100", "rtx5090"})
      CHECK(of_blackwell.project(database().find(name), no_launches()).status == record::RowStatus::infeasible);
  }
}

TEST_CASE("a stream for one pipe does not wait for the scheduler besides") {
  // GA10x issues and executes 128 fused multiply-adds of single precision a clock.
  auto const& d = database().find("rtx3080");
  auto k = group_kernel(1 << 20);
  k.slots[Pipe::fp32] = 1000.0 * (1 << 20);
  auto o = no_launches();
  o.constants.wave_cycles = 0;
  auto const one = model::queue::Kernel(k).explain(d, o);
  CHECK(one.service == Approx(1000 * 32 / 128.0 / one.common.clock_hz));
  // Half of it for another pipe: the scheduler is busy as before, and each pipe half as long or as long.
  k.slots[Pipe::fp32] = k.slots[Pipe::alu] = 500.0 * (1 << 20);
  auto const two = model::queue::Kernel(k).explain(d, o);
  double const alu = 500 * 32 / 64.0, fp32 = 500 * 32 / 128.0;
  CHECK(two.service == Approx(std::cbrt(alu * alu * alu + fp32 * fp32 * fp32) / two.common.clock_hz));
}

TEST_CASE("a narrow unit for double precision gives less than is stated, a wide one does not") {
  auto k = group_kernel(1 << 20);
  k.slots[Pipe::fp32] = 0;
  k.slots[Pipe::fp64] = 1000.0 * (1 << 20);
  for (auto const& [name, lanes] : {std::pair{"rtx3080", 2 * Constants{}.fp64_slow_part}, std::pair{"a100", 32.0}}) {
    auto const terms = model::queue::Kernel(k).explain(database().find(name), no_launches());
    INFO(name);
    CHECK(terms.stations[model::queue::Station::fp64] == Approx(1000 * 32 / lanes / terms.common.clock_hz));
  }
}

TEST_CASE("a wavefront alone does not issue at every clock") {
  auto const& d = database().find("a100");
  auto k = group_kernel(1);
  k.block_x = 32;
  k.slots[Pipe::alu] = k.group.slots.emplace(1000);
  k.slots[Pipe::fp32] = 0;
  k.group.path[Step::arithmetic] = 10;  // nearly all of them independent
  auto const t = model::queue::Kernel(k).explain(d, no_launches());
  CHECK(t.longest == Approx(1000 * Constants{}.wave_issue_cycles / t.common.clock_hz));
}

TEST_CASE("memory serves a last wave that is not full at its whole rate") {
  auto const& d = database().find("a100");
  auto const groups = *d.compute_units * 8 + 1;  // one unit has a ninth group
  auto const t = model::queue::Kernel(stream_kernel(groups)).explain(d, no_launches());
  CHECK(t.groups_of_unit == 9);
  CHECK(t.stations[model::queue::Station::dram] * t.groups_of_unit ==
        Approx(t.dram_bytes * model::dram_s_per_byte(d, 0.5)));
}

TEST_CASE("memory that is read and written moves at the rate of copies") {
  auto const& a100 = database().find("a100");  // gpu-stream: reads 1500, copies 1382, writes 1540 GB/s
  double const read = model::dram_bytes_per_s(a100);
  CHECK(model::dram_s_per_byte(a100, 0) == Approx(1 / read));
  CHECK(read * model::dram_s_per_byte(a100, 0.5) == Approx(1500.0 / 1382).epsilon(0.01));
  CHECK(model::dram_s_per_byte(a100, 1) == Approx(1 / read));
  CHECK(model::dram_s_per_byte(a100, 0.25) ==
        Approx((model::dram_s_per_byte(a100, 0) + model::dram_s_per_byte(a100, 0.5)) / 2));
  auto const& unmeasured = database().find("gtx1080");
  REQUIRE(unmeasured.global_copy.empty());
  CHECK(model::dram_bytes_per_s(unmeasured) * model::dram_s_per_byte(unmeasured, 0.5) ==
        Approx(1 / Constants{}.dram_mixed_part));
  for (auto const& d : database().devices()) {
    if (d.kind != "gpu") continue;
    INFO(d.device);
    for (double const written : {0.25, 0.5, 0.75, 1.0})
      CHECK(model::dram_s_per_byte(d, written) >= model::dram_s_per_byte(d, 0) * (1 - 1e-12));
  }
}

TEST_CASE("code is fetched while memory serves what has been asked for") {
  auto const& d = database().find("a100");
  auto k = stream_kernel(1 << 20);
  auto o = no_launches();
  double const without = queue_time(k, d, o);
  k.code_slots = 1000;
  o.constants.code_s = without / 2000;  // half of it
  CHECK(queue_time(k, d, o) == Approx(without));
  o.constants.code_s = without / 500;  // twice
  auto const t = model::queue::Kernel(k).explain(d, o);
  CHECK(*t.projection.time_s == Approx(2 * without + t.longest));
}

TEST_CASE("code is fetched by the first configuration of a kernel alone") {
  auto const& d = database().find("a100");
  auto k = group_kernel(1);
  k.code_slots = 1000;
  auto o = no_launches();
  o.constants.code_s = 1e-6;
  auto const first = queue_time(k, d, o);
  k.code_fetched = 1;
  CHECK(queue_time(k, d, o) == first);
  k.code_fetched = 0;
  CHECK(first - queue_time(k, d, o) == Approx(1e-3));
}

TEST_CASE("what a group does before a barrier hides nothing of what it does after it") {
  auto const& d = database().find("a100");
  auto const o = no_launches();
  auto k = group_kernel(1);
  k.block_x = 1024;
  k.slots[Pipe::fp32] = k.group.slots.emplace(4e5);
  k.group.shared_requests = 2e5, k.group.shared_loads = "1:200000";
  k.group.path[Step::arithmetic] = k.group.path[Step::barrier] = 1;
  auto const together = model::queue::Kernel(k).explain(d, o);
  double const fp32 = together.stations[model::queue::Station::fp32],
               shared = together.stations[model::queue::Station::shared];
  REQUIRE(shared > 0.5 * fp32);
  CHECK(together.queue < 0.9 * (fp32 + shared));
  // 1/0 of fp32, 0/1 of shared memory; one after the other.
  k.group.phases = "1/1/0/0/0/0/0/1/0/0/0/0/0/0/0:1;0/0/0/0/0/1/0/0/0/0/0/0/0/0/1:1";
  auto const apart = model::queue::Kernel(k).explain(d, o);
  CHECK(apart.service == together.service);
  CHECK(apart.queue == Approx(fp32 + shared).epsilon(0.05));
  // Many of the same kind take as long as one with their work, and groups hide each other's.
  k.group.phases = "1/1/0/0/0/0/0/0/0/0/0/0/0/0/0:100;0/0/0/0/0/1/0/0/0/0/0/0/0/0/0:100";
  CHECK(model::queue::Kernel(k).explain(d, o).queue == Approx(apart.queue).epsilon(0.05));
  auto many = k;
  many.block_x = 256;
  many.registers_sm75 = 32;
  double const groups = 64 * static_cast<double>(*d.compute_units);
  many.grid_x = many.groups_total = static_cast<std::uint64_t>(groups);
  many.slots[Pipe::fp32] = 4e5 * groups;
  auto const hidden = model::queue::Kernel(many).explain(d, o);
  CHECK(hidden.customers == 8);
  CHECK(hidden.queue < 1.2 * 64 * hidden.service);
}

TEST_CASE("one group alone takes its latency and its service") {
  auto const& d = database().find("a100");
  auto k = group_kernel(1);
  k.block_x = 32;  // one wavefront, which overlaps no other
  k.group.path[Step::arithmetic] = 1000;
  auto o = no_launches();
  auto const t = model::queue::Kernel(k).explain(d, o);
  CHECK(t.customers == 1);
  CHECK(t.queue == Approx(t.latency + t.service));
  CHECK(t.latency >= 1000 * o.constants.arithmetic_cycles / *d.clock_hz);
  CHECK(t.projection.limiter == Limiter::latency);
}

TEST_CASE("the longest group takes no longer than its latency and its service, nor less than either") {
  auto const& d = database().find("a100");
  auto k = group_kernel(1);
  k.slots[Pipe::fp32] = k.group.slots.emplace(2e4);
  for (double const steps : {0.0, 1000.0, 5000.0}) {
    k.group.path[Step::arithmetic] = steps;
    auto const t = model::queue::Kernel(k).explain(d, no_launches());
    CHECK(t.longest == Approx(t.queue));  // it is alone
    CHECK(t.longest <= t.latency + t.service);
    CHECK(t.longest >= std::max(t.latency, t.service) * (1 - 1e-12));
  }
}

TEST_CASE("caches run at the clock of the compute units") {
  auto const& d = database().find("quadro-gv100");
  auto k = group_kernel(1);
  k.group.path[Step::hit] = 1000;
  auto slow = no_launches();
  slow.common.clock_hz = *d.clock_hz / 2;
  CHECK(model::queue::Kernel(k).explain(d, slow).latency ==
        Approx(2 * model::queue::Kernel(k).explain(d, no_launches()).latency));
  CHECK(model::queue::Kernel(k).explain(d, no_launches()).latency >= 1000 * *d.l1_latency_s);
  // What all groups load is in the second-level cache, whose rate falls with the clock, too.
  auto shared = group_kernel(1 << 16);
  shared.group.load_requests = "1/4/1:64";
  shared.group.load_sectors = "all:256";
  shared.group.load_lines = "all:64";
  CHECK(model::queue::Kernel(shared).explain(d, slow).stations[model::queue::Station::l2] ==
        Approx(2 * model::queue::Kernel(shared).explain(d, no_launches()).stations[model::queue::Station::l2]));
}

TEST_CASE("what a group loads again waits for the second-level cache where the first has lost it") {
  auto const& d = database().find("h100");
  auto k = group_kernel(1);
  k.group.path[Step::hit] = 1000;
  k.group.load_requests = "1/4/1:2048";
  k.group.load_sectors = "x:4096";
  k.group.load_lines = "x:1024";
  auto const latency = [&](char const* reuse) {
    k.group.reuse = reuse;
    return model::queue::Kernel(k).explain(d, no_launches()).latency;
  };
  CHECK(latency("3:4096") >= 1000 * *d.l1_latency_s);
  CHECK(latency("20:4096") - latency("3:4096") == Approx(1000 * (*d.l2_latency_s - *d.l1_latency_s)).epsilon(1e-3));
}

TEST_CASE("throughput of the queue lies between its bounds, and grows with the customers") {
  auto const& d = database().find("rtx3080");
  auto k = group_kernel(68 * 6);
  k.slots[Pipe::fp32] = 1e4 * 68 * 6;
  k.group.slots = 1e4;
  for (double const steps : {0.0, 100.0, 10000.0}) {
    k.group.path[Step::arithmetic] = steps;
    k.block_x = 256;
    auto const overlapping = model::queue::Kernel(k).explain(d, no_launches()).queue;
    k.block_x = 32;
    auto const t = model::queue::Kernel(k).explain(d, no_launches());
    double const n = t.groups_of_unit;
    CHECK(overlapping <= t.queue);
    CHECK(n == 6);
    CHECK(t.queue >= n * t.service * (1 - 1e-12));
    CHECK(t.queue >= (t.latency + t.service) * (1 - 1e-12));
    CHECK(t.queue <= n * (t.latency + t.service) * (1 + 1e-12));
  }
}

TEST_CASE("more work, slower memory or fewer units never make a kernel faster") {
  std::mt19937_64 random(7);
  auto const any = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  for (int i = 0; i < 200; ++i) {
    auto k = stream_kernel(1 + random() % 5000);
    for (auto const pipe : record::values_of<Pipe>) k.slots[pipe] = any(1000) * static_cast<double>(k.groups_total);
    double slots = 0;
    for (auto const& n : k.slots) slots += *n;
    k.group.slots = slots / static_cast<double>(k.groups_total);
    for (auto const s : record::values_of<Step>) k.group.path[s] = std::floor(any(100));
    device::Device d = database().find(i % 2 ? "a100" : "rtx3080");
    double const time = queue_time(k, d);
    auto more = k;
    for (auto& n : more.slots) *n *= 1.5;
    *more.group.slots *= 1.5;
    CHECK(queue_time(more, d) >= time * (1 - 1e-9));
    device::Device slower = d;
    slower.measured_bandwidth_bytes_per_s =
        0.5 * d.measured_bandwidth_bytes_per_s.value_or(*d.peak_bandwidth_bytes_per_s);
    CHECK(queue_time(k, slower) >= time * (1 - 1e-9));
  }
}

TEST_CASE("memory that all groups share is fetched once where the cache holds it") {
  auto const& d = database().find("a100");
  auto k = stream_kernel(10000);
  k.group.load_sectors = "all:1024";
  k.group.load_requests = "1/4/1:256";
  k.group.load_lines = "all:256";
  auto const shared = model::queue::Kernel(k).explain(d, no_launches());
  CHECK(shared.dram_bytes == Approx(32.0 * (1024 + 32 * 10000)));
  CHECK(shared.l2_bytes == Approx(32.0 * (1024 + 32) * 10000));
}

TEST_CASE("what has been written last stays in the second-level cache") {
  auto const& d = database().find("a100");
  auto o = no_launches();
  o.constants.dirty_part = 0.25;
  for (std::uint64_t const groups : {std::uint64_t{100}, std::uint64_t{1} << 20}) {
    auto const k = stream_kernel(groups);
    double const written = 1024.0 * static_cast<double>(groups);
    double const all = model::queue::Kernel(k).explain(d, no_launches()).dram_bytes;
    CHECK(all == Approx(2 * written));
    CHECK(model::queue::Kernel(k).explain(d, o).dram_bytes == Approx(all - std::min(written / 2, *d.l2_bytes / 4)));
  }
}

TEST_CASE("what does not stay in the first-level cache comes from the second again") {
  auto const& d = database().find("a100");
  auto k = stream_kernel(108);
  k.group.reuse = "8:1000";  // within 256 sectors: 8 KiB
  auto const stays = model::queue::Kernel(k).explain(d, no_launches());
  k.group.reuse = "16:1000";  // within 65536 sectors: 2 MiB
  auto const lost = model::queue::Kernel(k).explain(d, no_launches());
  CHECK(lost.l2_bytes == Approx(stays.l2_bytes + 32.0 * 1000 * 108));
}

TEST_CASE("atomics on one address take turns") {
  auto const& d = database().find("rtx3080");
  auto k = stream_kernel(10000);
  k.group.atomic_requests = k.group.atomic_sectors = 8;
  k.group.atomic_serial = 256;
  k.atomic_max_same_address = 2.56e6;
  auto const o = no_launches();
  auto const t = model::queue::Kernel(k).explain(d, o);
  CHECK(t.atomics == Approx(2.56e6 * o.constants.atomic_same_cycles / t.common.clock_hz));
  CHECK(t.projection.limiter == Limiter::atomics);
}

TEST_CASE("atomics on addresses of their own keep the parts of the cache busy that hold them") {
  auto const& d = database().find("rtx3080");
  auto const o = no_launches();
  auto k = stream_kernel(10000);
  k.group.atomic_requests = 8;
  k.group.atomic_serial = 8;
  k.group.atomic_sectors = 32;
  k.group.atomic_lines = 16;
  k.atomic_max_same_address = 8;
  auto const clocks = [&] {
    auto const t = model::queue::Kernel(k).explain(d, o);
    return t.atomics * t.common.clock_hz;
  };
  double const one_part = 16 * 10000 * o.constants.atomic_line_cycles;
  std::string const doubling = "1:0;2:0;3:0;4:0;5:0;6:0;7:0;8:0;9:0;10:0;11:0;12:0;13:0;";
  k.group.atomic_unions = "0:0;" + doubling + "14:64";  // 2 KiB
  CHECK(clocks() == Approx(one_part));
  k.group.atomic_unions = "0:0;" + doubling + "14:512";  // 16 KiB
  CHECK(clocks() == Approx(one_part / 4));
  k.group.atomic_unions = "0:0;" + doubling + "14:1000000";  // in all parts: 120 bytes a clock for each channel
  CHECK(clocks() == Approx(one_part / (120.0 * 320 / 32 / 32)));
  k.group.atomic_wide_lanes = 256;  // one a clock
  CHECK(clocks() == Approx(256 * 10000 / (120.0 * 320 / 32 / 32)));
}

TEST_CASE("what groups far apart share is fetched once for as many as the cache holds") {
  auto const& d = database().find("rtx3080");
  // A plane of 1024 groups, 32 sectors each; a group loads its own part of three planes. 256 planes.
  std::uint64_t const plane = 1024, groups = 256 * plane;
  auto k = stream_kernel(groups);
  k.group.load_sectors = "x:96";
  k.group.load_lines = "x:24";
  auto const unions = [&](double kept) {  // sectors of n groups, of planes of `kept` groups
    std::string out;
    for (unsigned i = 0; (std::uint64_t{1} << i) <= groups; ++i) {
      double const n = std::exp2(i);
      out += (i ? ";" : "") + std::to_string(i) + ":" +
             std::to_string(static_cast<long>(32 * (n <= kept ? 3 * n : n + 2 * kept)));
    }
    return out;
  };
  // Two planes and what is stored are less than the cache: each sector once.
  k.group.load_unions = unions(static_cast<double>(plane));
  k.group.store_sectors = "all:1";
  k.group.store_lines = "all:1";
  std::string none;
  for (unsigned i = 0; i <= 18; ++i) none += (i ? ";" : "") + std::to_string(i) + ":1";
  k.group.store_unions = none;
  k.global_footprint_bytes = 32.0 * 32 * static_cast<double>(groups + 2 * plane);
  auto const once = model::queue::Kernel(k).explain(d, no_launches()).dram_bytes;
  CHECK(once == Approx(32.0 * 32 * static_cast<double>(groups)).epsilon(0.05));
  // Planes sixteen times as large: three times, but for what runs together.
  k.group.load_unions = unions(16.0 * static_cast<double>(plane));
  auto const again = model::queue::Kernel(k).explain(d, no_launches()).dram_bytes;
  CHECK(again == Approx(3 * once).epsilon(0.1));
  // As many numbers as powers of two, or the row is not one.
  k.group.load_unions = "0:96;1:192";
  auto const p = model::queue::Kernel(k).project(d, no_launches());
  CHECK(p.reason.find("estimated") != std::string::npos);
}

TEST_CASE("a request of one line takes a clock on large compute units, one of two lines two") {
  auto const& a100 = database().find("a100");
  auto k = stream_kernel(1000);
  k.group.store_requests.clear();
  auto const clocks = [&](std::string const& requests) {
    k.group.load_requests = requests;
    auto const t = model::queue::Kernel(k).explain(a100, no_launches());
    return t.stations[model::queue::Station::lsu] * t.common.clock_hz;
  };
  CHECK(clocks("1/4/1:8") == Approx(8));
  CHECK(clocks("2/5/1:8") == Approx(16));
}

TEST_CASE("the second-level cache gives what was measured, else so much for each channel, and not less than memory") {
  for (auto const& d : database().devices()) {
    if (!device::is_gpu(d) || !d.clock_hz) continue;
    INFO(d.device);
    double const l2 = model::l2_bytes_per_s(d, *d.clock_hz);
    if (d.l2_bandwidth_bytes_per_s)
      CHECK(l2 == *d.l2_bandwidth_bytes_per_s);
    else
      CHECK(l2 >= model::dram_bytes_per_s(d));
  }
  auto const& d = database().find("rtx3080");
  CHECK(model::l2_bytes_per_s(d, 1e9) == Approx(1e9 * 120 * 320 / 32));
}

TEST_CASE("launches cost a constant each, unless another cost is given") {
  auto const& d = database().find("a100");
  auto k = stream_kernel(1);
  k.launches = 10;
  k.groups_total = 10;
  auto const with = model::queue::Kernel(k).project(d);
  CHECK(with.t_launch_s == Approx(10 * Constants{}.launch_s));
  CHECK(with.limiter == Limiter::launch);
  CHECK(model::queue::Kernel(k).project(d, no_launches()).t_launch_s == 0);
}

TEST_CASE("back to back, a launch costs what executing does not hide") {
  auto const& d = database().find("a100");
  for (std::uint64_t const groups : {std::uint64_t{1}, std::uint64_t{1} << 16}) {
    auto k = stream_kernel(groups);
    k.launches = 3;
    k.group.slots = *k.group.slots * 3;
    auto o = no_launches();
    double const executing = queue_time(k, d, o);
    o.common.launch_cost.seconds = 5e-6;
    CHECK(queue_time(k, d, o) == Approx(executing + 15e-6));
    o.launches = model::queue::Launches::back_to_back;
    double const gap = 3 * Constants{}.queued_gap_s;
    CHECK(queue_time(k, d, o) == Approx(std::max(executing + gap, 15e-6)).epsilon(0.01));
    o.common.launch_cost.seconds = 1e-7;  // what no launch costs, lies between none
    CHECK(queue_time(k, d, o) == Approx(executing + 3e-7));
  }
}

TEST_CASE("launches of next to nothing, back to back, begin as often as was measured on the device") {
  for (auto const& [device, seconds] : {std::pair{"a40", 2.048e-6}, {"l40", 1.6384e-6}, {"h200", 2.42726e-6}}) {
    auto const& d = database().find(device);
    REQUIRE(d.queued_launch_s);
    CHECK(*d.queued_launch_s == seconds);
    model::queue::Options o;
    o.launches = model::queue::Launches::back_to_back;
    CHECK(model::queue::launch_s(o, o.constants, d) == seconds);
    o.launches = model::queue::Launches::alone;
    CHECK(model::queue::launch_s(o, o.constants, d) == d.host_launch_s(o.constants.launch_s));
  }
  model::queue::Options o;
  o.launches = model::queue::Launches::back_to_back;
  CHECK(model::queue::launch_s(o, o.constants, database().find("titan-v")) == o.constants.queued_launch_s);
}

TEST_CASE("of a graph, the first node costs a launch and each other less") {
  auto const& d = database().find("a100");
  double const node_s = Constants{}.graph_node_s;
  for (std::uint64_t const groups : {std::uint64_t{1}, std::uint64_t{1} << 16})
    for (std::uint64_t const launches : {1, 2, 20}) {
      auto k = stream_kernel(groups);
      k.launches = launches;
      k.groups_total *= launches;
      for (auto& n : k.slots)
        if (n) *n *= static_cast<double>(launches);
      auto o = no_launches();
      double const executing = queue_time(k, d, o);
      o.launches = model::queue::Launches::graph;
      CHECK(queue_time(k, d, o) == executing);  // nothing costs nothing
      for (double const launch_s : {5e-6, node_s / 2}) {
        o.common.launch_cost.seconds = launch_s;
        double const expected = launch_s + static_cast<double>(launches - 1) * std::min(launch_s, node_s);
        auto const p = model::queue::Kernel(k).project(d, o);
        CHECK(*p.t_launch_s == Approx(expected));
        CHECK(*p.time_s == Approx(executing + expected));
        CHECK((p.limiter == Limiter::launch) == (expected > executing));
      }
    }
}

TEST_CASE("the published graph: 20 kernels of 2.9 us, 3.4 us for each") {
  Constants const c;
  CHECK((c.launch_s + 20 * 2.9e-6 + 19 * c.graph_node_s) / 20 == Approx(3.4e-6).epsilon(0.01));
}

TEST_CASE("terms that are used again are those of new ones") {
  auto const row = [](record::Projection const& p) { return record::rows_text<record::Projection>({p}); };
  auto many = stream_kernel(1 << 16), few = stream_kernel(1);
  many.registers_sm75 = 3000;  // notes, where no queue takes it
  few.block_x = 4096;          // refused
  model::queue::Terms used;
  for (auto const* const k : {&many, &few}) {
    model::queue::Kernel const ready(*k);
    for (auto const& d : database().devices()) {
      CAPTURE(d.device);
      auto const fresh = ready.explain(d, no_launches());
      ready.explain(d, no_launches(), used);
      REQUIRE(row(used.projection) == row(fresh.projection));
      REQUIRE(used.service == fresh.service);
      REQUIRE(used.common.occupancy.bound == fresh.common.occupancy.bound);
      REQUIRE(used.common.registers == fresh.common.registers);
    }
  }
}

TEST_CASE("a warm second-level cache holds what fits") {
  auto const& d = database().find("a100");
  auto o = no_launches();
  double const cold = queue_time(stream_kernel(4096), d, o), cold_large = queue_time(stream_kernel(1 << 20), d, o);
  o.caches = model::queue::Caches::warm;
  CHECK(queue_time(stream_kernel(4096), d, o) < cold);
  CHECK(queue_time(stream_kernel(1 << 20), d, o) == cold_large);
}

TEST_CASE("what the program has left in the second-level cache is not fetched") {
  auto const& d = database().find("a100");  // 40 MB
  auto o = no_launches();
  auto k = stream_kernel(4096);  // 8 MiB, half of them loaded, half stored
  double const unknown = queue_time(k, d, o);
  o.caches = model::queue::Caches::cold;
  double const cold = queue_time(k, d, o);
  o.caches = model::queue::Caches::warm;
  double const warm = queue_time(k, d, o);
  CHECK(unknown == cold);
  o.caches = model::queue::Caches::program;
  auto const with = [&](char const* touched_before) {
    k.touched_before = touched_before;
    return model::queue::Kernel(k).explain(d, o);
  };
  CHECK(with("0:0").projection.time_s == cold);
  CHECK(with("30:8388608").projection.time_s == cold);
  CHECK(with("23:8388608").projection.time_s == Approx(warm));
  CHECK(with("23:8388608").dram_bytes == 0);
  CHECK(with("23:4194304").dram_bytes == Approx(1 << 22));
  // 24 MiB lie in the middle between 2^24 and 2^25 bytes.
  REQUIRE(d.l2_bytes == 40 << 20);
  o.constants.cache_part = 0.6;
  CHECK(with("25:4194304").dram_bytes == Approx(3 << 21));
  o.constants.cache_part = 0.8;
  // The mean of two launches of which one finds all; without the column the second of them.
  k = stream_kernel(4096);
  k.launches = 2;
  k.groups_total *= 2;
  for (auto& n : k.slots) n = 2 * *n;
  CHECK(queue_time(k, d, o) < 2 * cold);
  CHECK(with("23:8388608").dram_bytes == Approx(1 << 22));
  CHECK(with("0:0").projection.time_s == Approx(2 * cold));
}

TEST_CASE("rows without the counts of one group are estimated, rows without slots are projected as by panwar") {
  auto const& d = database().find("a100");
  auto k = stream_kernel(10000);
  k.global_load_bytes = k.global_store_bytes = 1024.0 * 10000;
  k.global_load_tx[1] = k.global_store_tx[1] = {32.0 * 10000, 16.0 * 10000, 8.0 * 10000};
  k.slots[Pipe::memory] = 16.0 * 10000;
  k.group.slots = 24;
  k.global_load_rounds = 256.0 * 10000;
  double const known = queue_time(k, d);
  k.group = {};
  auto const estimated = model::queue::Kernel(k).project(d, no_launches());
  CHECK(estimated.reason.find("estimated") != std::string::npos);
  CHECK(*estimated.time_s == Approx(known).epsilon(0.2));
  for (auto& n : k.slots) n.reset();
  auto const old = model::queue::Kernel(k).project(d, no_launches());
  CHECK(old.time_s == model::panwar::project(k, d).time_s);
  CHECK(old.model == "queue");
}

TEST_CASE("AMD's machine code keeps one vector unit busy, a wavefront of 64 as long as two of 32") {
  auto const& d = database().find("mi210");
  auto k = group_kernel(104 * 100);  // each compute unit 100 groups of 4 wavefronts
  k.target = "gfx90a";
  for (auto& n : k.slots) n = 0;
  double const groups = 104 * 100;
  k.slots[Pipe::fp32] = 4000 * groups, k.slots[Pipe::alu] = 2000 * groups, k.slots[Pipe::scalar] = 500 * groups;
  k.slots[Pipe::special] = 100 * groups;
  k.group.slots = 6600;
  auto const t = model::queue::Kernel(k).explain(d, no_launches());
  // 64 lanes a clock, and 16 of special functions.
  CHECK(t.stations[record::Station::fp32] == Approx((4000 + 2000 + 4 * 100) / *d.clock_hz));
  CHECK(t.stations[record::Station::integer] == Approx(500 / *d.clock_hz));
  CHECK(t.projection.reason.find("panwar") == std::string::npos);
  CHECK(*t.projection.time_s == Approx(100 * 6400 / *d.clock_hz).epsilon(0.1));
  // The same count of wavefronts of 32 on RDNA takes half of the lanes' time.
  auto const& rdna = database().find("rx6900xt");
  k.target = "gfx1030";
  auto const half = model::queue::Kernel(k).explain(rdna, no_launches());
  CHECK(half.stations[record::Station::fp32] == Approx((4000 + 2000) / 2 / *rdna.clock_hz));
  CHECK(half.stations[record::Station::special] == Approx(100 * 2 / *rdna.clock_hz));
}

TEST_CASE("bundles of a VLIW hold several operations, except those of its one wide lane") {
  auto const& d = database().find("hd5870");
  auto k = group_kernel(20 * 100);
  k.slots[Pipe::fp32] = 1000 * 2000.0, k.slots[Pipe::imad] = 100 * 2000.0;
  k.group.slots = 1100;
  k.vliw_ops_per_bundle = 2;
  auto const t = model::queue::Kernel(k).explain(d, no_launches());
  CHECK(t.stations[record::Station::fp32] == Approx((1000 * 32 / (16 * 2.0) + 100 * 32 / 16.0) / *d.clock_hz));
}

TEST_CASE("loads that pass the first level by are asked of the second each time; Fermi's bring their lines") {
  auto k = stream_kernel(1000);
  k.group.load_requests = "1/4/1:24";  // each sector three times
  k.group.reuse = "3:64";
  double const own = 32, stored = 32;
  auto const l2_sectors = [&](char const* device) {
    return model::queue::Kernel(k).explain(database().find(device), no_launches()).l2_bytes / 32 / 1000;
  };
  CHECK(l2_sectors("k40") == Approx(3 * own + stored));
  CHECK(l2_sectors("rtx3080") == Approx(own + stored));
  k.group.load_requests = "8/8/8:8";  // one sector of each line
  k.group.reuse = "";
  k.group.load_sectors = "x:64", k.group.load_lines = "x:64";
  CHECK(l2_sectors("gtx580") == Approx(4 * 64 * 1 + stored));
  CHECK(l2_sectors("rtx3080") == Approx(2 * 64 + stored));  // a look-up of one sector costs two
}

TEST_CASE("stores to private memory pass the first level of Volta and later and AMD's, not of those before") {
  auto k = group_kernel(1000);
  k.group.local_requests = "4/16/4:100";
  k.group.local_lines = 4;  // the first level has them all
  auto const l2_bytes = [&](char const* device) {
    return model::queue::Kernel(k).explain(database().find(device), no_launches()).l2_bytes;
  };
  CHECK(l2_bytes("v100") == 0);
  k.group.local_stores = "4/16/4:75";
  for (auto const* const device : {"v100", "rtx3080", "h100", "mi210"})
    CHECK(l2_bytes(device) == 75.0 * 16 * 32 * 1000);
  for (auto const* const device : {"gtx1080", "k40"}) CHECK(l2_bytes(device) == 0);
}

TEST_CASE("without a second level each group fetches for itself") {
  auto k = stream_kernel(1000);
  k.group.load_sectors = "all:32", k.group.load_lines = "all:8";  // all groups load the same
  k.global_footprint_bytes = 1024 + 1024.0 * 1000;
  auto const dram = [&](char const* device) {
    return model::queue::Kernel(k).explain(database().find(device), no_launches()).dram_bytes;
  };
  CHECK(dram("c1060") == Approx(2048.0 * 1000));
  CHECK(dram("gtx580") == Approx(1024 + 1024.0 * 1000));
}

TEST_CASE("words apart take AMD's load unit four lanes at a time: RRZE-HPC/gpu-benches gpu-strides of an MI210") {
  auto const& d = database().find("mi210");
  auto const clocks = [&](char const* request) {
    auto k = stream_kernel(1000);
    k.group.store_requests = "", k.group.load_requests = std::string(request) + ":1000";
    return model::queue::Kernel(k).explain(d, no_launches()).stations[record::Station::lsu] * *d.clock_hz / 1000;
  };
  CHECK(clocks("1/4/1") == Approx(2.18).epsilon(0.1));      // words next to each other
  CHECK(clocks("2/8/2") == Approx(8.1).epsilon(0.05));      // of 8 bytes
  CHECK(clocks("8/32/8") == Approx(32.2).epsilon(0.05));    // at a distance of 8
  CHECK(clocks("16/32/16") == Approx(32.2).epsilon(0.05));  // of 16
  CHECK(clocks("32/32/32") == Approx(32.2).epsilon(0.05));  // of 32
  CHECK(clocks("9/32/1") == Approx(14.1).epsilon(0.2));     // of 9
  CHECK(clocks("3/12/1") == Approx(8.1).epsilon(0.05));     // of 3
  CHECK(clocks("5/20/1") == Approx(14.1).epsilon(0.1));     // of 5
}

TEST_CASE("shared memory whose measured rates contradict each other is as slow as the slower one") {
  auto d = database().find("gtx980");
  auto k = group_kernel(16000);
  k.shared_bytes = 1024;
  k.group.shared_requests = 100;
  auto const before = model::queue::Kernel(k).explain(d, no_launches());
  d.highest_shared_read_bytes_per_s = 2e12, d.highest_shared_write_bytes_per_s = 1.1e12;
  CHECK(model::queue::Kernel(k).explain(d, no_launches()).stations[record::Station::shared] ==
        before.stations[record::Station::shared]);
  d.highest_shared_write_bytes_per_s = 0.5e12;
  auto const after = model::queue::Kernel(k).explain(d, no_launches());
  CHECK(after.stations[record::Station::shared] == Approx(4 * before.stations[record::Station::shared]));
  CHECK(after.projection.reason.find("contradict") != std::string::npos);
  CHECK(database().find("firepro-w9100").shared_slowdown() > 4);
  for (auto const& other : database().devices())
    if (other.device != "firepro-w9100") CHECK(other.shared_slowdown() == 1);
}

TEST_CASE("what the last-level cache holds moves at its rate, not memory's") {
  auto d = database().find("mi300x");
  auto k = stream_kernel(65536);  // 128 MiB: beyond the second level, within the last
  auto warm = no_launches();
  warm.caches = model::queue::Caches::warm;
  auto const held = model::queue::Kernel(k).explain(d, warm);
  d.l3_bytes.reset();
  auto const not_held = model::queue::Kernel(k).explain(d, warm);
  CHECK(held.queue < not_held.queue);
  CHECK(held.queue > held.l2_bytes / *d.l3_bandwidth_bytes_per_s * 0.99);
  CHECK(not_held.queue > not_held.dram_bytes / *d.measured_bandwidth_bytes_per_s * 0.99);
}

TEST_CASE("a histogram that is none is refused with its place") {
  auto k = stream_kernel(10);
  std::string const column = GENERATE("group_reuse", "group_phases", "group_load_unions", "group_shared_stores",
                                      "touched_before", "matrix_flop");
  std::map<std::string, std::string*> const cells{{"group_reuse", &k.group.reuse},
                                                  {"group_phases", &k.group.phases},
                                                  {"group_load_unions", &k.group.load_unions},
                                                  {"group_shared_stores", &k.group.shared_stores},
                                                  {"touched_before", &k.touched_before},
                                                  {"matrix_flop", &k.matrix_flop}};
  *cells.at(column) = "3:x";
  std::istringstream in(record::rows_text<record::Kernel>({k}));
  csv::Reader csv(in, "k.csv");
  record::Reader<record::Kernel> rows(csv);
  record::Kernel row;
  REQUIRE(rows.next(row));
  CHECK_THROWS_WITH(model::queue::Kernel::check(rows, row), Catch::Contains(fmt::format("column '{}'", column)));
}

TEST_CASE("every GPU of the database has a time or a reason") {
  auto const k = stream_kernel(1000);
  model::queue::Kernel const ready(k);
  for (auto const& d : database().devices()) {
    if (!device::is_gpu(d)) continue;
    auto const p = ready.project(d);
    INFO(d.device);
    CHECK((p.time_s.has_value() || !p.reason.empty()));
    if (p.time_s) CHECK((*p.time_low_s <= *p.time_s && *p.time_s <= *p.time_high_s));
  }
}

TEST_CASE("each constant has a name of its own, a value and a source") {
  for (auto const& c : record::queue_constants) {
    INFO(c.name);
    CHECK(Constants{}.*c.value >= 0);
    CHECK(!c.source.empty());
    CHECK(std::ranges::count(record::queue_constants, c.name, &record::QueueConstant::name) == 1);
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (auto const& own : database().constants()) {
    INFO(own.target << "." << own.constant);
    CHECK(own.source.size() > 10);
    CHECK(seen.insert({own.target, own.constant}).second);
    CHECK(std::ranges::count(database().devices(), own.target, &device::Device::target) > 0);
  }
}

TEST_CASE("constants of an architecture that are latgap.csv's are as there") {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/devdb/latgap.csv");
  auto const rows = record::read_rows<record::LatencyGap>(in, "latgap.csv");
  std::size_t checked = 0;
  for (auto const& own : database().constants()) {
    if (!own.source.starts_with("latgap.csv ")) continue;
    INFO(own.target << "." << own.constant << ": " << own.source);
    CHECK(std::ranges::any_of(rows, [&](auto const& row) {
      return row.class_name == own.source.substr(11) && row.latency_cycles == own.value;
    }));
    ++checked;
  }
  CHECK(checked > 15);
}
