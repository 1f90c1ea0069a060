// A trace into akemu's model. The first byte chooses the options of the model.
#include <fstream>

#include "base/csv/csv.hpp"
#include "fuzz.hpp"
#include "models/ake/devices.hpp"
#include "records/device/device.hpp"

namespace kernelcast::fuzz {

namespace ake = model::ake;

namespace {

ake::LatencyTable latencies() {
  std::ifstream figures(small_database() + "/latgap.csv"), fallbacks(small_database() + "/latgap_fallbacks.csv"),
      rules(small_database() + "/issue.csv");
  csv::Reader one(figures, "latgap.csv"), two(fallbacks, "latgap_fallbacks.csv"), three(rules, "issue.csv");
  auto out = ake::read_latencies(one, two);
  ake::read_issuing(three, out);
  return out;
}

ake::Options options_of(unsigned bits) {
  ake::Options out;
  out.scheduler = bits & 1 ? ake::Scheduler::rr : bits & 2 ? ake::Scheduler::two_level : ake::Scheduler::gto;
  out.dual_issue = (bits & 4) != 0;
  if (bits & 8) out.memory.kind = ake::MemoryMode::Kind::none;
  out.memory.warm = (bits & 16) != 0;
  out.replace = (bits & 32) != 0;
  out.list_order = (bits & 64) == 0;
  return out;
}

}  // namespace

void run_input(std::string_view input) {
  static auto const database = once([] { return device::load(small_database()); });
  static auto const table = once(latencies);
  if (input.empty()) return;
  TextStream in(input.substr(1));
  csv::Reader csv(in, "fuzz.csv");
  record::TraceStream rows(csv);
  ake::Devices devices(database, {"k20"}, table, options_of(static_cast<unsigned char>(input.front())), 2);
  devices.emulate(rows, nullptr, [](record::Trace const&) {}, [](record::Emulation const&) {});
}

}  // namespace kernelcast::fuzz
