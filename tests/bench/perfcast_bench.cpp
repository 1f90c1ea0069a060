// Speed of perfcast on one core, in projections (rows times devices) a second: kernel rows are read, projected onto
// every GPU of the database and written as CSV, as the program does it; its start is not counted. `models` leaves
// reading and writing out. The whole program: repeat the rows of hecbench.csv below its header some 20 times, and
//   time perfcast many.csv > /dev/null
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "models/panwar.hpp"
#include "models/queue.hpp"
#include "records/device/device.hpp"
#include "records/table/table.hpp"

namespace {

using namespace kernelcast;
using Devices = std::vector<device::Device const*>;

Devices const& gpus() {
  static auto const database = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  static auto const all = database.choose({}, device::is_gpu);
  return all;
}

std::string const& rows_text() {
  static auto const text = [] {
    std::ifstream in(KERNELCAST_SOURCE_DIR "/bench-suites/validation/kernels/hecbench.csv", std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }();
  return text;
}

template <class Each>
void each_row(Each each) {
  std::istringstream in(rows_text());
  csv::Reader csv(in, "hecbench.csv");
  record::Reader<record::Kernel> rows(csv);
  for (record::Kernel row; rows.next(row);) {
    model::queue::Kernel::check(rows, row);
    each(row);
  }
}

template <class Write>
void project_by_queue(record::Kernel const& row, Write write) {
  model::queue::Options const options;
  model::queue::Kernel const ready(row);
  model::queue::Terms terms;
  for (auto const* const device : gpus()) {
    ready.explain(*device, options, terms);
    write(terms.projection);
  }
}

template <class Write>
void project_by_panwar(record::Kernel const& row, Write write) {
  model::panwar::Options const options;
  model::panwar::Terms terms;
  for (auto const* const device : gpus()) {
    model::panwar::explain(row, *device, options, terms, terms.projection);
    write(terms.projection);
  }
}

// Counts bytes and drops them.
class Sink : public std::streambuf {
 public:
  std::int64_t bytes = 0;

 protected:
  std::streamsize xsputn(char const*, std::streamsize size) override { return bytes += size, size; }
  int_type overflow(int_type c) override { return ++bytes, traits_type::not_eof(c); }
};

void program(benchmark::State& state, auto project) {
  std::int64_t projections = 0;
  Sink sink;
  std::ostream out(&sink);
  gpus(), rows_text();
  for (auto _ : state) {
    record::Writer<record::Projection> writer(out);
    each_row([&](auto const& row) {
      project(row, [&](auto const& projection) { writer.write(projection), ++projections; });
    });
    writer.finish();
  }
  state.SetItemsProcessed(projections);
  state.SetBytesProcessed(sink.bytes);
}
constexpr auto by_queue = [](auto const& row, auto write) { project_by_queue(row, write); };
constexpr auto by_panwar = [](auto const& row, auto write) { project_by_panwar(row, write); };
BENCHMARK_CAPTURE(program, queue, by_queue)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(program, panwar, by_panwar)->Unit(benchmark::kMillisecond);

void models(benchmark::State& state, auto project) {
  std::vector<record::Kernel> rows;
  each_row([&](auto const& row) { rows.push_back(row); });
  std::int64_t projections = 0;
  for (auto _ : state)
    for (auto const& row : rows)
      project(row, [&](auto const& projection) { benchmark::DoNotOptimize(&projection), ++projections; });
  state.SetItemsProcessed(projections);
}
BENCHMARK_CAPTURE(models, queue, by_queue)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(models, panwar, by_panwar)->Unit(benchmark::kMillisecond);

}  // namespace
