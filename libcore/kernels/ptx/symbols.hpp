// Names in scope. Scopes nest (module, parameters, body, blocks); an inner declaration hides an outer one.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

struct Symbol {
  enum class Kind : std::uint8_t {
    reg,
    range,
    module_variable,
    variable,
    parameter,
    result,
    function,
    label,
    prototype,
    branch_targets,
    call_targets
  };
  Kind kind;
  std::uint32_t id = 0;     // index into the table of its kind
  std::uint32_t depth = 0;  // of its scope; 0 = module
};

class SymbolTable {
 public:
  SymbolTable() : scopes_(1) {}
  std::uint32_t depth() const { return static_cast<std::uint32_t>(scopes_.size() - 1); }
  void open() { scopes_.emplace_back(); }
  void close();
  Symbol const* find(std::string_view name) const;
  // What the module calls so, whatever the scopes inside call so.
  Symbol const* find_global(std::string_view name) const;
  // False when the scope has the name already. `depth` is at most depth(); scopes inside may have the name.
  bool declare(std::string_view name, Symbol::Kind kind, std::uint32_t id, std::uint32_t depth);
  bool declare(std::string_view name, Symbol::Kind kind, std::uint32_t id) { return declare(name, kind, id, depth()); }
  std::vector<std::string> names() const;  // all that are visible, for messages

 private:
  struct Entry {
    Symbol symbol;
    std::uint32_t hidden;  // entry of an outer scope, + 1; 0 = none
  };
  std::unordered_map<std::string_view, std::uint32_t> newest_;  // entry + 1; 0 = none any more
  std::vector<Entry> entries_;
  std::vector<std::vector<std::string_view>> scopes_;
};

// %r<100>: registers by prefix, made when first used.
struct RegisterRange {
  std::uint64_t count = 0;
  Type type = Type::none;
  std::uint8_t vector = 1;
};

}  // namespace kernelcast::ptx
