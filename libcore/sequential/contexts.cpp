#include "sequential/contexts.hpp"

namespace kernelcast::seq {

Contexts::Contexts() : invocations_(std::make_unique<LoopCounter>()) {}

// The counters of an earlier call of the function that is still running.
bool Contexts::folded(FunctionDescriptor const& function, LoopCounter const* parent, LoopCounter** found) {
  for (; parent; parent = parent->parent) {
    auto const at = function_of_.find(parent);
    if (at == function_of_.end() || at->second != &function) continue;
    for (auto& entry : entries_)
      if (!entry.counters.empty() && parent >= entry.counters.data() &&
          parent < entry.counters.data() + entry.counters.size()) {
        *found = entry.counters.data();
        return true;
      }
  }
  return false;
}

LoopCounter* Contexts::enter(FunctionDescriptor const& function, LoopCounter* parent) {
  auto const [at, fresh] = known_.try_emplace({parent, &function}, nullptr);
  if (!fresh) return at->second->counters.data();
  LoopCounter* running = nullptr;
  if (folded(function, parent, &running)) {
    for (auto& entry : entries_)
      if (entry.counters.data() == running) at->second = &entry;
    return running;
  }
  auto& entry = entries_.emplace_back();
  entry.function = &function;
  entry.counters.resize(function.loop_count);
  for (std::uint64_t i = 0; i < function.loop_count; ++i) {
    auto& counter = entry.counters[i];
    counter.descriptor = &function.loops[i];
    auto const outer = function.loops[i].parent;
    counter.parent = outer < 0 ? parent : &entry.counters[static_cast<std::size_t>(outer)];
    counter.carried = function.loops[i].kind == LoopKind::recurrence;
    function_of_[&counter] = &function;
  }
  at->second = &entry;
  return entry.counters.data();
}

Contexts::Outcome Contexts::outcome() const {
  Outcome out;
  std::map<LoopDescriptor const*, std::size_t> index;
  std::vector<LoopCounter const*> counters;
  for (auto const& entry : entries_)
    for (auto const& counter : entry.counters)
      if (counter.entries > 0) counters.push_back(&counter);
  for (auto const* const counter : counters) {
    auto const [at, fresh] = index.try_emplace(counter->descriptor, out.loops.size());
    if (fresh) out.loops.push_back({.descriptor = counter->descriptor});
    auto& loop = out.loops[at->second];
    loop.iterations += counter->iterations;
    loop.entries += counter->entries;
    loop.ran |= counter->iterations > counter->entries;
    loop.sequential |= counter->carried != 0;
    if (!loop.reader && counter->reader) {
      loop.reader = counter->reader;
      loop.dependence = counter->dependence;
    }
  }
  auto const loop_of = [&](LoopCounter const* counter) { return out.loops[index.at(counter->descriptor)]; };
  auto const is_parallel = [&](LoopCounter const* counter) {
    return counter != invocations_.get() && !loop_of(counter).sequential;
  };
  std::map<LoopCounter const*, bool> holds_parallel;
  for (auto const* const counter : counters)
    if (is_parallel(counter))
      for (auto const* at = counter->parent; at; at = at->parent) holds_parallel[at] = true;
  auto const below_parallel = [&](LoopCounter const* counter) {
    for (auto const* at = counter->parent; at; at = at->parent)
      if (at->entries > 0 && is_parallel(at)) return true;
    return false;
  };
  std::map<LoopCounter const*, std::size_t> place;
  for (auto const& entry : entries_)
    for (auto const& counter : entry.counters) place.emplace(&counter, place.size());
  out.counts.resize(place.size());
  for (auto const* const counter : counters) {
    if (is_parallel(counter) || !holds_parallel[counter] || below_parallel(counter)) continue;
    if (counter->iterations < counter->entries) continue;
    auto const trips = counter->iterations - counter->entries;
    out.loops[index.at(counter->descriptor)].sync += trips;
    out.sync += trips;
    out.counts[place.at(counter)] = 1;
  }
  auto const& calls = *invocations_;
  if (calls.carried != 0 && calls.iterations > 1 && holds_parallel[&calls]) {
    out.sync_invocations = calls.iterations - 1;
    out.sync += out.sync_invocations;
  }
  return out;
}

std::vector<std::uint64_t> Contexts::trips() const {
  std::vector<std::uint64_t> out;
  for (auto const& entry : entries_)
    for (auto const& counter : entry.counters) out.push_back(counter.iterations - counter.entries);
  return out;
}

}  // namespace kernelcast::seq
