// What features are worth, device by device, and how that goes with properties of the devices. [braun] section 5.6.3
#pragma once

#include <vector>

#include "models/forest/study/dataset.hpp"
#include "records/forest.hpp"

namespace kernelcast::forest {

// Feature by feature; with permutations also by how much held-out predictions in so many folds suffer without it.
std::vector<record::Importance> importances(Dataset const&, Plan const&, std::size_t permutations, std::size_t folds);

// Over the devices of the importances, for each feature and each property of the table. Devices without the property
// are left out. Throws Error(bad_data) for an unknown device.
std::vector<record::Correlation> correlations(std::vector<record::Importance> const&, DeviceTable const& properties);

}  // namespace kernelcast::forest
