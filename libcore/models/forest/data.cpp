#include "models/forest/data.hpp"

namespace kernelcast::forest {

namespace {

template <class T>
std::vector<T> some_of(std::vector<T> const& all, std::vector<std::size_t> const& rows) {
  std::vector<T> out;
  if (all.empty()) return out;
  out.reserve(rows.size());
  for (auto const i : rows) out.push_back(all[i]);
  return out;
}

}  // namespace

Data subset(Data const& data, std::vector<std::size_t> const& rows) {
  Data out;
  out.samples.features = data.samples.features;
  out.kernel_features = data.kernel_features;
  for (auto const i : rows) {
    auto const x = data.samples.row(i);
    out.samples.x.insert(out.samples.x.end(), x.begin(), x.end());
  }
  out.samples.y = some_of(data.samples.y, rows);
  out.measured = some_of(data.measured, rows);
  out.work = some_of(data.work, rows);
  out.groups = some_of(data.groups, rows);
  out.configurations = some_of(data.configurations, rows);
  out.devices = some_of(data.devices, rows);
  return out;
}

}  // namespace kernelcast::forest
