#!/bin/sh
# A program compiled by flux-clang++ calls flux-count's run-time without being attached to, and counts what the emulator
# counts; its CUDA runtime is the stand-in. Usage: flux_clang.sh BIN SOURCE STANDIN_FOLDER
set -eu
bin=$1 here=$2/tests/programs/flux-count standin=$3
skip() { echo "kernelcast-skipped: $*"; exit 0; }
nvcc=$(command -v nvcc) || skip "no nvcc"
[ -x "$bin/flux-clang++" ] || skip "built without LLVM"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# clang 19 does not know all of CUDA 13: a header it wants is gone, and fatbinary's options have other names.
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
mkdir -p cuda/bin headers
for part in include lib64 nvvm; do [ -e "$toolkit/$part" ] && ln -s "$toolkit/$part" "cuda/$part"; done
for tool in "$toolkit"/bin/*; do ln -s "$tool" "cuda/bin/$(basename "$tool")"; done
touch headers/texture_fetch_functions.h
if ! "$toolkit/bin/fatbinary" --help | grep -q -- '--image '; then
  rm cuda/bin/fatbinary
  cat >cuda/bin/fatbinary <<SCRIPT
#!/bin/sh
for word; do
  shift
  case \$word in
    --image=profile=compute_*) word=\$(echo "\$word" | sed 's/--image=profile=compute_\([0-9]*\)/--image3=kind=ptx,sm=\1/') ;;
    --image=profile=sm_*) word=\$(echo "\$word" | sed 's/--image=profile=sm_\([0-9]*\)/--image3=kind=elf,sm=\1/') ;;
  esac
  set -- "\$@" "\$word"
done
exec "$toolkit/bin/fatbinary" "\$@"
SCRIPT
  chmod +x cuda/bin/fatbinary
fi

ln -s "$standin/libcudart.so.13" libcudart.so
"$bin/flux-clang++" -O2 -x cuda --cuda-path="$folder/cuda" --cuda-gpu-arch=sm_75 --cuda-include-ptx=sm_75 -Iheaders -w \
  "$here/apps/saxpy.cu" -o app -L. -lcudart >log 2>&1 || { cat log; skip "clang 19 does not compile with this toolkit"; }
LD_LIBRARY_PATH=$standin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH KERNELCAST_FLUX_OUTPUT="$folder/rows"
[ "$(./app)" = right ] || { echo "the program is wrong"; exit 1; }
[ "$(awk -F, 'FNR > 1 { print $3 }' rows.* | sort -u | wc -l)" = 6 ] || { echo "not six launches"; cat rows.*; exit 1; }
# 1000 of 1024 work-items pass the bound of the first saxpy.
[ "$(awk -F, '$3 == 2 && $4 == "st.global.f32" { print $5 }' rows.*)" = 1000 ] || { cat rows.*; exit 1; }
echo "a compiled-in run-time counts six launches"
