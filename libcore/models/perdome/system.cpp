#include "models/perdome/system.hpp"

#include <algorithm>

namespace kernelcast::model::perdome {

System const& Systems::operator[](std::string const& name) {
  auto const [at, is_new] = known_.try_emplace(name, System{name, {}});
  if (!is_new) return at->second;
  std::string_view const names = name;
  for (std::size_t begin = 0; begin <= names.size();) {
    std::size_t const end = std::min(names.find('+', begin), names.size());
    at->second.processors.push_back(resolve(names.substr(begin, end - begin)));
    begin = end + 1;
  }
  return at->second;
}

Processor Systems::resolve(std::string_view id) const {
  auto const& device = database_.find(id);
  auto const flops = rates_.flop_per_s.find(device.device), bytes = rates_.bytes_per_s.find(device.device);
  bool const f = flops != rates_.flop_per_s.end(), b = bytes != rates_.bytes_per_s.end();
  auto out = f && b ? Processor{device.device, 0, 0, device.tdp_w, ""} : processor(device, rates_.paper);
  if (f) out.flop_s = 1 / flops->second;
  if (b) out.byte_s = 1 / bytes->second;
  if (f || b) out.rates = "given";
  return out;
}

}  // namespace kernelcast::model::perdome
