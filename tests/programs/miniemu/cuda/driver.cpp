// An application of the CUDA driver's interface, built without a toolkit. Usage: driver [CASE]
// Without one: all of the interface that it knows. `random N`: random calls, with N as their seed. `hundred`: launches
// that change nothing. `ordered`: commands on several streams. Else the launch of scale.toml five times, CASE being the
// file with its PTX.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "fatbin.hpp"
#include "kernels/cuda/driver.hpp"

using namespace kernelcast::driver;
using kernelcast::cudart::FunctionAttribute;
using kernelcast::cudart::Graph;
using kernelcast::cudart::GraphExec;
using kernelcast::cudart::Node;
using kernelcast::cudart::NodeParameters;
using kernelcast::cudart::NodeType;

#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters) extern "C" Code symbol parameters;
#include "kernels/cuda/driver_entry_points.def"
extern "C" {
struct Link;
struct Pool;
struct UserObject;
Code cuStreamQuery(Stream);
Code cuEventQuery(Event);
Code cuUserObjectCreate(UserObject**, void*, void (*)(void*), unsigned, unsigned);
Code cuUserObjectRetain(UserObject*, unsigned);
Code cuUserObjectRelease(UserObject*, unsigned);
Code cuGraphRetainUserObject(Graph*, UserObject*, unsigned, unsigned);
Code cuGraphReleaseUserObject(Graph*, UserObject*, unsigned);
Code cuGetProcAddress_v2(char const*, void**, int, unsigned long long, int*);
Code cuGetExportTable(void const**, void const*);
Code cuDeviceGetDefaultMemPool(Pool**, Device);
Code cuDeviceGetMemPool(Pool**, Device);
Code cuDeviceSetMemPool(Device, Pool*);
Code cuMemGetMemPool(Pool**, Location const*, int);
Code cuMemPoolCreate(Pool**, void const*);
Code cuMemPoolDestroy(Pool*);
Code cuMemPoolGetAttribute(Pool*, int, void*);
Code cuMemPoolSetAttribute(Pool*, int, void*);
Code cuCtxCreate_v2(Context*, unsigned, Device);
Code cuCtxDestroy_v2(Context);
Code cuCtxGetCurrent(Context*);
Code cuCtxGetDevice(Device*);
Code cuCtxPushCurrent_v2(Context);
Code cuCtxPopCurrent_v2(Context*);
Code cuModuleGetFunctionCount(unsigned*, Module);
Code cuModuleEnumerateFunctions(Function*, unsigned, Module);
Code cuModuleLoad(Module*, char const*);
Code cuLibraryLoadData(Module*, void const*, int*, void**, unsigned, int*, void**, unsigned);
Code cuLibraryGetKernel(Function*, Module, char const*);
Code cuLibraryUnload(Module);
Code cuFuncGetAttribute(int*, int, Function);
Code cuFuncGetParamInfo(Function, std::size_t, std::size_t*, std::size_t*);
Code cuFuncGetName(char const**, Function);
Code cuLinkCreate_v2(unsigned, int*, void**, Link**);
Code cuLinkAddData_v2(Link*, int, void*, std::size_t, char const*, unsigned, int*, void**);
Code cuLinkComplete(Link*, void const**, std::size_t*);
Code cuLinkDestroy(Link*);
Code cuMemsetD8_v2(Pointer, unsigned char, std::size_t);
Code cuMemsetD16_v2(Pointer, unsigned short, std::size_t);
Code cuMemsetD32_v2(Pointer, unsigned, std::size_t);
Code cuMemsetD2D32_v2(Pointer, std::size_t, unsigned, std::size_t, std::size_t);
Code cuMemAllocPitch_v2(Pointer*, std::size_t*, std::size_t, std::size_t, unsigned);
Code cuMemGetAddressRange_v2(Pointer*, std::size_t*, Pointer);
Code cuPointerGetAttributes(unsigned, int*, void**, Pointer);
Code cuArrayCreate_v2(Array**, ArrayDescription const*);
Code cuArrayDestroy(Array*);
Code cuMemcpyHtoA_v2(Array*, std::size_t, void const*, std::size_t);
Code cuMemcpyAtoH_v2(void*, Array*, std::size_t, std::size_t);
Code cuStreamWaitEvent(Stream, Event, unsigned);
Code cuStreamBeginCapture_v2(Stream, int);
Code cuStreamEndCapture(Stream, Graph**);
Code cuGraphInstantiateWithFlags(GraphExec**, Graph*, unsigned long long);
Code cuGraphLaunch(GraphExec*, Stream);
Code cuGraphGetNodes(Graph*, Node**, std::size_t*);
Code cuGraphCreate(Graph**, unsigned);
Code cuGraphAddKernelNode_v2(Node**, Graph*, Node* const*, std::size_t, KernelNode const*);
Code cuGraphKernelNodeGetParams_v2(Node*, KernelNode*);
Code cuGraphAddNode_v2(Node**, Graph*, Node* const*, void const*, std::size_t, NodeParameters*);
Code cuGraphExecNodeSetParams(GraphExec*, Node*, NodeParameters*);
Code cuGraphGetEdges(Graph*, Node**, Node**, std::size_t*);
Code cuGraphClone(Graph**, Graph*);
Code cuGraphNodeFindInClone(Node**, Node*, Graph*);
Code cuGraphChildGraphNodeGetGraph(Node*, Graph**);
Code cuGraphEventRecordNodeGetEvent(Node*, Event*);
Code cuGraphDestroy(Graph*);
Code cuGraphExecDestroy(GraphExec*);
Code cuDeviceGetGraphMemAttribute(Device, int, void*);
Code cuMemAllocAsync(Pointer*, std::size_t, Stream);
Code cuMemAllocFromPoolAsync(Pointer*, std::size_t, Pool*, Stream);
Code cuMemFreeAsync(Pointer, Stream);
Code cuStreamGetCtx(Stream, Context*);
Code cuIpcGetMemHandle(void*, Pointer);
Code cuMemAlloc(unsigned*, unsigned);
Code cuMemAddressReserve(Pointer*, std::size_t, std::size_t, Pointer, unsigned long long);
Code cuMemAddressFree(Pointer, std::size_t);
Code cuMemGetAllocationGranularity(std::size_t*, PhysicalProperties const*, int);
Code cuMemCreate(unsigned long long*, std::size_t, PhysicalProperties const*, unsigned long long);
Code cuMemRelease(unsigned long long);
Code cuMemRetainAllocationHandle(unsigned long long*, void*);
Code cuMemExportToShareableHandle(void*, unsigned long long, unsigned, unsigned long long);
Code cuMemImportFromShareableHandle(unsigned long long*, void*, unsigned);
Code cuMemMap(Pointer, std::size_t, std::size_t, unsigned long long, unsigned long long);
Code cuMemUnmap(Pointer, std::size_t);
Code cuMemSetAccess(Pointer, std::size_t, Access const*, std::size_t);
Code cuMemGetAccess(unsigned long long*, Location const*, Pointer);
}

namespace {

constexpr char const* program = R"(.version 7.5
.target sm_70
.address_size 64
.visible .const .align 4 .f32 weight = 0f40000000;
.visible .global .align 4 .u32 runs;
.visible .entry scale(.param .u64 data, .param .f32 by, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %a<4>;
  ld.param.u64 %a1, [data];
  ld.param.f32 %f1, [by];
  ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r5;
  @%p bra DONE;
  mul.wide.u32 %a2, %r4, 4;
  add.s64 %a3, %a1, %a2;
  ld.global.f32 %f2, [%a3];
  ld.const.f32 %f4, [weight];
  mul.f32 %f3, %f2, %f1;
  mul.f32 %f3, %f3, %f4;
  st.global.f32 [%a3], %f3;
  setp.ne.u32 %p, %r4, 0;
  @!%p red.global.add.u32 [runs], 1;
DONE:
  ret;
}
.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
  .reg .b32 %r<6>; .reg .b64 %a<4>; .reg .f32 %f<5>;
  ld.param.u64 %a1, [texture];
  ld.param.u64 %a2, [out];
  mov.u32 %r1, %tid.x;
  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%a1, {%r1}];
  mul.wide.u32 %a3, %r1, 4;
  add.s64 %a3, %a3, %a2;
  st.global.f32 [%a3], %f1;
  ret;
}
.func (.param .f32 sum) one_more(.param .f32 value)
{
  .reg .f32 %f<3>;
  ld.param.f32 %f1, [value];
  ld.const.f32 %f2, [weight];
  fma.rn.f32 %f1, %f1, %f2, 0f3f800000;
  st.param.f32 [sum], %f1;
  ret;
}
.visible .entry weigh(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %a<6>;
  ld.param.u64 %a1, [in];
  ld.param.u64 %a2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %a3, %r1, 4;
  add.s64 %a4, %a1, %a3;
  add.s64 %a5, %a2, %a3;
  ld.global.f32 %f1, [%a4];
  { .param .f32 given; .param .f32 back; st.param.f32 [given], %f1; call.uni (back), one_more, (given); ld.param.f32 %f3, [back]; }
  st.global.f32 [%a5], %f3;
  ret;
}
.visible .entry wait(.param .u64 flag, .param .u64 out)
{
  .reg .b32 %r<3>; .reg .b64 %a<3>; .reg .pred %p;
  ld.param.u64 %a1, [flag];
  ld.param.u64 %a2, [out];
again:
  ld.volatile.global.u32 %r1, [%a1];
  setp.eq.u32 %p, %r1, 0;
  @%p bra again;
  atom.global.add.u32 %r2, [%a2], %r1;
  ret;
}
.visible .entry add_at(.param .u64 data, .param .u64 offset, .param .u32 by)
{
  .reg .b32 %r<2>; .reg .b64 %a<4>;
  ld.param.u64 %a1, [data];
  ld.param.u64 %a2, [offset];
  ld.param.u32 %r1, [by];
  add.s64 %a3, %a1, %a2;
  red.global.add.u32 [%a3], %r1;
  ret;
}
.visible .entry stop()
{
  trap;
  ret;
}
)";

void before_a_context() {
  Pointer memory = 0;
  Device device = 0;
  int count = 0;
  EXPECT(cuDeviceGetCount(&count) == Code::initialization_error);
  EXPECT(cuMemAlloc_v2(&memory, 4) == Code::initialization_error);
  EXPECT(cuInit(1) == Code::invalid_value);
  GOOD(cuInit(0));
  GOOD(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  EXPECT(cuDeviceGet(&device, 1) == Code::invalid_device);
  GOOD(cuDeviceGet(&device, 0));
  EXPECT(cuMemAlloc_v2(&memory, 4) == Code::device_uninitialized);
  char const* name = nullptr;
  GOOD(cuGetErrorName(Code::device_uninitialized, &name));
  EXPECT(name == std::string_view("CUDA_ERROR_INVALID_CONTEXT"));
  EXPECT(cuGetErrorName(Code::invalid_configuration, &name) == Code::invalid_value);  // the runtime's alone
  int value = 0;
  GOOD(cuDeviceGetAttribute(&value, Attribute::warp_size, device));
  EXPECT(value == 32);
  Context current = nullptr;
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(!current);
}

// Contexts are a stack in each thread.
void contexts() {
  Context primary = nullptr, own = nullptr, seen = nullptr;
  GOOD(cuDevicePrimaryCtxRetain(&primary, 0));
  GOOD(cuCtxSetCurrent(primary));
  GOOD(cuCtxCreate_v2(&own, 0, 0));
  GOOD(cuCtxGetCurrent(&seen));
  EXPECT(seen == own && own != primary);
  GOOD(cuCtxPopCurrent_v2(&seen));
  EXPECT(seen == own);
  GOOD(cuCtxDestroy_v2(own));
  EXPECT(cuCtxPushCurrent_v2(own) == Code::device_uninitialized);
  EXPECT(cuCtxDestroy_v2(primary) != Code::success);
  GOOD(cuCtxGetCurrent(&seen));
  EXPECT(seen == primary);
  std::thread([&] {
    Context there = primary;
    GOOD(cuCtxGetCurrent(&there));
    EXPECT(!there);
  }).join();
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i);
  return out;
}

Code scale(Function function, Pointer data, float by, unsigned n, Stream stream = nullptr) {
  void* arguments[] = {&data, &by, &n};
  return cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr);
}

// Arguments one by one and in one piece; what is no kernel, and what is too large.
void launches(Module module) {
  Function function = nullptr, none = nullptr;
  EXPECT(cuModuleGetFunction(&function, module, "missing") == Code::symbol_not_found);
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  auto host = numbers(1000);
  Pointer data = 0;
  GOOD(cuMemAlloc_v2(&data, 4000));
  GOOD(cuMemcpyHtoD_v2(data, host.data(), 4000));
  GOOD(scale(function, data, 3, 1000));
  struct {
    Pointer data;
    float by;
    unsigned n;
  } packed{data, 0.5F, 500};
  std::size_t bytes = sizeof packed;
  void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes, nullptr};
  GOOD(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  bytes = 12;
  EXPECT(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra) == Code::invalid_value);
  GOOD(cuMemcpyDtoH_v2(host.data(), data, 4000));
  EXPECT(host[499] == 499 * 6.0F && host[999] == 999 * 6.0F);  // times 2, the weight
  Pointer address = 0;
  std::size_t size = 0;
  GOOD(cuModuleGetGlobal_v2(&address, &size, module, "runs"));
  unsigned runs = 0;
  EXPECT(size == 4);
  GOOD(cuMemcpyDtoH_v2(&runs, address, 4));
  EXPECT(runs == 2);
  Pointer range = 0;
  std::size_t range_bytes = 0;
  GOOD(cuMemGetAddressRange_v2(&range, &range_bytes, address + 3));
  EXPECT(range == address && range_bytes == 4);
  GOOD(cuModuleGetGlobal_v2(&address, nullptr, module, "weight"));
  float const weight = 1;
  GOOD(cuMemcpyHtoD_v2(address, &weight, 4));
  GOOD(scale(function, data, 2, 1));
  EXPECT(cuModuleGetGlobal_v2(&address, nullptr, module, "missing") == Code::symbol_not_found);
  EXPECT(cuModuleGetGlobal_v2(&address, nullptr, module, "__gomp_rev_offload_var") == Code::not_supported);

  // Handles are looked up, whatever they hold.
  int on_the_stack = 0;
  for (void* wrong :
       {static_cast<void*>(nullptr), static_cast<void*>(&on_the_stack), reinterpret_cast<void*>(0x1234)}) {
    EXPECT(scale(static_cast<Function>(wrong), data, 1, 1) == Code::invalid_resource_handle);
    EXPECT(cuModuleGetFunction(&none, static_cast<Module>(wrong), "scale") == Code::invalid_resource_handle);
  }
  EXPECT(scale(function, data, 1, 1, reinterpret_cast<Stream>(0x7777)) == Code::invalid_resource_handle);
  void* arguments[] = {&data, &packed.by, &packed.n};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 2000, 1, 1, 0, nullptr, arguments, nullptr) == Code::invalid_value);
  EXPECT(cuLaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == Code::invalid_value);
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 1 << 20, nullptr, arguments, nullptr) == Code::invalid_value);
  GOOD(cuMemFree_v2(data));
  EXPECT(cuMemFree_v2(data) == Code::invalid_value);
}

void functions(Module module) {
  unsigned count = 0;
  GOOD(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 6);
  Function all[4] = {};
  GOOD(cuModuleEnumerateFunctions(all, 4, module));
  char const* name = nullptr;
  GOOD(cuFuncGetName(&name, all[0]));
  EXPECT(name == std::string_view("scale"));
  std::size_t offset = 0, size = 0;
  GOOD(cuFuncGetParamInfo(all[0], 2, &offset, &size));
  EXPECT(offset == 12 && size == 4);
  EXPECT(cuFuncGetParamInfo(all[0], 3, &offset, &size) == Code::invalid_value);
  int value = 0, groups = 0;
  GOOD(cuFuncGetAttribute(&value, 0, all[0]));
  EXPECT(value == 1024);
  GOOD(cuFuncSetAttribute(all[0], FunctionAttribute::max_dynamic_shared_bytes, 60000));
  EXPECT(cuFuncSetAttribute(all[0], FunctionAttribute::max_dynamic_shared_bytes, 1 << 20) == Code::invalid_value);
  GOOD(cuFuncGetAttribute(&value, 8, all[0]));
  EXPECT(value == 60000);
  GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessor(&groups, all[0], 128, 0));
  EXPECT(groups == 16);  // 2048 work-items on an A100
}

// Registers are estimated, within what directives and the linker's options permit.
void registers() {
  std::string text = ".version 7.5\n.target sm_70\n.address_size 64\n";
  for (auto const* const kernel : {"free(.param .u64 out) ", "bound(.param .u64 out) .maxntid 1024 // {\n"}) {
    text += std::string(".visible .entry ") + kernel + "{ .reg .b32 %r<100>; .reg .b64 %a; ld.param.u64 %a, [out];\n";
    for (int r = 0; r < 100; ++r) text += "ld.volatile.global.u32 %r" + std::to_string(r) + ", [%a];\n";
    for (int r = 0; r < 100; ++r) text += "st.volatile.global.u32 [%a], %r" + std::to_string(r) + ";\n";
    text += "ret; }\n";
  }
  constexpr int ptx = 1, of_kernel = 4;
  int max_registers = 0;  // CU_JIT_MAX_REGISTERS
  auto const expect = [&](std::uintptr_t most, int of_free, int of_bound) {
    Link* link = nullptr;
    Module module = nullptr;
    void const* linked = nullptr;
    auto* value = reinterpret_cast<void*>(most);
    GOOD(cuLinkCreate_v2(most ? 1 : 0, &max_registers, &value, &link));
    GOOD(cuLinkAddData_v2(link, ptx, text.data(), text.size() + 1, "text", 0, nullptr, nullptr));
    GOOD(cuLinkComplete(link, &linked, nullptr));
    GOOD(cuModuleLoadData(&module, linked));
    GOOD(cuLinkDestroy(link));
    for (auto const& [name, expected] : {std::pair{"free", of_free}, {"bound", of_bound}}) {
      Function function = nullptr;
      int found = 0;
      GOOD(cuModuleGetFunction(&function, module, name));
      GOOD(cuFuncGetAttribute(&found, of_kernel, function));
      if (expected > 0)
        EXPECT(found == expected);
      else
        EXPECT(found >= 100);
    }
    GOOD(cuModuleUnload(module));
  };
  expect(0, 0, 64);  // 65536 registers of an A100 for 1024 work-items
  expect(38, 38, 38);
}

// PTX, a fat binary that is compressed, a file, a library; what is none of them; two texts linked.
void images() {
  Module module = nullptr;
  Function function = nullptr;
  for (auto const packing : {Packing::plain, Packing::lz4, Packing::zstd}) {
    auto const fatbin = fatbin_of({{program, 70, packing}});
    GOOD(cuModuleLoadData(&module, fatbin.data()));
    GOOD(cuModuleGetFunction(&function, module, "scale"));
    GOOD(cuModuleUnload(module));
    EXPECT(cuModuleUnload(module) == Code::invalid_resource_handle);
    EXPECT(scale(function, 0, 1, 1) == Code::invalid_resource_handle);
  }
  EXPECT(cuModuleLoadData(&module, "\177ELF and what follows") == Code::no_kernel_image_for_device);
  EXPECT(cuModuleLoadData(&module, "x") == Code::invalid_ptx);
  EXPECT(cuModuleLoadData(&module, "") != Code::success);
  EXPECT(cuModuleLoad(&module, "/nowhere/at.all") == Code::file_not_found);
  GOOD(cuLibraryLoadData(&module, program, nullptr, nullptr, 0, nullptr, nullptr, 0));
  GOOD(cuLibraryGetKernel(&function, module, "scale"));
  GOOD(cuLibraryUnload(module));

  Link* link = nullptr;
  GOOD(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  std::string one =
      ".version 7.5\n.target sm_70\n.address_size 64\n.extern .func (.param .u32 r) two();\n"
      ".visible .entry start(.param .u64 out) { .param .u32 r; .reg .b32 %r; .reg .b64 %a;\n"
      "call.uni (r), two, (); ld.param.u32 %r, [r]; ld.param.u64 %a, [out]; st.global.u32 [%a], %r; ret; }\n";
  std::string two =
      ".version 7.5\n.target sm_70\n.address_size 64\n"
      ".visible .func (.param .u32 r) two() { st.param.u32 [r], 22; ret; }\n";
  constexpr int ptx = 1, object = 3;
  GOOD(cuLinkAddData_v2(link, ptx, one.data(), one.size() + 1, "one", 0, nullptr, nullptr));
  EXPECT(cuLinkAddData_v2(link, object, two.data(), two.size() + 1, "two.o", 0, nullptr, nullptr) != Code::success);
  auto host = object_of(fatbin_of({{two, 70, Packing::zstd}}));
  GOOD(cuLinkAddData_v2(link, object, host.data(), host.size(), "two.o", 0, nullptr, nullptr));
  void const* linked = nullptr;
  std::size_t bytes = 0;
  GOOD(cuLinkComplete(link, &linked, &bytes));
  GOOD(cuModuleLoadData(&module, linked));
  GOOD(cuLinkDestroy(link));
  GOOD(cuModuleGetFunction(&function, module, "start"));
  Pointer out = 0;
  unsigned value = 0;
  GOOD(cuMemAlloc_v2(&out, 4));
  void* arguments[] = {&out};
  GOOD(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuMemcpyDtoH_v2(&value, out, 4));
  EXPECT(value == 22);
  GOOD(cuMemFree_v2(out));
}

void memory() {
  Pointer data = 0, begin = 0;
  std::size_t bytes = 0, pitch = 0;
  std::vector<unsigned char> host(64);
  GOOD(cuMemAlloc_v2(&data, 64));
  GOOD(cuMemsetD8_v2(data, 7, 64));
  GOOD(cuMemsetD16_v2(data + 2, 0x1234, 2));
  GOOD(cuMemsetD32_v2(data + 8, 0x89abcdef, 2));
  EXPECT(cuMemsetD32_v2(data + 2, 0, 1) == Code::invalid_value);
  EXPECT(cuMemsetD32_v2(data, 0, 1 << 20) == Code::invalid_value);
  GOOD(cuMemcpyDtoH_v2(host.data(), data, 64));
  EXPECT(host[1] == 7 && host[2] == 0x34 && host[5] == 0x12 && host[6] == 7 && host[8] == 0xef && host[15] == 0x89 &&
         host[16] == 7);
  EXPECT(cuMemcpyDtoH_v2(host.data(), data, 1 << 20) == Code::invalid_value);
  EXPECT(cuMemcpyHtoD_v2(data, nullptr, 4) == Code::invalid_value);
  GOOD(cuMemGetAddressRange_v2(&begin, &bytes, data + 10));
  EXPECT(begin == data && bytes == 512);  // what memory is allotted in
  constexpr int memory_type = 2, device_pointer = 3, ordinal = 9;
  int attributes[] = {memory_type, device_pointer, ordinal};
  unsigned type = 9;
  Pointer pointer = 9;
  int device = 9;
  void* values[] = {&type, &pointer, &device};
  GOOD(cuPointerGetAttributes(3, attributes, values, data));
  EXPECT(type == 2 && pointer == data && device == 0);
  GOOD(cuPointerGetAttributes(3, attributes, values, reinterpret_cast<Pointer>(&type)));
  EXPECT(type == 0 && pointer == 0 && device == -2);
  GOOD(cuMemFree_v2(data));

  // Rows: to a pitch, from it, a part of an array, filled.
  GOOD(cuMemAllocPitch_v2(&data, &pitch, 40, 8, 4));
  GOOD(cuMemsetD2D32_v2(data, pitch, 5, 10, 8));
  Copy2D copy;
  std::vector<unsigned> rows(80, 1);
  copy.source_kind = MemoryKind::device;
  copy.source_device = data;
  copy.source_pitch = pitch;
  copy.source_x = 4;
  copy.source_y = 1;
  copy.target_kind = MemoryKind::host;
  copy.target_host = rows.data();
  copy.target_pitch = 40;
  copy.width_bytes = 8;
  copy.height = 2;
  GOOD(cuMemcpy2D_v2(&copy));
  EXPECT(rows[0] == 5 && rows[1] == 5 && rows[2] == 1 && rows[10] == 5 && rows[20] == 1);
  copy.target_kind = static_cast<MemoryKind>(9);
  EXPECT(cuMemcpy2D_v2(&copy) == Code::invalid_value);
  GOOD(cuMemFree_v2(data));
  Array* array = nullptr;
  ArrayDescription const description{16, 4, ArrayFormat::f32, 1};
  GOOD(cuArrayCreate_v2(&array, &description));
  auto const floats = numbers(16);
  std::vector<float> back(4);
  GOOD(cuMemcpyHtoA_v2(array, 0, floats.data(), 64));
  GOOD(cuMemcpyAtoH_v2(back.data(), array, 8, 16));
  EXPECT(back[0] == 2 && back[3] == 5);
  EXPECT(cuMemcpyAtoH_v2(back.data(), array, 60, 16) == Code::invalid_value);
  GOOD(cuArrayDestroy(array));
  EXPECT(cuIpcGetMemHandle(nullptr, data) == Code::not_supported);
}

// Two pieces of memory side by side are one to kernels and copies; the same memory at two addresses is the same.
void virtual_memory(Module module) {
  Function function = nullptr;
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  PhysicalProperties properties{physical_pinned, handle_posix_file, {location_device, 0}, nullptr, {}};
  std::size_t unit = 0;
  GOOD(cuMemGetAllocationGranularity(&unit, &properties, 0));
  Pointer range = 0;
  EXPECT(cuMemAddressReserve(&range, unit + 1, 0, 0, 0) == Code::invalid_value);
  EXPECT(cuMemAddressReserve(&range, std::size_t{0} - unit, 0, 0, 0) != Code::success);
  GOOD(cuMemAddressReserve(&range, 4 * unit, 4 * unit, 0, 0));
  EXPECT(range % (4 * unit) == 0);
  unsigned long long first = 0, second = 0, again = 0, imported = 0, access = 9;
  EXPECT(cuMemCreate(&first, 100, &properties, 0) == Code::invalid_value);
  EXPECT(cuMemCreate(&first, std::size_t{0} - unit, &properties, 0) == Code::memory_allocation);
  GOOD(cuMemCreate(&first, unit, &properties, 0));
  GOOD(cuMemCreate(&second, unit, &properties, 0));
  EXPECT(cuMemMap(range, 2 * unit, 0, first, 0) == Code::invalid_value);         // it is not as large
  EXPECT(cuMemMap(range + 4 * unit, unit, 0, first, 0) == Code::invalid_value);  // behind the range
  EXPECT(cuMemMap(range, unit, 0, first + second, 0) == Code::invalid_value);    // no such handle
  GOOD(cuMemMap(range, unit, 0, first, 0));
  EXPECT(cuMemMap(range, unit, 0, second, 0) == Code::invalid_value);  // something lies there
  GOOD(cuMemMap(range + unit, unit, 0, second, 0));
  EXPECT(cuMemsetD32_v2(range, 1, 1) == Code::invalid_value);  // no access yet
  Access const all{{location_device, 0}, access_read_and_write};
  EXPECT(cuMemSetAccess(range, 3 * unit, &all, 1) == Code::invalid_value);
  GOOD(cuMemSetAccess(range, 2 * unit, &all, 1));
  GOOD(cuMemGetAccess(&access, &all.location, range + unit));
  EXPECT(access == access_read_and_write);
  EXPECT(cuMemAddressFree(range, 4 * unit) == Code::invalid_value && cuMemFree_v2(range) == Code::invalid_value);

  auto host = numbers(1000);
  Pointer const data = range + unit - 2000;  // across the seam
  GOOD(cuMemcpyHtoD_v2(data, host.data(), 4000));
  GOOD(scale(function, data, 2, 1000));
  // The second piece once more, by its file.
  int file = -1;
  GOOD(cuMemExportToShareableHandle(&file, second, handle_posix_file, 0));
  EXPECT(cuMemImportFromShareableHandle(&imported, nullptr, handle_posix_file) == Code::invalid_value);
  GOOD(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
                                      handle_posix_file));
  GOOD(cuMemMap(range + 3 * unit, unit, 0, imported, 0));
  GOOD(cuMemSetAccess(range + 3 * unit, unit, &all, 1));
  GOOD(scale(function, range + 3 * unit, 0.25F, 10));
  GOOD(cuMemcpyDtoH_v2(host.data(), data, 4000));
  float const by = host[1], weight = by / 2;  // a constant of the module
  EXPECT(by > 0 && host[499] == by * 499 && host[510] == by * 510 && host[509] == by * 509 * 0.25F * weight);
  // Memory lasts as long as something refers to it.
  GOOD(cuMemRelease(second));
  GOOD(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range + unit)));
  EXPECT(again == second);
  GOOD(cuMemRelease(again));
  EXPECT(cuMemRelease(again) == Code::invalid_value);
  EXPECT(cuMemUnmap(range, unit / 2) == Code::invalid_value);
  GOOD(cuMemUnmap(range, unit));
  EXPECT(cuMemcpyDtoH_v2(host.data(), data, 4000) == Code::invalid_value);
  GOOD(cuMemcpyDtoH_v2(host.data(), range + unit, 2000));
  GOOD(cuMemUnmap(range + unit, unit));
  GOOD(cuMemUnmap(range + 3 * unit, unit));
  GOOD(cuMemRelease(imported));
  GOOD(cuMemRelease(first));
  GOOD(cuMemAddressFree(range, 4 * unit));
  EXPECT(cuMemcpyDtoH_v2(host.data(), range + unit, 4) == Code::invalid_value);
}

// Texels of 32 bits are read as they are, those of 8 bits as fractions.
void textures(Module module) {
  Function fetch = nullptr;
  GOOD(cuModuleGetFunction(&fetch, module, "fetch"));
  Pointer texels = 0, out = 0;
  GOOD(cuMemAlloc_v2(&texels, 1024));
  GOOD(cuMemAlloc_v2(&out, 128));
  for (bool const fractions : {false, true}) {
    ResourceDescription resource;
    resource.resource.linear = {texels, fractions ? ArrayFormat::u8 : ArrayFormat::f32, 1, fractions ? 32u : 128u};
    auto const floats = numbers(32);
    std::vector<unsigned char> bytes(32);
    for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<unsigned char>(i);
    GOOD(cuMemcpyHtoD_v2(texels, fractions ? static_cast<void const*>(bytes.data()) : floats.data(),
                         fractions ? 32 : 128));
    TextureDescription const description;
    TextureObject texture = 0;
    GOOD(cuTexObjectCreate(&texture, &resource, &description, nullptr));
    void* arguments[] = {&texture, &out};
    GOOD(cuLaunchKernel(fetch, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    std::vector<float> read(32);
    GOOD(cuMemcpyDtoH_v2(read.data(), out, 128));
    EXPECT(std::abs(read[31] - (fractions ? 31.0F / 255 : 31)) < 1e-6F);
    GOOD(cuTexObjectDestroy(texture));
    EXPECT(cuTexObjectDestroy(texture) == Code::invalid_value);
  }
  // A texture that says more than the memory has: only what a kernel reads counts.
  ResourceDescription resource;
  resource.resource.linear = {texels, ArrayFormat::f32, 1, 1 << 20};
  TextureDescription const description;
  TextureObject texture = 0;
  GOOD(cuTexObjectCreate(&texture, &resource, &description, nullptr));
  auto const floats = numbers(32);
  GOOD(cuMemcpyHtoD_v2(texels, floats.data(), 128));
  void* arguments[] = {&texture, &out};
  GOOD(cuLaunchKernel(fetch, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> read(32);
  GOOD(cuMemcpyDtoH_v2(read.data(), out, 128));
  EXPECT(read == floats);
  GOOD(cuTexObjectDestroy(texture));
  resource.resource.linear = {out + 4096, ArrayFormat::f32, 1, 128};
  EXPECT(cuTexObjectCreate(&texture, &resource, &description, nullptr) == Code::invalid_value);
}

// What a kernel changes may begin elsewhere than the pointer that it gets, as of OpenMP's parts of arrays: the copies
// before each launch are the same, and none is left out.
void pointer_elsewhere(Module module) {
  Function function = nullptr;
  GOOD(cuModuleGetFunction(&function, module, "add_at"));
  Pointer data = 0;
  GOOD(cuMemAlloc_v2(&data, 4));
  for (unsigned by = 1; by <= 4; ++by) {
    unsigned value = 0;
    std::uint64_t offset = std::uint64_t{1} << 30;
    Pointer before = data - offset;
    void* arguments[] = {&before, &offset, &by};
    GOOD(cuMemcpyHtoD_v2(data, &value, 4));
    GOOD(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    GOOD(cuMemcpyDtoH_v2(&value, data, 4));
    EXPECT(value == by);
  }
  GOOD(cuMemFree_v2(data));
}

// Streams, events and pools know where they belong: no context is current.
void without_context(Module module) {
  Function function = nullptr;
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  Stream stream = nullptr;
  Event event = nullptr;
  Pool* pool = nullptr;
  GOOD(cuStreamCreate(&stream, 1));
  GOOD(cuEventCreate(&event, 0));
  GOOD(cuDeviceGetDefaultMemPool(&pool, 0));
  std::thread([&] {  // which has none
    Context own = nullptr;
    Pointer data = 0;
    EXPECT(cuStreamSynchronize(nullptr) == Code::device_uninitialized);  // of the current context
    GOOD(cuMemAllocFromPoolAsync(&data, 64, pool, stream));
    EXPECT(scale(function, data, 1, 16) == Code::device_uninitialized);
    GOOD(scale(function, data, 1, 16, stream));
    GOOD(cuEventRecord(event, stream));
    GOOD(cuEventSynchronize(event));
    GOOD(cuStreamSynchronize(stream));
    GOOD(cuStreamGetCtx(stream, &own));
    EXPECT(own != nullptr);
    GOOD(cuMemFreeAsync(data, stream));
    GOOD(cuEventDestroy_v2(event));
    GOOD(cuStreamDestroy_v2(stream));
  })
      .join();
}

// A kernel that waits for the host: what follows it, its event and its stream wait, others do not.
void flags(Module module) {
  Function wait = nullptr, function = nullptr;
  GOOD(cuModuleGetFunction(&wait, module, "wait"));
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  Stream stream = nullptr, other = nullptr;
  GOOD(cuStreamCreate(&stream, 1));
  GOOD(cuStreamCreate(&other, 1));
  Event before = nullptr, behind = nullptr;
  GOOD(cuEventCreate(&before, 0));
  GOOD(cuEventCreate(&behind, 0));
  void* shared = nullptr;
  GOOD(cuMemAllocHost_v2(&shared, 8));
  auto volatile* const words = static_cast<unsigned volatile*>(shared);
  auto const flag = reinterpret_cast<Pointer>(shared);
  Pointer out = flag + 4, data = 0;
  GOOD(cuMemAlloc_v2(&data, 4));
  float value = 3;
  GOOD(cuMemcpyHtoD_v2(data, &value, 4));
  void* arguments[] = {const_cast<Pointer*>(&flag), &out};
  auto const launch = [&](Stream in) { return cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, in, arguments, nullptr); };
  words[0] = 0;
  words[1] = 0;
  GOOD(cuEventRecord(before, stream));
  GOOD(launch(stream));
  GOOD(scale(function, data, 2, 1, stream));
  GOOD(cuEventRecord(behind, stream));
  GOOD(cuEventSynchronize(before));
  GOOD(cuStreamSynchronize(other));
  EXPECT(cuStreamQuery(stream) == Code::not_ready && cuEventQuery(behind) == Code::not_ready);
  EXPECT(words[1] == 0);
  words[0] = 5;
  GOOD(cuEventSynchronize(behind));
  EXPECT(words[1] == 5);
  GOOD(cuStreamQuery(stream));
  GOOD(launch(stream));  // which does not wait: the flag is there
  EXPECT(words[1] == 10);
  words[0] = 0;
  GOOD(launch(nullptr));
  GOOD(launch(stream));
  words[0] = 1;
  GOOD(cuStreamDestroy_v2(stream));
  EXPECT(words[1] == 11);
  GOOD(cuCtxSynchronize());
  EXPECT(words[1] == 12);
  GOOD(cuMemcpyDtoH_v2(&value, data, 4));
  EXPECT(value == 6);
  GOOD(cuMemFreeHost(shared));
  GOOD(cuMemFree_v2(data));
}

// Events, and work that is captured: it runs when the graph is launched.
void streams(Module module) {
  Function function = nullptr;
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
  GOOD(cuStreamCreate(&stream, 1));
  GOOD(cuEventCreate(&begin, 0));
  GOOD(cuEventCreate(&end, 0));
  float milliseconds = -1;
  EXPECT(cuEventElapsedTime(&milliseconds, begin, end) == Code::invalid_resource_handle);
  Pointer data = 0;
  auto host = numbers(1000);
  GOOD(cuMemAlloc_v2(&data, 4000));
  GOOD(cuEventRecord(begin, stream));
  GOOD(cuMemcpyHtoDAsync_v2(data, host.data(), 4000, stream));
  GOOD(cuStreamBeginCapture_v2(stream, 2));
  GOOD(scale(function, data, 2, 1000, stream));
  GOOD(scale(function, data, 2, 1000, stream));
  Graph* graph = nullptr;
  GOOD(cuStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  GOOD(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  GraphExec* exec = nullptr;
  GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, stream));
  GOOD(cuGraphLaunch(exec, stream));
  GOOD(cuMemcpyDtoHAsync_v2(host.data(), data, 4000, stream));
  GOOD(cuStreamSynchronize(stream));
  GOOD(cuEventRecord(end, stream));
  GOOD(cuEventSynchronize(end));
  GOOD(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0 && host[1] == 16);

  // A node of a kernel that is named as a library's.
  Graph* made = nullptr;
  Node* node = nullptr;
  float by = 0.5F;
  unsigned n = 1000;
  void* arguments[] = {&data, &by, &n};
  KernelNode kernel{{nullptr, {8, 1, 1}, {128, 1, 1}, 0, arguments, nullptr}, function, nullptr}, seen{};
  GOOD(cuGraphCreate(&made, 0));
  GOOD(cuGraphAddKernelNode_v2(&node, made, nullptr, 0, &kernel));
  GOOD(cuGraphKernelNodeGetParams_v2(node, &seen));
  EXPECT(seen.parameters.function == function && seen.parameters.grid.x == 8);
  GOOD(cuGraphInstantiateWithFlags(&exec, made, 0));
  GOOD(cuGraphLaunch(exec, nullptr));
  GOOD(cuMemcpyDtoH_v2(host.data(), data, 4000));
  EXPECT(host[1] == 8);
  GOOD(cuMemFree_v2(data));
}

std::uint64_t graph_memory(int attribute) {
  std::uint64_t bytes = ~0ULL;
  GOOD(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
  return bytes;
}

// A graph that allocates, fills, runs a kernel, copies out and frees; within another, as its child; captured.
void nodes(Module module) {
  constexpr std::uint64_t bytes = 4000;
  Function function = nullptr;
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  Event event = nullptr;
  GOOD(cuEventCreate(&event, 0));
  Graph* graph = nullptr;
  GOOD(cuGraphCreate(&graph, 0));
  std::vector<Node*> chain;
  auto const add = [&](NodeType type, auto const& fill) {
    NodeParameters given{};
    given.type = type;
    fill(given);
    Node* node = nullptr;
    GOOD(cuGraphAddNode_v2(&node, graph, chain.empty() ? nullptr : &chain.back(), nullptr, chain.empty() ? 0 : 1,
                           &given));
    chain.push_back(node);
    return given;
  };
  auto const used = graph_memory(0), reserved = graph_memory(2);
  auto const memory = add(NodeType::allocation, [](auto& p) { p.allocation.bytes = bytes; });
  auto data = reinterpret_cast<Pointer>(memory.allocation.pointer);
  EXPECT(data != 0 && graph_memory(2) == reserved + bytes && graph_memory(0) == used);
  float const two = 2;
  add(NodeType::fill, [&](auto& p) {
    std::uint32_t value = 0;
    std::memcpy(&value, &two, sizeof value);
    p.fill = {memory.allocation.pointer, 0, value, 4, 1000, 1};
  });
  float by = 3;
  unsigned n = 1000;
  void* arguments[] = {&data, &by, &n};
  // The function in the place of a kernel of a library.
  add(NodeType::kernel, [&](auto& p) {
    KernelNode const kernel{{nullptr, {8, 1, 1}, {128, 1, 1}, 0, arguments, nullptr}, function, nullptr};
    std::memcpy(&p.kernel, &kernel, sizeof kernel);
  });
  add(NodeType::event_record, [&](auto& p) { p.event.event = event; });
  add(NodeType::event_wait, [&](auto& p) { p.event.event = event; });
  Pointer out = 0;
  GOOD(cuMemAlloc_v2(&out, bytes));
  by = 5;  // the arguments were copied
  add(NodeType::release, [&](auto& p) { p.release.pointer = memory.allocation.pointer; });
  Event seen = nullptr;
  GOOD(cuGraphEventRecordNodeGetEvent(chain[3], &seen));
  EXPECT(seen == event);
  std::size_t edges = 0;
  GOOD(cuGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT(edges == chain.size() - 1);

  // The same as a child of another graph, whose copy of the kernel's node has its own life.
  Graph* outer = nullptr;
  GOOD(cuGraphCreate(&outer, 0));
  std::swap(graph, outer);
  chain.clear();
  add(NodeType::graph, [&](auto& p) { p.child.graph = outer; });
  add(NodeType::allocation, [](auto& p) { p.allocation.bytes = 16; });
  NodeParameters bad{};
  bad.type = static_cast<NodeType>(99);
  Node* none = nullptr;
  EXPECT(cuGraphAddNode_v2(&none, graph, nullptr, nullptr, 0, &bad) != Code::success && !none);
  EXPECT(cuGraphAddNode_v2(&none, graph, nullptr, nullptr, 0, nullptr) == Code::invalid_value);
  Graph* child = nullptr;
  GOOD(cuGraphChildGraphNodeGetGraph(chain[0], &child));
  EXPECT(child && child != outer);
  GOOD(cuGraphDestroy(outer));
  GraphExec* exec = nullptr;
  GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int runs = 0; runs < 2; ++runs) {
    GOOD(cuGraphLaunch(exec, nullptr));
    std::vector<float> host(1000);
    GOOD(cuMemcpyDtoH_v2(host.data(), data, bytes));  // it is freed, but still the graph's
    EXPECT(host == std::vector<float>(1000, 6.0F));
    EXPECT(graph_memory(0) == used + 16);
  }
  Graph* clone = nullptr;
  GOOD(cuGraphClone(&clone, graph));
  GOOD(cuGraphNodeFindInClone(&none, chain[1], clone));
  EXPECT(none && none != chain[1]);
  GOOD(cuGraphDestroy(clone));
  GOOD(cuGraphDestroy(graph));
  EXPECT(cuGraphChildGraphNodeGetGraph(chain[0], &child) == Code::invalid_value);
  EXPECT(graph_memory(2) == reserved + bytes + 16);  // the executable graph has it
  GOOD(cuGraphExecDestroy(exec));
  EXPECT(graph_memory(2) == reserved && graph_memory(0) == used);
  EXPECT(cuMemFree_v2(data) == Code::invalid_value);

  Stream stream = nullptr;
  GOOD(cuStreamCreate(&stream, 1));
  GOOD(cuStreamBeginCapture_v2(stream, 2));
  GOOD(cuMemAllocAsync(&data, bytes, stream));
  GOOD(cuMemFreeAsync(data, stream));
  GOOD(cuStreamEndCapture(stream, &graph));
  EXPECT(graph_memory(2) == reserved + bytes);
  GOOD(cuGraphDestroy(graph));
  EXPECT(graph_memory(2) == reserved);
  GOOD(cuMemFree_v2(out));
}

void procedures() {
  void* function = nullptr;
  int result = 9;
  constexpr int cuda_12 = 12000, cuda_13 = 13000;
  GOOD(cuGetProcAddress_v2("cuMemAlloc", &function, cuda_12, 0, &result));
  EXPECT(function == reinterpret_cast<void*>(cuMemAlloc_v2) && result == 0);
  EXPECT(cuGetProcAddress_v2("cuNoSuchThing", &function, cuda_12, 0, &result) == Code::symbol_not_found);
  EXPECT(!function && result == 1);
  // Some applications look up all functions of a driver by their first names, and end where there is none.
  for (char const* const name : {
#define KERNELCAST_DRIVER_VERSION(since, name, suffix) #name,
#include "kernels/cuda/driver_entry_points.def"
       }) {
    if (cuGetProcAddress_v2(name, &function, 1000, 0, nullptr) == Code::success) continue;
    std::printf("there is no first version of %s\n", name);
    ++failures;
  }
  EXPECT(cuMemAlloc(nullptr, 4) == Code::not_supported);
  // The same name with other arguments.
  void *old_one = nullptr, *new_one = nullptr;
  GOOD(cuGetProcAddress_v2("cuCtxGetDevice", &old_one, cuda_12, 0, nullptr));
  GOOD(cuGetProcAddress_v2("cuCtxGetDevice", &new_one, cuda_13, 0, nullptr));
  EXPECT(old_one == reinterpret_cast<void*>(cuCtxGetDevice) && old_one != new_one);
  Device device = 9;
  Context current = nullptr;
  GOOD(cuCtxGetCurrent(&current));
  GOOD(reinterpret_cast<Code (*)(Device*, Context)>(new_one)(&device, current));
  EXPECT(device == 0);
  // Names of the host's own library are not the driver's.
  EXPECT(cuGetProcAddress_v2("malloc", &function, cuda_12, 0, nullptr) == Code::symbol_not_found);
}

// What graphs hold is destroyed with the last of them.
void user_objects() {
  int destroyed = 0;
  auto const destroy = [](void* of) { ++*static_cast<int*>(of); };
  UserObject *object = nullptr, *other = nullptr;
  EXPECT(cuUserObjectCreate(&object, &destroyed, destroy, 0, 1) == Code::invalid_value);
  GOOD(cuUserObjectCreate(&object, &destroyed, destroy, 2, 1));
  GOOD(cuUserObjectCreate(&other, &destroyed, destroy, 1, 1));
  Graph *graph = nullptr, *copy = nullptr;
  GraphExec* exec = nullptr;
  GOOD(cuGraphCreate(&graph, 0));
  EXPECT(cuGraphRetainUserObject(graph, object, 3, 1) == Code::invalid_value);  // it has but two to give
  EXPECT(cuGraphRetainUserObject(graph, object, 1u << 31, 0) == Code::invalid_value);
  GOOD(cuGraphRetainUserObject(graph, object, 1, 1));
  GOOD(cuGraphRetainUserObject(graph, other, 2, 0));
  GOOD(cuUserObjectRetain(object, 2));
  GOOD(cuUserObjectRelease(object, 3));
  EXPECT(cuUserObjectRelease(object, 1) == Code::invalid_value);
  GOOD(cuGraphReleaseUserObject(graph, other, 2));
  EXPECT(destroyed == 0 && cuGraphReleaseUserObject(graph, other, 1) == Code::invalid_value);
  GOOD(cuUserObjectRelease(other, 1));
  EXPECT(destroyed == 1 && cuUserObjectRetain(other, 1) == Code::invalid_value);
  GOOD(cuGraphClone(&copy, graph));
  GOOD(cuGraphDestroy(graph));
  GOOD(cuGraphInstantiateWithFlags(&exec, copy, 0));
  GOOD(cuGraphDestroy(copy));
  EXPECT(destroyed == 1);
  GOOD(cuGraphExecDestroy(exec));
  EXPECT(destroyed == 2);
}

// A pool keeps what it is set to; its memory is the device's.
void pools() {
  Pool *of_device = nullptr, *made = nullptr, *current = nullptr;
  constexpr int release_threshold = 4, used = 7;
  struct {
    int allocations = 1, handles = 0;
    Location location{location_device, 0};
    char rest[72]{};
  } const properties;
  GOOD(cuDeviceGetDefaultMemPool(&of_device, 0));
  GOOD(cuMemPoolCreate(&made, &properties));
  unsigned long long bytes = 1 << 20, found = 0, before = 0, after = 0;
  GOOD(cuMemPoolSetAttribute(made, release_threshold, &bytes));
  GOOD(cuMemPoolGetAttribute(made, release_threshold, &found));
  EXPECT(found == bytes);
  GOOD(cuMemPoolGetAttribute(of_device, release_threshold, &found));
  EXPECT(found == 0);
  GOOD(cuDeviceSetMemPool(0, made));
  GOOD(cuMemGetMemPool(&current, &properties.location, 1));
  EXPECT(current == made);
  Pointer data = 0;
  GOOD(cuMemPoolGetAttribute(made, used, &before));
  GOOD(cuMemAllocFromPoolAsync(&data, 4096, made, nullptr));
  GOOD(cuMemPoolGetAttribute(made, used, &after));
  EXPECT(after == before + 4096);
  EXPECT(cuMemPoolSetAttribute(made, used, &bytes) == Code::invalid_value);
  GOOD(cuMemFreeAsync(data, nullptr));
  GOOD(cuMemPoolDestroy(made));
  GOOD(cuDeviceGetMemPool(&current, 0));
  EXPECT(current == of_device && cuMemPoolDestroy(made) == Code::invalid_value);
  EXPECT(cuMemPoolDestroy(of_device) == Code::invalid_value);
}

// What the runtime of CUDA 13.4 does not begin without. Its entries are refused.
void tables() {
  void const* table = nullptr;
  EXPECT(cuGetExportTable(&table, "no such table...") == Code::invalid_value && !table);
  GOOD(cuGetExportTable(&table, "\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2"));
  if (!table) return;
  auto const* const entries = static_cast<void* const*>(table);
  EXPECT(reinterpret_cast<std::size_t>(entries[0]) == 95 * sizeof(void*));
  for (int i = 1; i < 95; ++i) EXPECT(reinterpret_cast<Code (*)()>(entries[i])() == Code::not_supported);
}

// A kernel that fails spoils the context for good.
void fault(Module module) {
  Link* link = nullptr;
  GOOD(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  Function stop = nullptr;
  GOOD(cuModuleGetFunction(&stop, module, "stop"));
  GOOD(cuLaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Pointer data = 0;
  EXPECT(cuCtxSynchronize() == Code::launch_failure && cuMemAlloc_v2(&data, 4) == Code::launch_failure);
  GOOD(cuLinkDestroy(link));
  EXPECT(cuLinkDestroy(link) == Code::invalid_resource_handle);
}

int usual() {
  before_a_context();
  contexts();
  Module module = nullptr;
  GOOD(cuModuleLoadData(&module, program));
  launches(module);
  functions(module);
  images();
  registers();
  memory();
  virtual_memory(module);
  textures(module);
  streams(module);
  flags(module);
  pointer_elsewhere(module);
  without_context(module);
  nodes(module);
  procedures();
  user_objects();
  pools();
  tables();
  fault(module);
  std::printf("%d failures\n", failures);
  return failures ? 1 : 7;
}

Module enter() {
  Context context = nullptr;
  Module module = nullptr;
  GOOD(cuInit(0));
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuCtxSetCurrent(context));
  GOOD(cuModuleLoadData(&module, program));
  return module;
}

// Random calls on a few small buffers, many of which change nothing or are never read, beside what the host reckons.
constexpr std::size_t width = 32, bytes_of_buffer = 4 * width;

class RandomCalls {
 public:
  explicit RandomCalls(unsigned seed) : state_(seed), module_(enter()) {
    GOOD(cuModuleGetFunction(&weigh_, module_, "weigh"));
    GOOD(cuModuleGetFunction(&scale_, module_, "scale"));
    GOOD(cuModuleGetGlobal_v2(&weight_, nullptr, module_, "weight"));
    for (auto& buffer : device_) {
      GOOD(cuMemAlloc_v2(&buffer, bytes_of_buffer));
      GOOD(cuMemsetD32_v2(buffer, 0, width));
    }
    void* pinned = nullptr;
    GOOD(cuMemAllocHost_v2(&pinned, bytes_of_buffer));
    pinned_ = static_cast<float*>(pinned);
    std::memset(pinned_, 0, bytes_of_buffer);
  }

  void run(int calls) {
    for (int c = 0; c < calls && failures == 0; ++c) {
      auto const kind = below(30);
      std::size_t const from = below(count), to = below(count);
      if (kind < 14)  // the same few again and again
        weigh(kind < 10 ? from % 2 : from, kind < 10 ? 2 + to % 2 : to);
      else if (kind == 14)
        fill(to);
      else if (kind == 15)
        copy(to);
      else if (kind == 16)
        in_place(to);
      else if (kind == 17)
        anew(to);
      else if (kind == 18)
        set_weight();
      else if (kind == 19)
        from_pinned(to);
      else if (kind < 22)
        fill_all(to);
      else if (kind == 22)
        in_place(to);
      else if (kind < 26)
        copy_on(from, to, kind == 23);
      else if (kind == 26)
        fill_rows(to);
      else
        part(to);
      if (below(6) == 0) compare(below(count));
    }
    for (std::size_t b = 0; b < count; ++b) compare(b);
  }

 private:
  static constexpr std::size_t count = 5;

  unsigned below(unsigned n) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 8) % n;
  }
  void weigh(std::size_t from, std::size_t to) {
    void* arguments[] = {&device_[from], &device_[to]};
    GOOD(cuLaunchKernel(weigh_, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
    for (std::size_t i = 0; i < width; ++i) host_[to][i] = std::fma(host_[from][i], of_host_, 1.0F);
  }
  void fill(std::size_t to) {
    GOOD(cuMemsetD32_v2(device_[to] + 16, 0x40000000, 4));
    for (std::size_t i = 4; i < 8; ++i) host_[to][i] = 2;
  }
  void copy(std::size_t to) {
    auto const value = static_cast<float>(below(9));
    GOOD(cuMemcpyHtoD_v2(device_[to] + 4, &value, 4));
    host_[to][1] = value;
  }
  void in_place(std::size_t to) {
    GOOD(scale(scale_, device_[to], 0.5F, width));
    for (auto& value : host_[to]) value = value * 0.5F * of_host_;
  }
  void anew(std::size_t to) {  // perhaps at the same address, with other contents
    GOOD(cuMemFree_v2(device_[to]));
    GOOD(cuMemAlloc_v2(&device_[to], bytes_of_buffer));
    if (below(2) == 0) return std::fill_n(host_[to], width, 0.0F), void();
    GOOD(cuMemsetD32_v2(device_[to], 0x3f800000, width));
    for (auto& value : host_[to]) value = 1;
  }
  void set_weight() {
    of_host_ = 0.25F * static_cast<float>(below(4));
    GOOD(cuMemcpyHtoD_v2(weight_, &of_host_, 4));
  }
  void from_pinned(std::size_t to) {  // that the host writes without a call
    pinned_[3] += 1;
    auto const address = reinterpret_cast<Pointer>(pinned_);
    void* arguments[] = {const_cast<Pointer*>(&address), &device_[to]};
    GOOD(cuLaunchKernel(weigh_, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
    for (std::size_t i = 0; i < width; ++i) host_[to][i] = std::fma(pinned_[i], of_host_, 1.0F);
  }
  void part(std::size_t to) {  // the same few, apart, side by side or overlapping
    auto const value = static_cast<float>(1 + below(2));
    std::size_t const begin = 4 * below(8), n = std::min<std::size_t>(below(3) == 0 ? 6 : 4, width - begin);
    std::vector<float> const values(n, value);
    GOOD(cuMemcpyHtoD_v2(device_[to] + 4 * begin, values.data(), 4 * n));
    std::copy_n(values.begin(), n, host_[to] + begin);
  }
  void fill_rows(std::size_t to) {  // of two words, every four or every eight
    std::size_t const pitch = 4 * (1 + below(2)), rows = 16 / pitch + 1, begin = 4 * below(3);
    GOOD(cuMemsetD2D32_v2(device_[to] + 4 * begin, 4 * pitch, 0x40800000, 2, rows));
    for (std::size_t row = 0; row < rows; ++row) std::fill_n(host_[to] + begin + row * pitch, 2, 4.0F);
  }
  void fill_all(std::size_t to) {
    GOOD(cuMemsetD8_v2(device_[to], 0x3f, bytes_of_buffer));
    std::memset(host_[to], 0x3f, bytes_of_buffer);
  }
  void copy_on(std::size_t from, std::size_t to, bool all) {
    if (from == to) return;
    GOOD(cuMemcpyDtoD_v2(device_[to], device_[from], all ? bytes_of_buffer : 16));
    std::copy_n(host_[from], all ? width : 4, host_[to]);
  }
  void compare(std::size_t buffer) {
    float seen[width];
    GOOD(cuMemcpyDtoH_v2(seen, device_[buffer], bytes_of_buffer));
    EXPECT(std::memcmp(seen, host_[buffer], sizeof seen) == 0);
  }

  unsigned state_;
  Module module_;
  Function weigh_ = nullptr, scale_ = nullptr;
  Pointer weight_ = 0, device_[count] = {};
  float host_[count][width] = {}, of_host_ = 2;
  float* pinned_ = nullptr;
};

// A hundred times the same, whose input comes in parts, then another input: what is left of a budget says whether the
// hundred ran.
int hundred_times() {
  Module const module = enter();
  Function weigh = nullptr;
  Pointer in = 0, out = 0;
  GOOD(cuModuleGetFunction(&weigh, module, "weigh"));
  GOOD(cuMemAlloc_v2(&in, bytes_of_buffer));
  GOOD(cuMemAlloc_v2(&out, bytes_of_buffer));
  void* arguments[] = {&in, &out};
  float seen = 0;
  for (unsigned const value : {0x3f800000u, 0x40400000u}) {  // 1, 3
    for (int i = 0; i < 100; ++i) {
      for (std::size_t part = 0; part < 4; ++part)
        GOOD(cuMemsetD32_v2(in + bytes_of_buffer / 4 * part, value, width / 4));
      GOOD(cuLaunchKernel(weigh, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
    }
  }
  GOOD(cuMemcpyDtoH_v2(&seen, out, 4));
  std::printf("%g\n", static_cast<double>(seen));
  return failures ? 1 : 7;
}

// A hundred times into memory of its own that is read each time, then the same of another input.
int hundred_results() {
  Module const module = enter();
  Function weigh = nullptr;
  Pointer in = 0;
  GOOD(cuModuleGetFunction(&weigh, module, "weigh"));
  GOOD(cuMemAlloc_v2(&in, bytes_of_buffer));
  for (unsigned const value : {0x3f800000u, 0x40400000u}) {  // 1, 3
    GOOD(cuMemsetD32_v2(in, value, width));
    for (int i = 0; i < 100; ++i) {
      Pointer out = 0;
      float seen = 0;
      GOOD(cuMemAlloc_v2(&out, bytes_of_buffer));
      void* arguments[] = {&in, &out};
      GOOD(cuLaunchKernel(weigh, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
      GOOD(cuMemcpyDtoH_v2(&seen, out, 4));
      GOOD(cuMemFree_v2(out));
      if (i == 0 || i == 99) std::printf("%g\n", static_cast<double>(seen));
    }
  }
  return failures ? 1 : 7;
}

// Commands whose order driver.sh knows.
int ordered() {
  Module const module = enter();
  Function function = nullptr;
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  constexpr std::size_t n = 1000, bytes = 4 * n;
  Pointer data = 0;
  void* pinned = nullptr;
  std::vector<float> pageable(n);
  GOOD(cuMemAlloc_v2(&data, bytes));
  GOOD(cuMemAllocHost_v2(&pinned, bytes));
  Stream one = nullptr, other = nullptr, apart = nullptr;
  Event event = nullptr;
  GOOD(cuStreamCreate(&one, 0));
  GOOD(cuStreamCreate(&other, 0));
  GOOD(cuStreamCreate(&apart, 1));
  GOOD(cuEventCreate(&event, 0));
  auto const launch = [&](Stream stream) {
    auto const factor = 0.5F;
    auto const count = static_cast<unsigned>(n);
    void* arguments[] = {&data, const_cast<float*>(&factor), const_cast<unsigned*>(&count)};
    GOOD(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  };
  GOOD(cuMemcpyHtoDAsync_v2(data, pinned, bytes, one));             // 1
  launch(one);                                                      // 2 after 1
  GOOD(cuMemcpyHtoDAsync_v2(data, pageable.data(), bytes, other));  // 3, and the host waits
  GOOD(cuEventRecord(event, one));
  GOOD(cuStreamWaitEvent(other, event, 0));
  launch(other);                                         // 4 after 2 and 3
  launch(apart);                                         // 5
  GOOD(cuMemsetD8_v2(data, 0, bytes));                   // 6, on the default stream, after 2 and 4
  GOOD(cuMemcpyDtoHAsync_v2(pinned, data, bytes, one));  // 7 after 6
  GOOD(cuStreamSynchronize(one));                        // 8 after 7
  GOOD(cuStreamSynchronize(one));                        // nothing new
  Graph* graph = nullptr;
  GraphExec* exec = nullptr;
  GOOD(cuStreamBeginCapture_v2(one, 2));
  launch(one);
  GOOD(cuEventRecord(event, one));
  GOOD(cuStreamWaitEvent(other, event, 0));
  launch(other);
  launch(one);
  GOOD(cuEventRecord(event, other));
  GOOD(cuStreamWaitEvent(one, event, 0));
  launch(one);
  GOOD(cuStreamEndCapture(one, &graph));
  GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
  GOOD(cuGraphLaunch(exec, one));                   // 9 after 7; 10 and 11 after 9; 12 after both
  GOOD(cuMemcpyDtoH_v2(pageable.data(), data, 4));  // 13 after 6 and 12, and the host waits
  GOOD(cuCtxSynchronize());                         // 14 after 5 and 13
  launch(apart);                                    // 15 after 5
  GOOD(cuEventRecord(event, apart));
  GOOD(cuStreamWaitEvent(nullptr, event, 0));
  launch(one);  // 16 after 13 and 15: the default stream's wait holds it up
  GOOD(cuEventRecord(event, one));
  GOOD(cuEventDestroy_v2(event));
  GOOD(cuEventCreate(&event, 0));  // perhaps at the same place
  GOOD(cuStreamWaitEvent(apart, event, 0));
  launch(apart);  // 17 after 15
  Pointer large = 0;
  GOOD(cuMemAlloc_v2(&large, 1 << 20));
  GOOD(cuMemFree_v2(large));
  return failures ? 1 : 7;
}

int scale_of_file(char const* path) {
  Context context = nullptr;
  Module module = nullptr;
  Function function = nullptr;
  Pointer data = 0;
  GOOD(cuInit(0));
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuCtxSetCurrent(context));
  GOOD(cuModuleLoad(&module, path));
  GOOD(cuModuleGetFunction(&function, module, "scale"));
  GOOD(cuMemAlloc_v2(&data, 4096));
  for (int i = 0; i < 5; ++i) GOOD(scale(function, data, 3, 1000));
  return failures ? 1 : 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return usual();
  if (argv[1] == std::string_view("hundred")) return hundred_times();
  if (argv[1] == std::string_view("results")) return hundred_results();
  if (argv[1] == std::string_view("ordered")) return ordered();
  if (argv[1] != std::string_view("random")) return scale_of_file(argv[1]);
  RandomCalls(static_cast<unsigned>(std::atoi(argv[2]))).run(600);
  return failures ? 1 : 7;
}
