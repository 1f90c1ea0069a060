#include "emulator/launch/compilations.hpp"

#include <algorithm>

#include "kernels/ptx/module.hpp"

namespace kernelcast::launch {

std::size_t Compilations::Kept::ptx_bytes() const {
  return compilation ? compilation->compiled.module->text.size() : 0;
}

std::shared_ptr<Compilation> Compilations::find(frontend::Request const& request) {
  auto const found = std::find_if(kept_.begin(), kept_.end(), [&](Kept const& k) { return k.request == request; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    kept_.push_front({request, nullptr, {}});
    try {
      auto made = std::make_shared<Compilation>();
      made->compiled = frontend::compile(request);
      kept_.front().compilation = std::move(made);
    } catch (Error const& error) {
      kept_.front().error = error;
    }
    std::size_t bytes = 0;
    std::erase_if(kept_, [&](Kept const& kept) {
      bytes += kept.ptx_bytes();
      return bytes > max_ptx_bytes && &kept != &kept_.front();
    });
  }
  if (kept_.front().error) throw *kept_.front().error;
  return kept_.front().compilation;
}

}  // namespace kernelcast::launch
