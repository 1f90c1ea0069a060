#include "kernels/ptx/symbols.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kernelcast::ptx {

void SymbolTable::close() {
  for (auto name : scopes_.back()) {
    auto& newest = newest_[name];
    newest = entries_[newest - 1].hidden;
  }
  scopes_.pop_back();
  if (scopes_.size() == 1) {  // end of a function: nothing but the module's entries is reachable
    std::erase_if(newest_, [](auto const& item) { return item.second == 0; });
  }
}

Symbol const* SymbolTable::find(std::string_view name) const {
  auto const found = newest_.find(name);
  return found == newest_.end() || found->second == 0 ? nullptr : &entries_[found->second - 1].symbol;
}

Symbol const* SymbolTable::find_global(std::string_view name) const {
  auto const found = newest_.find(name);
  for (auto at = found == newest_.end() ? 0 : found->second; at != 0; at = entries_[at - 1].hidden)
    if (entries_[at - 1].symbol.depth == 0) return &entries_[at - 1].symbol;
  return nullptr;
}

bool SymbolTable::declare(std::string_view name, Symbol::Kind kind, std::uint32_t id, std::uint32_t depth) {
  auto& newest = newest_[name];
  std::uint32_t inner = 0, outer = newest;  // between which it belongs
  while (outer != 0 && entries_[outer - 1].symbol.depth > depth)
    inner = std::exchange(outer, entries_[outer - 1].hidden);
  if (outer != 0 && entries_[outer - 1].symbol.depth == depth) return false;
  entries_.push_back({{kind, id, depth}, outer});
  (inner != 0 ? entries_[inner - 1].hidden : newest) = static_cast<std::uint32_t>(entries_.size());
  scopes_[depth].push_back(name);
  return true;
}

std::vector<std::string> SymbolTable::names() const {
  std::vector<std::string> names;
  for (auto const& [name, newest] : newest_)
    if (newest) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace kernelcast::ptx
