# The launch files whose kernels are timed: those of bench-suites/ake, in sizes that keep a device busy.
# Usage: workloads.sh SOURCE
for name in aes fast_walsh matmul_gmem matmul_lmem nbody reduction transpose; do echo "$1/bench-suites/panwar/$name.toml"; done
for name in 2dconv 3dconv atax bicg doitgen gemm gesummv mvt syr2k syrk; do echo "$1/bench-suites/polybench/$name.toml"; done
for name in fft_sp_s1 gemm_sp_s1 md5hash_s1 reduction_sp_s1 s3d_sp_s1 scan_sp_s1 sort_s1 spmv_sp_s1 triad_s1; do
  echo "$1/bench-suites/shoc/opencl/$name.toml"
done
