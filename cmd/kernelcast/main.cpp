// kernelcast: the front door. `kernelcast TOOL …` starts a program of the suite, as git does; `choose`,
// `devices`, `merge` and `submit` are its own. It links none of the programs.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/process/process.hpp"
#include "records/cli/cli.hpp"
#include "records/device.hpp"
#include "records/ranking.hpp"
#include "runtimes/choose/choose.hpp"
#include "verbs.hpp"

using namespace kernelcast;

namespace {

struct Program {
  std::string_view name, summary;
};

// In the order of the overview, kernelcast(7).
constexpr std::array programs{
    Program{"devprobe", "measure a device of this machine"},
    Program{"miniemu", "emulate a kernel or a whole application, and count what it does"},
    Program{"flux-count", "count PTX instructions of each launch"},
    Program{"flux-clang++", "compile CUDA with counters in its kernels"},
    Program{"perfcast", "project kernels onto devices"},
    Program{"akemu", "emulate a compute unit, instruction by instruction"},
    Program{"perdome", "bound the performance of a code on CPU and GPU"},
    Program{"partsim", "simulate an application on several GPUs"},
    Program{"partfit", "fit times over sizes and numbers of GPUs"},
    Program{"seqprof", "profile sequential code"},
    Program{"seqprof-cc", "compile sequential code for seqprof"},
    Program{"execcost", "project sequential code onto devices"},
    Program{"mangrove", "learn and predict time and power"},
    Program{"rank", "rank devices, compare, share out, assign"},
    Program{"kernelcast-advise", "find the best device for each launch of a running application"},
    Program{"figure", "draw records, or a page of them"},
};

struct Verb {
  std::string_view name, summary;
  int (*main)(int argc, char** argv);
};
constexpr std::array verbs{
    Verb{"choose", "which device runs a program fastest, how fast, and why", front::choose},
    Verb{"devices", "what the device database knows", front::devices},
    Verb{"merge", "put the parts of a sweep together", front::merge},
    Verb{"submit", "which partition of a Slurm cluster ends a program first", front::submit},
};

constexpr std::string_view own = "kernelcast-";  // `kernelcast advise` is kernelcast-advise

std::vector<std::string> tool_names() {
  std::vector<std::string> out;
  for (auto const& program : programs)
    out.emplace_back(program.name.starts_with(own) ? program.name.substr(own.size()) : program.name);
  return out;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> out;
  for (auto const& verb : verbs) out.emplace_back(verb.name);
  return out;
}

std::vector<std::string> all_names() {
  auto out = tool_names();
  std::ranges::move(verb_names(), std::back_inserter(out));
  return out;
}

// The program that a word names; empty where it names none.
std::string program_of(std::string_view word) {
  for (auto const& program : programs)
    if (program.name == word || (program.name.starts_with(own) && program.name.substr(own.size()) == word))
      return std::string(program.name);
  return {};
}

void declare(cli::Tool& tool) {
  auto const words = std::make_shared<std::vector<std::string>>();
  tool.app().add_option("TOOL", *words,
                        fmt::format("{}, or a program of the suite, and its arguments", fmt::join(verb_names(), ", ")));
  tool.run([words](cli::Streams&) {
    if (words->empty())
      throw Error(Status::usage, "no tool is named", "kernelcast choose -- ./app; kernelcast --help lists the tools");
    auto const name = words->front();
    if (program_of(name).empty())
      throw Error(Status::usage, fmt::format("there is no 'kernelcast {}'", name), did_you_mean(name, all_names()));
    throw Error(Status::unavailable, fmt::format("'{}' is not installed", program_of(name)),
                "it belongs beside kernelcast, or on PATH");
  });
}

// In place of this process; returns where that is not possible.
void become(std::string const& path, char** argv) {
  std::string name = std::filesystem::path(path).filename();
  argv[0] = name.data();
  execv(path.c_str(), argv);
}

}  // namespace

int main(int argc, char** argv) {
  // `kernelcast help TOOL` is `kernelcast TOOL --help`.
  std::string option = "--help";
  std::array<char*, 4> help{argv[0], argc == 3 ? argv[2] : nullptr, option.data(), nullptr};
  if (argc == 3 && std::string_view(argv[1]) == "help") argv = help.data();
  if (argc > 1) {
    std::string_view const word = argv[1];
    for (auto const& verb : verbs)
      if (verb.name == word) return verb.main(argc - 1, argv + 1);
    if (auto const name = program_of(word); !name.empty())
      if (auto const path = choose::program_named(name); !path.empty()) become(path, argv + 1);
  }
  std::string description =
      "Which device runs this code fastest, how fast, and why? `kernelcast choose -- ./app` answers it. Each of the "
      "other "
      "tools is a program of its own, which `kernelcast TOOL` starts; each has its own --help.";
  for (auto const& verb : verbs) description += fmt::format("\n  {:<18} {}", verb.name, verb.summary);
  for (auto const& program : programs) description += fmt::format("\n  {:<18} {}", program.name, program.summary);
  cli::About const about{.name = "kernelcast",
                         .summary = "which device runs this code fastest, how fast, and why",
                         .description = description,
                         .operands = cli::Operands::none,
                         .input = {},
                         .output = {&record::Ranking::schema(), &record::DeviceSummary::schema()},
                         .statuses = {{Status::unavailable, "a program of the suite is not installed"}},
                         .see_also = {"kernelcast(7)", "kernelcast-choose(1)", "kernelcast-devices(1)"},
                         .examples = {{"kernelcast choose -- ./app input.dat", "which device to run this program on"},
                                      {"kernelcast devices rtx", "the devices that have rtx in their names"},
                                      {"kernelcast rank --help", "a program of the suite"}},
                         .verbs = verb_names(),
                         .words = tool_names()};
  return cli::tool_main(argc, argv, about, declare);
}
