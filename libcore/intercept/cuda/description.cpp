#include "intercept/cuda/forward/description.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "intercept/cuda/forward/next.hpp"
#include "intercept/text.hpp"

namespace kernelcast::cudart::forward {

namespace {

using Memory = std::map<std::uint64_t, std::uint64_t>;  // bytes by address
using intercept::quoted;

// The block that holds an address, or the end.
Memory::const_iterator holding(Memory const& memory, std::uint64_t address) {
  auto const after = memory.upper_bound(address);
  if (after == memory.begin()) return memory.end();
  auto const block = std::prev(after);
  return address - block->first < block->second ? block : memory.end();
}

// Blocks of memory that a launch takes, each read back once, with those that they point to.
class ReadBack {
 public:
  ReadBack(Memory const& memory, intercept::Spool const& spool, std::uint64_t number)
      : memory_(memory), spool_(spool), number_(number) {}

  // "b0+64" where the address lies in a block, else empty.
  std::string place(std::uint64_t address) {
    auto const block = holding(memory_, address);
    if (block == memory_.end()) return {};
    auto const name = name_of(block);
    auto const offset = address - block->first;
    return offset == 0 ? name : fmt::format("{}+{}", name, offset);
  }

  // The [buffers] of the launch file.
  std::string finish() {
    while (!waiting_.empty()) {
      auto const block = waiting_.front();
      waiting_.pop_front();
      read(block);
    }
    return text_.empty() ? text_ : "\n[buffers]\n" + text_;
  }

 private:
  std::string name_of(Memory::const_iterator block) {
    auto const [at, is_new] = names_.try_emplace(block->first, fmt::format("b{}", names_.size()));
    if (is_new) waiting_.push_back(block);
    return at->second;
  }

  void read(Memory::const_iterator block) {
    auto const [address, bytes] = *block;
    bytes_ += bytes;
    if (bytes_ > most_read_back_bytes)
      throw Refused{fmt::format("it takes more than {} bytes of memory", most_read_back_bytes)};
    auto const& name = names_.at(address);
    auto const file = spool_.name("buffer", number_, '-' + name + ".bin");
    std::byte* const content = spool_.map(file, bytes);
    if (!content) throw Refused{"the disk is full"};
    auto const code = runtime().copy(content, reinterpret_cast<void const*>(address), bytes, CopyKind::by_address);
    if (code == Code::success) follow(content, bytes);
    intercept::Spool::unmap(content, bytes);
    if (code != Code::success)
      throw Refused{fmt::format("its memory cannot be read back (error {})", static_cast<int>(code)), true};
    text_ += fmt::format("{} = {}\n", name, quoted(fmt::format("u8,at=0x{:x}:{}:file={}", address, bytes, file)));
  }

  void follow(std::byte const* content, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at + 8 <= bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, content + at, 8);
      if (word < memory_.begin()->first) continue;
      if (auto const block = holding(memory_, word); block != memory_.end()) name_of(block);
    }
  }

  Memory const& memory_;
  intercept::Spool const& spool_;
  std::uint64_t number_, bytes_ = 0;
  std::map<std::uint64_t, std::string> names_;  // by address
  std::deque<Memory::const_iterator> waiting_;
  std::string text_;
};

bool reads_images(ptx::Function const& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(), [](ptx::Instruction const& i) {
    return i.opcode == "tex" || i.opcode == "tld4" || i.opcode == "suld" || i.opcode == "sust" || i.opcode == "sured";
  });
}

std::string argument(ptx::Parameter const& parameter, void const* value, Memory const& memory, ReadBack& read_back) {
  auto const* const bytes = static_cast<std::byte const*>(value);
  std::vector<std::byte> const content(bytes, bytes + parameter.size);
  for (std::uint64_t at = 0; at + 8 <= parameter.size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    if (holding(memory, word) == memory.end()) continue;
    if (parameter.size != 8) throw Refused{"it takes a structure with pointers"};
    return read_back.place(word);
  }
  return intercept::hex(content);
}

// The statement that declares a variable, with its present value in place of the first one.
std::string with_value(ptx::Variable const& v, std::vector<std::uint8_t> const& value) {
  std::string out = fmt::format(".visible .{} .align {} .b8 {}[{}] = {{", ptx::name(v.space),
                                std::max<std::uint64_t>(v.align, 1), v.name, v.size);
  for (std::size_t i = 0; i < value.size(); ++i) out += fmt::format("{}{}", i ? "," : "", value[i]);
  return out + "};";
}

// [ptx] A declaration ends with a semicolon, and nothing in it holds one.
std::string with_values(Program const& program) {
  auto const& module = *program.module;
  std::string text = module.text;
  std::vector<std::pair<ptx::Variable const*, Program::Symbol const*>> known;
  for (auto const& variable : module.variables)
    for (auto const& symbol : program.symbols)
      if (variable.name == symbol.name && variable.size == symbol.bytes) known.emplace_back(&variable, &symbol);
  // From behind, so that places stay.
  std::sort(known.begin(), known.end(),
            [](auto const& a, auto const& b) { return a.first->name.data() > b.first->name.data(); });
  for (auto const& [variable, symbol] : known) {
    std::vector<std::uint8_t> value(symbol->bytes);
    if (runtime().copy_from_symbol(value.data(), symbol->host, value.size(), 0, CopyKind::device_to_host) !=
        Code::success)
      throw Refused{"a variable of its program cannot be read back", true};
    auto const at = static_cast<std::size_t>(variable->name.data() - module.text.data());
    auto const begin = text.find_last_of(";}\n", at), end = text.find(';', at);
    if (end == std::string::npos) continue;
    text.replace(begin + 1, end - begin, with_value(*variable, value));
  }
  return text;
}

std::string sizes(Dim3 const& size) {
  return size.z > 1   ? fmt::format("[{}, {}, {}]", size.x, size.y, size.z)
         : size.y > 1 ? fmt::format("[{}, {}]", size.x, size.y)
                      : fmt::format("[{}]", size.x);
}

}  // namespace

std::string describe_launch(Kernel const& kernel, ptx::Function const& function, Launch const& launch,
                            Memory const& memory, intercept::Spool const& spool, std::uint64_t number) {
  if (reads_images(function)) throw Refused{"it reads textures or surfaces"};
  if (runtime().synchronize() != Code::success) throw Refused{"an earlier launch has failed", true};
  auto const ptx = with_values(*kernel.program);
  auto const file = "program-" + intercept::hash_of(ptx) + ".ptx";
  if (!spool.has_program(file) && !spool.publish_program(file, ptx)) throw Refused{"the disk is full"};
  ReadBack read_back(memory, spool, number);
  std::string arguments;
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    arguments += (i ? ", " : "") + quoted(argument(function.parameters[i], launch.arguments[i], memory, read_back));
  return "# Captured from a running application.\nfile = " + quoted(spool.program(file)) + '\n' + read_back.finish() +
         "\n[[launch]]\nkernel = " + quoted(kernel.name) + "\ngrid = " + sizes(launch.sizes.grid) +
         "\nlocal = " + sizes(launch.sizes.block) +
         (launch.sizes.dynamic_shared_bytes ? fmt::format("\nshared = {}", launch.sizes.dynamic_shared_bytes) : "") +
         "\nargs = [" + arguments + "]\n";
}

}  // namespace kernelcast::cudart::forward
