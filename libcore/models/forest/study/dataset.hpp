// Samples of a forest: features of kernels joined with measured targets by kernel and case. [braun] section 5.3
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/forest/study/tables.hpp"
#include "models/forest/validation.hpp"

namespace kernelcast::forest {

struct Sources {
  Content features, targets;
  std::vector<Content> projections;  // of other models, whose times become features
  DeviceTable devices;               // with features: one forest for several devices
};

struct Selection {
  std::string target = "time_s";               // column of the targets
  std::string per;                             // a feature: learn the target per unit of it
  std::string group;                           // column of either file, to leave out by; none: kernel and case
  std::vector<std::string> features, devices;  // columns and names; none: the default ones, all
  std::size_t max_per_kernel = 100;            // configurations, at random [braun] section 5.4.3; 0: all
  std::uint64_t seed = 0;
};

// The samples of one forest: of a device, or of all where devices have features.
struct Dataset {
  std::string target, per;
  std::string device;  // empty: several
  std::vector<std::string> kernel_features, device_features, projections;
  Data data;
  std::vector<std::string> kernels, cases, devices, groups;  // [row]; data.groups are those of the groups' texts
  std::map<std::string, std::string> provenance;             // the files and their hashes

  std::string label(std::size_t row) const;  // kernel/case, and the device where there are several
  std::vector<std::string> features() const;
};

struct Joined {
  std::vector<Dataset> sets;       // by device in the order of their names
  std::vector<std::string> notes;  // what was left out
};

// Throws Error: bad_data when nothing joins, usage for a group or a feature that no file has.
Joined join(Sources const&, Selection const&);

}  // namespace kernelcast::forest
