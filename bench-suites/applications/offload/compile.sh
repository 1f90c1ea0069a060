# To be read by other scripts. compile MODEL PROGRAM SOURCE... [OPTION...]: makes the program by the newest GCC that compiles
# MODEL (openmp or openacc) for nvptx; false, with the reason in $why, where there is none. Modules of Fortran go beside
# the program. For sm_80: an assembler of NVIDIA on the PATH, which GCC has check its output, refuses older ones.
compile() {
  model=$1 program=$2
  shift 2
  case $1 in
  *.c) kind=gcc ;;
  *.cpp) kind=g++ ;;
  *) kind=gfortran ;;
  esac
  why="no $kind that compiles for nvptx (make deps-offload)"
  for compiler in $kind-15 $kind-14 $kind-13 $kind-12 $kind; do
    command -v "$compiler" >/dev/null || continue
    (cd "$(dirname "$program")" &&
      "$compiler" -O2 -g "-f$model" -foffload=nvptx-none -foffload-options=nvptx-none=-misa=sm_80 -o "$program" "$@") \
      >"$program.log" 2>&1 && return 0
    why="$compiler: $(grep -m 1 -E 'error|cannot|not found' "$program.log" || echo "it fails") (make deps-offload)"
  done
  return 1
}
# compile_by_clang PROGRAM SOURCE... [OPTION...]: the same of OpenMP, in C and C++, by the newest clang that has OpenMP's
# library for the device: on Debian beside clang, where it does not look. Its code goes without CUDA's library where
# there is none.
compile_by_clang() {
  program=$1
  shift
  case $1 in
  *.cpp) kind=clang++ ;;
  *) kind=clang ;;
  esac
  why=
  for compiler in $kind-22 $kind-21 $kind-20 $kind-19 $kind; do
    command -v "$compiler" >/dev/null || continue
    libraries=$(dirname "$(readlink -f "$(command -v "$compiler")")")/../lib
    for without in '' '-nocudalib -lomptarget.devicertl'; do
      (cd "$(dirname "$program")" &&
        LIBRARY_PATH=$libraries "$compiler" -O2 -g -fopenmp --offload-arch=sm_80 -foffload-lto -Wl,--embed-bitcode \
          "-Wl,-rpath,$libraries" -o "$program" "$@" $without) >"$program.log" 2>&1 && return 0
      why=${why:-"$compiler: $(grep -m 1 -E 'error|cannot|not found' "$program.log" || echo "it fails") (on Debian: libomp-19-dev)"}
    done
  done
  why=${why:-no $kind}
  return 1
}
