// CUDA C++ for AMD's devices: what NVIDIA's compilers know of themselves (clang's __nvvm_ built-in functions, barriers),
// by what clang knows of AMD's. Rounding is to the nearest, whatever is asked for. Wavefronts of 32: exchanges within a
// warp are those of the lanes that AMD's 32-wide wavefronts have. Textures and surfaces are not there.
#pragma once

#define KC_AXIS(A)                                                                                             \
  KC_DEVICE unsigned __nvvm_read_ptx_sreg_tid_##A() { return __builtin_amdgcn_workitem_id_##A(); }             \
  KC_DEVICE unsigned __nvvm_read_ptx_sreg_ctaid_##A() { return __builtin_amdgcn_workgroup_id_##A(); }          \
  KC_DEVICE unsigned __nvvm_read_ptx_sreg_ntid_##A() { return __builtin_amdgcn_workgroup_size_##A(); }         \
  KC_DEVICE unsigned __nvvm_read_ptx_sreg_nctaid_##A() {                                                       \
    return __builtin_amdgcn_grid_size_##A() / __builtin_amdgcn_workgroup_size_##A();                           \
  }
KC_AXIS(x) KC_AXIS(y) KC_AXIS(z)
#undef KC_AXIS

KC_DEVICE void __nvvm_membar_cta() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
KC_DEVICE void __nvvm_membar_gl() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KC_DEVICE void __nvvm_membar_sys() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
KC_DEVICE void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KC_DEVICE long long __nvvm_read_ptx_sreg_clock64() { return (long long)__builtin_readcyclecounter(); }
KC_DEVICE int __nvvm_read_ptx_sreg_clock() { return (int)__builtin_readcyclecounter(); }

// Exchanges within a warp.
KC_DEVICE int kernelcast_lane() { return (int)__builtin_amdgcn_mbcnt_lo(~0u, 0); }
#if defined(__GFX6__) || defined(__GFX7__)
// These have no exchange by address; a kernel with one does not run on their wavefronts of 64, the others of its file do.
KC_DEVICE int kernelcast_from(int v, int lane) { return __builtin_amdgcn_ds_swizzle(v + lane, 0x1f); }
#else
KC_DEVICE int kernelcast_from(int v, int lane) { return __builtin_amdgcn_ds_bpermute(lane << 2, v); }
#endif
KC_DEVICE float kernelcast_from(float v, int lane) {
  return __builtin_bit_cast(float, kernelcast_from(__builtin_bit_cast(int, v), lane));
}
KC_DEVICE unsigned kernelcast_from(unsigned v, int lane) { return (unsigned)kernelcast_from((int)v, lane); }
KC_DEVICE double kernelcast_from(double v, int lane) {
  struct Halves { int low, high; } const h = __builtin_bit_cast(Halves, v);
  return __builtin_bit_cast(double, Halves{kernelcast_from(h.low, lane), kernelcast_from(h.high, lane)});
}
#define KC_SHUFFLE(N, T, SOURCE)                                                             \
  KC_DEVICE T __shfl##N##_sync(unsigned, T v, int by, int width = 32) {                      \
    int const lane = kernelcast_lane(), first = lane & -width, from = (SOURCE);              \
    return kernelcast_from(v, from < first || from >= first + width ? lane : from);          \
  }                                                                                          \
  KC_DEVICE T __shfl##N(T v, int by, int width = 32) { return __shfl##N##_sync(~0u, v, by, width); }
#define KC_SHUFFLES(T) \
  KC_SHUFFLE(, T, first + (by & (width - 1))) KC_SHUFFLE(_up, T, lane - by) KC_SHUFFLE(_down, T, lane + by) KC_SHUFFLE(_xor, T, lane ^ by)
KC_SHUFFLES(int) KC_SHUFFLES(unsigned) KC_SHUFFLES(float) KC_SHUFFLES(double)
#undef KC_SHUFFLES
#undef KC_SHUFFLE
KC_DEVICE unsigned __ballot_sync(unsigned, int p) { return (unsigned)__builtin_amdgcn_uicmp(p, 0, 33); }
KC_DEVICE int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
KC_DEVICE int __all_sync(unsigned m, int p) { return __ballot_sync(m, !p) == 0; }
KC_DEVICE unsigned __ballot(int p) { return __ballot_sync(~0u, p); }
KC_DEVICE int __any(int p) { return __any_sync(~0u, p); }
KC_DEVICE int __all(int p) { return __all_sync(~0u, p); }
KC_DEVICE unsigned __activemask() { return __ballot_sync(~0u, 1); }
KC_DEVICE void __syncwarp(unsigned = ~0u) { __builtin_amdgcn_wave_barrier(); }
template <class KcT> KC_DEVICE KcT __ldg(KcT const* p) { return *p; }

// A value of the whole group: through shared memory, as AMD's libraries do.
KC_DEVICE int kernelcast_group_sum(int p) {
  static __attribute__((shared)) int sum;
  __syncthreads();
  sum = 0;
  __syncthreads();
  __hip_atomic_fetch_add(&sum, p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  return sum;
}
KC_DEVICE int __nvvm_bar0_popc(int p) { return kernelcast_group_sum(p != 0); }
KC_DEVICE int __nvvm_bar0_or(int p) { return kernelcast_group_sum(p != 0) != 0; }
KC_DEVICE int __nvvm_bar0_and(int p) { return kernelcast_group_sum(p == 0) == 0; }

KC_DEVICE unsigned __nvvm_prmt(unsigned a, unsigned b, unsigned s) {
  unsigned const bytes = (s & 7) | (s >> 4 & 7) << 8 | (s >> 8 & 7) << 16 | (s >> 12 & 7) << 24;
  return __builtin_amdgcn_perm(b, a, bytes);
}
KC_DEVICE int __nvvm_mul24_i(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
KC_DEVICE unsigned __nvvm_mul24_ui(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
KC_DEVICE int __nvvm_mulhi_i(int a, int b) { return (int)((long long)a * b >> 32); }
KC_DEVICE unsigned __nvvm_mulhi_ui(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
KC_DEVICE long long __nvvm_mulhi_ll(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
KC_DEVICE unsigned long long __nvvm_mulhi_ull(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#define KC_ATOM(N, T, CALL) \
  KC_DEVICE T __nvvm_atom_##N(T* p, T v) { return CALL(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
KC_ATOM(add_gen_i, int, __hip_atomic_fetch_add) KC_ATOM(add_gen_ll, long long, __hip_atomic_fetch_add)
KC_ATOM(add_gen_f, float, __hip_atomic_fetch_add) KC_ATOM(add_gen_d, double, __hip_atomic_fetch_add)
KC_ATOM(xchg_gen_i, int, __hip_atomic_exchange) KC_ATOM(xchg_gen_ll, long long, __hip_atomic_exchange)
KC_ATOM(min_gen_i, int, __hip_atomic_fetch_min) KC_ATOM(min_gen_ui, unsigned, __hip_atomic_fetch_min)
KC_ATOM(min_gen_ll, long long, __hip_atomic_fetch_min) KC_ATOM(min_gen_ull, unsigned long long, __hip_atomic_fetch_min)
KC_ATOM(max_gen_i, int, __hip_atomic_fetch_max) KC_ATOM(max_gen_ui, unsigned, __hip_atomic_fetch_max)
KC_ATOM(max_gen_ll, long long, __hip_atomic_fetch_max) KC_ATOM(max_gen_ull, unsigned long long, __hip_atomic_fetch_max)
KC_ATOM(and_gen_i, int, __hip_atomic_fetch_and) KC_ATOM(and_gen_ll, long long, __hip_atomic_fetch_and)
KC_ATOM(or_gen_i, int, __hip_atomic_fetch_or) KC_ATOM(or_gen_ll, long long, __hip_atomic_fetch_or)
KC_ATOM(xor_gen_i, int, __hip_atomic_fetch_xor) KC_ATOM(xor_gen_ll, long long, __hip_atomic_fetch_xor)
#undef KC_ATOM
KC_DEVICE unsigned __nvvm_atom_inc_gen_ui(unsigned* p, unsigned v) {
  return __builtin_amdgcn_atomic_inc32(p, v, __ATOMIC_RELAXED, "agent");
}
KC_DEVICE unsigned __nvvm_atom_dec_gen_ui(unsigned* p, unsigned v) {
  return __builtin_amdgcn_atomic_dec32(p, v, __ATOMIC_RELAXED, "agent");
}
template <class KcT> KC_DEVICE KcT kernelcast_swap(KcT* p, KcT expected, KcT v) {
  __hip_atomic_compare_exchange_strong(p, &expected, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}
KC_DEVICE int __nvvm_atom_cas_gen_i(int* p, int e, int v) { return kernelcast_swap(p, e, v); }
KC_DEVICE long long __nvvm_atom_cas_gen_ll(long long* p, long long e, long long v) { return kernelcast_swap(p, e, v); }

KC_DEVICE float __nvvm_sin_approx_ftz_f(float x) { return __builtin_amdgcn_sinf(x * 0.15915494f); }
KC_DEVICE float __nvvm_cos_approx_ftz_f(float x) { return __builtin_amdgcn_cosf(x * 0.15915494f); }
KC_DEVICE float __nvvm_ex2_approx_ftz_f(float x) { return __builtin_amdgcn_exp2f(x); }
KC_DEVICE float __nvvm_lg2_approx_ftz_f(float x) { return __builtin_amdgcn_logf(x); }
KC_DEVICE float __nvvm_div_approx_f(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
KC_DEVICE float __nvvm_div_approx_ftz_f(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
KC_DEVICE float __nvvm_saturate_f(float x) { return __builtin_amdgcn_fmed3f(x, 0.0f, 1.0f); }

#define KC_ROUNDED_OF(R, S, T, SQRT, FMA)                                   \
  KC_DEVICE T __nvvm_add_##R##_##S(T a, T b) { return a + b; }              \
  KC_DEVICE T __nvvm_mul_##R##_##S(T a, T b) { return a * b; }              \
  KC_DEVICE T __nvvm_div_##R##_##S(T a, T b) { return a / b; }              \
  KC_DEVICE T __nvvm_fma_##R##_##S(T a, T b, T c) { return FMA(a, b, c); }  \
  KC_DEVICE T __nvvm_rcp_##R##_##S(T a) { return 1 / a; }                   \
  KC_DEVICE T __nvvm_sqrt_##R##_##S(T a) { return SQRT(a); }
#define KC_CONVERTED(R, FLOAT, DOUBLE)                                                                 \
  KC_ROUNDED_OF(R, f, float, __builtin_sqrtf, __builtin_fmaf)                                          \
  KC_ROUNDED_OF(R, d, double, __builtin_sqrt, __builtin_fma)                                           \
  KC_DEVICE int __nvvm_f2i_##R(float x) { return (int)FLOAT(x); }                                      \
  KC_DEVICE unsigned __nvvm_f2ui_##R(float x) { return (unsigned)FLOAT(x); }                           \
  KC_DEVICE long long __nvvm_f2ll_##R(float x) { return (long long)FLOAT(x); }                         \
  KC_DEVICE unsigned long long __nvvm_f2ull_##R(float x) { return (unsigned long long)FLOAT(x); }      \
  KC_DEVICE int __nvvm_d2i_##R(double x) { return (int)DOUBLE(x); }                                    \
  KC_DEVICE unsigned __nvvm_d2ui_##R(double x) { return (unsigned)DOUBLE(x); }                         \
  KC_DEVICE long long __nvvm_d2ll_##R(double x) { return (long long)DOUBLE(x); }                       \
  KC_DEVICE unsigned long long __nvvm_d2ull_##R(double x) { return (unsigned long long)DOUBLE(x); }    \
  KC_DEVICE float __nvvm_d2f_##R(double x) { return (float)x; }                                        \
  KC_DEVICE float __nvvm_i2f_##R(int x) { return (float)x; }                                           \
  KC_DEVICE float __nvvm_ui2f_##R(unsigned x) { return (float)x; }                                     \
  KC_DEVICE float __nvvm_ll2f_##R(long long x) { return (float)x; }                                    \
  KC_DEVICE float __nvvm_ull2f_##R(unsigned long long x) { return (float)x; }                          \
  KC_DEVICE double __nvvm_ll2d_##R(long long x) { return (double)x; }                                  \
  KC_DEVICE double __nvvm_ull2d_##R(unsigned long long x) { return (double)x; }
KC_CONVERTED(rn, __builtin_rintf, __builtin_rint) KC_CONVERTED(rz, __builtin_truncf, __builtin_trunc)
KC_CONVERTED(rm, __builtin_floorf, __builtin_floor) KC_CONVERTED(rp, __builtin_ceilf, __builtin_ceil)
#undef KC_CONVERTED
#undef KC_ROUNDED_OF
