// Kernels on tensor memory in tests: 128 work-items whose tensor and shared memory begin as the test says, and whose
// tensor memory is read back.
#pragma once

#include "emulator/passed_over.hpp"
#include "matrix_bench.hpp"

namespace kernelcast::emu::test {

inline constexpr int shared_image_bytes = 192 * 1024;

inline std::vector<std::uint32_t> random_words(Random& random, int count) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  for (std::uint32_t& w : words) w = static_cast<std::uint32_t>(random());
  return words;
}
inline std::vector<std::uint8_t> random_bytes(Random& random, int count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

struct StoredMatrix : SharedLayout {
  std::uint64_t descriptor() const {
    std::uint64_t const mode = atoms_of_32            ? 1
                               : swizzle_bytes == 16  ? 0
                               : swizzle_bytes == 128 ? 2
                               : swizzle_bytes == 64  ? 4
                                                      : 6;
    auto const part = [](int bytes) { return static_cast<std::uint64_t>(bytes) >> 4 & 0x3fff; };
    return part(start) | part(leading) << 16 | part(stride) << 32 | std::uint64_t{1} << 46 | mode << 61;
  }
};

// `count` registers of every work-item, from (to) a parameter's buffer.
inline std::string values_in(char letter, int count, std::string const& parameter) {
  std::string text =
      " ld.param.u64 %q0, [" + parameter + "]; mad.wide.u32 %q0, %r0, " + std::to_string(4 * count) + ", %q0;\n";
  for (int i = 0; i < count; ++i)
    text +=
        " ld.global.b32 %" + std::string(1, letter) + std::to_string(i) + ", [%q0+" + std::to_string(4 * i) + "];\n";
  return text;
}
inline std::string values_out(char letter, int count, std::string const& parameter) {
  std::string text =
      " ld.param.u64 %q0, [" + parameter + "]; mad.wide.u32 %q0, %r0, " + std::to_string(4 * count) + ", %q0;\n";
  for (int i = 0; i < count; ++i)
    text +=
        " st.global.b32 [%q0+" + std::to_string(4 * i) + "], %" + std::string(1, letter) + std::to_string(i) + ";\n";
  return text;
}

// The body finds %ta, all 512 columns; %quarter, the warp's lanes as an address; %r0, its index; %first, whether it is
// of the first warp; slot (%generic is its generic address) and bar in shared memory behind the image. Of a cluster
// each group has images of its own.
class TensorBench : public Bench {
 public:
  explicit TensorBench(std::string const& body, bool frees = true, bool moves_image = true,
                       std::string const& group = "cta_group::1")
      : Bench(text(body, frees, moves_image, group)) {
    launch.block = {128, 1, 1};
  }
  // Of each lane 512 columns; then the bytes of shared memory. Before any other buffer.
  void image(std::vector<std::uint32_t> const& words) {
    image_ = buffer("image", words.empty() ? std::vector<std::uint32_t>(128) : words);
    shared_ = buffer("shared", std::uint64_t{shared_image_bytes} * launch.grid.count());
  }
  void shared(std::vector<std::uint8_t> const& bytes) {
    std::ranges::copy(std::as_bytes(std::span(bytes)), memory.bytes(shared_).begin());
  }
  Outcome const& run(std::span<Observer* const> observers = {}, Limits const& limits = {}) {
    launch.parameters.resize(4 * sizeof(std::uint64_t));
    return Bench::run(observers, limits);
  }
  std::vector<std::uint32_t> read_image() { return read<std::uint32_t>(image_); }
  std::string message() const { return outcome.finding ? outcome.finding->message : ""; }

 private:
  static std::string text(std::string const& body, bool frees, bool moves_image, std::string const& group) {
    std::string const bytes = std::to_string(shared_image_bytes);
    std::string copy = " ld.param.u64 %q1, [shared]; mad.wide.u32 %q1, %ctaid.x, " + bytes +
                       ", %q1; shl.b32 %r2, %r0, 4;\ncopy:\n"
                       " cvt.u64.u32 %q2, %r2; add.u64 %q2, %q2, %q1; ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%q2];\n"
                       " st.shared.v4.b32 [%r2], {%r5, %r6, %r7, %r8}; add.u32 %r2, %r2, 2048; setp.lt.u32 %p, %r2, " +
                       bytes + "; @%p bra copy;\n";
    return ".visible .entry k(.param .u64 image, .param .u64 shared, .param .u64 values, .param .u64 more) {\n"
           " .reg .b32 %r<16>, %a<128>, %ta, %quarter; .reg .b64 %q<16>, %generic; .reg .pred %p, %first, %done;\n"
           " .shared .align 1024 .b8 sm[" +
           bytes +
           "]; .shared .align 8 .b64 bar; .shared .b32 slot;\n"
           " mov.u32 %r0, %tid.x; setp.lt.u32 %first, %r0, 32; shr.u32 %quarter, %r0, 5; shl.b32 %quarter, %quarter, "
           "21;\n" +
           (moves_image ? copy : "") + " mov.u64 %generic, slot; cvta.shared.u64 %generic, %generic;\n" +
           " @%first tcgen05.alloc." + group +
           ".sync.aligned.shared::cta.b32 [slot], 512;\n bar.sync 0;\n"
           " ld.shared.u32 %ta, [slot];\n" +
           (moves_image ? all_columns(true, 1) + " bar.sync 0;\n" : "") + body + " bar.sync 0;\n" +
           (moves_image ? all_columns(false, 2) : "") + " bar.sync 0;\n" +
           (frees ? " @%first tcgen05.dealloc." + group + ".sync.aligned.b32 %ta, 512;\n" : "") + " ret;\n}\n";
  }
  // Between the image and tensor memory, 128 columns at a time.
  static std::string all_columns(bool load, int label) {
    std::string const name = "columns" + std::to_string(label);
    std::string moves;
    for (int i = 0; i < 128; ++i)
      moves += (load ? " ld.global.b32 %a" + std::to_string(i) + ", [%q1+" + std::to_string(4 * i) + "];\n"
                     : " st.global.b32 [%q1+" + std::to_string(4 * i) + "], %a" + std::to_string(i) + ";\n");
    std::string const registers = register_list('a', 128);
    return " ld.param.u64 %q1, [image]; mad.lo.u32 %r9, %ctaid.x, 128, %r0; mad.wide.u32 %q1, %r9, 2048, %q1; add.u32 "
           "%r9, %ta, %quarter; mov.u32 %r10, 0;\n" +
           name + ":\n" +
           (load ? moves + " tcgen05.st.sync.aligned.32x32b.x128.b32 [%r9], " + registers + ";\n"
                 : " tcgen05.ld.sync.aligned.32x32b.x128.b32 " + registers + ", [%r9];\n" + moves) +
           " add.u64 %q1, %q1, 512; add.u32 %r9, %r9, 128; add.u32 %r10, %r10, 1; setp.lt.u32 %p, %r10, 4; @%p bra " +
           name + ";\n";
  }
  std::uint64_t image_ = 0, shared_ = 0;
};

}  // namespace kernelcast::emu::test
