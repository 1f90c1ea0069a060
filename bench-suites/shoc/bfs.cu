// Breadth-first search, level by level: one launch per level, one thread per vertex.
//
// A vertex of the current level gives its unvisited neighbours the next level. Several may reach the same neighbour at
// once, and others look at it meanwhile: levels are set by atomics and read as volatile. Neighbours of v:
// edges[offsets[v]] ... edges[offsets[v + 1] - 1]. Blocks of 256.

constexpr unsigned unvisited = 0xffffffffu;

__device__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// Makes the graph: a tree in which vertex v has children degree v + 1 ... degree v + degree, and a chord from each
// vertex v to v + j^2 + 1 for j = 1 ... chords, round a circle; all edges both ways. Vertex 0 has level 0.
extern "C" __global__ void bfs_graph(unsigned* offsets, unsigned* edges, unsigned* levels, unsigned vertices,
                                     unsigned degree, unsigned chords) {
  unsigned const v = global_thread();
  if (v > vertices) return;
  unsigned place = min(v * degree, vertices - 1) + (v > 0 ? v - 1 : 0) + 2 * chords * v;
  offsets[v] = place;
  if (v == vertices) return;
  levels[v] = v == 0 ? 0 : unvisited;
  for (unsigned child = v * degree + 1; child <= v * degree + degree && child < vertices; ++child)
    edges[place++] = child;
  if (v > 0) edges[place++] = (v - 1) / degree;
  for (unsigned j = 1; j <= chords; ++j) {
    edges[place++] = (v + j * j + 1) % vertices;
    edges[place++] = (v + vertices - j * j - 1) % vertices;
  }
}

// *changed becomes 1 where a vertex was found: the host's sign to go on.
extern "C" __global__ void bfs_level(unsigned const* offsets, unsigned const* edges, unsigned* levels,
                                     unsigned* changed, unsigned vertices, unsigned level) {
  unsigned const v = global_thread();
  unsigned const volatile* const now = levels;
  if (v >= vertices || now[v] != level) return;
  for (unsigned i = offsets[v]; i < offsets[v + 1]; ++i) {
    unsigned const neighbour = edges[i];
    if (now[neighbour] == unvisited && atomicCAS(&levels[neighbour], unvisited, level + 1) == unvisited)
      *changed = 1;
  }
}
