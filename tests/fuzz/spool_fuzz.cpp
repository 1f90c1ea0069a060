// What an attached application leaves in its spool: a line `=NAME` begins each file, of the names below.
#include <array>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "emulator/launch/launch.hpp"
#include "fuzz.hpp"
#include "models/graph/split.hpp"
#include "runtimes/attach/counted_rows.hpp"
#include "runtimes/attach/recorder.hpp"

namespace kernelcast::fuzz {

namespace {

constexpr std::array<std::string_view, 7> names{"commands-1",      "counts-1",       "launch-1-0.toml", "row-1-0.csv",
                                                "skipped-1-2.txt", "unkept-1-3.txt", "kernel-1-0.txt"};

class Folder {
 public:
  Folder() {
    for (std::size_t i = 0; i < names.size(); ++i)
      std::filesystem::create_symlink(files_[i].path(), folder_.path() / names[i]);
  }
  void fill(std::string_view input) {
    std::array<std::string, names.size()> texts;
    std::string* at = texts.data();
    for (std::istringstream in{std::string(input)}; !in.eof();) {
      std::string line;
      std::getline(in, line);
      auto const found = line.starts_with('=') ? std::find(names.begin(), names.end(), line.substr(1)) : names.end();
      if (found != names.end())
        at = &texts[static_cast<std::size_t>(found - names.begin())];
      else
        *at += line + (in.eof() ? "" : "\n");
    }
    for (std::size_t i = 0; i < names.size(); ++i) files_[i].write(texts[i]);
  }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
  std::array<MemoryFile, names.size()> files_;
};

// Two launches with accesses, one with those of its first buffer by its address.
attach::KnownLaunches known_launches() {
  attach::KnownLaunches known;
  for (std::uint64_t number = 0; number < 2; ++number) {
    auto& one = known[{"1", number}];
    one.row.kernel = "k";
    one.accesses.groups = {4, 2, 1};
    graph::Access access;
    access.step = {64, 256, 0};
    access.span_bytes = access.touched_bytes = 64;
    one.accesses.accesses.push_back(access);
    access.write = true;
    access.buffer = 1;
    access.regular = number == 0;
    one.accesses.accesses.push_back(access);
    one.accesses.by_address.emplace_back(4096, access);
  }
  return known;
}

void record(attach::SpoolReader const& spool) {
  static auto const known = known_launches();
  auto recording = attach::recording_of(spool, known, "fuzz", [](std::string_view) {});
  std::ostringstream out;
  graph::write_recording(out, recording);
  graph::split(recording, 3);
}

}  // namespace

void run_input(std::string_view input) {
  static auto const folder = once([] { return std::make_unique<Folder>(); });
  folder->fill(input);
  attach::SpoolReader const spool(folder->path());
  spool.skipped();
  spool.unkept();
  for (auto const& file : spool.launches()) {
    spool.counts(file.process);
    try {
      launch::read_launch_file(spool.path(file));
    } catch (Error const&) {
      // told, and the next one is read
    }
  }
  attach::RowReader const rows(spool, false, {});
  for (auto const& file : rows.rows()) try {
      rows.read_row(file);
    } catch (Error const&) {
      // likewise
    }
  record(spool);
}

}  // namespace kernelcast::fuzz
