// The opcodes of PTX that some part of this library tells apart: the one place that knows how they are spelt.
//
// An opcode that is not in the list is Op::other; it is told by its text, in the emulator's tables of arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernelcast::ptx {

// X(name), or Y(enumerator, name) where the name is a keyword of C++.
// clang-format off
#define KERNELCAST_PTX_OPCODES(X, Y)                                                                                 \
  /* memory */                                                                                                       \
  X(ld) X(ldu) X(st) X(atom) X(red) X(multimem) X(prefetch) X(prefetchu) X(discard) X(applypriority)                 \
  X(createpolicy) X(cp) X(mbarrier) X(ldmatrix) X(stmatrix) X(movmatrix) X(tensormap) X(alloca) X(stacksave)         \
  X(stackrestore)                                                                                                     \
  /* addresses and moves */                                                                                          \
  X(mov) X(cvta) X(isspacep) X(mapa) X(getctarank)                                                                   \
  /* images */                                                                                                       \
  X(tex) X(tld4) X(txq) X(suld) X(sust) X(sured) X(suq) X(istypep)                                                   \
  /* matrices */                                                                                                     \
  X(mma) X(wmma) X(wgmma) X(tcgen05)                                                                                 \
  /* control and synchronisation */                                                                                  \
  X(bra) X(brx) X(call) X(ret) X(exit) X(trap) X(brkpt) X(bar) X(barrier) X(membar) X(fence) X(nanosleep)            \
  X(griddepcontrol) X(clusterlaunchcontrol) X(elect) X(pmevent) X(setmaxnreg)                                        \
  /* among the work-items of a warp */                                                                               \
  X(shfl) X(vote) X(match) X(redux) X(activemask)                                                                    \
  /* arithmetic */                                                                                                   \
  X(add) X(addc) X(sub) X(subc) X(mul) X(mul24) X(mad) X(mad24) X(madc) X(fma) X(div) X(rem) X(abs) X(neg) X(min)    \
  X(max) X(sad) X(dp4a) X(dp2a) X(popc) X(clz) X(bfind) X(fns) X(brev) X(bfe) X(bfi) X(bmsk) X(szext) X(set) X(setp) \
  X(selp) X(slct) X(testp) X(copysign) X(cvt)                                                                                \
  X(sin) X(cos) X(ex2) X(lg2) X(tanh) X(rcp) X(sqrt) X(rsqrt)                                                        \
  Y(and_, "and") Y(or_, "or") Y(xor_, "xor") Y(not_, "not") X(cnot) X(lop3) X(shl) X(shr) X(shf)                     \
  /* video */                                                                                                        \
  X(vadd) X(vsub) X(vabsdiff) X(vmin) X(vmax) X(vshl) X(vshr) X(vmad) X(vset)                                        \
  X(vadd2) X(vsub2) X(vavrg2) X(vabsdiff2) X(vmin2) X(vmax2) X(vset2)                                                \
  X(vadd4) X(vsub4) X(vavrg4) X(vabsdiff4) X(vmin4) X(vmax4) X(vset4)
// clang-format on

#define KERNELCAST_ENUMERATOR(name) name,
#define KERNELCAST_KEYWORD(enumerator, name) enumerator,
enum class Op : std::uint8_t { other, KERNELCAST_PTX_OPCODES(KERNELCAST_ENUMERATOR, KERNELCAST_KEYWORD) count };
#undef KERNELCAST_ENUMERATOR
#undef KERNELCAST_KEYWORD
inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::count);

Op op_named(std::string_view text);  // Op::other where the list has no such opcode
std::string_view name(Op);           // empty for Op::other

// An opcode as a text has it, and which it is: "mad", Op::mad.
class Opcode {
 public:
  Opcode() = default;
  Opcode(std::string_view text) : text_(text), op_(op_named(text)) {}
  Opcode(Op op) : text_(name(op)), op_(op) {}

  std::string_view text() const { return text_; }
  Op op() const { return op_; }

  friend bool operator==(Opcode const& a, Op b) { return a.op_ == b; }
  friend bool operator==(Opcode const& a, Opcode const& b) { return a.text_ == b.text_; }

 private:
  std::string_view text_;
  Op op_ = Op::other;
};

}  // namespace kernelcast::ptx
