// Molecular dynamics: the Lennard-Jones force on every atom of a box, from a list of its nearest neighbours.
//
//   f_i = sum over listed j with r^2 < cutoff^2 of d r^-8 (lj1 r^-6 - lj2),  d = x_i - x_j, r = |d|
// Neighbour j of atom i stands at list[j * atoms + i], so that work-items of a group read the list together; positions
// are gathered. The box is the unit cube without periodic images. Groups of 256. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif

real distance_squared(real4 a, real4 b) {
  real const x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

// Makes the list: the nearest atoms in the order of their numbers. Halving finds the square of the radius that encloses
// just enough, to 1e-9.
__kernel void md_neighbours(__global real4 const* position, __global int* list, int const atoms, int const neighbours) {
  int const atom = get_global_id(0);
  if (atom >= atoms) return;
  real4 const here = position[atom];
  real low = 0, high = 3;
  for (int halving = 0; halving < 32; ++halving) {
    real const middle = (low + high) / 2;
    int count = 0;
    for (int other = 0; other < atoms; ++other)
      count += other != atom && distance_squared(here, position[other]) < middle;
    if (count < neighbours)
      low = middle;
    else
      high = middle;
  }
  int place = 0;
  for (int other = 0; other < atoms && place < neighbours; ++other)
    if (other != atom && distance_squared(here, position[other]) < low) list[place++ * atoms + atom] = other;
  for (int other = 0; other < atoms && place < neighbours; ++other) {
    real const away = distance_squared(here, position[other]);
    if (other != atom && away >= low && away < high) list[place++ * atoms + atom] = other;
  }
}

__kernel void md_force(__global real4 const* position, __global int const* list, __global real4* force, int const atoms,
                       int const neighbours, real const cutoff_squared, real const lj1, real const lj2) {
  int const atom = get_global_id(0);
  if (atom >= atoms) return;
  real4 const here = position[atom];
  real4 sum = 0;
  for (int j = 0; j < neighbours; ++j) {
    real4 const there = position[list[j * atoms + atom]];
    real const away = distance_squared(here, there);
    if (away < cutoff_squared) {
      real const inverse2 = 1 / away;
      real const inverse6 = inverse2 * inverse2 * inverse2;
      real const strength = inverse2 * inverse6 * (lj1 * inverse6 - lj2);
      sum.x += (here.x - there.x) * strength;
      sum.y += (here.y - there.y) * strength;
      sum.z += (here.z - there.z) * strength;
    }
  }
  force[atom] = sum;
}

#if !DOUBLE
// The same with positions read as an image of rows of 256 atoms: through the texture cache of devices that have one.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

__kernel void md_force_texture(__read_only image2d_t position, __global int const* list, __global real4* force,
                               const int atoms, const int neighbours, const real cutoff_squared, const real lj1,
                               const real lj2) {
  const int atom = get_global_id(0);
  if (atom >= atoms) return;
  const real4 here = read_imagef(position, nearest, (int2)(atom % 256, atom / 256));
  real4 sum = 0;
  for (int j = 0; j < neighbours; ++j) {
    const int other = list[j * atoms + atom];
    const real4 there = read_imagef(position, nearest, (int2)(other % 256, other / 256));
    const real away = distance_squared(here, there);
    if (away < cutoff_squared) {
      const real inverse2 = 1 / away;
      const real inverse6 = inverse2 * inverse2 * inverse2;
      const real strength = inverse2 * inverse6 * (lj1 * inverse6 - lj2);
      sum.x += (here.x - there.x) * strength;
      sum.y += (here.y - there.y) * strength;
      sum.z += (here.z - there.z) * strength;
    }
  }
  force[atom] = sum;
}
#endif
