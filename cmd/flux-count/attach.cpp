#include "attach.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "kernels/cuda/linkage.hpp"
#include "records/feature.hpp"
#include "records/table/table.hpp"
#include "runtimes/attach/count/application.hpp"

using namespace kernelcast;

namespace {

// Launches end in another order than they began where there are several streams.
void sort_by_launch(std::vector<record::Feature>&) {}
template <class R>
void sort_by_launch(std::vector<R>& rows) {
  // Rows of one launch keep their order: it was written as a whole.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(rows[i].launch, i);
  std::sort(order.begin(), order.end());
  std::vector<R> sorted;
  for (auto const& [launch, at] : order) sorted.push_back(std::move(rows[at]));
  rows = std::move(sorted);
}

template <class R>
void pass_on(std::vector<std::string> const& files, cli::Streams& io) {
  std::set<std::string> uncounted;
  auto out = io.writer<R>();
  for (auto const& path : files) {
    auto file = open_file(path);
    if (file.peek() == std::ifstream::traits_type::eof()) continue;
    auto rows = record::read_rows<R>(file, path);
    sort_by_launch(rows);
    for (auto const& row : rows) {
      if (row.status == record::RowStatus::uncounted)
        uncounted.insert(fmt::format("kernel '{}': {}", row.kernel, row.reason));
      out.write(row);
    }
  }
  for (auto const& text : uncounted) io.note(text);
  out.finish();
}

std::string why_nothing(std::string const& application) {
  constexpr auto nothing = "the application launched no kernel through a shared CUDA runtime";
  switch (cuda::linkage_of(application)) {
    case cuda::Linkage::fixed:
      return fmt::format(
          "'{}' holds the static CUDA runtime, which cannot be attached to: link it with "
          "nvcc -cudart shared, or flux-clang++",
          application);
    case cuda::Linkage::unknown:
      return fmt::format("{}; '{}' is not an ELF program: programs that it starts are attached to as well", nothing,
                         application);
    case cuda::Linkage::none:
      return fmt::format("{}; '{}' itself holds no device code", nothing, application);
    case cuda::Linkage::shared:
      break;
  }
  return nothing;
}

}  // namespace

Status run_application(Options const& options, cli::Streams& io) {
  if (options.emit != "counts" && options.emit != "groups" && options.emit != "features")
    throw Error(Status::usage, fmt::format("--attach does not write {}", options.emit), "counts, groups or features");
  if (io.to_standard_output())
    throw Error(Status::usage, "--attach needs a file to write to: standard output is the application's",
                "flux-count --attach -o counts.csv -- ./app its arguments");
  auto command = options.application;
  command.insert(command.begin(), options.launch.line.path);
  TemporaryFolder const folder;
  auto const result = attach::count::run(command, options.emit, folder.path().string());
  if (options.emit == "groups")
    pass_on<record::CountGroup>(result.row_files, io);
  else if (options.emit == "features")
    pass_on<record::Feature>(result.row_files, io);
  else
    pass_on<record::Count>(result.row_files, io);
  if (result.row_files.empty()) io.note(why_nothing(command.front()));
  return static_cast<Status>(result.status);
}
