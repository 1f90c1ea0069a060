// Records as lines for people.
#pragma once

#include <optional>
#include <string>

#include "records/advice.hpp"
#include "records/steering.hpp"

namespace kernelcast::advise {

std::string message(std::optional<double> const& seconds);  // "61.0 us"; "?" where it is not known
// "matmul 1024x1024/16x16: b200 61.0 us (global), then h200 105 us; emulated in 3.20 ms"
std::string message(record::Advice const&);
// "matmul 1024x1024/16x16: 17 of 20 launches went from device 0 (c1060) to device 1 (a100)"; empty where all stayed.
std::string message(record::Steering const&);

}  // namespace kernelcast::advise
