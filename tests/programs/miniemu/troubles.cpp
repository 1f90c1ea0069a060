// An application that makes trouble for an observer. Usage: troubles KIND, the kinds are those below.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../../bench-suites/applications/opencl/app.hpp"

static char const* const source = R"(
__kernel void add(__global int* x, int what) { x[get_global_id(0)] += what; }
__kernel void beyond(__global int* x) { x[get_global_id(0)] += x[get_global_id(0) + get_global_size(0)]; }
)";

namespace {

// Its own OpenCL objects, made, used, and never released.
int work(std::size_t n) {
  App const app;
  std::vector<int> x(n, 1);
  cl_mem const bx = app.buffer(x);
  cl_kernel const add = app.kernel(app.build(source), "add");
  set(add, 0, bx);
  set(add, 1, 41);
  app.launch(add, {n}, {32});
  app.read(bx, x);
  return compare("x", x, std::vector<int>(n, 42));
}

// The kernel reads behind its buffer, which is part of a larger one.
int fault() {
  App const app;
  std::vector<int> x(2048, 1);
  cl_mem const whole = app.buffer(x);
  cl_buffer_region const lower{0, 4096};
  cl_int status = 0;
  cl_mem const part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &lower, &status);
  check(status, "clCreateSubBuffer");
  cl_kernel const beyond = app.kernel(app.build(source), "beyond");
  set(beyond, 0, part);
  app.launch(beyond, {1024}, {64});
  app.read(whole, x);
  std::printf("%d %d\n", x[0], x[2047]);
  return work(128);
}

int in_child(int (*then)()) {
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) std::exit(then());
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d\n", WEXITSTATUS(status));
  return 0;
}

// OpenCL in parent and child, begun after the fork.
int forks() {
  in_child([] { return work(64); });
  return work(256);
}

// A child that ends at once, while a launch of its parent's waits for an event.
int forks_late() {
  App const app(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<int> x(256, 1);
  cl_mem const bx = app.buffer(x);
  cl_kernel const add = app.kernel(app.build(source), "add");
  set(add, 0, bx);
  set(add, 1, 1);
  cl_int status = 0;
  cl_event gate = clCreateUserEvent(app.context, &status), done = nullptr;
  std::size_t const global = 256;
  check(clEnqueueNDRangeKernel(app.queue, add, 1, nullptr, &global, nullptr, 1, &gate, &done), "add");
  in_child([] { return 7; });
  check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  check(clWaitForEvents(1, &done), "clWaitForEvents");
  return work(512);
}

// The OpenCL library opened, used and closed, twice.
int closes() {
  for (int i = 0; i < 2; ++i) {
    void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 9;
    auto const platforms = reinterpret_cast<decltype(&clGetPlatformIDs)>(dlsym(library, "clGetPlatformIDs"));
    cl_uint count = 0;
    check(platforms(0, nullptr, &count), "clGetPlatformIDs");
    if (work(64 * static_cast<std::size_t>(i + 1)) != 0) return 1;
    dlclose(library);
  }
  return 0;
}

// Four threads launch while the process ends.
int leaves() {
  static App const app;
  cl_program const program = app.build(source);
  for (int t = 0; t < 4; ++t)
    std::thread([program, t] {
      cl_command_queue const queue = app.another_queue();
      cl_kernel const add = app.kernel(program, "add");
      std::vector<int> x(4096, 1);
      cl_mem const bx = app.buffer(x);
      set(add, 0, bx);
      set(add, 1, t);
      for (std::size_t n = 32;; n = n % 4096 + 32)
        clEnqueueNDRangeKernel(queue, add, 1, nullptr, &n, nullptr, 0, nullptr, nullptr);
    }).detach();
  int const wrong = work(96);
  std::fflush(stdout);
  std::_Exit(wrong == 0 ? 4 : 1);
}

int interrupted() {
  int const wrong = work(192);
  std::fflush(stdout);
  raise(SIGINT);
  return wrong;
}

// What it was started with is gone before its first launch; but for what the device's own compiler needs.
int clears() {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<std::pair<char const*, std::string>> kept;
  for (char const* const name : {"PATH", "POCL_CACHE_DIR"})
    if (char const* const value = std::getenv(name)) kept.emplace_back(name, value);
  clearenv();
  for (auto const& [name, value] : kept) setenv(name, value.c_str(), 1);
  return work(448);
}

// Says that it is ready, and goes on when it is told to, or when the test is over and its folder gone.
int waits() {
  int const wrong = work(320);
  std::printf("ready\n");
  std::fflush(stdout);
  while (access("go-on", F_OK) != 0 && access("plain.out", F_OK) == 0) usleep(10000);
  return wrong + work(384);
}

}  // namespace

int main(int argc, char** argv) {
  struct {
    char const* name;
    int (*run)();
  } const kinds[] = {{"fault", fault},   {"forks", forks},   {"forks_late", forks_late},
                     {"closes", closes}, {"leaves", leaves}, {"interrupted", interrupted},
                     {"clears", clears}, {"waits", waits}};
  for (auto const& kind : kinds)
    if (argc == 2 && std::strcmp(argv[1], kind.name) == 0) return kind.run();
  return 2;
}
