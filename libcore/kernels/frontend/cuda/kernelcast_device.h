// Device functions beside mathematics: barriers, fences, atomics, bits, time, printf. Shuffles, votes and __ldg come
// from clang's own __clang_cuda_intrinsics.h.
#pragma once

KC_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
KC_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
KC_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
KC_DEVICE void __threadfence() { __nvvm_membar_gl(); }
KC_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
KC_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
#ifdef __AMDGCN__
KC_DEVICE void __trap() { __builtin_trap(); }
KC_DEVICE void __brkpt() {}
#else
KC_DEVICE void __trap() { __asm__ volatile("trap;"); }
KC_DEVICE void __brkpt() { __asm__ volatile("brkpt;"); }
#endif
KC_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
KC_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
KC_DEVICE void __nanosleep(unsigned int) {}

KC_DEVICE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
KC_DEVICE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
KC_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
KC_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KC_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
KC_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
KC_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
KC_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KC_DEVICE unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int s) { return __nvvm_prmt(a, b, s); }
KC_DEVICE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
KC_DEVICE unsigned int __umul24(unsigned int a, unsigned int b) { return __nvvm_mul24_ui(a, b); }
KC_DEVICE int mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
KC_DEVICE unsigned int umul24(unsigned int a, unsigned int b) { return __nvvm_mul24_ui(a, b); }
KC_DEVICE int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
KC_DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) { return __nvvm_mulhi_ui(a, b); }
KC_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
KC_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
KC_DEVICE unsigned int __sad(int a, int b, unsigned int c) { return (unsigned)(a < b ? b - a : a - b) + c; }
KC_DEVICE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return (a < b ? b - a : a - b) + c; }
KC_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
KC_DEVICE unsigned int __uhadd(unsigned int a, unsigned int b) { return (unsigned)(((unsigned long long)a + b) >> 1); }

template <class To, class From>
KC_DEVICE To kernelcast_bits(From v) {
  return __builtin_bit_cast(To, v);
}
KC_DEVICE int __float_as_int(float v) { return kernelcast_bits<int>(v); }
KC_DEVICE float __int_as_float(int v) { return kernelcast_bits<float>(v); }
KC_DEVICE unsigned int __float_as_uint(float v) { return kernelcast_bits<unsigned int>(v); }
KC_DEVICE float __uint_as_float(unsigned int v) { return kernelcast_bits<float>(v); }
KC_DEVICE long long __double_as_longlong(double v) { return kernelcast_bits<long long>(v); }
KC_DEVICE double __longlong_as_double(long long v) { return kernelcast_bits<double>(v); }
KC_DEVICE int __double2hiint(double v) { return (int)(kernelcast_bits<long long>(v) >> 32); }
KC_DEVICE int __double2loint(double v) { return (int)kernelcast_bits<long long>(v); }
KC_DEVICE double __hiloint2double(int hi, int lo) {
  return kernelcast_bits<double>((long long)(((unsigned long long)(unsigned)hi << 32) | (unsigned)lo));
}

#define KC_ATOMIC(NAME, T, EXPRESSION) KC_DEVICE T NAME(T* p, T v) { return EXPRESSION; }
KC_ATOMIC(atomicAdd, int, __nvvm_atom_add_gen_i(p, v))
KC_ATOMIC(atomicAdd, unsigned int, (unsigned)__nvvm_atom_add_gen_i((int*)p, (int)v))
KC_ATOMIC(atomicAdd, unsigned long long, (unsigned long long)__nvvm_atom_add_gen_ll((long long*)p, (long long)v))
KC_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f(p, v))
KC_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d(p, v))
KC_ATOMIC(atomicSub, int, __nvvm_atom_add_gen_i(p, -v))
KC_ATOMIC(atomicSub, unsigned int, (unsigned)__nvvm_atom_add_gen_i((int*)p, -(int)v))
KC_ATOMIC(atomicExch, int, __nvvm_atom_xchg_gen_i(p, v))
KC_ATOMIC(atomicExch, unsigned int, (unsigned)__nvvm_atom_xchg_gen_i((int*)p, (int)v))
KC_ATOMIC(atomicExch, unsigned long long, (unsigned long long)__nvvm_atom_xchg_gen_ll((long long*)p, (long long)v))
KC_ATOMIC(atomicExch, float, __int_as_float(__nvvm_atom_xchg_gen_i((int*)p, __float_as_int(v))))
KC_ATOMIC(atomicMin, int, __nvvm_atom_min_gen_i(p, v))
KC_ATOMIC(atomicMin, unsigned int, __nvvm_atom_min_gen_ui(p, v))
KC_ATOMIC(atomicMin, long long, __nvvm_atom_min_gen_ll(p, v))
KC_ATOMIC(atomicMin, unsigned long long, __nvvm_atom_min_gen_ull(p, v))
KC_ATOMIC(atomicMax, int, __nvvm_atom_max_gen_i(p, v))
KC_ATOMIC(atomicMax, unsigned int, __nvvm_atom_max_gen_ui(p, v))
KC_ATOMIC(atomicMax, long long, __nvvm_atom_max_gen_ll(p, v))
KC_ATOMIC(atomicMax, unsigned long long, __nvvm_atom_max_gen_ull(p, v))
KC_ATOMIC(atomicInc, unsigned int, __nvvm_atom_inc_gen_ui(p, v))
KC_ATOMIC(atomicDec, unsigned int, __nvvm_atom_dec_gen_ui(p, v))
#define KC_ATOMIC_LOGIC(NAME, op)                                                                          \
  KC_ATOMIC(NAME, int, __nvvm_atom_##op##_gen_i(p, v))                                                     \
  KC_ATOMIC(NAME, unsigned int, (unsigned)__nvvm_atom_##op##_gen_i((int*)p, (int)v))                       \
  KC_ATOMIC(NAME, unsigned long long, (unsigned long long)__nvvm_atom_##op##_gen_ll((long long*)p, (long long)v))
KC_ATOMIC_LOGIC(atomicAnd, and)
KC_ATOMIC_LOGIC(atomicOr, or)
KC_ATOMIC_LOGIC(atomicXor, xor)
#undef KC_ATOMIC_LOGIC
#undef KC_ATOMIC
KC_DEVICE int atomicCAS(int* p, int expected, int v) { return __nvvm_atom_cas_gen_i(p, expected, v); }
KC_DEVICE unsigned int atomicCAS(unsigned int* p, unsigned int expected, unsigned int v) {
  return (unsigned)__nvvm_atom_cas_gen_i((int*)p, (int)expected, (int)v);
}
KC_DEVICE unsigned long long atomicCAS(unsigned long long* p, unsigned long long expected, unsigned long long v) {
  return (unsigned long long)__nvvm_atom_cas_gen_ll((long long*)p, (long long)expected, (long long)v);
}

extern "C" {
__device__ int printf(const char*, ...);
__device__ int vprintf(const char*, const char*);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ __attribute__((noreturn)) void __assertfail(const char*, const char*, unsigned int, const char*, size_t);
// assert() of the C library calls this. Without debug information of its own it has the place of the assertion.
static __inline__ __device__ __attribute__((noreturn, always_inline, nodebug)) void __assert_fail(
    const char* text, const char* file, unsigned int line, const char* function) {
  __assertfail(text, file, line, function, 1);
}
}
