// A trained model: a regressor with the names of what it reads and where it comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/forest/regressor.hpp"

namespace kernelcast::forest {

struct Model {
  std::string target = "time_s";             // column; power_w is the other
  std::string per;                           // a feature whose multiple is predicted: target / per is learnt
  std::string device;                        // whose target it is; empty: a model of several devices
  std::vector<std::string> kernel_features;  // columns of the features' file
  std::vector<std::string> device_features;  // columns of the devices' file, after the kernel's
  std::vector<std::string> projections;      // of which models the projected time is a feature, after the device's
  std::vector<std::string> samples;          // what each training row was: kernel/case
  // Where it comes from, as text: version, files and their hashes, scores. Not used in prediction.
  std::map<std::string, std::string> provenance;
  Regressor regressor;

  std::size_t features() const { return kernel_features.size() + device_features.size() + projections.size(); }
};

}  // namespace kernelcast::forest
