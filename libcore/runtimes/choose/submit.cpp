#include "runtimes/choose/submit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "base/process/process.hpp"
#include "base/process/shell_words.hpp"
#include "records/device/device.hpp"
#include "records/ranking.hpp"
#include "records/submission.hpp"
#include "records/table/table.hpp"

namespace kernelcast::choose {

namespace {

using Words = std::vector<std::string>;

constexpr double queue_answer_limit_s = 60;  // slurmctld answers within its MessageTimeout, 10 s unless configured

// A partition of the file with its device's id.
std::vector<record::ClusterPartition> read_partitions(Submit const& options, device::DeviceDatabase const& database,
                                                      cli::Streams& io) {
  std::vector<record::ClusterPartition> out;
  auto csv = io.csv(options.partitions);
  record::Reader<record::ClusterPartition> rows(csv);
  for (record::ClusterPartition row; rows.next(row);) {
    row.device = database.find(row.device).device;
    out.push_back(row);
  }
  if (out.empty())
    throw Error(Status::bad_data, Where{options.partitions}, "no partition is named",
                "a row for each kind of GPU of a partition: gpu,a100,gpu:a100:1");
  return out;
}

// By device, from `kernelcast choose`, which says what goes wrong.
std::map<std::string, record::PricedRanking> choose_among(Submit const& options,
                                                          std::vector<record::ClusterPartition> const& partitions,
                                                          cli::Streams& io, Status& status) {
  TemporaryFolder const folder;
  auto const ranking = folder.file("ranking.csv");
  Words devices;
  for (auto const& partition : partitions)
    if (std::ranges::find(devices, partition.device) == devices.end()) devices.push_back(partition.device);
  Words command{program_path().string(),
                "choose",
                "--format",
                "csv",
                "-o",
                ranking,
                "--device",
                fmt::format("{}", fmt::join(devices, ","))};
  if (!options.devdb.empty()) command.insert(command.end(), {"--devdb", options.devdb});
  if (io.quiet()) command.emplace_back("--quiet");
  auto const of_miniemu = options.app->remaining();
  command.insert(command.end(), of_miniemu.begin(), of_miniemu.end());
  command.emplace_back("--");
  command.insert(command.end(), options.application.begin(), options.application.end());
  status = static_cast<Status>(run_in_foreground(std::move(command), environment_without({}), STDERR_FILENO));
  std::map<std::string, record::PricedRanking> out;
  if (std::error_code error; std::filesystem::file_size(ranking, error) == 0 || error) return out;  // it has said why
  auto in = open_file(ranking);
  for (auto& row : record::read_rows<record::PricedRanking>(in, ranking)) out.emplace(row.device, std::move(row));
  return out;
}

Words sbatch_command(record::ClusterPartition const& partition, Words const& application) {
  Words out{"sbatch", "--partition=" + partition.partition,
            "--gres=" + (partition.gres.empty() ? "gpu:1" : partition.gres)};
  for (auto const& word : shell_words(partition.options)) out.push_back(word);
  Words quoted;
  for (auto const& word : application) quoted.push_back(shell_word(word));
  out.push_back(fmt::format("--wrap={}", fmt::join(quoted, " ")));
  return out;
}

// Seconds from now to the time of the answer "… to start at 2026-11-25T14:05:00 using …"; none where it has none.
std::optional<double> start_in_s(std::string const& answer) {
  constexpr std::string_view sign = "to start at ";
  auto const at = answer.find(sign);
  if (at == answer.npos) return std::nullopt;
  std::tm time{};
  if (!strptime(answer.c_str() + at + sign.size(), "%Y-%m-%dT%H:%M:%S", &time)) return std::nullopt;
  time.tm_isdst = -1;
  return std::max(0.0, std::difftime(std::mktime(&time), std::time(nullptr)));
}

// What Slurm says of a job that is not submitted. Its first line where there is no time.
std::optional<double> ask_queue(std::string const& sbatch, Words command, std::string& reason) {
  command.front() = sbatch;
  command.insert(command.begin() + 1, "--test-only");
  auto const result = run_process(command, queue_answer_limit_s);
  auto const answer = result.errors + result.output;
  auto const start = result.timed_out ? std::nullopt : start_in_s(answer);
  if (!start)
    reason = result.timed_out ? fmt::format("sbatch did not answer within {} s", queue_answer_limit_s)
             : answer.empty() ? fmt::format("sbatch exited with status {}", result.exit_code)
                              : answer.substr(0, answer.find('\n'));
  return start;
}

}  // namespace

Status run(Submit const& options, cli::Streams& io) {
  if (options.application.empty())
    throw Error(Status::usage, "what shall run?",
                "kernelcast submit --partitions partitions.csv -- ./app its arguments");
  auto const database = device::load(device::find_database(options.devdb));
  auto const partitions = read_partitions(options, database, io);
  auto const sbatch = find_program("sbatch");
  if (sbatch.empty())
    throw Error(Status::unavailable, "'sbatch' is not on PATH",
                "it comes with Slurm: run this where jobs are submitted");
  Status status = Status::done;
  auto const times = choose_among(options, partitions, io, status);
  if (times.empty()) return status == Status::done ? Status::unavailable : status;

  std::vector<record::Submission> rows;
  std::vector<Words> commands;
  for (auto const& partition : partitions) {
    record::Submission row;
    row.partition = partition.partition;
    row.device = partition.device;
    auto const command = sbatch_command(partition, options.application);
    Words quoted;
    for (auto const& word : command) quoted.push_back(shell_word(word));
    row.command = fmt::format("{}", fmt::join(quoted, " "));
    row.start_s = ask_queue(sbatch, command, row.reason);
    if (auto const found = times.find(partition.device); found == times.end()) {
      row.reason = "the device has no time";
    } else {
      row.time_s = found->second.time_s;
      row.time_low_s = found->second.time_low_s;
      row.time_high_s = found->second.time_high_s;
      if (row.start_s) row.end_s = *row.start_s + *row.time_s;
    }
    rows.push_back(std::move(row));
    commands.push_back(command);
  }
  // The order of the file where two end at the same time; those without an end come last.
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  constexpr double never = std::numeric_limits<double>::infinity();
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair{rows[i].end_s.value_or(never), i}; });
  std::vector<record::Submission> sorted;
  for (auto const i : order) sorted.push_back(std::move(rows[i]));
  auto const& first = sorted.front();
  if (!options.run) {
    io.write(sorted);
    if (!first.end_s) io.note("no partition has both a start and a time: the column reason says why");
    return first.end_s ? Status::done : Status::unavailable;
  }
  if (!first.end_s)
    throw Error(Status::unavailable, "no partition has both a start and a time: nothing is submitted",
                fmt::format("{}: {}", first.partition, first.reason));
  io.note(fmt::format("partition {}, {}: starts in {:.0f} s, takes {:.3g} s", first.partition, first.device,
                      *first.start_s, *first.time_s));
  auto command = commands[order.front()];
  command.front() = sbatch;
  if (int const failed = run_in_foreground(std::move(command), environment_without({})); failed != 0)
    throw Error(Status::unavailable, fmt::format("sbatch exited with status {}", failed), first.command);
  return Status::done;
}

}  // namespace kernelcast::choose
