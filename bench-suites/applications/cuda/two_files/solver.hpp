// What the two files share.
#pragma once

struct Body {
  float x, y, z, mass;
};

// Accelerations of all bodies, on the device.
void accelerate(Body const* bodies, float3* accelerations, int n);
