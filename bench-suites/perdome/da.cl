// Data assembly of a finite-element code, as [perdome] takes it from miniFE: the stiffness matrices of eight-node hexahedra
// (diffusion, 2 x 2 x 2 Gauss points) and their assembly into a sparse matrix. A program of our own.
//
// Elements form a box of edge^3; node (x, y, z) has the number x + (edge + 1) (y + (edge + 1) z). A row of the matrix has 27
// columns, ascending: the node's neighbours; of those outside the box the entries stay 0.
//   stiffness    STC: an element's matrix from the coordinates of its nodes
//   geometry     STC's first part: gradients of the shape functions and the volume at each Gauss point; it divides and branches
//   accumulate   STC's second part, its key computation: the matrix from these
//   assemble     SMA: searches the column of each entry, adds to it

#define POINTS 8
#define NODES 8
#define POINT_FLOATS (3 * NODES + 1)

int node_of(int element, int corner, int edge) {
  int const x = element % edge + (corner & 1), y = element / edge % edge + (corner >> 1 & 1);
  int const z = element / (edge * edge) + (corner >> 2);
  return x + (edge + 1) * (y + (edge + 1) * z);
}

// The gradients of the eight shape functions at one point, in the element's own space, and the volume that the point has.
float gradients(float const (*nodes)[3], int point, float (*gradient)[3]) {
  float const at[3] = {point & 1 ? 0.57735027f : -0.57735027f, point & 2 ? 0.57735027f : -0.57735027f,
                       point & 4 ? 0.57735027f : -0.57735027f};
  float local_gradient[NODES][3], j[3][3] = {{0}};
#pragma unroll
  for (int i = 0; i < NODES; ++i) {
    float const s[3] = {i & 1 ? 1.f : -1.f, i & 2 ? 1.f : -1.f, i & 4 ? 1.f : -1.f};
    float const u = 1 + s[0] * at[0], v = 1 + s[1] * at[1], w = 1 + s[2] * at[2];
    local_gradient[i][0] = 0.125f * s[0] * v * w;
    local_gradient[i][1] = 0.125f * s[1] * u * w;
    local_gradient[i][2] = 0.125f * s[2] * u * v;
#pragma unroll
    for (int a = 0; a < 3; ++a)
#pragma unroll
      for (int b = 0; b < 3; ++b) j[a][b] += local_gradient[i][a] * nodes[i][b];
  }
  float const c00 = j[1][1] * j[2][2] - j[1][2] * j[2][1], c01 = j[1][2] * j[2][0] - j[1][0] * j[2][2];
  float const c02 = j[1][0] * j[2][1] - j[1][1] * j[2][0];
  float const volume = j[0][0] * c00 + j[0][1] * c01 + j[0][2] * c02;
  if (!(volume > 0)) return 0;  // an element that is turned inside out counts for nothing
  float const inverse = 1 / volume;
  float const k[3][3] = {{c00 * inverse, (j[0][2] * j[2][1] - j[0][1] * j[2][2]) * inverse,
                          (j[0][1] * j[1][2] - j[0][2] * j[1][1]) * inverse},
                         {c01 * inverse, (j[0][0] * j[2][2] - j[0][2] * j[2][0]) * inverse,
                          (j[0][2] * j[1][0] - j[0][0] * j[1][2]) * inverse},
                         {c02 * inverse, (j[0][1] * j[2][0] - j[0][0] * j[2][1]) * inverse,
                          (j[0][0] * j[1][1] - j[0][1] * j[1][0]) * inverse}};
#pragma unroll
  for (int i = 0; i < NODES; ++i)
#pragma unroll
    for (int b = 0; b < 3; ++b)
      gradient[i][b] = k[b][0] * local_gradient[i][0] + k[b][1] * local_gradient[i][1] + k[b][2] * local_gradient[i][2];
  return volume;
}

// Adds one point's part to the upper half of the matrix.
void add_point(float const (*gradient)[3], float volume, float* matrix) {
#pragma unroll
  for (int r = 0, at = 0; r < NODES; ++r)
#pragma unroll
    for (int c = r; c < NODES; ++c, ++at)
      matrix[at] += volume * (gradient[r][0] * gradient[c][0] + gradient[r][1] * gradient[c][1] + gradient[r][2] * gradient[c][2]);
}

void read_nodes(global float const* coordinates, int element, int edge, float (*nodes)[3]) {
  for (int i = 0; i < NODES; ++i) {
    int const node = node_of(element, i, edge);
    for (int a = 0; a < 3; ++a) nodes[i][a] = coordinates[3 * node + a];
  }
}

kernel void stiffness(global float const* coordinates, global float* matrices, int edge) {
  int const element = get_global_id(0);
  if (element >= edge * edge * edge) return;
  float nodes[NODES][3], matrix[36] = {0}, gradient[NODES][3];
  read_nodes(coordinates, element, edge, nodes);
  for (int p = 0; p < POINTS; ++p) {
    float const volume = gradients(nodes, p, gradient);
    if (volume > 0) add_point(gradient, volume, matrix);
  }
  for (int i = 0; i < 36; ++i) matrices[36 * element + i] = matrix[i];
}

kernel void geometry(global float const* coordinates, global float* points, int edge) {
  int const element = get_global_id(0);
  if (element >= edge * edge * edge) return;
  float nodes[NODES][3], gradient[NODES][3];
  read_nodes(coordinates, element, edge, nodes);
  for (int p = 0; p < POINTS; ++p) {
    global float* const to = points + POINT_FLOATS * (POINTS * element + p);
    to[3 * NODES] = gradients(nodes, p, gradient);
    for (int i = 0; i < NODES; ++i)
      for (int a = 0; a < 3; ++a) to[3 * i + a] = gradient[i][a];
  }
}

kernel void accumulate(global float const* points, global float* matrices, int elements) {
  int const element = get_global_id(0);
  if (element >= elements) return;
  float matrix[36] = {0}, gradient[NODES][3];
  for (int p = 0; p < POINTS; ++p) {
    global float const* const from = points + POINT_FLOATS * (POINTS * element + p);
    for (int i = 0; i < NODES; ++i)
      for (int a = 0; a < 3; ++a) gradient[i][a] = from[3 * i + a];
    add_point(gradient, from[3 * NODES], matrix);
  }
  for (int i = 0; i < 36; ++i) matrices[36 * element + i] = matrix[i];
}

void add(global float* to, float value) {
  volatile global int* const bits = (volatile global int*)to;
  int old = *bits, seen;
  while ((seen = atomic_cmpxchg(bits, old, as_int(as_float(old) + value))) != old) old = seen;
}

kernel void assemble(global float const* matrices, global int const* columns, global float* values, int edge) {
  int const element = get_global_id(0);
  if (element >= edge * edge * edge) return;
  for (int r = 0, at = 0; r < NODES; ++r)
    for (int c = r; c < NODES; ++c, ++at) {
      float const value = matrices[36 * element + at];
      int const a = node_of(element, r, edge), b = node_of(element, c, edge);
      for (int mirrored = 0; mirrored < (r == c ? 1 : 2); ++mirrored) {
        int const row = mirrored ? b : a, column = mirrored ? a : b;
        int low = 27 * row, high = low + 26;
        while (low < high) {
          int const middle = (low + high) / 2;
          if (columns[middle] < column) low = middle + 1; else high = middle;
        }
        add(&values[low], value);
      }
    }
}

// The columns of the matrix and the coordinates of a unit grid, whose inner nodes are moved a little.
kernel void mesh(global int* columns, global float* coordinates, int edge) {
  int const node = get_global_id(0), side = edge + 1;
  if (node >= side * side * side) return;
  int const x = node % side, y = node / side % side, z = node / (side * side);
  for (int k = 0; k < 27; ++k) columns[27 * node + k] = node + k % 3 - 1 + side * (k / 3 % 3 - 1 + side * (k / 9 - 1));
  float const moved = 0.05f * (node * 7 % 11 - 5) / 5;
  coordinates[3 * node] = x + moved;
  coordinates[3 * node + 1] = y - moved;
  coordinates[3 * node + 2] = z + moved;
}
