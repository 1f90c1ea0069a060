#include "runtimes/cudart/library_calls.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/launch.hpp"

namespace kernelcast::cudart {

namespace {

constexpr std::uint64_t too_large = std::numeric_limits<std::uint64_t>::max();

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? too_large : out;
}

// A call and what it stands on, which last until it has run.
struct Described {
  explicit Described(std::function<void(LibraryCall&)> given) : describe(std::move(given)) { describe(call); }
  std::function<void(LibraryCall&)> describe;
  LibraryCall call;
};

bool all_there(LibraryCall const& made, Allocations const& allocations) {
  for (auto const& operand : made.operands)
    if (operand.extent_bytes > 0 && !allocations.holds(operand.begin, operand.extent_bytes)) {
      report(fmt::format("{}: {} ({} bytes at {}) does not lie in the memory of the device", made.kernel, operand.name,
                         operand.extent_bytes, operand.begin));
      return false;
    }
  return true;
}

Code run(std::function<void(LibraryCall&)> const& describe) {
  return call([&](Allocations& allocations, Commands& commands, Launcher& launcher, Timeline& timeline) {
    auto const described = std::make_shared<Described>(describe);
    auto const& made = described->call;
    if (!made.work) return Code::success;  // of nothing: no kernel would run
    if (!all_there(made, allocations)) return Code::illegal_address;
    launcher.run_library(made, [described] { described->call.work(); });
    auto const configuration = launcher.library_called(made);
    commands.called(configuration, made);
    ++timeline.usage().library_calls;
    if (configuration) timeline.kernel(nullptr, made.kernel, made.case_name, 0, true);
    return Code::success;
  });
}

}  // namespace

void LibraryCall::matrix(std::string_view name, void const* begin, std::uint64_t size, std::uint64_t rows,
                         std::uint64_t columns, std::uint64_t leading, bool read, bool written) {
  if (rows == 0 || columns == 0) return;
  auto const before = product(columns - 1, leading);
  auto const elements = before > too_large - rows ? too_large : before + rows;
  operands.push_back({name, begin, product(elements, size), product(product(rows, columns), size), read, written});
}

Code library_call(Stream stream, std::function<void(LibraryCall&)> describe) {
  return on_stream(stream, NodeType::kernel, [describe = std::move(describe)] { return run(describe); });
}

Code collective_call(std::vector<Participant> const& all, LibraryCall const& made, double bytes, std::size_t of) {
  return call([&](Allocations& allocations, Graphs& graphs, Launcher& launcher, Timeline& timeline) {
    for (auto const& one : all)
      if (graphs.capture_of(one.stream)) {
        report(fmt::format("{}: operations of several devices are not captured into graphs", made.kernel));
        return Code::stream_capture_unsupported;
      }
    if (!all_there(made, allocations)) return Code::illegal_address;
    launcher.run_library(made, made.work);
    if (all.empty()) return Code::success;
    ++timeline.usage().library_calls;
    timeline.collective(all, made.kernel, bytes, std::max(of, all.size()));
    return Code::success;
  });
}

void library_lacks(std::string_view library, std::string_view call, std::string_view what) {
  report(what.empty() ? fmt::format("{} is not in the {} of the emulator", call, library)
                      : fmt::format("{}: the {} of the emulator has no {}", call, library, what));
}

bool device_holds(void const* pointer, std::uint64_t bytes) {
  return locked([&](Allocations& allocations) { return allocations.holds(pointer, bytes); });
}

}  // namespace kernelcast::cudart
