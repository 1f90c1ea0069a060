// What the workloads of bench-suites/shoc must compute: the host's own, simple computation of each.
//
// Integers must be equal. A floating-point result must lie within the rounding error that its computation may have: see
// approximate.hpp and each function.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "judging.hpp"

namespace kernelcast::suites {

// Judges the buffers after a run of a launch file of `workload` ("fft", "sort", ...) by those before it. `real_bytes`
// is 4 or 8. Throws std::out_of_range for an unknown workload or a missing buffer.
Verdict judge_shoc(std::string_view workload, unsigned real_bytes, launch::Plan const&, Buffers const& before,
                   Buffers const& after);

// RFC 1321.
std::array<std::uint32_t, 4> md5(std::span<std::uint8_t const> message);

// One function per workload; floating-point ones for float and double.
using Judge = Verdict (*)(Run const&);
Verdict judge_bfs(Run const&);
Verdict judge_device_memory(Run const&);
Verdict judge_md5hash(Run const&);
Verdict judge_sort(Run const&);
Verdict judge_triad(Run const&);
template <class Real>
Verdict judge_fft(Run const&);
template <class Real>
Verdict judge_gemm(Run const&);
template <class Real>
Verdict judge_maxflops(Run const&);
template <class Real>
Verdict judge_md(Run const&);
template <class Real>
Verdict judge_reduction(Run const&);
template <class Real>
Verdict judge_s3d(Run const&);
template <class Real>
Verdict judge_scan(Run const&);
template <class Real>
Verdict judge_spmv(Run const&);
template <class Real>
Verdict judge_stencil2d(Run const&);

}  // namespace kernelcast::suites
