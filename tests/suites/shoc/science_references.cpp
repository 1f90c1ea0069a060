// FFT, molecular dynamics and chemistry.
#include <array>
#include <complex>
#include <numbers>
#include <set>

#include "references.hpp"

namespace kernelcast::suites {

// The transform as its definition says, in long double.
//
// Bound: in the Euclidean norm, relative to that of the result. A pass of eight points has three additions (u each), a
// multiplication by sqrt(1/2) after one more addition and a constant (3 u), and after the first two passes a twiddle
// factor: a complex multiplication of 3 u, and the factor's own error. Its angle, at most 2 pi 7 63 / 512 = 5.4, is
// made by three roundings (16.3 u), sine and cosine are right to 4 units in the last place (8 u each): sqrt(2) (16.3 +
// 8) u < 35 u. Three passes: 3 (3 + 3) + 2 (3 + 35) = 94 u, and one for the scale; 100 u with what is of second order.
template <class Real>
Verdict judge_fft(Run const& run) {
  using Number = Approximate<Real>;
  using Complex = std::complex<long double>;
  std::vector<Complex> roots;
  for (int k = 0; k < 512; ++k) roots.push_back(std::polar(1.0L, -2 * std::numbers::pi_v<long double> * k / 512));
  Verdict verdict;
  for (bool const inverse : {false, true}) {
    char const* const name = inverse ? "inverse" : "forward";
    auto const signal = run.input<Real>(name), got = run.result<Real>(name);
    for (std::size_t begin = 0; begin < signal.size(); begin += 1024) {
      long double squares = 0;
      for (std::size_t i = begin; i < begin + 1024; ++i) squares += static_cast<long double>(signal[i]) * signal[i];
      long double const scale = inverse ? 1 / 512.0L : 1;
      long double const allowed = 100 * Number::u * std::sqrt(512 * squares) * scale;
      for (std::size_t k = 0; k < 512; ++k) {
        Complex sum = 0;
        for (std::size_t n = 0; n < 512; ++n) {
          Complex const root = roots[n * k % 512];
          sum += Complex(signal[begin + 2 * n], signal[begin + 2 * n + 1]) * (inverse ? std::conj(root) : root);
        }
        std::size_t const i = begin + 2 * k;
        expect_near<Real>(verdict, name, i, got[i], Number{sum.real() * scale, allowed});
        expect_near<Real>(verdict, name, i + 1, got[i + 1], Number{sum.imag() * scale, allowed});
        if (!verdict.equal) return verdict;
      }
    }
  }
  return verdict;
}

namespace {

template <class Real>
using Point = std::array<Approximate<Real>, 3>;

template <class Real>
std::vector<Point<Real>> points(std::vector<Real> const& vectors) {
  std::vector<Point<Real>> result;
  for (std::size_t i = 0; i < vectors.size(); i += 4) result.push_back({vectors[i], vectors[i + 1], vectors[i + 2]});
  return result;
}

template <class Real>
Approximate<Real> distance_squared(Point<Real> const& a, Point<Real> const& b) {
  auto const x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

// Which of two atoms at nearly the same distance is listed may depend on rounding and on how far the kernel halves: the
// list is right if its atoms differ and no atom that is left out is surely nearer than one that is listed.
template <class Real>
void judge_list(Verdict& verdict, Run const& run, std::vector<Point<Real>> const& position) {
  auto const list = run.result<std::int32_t>("list");
  std::size_t const atoms = position.size();
  for (std::size_t atom = 0; atom < atoms; ++atom) {
    std::set<std::size_t> listed{atom};
    long double surely = 0;
    for (std::size_t i = atom; i < list.size(); i += atoms) {
      auto const other = static_cast<std::size_t>(list[i]);
      if (other >= atoms || !listed.insert(other).second)
        return verdict.note_mismatch("list", i, list[i], static_cast<double>(atoms));
      auto const away = distance_squared(position[atom], position[other]);
      surely = std::max(surely, away.value - away.error);
    }
    for (std::size_t other = 0; other < atoms; ++other)
      if (!listed.contains(other)) {
        auto const away = distance_squared(position[atom], position[other]);
        if (away.value + away.error + 1e-9L < surely)
          return verdict.note_mismatch("list, an atom left out", other, static_cast<double>(surely),
                                       static_cast<double>(away.value));
      }
  }
}

}  // namespace

// Forces follow from the list that the run made. A pair as near to the cutoff as rounding reaches may count or not.
template <class Real>
Verdict judge_md(Run const& run) {
  using Number = Approximate<Real>;
  auto const position = points(run.input<Real>("position"));
  auto const list = run.result<std::int32_t>("list");
  auto const force = run.result<Real>("force");
  std::string const& kernel = run.plan.calls.back().kernel.text;  // md_force or md_force_texture
  auto const cutoff = run.argument<Real>(kernel, 5);
  Number const lj1 = run.argument<Real>(kernel, 6), lj2 = run.argument<Real>(kernel, 7);
  Verdict verdict;
  judge_list(verdict, run, position);
  if (!verdict.equal) return verdict;
  for (std::size_t atom = 0; atom < position.size(); ++atom) {
    Point<Real> sum{};
    for (std::size_t i = atom; i < list.size(); i += position.size()) {
      auto const& other = position[static_cast<std::size_t>(list[i])];
      auto const away = distance_squared(position[atom], other);
      if (away.value - away.error >= cutoff) continue;
      bool const certain = away.value + away.error < cutoff;
      auto const inverse2 = Number(Real{1}) / away, inverse6 = inverse2 * inverse2 * inverse2;
      auto const strength = inverse2 * inverse6 * (lj1 * inverse6 - lj2);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        auto const term = (position[atom][axis] - other[axis]) * strength;
        auto const added = sum[axis] + term;
        sum[axis] = certain ? added : Number{added.value, added.error + term.magnitude()};
      }
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      expect_near<Real>(verdict, "force", 4 * atom + axis, force[4 * atom + axis], sum[axis]);
    if (force[4 * atom + 3] != 0) verdict.note_mismatch("force", 4 * atom + 3, force[4 * atom + 3], 0);
  }
  return verdict;
}

// ---------------------------------------------------------------- chemistry

namespace {

// Only the coefficients are shared with the kernels.
#define REAL(decimal) decimal
#include "../../../bench-suites/shoc/s3d_mechanism.h"

struct Species {
  double mass, a0, a1, a2, a5, a6;
};
struct Reaction {
  double log_a, beta, theta;
  std::size_t reactants[2], products[2];
};
struct Falloff {
  std::size_t reaction;
  double log_a, beta, theta, a, t3, t1;
};

#define ROW(s, mass, a0, a1, a2, a5, a6) {mass, a0, a1, a2, a5, a6},
constexpr Species species[] = {S3D_SPECIES(ROW)};
#undef ROW
#define ROW(r, log_a, beta, theta, r0, r1, p0, p1) {log_a, beta, theta, {r0, r1}, {p0, p1}},
constexpr Reaction reactions[] = {S3D_REACTIONS(ROW)};
#undef ROW
#define ROW(r) r,
constexpr std::size_t third_bodies[] = {S3D_THIRD_BODY(ROW)};
#undef ROW
#define ROW(r, log_a, beta, theta, a, t3, t1) {r, log_a, beta, theta, a, t3, t1},
constexpr Falloff falloffs[] = {S3D_FALLOFF(ROW)};
#undef ROW
#undef REAL

template <class Real>
struct Cell {
  using Number = Approximate<Real>;
  std::array<Number, SPECIES> molar{}, equilibrium{}, production{};
  std::array<Number, REACTIONS> forward{}, reverse{}, progress{};

  static Number c(double decimal) { return Number::constant(decimal); }
  static Number exact(double value) { return Number(static_cast<Real>(value)); }
  template <std::size_t N>
  static Number pair(std::array<Number, N> const& of, std::size_t const (&which)[2]) {
    return which[1] == NONE ? of[which[0]] : of[which[0]] * of[which[1]];
  }

  Cell(Real temperature, Real pressure, std::array<Real, SPECIES> const& fractions) {
    Number const t = c(1000.0) + c(1500.0) * Number(temperature);
    Number const rt = c(8.314e7) * t, log_t = log(t), inverse_t = exact(1) / t;
    concentrations(c(1.0e6) * (c(1.0) + c(9.0) * Number(pressure)) / rt, fractions);
    for (std::size_t s = 0; s < SPECIES; ++s) {
      auto const& [mass, a0, a1, a2, a5, a6] = species[s];
      equilibrium[s] =
          exp(c(a6) - c(a5) * inverse_t - c(a0) * (exact(1) - log_t) + t * (c(a1) / exact(2) + c(a2) / exact(6) * t));
    }
    Number const standard = c(1.0e6) / rt;
    for (std::size_t r = 0; r < REACTIONS; ++r) {
      auto const& [log_a, beta, theta, reactants, products] = reactions[r];
      forward[r] = exp(c(log_a) + c(beta) * log_t - c(theta) * inverse_t);
      double const fewer = (reactants[1] != NONE) - (products[1] != NONE);
      reverse[r] =
          forward[r] * (pair(equilibrium, reactants) / pair(equilibrium, products)) * pow(standard, exact(fewer));
    }
    fall_off(t, log_t, inverse_t);
    count();
  }

 private:
  void concentrations(Number total, std::array<Real, SPECIES> const& fractions) {
    Number sum;
    for (std::size_t s = 0; s < SPECIES; ++s) sum += Number(fractions[s]) / c(species[s].mass);
    for (std::size_t s = 0; s < SPECIES; ++s) molar[s] = total * (Number(fractions[s]) / c(species[s].mass)) / sum;
  }
  void fall_off(Number t, Number log_t, Number inverse_t) {
    Number third = c(1.5) * molar[H2] + c(11.0) * molar[H2O];
    for (Number const& each : molar) third += each;
    for (std::size_t const r : third_bodies) forward[r] *= third, reverse[r] *= third;
    for (auto const& [r, log_a, beta, theta, a, t3, t1] : falloffs) {
      Number const low = exp(c(log_a) + c(beta) * log_t - c(theta) * inverse_t);
      Number const reduced = low * third / forward[r];
      Number const center = log10((exact(1) - c(a)) * exp(-t / c(t3)) + c(a) * exp(-t / c(t1)));
      Number const shifted = log10(reduced) - c(0.4) - c(0.67) * center;
      Number const ratio = shifted / (c(0.75) - c(1.27) * center - c(0.14) * shifted);
      Number const factor = reduced / (exact(1) + reduced) * pow(exact(10), center / (exact(1) + ratio * ratio));
      forward[r] *= factor;
      reverse[r] *= factor;
    }
  }
  void count() {
    for (std::size_t r = 0; r < REACTIONS; ++r) {
      auto const& reaction = reactions[r];
      progress[r] = forward[r] * pair(molar, reaction.reactants) - reverse[r] * pair(molar, reaction.products);
      for (std::size_t const s : reaction.reactants)
        if (s != NONE) production[s] -= progress[r];
      for (std::size_t const s : reaction.products)
        if (s != NONE) production[s] += progress[r];
    }
    for (std::size_t s = 0; s < SPECIES; ++s) production[s] = c(species[s].mass) * production[s];
  }
};

}  // namespace

template <class Real>
Verdict judge_s3d(Run const& run) {
  auto const temperature = run.input<Real>("temperature"), pressure = run.input<Real>("pressure"),
             fractions = run.input<Real>("fractions");
  std::size_t const cells = temperature.size();
  Verdict verdict;
  std::map<std::string, std::vector<Real>> results;
  for (char const* name : {"molar", "equilibrium", "forward", "reverse", "progress", "production"})
    results[name] = run.result<Real>(name);
  for (std::size_t i = 0; i < cells; ++i) {
    std::array<Real, SPECIES> mixture{};
    for (std::size_t s = 0; s < SPECIES; ++s) mixture[s] = fractions[s * cells + i];
    Cell<Real> const cell(temperature[i], pressure[i], mixture);
    auto const compare = [&](char const* name, auto const& expected) {
      for (std::size_t q = 0; q < expected.size(); ++q)
        expect_near<Real>(verdict, name, q * cells + i, results[name][q * cells + i], expected[q]);
    };
    compare("molar", cell.molar);
    compare("equilibrium", cell.equilibrium);
    compare("forward", cell.forward);
    compare("reverse", cell.reverse);
    compare("progress", cell.progress);
    compare("production", cell.production);
  }
  return verdict;
}

#define FOR_BOTH(JUDGE)                      \
  template Verdict JUDGE<float>(Run const&); \
  template Verdict JUDGE<double>(Run const&);
FOR_BOTH(judge_fft)
FOR_BOTH(judge_md)
FOR_BOTH(judge_s3d)

}  // namespace kernelcast::suites
