// OpenCL's host interface against its specification, by closed forms and models on the host. Usage: platform [GROUP...],
// the groups are those at the end, without one all. Prints each violation and, where there is none, how many checks held.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "../../../bench-suites/applications/opencl/app.hpp"

namespace {

using Bytes = std::vector<cl_uchar>;
using Range = std::array<std::size_t, 3>;

char const* group = "";
int checks = 0, failures = 0;
bool ours = false;  // the device is one on the emulator

void verdict(bool holds, std::string const& what, std::string const& expected, std::string const& have) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s: %s, expected %s, got %s\n", group, what.c_str(), expected.c_str(), have.c_str());
  std::fflush(stdout);
}
template <std::integral A, std::integral B>
void expect(std::string const& what, A expected, B have) {
  verdict(static_cast<long long>(expected) == static_cast<long long>(have), what, std::to_string(expected),
          std::to_string(have));
}
void expect_handle(std::string const& what, void const* expected, void const* have) {
  std::ostringstream a, b;
  a << expected, b << have;
  verdict(have == expected, what, a.str(), b.str());
}
void expect_text(std::string const& what, std::string const& expected, std::string const& have) {
  verdict(have == expected, what, '"' + expected + '"', '"' + have + '"');
}
template <class T>
void expect_all(std::string const& what, std::vector<T> const& expected, std::vector<T> const& have) {
  std::size_t i = 0;
  while (i < expected.size() && i < have.size() && expected[i] == have[i]) ++i;
  auto const text = [&](auto const& in) { return i < in.size() ? std::to_string(in[i]) : std::string("none"); };
  verdict(expected == have, what + " [" + std::to_string(i) + "]", text(expected), text(have));
}

// The status of a call that makes something, and gives it with CL_SUCCESS alone.
template <class F, class... A>
cl_int code(F* make, A... with) {
  cl_int status = 1;
  bool const none = make(with..., &status) == nullptr;
  expect("what a call gives is null where it fails", status != CL_SUCCESS, none);
  return status;
}
template <class F, class... A>
auto made(F* make, A... with) {
  cl_int status = 1;
  auto const out = make(with..., &status);
  check(status, group);
  return out;
}
// A call that enqueues, without events.
template <class F, class... A>
cl_int enqueue(F* call, A... with) {
  return call(with..., 0, nullptr, nullptr);
}
template <class T, class F, class... A>
T info(F* get, A... of) {
  T out{};
  expect("status of a query", CL_SUCCESS, get(of..., sizeof out, &out, nullptr));
  return out;
}
// By the rules of all queries: the size alone, a capacity that is too small, and one that is enough.
template <class F, class... A>
std::string query(std::string const& what, F* get, A... of) {
  std::size_t bytes = 0, again = 0;
  expect(what, CL_SUCCESS, get(of..., 0, nullptr, &bytes));
  std::string out(bytes + 1, '\x55');
  if (bytes > 0) expect(what + ", little capacity", CL_INVALID_VALUE, get(of..., bytes - 1, out.data(), nullptr));
  expect(what + ", enough", CL_SUCCESS, get(of..., bytes, bytes > 0 ? out.data() : nullptr, &again));
  expect(what + ", size", bytes, again);
  expect(what + ", what lies behind", 0x55, out[bytes]);
  out.resize(bytes);
  return out;
}
template <class T, class F, class... A>
std::vector<T> list(std::string const& what, F* get, A... of) {
  auto const bytes = query(what, get, of...);
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}
template <class F, class... A>
std::string text(std::string const& what, F* get, A... of) {
  auto const out = query(what, get, of...);
  expect(what + " ends with its only NUL", out.size() - 1, out.find('\0'));
  return out.c_str();
}

std::mt19937 randoms(1);
std::size_t below(std::size_t n) { return randoms() % n; }
Bytes random_bytes(std::size_t n) {
  Bytes out(n);
  for (auto& b : out) b = static_cast<cl_uchar>(randoms());
  return out;
}
// Waits for what a thread of the platform may do.
bool eventually(std::function<bool()> const& holds) {
  for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holds();
}
Bytes content(App const& app, cl_mem buffer) {
  Bytes out(info<std::size_t>(clGetMemObjectInfo, buffer, CL_MEM_SIZE));
  app.read(buffer, out);
  return out;
}
int first_int(App const& app, cl_mem buffer) {
  std::vector<int> out(1);
  app.read(buffer, out);
  return out[0];
}
cl_int status_of(cl_event event) { return info<cl_int>(clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS); }
std::atomic<int> calls{0};
void CL_CALLBACK count_event(cl_event, cl_int status, void* last) {
  if (last) *static_cast<std::atomic<int>*>(last) = status;
  ++calls;
}

char const* const source = R"(
__kernel void put(__global int* out, int value) { out[get_global_id(0) - get_global_offset(0)] = value; }
__kernel void ids(__global ulong* out, __global ulong* sizes) {
  ulong at = 0, all = get_work_dim();
  for (int d = 2; d >= 0; --d) {
    at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);
    all = all * 31 + get_global_id(d) * 7 + get_local_id(d) * 5 + get_group_id(d) * 3 + get_num_groups(d);
    sizes[d] = get_local_size(d);
  }
  out[at] = all;
}
__kernel void turn(__global int* x, __local int* part) {
  size_t const i = get_local_id(0), n = get_local_size(0);
  part[i] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = part[n - 1 - i];
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eights(__global int* x) { x[get_global_id(0)] = 8; }
__kernel void described(__global const float* restrict a, __constant uint4* b, __local int* c, unsigned int d,
                        __read_only image2d_t e, sampler_t f, __global volatile int* g, __write_only image2d_t h,
                        int3 i) {}
typedef struct Node { __global struct Node* next; int value; } Node;
__kernel void follow(__global Node* first) { for (__global Node* n = first; n; n = n->next) n->value *= 3; }
)";

// ---------------------------------------------------------------- platform, device, context, queue

// The least values that the specification wants, and their bytes.
constexpr struct {
  cl_device_info what;
  std::size_t bytes;
  cl_ulong least;
} numbers[] = {{CL_DEVICE_TYPE, 8, 1},
               {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4, 3},
               {CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 1},
               {CL_DEVICE_MAX_READ_IMAGE_ARGS, 4, 128},
               {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4, 64},
               {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, 16384},
               {CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, 2048},
               {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, 65536},
               {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8, 2048},
               {CL_DEVICE_MAX_SAMPLERS, 4, 16},
               {CL_DEVICE_MAX_PARAMETER_SIZE, 8, 1024},
               {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4, 1024},
               {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8, 65536},
               {CL_DEVICE_MAX_CONSTANT_ARGS, 4, 8},
               {CL_DEVICE_LOCAL_MEM_SIZE, 8, 32768},
               {CL_DEVICE_EXECUTION_CAPABILITIES, 8, 1},
               {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, 8, 2},
               {CL_DEVICE_PRINTF_BUFFER_SIZE, 8, 1 << 20},
               {CL_DEVICE_REFERENCE_COUNT, 4, 1}};

cl_ulong number(App const& app, cl_device_info what) {
  cl_ulong out = 0;
  clGetDeviceInfo(app.device, what, sizeof out, &out, nullptr);
  return out;
}
// "3.0" of what begins with the prefix and has a space behind the number.
std::string version_in(std::string const& words, std::string const& prefix) {
  auto const end = words.find(' ', prefix.size());
  verdict(words.starts_with(prefix) && end != words.npos, "form of a version", prefix + "N.N ", words);
  return words.substr(prefix.size(), end - prefix.size());
}
std::string versions_of(std::vector<cl_name_version> const& all) {
  std::string out;
  for (auto const& [v, name] : all)
    out += std::string(name) + ' ' + std::to_string(CL_VERSION_MAJOR(v)) + '.' + std::to_string(CL_VERSION_MINOR(v)) + ';';
  return out;
}
std::vector<std::string> words_of(std::string const& names) {
  std::istringstream in(names);
  std::vector<std::string> out;
  for (std::string name; in >> name;) out.push_back(name);
  std::ranges::sort(out);
  return out;
}

void devices(App const& app) {
  auto* const platform = info<cl_platform_id>(clGetDeviceInfo, app.device, CL_DEVICE_PLATFORM);
  for (auto const what : {CL_PLATFORM_PROFILE, CL_PLATFORM_NAME, CL_PLATFORM_VENDOR})
    text("platform " + std::to_string(what), clGetPlatformInfo, platform, what);
  for (auto const what : {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_DEVICE_PROFILE})
    text("device " + std::to_string(what), clGetDeviceInfo, app.device, what);
  version_in(text("platform's version", clGetPlatformInfo, platform, CL_PLATFORM_VERSION), "OpenCL ");
  auto const version = version_in(text("version", clGetDeviceInfo, app.device, CL_DEVICE_VERSION), "OpenCL ");
  auto const of_c = version_in(text("C's", clGetDeviceInfo, app.device, CL_DEVICE_OPENCL_C_VERSION), "OpenCL C ");
  for (auto const& [what, bytes, least] : numbers) {
    auto const name = "device " + std::to_string(what);
    expect(name + " bytes", bytes, query(name, clGetDeviceInfo, app.device, what).size());
    verdict(number(app, what) >= least, name, "at least " + std::to_string(least), std::to_string(number(app, what)));
  }
  auto const quarter = std::min<cl_ulong>(number(app, CL_DEVICE_GLOBAL_MEM_SIZE) / 4, 1 << 30);
  expect("an allocation has a quarter of all", true, number(app, CL_DEVICE_MAX_MEM_ALLOC_SIZE) >= quarter);
  expect("sizes, one a dimension", number(app, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS),
         list<std::size_t>("sizes", clGetDeviceInfo, app.device, CL_DEVICE_MAX_WORK_ITEM_SIZES).size());
  if (version >= "3.0") {
    auto const numeric = info<cl_version>(clGetDeviceInfo, app.device, CL_DEVICE_NUMERIC_VERSION);
    expect_text("numeric version", ' ' + version + ';', versions_of({{numeric, ""}}));
    auto const names = words_of(text("extensions", clGetDeviceInfo, app.device, CL_DEVICE_EXTENSIONS));
    auto const with = list<cl_name_version>("", clGetDeviceInfo, app.device, CL_DEVICE_EXTENSIONS_WITH_VERSION);
    std::vector<std::string> again;
    for (auto const& one : with) again.emplace_back(one.name);
    std::ranges::sort(again);
    verdict(names == again, "extensions with versions", std::to_string(names.size()) + " of the same names",
            std::to_string(again.size()) + " names");
    auto const all = versions_of(list<cl_name_version>("C", clGetDeviceInfo, app.device, CL_DEVICE_OPENCL_C_ALL_VERSIONS));
    for (auto const& one : {std::string("1.0"), std::string("1.1"), std::string("1.2"), std::string("3.0"), of_c})
      verdict(all.find("OpenCL C " + one + ';') != all.npos, "all versions of C", one, all);
  }
  cl_device_id device = nullptr;
  cl_uint count = 0;
  cl_platform_id none = nullptr;
  expect("platforms to nowhere", CL_INVALID_VALUE, clGetPlatformIDs(0, nullptr, nullptr));
  expect("platforms, no entries", CL_INVALID_VALUE, clGetPlatformIDs(0, &none, nullptr));
  expect("devices", CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, &count));
  expect("devices of the default type", 1, count);
  expect("devices, no entries", CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, nullptr));
  expect("devices to nowhere", CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr));
  expect("devices of no type", CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 0, 1, &device, nullptr));
  expect("custom devices", CL_DEVICE_NOT_FOUND, clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 1, &device, nullptr));
  expect("unknown query", CL_INVALID_VALUE, clGetDeviceInfo(app.device, 0x9999, 0, nullptr, nullptr));
  expect("unknown query of a platform", CL_INVALID_VALUE, clGetPlatformInfo(platform, 0x9999, 0, nullptr, nullptr));
  expect("null device", CL_INVALID_DEVICE, clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr));
  expect("retain a whole device", CL_SUCCESS, clRetainDevice(app.device));
  expect("its references", 1, info<cl_uint>(clGetDeviceInfo, app.device, CL_DEVICE_REFERENCE_COUNT));
  expect("parts without properties", CL_INVALID_VALUE, clCreateSubDevices(app.device, nullptr, 1, &device, &count));
  cl_ulong before = 0, after = 0, of_device = 0;
  if (number(app, CL_DEVICE_NUMERIC_VERSION) &&
      info<cl_ulong>(clGetPlatformInfo, platform, CL_PLATFORM_HOST_TIMER_RESOLUTION)) {
    expect("clGetHostTimer", CL_SUCCESS, clGetHostTimer(app.device, &before));
    expect("clGetDeviceAndHostTimer", CL_SUCCESS, clGetDeviceAndHostTimer(app.device, &of_device, &after));
    expect("time passes", true, after >= before && before > 0);
  }
}

// Retains and releases, by what the query of the count gives.
template <class H, class Get, class Count>
void counted(char const* what, H object, Get* get, cl_uint query_of, Count* retain, Count* release, cl_int invalid) {
  auto const count = [&] { return info<cl_uint>(get, object, query_of); };
  expect(what, 1, count());
  expect(what, CL_SUCCESS, retain(object));
  expect(what, 2, count());
  expect(what, CL_SUCCESS, release(object));
  expect(what, 1, count());
  expect(std::string(what) + ", null", invalid, retain(nullptr));
  expect(std::string(what) + ", null", invalid, release(nullptr));
  expect(std::string(what) + ", null", invalid, get(nullptr, query_of, 0, nullptr, nullptr));
  expect(std::string(what) + ", unknown query", CL_INVALID_VALUE, get(object, 0x9999, 0, nullptr, nullptr));
}

std::string order;  // of destructor callbacks
void CL_CALLBACK context_gone(cl_context, void* name) { order += static_cast<char const*>(name); }
void CL_CALLBACK memory_gone(cl_mem, void* name) { order += static_cast<char const*>(name); }
char a_name[] = "a", b_name[] = "b", c_name[] = "c";

void contexts(App const& app) {
  using P = cl_context_properties;
  auto const platform = reinterpret_cast<P>(info<cl_platform_id>(clGetDeviceInfo, app.device, CL_DEVICE_PLATFORM));
  P const good[] = {CL_CONTEXT_PLATFORM, platform, 0}, unknown[] = {CL_CONTEXT_PLATFORM, platform, 0x9999, 1, 0},
          twice[] = {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM, platform, 0};
  cl_device_id const device[] = {app.device, nullptr};
  int data = 0;
  expect("no devices", CL_INVALID_VALUE, code(clCreateContext, good, 0, device, nullptr, nullptr));
  expect("null devices", CL_INVALID_VALUE, code(clCreateContext, good, 1, nullptr, nullptr, nullptr));
  expect("data alone", CL_INVALID_VALUE, code(clCreateContext, good, 1, device, nullptr, &data));
  expect("a null device", CL_INVALID_DEVICE, code(clCreateContext, good, 2, device, nullptr, nullptr));
  expect("a null device, no properties", CL_INVALID_DEVICE, code(clCreateContext, nullptr, 2, device, nullptr, nullptr));
  expect("unknown property", CL_INVALID_PROPERTY, code(clCreateContext, unknown, 1, device, nullptr, nullptr));
  expect("property twice", CL_INVALID_PROPERTY, code(clCreateContext, twice, 1, device, nullptr, nullptr));
  expect("no type", CL_INVALID_DEVICE_TYPE, code(clCreateContextFromType, good, 0, nullptr, nullptr));
  expect("custom", CL_DEVICE_NOT_FOUND, code(clCreateContextFromType, good, CL_DEVICE_TYPE_CUSTOM, nullptr, nullptr));
  auto* const context = made(clCreateContext, good, 1, device, nullptr, nullptr);
  counted("context", context, clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, clRetainContext, clReleaseContext,
          CL_INVALID_CONTEXT);
  expect("number of devices", 1, info<cl_uint>(clGetContextInfo, context, CL_CONTEXT_NUM_DEVICES));
  expect_handle("device", app.device, list<cl_device_id>("", clGetContextInfo, context, CL_CONTEXT_DEVICES).at(0));
  expect_all("properties", std::vector<P>(good, good + 3), list<P>("", clGetContextInfo, context, CL_CONTEXT_PROPERTIES));

  using Q = cl_queue_properties;
  Q const given[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0}, sized[] = {CL_QUEUE_SIZE, 16, 0},
          strange[] = {0x9999, 1, 0}, bits[] = {CL_QUEUE_PROPERTIES, 1 << 20, 0};
  auto const make = clCreateCommandQueueWithProperties;
  expect("queue of no context", CL_INVALID_CONTEXT, code(make, nullptr, app.device, given));
  expect("queue of no device", CL_INVALID_DEVICE, code(make, context, nullptr, given));
  expect("queue of an unknown property", CL_INVALID_VALUE, code(make, context, app.device, strange));
  expect("queue of unknown bits", CL_INVALID_VALUE, code(make, context, app.device, bits));
  expect("a size is for queues on the device", CL_INVALID_VALUE, code(make, context, app.device, sized));
  auto* const queue = made(make, context, app.device, given);
  counted("queue", queue, clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT, clRetainCommandQueue, clReleaseCommandQueue,
          CL_INVALID_COMMAND_QUEUE);
  expect_handle("queue's context", context, info<cl_context>(clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT));
  expect_handle("queue's device", app.device, info<cl_device_id>(clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE));
  expect("queue's properties", 1, info<cl_ulong>(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES));
  expect_all("as given", {given, given + 3}, list<Q>("", clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES_ARRAY));
  cl_uint size = 0;
  expect("size of a queue on the host", CL_INVALID_COMMAND_QUEUE,
         clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof size, &size, nullptr));
  expect("clFlush, null", CL_INVALID_COMMAND_QUEUE, clFlush(nullptr));
  expect("clFinish, null", CL_INVALID_COMMAND_QUEUE, clFinish(nullptr));
  if (ours) expect("a queue is no context", CL_INVALID_CONTEXT, clRetainContext(reinterpret_cast<cl_context>(queue)));

  // It is gone with all that was in it, and says so, the last callback first.
  order.clear();
  expect("null callback", CL_INVALID_VALUE, clSetContextDestructorCallback(context, nullptr, nullptr));
  for (char* const name : {a_name, b_name, c_name})
    expect("destructor callback", CL_SUCCESS, clSetContextDestructorCallback(context, context_gone, name));
  clReleaseContext(context);
  expect("a barrier", CL_SUCCESS, enqueue(clEnqueueBarrierWithWaitList, queue));
  clFinish(queue);
  expect_text("the queue keeps its context", "", order);
  clReleaseCommandQueue(queue);
  eventually([] { return order.size() == 3; });
  expect_text("destructor callbacks after a barrier", "cba", order);
}

// ---------------------------------------------------------------- buffers

void flags(App const& app) {
  auto const buffer = [&](cl_mem_flags with, std::size_t bytes, void* host) {
    return code(clCreateBuffer, app.context, with, bytes, host);
  };
  int host = 0;
  for (cl_mem_flags const both :
       {CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY, 1 << 30})
    expect("flags " + std::to_string(both), CL_INVALID_VALUE, buffer(both, 4, nullptr));
  for (cl_mem_flags const other : {CL_MEM_COPY_HOST_PTR, CL_MEM_ALLOC_HOST_PTR})
    expect("flags", CL_INVALID_VALUE, buffer(CL_MEM_USE_HOST_PTR | other, 4, &host));
  expect("no pointer", CL_INVALID_HOST_PTR, buffer(CL_MEM_COPY_HOST_PTR, 4, nullptr));
  expect("pointer without its flag", CL_INVALID_HOST_PTR, buffer(CL_MEM_ALLOC_HOST_PTR, 4, &host));
  expect("no bytes", CL_INVALID_BUFFER_SIZE, buffer(0, 0, nullptr));
  expect("too many bytes", CL_INVALID_BUFFER_SIZE, buffer(0, number(app, CL_DEVICE_MAX_MEM_ALLOC_SIZE) + 1, nullptr));
  expect("null context", CL_INVALID_CONTEXT, code(clCreateBuffer, nullptr, 0, 4, nullptr));
  cl_mem_properties const none[] = {0}, strange[] = {0x9999, 1, 0};
  auto const make = clCreateBufferWithProperties;
  expect("unknown property", CL_INVALID_PROPERTY, code(make, app.context, strange, 0, 4, nullptr));
  auto* const whole = made(make, app.context, none, CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, 4096, nullptr);
  counted("buffer", whole, clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, clRetainMemObject, clReleaseMemObject,
          CL_INVALID_MEM_OBJECT);
  expect_all("properties", {0}, list<cl_mem_properties>("", clGetMemObjectInfo, whole, CL_MEM_PROPERTIES));
  expect("type", CL_MEM_OBJECT_BUFFER, info<cl_uint>(clGetMemObjectInfo, whole, CL_MEM_TYPE));
  expect_handle("pointer", nullptr, info<void*>(clGetMemObjectInfo, whole, CL_MEM_HOST_PTR));
  expect_handle("parent", nullptr, info<cl_mem>(clGetMemObjectInfo, whole, CL_MEM_ASSOCIATED_MEMOBJECT));
  expect("not an image", CL_INVALID_MEM_OBJECT, clGetImageInfo(whole, CL_IMAGE_WIDTH, 0, nullptr, nullptr));

  // Parts.
  std::size_t const align = number(app, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  auto const part = [&](cl_mem of, cl_mem_flags with, std::size_t origin, std::size_t bytes) {
    cl_buffer_region const region{origin, bytes};
    return code(clCreateSubBuffer, of, with, CL_BUFFER_CREATE_TYPE_REGION, &region);
  };
  expect("part misaligned", CL_MISALIGNED_SUB_BUFFER_OFFSET, part(whole, 0, align / 2, 4));
  expect("part beyond the end", CL_INVALID_VALUE, part(whole, 0, align, 4096));
  expect("part of no bytes", CL_INVALID_BUFFER_SIZE, part(whole, 0, align, 0));
  expect("part that is read", CL_INVALID_VALUE, part(whole, CL_MEM_READ_ONLY, 0, 4));
  expect("part that the host writes", CL_INVALID_VALUE, part(whole, CL_MEM_HOST_WRITE_ONLY, 0, 4));
  expect("part with a pointer", CL_INVALID_VALUE, part(whole, CL_MEM_ALLOC_HOST_PTR, 0, 4));
  expect("part of nothing", CL_INVALID_MEM_OBJECT, part(nullptr, 0, 0, 4));
  expect("no region", CL_INVALID_VALUE,
         code(clCreateSubBuffer, whole, cl_mem_flags{0}, CL_BUFFER_CREATE_TYPE_REGION, nullptr));
  auto bytes = random_bytes(4096);
  auto* const given = made(clCreateBuffer, app.context, CL_MEM_USE_HOST_PTR, bytes.size(), bytes.data());
  cl_buffer_region const region{align, 64};
  auto* const sub = made(clCreateSubBuffer, given, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region);
  expect("part of a part", CL_INVALID_MEM_OBJECT, part(sub, 0, 0, 4));
  expect("offset", align, info<std::size_t>(clGetMemObjectInfo, sub, CL_MEM_OFFSET));
  expect("size", 64, info<std::size_t>(clGetMemObjectInfo, sub, CL_MEM_SIZE));
  expect("inherited flags", CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR,
         info<cl_mem_flags>(clGetMemObjectInfo, sub, CL_MEM_FLAGS));
  expect_handle("part's pointer", bytes.data() + align, info<void*>(clGetMemObjectInfo, sub, CL_MEM_HOST_PTR));
  expect_handle("part's parent", given, info<cl_mem>(clGetMemObjectInfo, sub, CL_MEM_ASSOCIATED_MEMOBJECT));
  expect_all("part's content", Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(align), bytes.begin() + static_cast<std::ptrdiff_t>(align) + 64), content(app, sub));
  expect("parts that overlap", CL_MEM_COPY_OVERLAP, enqueue(clEnqueueCopyBuffer, app.queue, sub, given, 0, align + 32, 64));

  // What the host may not do.
  auto* const shut = app.room(64, CL_MEM_HOST_NO_ACCESS);
  Range const zero{}, one{1, 1, 1};
  expect("read", CL_INVALID_OPERATION, enqueue(clEnqueueReadBuffer, app.queue, shut, CL_TRUE, 0, 4, &host));
  expect("write", CL_INVALID_OPERATION, enqueue(clEnqueueWriteBuffer, app.queue, whole, CL_TRUE, 0, 4, &host));
  expect("read a rectangle", CL_INVALID_OPERATION,
         enqueue(clEnqueueReadBufferRect, app.queue, shut, CL_TRUE, zero.data(), zero.data(), one.data(), 0, 0, 0, 0, &host));
  expect("write a rectangle", CL_INVALID_OPERATION,
         enqueue(clEnqueueWriteBufferRect, app.queue, whole, CL_TRUE, zero.data(), zero.data(), one.data(), 0, 0, 0, 0, &host));
  auto const map = [&](cl_mem of, cl_map_flags with, std::size_t offset, std::size_t size) {
    return code(clEnqueueMapBuffer, app.queue, of, CL_TRUE, with, offset, size, 0, nullptr, nullptr);
  };
  expect("map to read", CL_INVALID_OPERATION, map(shut, CL_MAP_READ, 0, 4));
  expect("map to write", CL_INVALID_OPERATION, map(whole, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4));
  expect("map beyond the end", CL_INVALID_VALUE, map(given, CL_MAP_READ, 4095, 2));
  expect("map nothing", CL_INVALID_VALUE, map(given, CL_MAP_READ, 0, 0));
  expect("flags of maps", CL_INVALID_VALUE, map(given, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4));
  expect("unknown flags of maps", CL_INVALID_VALUE, map(given, 1 << 20, 0, 4));
  expect("none of those counts", 0, info<cl_uint>(clGetMemObjectInfo, given, CL_MEM_MAP_COUNT));
  expect("read beyond the end", CL_INVALID_VALUE, enqueue(clEnqueueReadBuffer, app.queue, given, CL_TRUE, 4093, 4, &host));
  expect("read to null", CL_INVALID_VALUE, enqueue(clEnqueueReadBuffer, app.queue, given, CL_TRUE, 0, 4, nullptr));
  expect("read null", CL_INVALID_MEM_OBJECT, enqueue(clEnqueueReadBuffer, app.queue, nullptr, CL_TRUE, 0, 4, &host));
  for (std::size_t const size : {0, 3, 256})
    expect("a pattern's size", CL_INVALID_VALUE, enqueue(clEnqueueFillBuffer, app.queue, given, bytes.data(), size, 0, 768));
  expect("fill misaligned", CL_INVALID_VALUE, enqueue(clEnqueueFillBuffer, app.queue, given, &host, 4, 2, 8));
  expect("fill a part of a pattern", CL_INVALID_VALUE, enqueue(clEnqueueFillBuffer, app.queue, given, &host, 4, 0, 6));

  // Maps are where the application's memory is; each is counted until it is given back.
  int pattern = 0x12345678;
  void* mapped[2];
  expect("fill", CL_SUCCESS, enqueue(clEnqueueFillBuffer, app.queue, given, &pattern, 4, 64, 8));
  for (std::size_t i = 0; i < 2; ++i) {
    mapped[i] = made(clEnqueueMapBuffer, app.queue, given, CL_TRUE, CL_MAP_READ, 64 * i, 64, 0, nullptr, nullptr);
    expect_handle("map", bytes.data() + 64 * i, mapped[i]);
    expect("maps", i + 1, info<cl_uint>(clGetMemObjectInfo, given, CL_MEM_MAP_COUNT));
  }
  expect("what a map shows", pattern, *static_cast<int*>(mapped[1]));
  auto const unmap = [&](void* at, cl_uint waits) {
    return clEnqueueUnmapMemObject(app.queue, given, at, waits, nullptr, nullptr);
  };
  expect("unmap what was not mapped", CL_INVALID_VALUE, unmap(bytes.data() + 4, 0));
  expect("unmap with a list that is missing", CL_INVALID_EVENT_WAIT_LIST, unmap(mapped[0], 1));
  expect("maps still", 2, info<cl_uint>(clGetMemObjectInfo, given, CL_MEM_MAP_COUNT));
  for (void* const at : mapped) expect("unmap", CL_SUCCESS, unmap(at, 0));
  clFinish(app.queue);
  expect("no maps", 0, info<cl_uint>(clGetMemObjectInfo, given, CL_MEM_MAP_COUNT));
  expect("unmap once more", CL_INVALID_VALUE, unmap(mapped[0], 0));
  auto* const again = made(clCreateBuffer, app.context, CL_MEM_USE_HOST_PTR, 256, bytes.data() + 128);
  expect_handle("map of a second buffer there", bytes.data() + 128,
                made(clEnqueueMapBuffer, app.queue, again, CL_TRUE, CL_MAP_READ, 0, 4, 0, nullptr, nullptr));

  // They end when their parts have ended, the last callback first.
  order.clear();
  expect("null callback", CL_INVALID_VALUE, clSetMemObjectDestructorCallback(given, nullptr, nullptr));
  for (char* const name : {a_name, b_name})
    expect("destructor callback", CL_SUCCESS, clSetMemObjectDestructorCallback(given, memory_gone, name));
  clSetMemObjectDestructorCallback(sub, memory_gone, c_name);
  clReleaseMemObject(given);
  expect_text("a part keeps its parent", "", order);
  clReleaseMemObject(sub);
  eventually([] { return order.size() == 3; });
  expect_text("destructor callbacks", "cba", order);
}
