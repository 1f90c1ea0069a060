#include "runtimes/cudart/timeline.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtimes/attach/spool.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/streams.hpp"

namespace kernelcast::cudart {

namespace {

constexpr std::uint64_t max_commands = 1'000'000;
constexpr std::chrono::milliseconds between_flushes{100};

thread_local std::optional<Stream> current_stream;
thread_local OnGraph* current_graph = nullptr;

void unite(std::vector<std::uint64_t>& to, std::vector<std::uint64_t> const& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::ranges::sort(to);
  to.erase(std::ranges::unique(to).begin(), to.end());
}

}  // namespace

Timeline::Timeline(attach::Settings const& settings, Allocations const& allocations)
    : settings_(settings), allocations_(allocations), usage_(&own_) {}

void Timeline::entered() {
  if (depth_++ > 0) return;
  auto const now = Clock::now();
  if (process_ == 0) {
    process_ = getpid();
    own_ = {};
    usage_ = &own_;
    if (!settings_.row_spool.empty())
      if (auto* const shared =
              attach::Spool(settings_.row_spool).map(fmt::format("usage-{}", process_), sizeof(attach::Usage)))
        usage_ = new (shared) attach::Usage;
    file_.reset();
    writer_.reset();
    left_.reset();
  }
  if (left_) {
    auto const ns = std::chrono::nanoseconds(now - *left_).count();
    usage_->host_ns += static_cast<std::uint64_t>(ns);
    host_s_ += 1e-9 * static_cast<double>(ns);
  }
  left_ = now;
}

void Timeline::left() {
  if (--depth_ > 0) return;
  auto const now = Clock::now();
  usage_->device_ns += static_cast<std::uint64_t>(std::chrono::nanoseconds(now - *left_).count());
  left_ = now;
}

// ---------------------------------------------------------------- the file

bool Timeline::begin_file() {
  if (settings_.row_spool.empty() || !settings_.timeline) return false;
  if (file_) return file_->good();
  file_ = std::make_unique<std::ofstream>(fmt::format("{}/timeline-{}.csv", settings_.row_spool, process_));
  writer_.emplace(*file_);
  number_ = graphs_ = 0;
  last_.clear();
  defaults_.clear();
  destroyed_.clear();
  events_.clear();
  return file_->good();
}

void Timeline::flush() {
  if (file_) file_->flush();
}

std::uint64_t Timeline::write(record::Command command, Numbers const& after) {
  if (!begin_file()) return 0;
  if (number_ == max_commands) {
    report(fmt::format("the commands after the first {} are left out", max_commands));
    return 0;
  }
  command.process = std::to_string(process_);
  if (is_hip()) command.interface = record::Interface::hip;
  command.number = ++number_;
  command.after = fmt::format("{}", fmt::join(after, ";"));
  command.host_s = std::exchange(host_s_, 0);
  writer_->write(command);
  if (auto const now = Clock::now(); now - flushed_ > between_flushes) {
    file_->flush();
    flushed_ = now;
  }
  return command.number;
}

// ---------------------------------------------------------------- order

Timeline::Last& Timeline::last_of(Stream stream) {
  auto const default_of = [&](int device) -> Last& {
    auto& last = defaults_[device];
    last.device = device;
    return last;
  };
  if (Streams::is_default(stream)) return default_of(current_device());
  auto const [at, is_new] = last_.try_emplace(stream);
  auto& last = at->second;
  if (is_new) {
    constexpr unsigned non_blocking = 1;  // cudaStreamNonBlocking
    last = {{}, (stream->flags & non_blocking) == 0, stream->id, stream->device};
    if (last.blocking) last.numbers = default_of(last.device).numbers;
  }
  return last;
}

Timeline::Numbers Timeline::before(Stream stream) {
  auto const& own = last_of(stream);
  auto out = own.numbers;
  if (Streams::is_default(stream))
    for (auto const& [other, last] : last_)
      if (last.blocking && last.device == own.device) unite(out, last.numbers);
  return out;
}

void Timeline::follow(Stream stream, Numbers const& numbers) {
  auto& own = last_of(stream);
  own.numbers = numbers;
  if (Streams::is_default(stream))
    for (auto& [other, last] : last_)
      if (last.blocking && last.device == own.device) last.numbers = numbers;
}

void Timeline::add(record::Command command, Stream stream) {
  if (!settings_.timeline || !begin_file()) return;
  if (current_graph) stream = current_graph->stream_;
  auto const& last = last_of(stream);
  command.stream = std::to_string(last.id);
  if (!command.from_device) command.device = static_cast<std::uint64_t>(last.device);
  if (current_graph) {
    command.graph = current_graph->number_;
    if (auto const number = write(std::move(command), current_graph->now_)) current_graph->now_ = {number};
  } else if (auto const number = write(std::move(command), before(stream))) {
    follow(stream, {number});
  }
}

void Timeline::record(Event event, Stream stream) {
  if (settings_.timeline && begin_file()) events_[event] = before(stream);
}

void Timeline::wait(Stream stream, Event event) {
  auto const found = events_.find(event);
  if (found == events_.end()) return;
  auto& own = last_of(stream);
  unite(own.numbers, found->second);
  if (!Streams::is_default(stream)) return;
  for (auto& [other, last] : last_)  // which wait for whatever the default stream does
    if (last.blocking && last.device == own.device) unite(last.numbers, found->second);
}

void Timeline::destroyed(Stream stream) {
  auto const found = last_.find(stream);
  if (found == last_.end()) return;
  unite(destroyed_[found->second.device], found->second.numbers);
  last_.erase(found);
}

void Timeline::destroyed_all() {
  while (!last_.empty()) destroyed(last_.begin()->first);
  events_.clear();
}

void Timeline::wait_for(Numbers const& after, std::string stream) {
  if (after.empty() || (waited_ == number_ && after == waited_for_)) return;  // asked once more
  record::Command command;
  command.kind = record::CommandKind::wait;
  command.stream = std::move(stream);
  command.host_waits = true;
  waited_ = write(std::move(command), after);
  waited_for_ = after;
}

void Timeline::host_waits() {
  if (!settings_.timeline || !begin_file()) return;
  auto const device = current_device();
  Numbers all = std::exchange(destroyed_[device], {});
  unite(all, defaults_[device].numbers);
  for (auto const& [stream, last] : last_)
    if (last.device == device) unite(all, last.numbers);
  wait_for(all, {});
}

void Timeline::host_waits(Stream stream) {
  if (settings_.timeline && begin_file()) wait_for(before(stream), std::to_string(last_of(stream).id));
}

void Timeline::host_waits(Event event) {
  if (auto const found = events_.find(event); found != events_.end()) wait_for(found->second, {});
}

// ---------------------------------------------------------------- commands

void Timeline::move(Allocation const& what, std::size_t bytes, std::optional<int> to, record::HostMemory how,
                    Stream stream) {
  auto const at = used_on_.find(what.serial);
  std::optional<int> const from = at == used_on_.end() ? std::nullopt : std::optional(at->second);
  if (from == to) return;
  if (to)
    used_on_[what.serial] = *to;
  else
    used_on_.erase(at);
  if (bytes == 0) return;
  record::Command command;
  command.kind = !to ? record::CommandKind::d2h : from ? record::CommandKind::d2d : record::CommandKind::h2d;
  if (command.kind == record::CommandKind::d2d) {
    command.from_device = static_cast<std::uint64_t>(*from);
    command.device = static_cast<std::uint64_t>(*to);
  } else {
    command.memory = how;
  }
  command.bytes = static_cast<double>(bytes);
  add(std::move(command), stream);
}

namespace {

// Of memory that was reserved: what something was written to or read from.
std::size_t touched_bytes(std::uint64_t begin, std::size_t bytes) {
  auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  auto const first = begin / page * page;
  std::vector<unsigned char> pages((begin + bytes - first + page - 1) / page);
  if (mincore(reinterpret_cast<void*>(first), pages.size() * page, pages.data()) != 0) return bytes;
  auto const there =
      static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char p) { return (p & 1) != 0; }));
  return std::min(bytes, there * page);
}

}  // namespace

double Timeline::reached(Stream stream, std::span<std::byte const> parameters) {
  if (!settings_.timeline || !begin_file()) return 0;
  std::set<std::uint64_t> seen;
  double pinned = 0;
  for (std::size_t at = 0; at + sizeof(void*) <= parameters.size(); at += sizeof(void*)) {
    void const* word = nullptr;
    std::memcpy(&word, parameters.data() + at, sizeof word);
    auto const [begin, allocation] = allocations_.holding(word);
    if (!allocation || !seen.insert(begin).second) continue;
    if (allocation->type == MemoryType::host) pinned += static_cast<double>(allocation->asked_bytes);
    if (allocation->type != MemoryType::managed) continue;
    bool const is_new = !used_on_.contains(allocation->serial);
    move(*allocation, is_new ? touched_bytes(begin, allocation->asked_bytes) : allocation->asked_bytes,
         current_device(), record::HostMemory::managed, stream);
  }
  return pinned;
}

void Timeline::prefetched(void const* begin, std::size_t bytes, std::optional<int> device, Stream stream) {
  if (!settings_.timeline || !begin_file()) return;
  auto const* const allocation = allocations_.holding(begin).second;
  if (allocation && allocation->type == MemoryType::managed)
    move(*allocation, touched_bytes(address_of(begin), bytes), device, record::HostMemory::pinned, stream);
}

void Timeline::kernel(Stream stream, std::string const& name, std::string const& case_name, double pinned_bytes,
                      bool of_library) {
  record::Command command;
  command.bytes = pinned_bytes;
  if (pinned_bytes > 0) command.memory = record::HostMemory::pinned;
  command.kind = of_library ? record::CommandKind::library : record::CommandKind::kernel;
  command.kernel = name;
  command.case_name = case_name;
  add(std::move(command), of_library ? current_stream.value_or(nullptr) : stream);
}

void Timeline::collective(std::vector<Participant> const& all, std::string const& name, double bytes, std::size_t of) {
  if (!settings_.timeline || !begin_file()) return;
  auto& device = current_device();
  auto const outer = device;
  Numbers after;
  for (auto const& one : all) {
    device = one.device;  // whose default stream is meant
    unite(after, before(one.stream));
  }
  for (auto const& one : all) {
    device = one.device;
    record::Command command;
    command.kind = record::CommandKind::collective;
    command.kernel = name;
    command.case_name = std::to_string(of);
    command.bytes = bytes;
    command.stream = std::to_string(last_of(one.stream).id);
    command.device = static_cast<std::uint64_t>(one.device);
    if (auto const number = write(std::move(command), after)) follow(one.stream, {number});
  }
  device = outer;
}

record::Command Timeline::copy_between(Area const& to, Area const& from) const {
  record::Command out;
  std::optional<int> on_to, on_from;
  auto const look = [&](Area const& area, std::optional<int>& device) {
    auto const* const found = allocations_.holding(area.begin).second;
    if (found ? found->type != MemoryType::host : allocations_.holds(area.begin, 1))
      device = found ? found->device : current_device();
    else
      out.memory = found ? record::HostMemory::pinned : record::HostMemory::pageable;
  };
  look(to, on_to);
  look(from, on_from);
  using enum record::CommandKind;
  out.kind = on_to && on_from ? d2d : on_to ? h2d : on_from ? d2h : host;
  if (out.kind == d2d && on_to != on_from) {
    out.from_device = static_cast<std::uint64_t>(*on_from);
    out.device = static_cast<std::uint64_t>(*on_to);
  }
  return out;
}

void Timeline::copied(Area const& to, Area const& from) {
  auto command = copy_between(to, from);
  auto const kind = command.kind;
  if (kind == record::CommandKind::host) return;  // within the host's memory
  auto const bytes = to.bytes * to.rows;
  auto const direction = static_cast<std::size_t>(kind) - static_cast<std::size_t>(record::CommandKind::h2d);
  ++usage_->copies[direction];
  usage_->copied_bytes[direction] += bytes;
  command.bytes = static_cast<double>(bytes);
  command.host_waits = !current_graph && kind != record::CommandKind::d2d &&
                       (!current_stream || command.memory == record::HostMemory::pageable);
  add(std::move(command), current_stream.value_or(nullptr));
}

void Timeline::filled(Area const& to) {
  auto const bytes = to.bytes * to.rows;
  ++usage_->copies[3];
  usage_->copied_bytes[3] += bytes;
  record::Command command;
  command.kind = record::CommandKind::fill;
  command.bytes = static_cast<double>(bytes);
  add(std::move(command), current_stream.value_or(nullptr));
}

void Timeline::allocated() {
  auto const device = current_device();
  auto& peak = usage_->peak_bytes[static_cast<std::size_t>(device) % usage_->peak_bytes.size()];
  peak = std::max(peak, allocations_.used_bytes(device));
}

void Timeline::host_function() {
  record::Command command;
  command.kind = record::CommandKind::host;
  add(std::move(command), current_stream.value_or(nullptr));
}

// ---------------------------------------------------------------- whose commands

static_assert(static_cast<int>(record::CommandKind::fill) - static_cast<int>(record::CommandKind::h2d) == 3);

OnStream::OnStream(Stream stream) : outer_(std::exchange(current_stream, stream)) {}
OnStream::~OnStream() {
  current_stream = outer_;
}

OnGraph::OnGraph() : stream_(current_stream.value_or(nullptr)), outer_(current_graph) {
  if (outer_) {  // a graph in a graph
    stream_ = outer_->stream_;
    number_ = outer_->number_;
    begin_ = outer_->now_;
  } else {
    locked([&](Timeline& timeline) {
      if (timeline.begin_file()) number_ = ++timeline.graphs_;
      begin_ = timeline.before(stream_);
    });
  }
  current_graph = this;
}

void OnGraph::step(std::size_t number, std::vector<std::size_t> const& before) {
  if (!ends_.empty()) ends_[at_] = now_;
  ends_.resize(std::max(ends_.size(), number + 1));
  followed_.resize(ends_.size());
  at_ = number;
  now_ = before.empty() ? begin_ : Timeline::Numbers{};
  for (auto const other : before)
    if (other < number) {
      unite(now_, ends_[other]);
      followed_[other] = true;
    }
}

OnGraph::~OnGraph() {
  current_graph = outer_;
  if (ends_.empty()) return;
  ends_[at_] = now_;
  Timeline::Numbers end;
  for (std::size_t step = 0; step < ends_.size(); ++step)
    if (!followed_[step]) unite(end, ends_[step]);
  if (outer_)
    outer_->now_ = end;
  else
    locked([&](Timeline& timeline) { timeline.follow(stream_, end); });
}

}  // namespace kernelcast::cudart
