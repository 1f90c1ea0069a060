// Projections of three kernels of SHOC beside what SHOC published of 17 GPUs.
//
// Reads what `make -C bench-suites/papers/shoc` has left in KERNELCAST_SHOC_RESULTS. The selection penalty and the
// relative error are computed here a second time, from the projections and measured.csv, and compared with rank's; then
// held against the trivial rankings. What the model misses is described in the suite's README.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "catch.hpp"

namespace {

std::string const results = KERNELCAST_SHOC_RESULTS "/";
std::string const measured_file = KERNELCAST_SOURCE_DIR "/bench-suites/papers/shoc/measured.csv";
std::vector<std::string> const single{"reduction_sp", "stencil2d_sp", "gemm_sp"};
std::vector<std::string> const all{"reduction_sp", "stencil2d_sp", "gemm_sp",
                                   "reduction_dp", "stencil2d_dp", "gemm_dp"};
std::vector<std::string> const doubted{"hd7970", "firepro-w9100"};

using Row = std::map<std::string, std::string>;

std::vector<Row> read(std::string const& path) {
  std::ifstream file(path);
  INFO(path);
  REQUIRE(file.good());
  kernelcast::csv::Reader rows(file, path);
  std::vector<Row> out;
  while (rows.next()) {
    Row row;
    for (std::size_t i = 0; i < rows.header().size(); ++i) row[rows.header()[i]] = rows[i];
    out.push_back(std::move(row));
  }
  return out;
}

using Times = std::map<std::string, double>;

struct Case {
  Times measured, projected;
};

Case compare(std::string const& name, std::vector<std::string> const& without = {}) {
  Case out;
  auto const wanted = [&](Row const& row) {
    return std::find(without.begin(), without.end(), row.at("device")) == without.end();
  };
  for (auto const& row : read(measured_file))
    if (row.at("case") == name + "_s4" && wanted(row)) out.measured[row.at("device")] = std::stod(row.at("time_s"));
  for (auto const& row : read(results + "published/" + name + ".csv"))
    if (wanted(row)) {
      INFO(row.at("device") << ": " << row.at("reason"));
      REQUIRE(row.at("status") == "ok");
      out.projected[row.at("device")] = std::stod(row.at("time_s"));
    }
  REQUIRE(out.measured.size() > 10);
  REQUIRE(out.measured.size() == out.projected.size());
  return out;
}

double norm(Times const& times) {
  double sum = 0;
  for (auto const& [device, t] : times) sum += t * t;
  return std::sqrt(sum);
}

// [panwar] V: of unit vectors, divided by the square root of 2; in percent.
double relative_error_pct(Case const& c) {
  double sum = 0;
  for (auto const& [device, t] : c.measured) {
    double const difference = t / norm(c.measured) - c.projected.at(device) / norm(c.projected);
    sum += difference * difference;
  }
  return 100 * std::sqrt(sum / 2);
}

double penalty_pct(Case const& c) {
  auto const less = [](auto const& a, auto const& b) { return a.second < b.second; };
  auto const chosen = std::min_element(c.projected.begin(), c.projected.end(), less)->first;
  double const best = std::min_element(c.measured.begin(), c.measured.end(), less)->second;
  return 100 * (c.measured.at(chosen) / best - 1);
}

struct Summary {
  double penalty_pct = 0, error_pct = -1;
};

// What rank says: [model] of "all" devices or "without …".
std::map<std::string, Summary> summary(std::string const& of, bool all_devices) {
  std::map<std::string, Summary> out;
  for (auto const& row : read(results + "summary.csv")) {
    if (row.at("of") != of || (row.at("devices") == "all") != all_devices) continue;
    auto const& error = row.at("mean_relative_error_pct");
    out[row.at("model")] = {std::stod(row.at("mean_selection_penalty_pct")), error.empty() ? -1 : std::stod(error)};
  }
  REQUIRE(out.size() == 4);
  return out;
}

}  // namespace

TEST_CASE("rank's summary is what the definitions give") {
  for (auto const& without : {std::vector<std::string>{}, doubted}) {
    for (auto const& name : all) {
      INFO(name << " without " << without.size());
      auto const c = compare(name, without);
      auto const said = summary(name, without.empty()).at("panwar");
      CHECK(said.penalty_pct == Approx(penalty_pct(c)).margin(0.051));
      CHECK(said.error_pct == Approx(relative_error_pct(c)).margin(0.051));
    }
    double penalty = 0, error = 0;
    for (auto const& name : single) {
      penalty += penalty_pct(compare(name, without)) / 3;
      error += relative_error_pct(compare(name, without)) / 3;
    }
    auto const total = summary("total_sp", without.empty()).at("panwar");
    CHECK(total.penalty_pct == Approx(penalty).margin(0.051));
    CHECK(total.error_pct == Approx(error).margin(0.051));
  }
}

TEST_CASE("the model is better than the trivial rankings") {
  for (auto const& of : {"reduction_sp", "stencil2d_sp", "gemm_sp", "total_sp", "total_dp"})
    for (bool const all_devices : {true, false}) {
      auto const s = summary(of, all_devices);
      INFO(of << (all_devices ? ", all devices" : ", without two"));
      for (char const* trivial : {"trivial:peak_flops", "trivial:peak_bandwidth"})
        CHECK(s.at("panwar").error_pct < s.at(trivial).error_pct);
    }
  for (char const* of : {"total_sp", "total_dp"}) {
    auto const total = summary(of, true);
    for (char const* trivial : {"trivial:peak_flops", "trivial:peak_bandwidth"})
      CHECK(total.at("panwar").penalty_pct < total.at(trivial).penalty_pct);
  }
}

TEST_CASE("relative errors of the three kernels") {
  // The goal is 10 %. All devices together miss it by the HD 7970, whose published reduction contradicts its own
  // published bandwidth: see the README.
  CHECK(relative_error_pct(compare("gemm_sp")) < 10);
  CHECK(summary("total_sp", false).at("panwar").error_pct < 10);
  CHECK(summary("total_sp", true).at("panwar").error_pct < 14);
}

TEST_CASE("measured.csv holds what SHOC published") {
  std::string const path = KERNELCAST_SHARED_DATA "/data/shoc_reduction_stencil_sgemm.csv";
  if (!std::ifstream(path)) {
    std::cout << "kernelcast-skipped: no " << path << "\n";
    return;
  }
  std::map<std::string, std::string> const columns{
      {"reduction_sp_s4", "reduction_gb_per_s"},    {"reduction_dp_s4", "reduction_dp_gb_per_s"},
      {"stencil2d_sp_s4", "stencil2d_gflop_per_s"}, {"stencil2d_dp_s4", "stencil2d_dp_gflop_per_s"},
      {"gemm_sp_s4", "sgemm_gflop_per_s"},          {"gemm_dp_s4", "dgemm_gflop_per_s"}};
  double const n = 4096;
  std::map<std::string, double> const work{{"reduction_sp_s4", 64 * 1048576.0}, {"reduction_dp_s4", 64 * 1048576.0},
                                           {"stencil2d_sp_s4", 11e3 * n * n},   {"stencil2d_dp_s4", 11e3 * n * n},
                                           {"gemm_sp_s4", 2 * n * n * n},       {"gemm_dp_s4", n * n * n / 4}};
  auto const published = read(path);
  for (auto const& row : read(measured_file)) {
    INFO(row.at("case") << " on " << row.at("device"));
    auto const found = std::find_if(published.begin(), published.end(), [&](Row const& p) {
      return p.at("device") == row.at("shoc_device") && p.at("platform") == row.at("shoc_platform");
    });
    REQUIRE(found != published.end());
    CHECK(row.at("published") == found->at(columns.at(row.at("case"))));
    CHECK(std::stod(row.at("work")) == work.at(row.at("case")));
    CHECK(std::stod(row.at("time_s")) ==
          Approx(work.at(row.at("case")) / std::stod(row.at("published")) / 1e9).epsilon(1e-6));
    CHECK(row.at("unit") == (row.at("case").rfind("reduction", 0) == 0 ? "GB/s" : "GFLOPS"));
  }
}
