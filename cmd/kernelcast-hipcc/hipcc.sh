#!/bin/sh
# kernelcast-hipcc: HIP sources for the emulator, as hipcc compiles them for AMD's GPUs. HIP's names become those of CUDA
# and its libraries, by headers of our own and by a list that is made once of the CUDA toolkit's own headers: hipX is cudaX,
# hipblasX is cublasX. nvcc compiles the result. Options are hipcc's; those that only clang or AMD's GPUs have are left out.
set -eu
here=$(dirname "$(readlink -f "$0")")
place=$here/@HIP_PLACE@

fail() {  # status, message, hint
  printf 'kernelcast-hipcc: error: %s\nhint: %s\n' "$2" "$3" >&2
  exit "$1"
}
case ${1-} in
  --help | -h)
    cat <<'TEXT'
Usage: kernelcast-hipcc [OPTIONS] FILE... [-o FILE]

Compiles HIP sources into programs that run under kernelcast choose and miniemu --attach, with or without an NVIDIA GPU.
Options are those of hipcc: -c, -o, -I, -D, -L, -l, -O, -g, -std, -f..., -W.... Libraries: hipBLAS, hipBLASLt, hipFFT, hipRAND,
hipSPARSE, hipSOLVER, hipCUB, RCCL. A program holds code for warps of 32 work-items and for wavefronts of 64; the device that
it sees (--as) decides.

Variables: KERNELCAST_HIP_NVCC, the nvcc to use (default: on PATH, else /usr/local/cuda/bin/nvcc); KERNELCAST_HIP_ARCH, the
architecture of the PTX for warps of 32 (default: sm_80).
TEXT
    exit 0 ;;
  --version)
    echo 'kernelcast-hipcc @PROJECT_VERSION@'
    exit 0 ;;
esac
[ $# -gt 0 ] || fail 2 'no input files' 'kernelcast-hipcc -O3 main.hip -o main; --help lists options'

nvcc=${KERNELCAST_HIP_NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || fail 5 'there is no nvcc' 'install a CUDA toolkit, and name its nvcc in KERNELCAST_HIP_NVCC'
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
headers=
for folder in "$toolkit"/targets/*/include "$toolkit/include" /usr/include; do
  [ -f "$folder/cuda_runtime_api.h" ] && headers=$folder && break
done
[ -n "$headers" ] || fail 5 "no cuda_runtime_api.h beside $nvcc" 'install the headers of the CUDA runtime'

# The list of names: in the cache, by toolkit and by what makes it.
key=$({ echo "$headers"; cat "$headers/cuda_runtime_api.h" "$place/names.sh"; } | cksum | tr ' ' -)
names=${XDG_CACHE_HOME:-$HOME/.cache}/kernelcast/hip/$key
if [ ! -f "$names/hip_names/runtime.h" ]; then
  mkdir -p "$(dirname "$names")" || fail 4 "$(dirname "$names") cannot be made" 'set XDG_CACHE_HOME'
  new=$names.$$
  sh "$place/names.sh" "$headers" "$new/hip_names"
  mv -T "$new" "$names" 2>/dev/null || rm -rf "$new"  # another one was faster
fi

own="-I$place/include -I$names"
sources=no
case " $* " in *.hip\ * | *.cu\ * | *.cpp\ * | *.cc\ * | *.cxx\ * | *.C\ *) sources=yes ;; esac
before=
recorded=$(pwd)  # with what AMD's own compiler needs of these words, by lines
record() {
  recorded="$recorded
$1"
}
for argument; do
  shift
  case $before in
    -x) before= && continue ;;  # the language: all sources are HIP's
    -I | -D | -U | -include | -isystem | -iquote | -idirafter) record "$argument" ;;
  esac
  case $argument in
    -I* | -D* | -U* | -include | -isystem | -iquote | -idirafter | -std=* | -O* | -ffast-math | -munsafe-fp-atomics) record "$argument" ;;
  esac
  if [ "$before" = -o ]; then
    before=
    set -- "$@" "$argument"
    continue
  fi
  before=$argument
  case $argument in
    --offload-arch=* | --amdgpu-target=* | -munsafe-fp-atomics | -mno-* | --rocm-path=* | --hip-* | -fhip-* | -stdlib=*) continue ;;
    -fno-gpu-rdc | -Wno-* | -Werror* | -fgpu-flush-denormals-to-zero) continue ;;
    -fgpu-rdc) argument=-rdc=true ;;
    -ffast-math) set -- "$@" -Xcompiler -ffast-math --use_fast_math; continue ;;
    -lhipblas) argument=-lcublas ;;
    -lhipblaslt) argument=-lcublasLt ;;
    -lhipfft) argument=-lcufft ;;
    -lhiprand) argument=-lcurand ;;
    -lhipsparse) argument=-lcusparse ;;
    -lhipsolver) argument=-lcusolver ;;
    -lrccl) argument=-lnccl ;;
    -lamdhip64) continue ;;
    -lroc*) fail 5 "$argument: no library of CUDA's does that" 'hipBLAS, hipFFT and others have one' ;;
    -Wl,*) for word in $(echo "${argument#-Wl,}" | tr , ' '); do set -- "$@" -Xlinker "$word"; done; continue ;;
    -pthread | -f* | -m* | -W*) set -- "$@" -Xcompiler "$argument"; continue ;;
    -x | -xhip | --hip-link | -v) continue ;;
    -Ofast) set -- "$@" -O3 --use_fast_math; continue ;;
    -Og | -Oz | -Os) argument=-O1 ;;
    *.o | *.a | *.so)  # which nvcc would compile, too, beside a source
      [ $sources = no ] || { set -- "$@" -Xlinker "$argument"; continue; } ;;
  esac
  set -- "$@" "$argument"
done
[ $sources = no ] || set -- -x cu "$@"
if [ $sources = yes ]; then  # which the program holds (hip_runtime_api.h), so that AMD's machine code can be made of it
  key=$(printf '%s' "$recorded" | cksum | tr ' ' -)
  command=$names/command-$key.h
  if [ ! -f "$command" ]; then
    printf '%s\n' "$recorded" | sed 's/[\\"]/\\&/g; s/.*/"&\\n"/; 1i #define KERNELCAST_HIP_COMMAND \\
s/$/ \\/; $s/ \\$//' >"$command.$$"
    mv "$command.$$" "$command"
  fi
  set -- -include "$command" "$@"
fi
arch=${KERNELCAST_HIP_ARCH:-sm_80}
arch=${arch#sm_}
# Relocatable code is linked as machine code.
kinds=compute_$arch wide=compute_87
case " $* " in *" -rdc=true "*) kinds=sm_$arch,$kinds wide=sm_87,$wide ;; esac
# shellcheck disable=SC2086
exec "$nvcc" -w -lineinfo -gencode "arch=compute_$arch,code=[$kinds]" -gencode "arch=compute_87,code=[$wide]" \
  -D__HIPCC__=1 -D__HIP__=1 -D__HIP_PLATFORM_AMD__=1 $own "$@"
