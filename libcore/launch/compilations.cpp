#include "launch/compilations.hpp"

#include <algorithm>

#include "ptx/module.hpp"

namespace kernelcast::launch {

std::shared_ptr<Compilation> Compilations::find(frontend::Request const& request) {
  auto const found = std::find_if(kept_.begin(), kept_.end(), [&](Kept const& k) { return k.request == request; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return found->compilation;
  }
  auto made = std::make_shared<Compilation>();
  made->compiled = frontend::compile(request);
  kept_.push_front({request, made});
  std::size_t bytes = 0;
  std::erase_if(kept_, [&](Kept const& kept) {
    bytes += kept.compilation->compiled.module->text.size();
    return bytes > most_ptx_bytes && kept.compilation != made;
  });
  return made;
}

}  // namespace kernelcast::launch
