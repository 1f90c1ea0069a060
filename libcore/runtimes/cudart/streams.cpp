#include "runtimes/cudart/streams.hpp"

namespace kernelcast::cudart {

Stream Streams::add(unsigned flags, int priority, int device) {
  auto made = std::make_unique<StreamObject>(StreamObject{flags, priority, device, next_id_++});
  Stream const handle = made.get();
  streams_.emplace(handle, std::move(made));
  return handle;
}

Event Streams::add_event(unsigned flags) {
  auto made = std::make_unique<EventObject>(EventObject{flags, std::nullopt});
  Event const handle = made.get();
  events_.emplace(handle, std::move(made));
  return handle;
}

void Streams::clear() {
  streams_.clear();
  events_.clear();
}

}  // namespace kernelcast::cudart
