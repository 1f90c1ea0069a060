// kernelcast merge: the parts of a sweep put together.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "records/cli/cli.hpp"
#include "records/table/parts.hpp"
#include "verbs.hpp"

namespace kernelcast::front {

namespace {

struct Options {
  std::vector<std::string> files;
  std::size_t parts = 0;
};

void run(Options const& options, cli::Streams& io) {
  if (io.format() != record::Format::csv)
    throw Error(Status::usage, "merge writes CSV, the bytes of one run", "leave out --format");
  auto files = options.files;
  std::ranges::sort(files, record::is_earlier_part);
  if (options.parts > 0 && files.size() != options.parts)
    throw Error(Status::usage, fmt::format("{} parts of {} are named", files.size(), options.parts),
                "name each part once");
  record::Parts parts;
  for (auto const& file : files) {
    auto csv = io.csv(file);
    parts.add(csv);
  }
  parts.check();
  parts.write(io.output());
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option(
         "FILE", options->files,
         "the parts, made with --shard 0/N to N-1/N: in the order of the numbers in their names, or else as given")
      ->required();
  app.add_option("--parts", options->parts, "how many parts there are: an error where others are named")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000000U));
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int merge(int argc, char** argv) {
  cli::About const about{
      .name = "kernelcast merge",
      .summary = "put the parts of a sweep together",
      .description =
          "Joins what --shard 0/N, 1/N, ... of one program have written to what one run would have written, "
          "byte for byte. A part that is incomplete or named twice is an error that names it.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {},
      .statuses = {},
      .see_also = {"miniemu(1)", "partsim(1)", "perdome(1)"},
      .examples = {{"kernelcast merge part*.csv > rows.csv", "what an array of jobs has made"},
                   {"kernelcast merge --parts 16 part*.csv > rows.csv", "the same, if all 16 are there"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::front
