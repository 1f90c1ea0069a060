// Work-items that store to one place: 1 from all that find something, and 0 or 1.
kernel void same(global int* found, global int const* data) {
  if (data[get_global_id(0)] > 2) found[0] = 1;
}

kernel void parity(global int* found) {
  found[0] = get_global_id(0) % 2;
}
