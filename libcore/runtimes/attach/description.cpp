#include "runtimes/attach/description.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "runtimes/attach/text.hpp"

namespace kernelcast::attach {

namespace {

using Block = LaunchSource::Block;

// Blocks of memory that a launch takes, each read once, with those that they point to.
class ReadBack {
 public:
  ReadBack(LaunchSource const& source, Spool const& spool, std::uint64_t number)
      : source_(source), spool_(spool), number_(number) {}

  // "b0+64" where the address lies in a block, else empty.
  std::string place(std::uint64_t address) {
    auto const block = holding(address);
    if (block.bytes == 0) return {};
    auto const& name = name_of(block);
    auto const offset = address - block.address;
    return offset == 0 ? name : fmt::format("{}+{}", name, offset);
  }

  // An image that is an argument.
  std::string place(LaunchSource::Picture const& picture) {
    auto const name = fmt::format("t{}", pictures_++);
    auto const block = holding(picture.texels.address);
    std::string contents;
    if (block.address == picture.texels.address && block.bytes != 0) {
      contents = "buffer=" + name_of(block);
    } else {  // a part of a block has texels of its own
      auto const file = read(picture.texels, name, nullptr);
      contents = "file=" + file;
    }
    images_ += fmt::format("{} = {}\n", name, toml_string(picture.text + ':' + contents));
    return name;
  }

  // Blocks that content points to are read, too.
  void follow(std::byte const* content, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at + 8 <= bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, content + at, 8);
      if (auto const block = holding(word); block.bytes != 0) name_of(block);
    }
  }

  // The [buffers] and [images] of the launch file.
  std::string finish() {
    while (!waiting_.empty()) {
      auto const block = waiting_.front();
      waiting_.pop_front();
      auto const& name = names_.at(block.address);
      auto const file = read(block, name, this);
      buffers_ += fmt::format("{} = {}\n", name,
                              toml_string(fmt::format("u8,at=0x{:x}:{}:file={}", block.address, block.bytes, file)));
    }
    return (buffers_.empty() ? buffers_ : "\n[buffers]\n" + buffers_) +
           (images_.empty() ? images_ : "\n[images]\n" + images_);
  }

 private:
  Block holding(std::uint64_t address) const { return address < 4096 ? Block{} : source_.holding(address); }

  std::string const& name_of(Block const& block) {
    auto const [at, is_new] = names_.try_emplace(block.address, fmt::format("b{}", names_.size()));
    if (is_new) waiting_.push_back(block);
    return at->second;
  }

  // Into a file of the spool, whose name is returned.
  std::string read(Block const& block, std::string const& name, ReadBack* follower) {
    bytes_ += block.bytes;
    if (bytes_ > max_described_bytes)
      throw Refused{fmt::format("it takes more than {} bytes of memory", max_described_bytes)};
    auto const file = spool_.name("buffer", number_, '-' + name + ".bin");
    auto const unmap = [&](std::byte* content) { Spool::unmap(content, block.bytes); };
    std::unique_ptr<std::byte, decltype(unmap)> const content(spool_.map(file, block.bytes), unmap);
    if (!content) throw Refused{"the disk is full"};
    source_.read(block, content.get());
    if (follower) follower->follow(content.get(), block.bytes);
    return file;
  }

  LaunchSource const& source_;
  Spool const& spool_;
  std::uint64_t number_, bytes_ = 0;
  unsigned pictures_ = 0;
  std::map<std::uint64_t, std::string> names_;  // by address
  std::deque<Block> waiting_;
  std::string buffers_, images_;
};

bool reads_tensor_maps(ptx::Function const& function) {
  return std::ranges::any_of(function.instructions, [](auto const& i) { return i.is(ptx::Op::cp) && i.has("tensor"); });
}
bool reads_images(ptx::Function const& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [](ptx::Instruction const& i) { return i.is_image_access(); });
}

// Calls of CUDA's runtime in kernels, which has no body in PTX.
bool calls_runtime(ptx::Module const& module, ptx::Function const& function, std::set<ptx::Function const*>& seen) {
  if (!seen.insert(&function).second) return false;
  if (!function.has_body) return function.name.starts_with("__cudaCDP2");
  return std::any_of(function.instructions.begin(), function.instructions.end(), [&](ptx::Instruction const& i) {
    return std::any_of(i.operands.begin(), i.operands.end(), [&](ptx::Operand const& operand) {
      return operand.kind == ptx::Operand::Kind::function && calls_runtime(module, module.functions[operand.id], seen);
    });
  });
}

std::string argument(ptx::Parameter const& parameter, void const* value, LaunchSource const& source,
                     ReadBack& read_back, unsigned& images) {
  auto const* const bytes = static_cast<std::byte const*>(value);
  std::vector<std::byte> const content(bytes, bytes + parameter.size);
  if (parameter.size != 8) {
    read_back.follow(bytes, parameter.size);
    return hex(content);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  if (auto const picture = source.picture(word)) {
    ++images;
    return read_back.place(*picture);
  }
  auto const place = read_back.place(word);
  return place.empty() ? hex(content) : place;
}

// The statement that declares a variable, with its present value in place of the first one.
std::string with_value(ptx::Variable const& v, std::vector<std::uint8_t> const& value) {
  std::string out = fmt::format(".visible .{} .align {} .b8 {}[{}] = {{", ptx::name(v.space),
                                std::max<std::uint64_t>(v.align, 1), v.name, v.size);
  for (std::size_t i = 0; i < value.size(); ++i) out += fmt::format("{}{}", i ? "," : "", value[i]);
  return out + "};";
}

void refuse_pointers(ptx::Variable const& variable, std::vector<std::uint8_t> const& value,
                     LaunchSource const& source) {
  for (std::size_t at = 0; at + 8 <= value.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, value.data() + at, 8);
    if (word >= 4096 && source.holding(word).bytes != 0)
      throw Refused{fmt::format("variable '{}' of its program holds a pointer", variable.name)};
  }
}

// [ptx] A declaration ends with a semicolon, and nothing in it holds one.
std::string with_values(ptx::Module const& module, LaunchSource const& source) {
  std::string text = module.text;
  std::vector<ptx::Variable const*> variables;
  for (auto const& variable : module.variables) variables.push_back(&variable);
  // From behind, so that places stay.
  std::sort(variables.begin(), variables.end(),
            [](auto const* a, auto const* b) { return a->name.data() > b->name.data(); });
  for (auto const* const variable : variables) {
    std::vector<std::uint8_t> value(variable->size);
    if (!source.read_variable(*variable, value)) continue;
    refuse_pointers(*variable, value, source);
    auto const at = static_cast<std::size_t>(variable->name.data() - module.text.data());
    auto const begin = text.find_last_of(";}\n", at), end = text.find(';', at);
    if (end == std::string::npos) continue;
    text.replace(begin + 1, end - begin, with_value(*variable, value));
  }
  return text;
}

std::string sizes(cudart::Dim3 const& size) {
  return size.z > 1   ? fmt::format("[{}, {}, {}]", size.x, size.y, size.z)
         : size.y > 1 ? fmt::format("[{}, {}]", size.x, size.y)
                      : fmt::format("[{}]", size.x);
}

}  // namespace

bool begins_as_address(ptx::Variable const& variable) {
  return std::any_of(variable.initializers.begin(), variable.initializers.end(), [](ptx::Initializer const& i) {
    return i.value.kind == ptx::Operand::Kind::function || i.value.kind == ptx::Operand::Kind::variable;
  });
}

std::string describe_launch(DescribedLaunch const& launch, LaunchSource const& source, Spool const& spool,
                            std::uint64_t number) {
  std::set<ptx::Function const*> seen;
  if (calls_runtime(launch.module, launch.function, seen)) throw Refused{"it calls CUDA's runtime itself"};
  auto const ptx = with_values(launch.module, source);
  auto const file = program_name(ptx, ".ptx");
  if (!spool.has_program(file) && !spool.publish_program(file, ptx)) throw Refused{"the disk is full"};
  ReadBack read_back(source, spool, number);
  std::string arguments;
  unsigned images = 0;
  for (std::size_t i = 0; i < launch.function.parameters.size(); ++i)
    arguments += (i ? ", " : "") +
                 toml_string(argument(launch.function.parameters[i], launch.arguments[i], source, read_back, images));
  if (images == 0 && reads_images(launch.function)) throw Refused{"it reads textures or surfaces"};
  if (!source.has_own_tensor_maps() && reads_tensor_maps(launch.function)) throw Refused{"it reads tensor maps"};
  auto const& cluster = launch.sizes.cluster;
  return "# Captured from a running application.\nfile = " + toml_string(spool.program(file)) + '\n' +
         read_back.finish() + "\n[[launch]]\nkernel = " + toml_string(launch.function.name) +
         "\ngrid = " + sizes(launch.sizes.grid) +
         (std::max({cluster.x, cluster.y, cluster.z}) > 1 ? "\ncluster = " + sizes(cluster) : std::string()) +
         "\nlocal = " + sizes(launch.sizes.block) +
         (launch.sizes.dynamic_shared_bytes ? fmt::format("\nshared = {}", launch.sizes.dynamic_shared_bytes) : "") +
         "\nargs = [" + arguments + "]\n";
}

}  // namespace kernelcast::attach
