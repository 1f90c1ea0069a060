// Recorded programs in parts: closed forms, and a checker that keeps holders byte by byte.
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "models/graph/graph_file.hpp"
#include "models/graph/split.hpp"

using namespace kernelcast::graph;
using Kind = Command::Kind;

namespace {

Command copied(Kind kind, std::uint32_t buffer, double begin, double end) {
  Command c;
  c.kind = kind;
  c.buffer = buffer;
  c.begin = begin;
  c.end = end;
  c.bytes = end - begin;
  return c;
}

Access access(std::uint32_t buffer, bool write, double first, std::array<double, 3> step, double bytes) {
  return {buffer, write, true, first, step, bytes, bytes};
}

Command kernel(std::string name, std::array<std::uint64_t, 3> groups, std::vector<Access> accesses) {
  Command c;
  c.kernel = std::move(name);
  c.groups = groups;
  c.demand = {1000, 0, 0, 500, 0, 0};
  c.accesses = std::move(accesses);
  return c;
}

Recording numbered(Recording recording) {
  for (std::size_t i = 0; i < recording.commands.size(); ++i) recording.commands[i].name = "c" + std::to_string(i);
  return recording;
}

double bytes_of(Graph const& graph, TaskKind kind) {
  double sum = 0;
  for (auto const& task : graph.tasks)
    if (task.kind == kind) sum += task.amount;
  return sum;
}

bool waits_for(Graph const& graph, std::uint32_t task, std::uint32_t earlier) {
  std::set<std::uint32_t> reached{earlier};
  for (std::uint32_t t = earlier; t <= task; ++t)  // tasks are in an order that dependences follow
    if (reached.contains(t))
      for (auto const next : graph.successors_of(t)) reached.insert(next);
  return reached.contains(task);
}

// A row of `row` bytes for each of `rows` groups; each reads its own and the rows beside it. Two buffers in turn.
Recording stencil(std::uint64_t rows, double row, int steps) {
  Recording r;
  double const bytes = static_cast<double>(rows) * row;
  r.buffers = {{"x", bytes}, {"y", bytes}};
  r.commands.push_back(copied(Kind::from_host, 0, 0, bytes));
  for (int i = 0; i < steps; ++i) {
    auto const from = static_cast<std::uint32_t>(i % 2), to = 1 - from;
    r.commands.push_back(
        kernel("sweep", {1, rows, 1},
               {access(from, false, -row, {0, row, 0}, 3 * row), access(to, true, 0, {0, row, 0}, row)}));
  }
  r.commands.push_back(copied(Kind::to_host, static_cast<std::uint32_t>(steps % 2), 0, bytes));
  return numbered(r);
}

}  // namespace

TEST_CASE("a stencil exchanges one row each way between neighbours, every step but the first") {
  for (std::uint32_t const parts : {1U, 2U, 3U, 7U, 16U}) {
    INFO(parts << " parts");
    auto const graph = split(stencil(48, 100, 5), parts);
    double const neighbours = 2.0 * (parts - 1);
    CHECK(bytes_of(graph, TaskKind::h2d) == 4800 + neighbours * 100);  // every part gets the rows beside its own too
    CHECK(bytes_of(graph, TaskKind::d2d) == neighbours * 100 * 4);
    CHECK(bytes_of(graph, TaskKind::d2h) == 4800);
    CHECK(graph.kernels.size() == 5 * parts);
    CHECK(graph.operations(0) == Approx(5 * 1000));
    CHECK(graph.operations(3) == Approx(5 * 500));
    REQUIRE(graph.memory_bytes.size() == parts);
    // In the middle: its rows and one on each side, of both buffers (the last one is written alone, and read before).
    if (parts == 16) CHECK(graph.memory_bytes[5] == 2 * (3 + 2) * 100);
    CHECK(find_cycle(graph).empty());
  }
}

TEST_CASE("a kernel on fewer parts than the others gets what they made, and they what it made") {
  double const row = 100, whole = 16 * row;
  Recording r;
  r.buffers = {{"x", whole}, {"y", whole}};
  auto const rows = [&](std::uint32_t from, std::uint32_t to) {
    return std::vector<Access>{access(from, false, 0, {0, row, 0}, row), access(to, true, 0, {0, row, 0}, row)};
  };
  r.commands = {copied(Kind::from_host, 0, 0, whole), kernel("all", {1, 16, 1}, rows(0, 1)),
                kernel("few", {1, 16, 1}, rows(1, 0)), kernel("all", {1, 16, 1}, rows(0, 1)),
                copied(Kind::to_host, 1, 0, whole)};
  r = numbered(r);
  for (std::uint32_t const few : {1U, 2U, 4U, 9U}) {
    INFO(few << " of 4 parts");
    auto const graph = split(r, 4, {{"few", few}});
    auto const used = std::min(few, 4U);
    // Bands of 16 / 4 rows and of 16 / few: what lies in the same part's bands of both stays where it is.
    double const stays = used == 1 ? 4 : used == 2 ? 4 : 16;
    CHECK(bytes_of(graph, TaskKind::d2d) == 2 * (16 - stays) * row);
    CHECK(bytes_of(graph, TaskKind::h2d) == whole);
    CHECK(bytes_of(graph, TaskKind::d2h) == whole);
    CHECK(graph.kernels.size() == 4 + used + 4);
    CHECK(graph.operations(0) == Approx(3 * 1000));
    CHECK(find_cycle(graph).empty());
  }
  auto const alone = split(r, 4, {{"few", 1}, {"all", 1}});
  CHECK(bytes_of(alone, TaskKind::d2d) == 0);
  CHECK(alone.kernels.size() == 3);
}

TEST_CASE("a matrix product: rows of one matrix to each part, all of the other to all") {
  double const n = 64, row = 4 * n, whole = n * row;
  Recording r;
  r.buffers = {{"a", whole}, {"b", whole}, {"c", whole}};
  r.commands = {copied(Kind::from_host, 0, 0, whole), copied(Kind::from_host, 1, 0, whole),
                kernel("product", {4, 4, 1},
                       {access(0, false, 0, {0, 16 * row, 0}, 16 * row),
                        {1, false, true, 0, {64, 0, 0}, 63 * row + 64, 64 * 64},
                        {2, true, true, 0, {64, 16 * row, 0}, 15 * row + 64, 16 * 64}}),
                copied(Kind::to_host, 2, 0, whole)};
  auto const graph = split(numbered(r), 4);
  CHECK(bytes_of(graph, TaskKind::h2d) == whole + 4 * whole);
  CHECK(bytes_of(graph, TaskKind::d2d) == 0);
  CHECK(bytes_of(graph, TaskKind::d2h) == whole);
}

TEST_CASE("what is written across the parts is scattered: who reads it all gets it from all") {
  // A transposition: bands of rows are read, bands of columns are written.
  double const n = 64, row = 4 * n, whole = n * row;
  Recording r;
  r.buffers = {{"x", whole}, {"y", whole}};
  r.commands = {
      copied(Kind::from_host, 0, 0, whole),
      kernel("transpose", {1, 4, 1},
             {access(0, false, 0, {0, 16 * row, 0}, 16 * row), {1, true, true, 0, {0, 64, 0}, 63 * row + 64, 64 * 64}}),
      kernel("rows", {1, 4, 1},
             {access(1, false, 0, {0, 16 * row, 0}, 16 * row), access(0, true, 0, {0, 16 * row, 0}, 16 * row)}),
      copied(Kind::to_host, 0, 0, whole)};
  auto const graph = split(numbered(r), 4);
  CHECK(bytes_of(graph, TaskKind::h2d) == whole);
  CHECK(bytes_of(graph, TaskKind::d2d) == Approx(whole * 3 / 4));  // all to all: a quarter is there already
  CHECK(bytes_of(graph, TaskKind::d2h) == whole);
}

TEST_CASE("what all parts add to has as many versions") {
  Recording r;
  r.buffers = {{"x", 4096}, {"sum", 64, true}};
  r.commands = {
      copied(Kind::from_host, 0, 0, 4096),
      kernel("add", {8, 1, 1},
             {access(0, false, 0, {512, 0, 0}, 512), access(1, false, 0, {}, 64), access(1, true, 0, {}, 64)}),
      copied(Kind::to_host, 1, 0, 64)};
  auto const graph = split(numbered(r), 4);
  CHECK(bytes_of(graph, TaskKind::h2d) == 4096 + 4 * 64);
  CHECK(bytes_of(graph, TaskKind::d2h) == 4 * 64);
}

TEST_CASE("an order that matters is kept") {
  // The host writes again what a kernel has read, after it has seen the result.
  Recording r;
  r.buffers = {{"x", 1000}, {"y", 1000}};
  auto const step =
      kernel("step", {10, 1, 1}, {access(0, false, 0, {100, 0, 0}, 100), access(1, true, 0, {100, 0, 0}, 100)});
  r.commands = {copied(Kind::from_host, 0, 0, 1000), step, copied(Kind::to_host, 1, 0, 1000),
                copied(Kind::from_host, 0, 0, 1000), step, copied(Kind::to_host, 1, 0, 1000)};
  auto const graph = split(numbered(r), 2);
  std::vector<std::uint32_t> to_host, from_host;
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    if (graph.tasks[t].kind == TaskKind::d2h) to_host.push_back(t);
    if (graph.tasks[t].kind == TaskKind::h2d) from_host.push_back(t);
  }
  REQUIRE(to_host.size() == 4);
  REQUIRE(from_host.size() == 4);
  for (std::size_t later : {2, 3})
    for (std::size_t earlier : {0, 1}) CHECK(waits_for(graph, from_host[later], to_host[earlier]));
  CHECK_FALSE(waits_for(graph, from_host[1], from_host[0]));
}

TEST_CASE("a launch of fewer groups than parts leaves parts without work") {
  Recording r;
  r.buffers = {{"x", 300, true}};
  r.commands = {
      kernel("few", {3, 1, 1}, {access(0, false, 0, {100, 0, 0}, 100), access(0, true, 0, {100, 0, 0}, 100)})};
  auto const graph = split(numbered(r), 8);
  CHECK(graph.kernels.size() == 3);
  CHECK(bytes_of(graph, TaskKind::h2d) == 300);
  CHECK(graph.operations(0) == Approx(1000));
}

// Holders of single bytes, replayed without ranges.
namespace {

struct Checker {
  std::uint32_t parts;
  std::vector<std::vector<std::set<int>>> holders;  // by buffer and byte; -1 is the host
  std::vector<std::vector<int>> writer = {};        // who wrote it last
  std::map<TaskKind, double> bytes = {};

  void read(std::uint32_t buffer, double begin, double end, int who) {
    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
      auto& h = holders[buffer][b];
      if (h.empty() || h.contains(who)) continue;
      bytes[who == -1 ? TaskKind::d2h : writer[buffer][b] == -1 ? TaskKind::h2d : TaskKind::d2d] += 1;
      h.insert(who);
    }
  }
  void write(std::uint32_t buffer, double begin, double end, int who) {
    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
      holders[buffer][b] = {who};
      writer[buffer][b] = who;
    }
  }
};

}  // namespace

TEST_CASE("random programs copy what a checker of single bytes copies") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto const pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
    auto const parts = static_cast<std::uint32_t>(pick(1, 6));
    Recording r;
    Checker checker{parts, {}};
    for (int b = 0; b < 3; ++b) {
      r.buffers.push_back({"b" + std::to_string(b), 240, pick(0, 1) == 1});
      checker.holders.emplace_back(240, r.buffers.back().initial ? std::set<int>{-1} : std::set<int>{});
      checker.writer.emplace_back(240, -1);
    }
    for (int c = 0; c < 12; ++c) {
      auto const buffer = static_cast<std::uint32_t>(pick(0, 2));
      double const begin = pick(0, 100), end = begin + pick(1, 140);
      int const what = pick(0, 5);
      if (what == 0) {
        r.commands.push_back(copied(Kind::from_host, buffer, begin, end));
        checker.write(buffer, begin, end, -1);
      } else if (what == 1) {
        r.commands.push_back(copied(Kind::to_host, buffer, begin, end));
        checker.read(buffer, begin, end, -1);
      } else {
        // Groups of 10 bytes each, which write side by side and read also beside that, or everything.
        auto const groups = static_cast<std::uint64_t>(pick(6, 24));
        double const halo = pick(0, 2) * 5.0;
        auto const from = static_cast<std::uint32_t>(pick(0, 2));
        bool const everything = pick(0, 4) == 0;
        auto const read =
            everything ? access(from, false, 0, {}, 240) : access(from, false, -halo, {10, 0, 0}, 10 + 2 * halo);
        r.commands.push_back(kernel("k", {groups, 1, 1}, {read, access(buffer, true, 0, {10, 0, 0}, 10)}));
        auto const bound = [](double x) { return std::min(240.0, std::max(0.0, x)); };
        for (int pass = 0; pass < 2; ++pass)
          for (std::uint32_t p = 0; p < parts; ++p) {
            double const low = static_cast<double>(groups * p / parts),
                         high = static_cast<double>(groups * (p + 1) / parts);
            if (low == high) continue;
            if (pass == 1)
              checker.write(buffer, bound(10 * low), bound(10 * high), static_cast<int>(p));
            else if (everything)
              checker.read(from, 0, 240, static_cast<int>(p));
            else
              checker.read(from, bound(10 * low - halo), bound(10 * high + halo), static_cast<int>(p));
          }
      }
    }
    auto const graph = split(numbered(r), parts);
    INFO("seed " << seed << ", " << parts << " parts");
    for (auto const kind : {TaskKind::h2d, TaskKind::d2h, TaskKind::d2d})
      CHECK(bytes_of(graph, kind) == Approx(checker.bytes[kind]));
    CHECK(find_cycle(graph).empty());
  }
}

TEST_CASE("a recording written and read is the same") {
  auto recording = stencil(6, 64, 3);
  recording.app = "a \"name\"";
  recording.buffers[1].initial = true;
  recording.commands[1].accesses[0].regular = false;
  Command copy = copied(Kind::copy, 0, 0, 64);
  copy.from = 1;
  copy.from_begin = 64;
  copy.from_end = 128;
  recording.commands.push_back(copy);
  recording.commands.push_back(copied(Kind::fill, 1, 10, 20));
  recording = numbered(recording);
  std::stringstream text;
  write_recording(text, recording);
  auto const file = read_graph_file("r.json", text);
  REQUIRE(file.recording);
  std::stringstream again;
  write_recording(again, *file.recording);
  CHECK(again.str() == text.str());
  // Whoever does not divide it sees a graph of one part.
  CHECK(file.graph.parts == 1);
  CHECK(file.graph.tasks.size() == recording.commands.size());
  CHECK(file.graph.successors.size() == dependences(recording).size());
}
