// The part of recordings that attached applications need: they are written there, and read elsewhere.
#include "models/graph/recording.hpp"

#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "records/table/table.hpp"

namespace kernelcast::graph {

namespace {

using Kind = Command::Kind;

// The buffers that a command reads, and those that it writes.
std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>> buffers_of(Command const& command) {
  std::set<std::uint32_t> reads, writes;
  for (auto const& access : command.accesses) (access.write ? writes : reads).insert(access.buffer);
  if (command.kind == Kind::copy) reads.insert(command.from);
  if (command.kind == Kind::to_host) reads.insert(command.buffer);
  if (command.kind == Kind::from_host || command.kind == Kind::copy || command.kind == Kind::fill)
    writes.insert(command.buffer);
  return {reads, writes};
}

std::string text_of(double value) {
  return record::number_text(value);
}

std::string text_of(Access const& access, Recording const& recording) {
  std::string out = fmt::format(R"({{"buffer": {}, "begin": [{}, {}, {}, {}], "bytes": {}, "touched": {})",
                                json_text(recording.buffers[access.buffer].name), text_of(access.first),
                                text_of(access.step[0]), text_of(access.step[1]), text_of(access.step[2]),
                                text_of(access.span_bytes), text_of(access.touched_bytes));
  return out + (access.regular ? "}" : R"(, "regular": false})");
}

void write_node(std::ostream& out, Command const& command, Recording const& recording) {
  out << fmt::format("{{\"name\": {}, \"kind\": ", json_text(command.name));
  auto const range = [&](char const* kind) {
    out << fmt::format(R"("{}", "bytes": {}, "buffer": {}, "begin": {}, "end": {})", kind, text_of(command.bytes),
                       json_text(recording.buffers[command.buffer].name), text_of(command.begin), text_of(command.end));
  };
  if (command.kind == Kind::from_host) {
    range("h2d");
  } else if (command.kind == Kind::to_host) {
    range("d2h");
  } else if (command.kind == Kind::kernel) {
    out << fmt::format(R"("kernel", "kernel": {}, "case": {}, "elements": {}, "groups": [{}])",
                       json_text(command.kernel), json_text(command.case_name),
                       command.groups[0] * command.groups[1] * command.groups[2], fmt::join(command.groups, ", "));
    for (std::size_t r = 0; r < resource_names.size(); ++r)
      if (command.demand[r] > 0) out << fmt::format(", \"{}\": {}", resource_names[r], text_of(command.demand[r]));
    for (bool const write : {false, true}) {
      std::vector<std::string> list;
      for (auto const& access : command.accesses)
        if (access.write == write) list.push_back(text_of(access, recording));
      if (!list.empty())
        out << fmt::format(",\n     \"{}\": [{}]", write ? "writes" : "reads", fmt::join(list, ",\n       "));
    }
  } else {
    // On one device a kernel of the driver's, which reads and writes these bytes.
    bool const copy = command.kind == Kind::copy;
    range("kernel");
    out << fmt::format(R"(, "kernel": "{}", "global_bytes": {})", copy ? "copy" : "fill",
                       text_of(command.bytes * (copy ? 2 : 1)));
    if (copy)
      out << fmt::format(R"(, "from": {}, "from_begin": {}, "from_end": {})",
                         json_text(recording.buffers[command.from].name), text_of(command.from_begin),
                         text_of(command.from_end));
  }
  out << '}';
}

}  // namespace

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> dependences(Recording const& recording) {
  constexpr std::uint32_t none = ~0U;
  std::vector<std::uint32_t> last_write(recording.buffers.size(), none);
  std::vector<std::vector<std::uint32_t>> read_since(recording.buffers.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (std::uint32_t c = 0; c < recording.commands.size(); ++c) {
    auto const [reads, writes] = buffers_of(recording.commands[c]);
    std::set<std::uint32_t> before;
    for (auto const buffer : reads)
      if (last_write[buffer] != none) before.insert(last_write[buffer]);
    for (auto const buffer : writes) {
      if (last_write[buffer] != none) before.insert(last_write[buffer]);
      before.insert(read_since[buffer].begin(), read_since[buffer].end());
    }
    before.erase(c);
    for (auto const earlier : before) out.emplace_back(earlier, c);
    for (auto const buffer : reads) read_since[buffer].push_back(c);
    for (auto const buffer : writes) {
      last_write[buffer] = c;
      read_since[buffer].clear();
    }
  }
  return out;
}

void write_recording(std::ostream& out, Recording const& recording) {
  out << fmt::format("{{\n  \"app\": {},\n  \"buffers\": [", json_text(recording.app));
  for (bool first = true; auto const& buffer : recording.buffers) {
    out << fmt::format("{}\n    {{\"name\": {}, \"bytes\": {}{}}}", first ? "" : ",", json_text(buffer.name),
                       text_of(buffer.bytes), buffer.initial ? ", \"initial\": true" : "");
    first = false;
  }
  out << "\n  ],\n  \"nodes\": [";
  for (bool first = true; auto const& command : recording.commands) {
    out << (first ? "\n    " : ",\n    ");
    write_node(out, command, recording);
    first = false;
  }
  out << "\n  ],\n  \"edges\": [";
  for (bool first = true; auto const& [before, after] : dependences(recording)) {
    out << fmt::format("{}\n    [{}, {}]", first ? "" : ",", json_text(recording.commands[before].name),
                       json_text(recording.commands[after].name));
    first = false;
  }
  out << "\n  ]\n}\n";
}

}  // namespace kernelcast::graph
