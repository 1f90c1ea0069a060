#include <algorithm>
#include <charconv>
#include <set>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "kernels/sass/sass.hpp"

namespace kernelcast::sass {

namespace {

// Labels that something jumps to; nvdisasm prints others, too.
std::set<std::string_view> targets_in(std::string_view text) {
  std::set<std::string_view> out;
  for (std::size_t at = text.find("`(."); at != std::string_view::npos; at = text.find("`(.", at + 1))
    out.insert(text.substr(at + 2, text.find_first_of(")\n", at) - at - 2));
  return out;
}

// //## File ".nv_debug_ptx_txt", line 21
std::uint32_t line_of_ptx(std::string_view comment) {
  constexpr std::string_view word = "\", line ";
  std::uint32_t out = 0;
  if (auto const at = comment.find(word); at != std::string_view::npos)
    std::from_chars(comment.data() + at + word.size(), comment.data() + comment.size(), out);
  return out;
}

class Reader {
 public:
  Reader(std::string_view text, std::string const& file) : text_(text), file_(file), targets_(targets_in(text)) {}

  std::map<std::string, Code> run() {
    std::size_t number = 0;
    for (std::string_view rest = text_; !rest.empty();) {
      std::size_t const newline = std::min(rest.find('\n'), rest.size());
      read_line(rest.substr(0, newline), ++number);
      rest.remove_prefix(std::min(newline + 1, rest.size()));
    }
    if (out_.empty())
      throw Error(Status::bad_data, {file_, 1, 1},
                  "no kernel in this listing: there is no label .text.NAME:", "write it with: nvdisasm FILE.cubin");
    return std::move(out_);
  }

 private:
  void read_line(std::string_view whole, std::size_t number) {
    std::string_view const line = trimmed(whole);
    if (line.starts_with(".section")) code_ = nullptr;
    if (line.starts_with("//##") && line.find(".nv_debug_ptx_txt") != std::string_view::npos)
      ptx_line_ = line_of_ptx(line);
    if (line.starts_with(".text.") && line.ends_with(":")) {
      code_ = &out_[std::string(line.substr(6, line.size() - 7))];
      new_block_ = true;
      subroutine_ = {};
      labels_.clear();
      ptx_line_ = 0;
    } else if (code_ && line.ends_with(":") && !line.starts_with("/")) {
      label(line.substr(0, line.size() - 1));
    }
    if (!code_ || !line.starts_with("/*")) return;
    std::size_t const comment = line.find("*/");
    std::string_view const body = comment == std::string_view::npos ? line : trimmed(line.substr(comment + 2));
    if (body.starts_with(".") || body.empty()) return;  // data; a line of the encoding
    std::size_t const end = body.find(';');
    if (end == std::string_view::npos && !body.starts_with("{"))
      throw Error(Status::bad_data, {file_, number, 1}, "an instruction that does not end in ';'",
                  "the text of nvdisasm is needed", std::string(whole));
    add({trimmed(body.substr(body.starts_with("{") ? 1 : 0, end)), ptx_line_});
  }

  void label(std::string_view name) {
    labels_.push_back(name);
    if (targets_.contains(name)) new_block_ = true;
    if (!name.starts_with("$")) return;
    subroutine_ = name;
    new_block_ = true;
  }

  void add(Instruction instruction) {
    if (new_block_ || code_->blocks.empty()) {
      Block& block = code_->blocks.emplace_back();
      block.labels = std::move(labels_);
      block.subroutine = subroutine_;
      labels_.clear();
    }
    new_block_ = instruction.ends_block();
    code_->blocks.back().instructions.push_back(instruction);
    ++code_->instructions;
  }

  std::string_view text_;
  std::string const& file_;
  std::set<std::string_view> targets_;
  std::map<std::string, Code> out_;
  Code* code_ = nullptr;
  bool new_block_ = true;
  std::uint32_t ptx_line_ = 0;
  std::string_view subroutine_;
  std::vector<std::string_view> labels_;
};

}  // namespace

std::string_view Instruction::guard() const {
  return text.starts_with("@") ? text.substr(0, std::min(text.find(' '), text.size())) : std::string_view();
}

std::string_view Instruction::opcode() const {
  std::string_view const rest = trimmed(text.substr(guard().size()));
  return rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
}

std::string_view Instruction::mnemonic() const {
  std::string_view const whole = opcode();
  return whole.substr(0, std::min(whole.find('.'), whole.size()));
}

std::string_view Instruction::target() const {
  std::size_t const begin = text.find("`(");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin + 2, std::min(text.find(')', begin), text.size()) - begin - 2);
}

bool Instruction::ends_block() const {
  if (guard() == "@!PT") return false;
  std::string_view const m = mnemonic();
  auto const begins = [m](std::string_view prefix) { return m.starts_with(prefix); };
  return begins("BRA") || begins("BRX") || begins("JMP") || begins("CALL") || begins("RET") || begins("EXIT");
}

std::map<std::string, Code> read(std::string_view text, std::string const& file) {
  return Reader(text, file).run();
}

}  // namespace kernelcast::sass
