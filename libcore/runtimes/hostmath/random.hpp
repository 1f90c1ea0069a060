// The generators of random numbers of cuRAND's host interface.
//
// Published and the same bit by bit: Philox 4x32-10 (Salmon et al. 2011) in cuRAND's order of 65536 sequences; XORWOW
// (Marsaglia 2003) in the order that cuRAND calls legacy, 4096 sequences 2^67 apart. Others: MT19937 (Matsumoto and
// Nishimura 1998) and MRG32k3a (L'Ecuyer 1999) as one sequence, whose numbers come in another order than cuRAND's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernelcast::hostmath {

class Generator {
 public:
  enum class Kind : std::uint8_t { xorwow, philox, mt19937, mrg32k3a };
  Generator(Kind kind, std::uint64_t seed) : kind_(kind), seed_(seed) {}

  void seed(std::uint64_t value) { seed_ = value, at_ = 0, ready_ = false; }
  void skip_to(std::uint64_t place) { at_ = place, ready_ = false; }
  std::uint32_t next();
  // Above 0, at most 1; in double precision of two numbers, of MT19937 and MRG32k3a of one.
  float uniform();
  double uniform_double();
  // Two of the normal distribution (Box and Muller 1958), float or double.
  template <class T>
  std::array<T, 2> normal_pair();

 private:
  void prepare();
  // What one thread of cuRAND would draw for one result: of XORWOW from one sequence.
  template <std::size_t count>
  std::array<std::uint32_t, count> draw(bool wide);  // wide: for double precision
  std::uint32_t xorwow(std::uint64_t sequence);
  std::uint32_t philox(std::uint64_t blocks_in_turn);
  std::uint32_t mt19937();
  std::uint32_t mrg32k3a();

  struct Xorwow {
    std::uint32_t d = 0;
    std::array<std::uint32_t, 5> v{};
  };

  Kind kind_;
  std::uint64_t seed_, at_ = 0;
  bool ready_ = false;
  std::vector<Xorwow> sequences_;
  std::uint64_t block_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> four_{};
  std::vector<std::uint32_t> twister_;
  std::array<std::uint64_t, 6> recursive_{};
};

}  // namespace kernelcast::hostmath
