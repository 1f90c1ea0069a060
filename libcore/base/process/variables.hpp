// The variables of the environment that the suite reads, but for those of attached applications:
// runtimes/attach/settings.def.
#pragma once

namespace kernelcast::variables {

inline constexpr char prefix[] = "KERNELCAST_";
inline constexpr char devdb[] = "KERNELCAST_DEVDB";          // the device database
inline constexpr char devdb_add[] = "KERNELCAST_DEVDB_ADD";  // files of more devices, joined by ':'
inline constexpr char isa[] = "KERNELCAST_ISA";  // the instruction-set level of the emulator and of seqprof's run-time
inline constexpr char no_cuda[] = "KERNELCAST_NO_CUDA";    // a toolkit that is there is not used
inline constexpr char openblas[] = "KERNELCAST_OPENBLAS";  // 0: cuBLAS of the emulator does without OpenBLAS

// What seqprof tells a program that it profiles: sequential/settings.hpp.
inline constexpr char seqprof_prefix[] = "KERNELCAST_SEQPROF_";
inline constexpr char seqprof_output[] = "KERNELCAST_SEQPROF_OUTPUT";
inline constexpr char seqprof_case[] = "KERNELCAST_SEQPROF_CASE";
inline constexpr char seqprof_granularity[] = "KERNELCAST_SEQPROF_GRANULARITY";
inline constexpr char seqprof_sample[] = "KERNELCAST_SEQPROF_SAMPLE";
inline constexpr char seqprof_sync[] = "KERNELCAST_SEQPROF_SYNC";

// What seqprof-cc tells its plug-in of the compiler: sequential/llvm/seqprof/plugin.cpp.
inline constexpr char seqprof_kernel[] = "KERNELCAST_SEQPROF_KERNEL";
inline constexpr char seqprof_region[] = "KERNELCAST_SEQPROF_REGION";
inline constexpr char seqprof_mode[] = "KERNELCAST_SEQPROF_MODE";
inline constexpr char seqprof_names[] = "KERNELCAST_SEQPROF_NAMES";
inline constexpr char seqprof_keep[] = "KERNELCAST_SEQPROF_KEEP";
inline constexpr char seqprof_without[] = "KERNELCAST_SEQPROF_WITHOUT";

}  // namespace kernelcast::variables
