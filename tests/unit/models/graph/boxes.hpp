// Systems and applications of the database, for the tests of this folder.
#pragma once

#include <fstream>
#include <numeric>
#include <string>

#include "devdb.hpp"
#include "models/graph/choose.hpp"
#include "models/graph/system_file.hpp"

namespace kernelcast::test {

inline graph::Interconnect box(std::string const& name) {
  std::string const path = KERNELCAST_SOURCE_DIR "/devdb/systems/" + name + ".csv";
  std::ifstream in(path);
  return graph::read_system_file(path, in);
}

inline graph::Application application(std::string const& name) {
  return graph::read_application(KERNELCAST_SOURCE_DIR "/devdb/applications/" + name + ".toml");
}

inline device::Device const& gpu(char const* name) {
  return database().find(name);
}

inline std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> map(count);
  std::iota(map.begin(), map.end(), 0);
  return map;
}

inline record::Link link(std::string name, std::string from, std::string to, double bytes_per_s, bool shared = false,
                         double latency_s = 0) {
  return {
      std::move(name), std::move(from), std::move(to), bytes_per_s, latency_s, shared ? "shared" : "full", "", "", ""};
}

inline graph::Interconnect made_of(std::vector<record::Link> links) {
  std::vector<Where> const where(links.size(), Where{"made.csv", 1, 1});
  return graph::Interconnect("made", std::move(links), where);
}

}  // namespace kernelcast::test
