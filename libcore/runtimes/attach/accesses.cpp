#include "runtimes/attach/accesses.hpp"

#include <map>
#include <optional>

#include "runtimes/attach/group_ranges.hpp"

namespace kernelcast::attach {

namespace {

class RangeWatcher final : public launch::Watcher {
 public:
  emu::Observer* begin(launch::LaunchView const& view) override {
    auto const& plan = view.buffers.plan();
    std::map<std::uint64_t, std::uint64_t> bytes;  // by address
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      bytes[view.buffers.address(i)] = plan.buffers[i].bytes();
      buffers_[view.buffers.address(i)] = i;
    }
    ranges_.emplace(view.launch.grid, [bytes](std::uint64_t address) {
      auto const after = bytes.upper_bound(address);
      if (after == bytes.begin()) return GroupRanges::Block{};
      auto const& [begin, size] = *std::prev(after);
      return address - begin < size ? GroupRanges::Block{begin, size} : GroupRanges::Block{};
    });
    return &*ranges_;
  }
  void end(launch::LaunchView const&) override {}

  // By the plan's buffers.
  std::vector<std::pair<std::size_t, graph::Access>> accesses() const {
    std::vector<std::pair<std::size_t, graph::Access>> out;
    if (ranges_)
      for (auto const& [block, access] : ranges_->accesses(false)) out.emplace_back(buffers_.at(block.address), access);
    return out;
  }

 private:
  std::map<std::uint64_t, std::size_t> buffers_;  // of the plan, by address
  std::optional<GroupRanges> ranges_;
};

emu::Dim3 grid_of(launch::Call const& call) {
  auto const& global = call.global.size;
  if (call.in_groups) return global;
  auto const local = call.local ? call.local->size : emu::Dim3{1, 1, 1};
  return {(global.x + local.x - 1) / local.x, (global.y + local.y - 1) / local.y, (global.z + local.z - 1) / local.z};
}

struct Pointed {
  unsigned argument = 0;
  std::uint64_t offset_bytes = 0;
};

// The first argument that leads to each of the plan's buffers.
std::map<std::size_t, Pointed> arguments_of(launch::Plan const& plan) {
  std::map<std::size_t, Pointed> out;
  auto const& arguments = plan.calls.front().arguments;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == launch::Argument::Kind::image)
      out.try_emplace(plan.images[arguments[i].buffer].buffer, Pointed{i, 0});
    else if (arguments[i].kind == launch::Argument::Kind::buffer)
      out.try_emplace(arguments[i].buffer, Pointed{i, arguments[i].offset_bytes});
  }
  return out;
}

}  // namespace

LaunchAccesses find_accesses(launch::Plan plan, launch::RunOptions const& options) {
  auto const grid = grid_of(plan.calls.front());
  auto const arguments = arguments_of(plan);
  std::vector<std::uint64_t> lay_at;
  for (auto const& buffer : plan.buffers) lay_at.push_back(buffer.at);
  RangeWatcher watcher;
  auto choice = options;
  choice.emit = launch::Emit::kernel;
  choice.watcher = &watcher;
  choice.groups = {launch::GroupChoice::Kind::only, 0, GroupRanges(grid, {}).sample()};
  launch::run(std::move(plan), choice);
  LaunchAccesses out{{grid.x, grid.y, grid.z}, {}, {}};
  for (auto& [buffer, access] : watcher.accesses()) {
    auto const found = arguments.find(buffer);
    if (found == arguments.end()) {
      if (lay_at[buffer] != 0) out.by_address.emplace_back(lay_at[buffer], access);
      continue;
    }
    access.buffer = found->second.argument;
    access.first -= static_cast<double>(found->second.offset_bytes);
    out.accesses.push_back(access);
  }
  return out;
}

}  // namespace kernelcast::attach
