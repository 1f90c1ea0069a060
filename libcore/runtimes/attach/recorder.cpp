#include "runtimes/attach/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/process/process.hpp"

namespace kernelcast::attach {

namespace {

class Recorder {
 public:
  Recorder(SpoolReader const& spool, KnownLaunches const& known, std::function<void(std::string_view)> const& report)
      : spool_(spool), known_(known), report_(report) {}

  graph::Recording recording(std::string app) {
    out_.app = std::move(app);
    std::vector<std::string> processes;
    for (auto const& name : names_in(spool_.folder()))
      if (name.starts_with("commands-")) processes.push_back(name.substr(9));
    std::sort(processes.begin(), processes.end());
    for (auto const& process : processes) read(process);
    return std::move(out_);
  }

 private:
  using Kind = graph::Command::Kind;

  void read(std::string const& process) {
    process_ = process;
    buffers_.clear();
    placed_.clear();
    place_.file = spool_.folder() + "/commands-" + process;
    place_.line = 0;
    std::ifstream file(place_.file);
    for (; std::getline(file, line_);) {
      ++place_.line;
      std::istringstream words(line_);
      std::string kind;
      words >> kind;
      if (kind == "B") buffer(words);
      if (kind == "S") place(words);
      if (kind == "K") launch(words);
      if (kind == "L") observed_launch(words);
      if (kind == "W") range(words, Kind::from_host, "write");
      if (kind == "R") range(words, Kind::to_host, "read");
      if (kind == "F") range(words, Kind::fill, "fill");
      if (kind == "C") copy(words);
    }
  }

  void buffer(std::istringstream& words) {
    std::uint64_t number = 0, bytes = 0, initial = 0;
    if (!(words >> number >> bytes >> initial)) return;
    auto const index = static_cast<std::uint32_t>(out_.buffers.size());
    if (!buffers_.emplace(number, index).second) throw wrong(fmt::format("buffer {} is there twice", number));
    out_.buffers.push_back({fmt::format("b{}", index), static_cast<double>(bytes), initial != 0});
  }

  void place(std::istringstream& words) {
    std::uint64_t number = 0, address = 0;
    if (words >> number >> address) placed_[address] = buffer_of(number);
  }

  Error wrong(std::string const& what) const {
    return {Status::bad_data, place_, what, "the application's log of commands is damaged; run it again", line_};
  }

  // Its place in the recording.
  std::uint32_t buffer_of(std::uint64_t number) const {
    auto const found = buffers_.find(number);
    if (found == buffers_.end()) throw wrong(fmt::format("there is no buffer {}", number));
    return found->second;
  }

  // Bytes have 64 bits; larger figures would leave the range of numbers once they are added or multiplied.
  void check_bytes(std::initializer_list<double> figures) const {
    for (double const bytes : figures)
      if (!(std::fabs(bytes) <= 0x1p64)) throw wrong(fmt::format("{:g} is more than any memory holds", bytes));
  }

  std::string next_name(std::string_view what) const { return fmt::format("{}#{}", what, out_.commands.size()); }

  void range(std::istringstream& words, Kind kind, std::string_view what) {
    graph::Command command;
    std::uint64_t number = 0;
    if (!(words >> number >> command.begin >> command.end >> command.bytes) || command.end <= command.begin) return;
    check_bytes({command.begin, command.end, command.bytes});
    command.kind = kind;
    command.name = next_name(what);
    command.buffer = buffer_of(number);
    out_.commands.push_back(std::move(command));
  }

  void copy(std::istringstream& words) {
    graph::Command command;
    std::uint64_t from = 0, to = 0;
    if (!(words >> from >> command.from_begin >> command.from_end >> command.bytes >> to >> command.begin >>
          command.end))
      return;
    check_bytes({command.from_begin, command.from_end, command.bytes, command.begin, command.end});
    command.kind = Kind::copy;
    command.name = next_name("copy");
    command.from = buffer_of(from);
    command.buffer = buffer_of(to);
    out_.commands.push_back(std::move(command));
  }

  // The launch's node, without its accesses; null, and told, where it has no row.
  graph::Command* add_launch(std::uint64_t number, std::array<std::uint64_t, 3> const& groups) {
    auto const found = known_.find({process_, number});
    if (found == known_.end()) {
      if (unknown_.insert({process_, number}).second)
        report_(fmt::format("launch {} of process {} is not in the graph: it has no row", number, process_));
      return nullptr;
    }
    auto const& row = found->second.row;
    graph::Command command;
    command.name = next_name(row.kernel);
    command.kernel = row.kernel;
    command.case_name = row.case_name;
    command.groups = groups;
    command.demand = demand_of(row);
    return &out_.commands.emplace_back(std::move(command));
  }

  void launch(std::istringstream& words) {
    std::uint64_t number = 0;
    words >> number;
    auto const found = known_.find({process_, number});
    auto const* const accesses = found == known_.end() ? nullptr : &found->second.accesses;
    auto* const command = add_launch(number, accesses ? accesses->groups : std::array<std::uint64_t, 3>{1, 1, 1});
    if (!command) return;
    for (std::string word; words >> word;) {
      unsigned argument = 0;
      std::uint64_t buffer = 0;
      double offset = 0;
      char colon = 0;
      std::istringstream parts(word);
      if (!(parts >> argument >> colon >> buffer >> colon >> offset)) continue;
      check_bytes({offset});
      add_accesses(*command, accesses->accesses, argument, buffer_of(buffer), offset);
    }
    for (auto access : accesses->by_address)
      if (auto const placed = placed_.find(access.first); placed != placed_.end()) {
        access.second.buffer = placed->second;
        command->accesses.push_back(access.second);
      }
  }

  void observed_launch(std::istringstream& words) {
    std::uint64_t number = 0;
    std::array<std::uint64_t, 3> groups{};
    if (!(words >> number >> groups[0] >> groups[1] >> groups[2])) return;
    auto* const command = add_launch(number, groups);
    if (!command) return;
    for (std::string word; words >> word;) {
      std::replace(word.begin(), word.end(), ':', ' ');
      std::istringstream parts(word);
      std::uint64_t buffer = 0;
      graph::Access access;
      if (!(parts >> buffer >> access.write >> access.regular >> access.first >> access.step[0] >> access.step[1] >>
            access.step[2] >> access.span_bytes >> access.touched_bytes))
        continue;
      check_bytes(
          {access.first, access.step[0], access.step[1], access.step[2], access.span_bytes, access.touched_bytes});
      access.buffer = buffer_of(buffer);
      command->accesses.push_back(access);
    }
  }

  // Through a sub-buffer the ranges begin further on, and an irregular access is one to its bytes alone.
  void add_accesses(graph::Command& command, std::vector<graph::Access> const& accesses, unsigned argument,
                    std::uint32_t buffer, double offset) const {
    for (auto access : accesses) {
      if (access.buffer != argument) continue;
      access.buffer = buffer;
      access.first += offset;
      if (!access.regular && access.span_bytes < out_.buffers[buffer].bytes) {
        access.regular = true;  // the same range for each group
        access.step = {};
        access.touched_bytes = access.span_bytes;
      }
      command.accesses.push_back(access);
    }
  }

  SpoolReader const& spool_;
  KnownLaunches const& known_;
  std::function<void(std::string_view)> const& report_;
  graph::Recording out_;
  std::string process_;
  Where place_;  // of the line that is read
  std::string line_;
  std::map<std::uint64_t, std::uint32_t> buffers_;  // of this process, by the numbers in its log
  std::map<std::uint64_t, std::uint32_t> placed_;   // buffers that pointers may lead to, by address
  std::set<std::pair<std::string, std::uint64_t>> unknown_;
};

}  // namespace

graph::Demand demand_of(record::Kernel const& row) {
  using enum record::InstructionClass;
  auto const launches = static_cast<double>(std::max<std::uint64_t>(1, row.launches));
  graph::Demand out{row.global_load_bytes + row.global_store_bytes,
                    row.shared_load_bytes + row.shared_store_bytes,
                    2 * row.inst[fp64],
                    2 * row.inst[fp32],
                    row.inst[int_add] + row.inst[int_mul],
                    row.inst[shift] + row.inst[logic]};
  for (auto& amount : out) amount /= launches;
  return out;
}

graph::Recording recording_of(SpoolReader const& spool, KnownLaunches const& known, std::string app,
                              std::function<void(std::string_view)> const& report) {
  return Recorder(spool, known, report).recording(std::move(app));
}

}  // namespace kernelcast::attach
