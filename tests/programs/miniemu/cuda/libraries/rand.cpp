// cuRAND: numbers that are published or were drawn from NVIDIA's library on a host (seed 1234), and moments of others.
#include <string>

#include "common.hpp"

extern "C" {
int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandGenerate(void*, unsigned*, std::size_t);
int curandGenerateUniform(void*, float*, std::size_t);
int curandGenerateUniformDouble(void*, double*, std::size_t);
int curandGenerateNormal(void*, float*, std::size_t, float, float);
int curandGenerateNormalDouble(void*, double*, std::size_t, double, double);
int curandGenerateLogNormal(void*, float*, std::size_t, float, float);
int curandGeneratePoisson(void*, unsigned*, std::size_t, double);
}

namespace {

constexpr int xorwow = 101, mrg32k3a = 121, mt19937 = 142, philox = 161, sobol = 201;

void* seeded(int type) {
  void* generator = nullptr;
  expect(curandCreateGenerator(&generator, type) == 0, "create");
  expect(curandSetPseudoRandomGeneratorSeed(generator, 1234) == 0, "seed");
  return generator;
}

struct Known {
  int type;
  std::vector<unsigned> first;
  unsigned at_4096, at_65537, at_262144;
  double uniform, normal[3], normal_double[3];
};

void sequences() {
  std::vector<Known> const all{
      {xorwow,
       {624778773, 3522650202, 2363946744, 1266286439},
       1867875844,
       1471929200,
       1080851290,
       0.43489880438841294,
       {0.780973554, -1.80157816, -0.280848563},
       {0.35873979852445503, -1.239592503223552, -0.091495399773608627}},
      {philox,
       {546353992, 3665621163, 1140953199, 3419031310},
       2053518784,
       2271704747,
       2666454581,
       0.85346899543001431,
       {-1.61649048, 1.22915542, -1.56054044},
       {-0.53952669590731883, 0.16063334644202293, 1.0081967077372695}},
  };
  for (auto const& known : all) {
    auto* generator = seeded(known.type);
    std::size_t const n = 300000;
    OnDevice<unsigned> const out(std::vector<unsigned>(n, 0));
    expect(curandGenerate(generator, out, n) == 0, "generate");
    auto const found = out.values();
    for (std::size_t i = 0; i < known.first.size(); ++i) expect(found[i] == known.first[i], "the first numbers");
    expect(found[4096] == known.at_4096, "number 4096");
    expect(found[65537] == known.at_65537, "number 65537");
    expect(found[262144] == known.at_262144, "number 262144");
    curandSetGeneratorOffset(generator, 4096);
    expect(curandGenerate(generator, out, 1) == 0 && out.values()[0] == known.at_4096, "from there");
    curandDestroyGenerator(generator);
    OnDevice<double> const wide(std::vector<double>(4));
    OnDevice<float> const narrow(std::vector<float>(4));
    expect(curandGenerateUniformDouble(seeded(known.type), wide, 4) == 0 &&
               std::abs(wide.values()[0] - known.uniform) < 1e-15,
           "uniform");
    expect(curandGenerateNormal(seeded(known.type), narrow, 4, 0, 1) == 0, "normal");
    expect(curandGenerateNormalDouble(seeded(known.type), wide, 4, 0, 1) == 0, "normal, double");
    for (int i = 0; i < 3; ++i) {
      expect(std::abs(narrow.values()[i] - known.normal[i]) < 2e-6, "normal numbers");
      expect(std::abs(wide.values()[i] - known.normal_double[i]) < 1e-14, "normal numbers, double");
    }
  }
  // [matsumoto-nishimura] seed 1234.
  OnDevice<unsigned> const out(std::vector<unsigned>(2, 0));
  expect(curandGenerate(seeded(mt19937), out, 2) == 0 && out.values() == std::vector<unsigned>{822569775, 2137449171},
         "MT19937");
}

void moments() {
  std::size_t const n = 100000;
  OnDevice<float> const out(std::vector<float>(n, 0));
  OnDevice<unsigned> const counts(std::vector<unsigned>(n, 0));
  auto const mean = [&](auto const& values) {
    double sum = 0;
    for (auto const v : values) sum += v;
    return sum / static_cast<double>(n);
  };
  for (int const type : {xorwow, mrg32k3a, mt19937, philox}) {
    expect(curandGenerateUniform(seeded(type), out, n) == 0 && std::abs(mean(out.values()) - 0.5) < 0.01, "uniform");
    for (float const v : out.values()) expect(v > 0 && v <= 1, "in its range");
    expect(curandGenerateNormal(seeded(type), out, n, 5, 2) == 0 && std::abs(mean(out.values()) - 5) < 0.05, "normal");
    double squares = 0;
    for (float const v : out.values()) squares += (v - 5.0) * (v - 5.0);
    expect(std::abs(squares / n - 4) < 0.1, "deviation");
    expect(curandGenerateLogNormal(seeded(type), out, n, 0, 0.5F) == 0 &&
               std::abs(mean(out.values()) - std::exp(0.125)) < 0.02,
           "log-normal");
    for (double const lambda : {0.5, 10.0, 100.0})
      expect(curandGeneratePoisson(seeded(type), counts, n, lambda) == 0 &&
                 std::abs(mean(counts.values()) - lambda) < 0.05 * std::sqrt(lambda),
             "poisson");
  }
}

void out_of_bounds() {
  OnDevice<float> const out(std::vector<float>(64));
  expect(curandGenerateUniform(seeded(philox), out, 1 << 20) == 201, "too long");
  expect(curandGenerateNormal(seeded(philox), out, 3, 0, 1) == 105, "an odd count");
  void* generator = nullptr;
  expect(curandCreateGenerator(&generator, sobol) == 103, "what there is not");
  expect(curandGenerateUniform(nullptr, out, 1) == 101, "no generator");
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "";
  if (what == "sequences") sequences();
  if (what == "moments") moments();
  if (what == "out_of_bounds") out_of_bounds();
  if (wrong == 0) std::printf("right: %s\n", what.c_str());
  return wrong != 0;
}
