#include "records/table/selection.hpp"

#include "records/table/table.hpp"

namespace kernelcast::record {

Schema<Selected> const& Selected::schema() {
  static auto const schema =
      Schema<Selected>("selected", "a kernel, case and device to look at")
          .column("kernel", &Selected::kernel, Unit::none, "name of the kernel function")
          .column("case", &Selected::case_name, Unit::none, "problem size or launch of the kernel")
          .may_be_empty()
          .accepts("size")
          .column("device", &Selected::device, Unit::none, "slug of the device in the device database");
  return schema;
}

Selection::Selection(csv::Reader& csv) {
  Reader<Selected> rows(csv);
  for (Selected row; rows.next(row);) devices_[{row.kernel, row.case_name}].insert(row.device);
}

bool Selection::has(std::string const& kernel, std::string const& case_name) const {
  return devices_.contains({kernel, case_name});
}

bool Selection::has(std::string const& kernel, std::string const& case_name, std::string const& device) const {
  auto const found = devices_.find({kernel, case_name});
  return found != devices_.end() && found->second.contains(device);
}

std::vector<std::string> Selection::devices() const {
  std::set<std::string> all;
  for (auto const& [launch, devices] : devices_) all.insert(devices.begin(), devices.end());
  return {all.begin(), all.end()};
}

}  // namespace kernelcast::record
