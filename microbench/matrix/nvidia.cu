// Matrix units of NVIDIA's devices: CHAINS products side by side in each warp (wgmma: in each four), each with sums of
// its own. One chain shows the latency of a product, four its rate. Put after cuda/words.cu.
//
// Macros: PRODUCT_<name>, one of those below, named as the kinds of products are (column matrix_flop of kernels), and
// CHAINS (4). Counts: kernels.toml.
#if !defined(CHAINS)
#define CHAINS 4
#endif

// Opcodes with four registers of A, two of B and four sums; registers of sums are floats or integers.
#define FOUR_TWO_FOUR(OPCODE, TYPE, LETTER, EXTRA)                                                  \
  typedef TYPE Sum;                                                                                 \
  INLINE void product(Sum* d, uint const* a, uint const* b) {                                       \
    asm volatile(OPCODE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}" EXTRA ";" \
                 : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]), "+" LETTER(d[3])           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));               \
  }
#define FOUR_FOUR_FOUR(OPCODE, TYPE, LETTER, EXTRA)                                                           \
  typedef TYPE Sum;                                                                                           \
  INLINE void product(Sum* d, uint const* a, uint const* b) {                                                 \
    asm volatile(OPCODE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}" EXTRA ";" \
                 : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]), "+" LETTER(d[3])                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),    \
                   "r"(0x44444444));                                                                          \
  }
#define SUMS 4
#define FILL(x) ((x) & 0x3bff3bffu)  // numbers below one in each format, no NaN

#if defined(PRODUCT_mma_f16_f32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", float, "f", "")
#elif defined(PRODUCT_mma_bf16_f32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", float, "f", "")
#elif defined(PRODUCT_mma_tf32_f32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", float, "f", "")
#elif defined(PRODUCT_mma_i8_i32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", int, "r", "")
#elif defined(PRODUCT_mma_i4_i32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", int, "r", "")
#elif defined(PRODUCT_mma_b1_i32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", int, "r", "")
#elif defined(PRODUCT_mma_f8_f32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f", "")
#elif defined(PRODUCT_mma_f4_f32)
FOUR_TWO_FOUR("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
              float, "f", ", %4, {0, 0}, %8, {0, 0}")
#elif defined(PRODUCT_mma_f16_f32_sparse)
FOUR_FOUR_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", float, "f", ", %12, 0")
#elif defined(PRODUCT_mma_i8_i32_sparse)
FOUR_FOUR_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", int, "r", ", %12, 0")
#elif defined(PRODUCT_mma_f16_f16)
#undef SUMS
#define SUMS 2
typedef uint Sum;
INLINE void product(Sum* d, uint const* a, uint const* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#elif defined(PRODUCT_mma_f64_f64)
#undef SUMS
#define SUMS 2
typedef double Sum;
INLINE void product(Sum* d, uint const* a, uint const* b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"((double)a[0]), "d"((double)b[0]));
}
#elif defined(PRODUCT_wmma)  // its name in PTX; of kind mma/f16/f32
#undef SUMS
#define SUMS 8
typedef float Sum;
INLINE void product(Sum* d, uint const* a, uint const* b) {
  asm volatile(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "{%8, %9, %10, %11, %8, %9, %10, %11}, {%12, %13, %14, %15, %12, %13, %14, %15}, "
      "{%0, %1, %2, %3, %4, %5, %6, %7};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
}
#else  // wgmma of 64 rows and 64 columns, both factors in shared memory without a swizzle
#undef SUMS
#define WGMMA
#define SUMS 32
typedef float Sum;
#if defined(PRODUCT_wgmma_f16_f32)
#define OPCODE "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
#define TAIL "1, 1, 1, 0, 0"
#elif defined(PRODUCT_wgmma_bf16_f32)
#define OPCODE "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"
#define TAIL "1, 1, 1, 0, 0"
#elif defined(PRODUCT_wgmma_tf32_f32)
#define OPCODE "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32"
#define TAIL "1, 1, 1"
#elif defined(PRODUCT_wgmma_f8_f32)
#define OPCODE "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3"
#define TAIL "1, 1, 1"
#elif defined(PRODUCT_wgmma_f16_f32_sparse)
#define OPCODE "wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16"
#define TAIL "%34, 0, 1, 1, 1, 0, 0"
#else
#error "define one PRODUCT_"
#endif
#define ALL_SUMS                                                                                                    \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31}"
#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
INLINE void product(Sum* d, unsigned long long a, unsigned long long b) {
  asm volatile(OPCODE " " ALL_SUMS ", %32, %33, " TAIL ";"
               : F4(0), F4(4), F4(8), F4(12), F4(16), F4(20), F4(24), F4(28)
               : "l"(a), "l"(b), "r"(0x44444444));
}
// Rows of 16 bytes; the next eight are 128 bytes on, the next 16 bytes of a row 8 KiB.
INLINE unsigned long long descriptor(uint address) {
  return (address >> 4 & 0x3fff) | (unsigned long long)(8192 >> 4) << 16 | (unsigned long long)(128 >> 4) << 32;
}
#endif

KERNEL void matrix_product(GLOBAL uint const* in, GLOBAL Sum* out, uint iterations) {
  uint const me = GLOBAL_ID;
  Sum sums[CHAINS][SUMS];
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c)
#pragma unroll
    for (uint i = 0; i < SUMS; ++i) sums[c][i] = 0;
#if defined(WGMMA)
  __shared__ __align__(128) uint memory[8192];
  for (uint i = LOCAL_ID; i < 8192; i += LOCAL_SIZE) memory[i] = FILL(in[i % LOCAL_SIZE]);
  BARRIER;
  unsigned long long memory_address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(memory_address) : "l"(memory));
  unsigned long long const a = descriptor((uint)memory_address), b = descriptor((uint)memory_address + 1024);
  for (uint n = 0; n < iterations; ++n) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) product(sums[c], a, b);
    asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
#else
  uint a[4], b[4];
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    a[i] = FILL(in[me * 8 + i]);
    b[i] = FILL(in[me * 8 + 4 + i]);
  }
#pragma unroll 1
  for (uint n = 0; n < iterations; ++n)
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) product(sums[c], a, b);
#endif
  Sum sum = 0;
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c)
#pragma unroll
    for (uint i = 0; i < SUMS; ++i) sum += sums[c][i];
  out[me] = sum;
}
