// Speed of CSV and records, in rows and bytes a second: libcsv alone with the reader's settings, our reader on it, rows
// with and without quotes, and whole records in and out.
#include <benchmark/benchmark.h>
#include <csv.h>

#include <sstream>
#include <string>

#include "base/csv/csv.hpp"
#include "records/projection.hpp"
#include "records/table/table.hpp"

namespace {

using namespace kernelcast;

constexpr std::int64_t rows = 100'000;

std::string short_rows(std::string const& kernel) {
  std::string text = "kernel,device,time_s\n";
  for (std::int64_t i = 0; i < rows; ++i) text += kernel + ",hd7970,0.00" + std::to_string(1000 + i % 9000) + '\n';
  return text;
}
char const* const plain = "mmul";
char const* const quoted = "\"mmul, tiled\"";

std::string projections() {
  std::ostringstream out;
  record::Writer<record::Projection> writer(out);
  record::Projection p;
  p.kernel = "matmul_lmem";
  p.case_name = "1024x1024/16x16";
  p.device = "hd7970";
  p.model = "panwar";
  p.status = record::RowStatus::ok;
  p.limiter = record::Limiter::global;
  for (std::int64_t i = 0; i < rows; ++i) {
    p.time_s = 1e-3 / static_cast<double>(i + 1);
    p.t_global_s = p.time_s;
    writer.write(p);
  }
  writer.finish();
  return out.str();
}

void count(benchmark::State& state, std::string const& text) {
  state.SetItemsProcessed(rows * state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

void libcsv_alone(benchmark::State& state, char const* kernel) {
  auto const text = short_rows(kernel);
  for (auto _ : state) {
    csv_parser parser;
    csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_space_func(&parser, [](unsigned char) { return 0; });
    csv_set_term_func(&parser, [](unsigned char c) { return c == '\n' ? 1 : 0; });
    std::size_t fields = 0;
    csv_parse(
        &parser, text.data(), text.size(), [](void*, std::size_t, void* n) { ++*static_cast<std::size_t*>(n); },
        [](int, void*) {}, &fields);
    csv_free(&parser);
    benchmark::DoNotOptimize(fields);
  }
  count(state, text);
}
BENCHMARK_CAPTURE(libcsv_alone, plain, plain);
BENCHMARK_CAPTURE(libcsv_alone, quoted, quoted);

void read_rows(benchmark::State& state, char const* kernel) {
  auto const text = short_rows(kernel);
  for (auto _ : state) {
    std::istringstream in(text);
    csv::Reader reader(in, "bench.csv");
    std::size_t bytes = 0;
    while (reader.next())
      for (std::size_t i = 0; i < reader.size(); ++i) bytes += reader[i].size();
    benchmark::DoNotOptimize(bytes);
  }
  count(state, text);
}
BENCHMARK_CAPTURE(read_rows, plain, plain);
BENCHMARK_CAPTURE(read_rows, quoted, quoted);

void read_projections(benchmark::State& state) {
  auto const text = projections();
  for (auto _ : state) {
    std::istringstream in(text);
    csv::Reader csv(in, "bench.csv");
    record::Reader<record::Projection> reader(csv);
    double sum = 0;
    for (record::Projection p; reader.next(p);) sum += p.time_s.value_or(0);
    benchmark::DoNotOptimize(sum);
  }
  count(state, text);
}
BENCHMARK(read_projections);

void write_projections(benchmark::State& state) {
  std::string text;
  for (auto _ : state) {
    text = projections();
    benchmark::DoNotOptimize(text.data());
  }
  count(state, text);
}
BENCHMARK(write_projections);

}  // namespace
