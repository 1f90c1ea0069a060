// All-pairs shortest paths, Floyd and Warshall: one launch per intermediate node, one work-item per pair of nodes.
//
// distance[from * nodes + to] holds the shortest distance that uses nodes below `middle` only; after the launch,
// `middle` too. via[] remembers the last intermediate node. Row and column `middle` do not change during their own
// launch (distances are not negative), so work-items need not wait for each other. Groups of 16 x 16.
__kernel void floyd_warshall_pass(__global uint* distance, __global uint* via, const uint nodes, const uint middle) {
  const uint to = get_global_id(0);
  const uint from = get_global_id(1);
  const uint direct = distance[from * nodes + to];
  const uint detour = distance[from * nodes + middle] + distance[middle * nodes + to];
  if (detour < direct) {
    distance[from * nodes + to] = detour;
    via[from * nodes + to] = middle;
  }
}
