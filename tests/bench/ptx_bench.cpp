// Speed of the PTX front: lexing, parsing, graph, live ranges and printing, in bytes of PTX a second.
// The text is one kernel of the unit tests' samples, repeated to the size of a large compiler output.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>
#include <string>

#include "kernels/ptx/lexer.hpp"
#include "kernels/ptx/liveness.hpp"
#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/printer.hpp"

namespace {

using namespace kernelcast::ptx;

// range(0) copies of the kernel of old14.ptx, each in its own name.
std::string text_of(std::int64_t copies) {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/tests/unit/kernels/ptx/data/old14.ptx");
  std::ostringstream all;
  all << in.rdbuf();
  std::string const sample = all.str();
  auto const begin = sample.find("\t.entry"), end = sample.find("@@DWARF");
  std::string text = sample.substr(0, begin);
  for (std::int64_t i = 0; i < copies; ++i) {
    auto kernel = sample.substr(begin, end - begin);
    kernel.insert(kernel.find("_Z4add1PfS_i"), "k" + std::to_string(i));
    text += kernel;
  }
  return text;
}

void count(benchmark::State& state, std::string const& text) {
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
  state.counters["text_bytes"] = static_cast<double>(text.size());
}

void lex(benchmark::State& state) {
  auto const text = text_of(state.range(0));
  for (auto _ : state) {
    Lexer lexer(text);
    std::size_t tokens = 0;
    while (lexer.next().kind != Token::Kind::end) ++tokens;
    benchmark::DoNotOptimize(tokens);
  }
  count(state, text);
}
BENCHMARK(lex)->Arg(24)->Arg(1000);

void parse_text(benchmark::State& state) {
  auto const text = text_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(parse(text, "bench.ptx"));
  count(state, text);
}
BENCHMARK(parse_text)->Arg(24)->Arg(1000);

void graph_and_live_ranges(benchmark::State& state) {
  auto const text = text_of(state.range(0));
  auto const module = parse(text, "bench.ptx");
  for (auto _ : state)
    for (auto const& function : module->functions) benchmark::DoNotOptimize(registers_needed(function));
  count(state, text);
}
BENCHMARK(graph_and_live_ranges)->Arg(24);

void print_module(benchmark::State& state) {
  auto const text = text_of(state.range(0));
  auto const module = parse(text, "bench.ptx");
  for (auto _ : state) benchmark::DoNotOptimize(print(*module));
  count(state, text);
}
BENCHMARK(print_module)->Arg(24);

}  // namespace
