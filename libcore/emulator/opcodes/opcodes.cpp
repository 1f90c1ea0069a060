// Looking up opcodes.
#include "emulator/opcodes/opcodes.hpp"

namespace kernelcast::emu {

bool matches(std::string_view pattern, std::string_view text) {
  while (!pattern.empty() && pattern.front() != '{') {
    if (text.empty() || text.front() != pattern.front()) return false;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  if (pattern.empty()) return text.empty();
  std::size_t const close = pattern.find('}');
  std::string_view choices = pattern.substr(1, close - 1);
  std::string_view const rest = pattern.substr(close + 1);
  for (;;) {
    std::size_t const comma = choices.find(',');
    std::string_view const choice = choices.substr(0, comma);
    if (text.starts_with(choice) && matches(rest, text.substr(choice.size()))) return true;
    if (comma == std::string_view::npos) return false;
    choices.remove_prefix(comma + 1);
  }
}

void OpcodeIndex::add(Opcode const& opcode) {
  std::string_view const word = opcode.pattern.substr(0, opcode.pattern.find('.'));
  auto& entries = word.find('{') == std::string_view::npos ? by_word_[word] : others_;
  entries.push_back({count_++, &opcode});
}

Opcode const* OpcodeIndex::find(std::string_view full_name) const {
  auto const first = [&](std::vector<Entry> const& entries) {
    for (Entry const& e : entries)
      if (matches(e.opcode->pattern, full_name)) return e;
    return Entry{~std::uint32_t{0}, nullptr};
  };
  auto const entries = by_word_.find(full_name.substr(0, full_name.find('.')));
  Entry const named = entries == by_word_.end() ? Entry{~std::uint32_t{0}, nullptr} : first(entries->second);
  Entry const other = first(others_);
  return named.number < other.number ? named.opcode : other.opcode;
}

Opcode const* find_opcode(Handlers const& handlers, std::string_view full_name) {
  return handlers.opcodes.find(full_name);
}

}  // namespace kernelcast::emu
