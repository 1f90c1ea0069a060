#include "runtimes/cudart/deferred.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/cache/cache.hpp"

namespace kernelcast::cudart {

namespace {

constexpr std::size_t max_remembered = 1 << 16;                     // launches
constexpr std::size_t max_waiting = 4096;                           // commands
constexpr std::size_t max_data_bytes = std::size_t{1} << 20;        // of a copy that waits
constexpr std::uint64_t max_freed_bytes = std::uint64_t{1} << 30;   // that stay
constexpr unsigned tries = 3;                                       // of a launch that leaves something new each time
constexpr std::uint64_t max_left_bytes = std::uint64_t{1} << 28;    // of what launches have left, in all
constexpr std::uint64_t max_object_bytes = std::uint64_t{1} << 22;  // and each
// Hashing takes less than a tenth of the time that the emulator needs for a warp instruction, by so many bytes.
constexpr std::uint64_t hashed_bytes_per_step = 16;

bool contiguous(Area const& area) {
  return area.rows == 1 || area.pitch == area.bytes;
}
std::uint64_t extent_bytes(Area const& area) {
  return area.pitch * (area.rows - 1) + area.bytes;
}

std::string hash_of(void const* begin, std::uint64_t bytes) {
  return content_hash({static_cast<char const*>(begin), bytes});
}

void perform_fill(emu::Memory& memory, Area const& to, int value) {
  if (value == 0 && contiguous(to) && memory.find(address_of(to.begin)))
    return memory.zero(address_of(to.begin), extent_bytes(to));
  for (std::size_t row = 0; row < to.rows; ++row)
    std::memset(static_cast<std::byte*>(const_cast<void*>(to.begin)) + row * to.pitch, value, to.bytes);
}
void perform_copy(Area const& to, Area const& from) {
  for (std::size_t row = 0; row < to.rows; ++row)
    std::memmove(static_cast<std::byte*>(const_cast<void*>(to.begin)) + row * to.pitch,
                 static_cast<std::byte const*>(from.begin) + row * from.pitch, to.bytes);
}

}  // namespace

Deferred::Deferred(emu::Memory& memory, Allocations& allocations, Registry const& registry, bool active)
    : memory_(memory), allocations_(allocations), registry_(registry), active_(active) {
  allocations_.set_keeper([this](std::uint64_t begin, std::uint64_t bytes) { return keeps(begin, bytes); });
  allocations_.set_maker([this](std::uint64_t begin, std::uint64_t bytes) {
    if (active_) contents_.set(begin, filled(bytes, 0));
  });
}

// ---------------------------------------------------------------- what is touched

std::optional<Deferred::Use> Deferred::object_at(void const* address) const {
  auto const [begin, allocation] = allocations_.holding(address);
  if (allocation) {
    if (allocation->type != MemoryType::device || allocation->mapped) return std::nullopt;
    return Use{begin, allocation->asked_bytes};
  }
  auto const* const buffer = memory_.find(address_of(address));
  if (!buffer || registry_.is_managed(buffer->address) || allocations_.is_kept(buffer->address)) return std::nullopt;
  return Use{buffer->address, buffer->size};
}

namespace {

template <class Uses, class Use>
void unite(Uses& uses, Use use, bool read, bool written) {
  auto const same = std::ranges::find(uses, use.begin, &Use::begin);
  auto& all = same == uses.end() ? uses.emplace_back(use) : *same;
  all.read |= read;
  all.written |= written;
}

}  // namespace

Deferred::Uses Deferred::uses_of(LibraryCall const& made) const {
  std::vector<Use> out;
  for (auto const& operand : made.operands) {
    if (operand.extent_bytes == 0) continue;
    auto const object = object_at(operand.begin);
    if (!object) return std::nullopt;
    unite(out, *object, operand.read, operand.written);
  }
  return out;
}

namespace {

// No pointer, or null. A pointer may lie outside of what it leads to, as that to the element 0 of an array that begins
// with the element 1.
bool is_number(std::uint64_t word) {
  constexpr auto most = std::uint64_t{1} << 32;
  return word < most || -word < most;
}

// clang's regions get the place that the element 0 of an array would have where only a part of the array is on the
// device: it may be within another one.
bool takes_any_begin(Kernel const& kernel) {
  return kernel.name.starts_with("__omp_offloading_");
}

}  // namespace

Deferred::Uses Deferred::uses_of(Kernel const& kernel, emu::Launch const& launch) {
  if (launch.cooperative) return std::nullopt;
  auto const [known, is_new] = pointers_.try_emplace(&kernel);
  if (is_new) known->second = ptx::touched_pointers(kernel.ready->kernel());
  if (!known->second) return std::nullopt;
  auto const& module = *kernel.program->module;
  std::vector<Use> out;
  for (auto const& pointer : *known->second) {
    std::uint64_t address = 0;
    if (pointer.is_variable)
      address = memory_.address_of(module, module.variables[pointer.at].name);
    else if (pointer.at + sizeof address <= launch.parameters.size())
      std::memcpy(&address, launch.parameters.data() + pointer.at, sizeof address);
    auto const* const to = reinterpret_cast<void const*>(address);
    auto object = object_at(to);
    if (!object && is_number(address) && !allocations_.holding(to).second && !memory_.find(address)) continue;
    if (!object || (takes_any_begin(kernel) && address != object->begin)) return std::nullopt;
    unite(out, *object, pointer.read, pointer.written);
  }
  return out;
}

// A launch, whatever the addresses of what it touches: a pointer's word is the number of the use and the offset.
std::string Deferred::text_of(Kernel const& kernel, emu::Launch const& launch, Uses const& uses) const {
  auto const& [grid, block] = std::tie(launch.grid, launch.block);
  CommandText out('L');
  out.add(&kernel).add(grid.x).add(grid.y).add(grid.z).add(block.x).add(block.y).add(block.z);
  out.add(launch.dynamic_shared_bytes);
  auto parameters = launch.parameters;
  for (auto const& pointer : *pointers_.at(&kernel)) {
    std::uint64_t word = 0;
    if (pointer.is_variable || pointer.is_value || pointer.at + sizeof word > parameters.size()) continue;
    std::memcpy(&word, parameters.data() + pointer.at, sizeof word);
    auto const use =
        std::ranges::find_if(*uses, [&](Use const& u) { return word - u.begin < std::max<std::uint64_t>(u.bytes, 1); });
    out.add(use != uses->end());
    if (use == uses->end()) continue;
    out.add(use - uses->begin());
    word -= use->begin;
    std::memcpy(parameters.data() + pointer.at, &word, sizeof word);
  }
  return out.add_bytes({reinterpret_cast<char const*>(parameters.data()), parameters.size()}).text();
}

// ---------------------------------------------------------------- launches

namespace {

template <class Uses>
std::string on(std::string const& launch, Uses const& uses, Contents& contents) {
  CommandText out('N');
  for (auto const& use : uses) out.add(use.bytes).add(contents.of(use.begin));
  return launch + out.text();
}

}  // namespace

void Deferred::set_numbers(std::span<Use const> uses, std::span<Contents::Number const> numbers) {
  auto number = numbers.begin();
  for (auto const& use : uses)
    if (use.written) contents_.set(use.begin, *number++);
}

template <class MakeWhat>
bool Deferred::takes(Uses uses, std::string const& text, MakeWhat const& make_what) {
  if (!uses) return false;
  auto before = on(text, *uses, contents_);
  auto const known = outcomes_.find(before);
  std::vector<Contents::Number> numbers;
  if (known != outcomes_.end()) {
    numbers = known->second;
  } else {
    auto const runs = runs_.find(text);
    if (runs == runs_.end() || runs->second < tries) return false;
    for (auto const& use : *uses)
      if (use.written) numbers.push_back(contents_.fresh());
  }
  Command command;
  auto number = numbers.begin();
  for (auto const& use : *uses)
    if (use.written && contents_.of(use.begin) != *number++) command.changes.push_back(use.begin);
  if (command.changes.empty()) return true;
  set_numbers(*uses, numbers);
  for (auto const& use : *uses) command.held.push_back(contents_.of(use.begin));
  command.uses = std::move(*uses);
  command.what = make_what();
  command.text = text;
  command.before = std::move(before);
  add(std::move(command));
  return true;
}

void Deferred::before(Uses const& uses) {
  if (!uses) return run_all();
  Objects needed, changed;
  for (auto const& use : *uses) {
    needed.insert(use.begin);
    if (use.written) changed.insert(use.begin);
  }
  settle(std::move(needed), std::move(changed));
}

// Numbers of what a command has written, which is hashed if that is not more than so many bytes, and kept on request.
std::vector<Contents::Number> Deferred::left_by(std::span<Use const> uses, std::uint64_t hashed_bytes, bool keep) {
  std::uint64_t written_bytes = 0;
  for (auto const& use : uses)
    if (use.written) written_bytes += use.bytes;
  std::vector<Contents::Number> out;
  for (auto const& use : uses) {
    if (!use.written) continue;
    if (written_bytes > hashed_bytes) {
      out.push_back(contents_.fresh());
      continue;
    }
    auto const* const begin = reinterpret_cast<void const*>(use.begin);
    out.push_back(contents_.made_by(CommandText('H').add(use.bytes).add_bytes(hash_of(begin, use.bytes)).text()));
    if (keep) this->keep(out.back(), use);
  }
  return out;
}

void Deferred::keep(Contents::Number number, Use const& use) {
  if (use.bytes > max_object_bytes) return;
  if (left_bytes_ + use.bytes > max_left_bytes) left_.clear(), left_bytes_ = 0;
  auto const [at, is_new] = left_.try_emplace(number);
  if (!is_new) return;
  auto const* const begin = reinterpret_cast<std::byte const*>(use.begin);
  at->second.assign(begin, begin + use.bytes);
  left_bytes_ += use.bytes;
}

// What it leaves is copied from what was kept; false where that is not all there.
bool Deferred::restore(Command const& command) {
  std::vector<std::vector<std::byte> const*> kept;
  for (std::size_t u = 0; u < command.uses.size(); ++u) {
    auto const at = command.uses[u].written ? left_.find(command.held[u]) : left_.end();
    if (command.uses[u].written && (at == left_.end() || at->second.size() != command.uses[u].bytes)) return false;
    kept.push_back(command.uses[u].written ? &at->second : nullptr);
  }
  for (std::size_t u = 0; u < kept.size(); ++u)
    if (kept[u]) std::memcpy(reinterpret_cast<void*>(command.uses[u].begin), kept[u]->data(), kept[u]->size());
  return true;
}

// What it leaves of what it found. `is_latest`: nothing that it touches has changed since.
void Deferred::remember(std::span<Use const> uses, std::string const& text, std::string before,
                        std::vector<Contents::Number> const& numbers, bool is_latest) {
  if (outcomes_.size() >= max_remembered) outcomes_.clear();
  if (is_latest) {
    set_numbers(uses, numbers);
    bool const in_place = std::ranges::any_of(uses, [](Use const& use) { return use.read && use.written; });
    if (!in_place) outcomes_[on(text, uses, contents_)] = numbers;  // it would write the same once more
  }
  outcomes_[std::move(before)] = numbers;
}

void Deferred::after(Uses const& uses, std::string const& text, std::uint64_t hashed_bytes) {
  bool const again = runs_.contains(text);
  remember(*uses, text, on(text, *uses, contents_), left_by(*uses, hashed_bytes, again), true);
  if (runs_.size() >= max_remembered) runs_.clear();
  ++runs_[text];
}

bool Deferred::takes(Kernel const& kernel, emu::Launch const& launch, std::optional<std::uint64_t> configuration) {
  auto uses = active_ ? uses_of(kernel, launch) : std::nullopt;
  if (!uses) return false;
  auto const text = text_of(kernel, launch, uses);
  return takes(std::move(uses), text, [&] {
    Launch out{&kernel, launch, configuration};
    out.launch.external = nullptr;  // it calls nothing
    return out;
  });
}

void Deferred::before(Kernel const& kernel, emu::Launch const& launch) {
  if (!waiting_.empty()) before(uses_of(kernel, launch));
}

void Deferred::after(Kernel const& kernel, emu::Launch const& launch, std::optional<std::uint64_t> steps) {
  auto const uses = active_ && steps ? uses_of(kernel, launch) : std::nullopt;
  if (!uses) return contents_.forget_all();
  after(uses, text_of(kernel, launch, uses), hashed_bytes_per_step * *steps);
}

bool Deferred::takes(LibraryCall const& made, std::function<void()> const& work) {
  return active_ && !made.identity.empty() && takes(uses_of(made), made.identity, [&] { return work; });
}

void Deferred::before(LibraryCall const& made) {
  if (!waiting_.empty()) before(uses_of(made));
}

void Deferred::after(LibraryCall const& made, bool ran) {
  auto const uses = uses_of(made);
  if (active_ && ran && uses && !made.identity.empty())
    return after(uses, made.identity, std::numeric_limits<std::uint64_t>::max());
  for (auto const& operand : made.operands)
    if (auto const object = operand.written ? object_at(operand.begin) : std::nullopt)
      contents_.set(object->begin, contents_.fresh());
}

// ---------------------------------------------------------------- fills and copies

Contents::Number Deferred::filled(std::uint64_t bytes, unsigned char value) {
  return contents_.made_by(CommandText('F').add(bytes).add(value).text());
}

Contents::State Deferred::with_part(Use const& object, Area const& to, std::string const& command) {
  auto const begin = address_of(to.begin) - object.begin;
  auto const end = begin + extent_bytes(to);
  bool const all = contiguous(to);
  return contents_.with(object.begin, object.bytes,
                        {begin, end, all ? end - begin : to.bytes, all ? end - begin : to.pitch, command});
}

void Deferred::fill(Area const& to, int value) {
  auto const object = object_at(to.begin);
  if (!object) return perform_fill(memory_, to, value);
  auto const offset = address_of(to.begin) - object->begin;
  bool const whole = offset == 0 && contiguous(to) && extent_bytes(to) >= object->bytes;
  auto const byte = static_cast<unsigned char>(value);
  Contents::State made = whole ? filled(object->bytes, byte)
                               : with_part(*object, to, CommandText('F').add(object->bytes).add(byte).text());
  submit({{{object->begin, object->bytes, false, true}}, {object->begin}, whole, Fill{to, value}}, std::move(made));
}

void Deferred::copy(Area const& to, Area const& from) {
  auto const target = object_at(to.begin), source = object_at(from.begin);
  if (!target) {
    if (source) settle({source->begin}, {});
    return perform_copy(to, from);
  }
  auto const offset = address_of(to.begin) - target->begin;
  bool const in_itself = source && source->begin == target->begin;
  bool const whole = !in_itself && offset == 0 && contiguous(to) && extent_bytes(to) >= target->bytes;
  Command command{{{target->begin, target->bytes, in_itself, true}}, {target->begin}, whole, Copy{to, from, {}}};
  if (source && !in_itself) command.uses.push_back({source->begin, source->bytes, true, false});
  bool const all_of_source = source && address_of(from.begin) == source->begin && contiguous(from) &&
                             extent_bytes(from) >= source->bytes && source->bytes == target->bytes;
  if (whole && all_of_source) return submit(std::move(command), contents_.of(source->begin));
  bool const hashed = !source && contiguous(from) && contiguous(to);
  if (!source && !hashed) {  // rows of the host's
    settle({}, {target->begin});
    perform_copy(to, from);
    return contents_.set(target->begin, contents_.fresh());
  }
  auto const bytes = extent_bytes(from);
  CommandText text(hashed ? 'H' : 'C');
  text.add(whole ? target->bytes : bytes);
  if (hashed)
    text.add_bytes(hash_of(from.begin, whole ? std::min(bytes, target->bytes) : bytes));
  else
    text.add(contents_.of(source->begin)).add(address_of(from.begin) - source->begin).add(from.pitch);
  Contents::State made;
  if (whole || in_itself)
    made = contents_.made_by((whole ? text : text.add(offset).add(to.pitch).add(to.bytes).add(to.rows)).text());
  else
    made = with_part(*target, to, text.text());
  if (hashed && is_waited_for(target->begin)) {
    if (bytes > max_data_bytes) {
      if (whole) drop_dead({target->begin});
      settle({}, {target->begin});
    } else {
      auto const* const begin = static_cast<std::byte const*>(from.begin);
      std::get<Copy>(command.what).data.assign(begin, begin + bytes);
    }
  }
  submit(std::move(command), std::move(made));
}

// ---------------------------------------------------------------- commands that wait

// A fill or a copy that leaves this in what it changes.
void Deferred::submit(Command command, Contents::State made) {
  auto const changed = command.changes.front();
  bool const same = contents_.of(changed) == made.number;
  contents_.set(changed, std::move(made));
  if (same) return;
  if (command.whole) drop_dead({changed});
  auto const waits = std::ranges::any_of(command.uses, [&](Use const& use) { return is_waited_for(use.begin); });
  if (waits)
    add(std::move(command));
  else
    perform(command);
}

void Deferred::add(Command command) {
  for (auto const& use : command.uses) ++waiting_for_[use.begin];
  waiting_.push_back(std::move(command));
  if (waiting_.size() >= max_waiting) run_all();
}

// What waited has a number of its own until it has run and can be hashed.
void Deferred::performed(Command const& command, std::uint64_t hashed_bytes) {
  bool const is_latest = std::ranges::equal(command.uses, command.held, [&](Use const& use, Contents::Number held) {
    return contents_.of(use.begin) == held;
  });
  remember(command.uses, command.text, command.before, left_by(command.uses, hashed_bytes, true), is_latest);
}

void Deferred::perform(Command const& command) {
  if (auto const* const launch = std::get_if<Launch>(&command.what)) {
    if (restore(command)) return;
    if (auto const steps = run_(*launch))
      performed(command, hashed_bytes_per_step * *steps);
    else
      contents_.forget_all();
  } else if (auto const* const fill = std::get_if<Fill>(&command.what)) {
    perform_fill(memory_, fill->to, fill->value);
  } else if (auto const* const work = std::get_if<std::function<void()>>(&command.what)) {
    (*work)();
    performed(command, std::numeric_limits<std::uint64_t>::max());
  } else {
    auto const& copy = std::get<Copy>(command.what);
    auto from = copy.from;
    if (!copy.data.empty()) from.begin = copy.data.data();
    perform_copy(copy.to, from);
  }
}

void Deferred::erase_marked(std::vector<bool> const& marked) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!marked[i]) {
      if (left != i) waiting_[left] = std::move(waiting_[i]);
      ++left;
      continue;
    }
    for (auto const& use : waiting_[i].uses)
      if (auto const at = waiting_for_.find(use.begin); --at->second == 0) waiting_for_.erase(at);
  }
  waiting_.resize(left);
}

// Commands whose changes are overwritten or gone before anything reads them.
void Deferred::drop_dead(Objects overwritten) {
  if (waiting_.empty()) return;
  std::vector<bool> dead(waiting_.size());
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    auto const& command = waiting_[i];
    dead[i] = std::ranges::all_of(command.changes, [&](std::uint64_t begin) { return overwritten.contains(begin); });
    if (dead[i]) continue;
    if (command.whole) overwritten.insert(command.changes.begin(), command.changes.end());
    for (auto const& use : command.uses)
      if (use.read) overwritten.erase(use.begin);
  }
  erase_marked(dead);
  release_freed();
}

// Before something reads what is needed and writes what is changed.
void Deferred::settle(Objects needed, Objects changed) {
  auto const any = [&](Objects const& objects) {
    return std::ranges::any_of(objects, [&](std::uint64_t begin) { return is_waited_for(begin); });
  };
  if (!any(needed) && !any(changed)) return;
  std::vector<bool> runs(waiting_.size());
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    auto const& uses = waiting_[i].uses;
    runs[i] = std::ranges::any_of(uses, [&](Use const& use) {
      return changed.contains(use.begin) || (use.written && needed.contains(use.begin));
    });
    if (!runs[i]) continue;
    for (auto const& use : uses) {
      needed.insert(use.begin);
      if (use.written) changed.insert(use.begin);
    }
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    if (runs[i]) perform(waiting_[i]);
  erase_marked(runs);
  release_freed();
}

void Deferred::run_all() {
  for (auto const& command : waiting_) perform(command);
  drop_all();
}

void Deferred::drop_all() {
  waiting_.clear();
  waiting_for_.clear();
  release_freed();
}

// ---------------------------------------------------------------- freed memory

bool Deferred::keeps(std::uint64_t begin, std::uint64_t bytes) {
  contents_.forget(begin);
  if (waiting_.empty()) return false;
  Objects gone{begin};
  std::uint64_t held = bytes;
  for (auto const& [at, size] : freed_) {
    gone.insert(at);
    held += size;
  }
  drop_dead(std::move(gone));
  if (is_waited_for(begin) && held > max_freed_bytes) run_all();
  if (!is_waited_for(begin)) return false;
  freed_[begin] = bytes;
  return true;
}

void Deferred::release_freed() {
  std::erase_if(freed_, [&](auto const& at) {
    if (is_waited_for(at.first)) return false;
    allocations_.release(at.first);
    return true;
  });
}

}  // namespace kernelcast::cudart
