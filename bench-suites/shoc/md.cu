// Molecular dynamics: the Lennard-Jones force on every atom of a box, from a list of its nearest neighbours.
//
//   f_i = sum over listed j with r^2 < cutoff^2 of d r^-8 (lj1 r^-6 - lj2),  d = x_i - x_j, r = |d|
// Neighbour j of atom i stands at list[j * atoms + i], so that threads of a block read the list together; positions are
// gathered. The box is the unit cube without periodic images. Blocks of 256. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
using real4 = double4;
#else
using real = float;
using real4 = float4;
#endif

__device__ real distance_squared(real4 a, real4 b) {
  real const x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

// Makes the list: the nearest atoms in the order of their numbers. Halving finds the square of the radius that encloses
// just enough, to 1e-9.
extern "C" __global__ void md_neighbours(real4 const* position, int* list, int atoms, int neighbours) {
  int const atom = blockIdx.x * blockDim.x + threadIdx.x;
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

extern "C" __global__ void md_force(real4 const* position, int const* list, real4* force, int atoms, int neighbours,
                                    real cutoff_squared, real lj1, real lj2) {
  int const atom = blockIdx.x * blockDim.x + threadIdx.x;
  if (atom >= atoms) return;
  real4 const here = position[atom];
  real4 sum = {0, 0, 0, 0};
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
// The same with positions read through a texture object on linear memory.
extern "C" __global__ void md_force_texture(cudaTextureObject_t position, int const* list, real4* force, int atoms,
                                            int neighbours, real cutoff_squared, real lj1, real lj2) {
  int const atom = blockIdx.x * blockDim.x + threadIdx.x;
  if (atom >= atoms) return;
  real4 const here = tex1Dfetch<real4>(position, atom);
  real4 sum = {0, 0, 0, 0};
  for (int j = 0; j < neighbours; ++j) {
    real4 const there = tex1Dfetch<real4>(position, list[j * atoms + atom]);
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
#endif
