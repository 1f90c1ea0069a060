// One time step of n bodies under gravity, all pairs, softened by epsilon.
//
// position.w holds the mass (gravitational constant 1). The group reads the bodies tile by tile through local memory, a
// work-item integrates one body. Groups of 256, one work-item per body, local memory one float4 per work-item.
__kernel void nbody_step(__global float4 const* position, __global float4 const* velocity,
                         __global float4* next_position, __global float4* next_velocity, const uint bodies,
                         float const step, float const epsilon_squared, __local float4* tile) {
  const uint body = get_global_id(0);
  const uint item = get_local_id(0);
  const uint items = get_local_size(0);
  const float4 here = position[body];
  float4 acceleration = 0.0f;
  for (uint first = 0; first < bodies; first += items) {
    tile[item] = position[first + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint other = 0; other < items; ++other) {
      const float4 there = tile[other];
      const float4 away = there - here;
      float const squared = away.x * away.x + away.y * away.y + away.z * away.z + epsilon_squared;
      float const inverse = 1.0f / sqrt(squared);
      acceleration += there.w * inverse * inverse * inverse * away;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float4 before = velocity[body];
  float4 after = before + step * acceleration;
  float4 moved = here + step * before + 0.5f * step * step * acceleration;
  after.w = before.w;
  moved.w = here.w;
  next_position[body] = moved;
  next_velocity[body] = after;
}
