#include "references.hpp"

#include <map>
#include <string>

namespace kernelcast::suites {

Verdict judge_shoc(std::string_view workload, unsigned real_bytes, launch::Plan const& plan, Buffers const& before,
                   Buffers const& after) {
  struct Judges {
    Judge single = nullptr, twice = nullptr;
  };
  static std::map<std::string, Judges, std::less<>> const judges{
      {"bfs", {judge_bfs, judge_bfs}},
      {"device_memory", {judge_device_memory, judge_device_memory}},
      {"fft", {judge_fft<float>, judge_fft<double>}},
      {"gemm", {judge_gemm<float>, judge_gemm<double>}},
      {"maxflops", {judge_maxflops<float>, judge_maxflops<double>}},
      {"md", {judge_md<float>, judge_md<double>}},
      {"md5hash", {judge_md5hash, judge_md5hash}},
      {"reduction", {judge_reduction<float>, judge_reduction<double>}},
      {"s3d", {judge_s3d<float>, judge_s3d<double>}},
      {"scan", {judge_scan<float>, judge_scan<double>}},
      {"sort", {judge_sort, judge_sort}},
      {"spmv", {judge_spmv<float>, judge_spmv<double>}},
      {"stencil2d", {judge_stencil2d<float>, judge_stencil2d<double>}},
      {"triad", {judge_triad, judge_triad}}};
  auto const found = judges.find(workload);
  if (found == judges.end()) throw std::out_of_range(fmt::format("no workload '{}'", workload));
  return (real_bytes == 8 ? found->second.twice : found->second.single)({plan, before, after});
}

}  // namespace kernelcast::suites
