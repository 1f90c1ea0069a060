/* Which of the database's GPUs runs a saxpy fastest? The five fastest, and what the answer cost.
 *
 *   cc project.c $(pkg-config --cflags --libs libkernelcast) -o project && ./project
 */
#include <libkernelcast.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char const source[] =
    "__kernel void saxpy(__global const float* x, __global float* y, float a, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) y[i] += a * x[i];\n"
    "}\n";

static int failed(char const* what, kernelcast_status status) {
  if (status == KERNELCAST_DONE) return 0;
  fprintf(stderr, "%s: %s\n", what, kernelcast_message());
  return 1;
}

int main(void) {
  kernelcast_database* database = NULL;
  kernelcast_launch* launch = NULL;
  kernelcast_ranking* ranking = NULL;
  int const n = 1 << 20;
  float const a = 2.5f;
  size_t const global = (size_t)n, local = 256, bytes = (size_t)n * sizeof(float);
  int bad = failed("database", kernelcast_database_open(NULL, &database)) ||
            failed("launch", kernelcast_launch_create(KERNELCAST_OPENCL_C, source, strlen(source), "saxpy", &launch)) ||
            failed("size", kernelcast_launch_size(launch, 1, &global, &local)) ||
            failed("x", kernelcast_launch_buffer(launch, 0, NULL, bytes)) ||
            failed("y", kernelcast_launch_buffer(launch, 1, NULL, bytes)) ||
            failed("a", kernelcast_launch_value(launch, 2, &a, sizeof a)) ||
            failed("n", kernelcast_launch_value(launch, 3, &n, sizeof n)) ||
            failed("project", kernelcast_project(database, launch, NULL, 0, &ranking));
  if (!bad) {
    size_t i;
    for (i = 0; i < kernelcast_ranking_count(ranking) && i < 5; ++i) {
      kernelcast_projection p;
      if (failed("get", kernelcast_ranking_get(ranking, i, &p, sizeof p)) || isnan(p.time_s)) break;
      printf("%2u  %-12s %10.3e s  %s\n", (unsigned)p.rank, p.device, p.time_s, p.limiter);
    }
    fprintf(stderr, "%u devices in %.1f ms%s\n", (unsigned)kernelcast_ranking_count(ranking),
            1e3 * kernelcast_ranking_cost_s(ranking), kernelcast_ranking_from_cache(ranking) ? ", from the cache" : "");
  }
  kernelcast_ranking_destroy(ranking);
  kernelcast_launch_destroy(launch);
  kernelcast_database_close(database);
  return bad;
}
