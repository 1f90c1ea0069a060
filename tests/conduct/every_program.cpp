// Options, streams, files, threads, sweeps: the same for every program.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "checks.hpp"

namespace conduct {

namespace {

void help(Bench const& bench) {
  for (std::string const option : {"--help", "-h"}) {
    auto const outcome = good(bench.bare({option}));
    expect(outcome.out.starts_with("Usage: " + bench.name() + " "), "help begins with the usage", &outcome);
    for (std::string const part : {"\nExit status:\n", "\nCommon options:\n", "--format", "See also: "})
      expect(contains(outcome.out, part), "help should hold '" + part + "'", &outcome);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
      expect(line.empty() || line.back() != ' ', "blanks at a line's end");
  }
}

void version(Bench const& bench) {
  auto const outcome = good(bench.bare({"--version"}));
  std::string const begin = bench.name() + " (kernelcast) ";
  expect(outcome.out.starts_with(begin), "version begins with the program", &outcome);
  static std::regex const rest("[0-9]+\\.[0-9]+\\.[0-9]+( \\([0-9a-f]{12,}(-dirty)?\\))?\n");
  expect(std::regex_match(outcome.out.substr(begin.size()), rest), "version, and commit where it is known", &outcome);
}

void columns(Bench const& bench) {
  auto const rows = parse(good(bench.bare({"--columns"})).out);
  expect(rows.at(0) == std::vector<std::string>{"record", "name", "unit", "required", "meaning"},
         "header of --columns");
  expect(rows.size() > 1, "--columns lists no column");
  bool const writes = bench.table().writes_records();  // else --columns lists what the program reads
  auto const table = parse(writes ? good(bench.valid()).out : bench.table().input);
  for (auto const& name : table.at(0))
    expect(std::any_of(rows.begin(), rows.end(), [&](auto const& row) { return row[1] == name; }),
           "--columns lacks '" + name + "', which the " + (writes ? "output" : "input") + " has");
}

void manual(Bench const& bench) {
  for (std::string const option : {"--man-options", "--man-columns", "--man-statuses"})
    if (option != "--man-columns" || bench.table().writes_records())
      expect(!good(bench.bare({option})).out.empty(), option + " prints nothing");
}

void formats(Bench const& bench) {
  auto const csv = parse(good(bench.valid({"--format", "csv"})).out);
  auto const json = nlohmann::json::parse(good(bench.valid({"--format=json"})).out);
  expect(json.is_array() && json.size() + 1 == csv.size(), "JSON has one object per row");
  for (auto const& name : csv.at(0)) expect(json.at(0).contains(name), "JSON lacks '" + name + "'");
  expect(!good(bench.valid({"--format", "table"})).out.empty(), "a table");
  refused(bench.valid({"--format", "xml"}), 2, {"--format"});
}

void full_disk(Bench const& bench) {
  auto run = bench.valid();
  run.out = Run::Stdout::full;
  refused(run, 4, {"No space left"});
  auto help_run = bench.bare({"--help"});
  help_run.out = Run::Stdout::full;
  refused(help_run, 4, {"No space left"});
  refused(bench.valid({"-o", "/dev/full"}), 4, {"No space left"});
}

void closed_stdout(Bench const& bench) {
  auto run = bench.valid();
  run.out = Run::Stdout::closed;
  refused(run, 4, {"standard output"});
  run = bench.bare({"--version"});
  run.out = Run::Stdout::closed;
  refused(run, 4, {"standard output"});
}

void broken_pipe(Bench const& bench) {
  auto run = bench.valid();
  run.out = Run::Stdout::broken_pipe;
  auto const outcome = conduct::run(run);
  expect(outcome.signal == SIGPIPE, "a broken pipe ends it by SIGPIPE", &outcome);
  expect(outcome.err.empty(), "and quietly", &outcome);
}

void head(Bench const& bench) {
  auto run = bench.valid();
  std::string command = "exec 3<&0;";
  for (auto const& word : run.arguments) command += " '" + word + "'";
  run.arguments = {"sh", "-c", command + " <&3 | head -1"};
  auto const outcome = good(run);
  expect(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 1, "one line", &outcome);
}

void comma_locale(Bench const& bench) {
  auto const locales = bench.directory() / "locales";
  fs::create_directory(locales);
  std::string const command = "localedef -i de_DE -f UTF-8 '" + (locales / "de_DE.UTF-8").string() +
                              "' >/dev/null 2>&1; LOCPATH='" + locales.string() +
                              "' LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null | grep -qx ,";
  if (std::system(command.c_str()) != 0) throw Skip{"no comma locale can be made here (package locales)"};
  auto const plain = good(bench.valid());
  auto run = bench.valid();
  run.environment = {{"LOCPATH", locales.string()}, {"LC_ALL", "de_DE.UTF-8"}, {"LANG", "de_DE.UTF-8"}};
  expect(good(run).out == plain.out, "the output depends on the locale");
}

void no_color(Bench const& bench) {
  auto run = bench.bare({"--no-such-option"});
  run.terminal_on_stderr = true;
  auto const said = [&](std::string const& name, std::string const& value) {
    run.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
    run.environment.emplace_back(name, value);
    return conduct::run(run).err;
  };
  expect(contains(said("TERM", "xterm"), "\x1b["), "on a terminal an error is in colour");
  expect(!contains(said("NO_COLOR", "1"), "\x1b"), "NO_COLOR is honoured");
  expect(!contains(said("TERM", "dumb"), "\x1b"), "TERM=dumb is honoured");
  run.terminal_on_stderr = false;
  expect(!contains(said("TERM", "xterm"), "\x1b"), "no colour in a file");
}

void unknown_option(Bench const& bench) {
  refused(bench.valid({"--formt=csv"}), 2, {"'--formt'", "did you mean '--format'"});
  refused(bench.valid({"--zzzzzzzzzz"}), 2, {"'--zzzzzzzzzz'", "--help"});
  refused(bench.valid({"--threads", "many"}), 2, {"--threads"});
  refused(bench.valid({"--threads", "0"}), 2, {"--threads"});
  refused(bench.valid({"--seed", "-1"}), 2, {"--seed", "0 or more"});
}

// Each option that takes a quantity.
void quantities(Bench const& bench) {
  auto const help_of = good(bench.valid({"--help"})).out;
  static std::regex const option("\n  (--[a-z-]+) (SECONDS|S|PCT|RATE|BYTES_PER_S)\\b");
  for (std::sregex_iterator at(help_of.begin(), help_of.end(), option), end; at != end; ++at)
    for (std::string const bad : {"nan", "inf", "-1", "1e300", "1e400", "0x10"})
      refused(bench.valid({(*at)[1].str() + "=" + bad}), 2, {(*at)[1].str(), "'" + bad + "'"});
}

void configuration(Bench const& bench) {
  std::ofstream(bench.directory() / "bad.toml") << "formt = \"json\"\n";
  std::string const format = bench.table().writes_records() ? "json" : "gnuplot";
  std::ofstream(bench.directory() / "good.toml") << "format = \"" + format + "\"\n";
  refused(bench.valid({"--config", "bad.toml"}), 2, {"formt", "did you mean 'format'"});
  refused(bench.valid({"--config", "none.toml"}), 4, {"none.toml"});
  std::ofstream(bench.directory() / "help.toml") << "help = true\n";
  refused(bench.valid({"--config", "help.toml"}), 2, {"'help'", "configuration file"});
  std::ofstream(bench.directory() / "section.toml") << "[more]\nformat = \"json\"\n";
  refused(bench.valid({"--config", "section.toml"}), 2, {"'more'"});
  auto const out = good(bench.valid({"--config", "good.toml"})).out;
  if (bench.table().writes_records()) expect(nlohmann::json::parse(out).is_array(), "the key takes effect");
  std::ofstream deep(bench.directory() / "deep.toml");
  for (int level = 0; level < 100000; ++level) deep << (level == 0 ? "[a" : ".a");
  deep << "]\n" << std::flush;
  refused(bench.valid({"--config", "deep.toml"}), 3, {"nested"});
  fs::create_symlink("/dev/zero", bench.directory() / "endless.toml");
  refused(bench.valid({"--config", "endless.toml"}), 3, {"more than 1 MiB"});
}

// True when it succeeds; else it must end by itself with a documented status, and say why. What the kernel and the
// loader do before it has begun is not the program's: `begins` says whether it has with less memory.
bool succeeds_with(Run run, std::uint64_t kilobytes, bool& begins) {
  run.memory_bytes = kilobytes << 10;
  auto const outcome = conduct::run(run);
  bool const begun = outcome.status != 127 && outcome.signal != SIGKILL && (outcome.signal != SIGSEGV || begins) &&
                     !contains(outcome.err, "shared libraries");
  if (!begun) return false;
  begins = true;
  if (outcome.status == 0 && outcome.signal == 0) return true;
  auto const what = "with " + std::to_string(kilobytes) + " KB";
  expect(outcome.signal == 0, what + " it should end by itself", &outcome);
  expect(outcome.status > 0 && outcome.status < 7, what + " it should end with a documented status", &outcome);
  expect(contains(outcome.err, "error: "), what + " it should say why", &outcome);
  return false;
}

void little_memory(Bench const& bench) {
  if (std::getenv("KERNELCAST_SANITIZED") != nullptr) throw Skip{"the sanitizers need more address space"};
  // Before main() a few pages decide.
  std::uint64_t kilobytes = 3000;
  bool begins = false;
  while (!succeeds_with(bench.bare({"--version"}), kilobytes, begins)) {
    kilobytes += 32;
    expect(kilobytes < 200000, "it should print its version in 200 MB");
  }
  for (; kilobytes < 4000000; kilobytes += kilobytes / 12) succeeds_with(bench.valid(), kilobytes, begins);
}

void output_file(Bench const& bench) {
  auto const plain = good(bench.valid()).out;
  expect(good(bench.valid({"-o", "out"})).out.empty(), "-o leaves standard output empty");
  expect(slurp(bench.directory() / "out") == plain, "-o writes the same");
  expect(bench.files() == std::vector<std::string>{"out"}, "-o leaves nothing beside its file");
  refused(bench.valid({"-o", "no/such/folder/out"}), 4, {"no/such/folder/out"});
  refused(bench.valid({"-o", "."}), 4, {"directory"});
  expect(good(bench.valid({"-o", "-"})).out == plain, "-o - is standard output");
  expect(good(bench.valid({"-o", "/dev/stdout"})).out == plain, "-o /dev/stdout is standard output");
  auto closed = bench.valid({"-o", "/dev/stdout"});
  closed.out = Run::Stdout::closed;
  refused(closed, 4, {"standard output"});
  refused(bench.valid({"-o", ""}), 2, {"--output"});
  refused(bench.valid({"-o", "same", "--meta", "same"}), 2, {"--meta", "--output"});
  refused(bench.valid({"--meta", "-"}), 2, {"--meta"});
}

void meta(Bench const& bench) {
  auto const plain = good(bench.valid({"--meta", "m.json", "--seed", "7"})).out;
  auto const meta = nlohmann::json::parse(slurp(bench.directory() / "m.json"));
  auto const tool = meta.at("tool").get<std::string>();  // "mangrove predict": a verb may follow
  expect(tool == bench.name() || tool.starts_with(bench.name() + " "), "tool");
  expect(meta.at("rows") == (bench.table().writes_records() ? parse(plain).size() - 1 : 0), "rows");
  expect(meta.at("seed") == 7, "seed");
  expect(meta.at("argv").size() > 4, "argv");
  expect(!meta.at("inputs").empty() && meta.at("inputs").at(0).at("xxh3_64").get<std::string>().size() == 16, "inputs");
  for (char const* key : {"version", "commit", "schema_versions", "host", "device", "utc", "threads"})
    expect(meta.contains(key), std::string("meta lacks ") + key);
}

void threads(Bench const& bench) {
  auto const one = good(bench.valid({"--threads", "1"})).out;
  expect(good(bench.valid({"--threads", "2"})).out == one, "the output depends on --threads");
  expect(good(bench.valid({"--threads", "7"})).out == one, "the output depends on --threads");
}

// The rows below the header, sorted.
std::vector<std::string> sorted_rows(std::string const& csv) {
  std::istringstream in(csv);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  out.erase(out.begin());
  std::sort(out.begin(), out.end());
  return out;
}

// Shards put together and sorted are the serial run; rows that are there are not made again.
void sweep(Bench const& bench) {
  std::vector<std::string> command{bench.name()};
  for (auto& word : words_of(bench.table()["sweep"])) command.push_back(std::move(word));
  auto const run = [&](std::vector<std::string> const& more) {
    auto out = bench.bare({});
    out.arguments = command;
    out.arguments.insert(out.arguments.end(), more.begin(), more.end());
    return out;
  };
  auto const serial = good(run({})).out;
  expect(sorted_rows(serial).size() > 3, "a sweep has more than three rows");
  std::string together, first;
  for (std::string const shard : {"0/3", "1/3", "2/3"}) {
    auto const part = good(run({"--shard", shard})).out;
    if (first.empty()) first = part;
    together += together.empty() ? part : part.substr(part.find('\n') + 1);
  }
  expect(sorted_rows(together) == sorted_rows(serial), "three shards are the whole");

  auto task = run({"--shard", "slurm"});
  task.environment = {{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "3"}};
  expect(good(task).out == first, "task 0 of an array job");
  task.environment = {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_COUNT", "3"}, {"SLURM_ARRAY_TASK_MIN", "5"}};
  expect(good(task).out == first, "the first task of an array job that counts from 5");
  task.arguments = command;
  expect(good(task).out == serial, "an array job alone changes nothing");
  refused(run({"--shard", "slurm"}), 2, {"SLURM_ARRAY_TASK_ID"});
  for (std::string const bad : {"3/3", "1", "-1/3", "a/b", "1/0"}) refused(run({"--shard", bad}), 2, {"--shard"});

  std::ofstream(bench.directory() / "part") << first;
  expect(good(run({"--resume", "part"})).out == serial, "what is there is taken, the rest is made");
  good(run({"--resume", "part", "-o", "part"}));
  expect(slurp(bench.directory() / "part") == serial, "in place, too");
  std::ofstream(bench.directory() / "torn") << serial.substr(0, serial.size() - 3);
  auto const mended = conduct::run(run({"--resume", "torn"}));
  expect(mended.status == 0 && mended.out == serial, "a last row that is incomplete is made again", &mended);
  expect(contains(mended.err, "torn: its last row is incomplete"), "and that is said", &mended);
  refused(run({"--resume", "none"}), 4, {"none"});
}

constexpr Check checks[] = {{"help", help},
                            {"version", version},
                            {"columns", columns},
                            {"manual", manual},
                            {"formats", formats},
                            {"full_disk", full_disk},
                            {"closed_stdout", closed_stdout},
                            {"broken_pipe", broken_pipe},
                            {"head", head},
                            {"comma_locale", comma_locale},
                            {"no_color", no_color},
                            {"unknown_option", unknown_option},
                            {"quantities", quantities},
                            {"configuration", configuration},
                            {"little_memory", little_memory},
                            {"output_file", output_file},
                            {"meta", meta},
                            {"threads", threads},
                            {"sweep", sweep}};

}  // namespace

std::span<Check const> checks_of_programs() {
  return checks;
}

}  // namespace conduct
