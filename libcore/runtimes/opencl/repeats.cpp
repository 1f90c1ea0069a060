#include "runtimes/opencl/repeats.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>

namespace kernelcast::opencl {

namespace {

constexpr std::size_t max_remembered = 1 << 16;  // launches

struct Left {
  std::vector<std::uint64_t> numbers;  // of what is written, in the order of the uses
  std::chrono::nanoseconds took;
};

// Under the lock of all calls, for as long as the process lives.
struct State {
  std::uint64_t all_changed = 0;  // how often
  std::chrono::nanoseconds left_out{0};
  std::unordered_map<std::string, Left> left;
};
State& state() {
  static auto* const state = new State;
  return *state;
}

_cl_mem& whole(_cl_mem& memory) {
  return memory.parent ? whole(*memory.parent) : memory;
}

template <class T>
void add(std::string& text, T const& value) {
  text.append(reinterpret_cast<char const*>(&value), sizeof value);
}

}  // namespace

std::uint64_t fresh_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void changed(_cl_mem& memory) {
  whole(memory).content = fresh_number();
}
void changed_all() {
  ++state().all_changed;
}

std::chrono::nanoseconds left_out() {
  return state().left_out;
}

bool may_change_all(cl_command_type type) {
  switch (type) {
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK:
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_COPY_BUFFER_RECT:
    case CL_COMMAND_FILL_BUFFER:
    case CL_COMMAND_UNMAP_MEM_OBJECT:
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_READ_IMAGE:
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE:
    case CL_COMMAND_MIGRATE_MEM_OBJECTS:
    case CL_COMMAND_MARKER:
    case CL_COMMAND_BARRIER:
      return false;
    default:
      return true;
  }
}

Touched::Touched(PreparedLaunch& prepared, bool wanted) {
  if (!wanted) return;
  auto const& pointers = prepared.code->pointers(prepared.kernel);
  if (!pointers || !prepared.samplers.empty()) return;
  auto const& launch = prepared.launch;
  for (auto const& pointer : *pointers) {
    std::uint64_t address = 0;
    if (pointer.is_variable || pointer.at + sizeof address > launch.parameters.size()) return;
    std::memcpy(&address, launch.parameters.data() + pointer.at, sizeof address);
    if (address == 0) continue;
    auto const holds = [&](auto const& memory) {
      return !memory->is_image() && address - memory->address < std::max<std::size_t>(memory->bytes, 1);
    };
    auto const found = std::ranges::find_if(prepared.memory, holds);
    if (found == prepared.memory.end()) return;
    auto& memory = whole(**found);
    if (memory.is_image() || memory.lent || !memory.maps.empty() || !(*found)->maps.empty()) return;
    auto same = std::ranges::find(uses_, &memory, &Use::memory);
    if (same == uses_.end()) same = uses_.insert(uses_.end(), {&memory});
    same->read |= pointer.read;
    same->written |= pointer.written;
  }
  known_ = true;
  add(launch_, prepared.code->number);
  add(launch_, launch.grid);
  add(launch_, launch.block);
  add(launch_, launch.dynamic_shared_bytes);
  add(launch_, launch.envreg);
  launch_.append(prepared.kernel).append(1, '\0');
  launch_.append(reinterpret_cast<char const*>(launch.parameters.data()), launch.parameters.size());
}

std::string Touched::key() const {
  auto out = launch_;
  add(out, state().all_changed);
  for (auto const& use : uses_) add(out, use.memory->content);
  return out;
}

bool Touched::leave_out() const {
  if (!known_) return false;
  auto const found = state().left.find(key());
  if (found == state().left.end()) return false;
  auto number = found->second.numbers.begin();
  auto const same = [&](Use const& use) { return !use.written || use.memory->content == *number++; };
  if (!std::ranges::all_of(uses_, same)) return false;
  state().left_out += found->second.took;
  return true;
}

void Touched::ran(bool is_whole, std::chrono::nanoseconds took) {
  if (!known_) return changed_all();
  auto& left = state().left;
  auto const before = key();
  auto const known = is_whole ? left.find(before) : left.end();
  bool in_place = false;
  std::vector<std::uint64_t> numbers;
  for (auto const& use : uses_) {
    if (!use.written) continue;
    numbers.push_back(known == left.end() ? fresh_number() : known->second.numbers[numbers.size()]);
    use.memory->content = numbers.back();
    in_place |= use.read;
  }
  if (!is_whole) return;
  if (left.size() >= max_remembered) left.clear();
  if (!in_place) left[key()] = {numbers, took};  // it would write the same once more
  left[before] = {std::move(numbers), took};
}

}  // namespace kernelcast::opencl
