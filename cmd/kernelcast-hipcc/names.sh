#!/bin/sh
# Usage: names.sh HEADERS FOLDER. A header for each library of CUDA in HEADERS: every name of its own as HIP calls it.
set -eu
headers=$1 folder=$2
mkdir -p "$folder"
make() {  # the library of HIP, its prefixes as FROM=TO, headers
  to=$folder/$1.h rules=$2
  shift 2
  for header; do
    shift
    [ ! -f "$headers/$header" ] || set -- "$@" "$headers/$header"
  done
  [ $# -gt 0 ] || return 0
  grep -ohE '\b[A-Za-z_][A-Za-z0-9_]*' "$@" | LC_ALL=C sort -u | LC_ALL=C awk -v rules="$rules" '
    BEGIN {
      print "#pragma once"
      count = split(rules, rule, " ")
      for (i = 1; i <= count; ++i) split(rule[i], half, "=") && (from[i] = half[1]) != "" && (to[i] = half[2]) != ""
    }
    {
      for (i = 1; i <= count; ++i)
        if (index($0, from[i]) == 1 && length($0) > length(from[i])) {
          print "#define " to[i] substr($0, length(from[i]) + 1) " " $0
          break
        }
    }' >"$to"
}
make runtime 'cudaDevAttr=hipDeviceAttribute cuda=hip make_cuda=make_hip CUDA_R_=HIP_R_ CUDA_C_=HIP_C_' cuda_runtime_api.h cuda_runtime.h driver_types.h driver_functions.h \
  texture_types.h surface_types.h channel_descriptor.h library_types.h texture_indirect_functions.h
make driver 'CU_=HIP_ cu=hip CU=hip' cuda.h
make numbers '__nv_=__hip_ __NV_=__HIP_' cuda_bf16.h cuda_fp8.h
make complex 'cuC=hipC cuD=hipD cuF=hipF make_cu=make_hip' cuComplex.h
make blas 'cublas=hipblas CUBLAS_=HIPBLAS_' cublas_v2.h cublas_api.h
make blaslt 'cublasLt=hipblasLt CUBLASLT_=HIPBLASLT_' cublasLt.h
make fft 'cufft=hipfft CUFFT_=HIPFFT_' cufft.h
make rand 'curand=hiprand CURAND_=HIPRAND_' curand.h curand_kernel.h curand_uniform.h curand_normal.h curand_lognormal.h curand_poisson.h \
  curand_discrete.h curand_discrete2.h curand_mrg32k3a.h curand_mtgp32.h curand_philox4x32_x.h
make sparse 'cusparse=hipsparse CUSPARSE_=HIPSPARSE_' cusparse.h
make solver 'cusolver=hipsolver CUSOLVER_=HIPSOLVER_ CUBLAS_=HIPSOLVER_' cusolverDn.h cusolver_common.h cublas_api.h
