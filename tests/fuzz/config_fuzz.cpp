// The configuration file of a program, --config, with options of each kind. What it may say of outputs is overruled by
// the command line.
#include <memory>

#include "fuzz.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/shard.hpp"

namespace kernelcast::fuzz {

namespace {

struct Options {
  std::string word, shard;
  std::vector<std::string> list;
  double rate = 0;
  int width = 0;
  unsigned count = 0;
  bool flag = false;
};

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("--word", options->word, "a word")->type_name("WORD")->check(CLI::IsMember({"one", "two"}));
  app.add_option("--rate", options->rate, "a number")->type_name("RATE")->check(CLI::PositiveNumber);
  app.add_option("--width", options->width, "a number in a range")->type_name("N")->check(CLI::Range(1, 100));
  app.add_option("--count", options->count, "a number, 0 or more")->type_name("N");
  app.add_flag("--flag", options->flag, "a flag");
  tool.list("--list", options->list, "words", "WORD");
  cli::Shard::declare(tool, options->shard);
  tool.run([options](cli::Streams&) { cli::Shard const shard(options->shard); });
}

}  // namespace

void run_input(std::string_view input) {
  static MemoryFile file;
  file.write(input);
  std::vector<std::string> words{"fuzz", "--config", file.path(), "-o", "/dev/null", "--meta", "/dev/null"};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  cli::About const about{.name = "fuzz",
                         .summary = "",
                         .description = "",
                         .operands = cli::Operands::none,
                         .input = {},
                         .output = {},
                         .statuses = {},
                         .see_also = {},
                         .examples = {}};
  int const status = cli::tool_main(static_cast<int>(arguments.size()), arguments.data(), about, declare);
  if (status > static_cast<int>(Status::limit)) defect("an undocumented exit status");
}

}  // namespace kernelcast::fuzz
