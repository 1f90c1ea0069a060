#include "models/graph/split.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace kernelcast::graph {

namespace {

constexpr int host = -1;
constexpr std::uint32_t none = ~0U;  // no task
constexpr double same_place = 0.5;   // of a part's range that lies in the next one's range too
constexpr double once = 1.1;  // bytes written over bytes of the range: below it each byte was written by one part

struct Range {
  double begin = 0, end = 0;
  bool empty() const { return !(begin < end); }
  double bytes() const { return end - begin; }
};

struct Holder {
  int where = host;
  std::uint32_t task = none;  // that brought or made it
};

// A range of a buffer whose bytes all have the same holders.
struct Piece {
  enum class Mode : std::uint8_t { whole, scattered, partial };
  double begin = 0, end = 0;
  Mode mode = Mode::whole;
  std::vector<Holder> holders = {};        // of all of it; none: it was never written
  std::vector<std::uint32_t> makers = {};  // scattered and partial: the task of each part
};

// A part of a launch's grid.
struct Share {
  std::array<std::uint64_t, 3> from{}, to{};
  double of_all = 0;
};

class Splitter {
 public:
  Splitter(Recording const& recording, std::uint32_t parts, KernelParts const& of_kernels)
      : recording_(recording), parts_(parts), of_kernels_(of_kernels) {
    graph_.app = recording.app;
    graph_.parts = graph_.part_columns = parts;
    last_kernel_.assign(parts, none);
    for (auto const& buffer : recording.buffers) {
      Piece piece{0, buffer.bytes};
      if (buffer.initial) piece.holders.push_back({host, none});
      pieces_.push_back({piece});
      leaving_.emplace_back(parts);
      held_.emplace_back(parts);
    }
  }

  Graph graph() {
    for (auto const& command : recording_.commands) {
      switch (command.kind) {
        case Command::Kind::kernel:
          launch(command);
          break;
        case Command::Kind::from_host:
          from_host(command);
          break;
        case Command::Kind::to_host:
          to_host(command);
          break;
        case Command::Kind::copy:
        case Command::Kind::fill:
          move(command);
          break;
      }
    }
    for (std::uint32_t part = 0; part < parts_; ++part) {
      double bytes = 0;
      for (auto const& of_buffer : held_) bytes += of_buffer[part].bytes();
      graph_.memory_bytes.push_back(bytes);
    }
    set_edges(graph_, edges_);
    return std::move(graph_);
  }

 private:
  using Tasks = std::set<std::uint32_t>;

  std::uint32_t add(TaskKind kind, std::string const& name, Tasks const& before) {
    Task task;
    task.kind = kind;
    task.name = static_cast<std::uint32_t>(graph_.names.size());
    graph_.names.push_back(name);
    auto const index = static_cast<std::uint32_t>(graph_.tasks.size());
    graph_.tasks.push_back(task);
    for (auto const earlier : before)
      if (earlier != none) edges_.emplace_back(earlier, index);
    return index;
  }

  // ---- ranges

  // Pieces of a buffer, cut so that some of them make up the range.
  std::vector<Piece*> cut(std::uint32_t buffer, Range const& range) {
    auto& all = pieces_[buffer];
    for (double const at : {range.begin, range.end})
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].begin < at && at < all[i].end) {
          Piece second = all[i];
          second.begin = all[i].end = at;
          all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(second));
          break;
        }
    std::vector<Piece*> out;
    for (auto& piece : all)
      if (piece.begin >= range.begin && piece.end <= range.end && piece.begin < piece.end) out.push_back(&piece);
    return out;
  }

  Range clipped(std::uint32_t buffer, Range range) const {
    return {std::max(range.begin, 0.0), std::min(range.end, recording_.buffers[buffer].bytes)};
  }

  void hold(std::uint32_t buffer, int where, Range const& range) {
    if (where == host || range.empty()) return;
    auto& held = held_[buffer][static_cast<std::size_t>(where)];
    held = held.empty() ? range : Range{std::min(held.begin, range.begin), std::max(held.end, range.end)};
  }

  // What `where` must wait for to have this range; copies are made of what it does not hold. `density`: which part of
  // the bytes is wanted.
  Tasks fetch(std::uint32_t buffer, Range const& range, int where, double density, std::string const& reason) {
    Tasks ready;
    struct Sending {
      double bytes = 0;
      Tasks before;
      std::vector<Piece*> pieces;
    };
    std::map<int, Sending> sendings;
    for (auto* const piece : cut(buffer, range)) {
      auto const mine = std::find_if(piece->holders.begin(), piece->holders.end(),
                                     [where](Holder const& holder) { return holder.where == where; });
      if (mine != piece->holders.end()) {
        ready.insert(mine->task);
        continue;
      }
      double const bytes = (piece->end - piece->begin) * density;
      if (piece->mode == Piece::Mode::whole) {
        if (piece->holders.empty()) continue;
        auto const source = nearest(piece->holders, where);
        auto& sending = sendings[source.where];
        sending.bytes += bytes;
        sending.before.insert(source.task);
        sending.pieces.push_back(piece);
        continue;
      }
      bool const shares = piece->mode == Piece::Mode::scattered;
      auto const makers =
          static_cast<double>(std::ranges::count_if(piece->makers, [](std::uint32_t maker) { return maker != none; }));
      for (std::uint32_t part = 0; part < parts_; ++part) {
        if (piece->makers[part] == none) continue;
        if (static_cast<int>(part) == where) {
          ready.insert(piece->makers[part]);
          continue;
        }
        auto& sending = sendings[static_cast<int>(part)];
        sending.bytes += shares ? bytes / makers : bytes;
        sending.before.insert(piece->makers[part]);
        sending.pieces.push_back(piece);
      }
    }
    for (auto& [source, sending] : sendings) {
      auto const copy = send(buffer, source, where, sending.bytes, sending.before, reason);
      ready.insert(copy);
      for (auto* const piece : sending.pieces) {
        auto& holders = piece->holders;
        // Of several sources the last copy stands for all: they arrive at about the same time.
        auto const mine = std::find_if(holders.begin(), holders.end(),
                                       [where](Holder const& holder) { return holder.where == where; });
        if (mine == holders.end())
          holders.push_back({where, copy});
        else
          mine->task = copy;
      }
    }
    hold(buffer, where, range);
    ready.erase(none);
    return ready;
  }

  // The first holder is the one that wrote it. What the host wrote comes from the host; what a part computed from the
  // nearest part: parts beside each other are often near in the system too.
  static Holder nearest(std::vector<Holder> const& holders, int where) {
    Holder best = holders.front();
    if (best.where == host || where == host) return best;
    for (auto const& holder : holders)
      if (holder.where != host && std::abs(holder.where - where) < std::abs(best.where - where)) best = holder;
    return best;
  }

  std::uint32_t send(std::uint32_t buffer, int source, int where, double bytes, Tasks const& before,
                     std::string const& reason) {
    auto const kind = source == host ? TaskKind::h2d : where == host ? TaskKind::d2h : TaskKind::d2d;
    auto const end_name = [](int end) { return end == host ? std::string("host") : fmt::format("{}", end); };
    auto const copy = add(kind,
                          fmt::format("{}:{}:{}>{}#{}", reason, recording_.buffers[buffer].name, end_name(source),
                                      end_name(where), graph_.tasks.size()),
                          before);
    auto& task = graph_.tasks[copy];
    task.amount = bytes;
    task.part = static_cast<std::uint32_t>(source == host ? where : source);
    if (kind == TaskKind::d2d) task.to = static_cast<std::uint32_t>(where);
    if (source != host) leaving_[buffer][static_cast<std::size_t>(source)].push_back(copy);
    return copy;
  }

  void own(std::uint32_t buffer, Range const& range, int where, std::uint32_t task) {
    for (auto* const piece : cut(buffer, range)) {
      piece->mode = Piece::Mode::whole;
      piece->holders.assign(1, {where, task});
      piece->makers.clear();
    }
    hold(buffer, where, range);
    merge(buffer);
  }

  void own_together(std::uint32_t buffer, Range const& range, Piece::Mode mode,
                    std::vector<std::uint32_t> const& makers) {
    for (auto* const piece : cut(buffer, range)) {
      piece->mode = mode;
      piece->holders.clear();
      piece->makers = makers;
    }
    for (std::uint32_t part = 0; part < parts_; ++part)
      if (makers[part] != none) hold(buffer, static_cast<int>(part), range);
    merge(buffer);
  }

  // Neighbours that have become alike.
  void merge(std::uint32_t buffer) {
    auto& all = pieces_[buffer];
    auto const alike = [](Piece const& a, Piece const& b) {
      return a.mode == b.mode && a.makers == b.makers && a.holders.size() == b.holders.size() &&
             std::equal(a.holders.begin(), a.holders.end(), b.holders.begin(),
                        [](Holder const& x, Holder const& y) { return x.where == y.where && x.task == y.task; });
    };
    std::size_t kept = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[kept].end == all[i].begin && alike(all[kept], all[i]))
        all[kept].end = all[i].end;
      else if (++kept != i)
        all[kept] = std::move(all[i]);
    }
    all.resize(kept + 1);
  }

  // ---- commands

  void from_host(Command const& command) {
    // A host that waits for results before it writes: its own order.
    std::uint32_t after = none;
    if (!host_reads_.empty()) after = add(TaskKind::join, command.name, host_reads_);
    own(command.buffer, {command.begin, command.end}, host, after);
  }

  void to_host(Command const& command) {
    Range const range{command.begin, command.end};
    double const density = range.empty() ? 0 : std::min(1.0, command.bytes / range.bytes());
    auto const ready = fetch(command.buffer, range, host, density, command.name);
    if (!ready.empty()) host_reads_ = ready;
  }

  // Copies and fills on the device: each part does its share of the range.
  void move(Command const& command) {
    bool const copy = command.kind == Command::Kind::copy;
    std::vector<Range> written(parts_);
    std::vector<std::uint32_t> made(parts_, none);
    auto const share_of = [this](double begin, double end, std::uint32_t part) {
      return Range{begin + (end - begin) * part / parts_, begin + (end - begin) * (part + 1) / parts_};
    };
    for (std::uint32_t part = 0; part < parts_; ++part) {
      written[part] = share_of(command.begin, command.end, part);
      Tasks before{last_kernel_[part]};
      if (copy) {
        auto const range = share_of(command.from_begin, command.from_end, part);
        double const density = std::min(1.0, command.bytes / (command.from_end - command.from_begin));
        before.merge(fetch(command.from, range, static_cast<int>(part), density, command.name));
      }
      Demand demand{};
      demand[0] = command.bytes * (copy ? 2 : 1) / parts_;
      made[part] = add_kernel(command, copy ? "copy" : "fill", part, 1.0 / parts_, demand, before, {command.buffer});
    }
    for (std::uint32_t part = 0; part < parts_; ++part)
      own(command.buffer, written[part], static_cast<int>(part), made[part]);
  }

  std::uint32_t add_kernel(Command const& command, std::string const& kernel_name, std::uint32_t part, double share,
                           Demand const& demand, Tasks before, std::set<std::uint32_t> const& overwritten) {
    for (auto const buffer : overwritten) {
      auto& leaving = leaving_[buffer][part];
      before.insert(leaving.begin(), leaving.end());
      leaving.clear();
    }
    auto const task = add(TaskKind::kernel, fmt::format("{}.{}", command.name, part), before);
    Kernel kernel;
    kernel.name = kernel_name;
    kernel.demand = demand;
    kernel.elements = share;
    graph_.tasks[task].part = part;
    graph_.tasks[task].kernel = static_cast<std::uint32_t>(graph_.kernels.size());
    graph_.kernels.push_back(std::move(kernel));
    last_kernel_[part] = task;
    return task;
  }

  // Bands of the slowest axis that has a group for each part, else of the longest.
  std::vector<Share> shares_of(Command const& command) const {
    auto const limit = of_kernels_.find(command.kernel);
    std::uint32_t const parts = limit == of_kernels_.end() ? parts_ : std::clamp(limit->second, 1U, parts_);
    std::size_t axis = 3;
    for (std::size_t i = 3; i-- > 0;)
      if (command.groups[i] >= parts && axis == 3) axis = i;
    if (axis == 3)
      axis = static_cast<std::size_t>(std::max_element(command.groups.begin(), command.groups.end()) -
                                      command.groups.begin());
    std::vector<Share> out(parts_);
    for (std::uint32_t part = 0; part < parts; ++part) {
      out[part].to = command.groups;
      out[part].from[axis] = command.groups[axis] * part / parts;
      out[part].to[axis] = command.groups[axis] * (part + 1) / parts;
      out[part].of_all =
          static_cast<double>(out[part].to[axis] - out[part].from[axis]) / static_cast<double>(command.groups[axis]);
    }
    return out;
  }

  Range range_of(Access const& access, Share const& share) const {
    if (share.of_all == 0) return {};
    if (!access.regular) return {0, recording_.buffers[access.buffer].bytes};
    Range out{access.first, access.first + access.span_bytes};
    for (std::size_t i = 0; i < 3; ++i) {
      double const low = access.step[i] * static_cast<double>(share.from[i]);
      double const high = access.step[i] * static_cast<double>(share.to[i] - 1);
      out.begin += std::min(low, high);
      out.end += std::max(low, high);
    }
    return clipped(access.buffer, out);
  }

  // Which part of its range the groups of a share touch: their gaps are filled by neighbours less than a span away.
  static double density_of(Access const& access, Share const& share, Range const& range) {
    if (!access.regular || range.empty()) return 1;
    double touched = access.touched_bytes;
    for (std::size_t i = 0; i < 3; ++i)
      if (access.step[i] != 0) touched *= static_cast<double>(share.to[i] - share.from[i]);
    return std::clamp(touched / range.bytes(), 0.0, 1.0);
  }

  void launch(Command const& command) {
    auto const shares = shares_of(command);
    std::set<std::uint32_t> overwritten;
    for (auto const& access : command.accesses)
      if (access.write) overwritten.insert(access.buffer);
    // All reads before any write: parts see what was there before the launch.
    std::vector<Tasks> before(parts_);
    for (std::uint32_t part = 0; part < parts_; ++part)
      for (auto const& access : command.accesses) {
        auto const range = range_of(access, shares[part]);
        if (access.write || range.empty()) continue;
        before[part].merge(
            fetch(access.buffer, range, static_cast<int>(part), density_of(access, shares[part], range), command.name));
      }
    std::vector<std::uint32_t> made(parts_, none);
    for (std::uint32_t part = 0; part < parts_; ++part) {
      if (shares[part].of_all == 0) continue;
      before[part].insert(last_kernel_[part]);
      Demand demand = command.demand;
      for (auto& amount : demand) amount *= shares[part].of_all;
      made[part] = add_kernel(command, command.kernel, part, shares[part].of_all, demand, before[part], overwritten);
    }
    for (auto const& access : command.accesses)
      if (access.write) write(access, shares, made);
  }

  // Ranges side by side have an owner each. Where they lie over each other the parts either fill each other's gaps, or
  // write the same bytes.
  void write(Access const& access, std::vector<Share> const& shares, std::vector<std::uint32_t> const& made) {
    Range all, before;
    double touched_bytes = 0, max_common = 0;
    for (std::uint32_t part = 0; part < parts_; ++part) {
      auto const range = range_of(access, shares[part]);
      if (range.empty()) continue;
      touched_bytes += density_of(access, shares[part], range) * range.bytes();
      if (!before.empty())
        max_common = std::max(max_common,
                              (std::min(range.end, before.end) - std::max(range.begin, before.begin)) / range.bytes());
      all = all.empty() ? range : Range{std::min(all.begin, range.begin), std::max(all.end, range.end)};
      before = range;
    }
    if (all.empty()) return;
    if (max_common > same_place) {
      bool const gaps = !access.regular || touched_bytes < once * all.bytes();
      return own_together(access.buffer, all, gaps ? Piece::Mode::scattered : Piece::Mode::partial, made);
    }
    for (std::uint32_t part = 0; part < parts_; ++part)
      if (auto const range = range_of(access, shares[part]); !range.empty())
        own(access.buffer, range, static_cast<int>(part), made[part]);
  }

  Recording const& recording_;
  std::uint32_t parts_;
  KernelParts const& of_kernels_;
  Graph graph_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<std::vector<Piece>> pieces_;                        // by buffer, in order, without gaps
  std::vector<std::vector<std::vector<std::uint32_t>>> leaving_;  // by buffer and part: copies that read from there
  std::vector<std::vector<Range>> held_;                          // by buffer and part: all that it ever held
  std::vector<std::uint32_t> last_kernel_;                        // by part
  Tasks host_reads_;                                              // that the host waited for last
};

}  // namespace

Graph split(Recording const& recording, std::uint32_t parts, KernelParts const& of_kernels) {
  return Splitter(recording, parts, of_kernels).graph();
}

}  // namespace kernelcast::graph
