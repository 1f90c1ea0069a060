// Variables by which the program tells the library in the application what to do.
#pragma once

namespace kernelcast::attach::collect {

inline constexpr auto output_variable = "KERNELCAST_COLLECT_OUTPUT";    // rows go to this file and the process's number
inline constexpr auto seconds_variable = "KERNELCAST_COLLECT_SECONDS";  // to repeat a kernel for
inline constexpr auto skip_variable = "KERNELCAST_COLLECT_SKIP";        // kernels not to repeat, with commas
inline constexpr auto power_variable = "KERNELCAST_COLLECT_POWER";      // 0: no power

}  // namespace kernelcast::attach::collect
