/* An image that is read through a sampler, and one that is written: which of the database's GPUs blurs fastest?
 *
 *   cc images.c $(pkg-config --cflags --libs libkernelcast) -o images && ./images
 */
#include <libkernelcast.h>
#include <stdio.h>
#include <string.h>

static char const source[] =
    "__kernel void blur(__read_only image2d_t from, __write_only image2d_t to, sampler_t sampler) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  float4 sum = 0;\n"
    "  for (int y = -1; y <= 1; ++y)\n"
    "    for (int x = -1; x <= 1; ++x) sum += read_imagef(from, sampler, at + (int2)(x, y));\n"
    "  write_imagef(to, at, sum / 9);\n"
    "}\n";

enum { width = 640, height = 480 };
static unsigned char picture[height][width][4];

static int failed(char const* what, kernelcast_status status) {
  if (status == KERNELCAST_DONE) return 0;
  fprintf(stderr, "%s: %s\n", what, kernelcast_message());
  return 1;
}

int main(void) {
  kernelcast_database* database = NULL;
  kernelcast_launch* launch = NULL;
  kernelcast_ranking* ranking = NULL;
  size_t const global[2] = {width, height}, local[2] = {16, 16};
  char const* image = "image2d:rgba8:640x480";
  int bad = failed("database", kernelcast_database_open(NULL, &database)) ||
            failed("launch", kernelcast_launch_create(KERNELCAST_OPENCL_C, source, strlen(source), "blur", &launch)) ||
            failed("size", kernelcast_launch_size(launch, 2, global, local)) ||
            failed("from", kernelcast_launch_image(launch, 0, image, picture, sizeof picture)) ||
            failed("to", kernelcast_launch_image(launch, 1, image, NULL, sizeof picture)) ||
            failed("sampler", kernelcast_launch_sampler(launch, 2, "nearest,clamp")) ||
            failed("project", kernelcast_project(database, launch, NULL, 0, &ranking));
  if (!bad) {
    size_t i;
    for (i = 0; i < kernelcast_ranking_count(ranking) && i < 5; ++i) {
      kernelcast_projection p;
      if (failed("get", kernelcast_ranking_get(ranking, i, &p, sizeof p)) || p.rank == 0) break;
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
