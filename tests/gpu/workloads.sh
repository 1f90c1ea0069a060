# The cases whose kernels are timed, as SUITE/CASE: those of bench-suites/papers/ake, in sizes that keep a device busy.
for name in aes fast_walsh matmul_gmem matmul_lmem nbody reduction transpose; do echo "panwar/$name"; done
for name in 2dconv 3dconv atax bicg doitgen gemm gesummv mvt syr2k syrk; do echo "polybench/$name"; done
for name in fft_sp_s1 gemm_sp_s1 md5hash_s1 reduction_sp_s1 s3d_sp_s1 scan_sp_s1 sort_s1 spmv_sp_s1 triad_s1; do
  echo "shoc/$name"
done
