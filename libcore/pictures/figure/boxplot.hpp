// Box plots over names, for kinds that show how something spreads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pictures/figure/script.hpp"

namespace kernelcast::figure {

using Boxes = std::map<std::string, std::vector<double>>;

// Two panels side by side, outliers as points. Several models are told apart by a second line of the names.
void draw_boxes(Script& script, std::string const& label, Boxes const& left, std::string const& left_title,
                Boxes const& right, std::string const& right_title);

}  // namespace kernelcast::figure
