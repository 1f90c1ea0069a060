// What draws each kind; one file each.
#pragma once

#include "pictures/figure/figure.hpp"

namespace kernelcast::figure {

void draw_bottlenecks(Rows&, Script&);
void draw_errors(Rows&, Script&);
void draw_latency(Rows&, Script&);
void draw_occupancy(Rows&, Script&);
void draw_parallelism(Rows&, Script&);
void draw_penalty(Rows&, Script&);
void draw_perdome(Rows&, Script&);
void draw_predicted(Rows&, Script&);
void draw_ranking(Rows&, Script&);
void draw_residual(Rows&, Script&);
void draw_roofline(Rows&, Script&);
void draw_scaling(Rows&, Script&);
void draw_schedule(Rows&, Script&);
void draw_stack_distance(Rows&, Script&);

}  // namespace kernelcast::figure
