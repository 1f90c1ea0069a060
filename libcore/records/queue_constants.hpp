// What the queue model knows beside facts of a device: constants of all devices, unless constants.csv of the device
// database has another for an architecture.
//
// A constant is added here and nowhere else: name, value, unit, source. "chosen" is said of what
// bench-suites/validation's chosen part decided, and on which of its suites.
#pragma once

#include <array>
#include <string_view>

namespace kernelcast::record {

#define KERNELCAST_QUEUE_CONSTANTS(X)                                                                                  \
  X(norm, 3, "1", "chosen on hecbench, pmpp and qv100_cycles")                                                         \
  X(wave_issue_cycles, 4, "clocks",                                                                                    \
    "chosen on hecbench: from one instruction of a wavefront to its next, where it has no other to wait for")          \
  X(load_cycles, 2, "clocks", "micro-benchmarks of an A40")                                                            \
  X(load_line_cycles, 2, "clocks", "where one line has all: as load_cycles")                                           \
  X(shared_cycles, 2, "clocks", "of shared memory: as load_cycles")                                                    \
  X(shared_in_lsu, 1, "1", "of shared memory's time, what it takes of the load/store unit: all, of NVIDIA's")          \
  X(issues, 1, "1", "instructions that a scheduler issues at once: one")                                               \
  X(shared_joined, 1, "1", "whether the assembler joins requests of neighbouring words of shared memory")              \
  X(store_cycles, 2, "clocks", "as load_cycles")                                                                       \
  X(tag_lines, 3.6, "lines/clock", "micro-benchmarks of an A40")                                                       \
  X(scatter_cycles, 0, "clocks", "of a request whose lanes lie apart, each four lanes by themselves: not of NVIDIA's") \
  X(constant_cycles, 1, "clocks", "chosen on pmpp and tunehub")                                                        \
  X(atomic_request_cycles, 2, "clocks", "as store_cycles")                                                             \
  X(atomic_line_cycles, 1.25, "clocks", "chosen on pmpp: of one part of the cache")                                    \
  X(atomic_part_bytes, 4096, "B",                                                                                      \
    "chosen on hecbench and pmpp: neighbouring memory that one part of the cache updates")                             \
  X(atomic_same_cycles, 1, "clocks", "one update of an address in a clock")                                            \
  X(shared_atomic_cycles, 2, "clocks", "chosen on pmpp")                                                               \
  X(shared_atomic_same_cycles, 0, "clocks",                                                                            \
    "of lanes on one address of shared memory, each: one request has them all")                                        \
  X(texture_cycles, 8, "clocks", "four texels a clock")                                                                \
  X(l2_bytes_per_channel, 120, "B/clock", "te42kyfo/gpu-benches gpu-l2-cache, where the database has no rate")         \
  X(l2_port_bytes, 64, "B/clock", "micro-benchmarks: 64 bytes a clock and compute unit")                               \
  X(sectors_per_lookup, 2, "1", "assumed: 64 bytes a clock of each part of the cache")                                 \
  X(dram_part, 0.92, "1", "te42kyfo/gpu-benches gpu-stream: of the stated bandwidth, where none was measured")         \
  X(dram_mixed_part, 0.96, "1",                                                                                        \
    "te42kyfo/gpu-benches gpu-stream: of the rate of loads, where half of what moves is written and none was "         \
    "measured: "                                                                                                       \
    "median of ten devices")                                                                                           \
  X(line_part, 0.5, "1", "chosen on pmpp: of the resident groups, those that share a line in time")                    \
  X(line_most, 2, "1", "chosen on pmpp: memory gives 64 bytes for 32")                                                 \
  X(cache_part, 0.8, "1", "assumed: of a capacity")                                                                    \
  X(first_level, 1, "1", "of the loads of global memory, those that the first-level cache is asked for: all")          \
  X(fill_sectors, 1, "1", "that a miss of the first-level cache brings: of 7.0 and later")                             \
  X(local_write_through, 0, "1",                                                                                       \
    "of stores to private memory, what the first-level cache passes on although it has the line: none")                \
  X(dirty_part, 0.25, "1",                                                                                             \
    "chosen on hecbench and pmpp: of the second-level cache, what has been written and stays there at the end")        \
  X(dirty_most, 0.5, "1", "chosen on hecbench: of what has been written, at most so much stays")                       \
  X(arithmetic_cycles, 4.5, "clocks", "micro-benchmarks: 4 to 5")                                                      \
  X(fp64_cycles, 8, "clocks", "micro-benchmarks of V100 and A100")                                                     \
  X(fp64_slow_cycles, 40, "clocks", "micro-benchmarks of Turing: 40 to 48")                                            \
  X(fp64_slow_part, 0.87, "1",                                                                                         \
    "chosen on hecbench: of the stated rate, where four schedulers share a narrow double-precision unit")              \
  X(special_cycles, 20, "clocks", "micro-benchmarks: 17 to 23")                                                        \
  X(constant_latency_cycles, 30, "clocks", "micro-benchmarks: 26 to 30")                                               \
  X(shared_latency_cycles, 25, "clocks", "micro-benchmarks: 19 to 29")                                                 \
  X(barrier_cycles, 20, "clocks", "micro-benchmarks: 16 to 24")                                                        \
  X(hit_cycles, 33, "clocks", "micro-benchmarks, where the database has no l1_latency_s")                              \
  X(l2_latency_s, 144e-9, "s", "RRZE-HPC/gpu-benches, A40, where the database has none")                               \
  X(dram_latency_s, 316e-9, "s", "RRZE-HPC/gpu-benches, A40, where the database has none")                             \
  X(group_delay_cycles, 200, "clocks", "chosen on pmpp: until a group has begun")                                      \
  X(wave_cycles, 5, "clocks", "chosen on pmpp: to begin a wavefront")                                                  \
  X(code_s, 8e-9, "s", "chosen on pmpp: an instruction that is fetched for the first time")                            \
  X(ramp_s, 1e-6, "s", "chosen on pmpp: until a whole machine has work")                                               \
  X(launch_s, 6.4e-6, "s", "chosen on pmpp: median of seven systems of 2.5 to 6.7 us")                                 \
  X(queued_launch_s, 2.2e-6, "s",                                                                                      \
    "RRZE-HPC/gpu-benches gpu-small-kernels: 1.6 to 3.3 us on six systems; between launches that the host does not "   \
    "wait for")                                                                                                        \
  X(queued_gap_s, 1.5e-6, "s",                                                                                         \
    "RRZE-HPC/gpu-benches gpu-small-kernels, A40: from the end of a launch to the next one's beginning in its stream") \
  X(graph_node_s, 0.18e-6, "s",                                                                                        \
    "NVIDIA, Getting Started with CUDA Graphs: a graph of 20 kernels of 2.9 us takes 3.4 us for each on a V100, less " \
    "launch_s; of each node after the first")

#define KERNELCAST_MEMBER(name, value, unit, source) double name = value;
struct QueueConstants {
  KERNELCAST_QUEUE_CONSTANTS(KERNELCAST_MEMBER)
};
#undef KERNELCAST_MEMBER

struct QueueConstant {
  std::string_view name;
  double QueueConstants::* value;
  std::string_view unit, source;
};
#define KERNELCAST_ROW(name, value, unit, source) QueueConstant{#name, &QueueConstants::name, unit, source},
inline constexpr std::array queue_constants{KERNELCAST_QUEUE_CONSTANTS(KERNELCAST_ROW)};
#undef KERNELCAST_ROW
#undef KERNELCAST_QUEUE_CONSTANTS

// None of this name: null.
constexpr QueueConstant const* queue_constant(std::string_view name) {
  for (auto const& one : queue_constants)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace kernelcast::record
