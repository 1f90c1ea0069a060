#include "runtimes/attach/settings.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/process/setting.hpp"

namespace kernelcast::attach {

namespace {

void read(std::string_view text, std::string& to) {
  to = text;
}
void read(std::string_view text, bool& to) {
  to = text != "0";
}
template <class Number>
void read(std::string_view text, Number& to) {
  std::from_chars(text.data(), text.data() + text.size(), to);
}
void read(std::string_view text, std::vector<std::string>& to) {
  to.clear();
  for (std::size_t at = 0; at < text.size();) {
    auto const comma = std::min(text.find(',', at), text.size());
    if (comma > at) to.emplace_back(text.substr(at, comma - at));
    at = comma + 1;
  }
}

std::string text_of(std::string const& value) {
  return value;
}
template <class Number>
std::string text_of(Number value) {
  char out[32];
  return {out, std::to_chars(out, out + sizeof out, value).ptr};
}
std::string text_of(bool value) {
  return value ? "1" : "0";
}
std::string text_of(std::vector<std::string> const& values) {
  std::string out;
  for (auto const& value : values) out += (out.empty() ? "" : ",") + value;
  return out;
}

template <class Value>
void read_variable(char const* name, Value& to) {
  if (char const* const text = setting(name); text && *text) read(text, to);
}

void put(std::vector<std::string>& variables, std::string_view name, std::string const& text) {
  std::erase_if(variables, [&](std::string const& other) { return other.starts_with(name); });
  if (!text.empty()) variables.push_back(std::string(name) + text);
}

}  // namespace

Settings const& settings() {
  static Settings const& given = *new Settings([] {  // never destroyed: applications call until the very end
    Settings out;
#define KERNELCAST_SETTING(name, type, member, otherwise) read_variable("KERNELCAST_" #name, out.member);
#include "runtimes/attach/settings.def"
    return out;
  }());
  return given;
}

void Settings::put_into(std::vector<std::string>& variables) const {
#define KERNELCAST_SETTING(name, type, member, otherwise) put(variables, "KERNELCAST_" #name "=", text_of(member));
#include "runtimes/attach/settings.def"
}

}  // namespace kernelcast::attach
