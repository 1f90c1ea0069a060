/* libkernelcast from C: every status, the order of the ranking, many threads on one database. The kernel is PTX, so
 * that no compiler is needed. */
#include <libkernelcast.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* y[i] = x[i] for the first 2^20 / 4 work-items; the second argument is the length. */
static char const copy[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry copy(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<6>;\n  .reg .b64 %rd<6>;\n"
    "  ld.param.u64 %rd1, [x];\n  ld.param.u64 %rd2, [y];\n  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n  setp.ge.u32 %p1, %r5, %r1;\n  @%p1 bra done;\n"
    "  mul.wide.u32 %rd3, %r5, 4;\n  add.s64 %rd4, %rd1, %rd3;\n  add.s64 %rd5, %rd2, %rd3;\n"
    "  ld.global.u32 %r1, [%rd4];\n  st.global.u32 [%rd5], %r1;\n"
    "done:\n  ret;\n}\n";

static _Atomic int failures;

static void check_at(int line, int holds, char const* text) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "api_test.c:%d: %s; message: %s\n", line, text, kernelcast_message());
}
#define CHECK(condition) check_at(__LINE__, (condition), #condition)
#define GIVES(status, call) check_at(__LINE__, (call) == (status), #call " gives " #status)

/* The cell of the row below a column's name. */
static double cell(char const* csv, char const* column) {
  char const *name = csv, *row = strchr(csv, '\n') + 1;
  size_t const length = strlen(column);
  for (; *name != '\n'; name = strpbrk(name, ",\n") + (*strpbrk(name, ",\n") == ',')) {
    if (strncmp(name, column, length) == 0 && strchr(",\n", name[length])) return atof(row);
    row = strpbrk(row, ",\n") + 1;
  }
  return -1;
}

static kernelcast_launch* launch_of(uint32_t n, void const* x) {
  kernelcast_launch* launch = NULL;
  size_t const global = 4096, local = 128;
  GIVES(KERNELCAST_DONE, kernelcast_launch_create(KERNELCAST_PTX, copy, strlen(copy), "copy", &launch));
  GIVES(KERNELCAST_DONE, kernelcast_launch_size(launch, 1, &global, &local));
  GIVES(KERNELCAST_DONE, kernelcast_launch_buffer(launch, 0, x, 4096 * 4));
  GIVES(KERNELCAST_DONE, kernelcast_launch_buffer(launch, 1, NULL, 4096 * 4));
  GIVES(KERNELCAST_DONE, kernelcast_launch_value(launch, 2, &n, sizeof n));
  GIVES(KERNELCAST_DONE, kernelcast_launch_cache(launch, 0));
  return launch;
}

static void ranks_in_order(kernelcast_database const* database) {
  kernelcast_launch* launch = launch_of(4096, NULL);
  kernelcast_ranking* ranking = NULL;
  char const* devices[] = {"A100", "c1060", "Tesla C2050"};
  size_t i, timed = 0;
  double before = 0;
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, NULL, 0, &ranking));
  CHECK(kernelcast_ranking_count(ranking) == kernelcast_device_count(database));
  for (i = 0; i < kernelcast_ranking_count(ranking); ++i) {
    kernelcast_projection p;
    GIVES(KERNELCAST_DONE, kernelcast_ranking_get(ranking, i, &p, sizeof p));
    CHECK(p.device && p.name && p.limiter && p.status && p.reason);
    if (p.rank == 0) {
      CHECK(isnan(p.time_s) && strcmp(p.status, "ok") != 0 && p.reason[0] != '\0');
      continue;
    }
    CHECK(i == timed); /* those without a time are the last */
    ++timed;
    CHECK(p.time_s >= before && p.relative_time >= 1);
    CHECK(strcmp(p.status, "ok") == 0 || strcmp(p.status, "unvalidated") == 0);
    before = p.time_s;
  }
  CHECK(timed > 10);
  CHECK(kernelcast_ranking_cost_s(ranking) > 0 && kernelcast_ranking_from_cache(ranking) == 0);
  CHECK(strstr(kernelcast_ranking_kernel_csv(ranking), "\ncopy,4096/128,1,32,1,1,128,1,1,32,32,0,") != NULL);
  kernelcast_ranking_destroy(ranking);

  /* Marketing names and ids alike; only those. */
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, devices, 3, &ranking));
  CHECK(kernelcast_ranking_count(ranking) == 3);
  kernelcast_ranking_destroy(ranking);

  /* An older caller knows a shorter structure: nothing beyond is written. */
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, devices, 1, &ranking));
  {
    struct {
      kernelcast_projection p;
    } guarded;
    memset(&guarded, 0x5a, sizeof guarded);
    GIVES(KERNELCAST_DONE, kernelcast_ranking_get(ranking, 0, &guarded.p, offsetof(kernelcast_projection, time_s)));
    CHECK(guarded.p.rank == 1 && ((unsigned char*)&guarded.p.time_s)[0] == 0x5a);
    GIVES(KERNELCAST_USAGE, kernelcast_ranking_get(ranking, 1, &guarded.p, sizeof guarded.p));
  }
  kernelcast_ranking_destroy(ranking);
  kernelcast_launch_destroy(launch);
}

static void reads_buffers_and_counts_groups(kernelcast_database const* database) {
  /* All groups do as many times the work of one; a kernel that ends at once does less. */
  uint32_t* x = calloc(4096, 4);
  kernelcast_launch* launch = launch_of(4096, x);
  kernelcast_ranking *one = NULL, *all = NULL, *none = NULL;
  uint32_t const nothing = 0;
  char const* device = "a100";
  GIVES(KERNELCAST_DONE, kernelcast_launch_groups(launch, 1));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &one));
  CHECK(strstr(kernelcast_ranking_kernel_csv(one), "\ncopy,4096/128,1,32,1,1,128,1,1,32,1,0,") != NULL);
  GIVES(KERNELCAST_DONE, kernelcast_launch_groups(launch, 0));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &all));
  CHECK(strstr(kernelcast_ranking_kernel_csv(all), "\ncopy,4096/128,1,32,1,1,128,1,1,32,32,0,") != NULL);
  GIVES(KERNELCAST_DONE, kernelcast_launch_value(launch, 2, &nothing, sizeof nothing));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &none));
  {
    kernelcast_projection first, whole, idle;
    GIVES(KERNELCAST_DONE, kernelcast_ranking_get(one, 0, &first, sizeof first));
    GIVES(KERNELCAST_DONE, kernelcast_ranking_get(all, 0, &whole, sizeof whole));
    GIVES(KERNELCAST_DONE, kernelcast_ranking_get(none, 0, &idle, sizeof idle));
    CHECK(first.time_s == whole.time_s); /* every group does the same */
    CHECK(idle.time_s < whole.time_s);
  }
  kernelcast_ranking_destroy(one);
  kernelcast_ranking_destroy(all);
  kernelcast_ranking_destroy(none);
  kernelcast_launch_destroy(launch);
  free(x);
}

static void refuses(kernelcast_database const* database) {
  kernelcast_database* bad = NULL;
  kernelcast_launch* launch = NULL;
  kernelcast_ranking* ranking = NULL;
  size_t const global = 100, local = 64;
  char const *unknown = "b4000", *null_device = NULL;
  uint32_t const too_long = 1u << 20;
  GIVES(KERNELCAST_IO, kernelcast_database_open("/nonexistent", &bad));
  CHECK(bad == NULL && strstr(kernelcast_message(), "/nonexistent") != NULL);
  GIVES(KERNELCAST_USAGE, kernelcast_database_open(NULL, NULL));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_create(KERNELCAST_PTX, NULL, 0, "copy", &launch));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_create(7, copy, 1, "copy", &launch));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_option(NULL, "-DN=1"));

  GIVES(KERNELCAST_DONE, kernelcast_launch_create(KERNELCAST_PTX, "no ptx", 6, "copy", &launch));
  GIVES(KERNELCAST_USAGE, kernelcast_project(database, launch, NULL, 0, &ranking)); /* no size */
  GIVES(KERNELCAST_USAGE, kernelcast_launch_size(launch, 1, &global, &local));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_size(launch, 4, &global, NULL));
  GIVES(KERNELCAST_DONE, kernelcast_launch_size(launch, 1, &global, NULL)); /* 100: one group of 100 */
  GIVES(KERNELCAST_DONE, kernelcast_launch_cache(launch, 0));
  GIVES(KERNELCAST_BAD_DATA, kernelcast_project(database, launch, NULL, 0, &ranking));
  CHECK(ranking == NULL && strstr(kernelcast_message(), "error") != NULL);
  kernelcast_launch_destroy(launch);

  launch = launch_of(4096, NULL);
  GIVES(KERNELCAST_UNAVAILABLE, kernelcast_project(database, launch, &unknown, 1, &ranking));
  GIVES(KERNELCAST_USAGE, kernelcast_project(database, launch, &null_device, 1, &ranking));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_limit(launch, 0, -1));
  GIVES(KERNELCAST_DONE, kernelcast_launch_limit(launch, 1, 0));
  GIVES(KERNELCAST_LIMIT, kernelcast_project(database, launch, NULL, 0, &ranking));
  GIVES(KERNELCAST_DONE, kernelcast_launch_limit(launch, 0, 0));
  GIVES(KERNELCAST_DONE, kernelcast_launch_groups(launch, 0));
  GIVES(KERNELCAST_DONE, kernelcast_launch_buffer(launch, 1, NULL, 1024));
  GIVES(KERNELCAST_DONE, kernelcast_launch_value(launch, 2, &too_long, sizeof too_long));
  GIVES(KERNELCAST_FINDING, kernelcast_project(database, launch, NULL, 0, &ranking));
  CHECK(strstr(kernelcast_message(), "buffer 'y' (1024 bytes)") != NULL);
  GIVES(KERNELCAST_DONE, kernelcast_launch_same_buffer(launch, 1, 0));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, NULL, 0, &ranking));
  CHECK(cell(kernelcast_ranking_kernel_csv(ranking), "global_store_bytes") == 4 * 4096);
  kernelcast_ranking_destroy(ranking);
  GIVES(KERNELCAST_USAGE, kernelcast_launch_times(launch, 0));
  GIVES(KERNELCAST_DONE, kernelcast_launch_times(launch, 5));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, NULL, 0, &ranking));
  CHECK(cell(kernelcast_ranking_kernel_csv(ranking), "launches") == 5);
  CHECK(cell(kernelcast_ranking_kernel_csv(ranking), "global_store_bytes") == 5 * 4 * 4096);
  kernelcast_ranking_destroy(ranking);
  GIVES(KERNELCAST_DONE, kernelcast_launch_same_buffer(launch, 0, 1));
  GIVES(KERNELCAST_USAGE, kernelcast_project(database, launch, NULL, 0, &ranking));
  GIVES(KERNELCAST_DONE, kernelcast_launch_null(launch, 5));
  GIVES(KERNELCAST_USAGE, kernelcast_project(database, launch, NULL, 0, &ranking)); /* 3 and 4 are missing */
  kernelcast_launch_destroy(launch);

  /* Nothing is harmless everywhere. */
  kernelcast_launch_destroy(NULL);
  kernelcast_ranking_destroy(NULL);
  kernelcast_database_close(NULL);
  CHECK(kernelcast_device_count(NULL) == 0 && kernelcast_device_id(database, 1u << 30) == NULL);
}

/* Stores its id where the texel of its place is not 0; the first argument is an image of one row. */
static char const marked[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry marked(.param .u64 image, .param .u64 y) {\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<6>;\n  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [image];\n  ld.param.u64 %rd2, [y];\n"
    "  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 2;\n  mov.u32 %r3, 0;\n"
    "  suld.b.2d.b32.trap {%r4}, [%rd1, {%r2, %r3}];\n"
    "  setp.eq.u32 %p1, %r4, 0;\n  @%p1 bra done;\n"
    "  mul.wide.u32 %rd3, %r1, 4;\n  add.s64 %rd2, %rd2, %rd3;\n  st.global.u32 [%rd2], %r1;\n"
    "done:\n  ret;\n}\n";

static void reads_images(kernelcast_database const* database) {
  enum { width = 64, set = 5 };
  uint32_t texels[width] = {0};
  size_t const global = width;
  char const* device = "a100";
  kernelcast_launch* launch = NULL;
  kernelcast_ranking* ranking = NULL;
  int i;
  for (i = 0; i < set; ++i) texels[7 * i] = 1;
  GIVES(KERNELCAST_DONE, kernelcast_launch_create(KERNELCAST_PTX, marked, strlen(marked), "marked", &launch));
  GIVES(KERNELCAST_DONE, kernelcast_launch_size(launch, 1, &global, &global));
  GIVES(KERNELCAST_DONE, kernelcast_launch_buffer(launch, 1, NULL, width * 4));
  GIVES(KERNELCAST_DONE, kernelcast_launch_cache(launch, 0));
  GIVES(KERNELCAST_DONE, kernelcast_launch_image(launch, 0, "surface2d:r32ui:64x1", texels, sizeof texels));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &ranking));
  CHECK(cell(kernelcast_ranking_kernel_csv(ranking), "global_store_bytes") == set * 4);
  CHECK(cell(kernelcast_ranking_kernel_csv(ranking), "texture_bytes") == sizeof texels);
  kernelcast_ranking_destroy(ranking);
  GIVES(KERNELCAST_DONE, kernelcast_launch_image(launch, 0, "surface2d:r32ui:64x1", NULL, sizeof texels));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &ranking));
  CHECK(cell(kernelcast_ranking_kernel_csv(ranking), "global_store_bytes") == 0);
  kernelcast_ranking_destroy(ranking);

  /* What is refused leaves the argument as it was. */
  GIVES(KERNELCAST_USAGE, kernelcast_launch_image(launch, 0, "surface2d:r32ui:64x1", texels, 4));
  CHECK(strstr(kernelcast_message(), "256") != NULL);
  GIVES(KERNELCAST_USAGE, kernelcast_launch_image(launch, 0, "image2d:rgab8:64x64", NULL, 4));
  CHECK(strstr(kernelcast_message(), "unknown format 'rgab8'") != NULL);
  GIVES(KERNELCAST_USAGE, kernelcast_launch_image(launch, 0, "buf:f32:4", NULL, 16));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_image(launch, 0, NULL, NULL, 16));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_image(NULL, 0, "surface2d:r32ui:64x1", NULL, sizeof texels));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_sampler(launch, 0, "linaer"));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &ranking));
  kernelcast_ranking_destroy(ranking);
  GIVES(KERNELCAST_DONE, kernelcast_launch_same_buffer(launch, 1, 0)); /* an image, where a buffer is wanted */
  GIVES(KERNELCAST_USAGE, kernelcast_project(database, launch, &device, 1, &ranking));
  GIVES(KERNELCAST_DONE, kernelcast_launch_sampler(launch, 0, "linear,clamp,normalized"));
  kernelcast_launch_destroy(launch);
}

static void writes_outputs_back(kernelcast_database const* database) {
  static uint32_t x[4096], y[4096];
  uint32_t const n = 4096, too_long = 1u << 20;
  char const* device = "a100";
  kernelcast_launch* launch = launch_of(n, x);
  kernelcast_ranking *counted = NULL, *projected = NULL;
  int i;
  for (i = 0; i < 4096; ++i) x[i] = 7u * (uint32_t)i;
  GIVES(KERNELCAST_USAGE, kernelcast_launch_output(launch, 1, NULL, sizeof y));
  GIVES(KERNELCAST_USAGE, kernelcast_launch_output(launch, 1, y, 0));
  GIVES(KERNELCAST_DONE, kernelcast_launch_output(launch, 1, y, sizeof y));
  GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, &device, 1, &projected));
  CHECK(y[1] == 0); /* it is emulate() that writes back */
  GIVES(KERNELCAST_DONE, kernelcast_emulate(launch, &counted));
  CHECK(memcmp(x, y, sizeof y) == 0);
  CHECK(kernelcast_ranking_count(counted) == 0 && kernelcast_ranking_from_cache(counted) == 0);
  CHECK(strstr(kernelcast_ranking_kernel_csv(counted), "\ncopy,4096/128,1,32,1,1,128,1,1,32,32,0,") != NULL);
  kernelcast_ranking_destroy(counted);
  kernelcast_ranking_destroy(projected);

  memset(y, 0, sizeof y);
  GIVES(KERNELCAST_DONE, kernelcast_launch_groups(launch, 1));
  GIVES(KERNELCAST_DONE, kernelcast_emulate(launch, &counted));
  CHECK(y[127] == x[127] && y[128] == 0);
  kernelcast_ranking_destroy(counted);

  memset(y, 0, sizeof y);
  GIVES(KERNELCAST_DONE, kernelcast_launch_groups(launch, 0));
  GIVES(KERNELCAST_DONE, kernelcast_launch_value(launch, 2, &too_long, sizeof too_long));
  GIVES(KERNELCAST_DONE, kernelcast_launch_output(launch, 1, y, 1024));
  GIVES(KERNELCAST_FINDING, kernelcast_emulate(launch, &counted));
  CHECK(counted == NULL && y[1] == 0);
  GIVES(KERNELCAST_USAGE, kernelcast_emulate(NULL, &counted));
  GIVES(KERNELCAST_USAGE, kernelcast_emulate(launch, NULL));
  kernelcast_launch_destroy(launch);
}

enum { threads = 8, rounds = 4 };

static void* ask(void* database) {
  kernelcast_launch* launch = launch_of(4096, NULL);
  char const* devices[] = {"a100", "nothing"};
  double* time_s = malloc(sizeof *time_s);
  int round;
  for (round = 0; round < rounds; ++round) {
    kernelcast_ranking* ranking = NULL;
    kernelcast_projection p;
    GIVES(KERNELCAST_UNAVAILABLE, kernelcast_project(database, launch, devices, 2, &ranking));
    CHECK(strstr(kernelcast_message(), "nothing") != NULL); /* the message is this thread's own */
    GIVES(KERNELCAST_DONE, kernelcast_project(database, launch, devices, 1, &ranking));
    GIVES(KERNELCAST_DONE, kernelcast_ranking_get(ranking, 0, &p, sizeof p));
    *time_s = p.time_s;
    kernelcast_ranking_destroy(ranking);
  }
  kernelcast_launch_destroy(launch);
  return time_s;
}

static void serves_many_threads(kernelcast_database* database) {
  pthread_t running[threads];
  double first = 0;
  int i;
  for (i = 0; i < threads; ++i) pthread_create(&running[i], NULL, ask, database);
  for (i = 0; i < threads; ++i) {
    void* time_s = NULL;
    pthread_join(running[i], &time_s);
    if (i == 0) first = *(double*)time_s;
    CHECK(*(double*)time_s == first && first > 0);
    free(time_s);
  }
}

int main(void) {
  kernelcast_database* database = NULL;
  CHECK(strchr(kernelcast_version(), '.') != NULL);
  GIVES(KERNELCAST_DONE, kernelcast_database_open(NULL, &database));
  if (!database) return 1;
  CHECK(kernelcast_device_count(database) > 20);
  CHECK(kernelcast_device_id(database, 0) && kernelcast_device_name(database, 0));
  ranks_in_order(database);
  reads_buffers_and_counts_groups(database);
  reads_images(database);
  refuses(database);
  writes_outputs_back(database);
  serves_many_threads(database);
  kernelcast_database_close(database);
  if (failures == 0) puts("libkernelcast: all calls as documented");
  return failures != 0;
}
