// Bodies that attract each other: two files with kernels, each a program of its own to the runtime.
#include "../app.hpp"
#include "solver.hpp"

__constant__ float softening = 0.5f;

static __global__ void step(Body* bodies, float3 const* accelerations, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bodies[i].x += softening * accelerations[i].x;
  bodies[i].y += softening * accelerations[i].y;
  bodies[i].z += softening * accelerations[i].z;
}

int main() {
  int const n = 200;
  Numbers numbers;
  std::vector<Body> bodies(n);
  for (auto& b : bodies) b = {numbers.unit(), numbers.unit(), numbers.unit(), 1e-3f * numbers.unit()};
  Body* const d_bodies = on_device(bodies);
  float3* const accelerations = zeros_on_device<float3>(n);
  std::vector<float> got, expected;
  for (int round = 0; round < 3; ++round) {
    accelerate(d_bodies, accelerations, n);
    step<<<4, 64>>>(d_bodies, accelerations, n);
    CHECK(cudaGetLastError());
    auto const before = bodies;
    for (int i = 0; i < n; ++i) {
      double sum[3] = {};
      for (auto const& by : before) {
        double const d[] = {double(by.x) - before[i].x, double(by.y) - before[i].y, double(by.z) - before[i].z};
        double const s = by.mass / std::pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01, 1.5);
        for (int k = 0; k < 3; ++k) sum[k] += d[k] * s;
      }
      bodies[i].x += static_cast<float>(0.5 * sum[0]);
      bodies[i].y += static_cast<float>(0.5 * sum[1]);
      bodies[i].z += static_cast<float>(0.5 * sum[2]);
    }
  }
  for (auto const& b : from_device(d_bodies, n)) got.insert(got.end(), {b.x, b.y, b.z});
  for (auto const& b : bodies) expected.insert(expected.end(), {b.x, b.y, b.z});
  expect_near(got, expected, 1e-4, "places of bodies");
  return finish();
}
