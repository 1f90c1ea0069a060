// A model for other programs' run-times: ONNX, opset 11 with ai.onnx.ml 1.
#pragma once

#include <string>

#include "models/forest/model.hpp"

namespace kernelcast::forest {

// A protobuf message: input `features` (float, [N, features]), a TreeEnsembleRegressor, for a logarithmic target an
// Exp, output `prediction` (float, [N, 1]). A model of ratios has two, level and ratio, then Add, Exp and Clip. Throws
// Error(unavailable) for a model whose objective or target has no such form.
std::string onnx_message(Model const&, std::string const& producer_version);

}  // namespace kernelcast::forest
