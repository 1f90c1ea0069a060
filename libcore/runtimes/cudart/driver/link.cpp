#include "runtimes/cudart/driver/link.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "kernels/cuda/fatbin.hpp"
#include "kernels/ptx/link.hpp"
#include "kernels/ptx/parser.hpp"

namespace kernelcast::driver {

namespace {

// What kernels call of CUDA's runtime of the device (cudadevrt), which has machine code alone: the barrier of all
// groups of a cooperative launch. Its count is where %envreg1 and %envreg2 say, behind a first word. Each group adds
// one, the first group so much that the highest bit changes when all have come.
constexpr char const* device_runtime = R"(.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b64 out) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd1, {%r2, %r1};
  st.param.b64 [out], %rd1;
  ret;
}
.visible .func (.param .b32 out) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<2>;
  ld.param.b64 %rd1, [handle];
  setp.eq.s64 %p1, %rd1, 0;
  mov.u32 %r1, 82;
  @%p1 bra DONE;
  bar.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %nctaid.y;
  mul.lo.u32 %r2, %r2, %r3;
  mov.u32 %r3, %nctaid.z;
  mul.lo.u32 %r2, %r2, %r3;
  sub.u32 %r2, -2147483647, %r2;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ctaid.y;
  mov.u32 %r5, %ctaid.z;
  or.b32 %r3, %r3, %r4;
  or.b32 %r3, %r3, %r5;
  setp.eq.u32 %p2, %r3, 0;
  selp.b32 %r6, %r2, 1, %p2;
  membar.gl;
  atom.global.add.u32 %r7, [%rd1+4], %r6;
SPIN:
  ld.volatile.global.u32 %r8, [%rd1+4];
  xor.b32 %r9, %r7, %r8;
  setp.ge.s32 %p2, %r9, 0;
  @%p2 bra SPIN;
  membar.gl;
WAIT:
  bar.sync 0;
  mov.u32 %r1, 0;
DONE:
  st.param.b32 [out], %r1;
  ret;
}
)";

// Where the body of this function begins.
std::size_t begin_of_body(std::string const& text, ptx::Function const& function) {
  auto at = static_cast<std::size_t>(function.name.data() - text.data());
  while (at < text.size() && text[at] != '{') {
    auto const* const end = text.compare(at, 2, "//") == 0 ? "\n" : text.compare(at, 2, "/*") == 0 ? "*/" : nullptr;
    at = end ? std::min(text.find(end, at + 2), text.size()) : at + 1;
  }
  return at;
}

std::string with_max_registers(std::string text, std::uint64_t most) {
  auto const module = ptx::parse(std::move(text), "what is linked");
  std::map<std::size_t, std::string> added;
  for (auto const& function : module->functions)
    if (function.entry && function.has_body && !function.directives.contains("maxnreg"))
      added[begin_of_body(module->text, function)] = ".maxnreg " + std::to_string(most) + '\n';
  std::string out;
  std::size_t done = 0;
  for (auto const& [at, line] : added) {
    out.append(module->text, done, at - done).append(line);
    done = at;
  }
  return out.append(module->text, done);
}

}  // namespace

Code add_part(Link& link, PartKind kind, void const* data, std::size_t size, char const* name,
              std::uint32_t capability) {
  std::string_view const bytes(static_cast<char const*>(data), size);
  std::string text;
  if (bytes.starts_with(fatbin::magic)) {
    auto found = fatbin::ptx_of(data, capability);
    if (!found) return Code::no_kernel_image_for_device;
    text = std::move(found->text);
  } else if (bytes.starts_with("!<arch>\n")) {
    if (!std::string_view(name ? name : "").ends_with("libcudadevrt.a"))
      return cudart::unsupported("linking libraries other than libcudadevrt.a");
    text = device_runtime;
  } else if (bytes.starts_with("\177ELF")) {
    std::size_t const before = link.parts.size();
    for (auto const one : fatbin::in_host_object(bytes))
      if (auto found = fatbin::ptx_of(one.data(), capability))
        link.parts.push_back(ptx::parse(std::move(found->text), name ? name : "an object that is linked"));
    if (link.parts.size() > before) return Code::success;
    return cudart::unsupported("linking machine code, or objects without PTX,");
  } else if (kind > PartKind::ptx) {
    return cudart::unsupported("linking machine code, or objects without PTX,");
  } else {
    text = bytes.substr(0, bytes.find('\0'));
  }
  link.parts.push_back(ptx::parse(std::move(text), name ? name : "a part that is linked"));
  return Code::success;
}

void complete(Link& link) {
  if (link.parts.size() == 1)
    link.linked = link.parts[0]->text;
  else
    link.linked = ptx::link(std::move(link.parts));
  if (link.max_registers > 0) link.linked = with_max_registers(std::move(link.linked), link.max_registers);
  link.parts.clear();
}

std::optional<std::vector<char>> content_of(char const* path) {
  struct stat status{};
  if (!path || stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> out{std::istreambuf_iterator<char>(file), {}};
  if (!file) return std::nullopt;
  out.push_back('\0');
  return out;
}

}  // namespace kernelcast::driver
