// A schedule as a Chrome trace, the JSON that Perfetto (ui.perfetto.dev), chrome://tracing and Speedscope open.
//
// Problem: simulators record what ran where and when; users need to see it.
// Method: complete events ("ph":"X") of the Trace Event Format, written as they come: memory does not grow with the
// schedule. A process is a device or compute unit, a thread one of its lanes: a warp slot, a copy engine, a link.
// Limits: times are microseconds, as the format wants; a simulator that counts cycles passes cycles and says so in the
// names, since the format has no other unit.
//
//   timeline::ChromeTrace trace(stream);
//   trace.name_process(0, "gpu0");
//   trace.name_thread(0, 2, "copy engine");
//   trace.span(0, 2, "halo", start_us, duration_us, {{"bytes", "65536"}});
//   trace.finish();
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelcast::timeline {

using Arguments = std::vector<std::pair<std::string_view, std::string>>;  // shown when a span is selected

class ChromeTrace {
 public:
  explicit ChromeTrace(std::ostream&);

  void name_process(std::uint64_t process, std::string_view name);
  void name_thread(std::uint64_t process, std::uint64_t thread, std::string_view name);

  // Something that lasts. Start and duration are finite, the duration is not negative.
  void span(std::uint64_t process, std::uint64_t thread, std::string_view name, double start_us, double duration_us,
            Arguments const& = {});
  // A value over time, drawn as an area below the process.
  void counter(std::uint64_t process, std::string_view name, double at_us, double value);

  // Ends the file; without it the JSON is cut. Failures of the stream are the caller's to see.
  void finish();

 private:
  void begin(char phase, std::uint64_t process, std::uint64_t thread, std::string_view name);

  std::ostream* out_;
  std::string line_;
  bool first_ = true;
};

}  // namespace kernelcast::timeline
