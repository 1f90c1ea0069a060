// Opcodes by LLVM's names (AMDGPU usage guide and instruction references of the architectures).
#include <algorithm>
#include <array>

#include "kernels/amdgcn/amdgcn.hpp"

namespace kernelcast::amdgcn {

namespace {

using enum record::Pipe;

bool begins(std::string_view opcode, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return opcode.starts_with(prefix); });
}

bool contains(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}

// "fma_f32" of v_fma_f32, v_pk_fma_f32 and v_dual_fma_f32.
std::string_view operation(std::string_view opcode) {
  for (std::string_view const prefix : {"v_", "dual_", "pk_"})
    if (opcode.starts_with(prefix)) opcode.remove_prefix(prefix.size());
  return opcode;
}

bool is_sum_or_product(std::string_view o) {
  return begins(o, {"add_f", "add_pk_f", "sub_f", "subrev_f", "mul_f", "mul_legacy_f", "mul_dx9", "fma", "fmac_",
                    "fmaak_", "fmamk_", "mac_", "mad_f", "mad_legacy", "mad_mix", "madmk_", "madak_"});
}

record::Pipe vector_pipe(std::string_view opcode) {
  auto const o = operation(opcode);
  if (begins(o, {"mfma_", "smfmac_", "wmma_", "swmmac_"})) return tensor;
  if (o == "nop") return issue;
  if (begins(o, {"cvt_"})) {
    if (contains(o, "f64")) return convert64;
    if (begins(o, {"cvt_f32_i32", "cvt_f32_u32"})) return int_to_fp32;
    if (begins(o, {"cvt_f16_f32", "cvt_pkrtz_f16_f32", "cvt_pk_rtz_f16_f32"})) return fp32_to_fp16;
    return special;
  }
  if (contains(o, "_f64")) return fp64;
  if (begins(o, {"rcp_", "rsq_", "sqrt_", "exp_", "log_", "sin_", "cos_", "s_rcp", "bcnt_"})) return special;
  if (is_sum_or_product(o) && !contains(o, "_u") && !contains(o, "_i"))
    return contains(o, "f16") && !begins(o, {"mad_mix", "fma_mix"}) ? fp16 : fp32;
  if (begins(o, {"div_scale_f32", "div_fmas_f32", "div_fixup_f32", "interp_"})) return fp32;
  if (contains(o, "_f16") && !begins(o, {"cmp"})) return fp16;
  // A full-rate multiplier of 24 bits: LLVM's scheduling models.
  if (begins(o, {"mul_u32_u24", "mul_i32_i24", "mad_u32_u24", "mad_i32_i24"})) return alu;
  if (begins(o, {"mul_lo_", "mul_hi_", "mul_u", "mul_i", "mad_u", "mad_i", "mad_co_", "mad_legacy_u", "mad_legacy_i",
                 "dot"}))
    return imad;
  return alu;
}

record::Pipe scalar_pipe(std::string_view o) {
  if (begins(o, {"s_waitcnt", "s_wait_", "s_nop", "s_delay_alu", "s_sleep", "s_clause"})) return wait;
  if (begins(o, {"s_load_", "s_buffer_", "s_scratch_", "s_store_", "s_atomic_", "s_dcache_", "s_gl1_", "s_memtime",
                 "s_memrealtime", "s_prefetch"}))
    return scalar_memory;
  if (begins(o, {"s_branch", "s_cbranch", "s_endpgm", "s_barrier", "s_sendmsg", "s_setprio", "s_set_inst_prefetch",
                 "s_inst_prefetch", "s_trap", "s_setpc", "s_swappc", "s_call", "s_sethalt", "s_icache", "s_code_end",
                 "s_round_mode", "s_denorm_mode", "s_setreg"}))
    return issue;
  return scalar;
}

// Bytes of one lane's or one scalar access, by the end of its opcode; 0: not known.
double bytes_of(std::string_view opcode) {
  struct Row {
    std::string_view end;
    double bytes;
  };
  static constexpr std::array rows{
      Row{"_dwordx16", 64}, Row{"_dwordx8", 32}, Row{"_dwordx4", 16}, Row{"_dwordx3", 12}, Row{"_dwordx2", 8},
      Row{"_dword", 4},     Row{"_b512", 64},    Row{"_b256", 32},    Row{"_b128", 16},    Row{"_b96", 12},
      Row{"_b64", 8},       Row{"_b32", 4},      Row{"_b16", 2},      Row{"_b8", 1},       Row{"_ubyte", 1},
      Row{"_sbyte", 1},     Row{"_byte", 1},     Row{"_ushort", 2},   Row{"_sshort", 2},   Row{"_short", 2},
      Row{"_u8", 1},        Row{"_i8", 1},       Row{"_u16", 2},      Row{"_i16", 2},
  };
  for (std::string_view const suffix : {"_d16_hi", "_d16", "_hi"})
    if (opcode.ends_with(suffix)) opcode.remove_suffix(suffix.size());
  for (auto const& [end, bytes] : rows)
    if (opcode.ends_with(end)) return bytes;
  // global_load_d16_u8, buffer_load_short_d16 and the like.
  if (contains(opcode, "d16_u8") || contains(opcode, "d16_i8") || contains(opcode, "byte")) return 1;
  if (contains(opcode, "d16") || contains(opcode, "short")) return 2;
  return 0;
}

Amount arithmetic(std::string_view opcode) {
  if (begins(opcode, {"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64_u32", "v_mad_i64_i32",
                      "v_mad_co_u64_u32", "v_mad_co_i64_i32", "v_mul_u32_u24", "v_mul_i32_i24", "v_mad_u32_u24",
                      "v_mad_i32_i24", "s_mul_i32", "s_mul_hi_u32", "s_mul_hi_i32"}))
    return {Conserved::integer_product, 1};
  if (!begins(opcode, {"v_"}) || contains(opcode, "_u") || contains(opcode, "_i")) return {};
  auto const o = operation(opcode);
  if (!is_sum_or_product(o)) return {};
  double const fused = begins(o, {"fma", "fmac_", "mac_", "mad"}) ? 2 : 1;
  bool const packed = opcode.starts_with("v_pk_");
  if (contains(o, "f64")) return {Conserved::fp64, fused};
  if (contains(o, "f16") && !contains(o, "mix")) return {Conserved::fp16, packed ? 2 * fused : fused};
  return {Conserved::fp32, packed ? 2 * fused : fused};
}

}  // namespace

record::Pipe pipe_of(std::string_view opcode) {
  if (begins(opcode, {"v_"})) return vector_pipe(opcode);
  if (begins(opcode, {"s_"})) return scalar_pipe(opcode);
  if (begins(opcode, {"ds_", "lds_"})) return shared;
  if (begins(opcode, {"buffer_gl", "buffer_wb", "buffer_inv", "global_wb", "global_inv"})) return issue;
  if (begins(opcode, {"global_", "flat_", "buffer_", "tbuffer_", "image_", "scratch_"})) return memory;
  return issue;  // exports
}

Amount conserved_by(std::string_view opcode) {
  if (begins(opcode, {"s_barrier_wait", "s_barrier_leave"})) return {};
  if (begins(opcode, {"s_barrier"})) return {Conserved::barrier, 1};
  if (begins(opcode, {"s_load_", "s_buffer_load_"})) return {Conserved::load, bytes_of(opcode)};
  if (begins(opcode, {"ds_"})) {
    if (begins(opcode, {"ds_bpermute", "ds_permute", "ds_swizzle", "ds_nop", "ds_gws"})) return {};
    bool const two = contains(opcode, "read2") || contains(opcode, "write2") || contains(opcode, "load_2addr") ||
                     contains(opcode, "store_2addr");
    double const bytes = bytes_of(opcode) * (two ? 2 : 1);
    if (begins(opcode, {"ds_read", "ds_load"})) return {Conserved::shared_load, bytes};
    if (begins(opcode, {"ds_write", "ds_store"})) return {Conserved::shared_store, bytes};
    return {Conserved::atomic, 1};
  }
  if (begins(opcode, {"image_"})) return {Conserved::image, 1};
  if (pipe_of(opcode) == memory) {
    if (opcode.starts_with("scratch_") || contains(opcode, "format")) return {};
    if (contains(opcode, "_atomic_")) return {Conserved::atomic, 1};
    if (contains(opcode, "_load_")) return {Conserved::load, bytes_of(opcode)};
    if (contains(opcode, "_store_")) return {Conserved::store, bytes_of(opcode)};
    return {};
  }
  return arithmetic(opcode);
}

double private_bytes(std::string_view opcode, bool by_buffers) {
  bool const is_private = begins(opcode, {"scratch_load_", "scratch_store_"}) ||
                          (by_buffers && begins(opcode, {"buffer_load_", "buffer_store_"}));
  return is_private ? bytes_of(opcode) : 0;
}

}  // namespace kernelcast::amdgcn
