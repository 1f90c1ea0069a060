// Bodies that attract each other: vectors, local memory, two kernels per step, several queues by turns, and a marker
// that waits for everything.
#include "app.hpp"

static char const* const source = R"(
__kernel void accelerate(__global const float4* at, __global float4* by, __local float4* tile, int n) {
  float4 me = at[get_global_id(0)], sum = 0;
  for (int t = 0; t < n; t += get_local_size(0)) {
    tile[get_local_id(0)] = at[t + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < get_local_size(0); ++k) {
      float4 d = tile[k] - me;
      float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
      float inverse = 1 / sqrt(r2);
      sum.xyz += d.xyz * (tile[k].w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  by[get_global_id(0)] = sum;
}
__kernel void move(__global float4* at, __global float4* speed, __global const float4* by, float dt) {
  int i = get_global_id(0);
  float4 v = speed[i];
  v.xyz += by[i].xyz * dt;
  speed[i] = v;
  at[i].xyz += v.xyz * dt;
}
)";

int main() {
  App app;
  cl_command_queue const queues[] = {app.queue, app.another_queue()};
  constexpr int n = 256, steps = 4;
  std::vector<cl_float4> at(n), speed(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto const x = static_cast<float>(i % 8), y = static_cast<float>(i / 8 % 8), z = static_cast<float>(i / 64);
    at[i] = {{x, y + 0.1F * z, z, 0.5F}};
    speed[i] = {{0, 0, 0, 0}};
  }
  std::vector<cl_float4> const begin = at;
  cl_mem const bat = app.buffer(at), bspeed = app.buffer(speed), bby = app.room(n * sizeof(cl_float4));
  cl_program const program = app.build(source, "-cl-single-precision-constant");
  cl_kernel const accelerate = app.kernel(program, "accelerate"), move = app.kernel(program, "move");
  set(accelerate, 0, bat);
  set(accelerate, 1, bby);
  check(clSetKernelArg(accelerate, 2, 64 * sizeof(cl_float4), nullptr), "local");
  set(accelerate, 3, n);
  set(move, 0, bat);
  set(move, 1, bspeed);
  set(move, 2, bby);
  set(move, 3, 0.01F);
  std::size_t const global = n, local = 64;
  cl_event last = nullptr;
  for (int step = 0; step < steps; ++step) {
    cl_event accelerated = nullptr, moved = nullptr;
    check(clEnqueueNDRangeKernel(queues[step % 2], accelerate, 1, nullptr, &global, &local, last ? 1 : 0,
                                 last ? &last : nullptr, &accelerated),
          "accelerate");
    check(clFlush(queues[step % 2]), "clFlush");
    check(clEnqueueNDRangeKernel(queues[1 - step % 2], move, 1, nullptr, &global, nullptr, 1, &accelerated, &moved),
          "move");
    check(clFlush(queues[1 - step % 2]), "clFlush");
    clReleaseEvent(accelerated);
    if (last) clReleaseEvent(last);
    last = moved;
  }
  cl_event all = nullptr;
  check(clEnqueueMarkerWithWaitList(app.queue, 1, &last, &all), "clEnqueueMarkerWithWaitList");
  check(clWaitForEvents(1, &all), "clWaitForEvents");
  app.read(bat, at);

  std::vector<cl_float4> want = begin, pace(n);
  for (int step = 0; step < steps; ++step) {
    std::vector<cl_float4> const from = want;
    for (std::size_t i = 0; i < n; ++i) {
      double sum[3] = {};
      for (std::size_t k = 0; k < n; ++k) {
        double r2 = 0.01, d[3];
        for (int c = 0; c < 3; ++c) {
          d[c] = static_cast<double>(from[k].s[c]) - static_cast<double>(from[i].s[c]);
          r2 += d[c] * d[c];
        }
        for (int c = 0; c < 3; ++c) sum[c] += d[c] * 0.5 / (r2 * std::sqrt(r2));
      }
      for (int c = 0; c < 3; ++c) {
        pace[i].s[c] += static_cast<float>(sum[c] * 0.01);
        want[i].s[c] += pace[i].s[c] * 0.01F;
      }
    }
  }
  std::vector<float> have_x, want_x;
  for (std::size_t i = 0; i < n; ++i) {
    have_x.push_back(at[i].s[0]);
    want_x.push_back(want[i].s[0]);
  }
  return compare("places", have_x, want_x, 1e-4);
}
