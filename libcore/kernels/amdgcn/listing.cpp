#include <algorithm>
#include <charconv>
#include <optional>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "kernels/amdgcn/amdgcn.hpp"

namespace kernelcast::amdgcn {

namespace {

// The next word, and takes it away.
std::string_view take_word(std::string_view& rest) {
  rest = trimmed(rest);
  auto const word = rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
  rest.remove_prefix(word.size());
  return word;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end != text.data() ? std::optional(value) : std::nullopt;
}

bool is_label_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

class Reader {
 public:
  Reader(std::string_view text, std::string const& file) : text_(text), file_(file) {}

  std::map<std::string, Code> run() {
    for (std::string_view rest = text_; !rest.empty();) {
      std::size_t const newline = std::min(rest.find('\n'), rest.size());
      read_line(trimmed(rest.substr(0, newline)));
      rest.remove_prefix(std::min(newline + 1, rest.size()));
    }
    std::erase_if(out_, [](auto const& function) { return function.second.instructions == 0; });
    if (out_.empty())
      throw Error(Status::bad_data, {file_, 1, 1},
                  "no function in this assembly: there is no label of a .type NAME,@function",
                  "write it with: clang -target amdgcn-amd-amdhsa -S");
    return std::move(out_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with(";")) return comment(trimmed(line.substr(1)));
    std::string_view const code = trimmed(line.substr(0, line.find(';')));
    if (code.empty()) return;
    if (std::size_t const colon = code.find(':'); colon == code.size() - 1 && is_name(code.substr(0, colon)))
      return label(code.substr(0, colon));
    if (code.front() == '.') return directive(code);
    if (inside_ && !in_header_ && code.front() >= 'a' && code.front() <= 'z') add(code);
  }

  static bool is_name(std::string_view s) { return !s.empty() && std::ranges::all_of(s, is_label_character); }

  void directive(std::string_view rest) {
    auto const word = take_word(rest);
    // Before the code of a kernel of the first generations: words of its header.
    if (word == ".amd_kernel_code_t" || word == ".end_amd_kernel_code_t") in_header_ = word.starts_with(".amd");
    if (word == ".type") {
      auto const comma = rest.find(',');
      if (comma != std::string_view::npos && rest.substr(comma).starts_with(",@function"))
        announced_ = trimmed(rest.substr(0, comma));
    } else if (word == ".file") {
      auto const index = number<std::uint32_t>(take_word(rest));
      auto const end = rest.rfind('"');
      // The last of one or two names, before a check sum.
      if (auto const sum = rest.find(" md5"); sum != std::string_view::npos) rest = rest.substr(0, sum);
      auto const close = rest.rfind('"');
      if (!index || end == std::string_view::npos || close == std::string_view::npos || close == 0) return;
      auto const open = rest.rfind('"', close - 1);
      if (open == std::string_view::npos) return;
      auto const path = rest.substr(open + 1, close - open - 1);
      files_[*index] = path.substr(path.rfind('/') + 1);
    } else if (word == ".loc") {
      auto const file = number<std::uint32_t>(take_word(rest));
      auto const line = number<std::uint32_t>(take_word(rest));
      auto const column = number<std::uint32_t>(take_word(rest));
      at_ = {};
      if (file && line && *line > 0) at_ = {files_[*file], *line, column.value_or(0)};
    } else if (word == ".amdhsa_wavefront_size32" && code_) {
      code_->resources.wavefront = trimmed(rest) == "1" ? 32 : 64;
    }
  }

  void comment(std::string_view text) {
    if (!code_) return;
    auto& r = code_->resources;
    struct Row {
      std::string_view key;
      std::uint64_t Resources::* value;
    };
    // TotalNumVgprs follows NumVgprs and NumAgprs where they share a register file.
    static constexpr Row rows[] = {{"NumVgprs:", &Resources::vgprs},
                                   {"NumAgprs:", &Resources::agprs},
                                   {"TotalNumVgprs:", &Resources::vgprs},
                                   {"NumSgprs:", &Resources::sgprs},
                                   {"ScratchSize:", &Resources::scratch_bytes},
                                   {"LDSByteSize:", &Resources::shared_bytes}};
    for (auto const& [key, value] : rows)
      if (text.starts_with(key))
        if (auto const n = number<std::uint64_t>(trimmed(text.substr(key.size())))) r.*value = *n;
  }

  void label(std::string_view name) {
    if (name == announced_) {
      code_ = &out_[std::string(name)];
      *code_ = {};
      inside_ = new_block_ = true;
      in_header_ = false;
      labels_.clear();
      at_ = {};
      announced_ = {};
    } else if (name.starts_with(".Lfunc_end")) {
      inside_ = false;
    } else if (inside_ && name.starts_with(".LBB")) {
      labels_.push_back(name);
      new_block_ = true;
    }
  }

  void add(std::string_view text) {
    Instruction const instruction{text, at_};
    if (new_block_ || code_->blocks.empty()) {
      code_->blocks.emplace_back().labels = std::move(labels_);
      labels_.clear();
    }
    new_block_ = instruction.ends_block();
    auto const opcode = instruction.opcode();
    code_->calls = code_->calls || opcode == "s_swappc_b64" || opcode == "s_call_b64";
    code_->blocks.back().instructions.push_back(instruction);
    ++code_->instructions;
  }

  std::string_view text_;
  std::string const& file_;
  std::map<std::string, Code> out_;
  std::map<std::uint32_t, std::string_view> files_;
  Code* code_ = nullptr;  // the last function: its resources follow its code
  bool inside_ = false, in_header_ = false, new_block_ = true;
  std::string_view announced_;
  Place at_;
  std::vector<std::string_view> labels_;
};

std::string_view without_encoding(std::string_view opcode) {
  for (std::string_view const suffix : {"_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp", "_dpp8"})
    while (opcode.ends_with(suffix)) opcode.remove_suffix(suffix.size());
  return opcode;
}

// The first operand is the mask of active lanes.
bool writes_exec(std::string_view text, std::string_view opcode) {
  return trimmed(text.substr(std::min(opcode.size(), text.size()))).starts_with("exec");
}

}  // namespace

std::string_view Instruction::opcode() const {
  return without_encoding(text.substr(0, std::min(text.find_first_of(" \t"), text.size())));
}

std::string_view Instruction::second() const {
  constexpr std::string_view separator = "::";
  auto const begin = text.find(separator);
  if (begin == std::string_view::npos || !text.starts_with("v_dual_")) return {};
  auto const rest = trimmed(text.substr(begin + separator.size()));
  return without_encoding(rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size())));
}

std::string_view Instruction::target() const {
  if (!text.starts_with("s_branch") && !text.starts_with("s_cbranch")) return {};
  auto const blank = text.find_first_of(" \t");
  return blank == std::string_view::npos ? std::string_view{} : trimmed(text.substr(blank));
}

bool Instruction::ends_block() const {
  auto const o = opcode();
  return o.starts_with("s_branch") || o.starts_with("s_cbranch") || o.starts_with("s_endpgm") || o == "s_setpc_b64";
}

bool Instruction::narrows() const {
  auto const o = opcode();
  if (o.find("_saveexec_") != std::string_view::npos) return !o.starts_with("s_or_");
  if (o.starts_with("v_cmpx_")) return true;
  return (o.starts_with("s_and_b") || o.starts_with("s_andn2_b") || o.starts_with("s_and_not1_b") ||
          o.starts_with("s_xor_b")) &&
         writes_exec(text, o);
}

bool Instruction::widens() const {
  auto const o = opcode();
  return (o.starts_with("s_or_b") || o.starts_with("s_mov_b")) && writes_exec(text, o);
}

std::map<std::string, Code> read(std::string_view text, std::string const& file) {
  return Reader(text, file).run();
}

}  // namespace kernelcast::amdgcn
