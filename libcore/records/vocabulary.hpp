// The closed lists of names in records, besides the classes of instructions (instruction_class.hpp): a column of one
// of these types reads and writes the names, refuses others, and lists them in --columns and the man page.
//
// A value is added here: an enumerator and its name. The compiler shows the switches that must know it.
#pragma once

#include <cstdint>

#include "records/table/enumeration.hpp"

namespace kernelcast::record {

// What became of a row. Its times or values are empty unless it is ok, sampled or doubtful, and `reason` says why.
enum class RowStatus : std::uint8_t {
  ok,
  infeasible,   // the device cannot run it
  unknown,      // the model or the database lacks something
  sampled,      // counted from some of the work-groups
  uncounted,    // its counts are not known
  doubtful,     // measured under conditions that make it uncertain
  failed,       // the attempt ended with an error
  unsupported,  // the device has no such thing
  unusable,     // the device cannot be used
  skipped,      // the launch cannot be described
  over_budget,  // it would have cost more than was allowed
  unvalidated,  // from a model that no measurement of such a device has tested
};
template <>
inline constexpr std::array names_of<RowStatus>{
    std::string_view("ok"),      std::string_view("infeasible"),  std::string_view("unknown"),
    std::string_view("sampled"), std::string_view("uncounted"),   std::string_view("doubtful"),
    std::string_view("failed"),  std::string_view("unsupported"), std::string_view("unusable"),
    std::string_view("skipped"), std::string_view("over_budget"), std::string_view("unvalidated")};

// What an application asks of its device (records/command.hpp).
enum class CommandKind : std::uint8_t { kernel, library, h2d, d2h, d2d, fill, host, wait, collective };
template <>
inline constexpr std::array names_of<CommandKind>{
    std::string_view("kernel"), std::string_view("library"), std::string_view("h2d"),
    std::string_view("d2h"),    std::string_view("d2d"),     std::string_view("fill"),
    std::string_view("host"),   std::string_view("wait"),    std::string_view("collective")};

// By which interface an application asks.
enum class Interface : std::uint8_t { cuda, opencl, hip };
template <>
inline constexpr std::array names_of<Interface>{std::string_view("cuda"), std::string_view("opencl"),
                                                std::string_view("hip")};

// How the memory of the host's that a copy reads or writes was allocated. A device reaches pinned memory by itself;
// what is pageable goes through a buffer of the driver's.
enum class HostMemory : std::uint8_t { pageable, pinned, managed };
template <>
inline constexpr std::array names_of<HostMemory>{std::string_view("pageable"), std::string_view("pinned"),
                                                 std::string_view("managed")};

// What decides a projected time. Each model has some of them.
enum class Limiter : std::uint8_t {
  compute,
  global,
  shared,
  launch,
  issue,
  core,
  integer,
  fp64,
  special,
  l1,
  l2,
  dram,
  barrier,
  memory_wait,
  dependency_wait,
  barrier_wait,
  memory,
  fast_memory,
  slow_memory,
  latency,
  sync,
  transfer,
  fp32,
  int_,
  lsu,
  atomics,
  tensor,
};
template <>
inline constexpr std::array names_of<Limiter>{
    std::string_view("compute"),      std::string_view("global"),      std::string_view("shared"),
    std::string_view("launch"),       std::string_view("issue"),       std::string_view("core"),
    std::string_view("integer"),      std::string_view("fp64"),        std::string_view("special"),
    std::string_view("l1"),           std::string_view("l2"),          std::string_view("dram"),
    std::string_view("barrier"),      std::string_view("memory wait"), std::string_view("dependency wait"),
    std::string_view("barrier wait"), std::string_view("memory"),      std::string_view("fast_memory"),
    std::string_view("slow_memory"),  std::string_view("latency"),     std::string_view("sync"),
    std::string_view("transfer"),     std::string_view("fp32"),        std::string_view("int"),
    std::string_view("lsu"),          std::string_view("atomics"),     std::string_view("tensor")};

// Of a projection that may come from a model of others.
using LimiterName = OpenName<Limiter>;

// How a device turns the accesses of a wavefront into transactions of global memory.
enum class AccessRule : std::uint8_t {
  cc1x_segments,  // segments of 32, 64 or 128 bytes for each half-warp
  lines128,       // loads in lines of 128 bytes, stores in sectors of 32
  sectors32,      // sectors of 32 bytes
  amd64,          // 64 bytes for each quarter of a wavefront
};
template <>
inline constexpr std::array names_of<AccessRule>{std::string_view("cc1x-segments"), std::string_view("lines128"),
                                                 std::string_view("sectors32"), std::string_view("amd64")};

// What registers are given out to.
enum class RegisterScope : std::uint8_t {
  group,  // a work-group at once
  wave,   // each wavefront, from the file of its part of the compute unit
  lane,   // each wavefront, from the registers that a lane of a SIMD engine has
  vec4,   // the same in registers of four words
};
template <>
inline constexpr std::array names_of<RegisterScope>{std::string_view("group"), std::string_view("wave"),
                                                    std::string_view("lane"), std::string_view("vec4")};

}  // namespace kernelcast::record
