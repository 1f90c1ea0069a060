#include "runtimes/attach/opencl/timeline.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"

namespace kernelcast::attach {

namespace {

constexpr std::uint64_t max_commands = 1'000'000;

// The range of a map by beginnings that an address lies in, or its end.
template <class Ranges, class Bytes>
bool lies_in(Ranges const& all, void const* pointer, Bytes bytes_of) {
  auto const address = reinterpret_cast<std::uintptr_t>(pointer);
  auto after = all.upper_bound(address);
  return after != all.begin() && address - (--after)->first < bytes_of(after->second);
}

}  // namespace

Timeline& timeline() {
  static auto* const made = new Timeline;
  return *made;
}

bool is_shared_virtual(void const* pointer) {
  std::lock_guard const lock(objects().mutex);
  return lies_in(objects().shared_virtual, pointer, [](std::size_t bytes) { return bytes; });
}

void Timeline::entered() {
  std::lock_guard const lock(mutex_);
  if (inside_++ == 0 && left_) host_s_ += std::chrono::duration<double>(Clock::now() - *left_).count();
}

void Timeline::left() {
  std::lock_guard const lock(mutex_);
  if (--inside_ == 0) left_ = Clock::now();
}

// ---------------------------------------------------------------- commands

void Timeline::enqueued(cl_command_queue handle, Asked asked, WaitList list, cl_event const* event) {
  std::lock_guard const lock(mutex_);
  begin();
  std::string_view const kind = asked.kind;
  if (asked.bytes == 0 && (kind == "d2h" || kind == "h2d")) asked.kind = "host", asked.memory = "";  // mapped alone
  auto& queue = queue_of(handle);
  auto after = numbers_of(list);
  unite(after, queue.in_order ? queue.last : queue.barrier);
  auto const number = write(asked, queue, after);
  if (number == 0) return;
  if (queue.in_order) queue.last.clear();
  queue.last.push_back(number);
  if (event) events_[*event] = number;
  constexpr std::size_t many = 1000;  // one that waits for all of them stands for them
  if (queue.last.size() < many) return;
  if (auto const all = write({}, queue, queue.last); all != 0) queue.last = {all};
}

void Timeline::joined(cl_command_queue handle, Holds holds, WaitList list, cl_event const* event) {
  std::lock_guard const lock(mutex_);
  begin();
  auto& queue = queue_of(handle);
  auto after = numbers_of(list);
  if (list.count == 0) unite(after, queue.last);
  if (holds == Holds::barrier) unite(after, queue.barrier);
  auto const number = write({}, queue, after);
  if (number == 0) return;
  if (event) events_[*event] = number;
  if (holds == Holds::marker) return;
  queue.barrier = {number};
  if (list.count == 0 || queue.in_order) queue.last = {number};
}

void Timeline::waited(cl_command_queue handle) {
  std::lock_guard const lock(mutex_);
  begin();
  auto const& queue = queue_of(handle);
  wait_for(queue.last, queue);
}

void Timeline::waited(WaitList list) {
  std::lock_guard const lock(mutex_);
  begin();
  wait_for(numbers_of(list), {});
}

void Timeline::made(double bytes) {
  std::lock_guard const lock(mutex_);
  begin();
  write({"h2d", bytes, true, "pageable"}, {}, {});
}

void Timeline::forget(cl_command_queue queue) {
  std::lock_guard const lock(mutex_);
  queues_.erase(queue);
}

// ---------------------------------------------------------------- mapped memory

void Timeline::mapped(void* pointer, std::size_t bytes, bool writes) {
  std::lock_guard const lock(mutex_);
  mapped_[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, writes};
}

double Timeline::unmapped(void* pointer) {
  std::lock_guard const lock(mutex_);
  auto const found = mapped_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == mapped_.end()) return 0;
  auto const [bytes, writes] = found->second;
  mapped_.erase(found);
  return writes ? static_cast<double>(bytes) : 0;
}

char const* Timeline::memory_of(void const* pointer) {
  {
    std::lock_guard const lock(mutex_);
    if (lies_in(mapped_, pointer, [](auto const& of) { return of.first; })) return "pinned";
  }
  return is_shared_virtual(pointer) ? "pinned" : "pageable";
}

// ---------------------------------------------------------------- numbers and lines

void Timeline::unite(Numbers& to, Numbers const& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

void Timeline::begin() {
  if (!log_.begins()) return;
  log_.line("process,command,kind,stream,after,kernel,case,bytes,host_waits,host_s,memory,on_device,interface");
  number_ = waited_ = 0;
  queues_.clear(), events_.clear(), devices_.clear(), waited_for_.clear();
}

Timeline::Queue& Timeline::queue_of(cl_command_queue handle) {
  auto const [at, is_new] = queues_.try_emplace(handle);
  auto& queue = at->second;
  if (!is_new) return queue;
  cl_device_id device = nullptr;
  cl_command_queue_properties properties = 0;
  next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  queue.id = ++made_queues_;
  queue.device = devices_.try_emplace(device, static_cast<unsigned>(devices_.size())).first->second;
  queue.in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  return queue;
}

Timeline::Numbers Timeline::numbers_of(WaitList list) const {
  Numbers out;
  for (cl_uint i = 0; list.events && i < list.count; ++i)
    if (auto const known = events_.find(list.events[i]); known != events_.end()) unite(out, {known->second});
  return out;
}

void Timeline::wait_for(Numbers const& numbers, Queue const& queue) {
  if (numbers.empty() || (waited_ == number_ && numbers == waited_for_)) return;  // asked once more
  waited_ = write({"wait", 0, true}, queue, numbers);
  waited_for_ = numbers;
}

std::uint64_t Timeline::write(Asked const& asked, Queue const& queue, Numbers const& after) {
  if (number_ == max_commands) return 0;
  auto text = std::to_string(log_.process()) + ',' + std::to_string(++number_) + ',' + asked.kind + ',' +
              std::to_string(queue.id) + ',';
  for (std::size_t i = 0; i < after.size(); ++i) text += (i > 0 ? ";" : "") + std::to_string(after[i]);
  std::array<char, 32> host{};
  std::snprintf(host.data(), host.size(), "%.9g", std::exchange(host_s_, 0));
  text += ",," + asked.configuration + ',' + std::to_string(static_cast<std::uint64_t>(asked.bytes)) + ',' +
          (asked.waits ? "yes" : "no") + ',' + host.data() + ',' + asked.memory + ',' + std::to_string(queue.device) +
          ",opencl";
  log_.line(std::move(text));
  return number_;
}

}  // namespace kernelcast::attach
