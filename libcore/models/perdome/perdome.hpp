// [perdome]: upper bounds of the performance of a code that is divided over the processors of a system.
//
// Problem: a code of Nf operations and Nb bytes, intensity I = Nf / Nb, is divided over K processors; processor k does
// the part x_k of the operations and moves the part y_k of the bytes, with t_f,k seconds per operation and t_b,k per
// byte. All run side by side and overlap computation with memory traffic.
// Method: P <= 1 / max_k max(x_k t_f,k, y_k t_b,k / I), equation (11) for any K. (15) to (18) give x and y from the
// intensities of two processors; (19) is (11) with them put in.
// Limits: peaks only; what crosses the link between the processors adds its time (no overlap) where it is given.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "records/device/device.hpp"

namespace kernelcast::model::perdome {

struct Processor {
  std::string name;
  double flop_s = 0;  // t_f, seconds per operation
  double byte_s = 0;  // t_b, seconds per byte
  std::optional<double> tdp_w;
  std::string rates;  // where the two come from

  double flop_per_s() const { return 1 / flop_s; }
  double bytes_per_s() const { return 1 / byte_s; }
  double roofline(double intensity) const;  // [perdome] (3), operations per second
};

using Processors = std::vector<Processor>;

// A device of the database as a processor: [perdome]'s own times where the database has them and `paper` is set, else
// peak fp32 operations and measured, or else peak, bandwidth. Throws Error(unavailable) for a figure it lacks.
Processor processor(device::Device const& device, bool paper);

// Parts of the operations (x) and of the bytes (y), in the order of the processors; each adds up to 1.
struct Division {
  std::vector<double> x, y;
};

struct PerdomeBound {
  double flop_per_s = 0;
  std::size_t processor = 0;  // whose term is the largest
  bool memory = false;        // its memory term, else its compute term
};

// (11). `link_s_per_flop` is N_x t_x / N_f, added to the time.
PerdomeBound bound(Processors const&, double intensity, Division const&, double link_s_per_flop = 0);

// Why no code of this intensity has parts of these intensities on two processors, as a message that names the lemma;
// empty where one has. An intensity of 0 says that the processor is unused. [perdome] Lemmas 1 and 2, as corrected in
// kernelcast-models(7).
std::string lemma_violation(double intensity, double intensity_first, double intensity_second);

// (15) to (18), for intensities that violate no lemma and are not both equal to the whole's.
Division division(double intensity, double intensity_first, double intensity_second);

// The perfect data partition p-DP: every processor runs the whole code on a part of the data, in proportion to its
// roofline, so that x = y and the bound is the sum of the rooflines. Also the optimum of the singular case
// I = I_C = I_G.
Division data_partition(Processors const&, double intensity);

struct Interval {
  double low = 0, high = 0;
};

// P* = min(sum F, I sum B) with F = 1/t_f, B = 1/t_b. Where compute binds x* = F / sum F is unique and the y may vary
// within the intervals (each alone, the others giving way); where memory binds y* = B / sum B is and the x may.
struct PerdomeOptimum {
  double flop_per_s = 0;
  bool memory = false;
  Division division;           // x* and y*
  std::vector<Interval> x, y;  // parts that keep the bound
  double data_partition_flop_per_s = 0;
  std::size_t best_single = 0;
  double single_flop_per_s = 0;
};
PerdomeOptimum optimum(Processors const&, double intensity);

}  // namespace kernelcast::model::perdome
