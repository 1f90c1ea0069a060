#include "emulator/launch/places.hpp"

#include <filesystem>

namespace kernelcast::launch {

std::pair<std::string, std::uint64_t> place_of(ptx::Module const& module, ptx::Instruction const& instruction) {
  auto const& source = instruction.source;
  std::filesystem::path const user(module.path);
  if (auto const file = module.files.find(source.file); source.line > 0 && file != module.files.end())
    return {std::filesystem::path(file->second).filename() == user.filename() ? module.path : file->second,
            source.line};
  return {user.extension() == ".ptx" ? module.path : user.stem().string() + ".ptx", instruction.at.line};
}

}  // namespace kernelcast::launch
