// akemu's way from the text of a trace to cycles: warp instructions per second on one core, reading included. The trace
// is of a loop of 16 instructions with a load and a store of global and a load of shared memory.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "models/ake/projection.hpp"
#include "records/device/device.hpp"
#include "records/table/table.hpp"

namespace {

using namespace kernelcast;
using namespace kernelcast::model::ake;

constexpr unsigned groups = 4, warps = 8, rounds = 4000;

std::string trace() {
  std::ostringstream out;
  out << "kind,kernel,case,block,groups_total,registers_ptx,registers_sm75,vgprs_gfx6,vgprs_gfx90a,vgprs_gfx1030,"
         "gprs_cypress,shared_bytes,pc,class,dst,src,space,bytes_per_lane,group,warp,seq,mask,addresses,width,opcode,"
         "source,line\n"
         "launch,loop,1,256,320,64,,,,,,24576,,,,,,,,,,,,32,,,\n";
  auto const instruction = [&](unsigned block, unsigned pc, char const* rest, char const* opcode) {
    out << "inst,loop,," << block << ",,,,,,,,," << pc << "," << rest << ",,,,,,," << opcode << ",k.cl,1\n";
  };
  unsigned pc = 0;
  instruction(0, pc++, "memory,1,0,global,4", "ld.global.f32");
  instruction(0, pc++, "memory,2,9,shared,4", "ld.shared.f32");
  for (unsigned n = 0; n < 10; ++n) instruction(0, pc++, n % 2 ? "fp32,3,3;1;2,," : "fp32,4,4;1;2,,", "fma.rn.f32");
  instruction(0, pc++, "int_add,0,0,,", "add.s64");
  instruction(0, pc++, "memory,,0;3,global,4", "st.global.f32");
  instruction(0, pc++, "int_add,5,0,,", "setp.lt.u64");
  instruction(0, pc++, "control,,5,,", "bra");
  instruction(1, pc++, "control,,,,", "ret");
  for (unsigned g = 0; g < groups; ++g)
    for (unsigned r = 0; r <= rounds; ++r)
      for (unsigned w = 0; w < warps; ++w) {
        out << "exec,,," << (r < rounds ? 0 : 1) << ",,,,,,,,,,,,,,," << g << "," << w << "," << r << ",ffffffff,";
        if (r < rounds) {
          auto const at = 30064771072ull + (g * rounds + r) * 1024ull + w * 128;
          out << at << "+4;" << w * 128 << "+4;" << at + (1u << 28) << "+4";
        }
        out << ",,,,\n";
      }
  return out.str();
}

template <class R>
std::vector<R> rows_of(std::string const& file) {
  std::ifstream in(std::string(KERNELCAST_SOURCE_DIR "/devdb/") + file);
  return record::read_rows<R>(in, file);
}

void emulate_trace(benchmark::State& state, MemoryMode::Kind memory) {
  std::string const text = trace();
  auto const database = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  auto const& v100 = database.find("v100");
  auto const resolved = resolve(
      v100, {rows_of<record::LatencyGap>("latgap.csv"), rows_of<record::LatencyFallback>("latgap_fallbacks.csv")});
  Options options;
  options.memory.kind = memory;
  options.list_order = false;
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    std::istringstream in(text);
    csv::Reader csv(in, "trace");
    record::TraceStream rows(csv);
    LaunchReader launches(rows, [](record::Trace const&) { return std::size_t{groups}; });
    Projector projector(v100, resolved, options);
    for (Launch launch; launches.next(launch);) projector.add(launch);
    auto const row = projector.rows().at(0);
    instructions += row.warp_instructions.value_or(0);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size() * state.iterations()));
  state.counters["warp_inst"] = benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void no_cache(benchmark::State& state) {
  emulate_trace(state, MemoryMode::Kind::none);
}
void simulated_caches(benchmark::State& state) {
  emulate_trace(state, MemoryMode::Kind::simulated);
}
BENCHMARK(no_cache)->Unit(benchmark::kMillisecond);
BENCHMARK(simulated_caches)->Unit(benchmark::kMillisecond);

}  // namespace
