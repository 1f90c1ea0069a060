// The database's systems and applications: each loads, and every figure has a source or is marked as assumed.
#include <filesystem>

#include "boxes.hpp"
#include "catch.hpp"

using namespace kernelcast;

TEST_CASE("devdb: every link has a source or says what is assumed") {
  std::size_t systems = 0;
  for (auto const& entry : std::filesystem::directory_iterator(KERNELCAST_SOURCE_DIR "/devdb/systems")) {
    auto const system = test::box(entry.path().stem().string());
    ++systems;
    for (auto const& link : system.links()) {
      INFO(system.name() << ": " << link.link);
      CHECK_FALSE((link.source.empty() && link.assumed.empty()));
      CHECK(link.bandwidth_bytes_per_s >= 1e9);
      CHECK(link.bandwidth_bytes_per_s <= 1e12);
    }
  }
  CHECK(systems >= 10);
  // The thesis prints no bandwidths.
  for (auto const* name : {"octane", "victoria", "brook"}) {
    auto const system = test::box(name);
    for (auto const& link : system.links()) CHECK(link.assumed.find("bandwidth_bytes_per_s") != std::string::npos);
  }
  CHECK(test::box("octane").gpu_count() == 4);
  CHECK(test::box("victoria").gpu_count() == 16);
  CHECK(test::box("brook").gpu_count() == 8);
  CHECK(test::box("brook").host_count() == 1);
}

TEST_CASE("devdb: applications split as [braun] does") {
  std::string misfit;
  auto const g = test::application("matmul").graph(6000, 6, 100, misfit);
  CHECK(g.part_rows == 2);
  CHECK(g.part_columns == 3);
  CHECK(g.tasks.size() == 6 * 4);
  CHECK(test::application("stencil").graph(6000, 7, 2, misfit).part_rows == 1);
  auto const bodies = test::application("nbody").graph(6000, 4, 3, misfit);
  CHECK(bodies.tasks.size() == 4 * 2 + 3 * 4 + 2 * 12 + 4);
  CHECK(bodies.operations(3) == 3 * 20.0 * 6000 * 6000);
  test::application("stencil").graph(3, 7, 2, misfit);
  CHECK(misfit.find("n = 3 is too small for 1 x 7 parts") == 0);
}
