#include "kernels/ptx/link.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/printer.hpp"

namespace kernelcast::ptx {

namespace {

unsigned architecture(Module const& module) {
  unsigned newest = 0;
  for (auto const target : module.targets) {
    if (!target.starts_with("sm_")) continue;
    unsigned sm = 0;
    for (auto const c : target.substr(3)) {
      if (c < '0' || c > '9') break;
      sm = 10 * sm + static_cast<unsigned>(c - '0');
    }
    newest = std::max(newest, sm);
  }
  return newest;
}

bool replaceable(Linkage linkage) {
  return linkage == Linkage::weak || linkage == Linkage::common;
}

class Linker {
 public:
  explicit Linker(std::vector<std::unique_ptr<Module>> parts) : parts_(std::move(parts)) {}
  std::string run();

 private:
  void agree_on_header();
  void find_definitions();
  void settle(Module&, std::size_t number);
  void renumber_files(Module&);
  template <class Named>
  void rename_if_taken(Named& named, std::size_t number);

  std::vector<std::unique_ptr<Module>> parts_;
  std::map<std::string_view, std::size_t> owners_;  // of a name: the part whose definition, or whose own name, it is
  std::deque<std::string> names_;                   // that were made here
  std::uint32_t files_ = 0;
};

// The newest version and architecture of all.
void Linker::agree_on_header() {
  Module& first = *parts_[0];
  for (auto const& part : parts_) {
    if (std::pair(part->version_major, part->version_minor) > std::pair(first.version_major, first.version_minor)) {
      first.version_major = part->version_major;
      first.version_minor = part->version_minor;
    }
    if (architecture(*part) > architecture(first)) first.targets = part->targets;
  }
}

// What others may refer to goes before what a part keeps to itself.
void Linker::find_definitions() {
  auto const each = [&](auto const& wanted) {
    for (std::size_t number = 0; number < parts_.size(); ++number) {
      for (auto const& f : parts_[number]->functions)
        if ((f.has_body || f.alias_of) && wanted(f.linkage)) owners_.emplace(f.name, number);
      for (auto const& v : parts_[number]->variables)
        if (wanted(v.linkage)) owners_.emplace(v.name, number);
    }
  };
  each([](Linkage linkage) { return linkage == Linkage::visible; });
  each([](Linkage linkage) { return replaceable(linkage); });
  each([](Linkage linkage) { return linkage == Linkage::none; });
}

template <class Named>
void Linker::rename_if_taken(Named& named, std::size_t number) {
  auto const owner = owners_.find(named.name);
  if (owner == owners_.end() || owner->second == number) return;
  std::string_view fresh;
  do fresh = names_.emplace_back(fmt::format("{}${}", fresh.empty() ? named.name : fresh, number + 1));
  while (!owners_.emplace(fresh, number).second);
  named.name = fresh;
}

void Linker::settle(Module& part, std::size_t number) {
  auto const given_elsewhere = [&](std::string_view name) {
    auto const owner = owners_.find(name);
    return owner != owners_.end() && owner->second != number;
  };
  for (auto& f : part.functions) {
    bool const defined = f.has_body || f.alias_of;
    if (defined && f.linkage == Linkage::none) {
      rename_if_taken(f, number);
    } else if (defined && f.linkage == Linkage::weak && given_elsewhere(f.name)) {
      f.has_body = false;
      f.alias_of.reset();
    } else if (!defined && f.linkage == Linkage::external && given_elsewhere(f.name)) {
      f.linkage = Linkage::visible;  // it is not of another text any more
    }
  }
  for (auto& v : part.variables) {
    if (v.linkage == Linkage::none) {
      rename_if_taken(v, number);
    } else if (replaceable(v.linkage) && given_elsewhere(v.name)) {
      v.linkage = Linkage::external;
      v.initializers.clear();
    }
  }
}

void Linker::renumber_files(Module& part) {
  std::uint32_t newest = files_;
  std::map<std::uint32_t, std::string> files;
  for (auto& [number, path] : part.files) {
    newest = std::max(newest, files_ + number);
    files.emplace(files_ + number, std::move(path));
  }
  part.files = std::move(files);
  for (auto& f : part.functions)
    for (auto& i : f.instructions)
      if (i.source.line) i.source.file += files_;
  files_ = newest + 1;
}

std::string Linker::run() {
  if (parts_.empty()) return {};
  agree_on_header();
  find_definitions();
  std::string out;
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    settle(*parts_[number], number);
    renumber_files(*parts_[number]);
    out += number == 0 ? print(*parts_[number]) : print_continued(*parts_[number]);
  }
  // ptxas refuses a declaration behind the definition: in the text of one module what is defined is declared once.
  return print(*parse(std::move(out), "what is linked"));
}

}  // namespace

std::string link(std::vector<std::unique_ptr<Module>> parts) {
  return Linker(std::move(parts)).run();
}

}  // namespace kernelcast::ptx
