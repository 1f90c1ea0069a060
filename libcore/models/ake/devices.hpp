// A trace on several devices at once: each launch is read once and emulated on all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "models/ake/projection.hpp"
#include "models/ake/timeline.hpp"
#include "records/device/device.hpp"
#include "records/table/selection.hpp"
#include "records/trace_stream.hpp"

namespace kernelcast::model::ake {

// latgap.csv and latgap_fallbacks.csv. Throws Error(bad_data) with the place for an unknown class or quantity.
LatencyTable read_latencies(csv::Reader& figures, csv::Reader& fallbacks);
// issue.csv. Throws Error(bad_data) with the place for a name that is not known.
void read_issuing(csv::Reader& rules, LatencyTable&);
// Those of a device database, issue.csv where present; `open` reads a file of it.
LatencyTable read_latencies(std::string const& database, std::function<csv::Reader(std::string const&)> const& open);

class Devices {
 public:
  // The named devices; when there are none, every GPU whose latencies are known. With simulated caches a trace is used
  // up to `neighbours` times the resident groups. Throws Error(unavailable) for an unknown name. With `only`, which
  // must outlive this, the kernels and cases that it has on its devices; it names the devices where `names` does not.
  Devices(device::DeviceDatabase const&, std::vector<std::string> const& names, LatencyTable const&, Options const&,
          std::size_t neighbours, record::Selection const* only = nullptr);

  // Emulates a trace; rows in the order of the kernels, the devices of each in that of the database. `timeline` may be
  // nullptr; `begins` is called while the trace's row of a launch is the current one. Throws what LaunchReader throws.
  void emulate(record::TraceStream&, Timeline* timeline, std::function<void(record::Trace const&)> const& begins,
               std::function<void(record::Emulation const&)> const& visit);

 private:
  bool takes(record::Trace const& launch, Projector const&) const;
  std::size_t groups_needed(record::Trace const& launch) const;

  std::vector<Projector> projectors_;
  std::size_t neighbours_;
  record::Selection const* only_;
};

}  // namespace kernelcast::model::ake
