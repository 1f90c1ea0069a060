// Has each call of a program for memory, files and threads fail in turn, and judges how the program takes it.
//
//   inject [--points N] [--kind KIND] [--point K] TABLE…     with BIN, SOURCE and PRELOAD in the environment
//
// A table is one of tests/conduct (see README.md there) or of tools/ here. Its command is run once to count the calls
// of each kind of fault (report.h), then once for each of them, or for N of each kind, spread evenly. Rules:
//   - no signal ends it, and it ends;
//   - status 0: what it wrote is what it writes without a fault. So it must be after an interrupted or a short call. It
//     must not be 0 where the failed call wrote or placed a file that the user named;
//   - another status: 6 where memory, threads or processes were refused, else 4, with a message on standard error;
//   - a file of the user's is as it was before, or whole, or absent; nothing else is left behind, nor a temporary file;
//   - what is left in the cache does not change what the next run writes.
// Prints a line for each program and kind of fault: points, runs, failures. Status 1 where there is a failure.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../conduct/bench.hpp"
#include "report.h"

namespace {

using namespace conduct;

struct Kind {
  fault of;
  bool all_after;  // not one call fails, but all from that one on
  std::string_view name;
  std::string_view what_fails;
};

constexpr Kind kinds[] = {{fault_allocation, false, "allocation", "one allocation"},
                          {fault_allocation, true, "memory", "all allocations from one on"},
                          {fault_mapping, false, "mapping", "mmap"},
                          {fault_open, false, "open", "a file, folder or pipe is made or opened"},
                          {fault_open, true, "descriptors", "none can be opened from one on"},
                          {fault_read, false, "read", "input/output error"},
                          {fault_write, false, "write", "no space"},
                          {fault_write, true, "full", "no space from one write on"},
                          {fault_sync, false, "sync", "input/output error"},
                          {fault_rename, false, "rename", "input/output error"},
                          {fault_close, false, "close", "input/output error"},
                          {fault_start, false, "start", "a thread or process"},
                          {fault_interrupt, false, "interrupt", "interrupted by a signal"},
                          {fault_short, false, "short", "part of what is read or written"}};

using Tree = std::map<std::string, std::string>;  // files by their path below a folder, with their contents

Tree files_below(fs::path const& folder) {
  Tree out;
  for (auto const& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() || (entry.is_directory() && fs::is_empty(entry.path())))
      out[entry.path().lexically_relative(folder).string() + (entry.is_directory() ? "/" : "")] = slurp(entry.path());
  return out;
}

void make(fs::path const& folder, Tree const& tree) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (auto const& [name, content] : tree) {
    fs::create_directories((folder / name).parent_path());
    if (!name.ends_with('/')) std::ofstream(folder / name, std::ios::binary) << content;
  }
}

// What a --meta file says but for the time.
std::string without_time(std::string const& meta) {
  std::istringstream in(meta);
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (line.find("\"utc\"") == line.npos) out += line + '\n';
  return out;
}

struct Result {
  Outcome outcome;
  Tree work, temporary, cache;
};

class Subject {
 public:
  explicit Subject(fs::path const& table)
      : table_(read_table(table)), name_(table.stem().string()), shared_(std::string(std::getenv("PRELOAD"))) {
    int const file = open((folder_ / "report").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(report)) != 0) throw Failure{"no file for the report"};
    void* const at = mmap(nullptr, sizeof(report), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) throw Failure{"no memory for the report"};
    report_ = static_cast<report*>(at);
    std::istringstream words(table_["command"]);
    for (std::string word; words >> word;) {
      if (auto const equals = word.find('='); command_.empty() && equals != word.npos) {
        environment_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
        continue;
      }
      if (auto const place = word.find("$SOURCE"); place != word.npos) word.replace(place, 7, std::getenv("SOURCE"));
      command_.push_back(word);
    }
    // Programs that are linked statically have a twin that is not.
    std::string const twin = command_.at(0) + "-dynamic";
    if (fs::exists(fs::path(std::getenv("BIN")) / twin)) command_[0] = twin;
    if (table_["writes"] != "elsewhere") command_.insert(command_.end(), {"--meta", "meta.json"});
    if (table_["output"] != "none") command_.insert(command_.end(), {"-o", "out.csv"});
  }
  ~Subject() { munmap(report_, sizeof *report_); }
  Subject(Subject const&) = delete;

  std::string const& name() const { return name_; }
  report const& said() const { return *report_; }

  // Without a fault: what it writes, and how many calls it makes.
  void count() {
    make(folder_ / "cache", {});
    if (table_["cache"] == "cold")
      cache_ = {};
    else
      cache_ = run(std::nullopt, 0).cache;
    expected_ = run(std::nullopt, 0);
    std::copy(std::begin(report_->counts), std::end(report_->counts), calls_.begin());
    auto const& outcome = expected_.outcome;
    expect(outcome.signal == 0 && outcome.status == 0, name_ + " should succeed without a fault", &outcome);
    // Sanitizers have an allocator of their own, which a preloaded library does not see.
    expect(calls_[fault_allocation] > 0 || std::getenv("KERNELCAST_SANITIZED"),
           name_ + " makes no calls that can be seen: is it linked statically?");
    expect(expected_.temporary.empty(), name_ + " leaves temporary files without a fault");
  }

  std::uint64_t calls(Kind const& kind) const { return calls_.at(kind.of); }
  // Of a kind, 0: no bound. Programs that start compilers take long.
  std::uint64_t max_points() const { return table_["points"].empty() ? 0 : std::stoull(table_["points"]); }

  // What is wrong when this call fails; empty when nothing is.
  std::string judge(Kind const& kind, std::uint64_t point) {
    auto const result = run(kind, point);
    auto const& outcome = result.outcome;
    if (outcome.too_slow) return "does not end";
    if (outcome.signal) return "ended by signal " + std::to_string(outcome.signal);
    bool const failed = report_->failed;
    bool const retried = kind.of == fault_interrupt || kind.of == fault_short;
    if (outcome.status != 0 && (retried || !failed)) return "must not fail, status " + std::to_string(outcome.status);
    if (auto const wrong = judge_status(outcome, kind); !wrong.empty()) return wrong;
    if (auto const wrong = judge_files(result); !wrong.empty()) return wrong;
    // Removing a folder takes memory and a descriptor: where there are none any more it stays.
    if (!result.temporary.empty() && !kind.all_after) return "leaves temporary file " + result.temporary.begin()->first;
    if (result.cache != expected_.cache) {
      cache_in_place_ = result.cache;
      auto const next = run(std::nullopt, 0);
      cache_in_place_.reset();
      if (next.outcome.status != 0 || !same_output(next)) return "leaves a cache that spoils the next run";
    }
    return {};
  }

  std::string call() const {
    std::string out = report_->function;
    if (*report_->path) out += std::string(" ") + report_->path;
    return out;
  }
  std::string words_of(std::string const& text) const {
    return text.substr(0, std::getenv("KERNELCAST_INJECT_STACK") ? 9000 : 300);
  }
  Outcome const& last() const { return last_; }

 private:
  std::string judge_status(Outcome const& outcome, Kind const& kind) const {
    if (outcome.status == 0) {
      bool const of_the_user =
          report_->writes && (std::string_view(report_->path).starts_with((folder_ / "work").string()) ||
                              report_->path[0] != '/' || report_->descriptor == 1);
      // A file may be opened in another way instead; judge_files() sees whether it is there.
      bool const tolerated = kind.of == fault_interrupt || kind.of == fault_short || kind.of == fault_open;
      return of_the_user && !tolerated && report_->failed ? "status 0, but a file was not written" : "";
    }
    // A library that is refused memory may report a file that cannot be opened.
    if (kind.of == fault_allocation && outcome.status == 4 && contains(outcome.err, "error: ")) return {};
    bool const thread = kind.of == fault_start && std::string_view(report_->function) == "pthread_create";
    bool const memory = kind.of == fault_allocation || kind.of == fault_mapping || thread;
    if (memory ? outcome.status != 6 : outcome.status != 4)
      return "status " + std::to_string(outcome.status) + ", expected " + (memory ? "6" : "4");
    if (!contains(outcome.err, "error: ")) return "no message on standard error";
    return {};
  }

  static std::string content(Tree const& tree, std::string const& name) {
    auto const found = tree.find(name);
    return found == tree.end() ? std::string() : found->second;
  }

  bool same_output(Result const& result) const {
    if (table_["compare"] == "no") return true;
    return result.outcome.out == expected_.outcome.out &&
           content(result.work, "out.csv") == content(expected_.work, "out.csv") &&
           without_time(content(result.work, "meta.json")) == without_time(content(expected_.work, "meta.json"));
  }

  std::string judge_files(Result const& result) const {
    if (result.outcome.status == 0) return same_output(result) ? "" : "status 0, but other output than without a fault";
    for (auto const& [name, text] : result.work) {
      if (!expected_.work.contains(name)) return "leaves " + name;
      auto const& whole = expected_.work.at(name);
      if (table_["compare"] == "no" || text == before || text == whole) continue;
      if (name == "meta.json" && without_time(text) == without_time(whole)) continue;
      bool const rows = table_["publishes"] == "yes" && whole.starts_with(text) && text.ends_with('\n');
      if (!rows) return "leaves part of " + name;
    }
    return {};
  }

  Result run(std::optional<Kind> const& kind, std::uint64_t point) {
    std::memset(static_cast<void*>(report_), 0, sizeof *report_);
    if (kind) {
      report_->kind = kind->of;
      report_->all_after = kind->all_after;
      report_->point = point;
    }
    make(folder_ / "work", {{"out.csv", before}});
    make(folder_ / "temporary", {});
    make(folder_ / "cache", cache_in_place_ ? *cache_in_place_ : cache_);
    Run run;
    run.arguments = command_;
    run.directory = (folder_ / "work").string();
    run.input = table_.input;
    run.environment = {{"LD_PRELOAD", shared_},
                       {"KERNELCAST_INJECT", (folder_ / "report").string()},
                       {"KERNELCAST_INJECT_PROGRAM", command_[0]},
                       {"MALLOC_PERTURB_", "165"},  // what is freed does not look as before
                       {"TMPDIR", (folder_ / "temporary").string()},
                       {"XDG_CACHE_HOME", (folder_ / "cache").string()}};
    run.environment.insert(run.environment.end(), environment_.begin(), environment_.end());
    Result result;
    result.outcome = last_ = conduct::run(run);
    result.work = files_below(folder_ / "work");
    result.temporary = files_below(folder_ / "temporary");
    result.cache = files_below(folder_ / "cache");
    return result;
  }

  static constexpr char const* before = "as it was\n";
  Table table_;
  std::string name_, shared_;
  Directory folder_{"inject"};
  report* report_ = nullptr;
  std::vector<std::string> command_;
  std::vector<std::pair<std::string, std::string>> environment_;
  Tree cache_;
  std::optional<Tree> cache_in_place_;
  Result expected_;
  std::array<std::uint64_t, fault_kinds> calls_{};
  Outcome last_;
};

struct Options {
  std::uint64_t points = 0;  // of a kind; 0: all
  std::uint64_t point = 0;   // this one alone
  std::string kind;
  std::vector<std::string> tables;
};

std::uint64_t failures_of(Subject& subject, Kind const& kind, Options const& options) {
  auto const calls = subject.calls(kind);
  if (calls == 0) return 0;
  auto runs = calls;
  for (auto const most : {options.points, subject.max_points()})
    if (most) runs = std::min(runs, most);
  if (options.point) runs = 1;
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    auto const point = options.point ? options.point : runs == 1 ? 1 : 1 + i * (calls - 1) / (runs - 1);
    auto const wrong = subject.judge(kind, point);
    if (wrong.empty()) continue;
    if (++failures <= 20)
      std::cout << "  " << subject.name() << ", " << kind.name << " " << point << " (" << subject.call()
                << "): " << wrong << "\n    " << subject.words_of(subject.last().err) << '\n';
  }
  std::cout << subject.name() << ',' << kind.name << ',' << calls << ',' << runs << ',' << failures << '\n'
            << std::flush;
  return failures;
}

Options options_of(std::vector<std::string> const& words) {
  Options out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    bool const has_value = i + 1 < words.size();
    if (words[i] == "--points" && has_value)
      out.points = std::stoull(words[++i]);
    else if (words[i] == "--point" && has_value)
      out.point = std::stoull(words[++i]);
    else if (words[i] == "--kind" && has_value)
      out.kind = words[++i];
    else
      out.tables.push_back(words[i]);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  for (char const* name : {"BIN", "SOURCE", "PRELOAD"})
    if (!std::getenv(name)) return std::cerr << "inject: run this by ctest\n", 2;
  setenv("PATH", (std::string(std::getenv("BIN")) + ":" + std::getenv("PATH")).c_str(), 1);
  setenv("KERNELCAST_DEVDB", (std::string(std::getenv("SOURCE")) + "/devdb").c_str(), 1);
  for (char const* name : {"LC_ALL", "LANG", "NO_COLOR"}) unsetenv(name);
  std::uint64_t failures = 0;
  try {
    auto const options = options_of({argv + 1, argv + argc});
    std::cout << "program,fault,points,runs,failures\n";
    for (auto const& table : options.tables) {
      Subject subject(table);
      subject.count();
      for (auto const& kind : kinds)
        if (options.kind.empty() || options.kind == kind.name) failures += failures_of(subject, kind, options);
    }
  } catch (Failure const& failure) {
    std::cout << failure.text;
    return 1;
  } catch (std::exception const& error) {
    std::cout << error.what() << '\n';
    return 1;
  }
  return failures ? 1 : 0;
}
