// The programs that read CSV, from their main() on: the first byte chooses the program and its options, the rest is
// what it reads. Their exit status is one of the documented ones. They read a small device database and write nowhere.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "base/version/version.hpp"
#include "fuzz.hpp"
#include "models/execcost.hpp"
#include "models/fit/rows.hpp"
#include "models/perdome/rows.hpp"
#include "models/project_rows.hpp"
#include "models/rank_rows.hpp"
#include "pictures/figure/figure.hpp"
#include "pictures/report/report.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/shard.hpp"
#include "records/cli/stdio.hpp"
#include "records/cli/values.hpp"
#include "records/command.hpp"
#include "records/device/device.hpp"
#include "records/explanation.hpp"
#include "records/fit.hpp"
#include "records/interval.hpp"
#include "records/kernel.hpp"
#include "records/partition.hpp"
#include "records/projection.hpp"
#include "records/queue.hpp"
#include "records/ranking.hpp"
#include "records/simulation.hpp"
#include "records/table/passed_through.hpp"

// Each program's source in a namespace of its own; all that it includes is included above.
// NOLINTBEGIN(bugprone-suspicious-include)
#define main program
namespace kernelcast::fuzz::of_execcost {
#include "../../cmd/execcost/main.cpp"
}
namespace kernelcast::fuzz::of_figure {
#include "../../cmd/figure/main.cpp"
}
namespace kernelcast::fuzz::of_partfit {
#include "../../cmd/partfit/main.cpp"
}
namespace kernelcast::fuzz::of_perdome {
#include "../../cmd/perdome/main.cpp"
}
namespace kernelcast::fuzz::of_perfcast {
#include "../../cmd/perfcast/main.cpp"
}
namespace kernelcast::fuzz::of_rank {
#include "../../cmd/rank/main.cpp"
}
#undef main
// NOLINTEND(bugprone-suspicious-include)

namespace kernelcast::fuzz {

namespace {

struct Program {
  int (*main)(int, char**);
  std::vector<std::string> options;
};

std::vector<Program> programs() {
  std::vector<Program> out{{&of_rank::program, {}},
                           {&of_rank::program, {"--share", "--format", "json"}},
                           {&of_rank::program, {"--total"}},
                           {&of_rank::program, {"--format", "table"}},
                           {&of_rank::program, {"--assign"}},
                           {&of_partfit::program, {}},
                           {&of_partfit::program, {"--model", "wls", "--emit", "penalty"}},
                           {&of_partfit::program, {"--model", "lassolars", "--n", "100", "--alpha", "0.1"}},
                           {&of_perdome::program, {"--link", "1e10"}},
                           {&of_perdome::program, {"--best"}},
                           {&of_execcost::program, {}},
                           {&of_execcost::program, {"--granularity", "line", "--link", "1e9"}},
                           {&of_perfcast::program, {}},
                           {&of_perfcast::program, {"--explain", "--launch-delay"}}};
  for (auto const& kind : kernelcast::figure::kinds())
    out.push_back({&of_figure::program, {std::string(kind.name), "--format", "gnuplot"}});
  out.push_back({&of_figure::program, {"report", "--format", "html"}});
  return out;
}

}  // namespace

void run_input(std::string_view input) {
  static auto const all = programs();
  static MemoryFile file;
  static bool const database = setenv("KERNELCAST_DEVDB", small_database().c_str(), 1) == 0;
  if (input.empty() || !database) return;
  auto const& [program, options] = all[static_cast<unsigned char>(input.front()) % all.size()];
  file.write(input.substr(1));
  std::vector<std::string> words{"fuzz", "-o", "/dev/null", "--quiet"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(file.path());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  int const status = program(static_cast<int>(arguments.size()), arguments.data());
  if (status > static_cast<int>(Status::limit)) defect("an undocumented exit status");
}

}  // namespace kernelcast::fuzz
