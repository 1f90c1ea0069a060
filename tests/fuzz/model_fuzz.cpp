// A model of mangrove. One that is accepted predicts, is exported, and is written as it was read.

#include "base/diag/diag.hpp"
#include "fuzz.hpp"
#include "models/forest/model_file.hpp"
#include "models/forest/onnx.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  auto const model = forest::parse_model(input, "fuzz");
  auto const text = forest::model_text(model);
  try {
    if (forest::model_text(forest::parse_model(text, "written")) != text) defect("written otherwise:\n" + text);
  } catch (Error const& error) {
    defect(error.text("fuzz") + text);
  }
  forest::Scratch scratch;
  for (float const value : {0.0F, -1e30F, 1e30F, 3.0F}) {
    std::vector<float> const x(model.features(), value);
    auto const p = model.regressor.predict(x, scratch);
    if (!(p.low <= p.value && p.value <= p.high)) defect("the prediction lies outside its interval:\n" + text);
  }
  model.regressor.importance();
  forest::onnx_message(model, "0");
}

}  // namespace kernelcast::fuzz
