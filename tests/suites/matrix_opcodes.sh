# matrix_opcodes lists the opcodes of a kernel and names those that the emulator refuses. Usage: matrix_opcodes.sh PROGRAM SOURCE
set -eu
program=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/k.ptx" <<'END'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k() {
  .reg .b32 %r<4>;
  add.u32 %r0, %r1, %r2;
  add.u32 %r1, %r1, %r2;
  frobnicate.u32 %r0, %r1;
  multimem.ld_reduce.global.add.u32 %r0, [%r1];
  ret;
}
END
"$program" mine "$folder/k.ptx" | cut -d, -f1,3- >"$folder/out"
cat >"$folder/expected" <<'END'
"mine","k","add.u32",""
"mine","k","frobnicate.u32","the opcode itself"
"mine","k","multimem.ld_reduce.global.add.u32","there is one device here"
"mine","k","ret",""
END
diff "$folder/expected" "$folder/out"
# All of a product of matrices.
"$program" mine "$source/tests/unit/emulator/matrix_gemm.ptx" >"$folder/out"
grep -q '"mma.sync' "$folder/out"
if grep -v ',""$' "$folder/out"; then exit 1; fi
if "$program" mine "$folder/none.ptx" 2>"$folder/err"; then exit 1; fi
grep -q "cannot read" "$folder/err"
