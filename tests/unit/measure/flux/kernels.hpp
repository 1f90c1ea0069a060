// Kernels whose counts are known in closed form, as PTX.
#pragma once

namespace flux_test {

inline constexpr char const* header = ".version 7.5\n.target sm_75\n.address_size 64\n";

// y[i] += a x[i] for i < n.
inline constexpr char const* saxpy = R"(
.visible .entry saxpy(.param .u64 .ptr .global x, .param .u64 .ptr .global y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
  mov.u32 %r0, %ctaid.x;  mov.u32 %r1, %ntid.x;  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r3, %r4;
  @%p bra DONE;
  ld.param.u64 %rd0, [x];  ld.param.u64 %rd1, [y];  ld.param.f32 %f0, [a];
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd0, %rd2;  add.s64 %rd4, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd4], %f3;
DONE:
  ret;
})";

// Tree reduction of 256 values in shared memory; the stride is halved from 128 to 1.
inline constexpr char const* reduction = R"(
.visible .entry reduce(.param .u64 .ptr .global in, .param .u64 .ptr .global out)
{
  .shared .align 4 .b8 tile[1024];
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  mov.u32 %r0, %ctaid.x;  mov.u32 %r1, %tid.x;
  mad.lo.s32 %r2, %r0, 256, %r1;
  ld.param.u64 %rd0, [in];
  mul.wide.u32 %rd1, %r2, 4;
  add.s64 %rd2, %rd0, %rd1;
  ld.global.u32 %r3, [%rd2];
  mov.u32 %r4, tile;
  shl.b32 %r5, %r1, 2;
  add.s32 %r6, %r4, %r5;
  st.shared.u32 [%r6], %r3;
  mov.u32 %r7, 128;
LOOP:
  bar.sync 0;
  setp.ge.u32 %p0, %r1, %r7;
  @%p0 bra NEXT;
  shl.b32 %r8, %r7, 2;
  add.s32 %r9, %r6, %r8;
  ld.shared.u32 %r10, [%r9];
  ld.shared.u32 %r11, [%r6];
  xor.b32 %r11, %r11, %r10;
  st.shared.u32 [%r6], %r11;
NEXT:
  shr.u32 %r7, %r7, 1;
  setp.ne.s32 %p1, %r7, 0;
  @%p1 bra LOOP;
  setp.ne.s32 %p2, %r1, 0;
  ld.param.u64 %rd3, [out];
  mul.wide.u32 %rd4, %r0, 4;
  add.s64 %rd5, %rd3, %rd4;
  @!%p2 ld.shared.u32 %r3, [tile];
  @!%p2 st.global.u32 [%rd5], %r3;
  ret;
})";

// for (i = 0; i < tid; i++) for (j = i; j != n; j++) x = x * 3 + j.
inline constexpr char const* triangle = R"(
.visible .entry triangle(.param .u64 .ptr .global out, .param .u32 n)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  mov.u32 %r0, %tid.x;
  ld.param.u32 %r1, [n];
  mov.u32 %r4, 1;
  mov.u32 %r2, 0;
  setp.eq.s32 %p0, %r0, 0;
  @%p0 bra DONE;
OUTER:
  mov.u32 %r3, %r2;
  setp.eq.s32 %p1, %r3, %r1;
  @%p1 bra NEXT;
INNER:
  mad.lo.s32 %r4, %r4, 3, %r3;
  add.s32 %r3, %r3, 1;
  setp.ne.s32 %p2, %r3, %r1;
  @%p2 bra INNER;
NEXT:
  add.s32 %r2, %r2, 1;
  setp.lt.u32 %p3, %r2, %r0;
  @%p3 bra OUTER;
DONE:
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r4;
  ret;
})";

// Three levels of branches on the bits of tid: or at the leaves, by a table, xor where bit 0 is set, by a predicate.
inline constexpr char const* tree = R"(
.visible .entry tree(.param .u64 .ptr .global out)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 3;
  mov.u32 %r2, 5;
  and.b32 %r3, %r0, 1;
  setp.ne.u32 %p0, %r3, 0;
  @%p0 xor.b32 %r2, %r2, %r0;
  @!%p0 sub.s32 %r2, %r2, 7;
  TABLE: .branchtargets A, B, C, B;
  brx.idx %r1, TABLE;
A:
  or.b32 %r2, %r2, 16;
  bra END;
B:
  add.s32 %r2, %r2, 3;
  setp.gt.u32 %p1, %r0, 40;
  @%p1 ret;
  bra END;
C:
  mul.lo.s32 %r2, %r2, 9;
END:
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r2;
  ret;
})";

inline constexpr char const* texture = R"(
.visible .entry sample(.param .u64 picture, .param .u64 .ptr .global out, .param .u32 width)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<5>;
  mov.u32 %r0, %tid.x;
  ld.param.u32 %r1, [width];
  setp.ge.u32 %p, %r0, %r1;
  @%p bra DONE;
  ld.param.u64 %rd0, [picture];
  mov.u32 %r2, 0;
  tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%r0, %r2}];
  add.f32 %f4, %f0, %f1;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r0, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f4;
DONE:
  ret;
})";

// fib(tid % 8), recursive; a function by address; one that ends the work-item where its argument is 13.
inline constexpr char const* calls = R"(
.visible .func (.param .b32 result) fib(.param .b32 n)
{
  .reg .pred %p; .reg .b32 %r<6>;
  ld.param.u32 %r0, [n];
  setp.lt.u32 %p, %r0, 2;
  @%p bra LEAF;
  sub.s32 %r1, %r0, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), fib, (a); ld.param.b32 %r2, [b]; }
  sub.s32 %r3, %r0, 2;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call.uni (b), fib, (a); ld.param.b32 %r4, [b]; }
  add.s32 %r5, %r2, %r4;
  st.param.b32 [result], %r5;
  ret;
LEAF:
  st.param.b32 [result], %r0;
  ret;
}
.func (.param .b32 result) twice(.param .b32 n)
{
  .reg .b32 %r;
  ld.param.b32 %r, [n];
  shl.b32 %r, %r, 1;
  st.param.b32 [result], %r;
  ret;
}
.func (.param .b32 result) thrice(.param .b32 n)
{
  .reg .b32 %r;
  ld.param.b32 %r, [n];
  mul.lo.s32 %r, %r, 3;
  st.param.b32 [result], %r;
  ret;
}
.func leave(.param .b32 n)
{
  .reg .pred %p; .reg .b32 %r;
  ld.param.b32 %r, [n];
  setp.eq.s32 %p, %r, 13;
  @%p exit;
  ret;
}
.visible .entry calls(.param .u64 .ptr .global out)
{
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<6>;
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 7;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), fib, (a); ld.param.b32 %r2, [b]; }
  mov.u64 %rd0, twice;
  mov.u64 %rd1, thrice;
  and.b32 %r3, %r0, 1;
  setp.eq.s32 %p, %r3, 0;
  selp.b64 %rd2, %rd0, %rd1, %p;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %rd2, (a), P; ld.param.b32 %r4, [b]; }
  { .param .b32 a; st.param.b32 [a], %r0; call.uni leave, (a); }
  xor.b32 %r4, %r4, 1;
  ld.param.u64 %rd3, [out];
  mul.wide.u32 %rd4, %r0, 4;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r4;
  ret;
})";

}  // namespace flux_test
