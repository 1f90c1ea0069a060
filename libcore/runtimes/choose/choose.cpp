#include "runtimes/choose/choose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "base/process/shell_words.hpp"
#include "pictures/report/brief.hpp"
#include "records/cli/output_file.hpp"
#include "records/device/device.hpp"
#include "records/ranking.hpp"
#include "records/table/table.hpp"
#include "runtimes/choose/vendors.hpp"

namespace kernelcast::choose {

namespace {

constexpr char const* default_budget = "30s";
constexpr double default_budget_of_all_s = 45;  // of the runs as devices of all vendors together
constexpr double min_budget_s = 5;
// The device that the program sees; a program of OpenCL or HIP is run again as one of the other vendors, as it may
// launch other kernels there.
constexpr std::array<char const*, 3> seen_devices{"a100", "mi300x", "a770"};
constexpr char const* seen_with_narrow_wavefronts = "rx7900xtx";  // of AMD's, where only such are asked about

using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void add(Words& to, Words const& more) {
  to.insert(to.end(), more.begin(), more.end());
}

struct Budget {
  std::string text;
  double seconds;
};

// What miniemu is given, if it is a time.
Budget budget_of(Words const& of_miniemu) {
  std::string text = default_budget;
  for (std::size_t i = 0; i < of_miniemu.size(); ++i)
    if (std::string_view const word = of_miniemu[i]; word.starts_with("--budget="))
      text = word.substr(word.find('=') + 1);
    else if (word == "--budget" && i + 1 < of_miniemu.size())
      text = of_miniemu[i + 1];
  double const limitless = std::numeric_limits<double>::infinity();
  if (!text.ends_with('s')) return {text, limitless};
  return {text, to_number<double>(std::string_view(text).substr(0, text.size() - 1)).value_or(limitless)};
}

// Where the records between the programs are.
struct Files {
  explicit Files(std::filesystem::path folder)
      : folder(std::move(folder)),
        kernels(named("kernels")),
        commands(named("commands")),
        projections(named("projections")),
        stations(named("stations")),
        ranking(named("ranking")) {}
  std::string named(std::string const& records) const { return folder / (records + ".csv"); }

  std::filesystem::path folder;
  std::string kernels, commands, projections, stations, ranking;
};

struct Steps {
  Words project, rank;
  std::vector<Words> report;  // of --html
};

bool has(Words const& words, std::string_view option) {
  return std::ranges::any_of(
      words, [&](auto const& word) { return word == option || word.starts_with(std::string(option) + "="); });
}

bool chooses_device(Words const& of_miniemu) {
  return has(of_miniemu, "--as") || has(of_miniemu, "--with-gpu");
}

Words database_of(Choose const& options) {
  return options.devdb.empty() ? Words{} : Words{"--devdb", options.devdb};
}

// miniemu, of an application as `device` unless the user has named one.
Words emulate(Choose const& options, Words const& of_miniemu, char const* device, std::string const& budget,
              std::string const& kernels, std::string const& commands, cli::Streams& io) {
  Words out{"miniemu"};
  if (!options.application.empty()) {
    add(out, {"--attach", "--commands", commands});
    if (!has(of_miniemu, "--budget")) add(out, {"--budget", budget});
    if (!chooses_device(of_miniemu)) add(out, {"--as", device});
    add(out, database_of(options));
  }
  if (io.quiet()) out.emplace_back("--quiet");
  if (options.app->count("--threads") > 0) add(out, {"--threads", fmt::format("{}", io.threads())});
  add(out, {"-o", kernels});
  add(out, of_miniemu);
  if (!options.application.empty()) {
    out.emplace_back("--");
    add(out, options.application);
  }
  return out;
}

// What writes the kernels, and the commands where there are some: miniemu, or Python of a PyTorch model.
Words recording(Choose const& options, Words const& others, Files const& files, cli::Streams& io) {
  if (options.torch.empty())
    return emulate(options, others, seen_devices[0], default_budget, files.kernels, files.commands, io);
  Words out{"python3", "-m", "kernelcast.torch", options.torch, "-o", files.kernels, "--commands", files.commands};
  add(out, others);
  return out;
}

Steps steps_of(Choose const& options, std::string const& subject, Files const& files, report::Brief const& answer) {
  Steps out;
  auto const database = database_of(options);
  out.project = {"perfcast", "-o", files.projections};
  add(out.project, database);
  for (auto const& device : options.devices) add(out.project, {"--device", device});
  out.project.push_back(files.kernels);
  out.rank = {"rank", "--quiet", "-o", files.ranking, "--total", "--total-as", subject};
  add(out.rank, database);
  if (answer.has_commands) {
    add(out.rank, {"--commands", files.commands});
    if (!options.host.empty()) add(out.rank, {"--host", options.host});
    if (!options.link.empty()) add(out.rank, {"--link", options.link});
    if (!options.system.empty()) add(out.rank, {"--system", options.system});
  }
  if (!answer.run_as.empty() && !answer.has_commands) out.rank.emplace_back("--vendors-apart");
  if (!options.prices.empty()) add(out.rank, {"--prices", options.prices});
  add(out.rank, {"--by", options.by});
  out.rank.push_back(files.projections);
  if (options.html.empty()) return out;
  auto explain = out.project;  // what keeps a compute unit busy
  explain[2] = files.stations;
  add(explain, {"--explain", "--format", "csv"});
  Words page{"figure", "report", "-o", options.html, "--title", subject};
  add(page, database);
  add(page, {files.kernels, files.projections, files.stations, files.ranking});
  out.report = {std::move(explain), std::move(page)};
  return out;
}

// The exit status of a program of the suite, whose standard output becomes our standard error: ours is for the answer.
int run_program(Words words, bool explain, cli::Streams& io, int output = STDERR_FILENO) {
  if (explain) {
    Words shown;
    for (auto const& word : words) shown.push_back(shell_word(word));
    io.print_message(fmt::format("{}\n", fmt::join(shown, " ")));
  }
  auto const path = program_named(words.front());
  if (path.empty())
    throw Error(Status::unavailable, fmt::format("'{}' is not installed", words.front()),
                "it belongs beside kernelcast, or on PATH");
  words.front() = path;
  return run_in_foreground(std::move(words), environment_without({}), output);
}

template <class R>
std::vector<R> rows_of(std::string const& path) {
  auto in = open_file(path);
  in.exceptions(std::ios::badbit);
  return record::read_rows<R>(in, path);
}

template <class R>
void write_rows(std::string const& path, std::vector<R> const& all) {
  cli::OutputFile out(path);
  record::Writer<R> rows(out.stream());
  for (auto const& row : all) rows.write(row);
  rows.finish();
  out.commit();
}

bool is_program(std::string const& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || access(path.c_str(), X_OK) != 0) return false;
  auto in = open_file(path);
  std::array<char, 4> head{};
  in.read(head.data(), head.size());
  std::string_view const magic(head.data(), head.size());
  return magic ==
             "\x7f"
             "ELF" ||
         magic.starts_with("#!");
}

// As the answer and the report call it.
std::string subject_of(Choose const& options, Words const& of_miniemu) {
  if (!options.subject.empty()) return options.subject;
  if (!options.torch.empty()) return options.torch.substr(options.torch.rfind(':') + 1);
  if (!options.rows.empty()) return std::filesystem::path(options.rows).stem().string();
  if (!options.application.empty()) return std::filesystem::path(options.application.front()).filename().string();
  for (auto const& word : of_miniemu)
    if (std::filesystem::path const path(word); word.front() != '-' && path.has_extension())
      return path.stem().string();
  return "kernel";
}

void check(Choose const& options, Words const& of_miniemu) {
  bool const has_rows = !options.rows.empty(), has_model = !options.torch.empty(),
             has_program = !options.application.empty(), recorded = has_rows || has_model;
  if (has_rows + has_model + has_program > 1 || (has_rows && !of_miniemu.empty()))
    throw Error(Status::usage, "rows, a model and a program exclude each other",
                "one of --rows, --torch and -- PROGRAM");
  if (!options.commands.empty() && options.rows.empty())
    throw Error(Status::usage, "--commands says in which order the rows of --rows are asked for",
                "--rows kernels.csv --commands commands.csv, as miniemu --attach or kernelcast.torch writes them");
  if (!recorded && of_miniemu.empty() && !has_program)
    throw Error(Status::usage, "what shall run?",
                "kernelcast choose -- ./app its arguments; kernelcast choose launch.toml; or kernelcast choose "
                "kernel.cl -k NAME -g GLOBAL -l LOCAL -a ARGUMENT");
  if (!has_program && !of_miniemu.empty() && is_program(of_miniemu.front()))
    throw Error(Status::usage, fmt::format("'{}' is a program: it comes behind --", of_miniemu.front()),
                fmt::format("kernelcast choose -- {}", fmt::join(of_miniemu, " ")));
  if (options.by == "cost" && options.prices.empty())
    throw Error(Status::usage, "--by cost needs --prices FILE",
                "kernelcast devices --price-template > prices.csv makes one to fill in");
}

// Standard input from the beginning, where that is a file.
void rewind_input(off_t begin) {
  if (begin >= 0) lseek(STDIN_FILENO, begin, SEEK_SET);
}

// A program of HIP as one of AMD's devices has rows of each target's machine code, which AMD's compiler makes of the
// sources that the program names. GPUs before CDNA and RDNA are not the compiler's any more, and clang-19 does not know
// the newest.
Words machine_targets(std::vector<device::Device const*> const& asked) {
  std::set<std::string> targets;
  for (auto const* const device : asked)
    if ((device->target.starts_with("gfx9") && device->target != "gfx950") || device->target.starts_with("gfx1"))
      targets.insert(device->target);
  if (targets.empty()) return {};
  Words out{"--machine-code", "ptx"};
  for (auto const& target : targets) add(out, {"--machine-code", target});
  return out;
}

// What is left of the default budget for each of `runs` further runs, as miniemu takes it.
std::string share_of_budget(double spent_s, std::size_t runs) {
  return fmt::format("{:.0f}s",
                     std::max(min_budget_s, (default_budget_of_all_s - spent_s) / static_cast<double>(runs)));
}

// A program of OpenCL or HIP again as a device of each other vendor that is asked about and that the database has:
// files.kernels and `answer` get the rows of all runs, of which the first took `spent_s`.
void run_as_others(Choose const& options, Words const& of_miniemu, device::DeviceDatabase const& database,
                   Files const& files, int status, double spent_s, off_t input, bool is_hip, report::Brief& answer,
                   cli::Streams& io) {
  auto const asked = database.choose(options.devices, device::is_gpu);
  std::set<std::string> vendors;
  for (auto const* const device : asked)
    if (!is_hip || device->vendor != "Intel") vendors.insert(device->vendor);
  bool const only_narrow = is_hip && std::ranges::none_of(asked, [](auto const* device) {
                             return device->vendor == "AMD" && device->wave_width > std::uint64_t{32};
                           });
  std::vector<VendorRun> runs{
      {seen_devices[0], database.find(seen_devices[0]).vendor, status, answer.kernels, answer.commands}};
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const nothing(std::fopen("/dev/null", "we"), std::fclose);
  std::vector<device::Device const*> others;
  for (std::size_t i = 1; i < seen_devices.size(); ++i) {
    std::string_view const name = only_narrow && i == 1 ? seen_with_narrow_wavefronts : seen_devices[i];
    auto const seen = std::ranges::find(database.devices(), name, &device::Device::device);
    if (seen != database.devices().end() && vendors.contains(seen->vendor)) others.push_back(&*seen);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    VendorRun run{others[i]->device, others[i]->vendor, 0, {}, {}};
    io.note(fmt::format("run again as {}, as which the program may launch other kernels", run.device));
    auto const kernels = files.named("kernels-" + run.device), commands = files.named("commands-" + run.device);
    std::error_code error;
    for (auto const& file : {kernels, commands}) std::filesystem::remove(file, error);  // of an earlier answer
    rewind_input(input);
    auto words_of_miniemu = is_hip ? machine_targets(asked) : Words{};
    add(words_of_miniemu, of_miniemu);
    auto const begin = Clock::now();
    run.status = run_program(emulate(options, words_of_miniemu, run.device.c_str(),
                                     share_of_budget(spent_s, others.size() - i), kernels, commands, io),
                             options.explain, io, nothing ? fileno(nothing.get()) : STDERR_FILENO);
    spent_s += seconds_since(begin);
    if (std::filesystem::exists(kernels, error)) run.kernels = rows_of<record::Kernel>(kernels);
    if (std::filesystem::exists(commands, error)) run.commands = rows_of<record::Command>(commands);
    runs.push_back(std::move(run));
  }
  if (runs.size() == 1) return;
  auto of_all = by_vendor(runs);
  std::filesystem::rename(files.kernels, files.named(std::string("kernels-") + seen_devices[0]));
  std::filesystem::rename(files.commands, files.named(std::string("commands-") + seen_devices[0]));
  write_rows(files.kernels, of_all.kernels);
  write_rows(files.commands, of_all.commands);
  answer.kernels = std::move(of_all.kernels);
  answer.commands = std::move(of_all.commands);
  answer.run_as = std::move(of_all.said);
  if (options.explain)
    io.print_message(fmt::format("# {}: the rows of these runs, with the vendor in runs_on where they differ\n",
                                 shell_word(files.kernels)));
}

// The sum of everything, in order; of an application with commands where those overlap.
std::vector<record::PricedRanking> whole(std::string const& path) {
  auto rows = rows_of<record::PricedRanking>(path);
  std::erase_if(rows, [](auto const& row) { return row.kernel != "total"; });
  return rows;
}

}  // namespace

std::vector<std::string> take_application(int& argc, char** argv) {
  auto* const end = argv + argc;
  auto* const dashes = std::find(argv, end, std::string_view("--"));
  if (dashes == end) return {};
  argc = static_cast<int>(dashes - argv);
  return {dashes + 1, end};
}

std::string program_named(std::string const& name) {
  auto const beside = program_path().parent_path() / name;
  if (access(beside.c_str(), X_OK) == 0) return beside.string();
  return find_program(name);
}

Status run(Choose const& options, cli::Streams& io) {
  auto const of_miniemu = options.app->remaining();
  check(options, of_miniemu);
  auto const database = device::load(device::find_database(options.devdb));
  for (auto const& device : options.devices) database.find(device);  // before minutes of emulation
  std::optional<TemporaryFolder> temporary;
  std::filesystem::path folder = options.files;
  if (options.files.empty()) {
    folder = temporary.emplace().path();
  } else {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      throw Error(Status::io, Where{options.files}, "cannot make the folder: " + error.message(), "check its place");
  }
  Files const files(folder);
  auto const subject = subject_of(options, of_miniemu);

  report::Brief answer;
  Budget const budget = budget_of(of_miniemu);
  off_t const input = lseek(STDIN_FILENO, 0, SEEK_CUR);
  std::error_code error;
  for (auto const& file : {files.kernels, files.commands})
    if (file != options.rows && file != options.commands) std::filesystem::remove(file, error);  // of an earlier answer
  auto const begin = Clock::now();
  int status = 0;
  if (options.rows.empty()) {
    status = run_program(recording(options, of_miniemu, files, io), options.explain, io);
  } else {
    write_rows(files.kernels, rows_of<record::Kernel>(options.rows));
    if (!options.commands.empty()) write_rows(files.commands, rows_of<record::Command>(options.commands));
  }
  double const elapsed_s = seconds_since(begin);
  if (!std::filesystem::exists(files.kernels, error)) return static_cast<Status>(status);  // it has said why
  answer.kernels = rows_of<record::Kernel>(files.kernels);
  if (!options.application.empty() || !options.commands.empty() || !options.torch.empty())
    answer.commands = rows_of<record::Command>(files.commands);
  if (!options.application.empty() && elapsed_s >= budget.seconds) answer.cut = budget.text;
  auto const has_calls_of = [&](record::Interface interface) {
    return std::ranges::any_of(answer.commands, [&](auto const& command) { return command.interface == interface; });
  };
  bool const is_cuda = has_calls_of(record::Interface::cuda), is_hip = has_calls_of(record::Interface::hip);
  bool const may_differ = !options.application.empty() && !is_cuda && !chooses_device(of_miniemu);
  if (may_differ && (status != 0 || !answer.kernels.empty()))
    run_as_others(options, of_miniemu, database, files, status, elapsed_s, input, is_hip, answer, io);
  answer.has_commands = !answer.commands.empty();
  answer.is_cuda = is_cuda;
  if (answer.kernels.empty())
    throw Error(
        Status::bad_data, "no kernel was seen: there is nothing to choose for",
        "does the program use its GPU with these arguments? kernelcast miniemu --attach --summary -o k.csv -- … "
        "shows what it asks for");
  if (!answer.has_commands && (!options.host.empty() || !options.link.empty()))
    io.note("--host and --link count where the order of an application's commands is known: nothing was added");
  auto const steps = steps_of(options, subject, files, answer);
  for (auto const* const step : {&steps.project, &steps.rank})
    if (int const failed = run_program(*step, options.explain, io); failed != 0) return static_cast<Status>(failed);
  answer.projections = rows_of<record::Projection>(files.projections);
  answer.ranking = whole(files.ranking);
  if (answer.ranking.empty()) {
    std::set<std::string> reasons;
    for (auto const& p : answer.projections)
      if (!p.time_s) reasons.insert(fmt::format("{}: {}", p.device, p.reason));
    throw Error(Status::unavailable, "no device can be ranked",
                reasons.empty() ? "no price or power is known of those that have a time" : *reasons.begin());
  }
  answer.subject = options.application.empty() ? subject : fmt::format("{}", fmt::join(options.application, " "));
  answer.is_application = !options.application.empty();
  answer.by = options.by;
  answer.host = options.host;
  answer.link = options.link;
  answer.system = options.system;
  answer.top = options.top;
  if (options.app->count("--format") == 0)
    io.output() << report::text_of(answer, database);
  else
    io.write(answer.ranking);
  for (auto const& step : steps.report)
    if (int const failed = run_program(step, options.explain, io); failed != 0) return static_cast<Status>(failed);
  if (status != 0 && answer.is_application)
    io.note(fmt::format("the program exited with status {}: the answer is about what it ran until then", status));
  return static_cast<Status>(status);
}

}  // namespace kernelcast::choose
