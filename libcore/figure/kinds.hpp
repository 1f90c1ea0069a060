// What draws each kind; one file each.
#pragma once

#include "figure/figure.hpp"

namespace kernelcast::figure {

void draw_bottlenecks(Rows&, Script&);
void draw_latency(Rows&, Script&);
void draw_occupancy(Rows&, Script&);
void draw_parallelism(Rows&, Script&);
void draw_ranking(Rows&, Script&);
void draw_schedule(Rows&, Script&);
void draw_stack_distance(Rows&, Script&);

}  // namespace kernelcast::figure
