#include "runtimes/choose/vendors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/names.hpp"
#include "base/diag/text.hpp"
#include "records/table/table.hpp"

namespace kernelcast::choose {

namespace {

using KernelCase = std::pair<std::string, std::string>;
// Rows of a kernel and case, in order, without what the rest of the application has allocated, and without those of
// machine code, which are another view of the same launches.
using Texts = std::map<KernelCase, std::vector<std::string>>;

KernelCase key_of(record::Kernel const& kernel) {
  return {kernel.kernel, kernel.case_name};
}

Texts texts_of(VendorRun const& run) {
  Texts out;
  for (auto kernel : run.kernels) {
    if (!kernel.target.empty()) continue;
    kernel.allocated_bytes.reset();
    out[key_of(kernel)].push_back(record::rows_text(std::vector{kernel}));
  }
  return out;
}

// "; AMD's launches differ from NVIDIA's: dot and 2 more".
std::string difference(VendorRun const& run, Texts const& texts, VendorRun const& first, Texts const& of_first) {
  if (run.kernels.empty())
    return fmt::format("; as {} it launched nothing (status {}): {}'s devices are left out", run.device, run.status,
                       run.vendor);
  std::set<std::string> names;
  std::set<KernelCase> keys;
  for (auto const* const one : {&texts, &of_first})
    for (auto const& [key, rows] : *one) keys.insert(key);
  for (auto const& key : keys) {
    auto const here = texts.find(key), there = of_first.find(key);
    if (here == texts.end() || there == of_first.end() || here->second != there->second)
      names.insert(name_in_source(key.first));
  }
  auto const ended = run.status == first.status ? "" : fmt::format(" (status {})", run.status);
  if (names.empty()) return fmt::format("; {}'s launches are {}'s{}", run.vendor, first.vendor, ended);
  auto out = fmt::format("; {}'s launches{} differ from {}'s in {}", run.vendor, ended, first.vendor, *names.begin());
  if (auto const others = names.size() - 1; others > 0)
    out += fmt::format(" and {} other{}", others, others > 1 ? "s" : "");
  return out;
}

// Without what differs from run to run: processes by their order, and the host's time.
std::string text_of(std::vector<record::Command> commands) {
  std::map<std::string, std::size_t> processes;
  for (auto& command : commands) {
    auto const number = processes.try_emplace(command.process, processes.size()).first->second;
    command.process = fmt::format("{}", number);
    command.host_s = 0;
  }
  return record::rows_text(commands);
}

}  // namespace

ByVendor by_vendor(std::vector<VendorRun> const& runs) {
  std::vector<VendorRun const*> ran;
  std::vector<Texts> texts;
  for (auto const& run : runs) {
    if (run.kernels.empty()) continue;
    ran.push_back(&run);
    texts.push_back(texts_of(run));
  }
  ByVendor out;
  std::vector<std::string> names;
  for (auto const& run : runs) names.push_back(run.device);
  out.said = fmt::format("run as {}", fmt::join(names, ", "));
  if (ran.empty()) return out;
  auto const is_of_machine = [](record::Kernel const& kernel) { return !kernel.target.empty(); };
  bool const has_machine_code =
      std::ranges::any_of(ran, [&](auto const* run) { return std::ranges::any_of(run->kernels, is_of_machine); });
  auto const is_shared = [&](KernelCase const& key) {
    return ran.size() == runs.size() && std::ranges::all_of(texts, [&](Texts const& other) {
             Texts::const_iterator const at = other.find(key), first = texts.front().find(key);
             return at != other.end() && first != texts.front().end() && at->second == first->second &&
                    (!has_machine_code || at->second.size() == 1);
           });
  };
  bool const same_commands = ran.size() == runs.size() && std::ranges::all_of(ran, [&](auto const* run) {
                               return text_of(run->commands) == text_of(ran.front()->commands);
                             });
  for (auto const* const run : same_commands ? std::vector{ran.front()} : ran)
    for (auto command : run->commands) {
      if (!same_commands) command.runs_on = run->vendor;
      out.commands.push_back(std::move(command));
    }
  std::map<KernelCase, std::optional<std::uint64_t>> most;
  for (auto const* const run : ran)
    for (auto const& kernel : run->kernels)
      most[key_of(kernel)] = std::max(most[key_of(kernel)], kernel.allocated_bytes);
  for (std::size_t i = 0; i < ran.size(); ++i)
    for (auto kernel : ran[i]->kernels) {
      auto const key = key_of(kernel);
      bool const shared = is_shared(key);
      if (shared && i > 0) continue;
      if (shared)
        kernel.allocated_bytes = most[key];
      else
        kernel.runs_on = ran[i]->vendor;
      out.kernels.push_back(std::move(kernel));
      for (std::size_t other = 1; shared && other < ran.size(); ++other)  // beside the row of the same launches
        for (auto const& of_machine : ran[other]->kernels)
          if (is_of_machine(of_machine) && key_of(of_machine) == key) out.kernels.push_back(of_machine);
    }
  bool const all_equal = ran.size() == runs.size() &&
                         std::ranges::all_of(texts, [&](Texts const& other) { return other == texts.front(); });
  if (all_equal) {
    out.said += ", with equal launches";
    return out;
  }
  std::size_t of_ran = 0;
  for (auto const& run : runs) {
    auto const at = run.kernels.empty() ? Texts{} : texts[of_ran++];
    if (&run != ran.front()) out.said += difference(run, at, *ran.front(), texts.front());
  }
  return out;
}

}  // namespace kernelcast::choose
