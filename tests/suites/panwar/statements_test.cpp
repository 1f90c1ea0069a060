// Section V of [panwar], statement by statement, as far as limiters, transactions and rankings decide it.
//
// Reads the records that `make -C bench-suites/papers/panwar quick` has left in KERNELCAST_PANWAR_RESULTS: kernels and
// projections of the eight workloads, one group emulated ("first") and all groups ("all"), both with the doubtful
// bandwidths of local memory, and one group without them ("sound"). Where this reproduction differs from the paper, the
// test holds what ours gives and the suite's README says why.
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "records/kernel.hpp"
#include "records/projection.hpp"
#include "records/table/table.hpp"

using kernelcast::record::Kernel;
using kernelcast::record::Limiter, kernelcast::record::LimiterName;
using kernelcast::record::Projection;

namespace {

std::vector<std::string> const workloads{"fast_walsh", "floyd_warshall", "matmul_gmem", "nbody",
                                         "aes",        "reduction",      "matmul_lmem", "transpose"};
std::vector<std::string> const gpus{"c1060", "c2050", "hd5870", "hd7970"};
std::vector<std::string> const modes{"first", "all"};

template <class R>
std::vector<R> read(std::string const& name) {
  std::string const path = KERNELCAST_PANWAR_RESULTS "/" + name + ".csv";
  std::ifstream file(path);
  INFO(path);
  REQUIRE(file.good());
  return kernelcast::record::read_rows<R>(file, path);
}

std::map<std::string, Kernel> kernels(std::string const& mode) {
  std::map<std::string, Kernel> result;
  for (auto const& row : read<Kernel>("kernels." + mode)) result[row.case_name] = row;
  REQUIRE(result.size() == workloads.size());
  return result;
}

struct Cast {
  double time_s = 0;
  LimiterName limiter;
  double compute_s = 0, global_s = 0, shared_s = 0;
};

// [workload][device]
std::map<std::string, std::map<std::string, Cast>> casts(std::string const& mode) {
  std::map<std::string, std::map<std::string, Cast>> result;
  for (auto const& row : read<Projection>("projections." + mode)) {
    INFO(row.case_name << " on " << row.device << ": " << row.reason);
    REQUIRE(row.status == kernelcast::record::RowStatus::ok);
    result[row.case_name][row.device] = {row.time_s.value(), row.limiter, row.t_compute_s.value(),
                                         row.t_global_s.value(), row.t_shared_s.value()};
  }
  REQUIRE(result.size() == workloads.size());
  for (auto const& [workload, devices] : result) REQUIRE(devices.size() == gpus.size());
  return result;
}

double total(std::array<double, 3> const& values) {
  return values[0] + values[1] + values[2];
}

// Figure 5's quantity: half-warp segments on the C1060, lines of 128 bytes per warp on the C2050.
double transactions_c1060(Kernel const& k) {
  return total(k.global_load_cc13) + total(k.global_store_cc13);
}
double transactions_c2050(Kernel const& k) {
  return k.global_load_tx[1][2] + k.global_store_tx[1][2];
}

}  // namespace

TEST_CASE("Counts of the eight workloads are what their algorithms must give") {
  for (auto const& mode : modes) {
    auto const k = kernels(mode);
    INFO("groups " << mode);
    double const n = 1024, bodies = 32768, nodes = 192, length = 1048576;

    CHECK(k.at("fast_walsh").launches == 20);
    CHECK(k.at("fast_walsh").groups_total == 20 * 2048);
    CHECK(k.at("fast_walsh").global_load_bytes == 20 * 4 * length);
    CHECK(k.at("fast_walsh").global_store_bytes == 20 * 4 * length);

    CHECK(k.at("floyd_warshall").launches == 192);
    CHECK(k.at("floyd_warshall").groups_total == 192 * 144);
    CHECK(k.at("floyd_warshall").global_load_bytes == 3 * 4 * nodes * nodes * nodes);

    for (char const* matmul : {"matmul_gmem", "matmul_lmem"}) {
      CHECK(k.at(matmul).groups_total == 1024);
      CHECK(k.at(matmul).global_store_bytes == 4 * n * n);
    }
    // A work-item reads four rows of a and four of b per step of four; through local memory a's come once per group.
    CHECK(k.at("matmul_gmem").global_load_bytes == (n / 4) * (n / 4) * (n / 4) * 8 * 16);
    CHECK(k.at("matmul_lmem").global_load_bytes == (n / 4) * (n / 4) * (n / 4) * (4 + 4 / 8.0) * 16);
    CHECK(k.at("matmul_lmem").shared_load_bytes == (n / 4) * (n / 4) * (n / 4) * 4 * 16);
    CHECK(k.at("matmul_lmem").barriers == 1024 * 2 * 32);

    CHECK(k.at("reduction").global_load_bytes == 4 * length);
    CHECK(k.at("reduction").global_store_bytes == 512 * 16);
    CHECK(k.at("reduction").barriers == 512 * 9);

    CHECK(k.at("nbody").global_load_bytes == bodies * 16 * (2 + 128));
    CHECK(k.at("nbody").shared_load_bytes == bodies * bodies * 16);
    CHECK(k.at("nbody").inst[kernelcast::record::InstructionClass::special] ==
          2 * bodies * bodies);  // one square root and one reciprocal per pair

    CHECK(k.at("aes").groups_total == 49152);
    CHECK(k.at("aes").global_store_bytes == 786432);

    CHECK(k.at("transpose").global_load_bytes == 4 * n * n);
    CHECK(k.at("transpose").global_store_bytes == 4 * n * n);
    CHECK(transactions_c2050(k.at("transpose")) == 2 * 4 * n * n / 128);  // coalesced both ways
    CHECK(k.at("transpose").barriers == 1024);
  }
}

// ---------------------------------------------------------------- V-A, Figure 3

TEST_CASE("V-A: the suite is a mix of compute and global memory bounds; local memory bounds one doubtful cell") {
  std::map<LimiterName, int> sound;
  for (auto const& [workload, devices] : casts("sound"))
    for (auto const& [device, cast] : devices) ++sound[cast.limiter];
  CHECK(sound == std::map<LimiterName, int>{{Limiter::compute, 10}, {Limiter::global, 22}});
  for (auto const& mode : modes) {
    std::vector<std::string> local;
    for (auto const& [workload, devices] : casts(mode))
      for (auto const& [device, cast] : devices)
        if (cast.limiter == Limiter::shared) local.push_back(workload + " on " + device);
    CHECK(local == std::vector<std::string>{"transpose on c2050"});
  }
}

TEST_CASE("V-A: five applications keep their bound on all GPUs") {
  for (auto const& mode : modes) {
    auto const cast = casts(mode);
    for (auto const& gpu : gpus) {
      INFO("groups " << mode << " on " << gpu);
      CHECK(cast.at("fast_walsh").at(gpu).limiter == Limiter::global);
      CHECK(cast.at("matmul_gmem").at(gpu).limiter == Limiter::global);
      CHECK(cast.at("nbody").at(gpu).limiter == Limiter::compute);
      // Differs on the C2050: the README says why.
      if (gpu != "c2050") CHECK(cast.at("transpose").at(gpu).limiter == Limiter::global);
      // One group makes too few transactions, which leaves the C1060 at a tie.
      auto const& floyd_warshall = cast.at("floyd_warshall").at(gpu);
      if (mode == "all" || gpu != "c1060") CHECK(floyd_warshall.limiter == Limiter::global);
      CHECK(floyd_warshall.global_s > 0.9 * floyd_warshall.time_s);
    }
  }
}

TEST_CASE("V-A: the bound of matmul_lmem changes, and is local or global memory on the C1060") {
  for (auto const& mode : modes) {
    auto const cast = casts(mode).at("matmul_lmem");
    CHECK((cast.at("c1060").limiter == Limiter::shared || cast.at("c1060").limiter == Limiter::global));
    std::set<LimiterName> limiters;
    for (auto const& gpu : gpus) limiters.insert(cast.at(gpu).limiter);
    CHECK(limiters.size() > 1);
  }
}

TEST_CASE("V-A: AES is local memory or compute bound on the AMD GPUs") {
  for (auto const& mode : modes)
    for (char const* gpu : {"hd5870", "hd7970"}) {
      auto const limiter = casts(mode).at("aes").at(gpu).limiter;
      CHECK((limiter == Limiter::compute || limiter == Limiter::shared));
    }
}

// ---------------------------------------------------------------- V-B.1, Figures 4 and 5

TEST_CASE("V-B: for AES the model picks the HD 7970") {
  for (auto const& mode : modes) {
    auto const cast = casts(mode).at("aes");
    for (auto const& gpu : gpus) CHECK(cast.at("hd7970").time_s <= cast.at(gpu).time_s);
  }
}

TEST_CASE("V-B: one group and all groups give the same transactions, but for Floyd-Warshall") {
  auto const first = kernels("first"), all = kernels("all");
  for (auto const& workload : workloads) {
    double const c1060 = transactions_c1060(all.at(workload)) / transactions_c1060(first.at(workload));
    double const c2050 = transactions_c2050(all.at(workload)) / transactions_c2050(first.at(workload));
    INFO(workload << ": all over one " << c1060 << " on the C1060, " << c2050 << " on the C2050");
    if (workload != "floyd_warshall") {
      // AES looks its table up at addresses that depend on the data.
      CHECK(c1060 == Approx(1).margin(workload == "aes" ? 0.02 : 1e-12));
      CHECK(c2050 == Approx(1).margin(workload == "aes" ? 0.02 : 1e-12));
      continue;
    }
    CHECK(c2050 == Approx(1.10).margin(0.02));  // "10%"
    // The paper has 2.5 for the C1060. Three unconditional loads and at most two stores per work-item allow no more
    // than 5/3 in accesses: see the README.
    CHECK(c1060 > 1.05);
    CHECK(c1060 < 5.0 / 3);
  }
}

TEST_CASE("V-B: the mode changes relative performance of Floyd-Warshall alone") {
  auto const first = casts("first"), all = casts("all");
  for (auto const& workload : workloads) {
    // The paper's metric between the two projections: unit vectors of the times on the four GPUs.
    double norm_first = 0, norm_all = 0, distance = 0;
    for (auto const& gpu : gpus) {
      norm_first = std::hypot(norm_first, first.at(workload).at(gpu).time_s);
      norm_all = std::hypot(norm_all, all.at(workload).at(gpu).time_s);
    }
    for (auto const& gpu : gpus)
      distance = std::hypot(
          distance, first.at(workload).at(gpu).time_s / norm_first - all.at(workload).at(gpu).time_s / norm_all);
    double const difference_pct = 100 * distance / std::sqrt(2.0);
    INFO(workload << ": " << difference_pct << " %");
    if (workload == "floyd_warshall")
      CHECK(difference_pct > 1);
    else
      CHECK(difference_pct < 0.1);
  }
}
