// Breadth-first search, level by level: one launch per level, one work-item per vertex.
//
// A vertex of the current level gives its unvisited neighbours the next level. Several may reach the same neighbour at
// once, and others look at it meanwhile: levels are set by atomics and read as volatile. Neighbours of v:
// edges[offsets[v]] ... edges[offsets[v + 1] - 1]. Groups of 256.

#define UNVISITED 0xffffffffu

// Makes the graph: a tree in which vertex v has children degree v + 1 ... degree v + degree, and a chord from each
// vertex v to v + j^2 + 1 for j = 1 ... chords, round a circle; all edges both ways. Vertex 0 has level 0.
__kernel void bfs_graph(__global uint* offsets, __global uint* edges, __global uint* levels, uint const vertices,
                        uint const degree, uint const chords) {
  uint const v = get_global_id(0);
  if (v > vertices) return;
  uint place = min(v * degree, vertices - 1) + (v > 0 ? v - 1 : 0) + 2 * chords * v;
  offsets[v] = place;
  if (v == vertices) return;
  levels[v] = v == 0 ? 0 : UNVISITED;
  for (uint child = v * degree + 1; child <= v * degree + degree && child < vertices; ++child) edges[place++] = child;
  if (v > 0) edges[place++] = (v - 1) / degree;
  for (uint j = 1; j <= chords; ++j) {
    edges[place++] = (v + j * j + 1) % vertices;
    edges[place++] = (v + vertices - j * j - 1) % vertices;
  }
}

// *changed becomes 1 where a vertex was found: the host's sign to go on.
__kernel void bfs_level(__global uint const* offsets, __global uint const* edges, __global uint* levels,
                        __global uint* changed, uint const vertices, uint const level) {
  uint const v = get_global_id(0);
  __global uint const volatile* const now = levels;
  if (v >= vertices || now[v] != level) return;
  for (uint i = offsets[v]; i < offsets[v + 1]; ++i) {
    uint const neighbour = edges[i];
    if (now[neighbour] == UNVISITED && atomic_cmpxchg(&levels[neighbour], UNVISITED, level + 1) == UNVISITED)
      *changed = 1;
  }
}
