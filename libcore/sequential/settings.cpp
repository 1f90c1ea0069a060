#include "sequential/settings.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/process/setting.hpp"

namespace kernelcast::seq {

namespace {

std::string variable(char const* name) {
  auto const* const value = setting(name);
  return value ? value : "";
}

// The arguments of this process, without its name, joined by blanks.
std::string own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto const first = text.find('\0');
  if (first == std::string::npos) return {};
  text.erase(0, first + 1);
  if (!text.empty()) text.pop_back();
  for (auto& c : text)
    if (c == '\0') c = ' ';
  return text;
}

}  // namespace

Settings settings_from_environment() {
  Settings out;
  out.output = variable(variables::seqprof_output);
  if (out.output.empty()) out.output = "seqprof.csv";
  out.case_name = setting(variables::seqprof_case) ? variable(variables::seqprof_case) : own_arguments();
  if (auto const text = variable(variables::seqprof_granularity); !text.empty()) {
    out.granularities_bytes.clear();
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');) out.granularities_bytes.push_back(std::stoull(item));
  }
  if (auto const text = variable(variables::seqprof_sample); !text.empty()) out.sample = std::stoull(text);
  auto const sync = variable(variables::seqprof_sync);
  out.sync_of_source = sync == "source";
  if (!sync.empty() && !out.sync_of_source) out.sync = std::stoull(sync);
  out.level = variable(variables::isa);
  return out;
}

}  // namespace kernelcast::seq
