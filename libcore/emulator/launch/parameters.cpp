#include "emulator/launch/parameters.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/diag/text.hpp"

namespace kernelcast::launch {

namespace {

constexpr std::size_t max_parameters = 1000;  // each may depend on the next: this is the depth of resolve(), too
constexpr std::size_t max_set_values = 10'000;
constexpr std::size_t max_value_bytes = 64 * 1024;
constexpr std::size_t max_names_shown = 20;
constexpr std::string_view types[] = {"an integer", "a number", "a string"};

bool is_word(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The names, and numbers, in an expression.
template <class Use>
void for_each_word(std::string_view text, Use const& use) {
  for (auto at = text.begin(); (at = std::find_if(at, text.end(), is_word)) != text.end();) {
    auto const end = std::find_if_not(at, text.end(), is_word);
    use(std::string_view(at, end));
    at = end;
  }
}

}  // namespace

void Choice::declare(std::string name, Value value, Text const& place) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9') || !std::all_of(name.begin(), name.end(), is_word))
    throw refuse(place, fmt::format("'{}' cannot be the name of a parameter", name),
                 "letters, digits and _, as expressions use it");
  if (entries_.size() == max_parameters)
    throw refuse(place, fmt::format("more than {} parameters", max_parameters), "write values where they are used");
  index_.emplace(name, entries_.size());
  names_.push_back(name);
  entries_.push_back({std::move(name), value.index(), std::move(value), place});
}

void Choice::declare_set(std::string const& name, Text const& place) {
  if (name.empty() || name.find('=') != name.npos)
    throw refuse(place, fmt::format("'{}' cannot be the name of a set", name), "--set NAME=VALUE sets a parameter");
  sets_[name];
  set_names_.push_back(name);
}

void Choice::add_to_set(std::string const& set, std::string const& parameter, Value value, Text const& place) {
  if (++assignments_ > max_set_values)
    throw refuse(place, fmt::format("more than {} values in sets", max_set_values), "make several launch files");
  auto const found = index_.find(parameter);
  if (found == index_.end())
    throw refuse(place, fmt::format("set '{}': unknown parameter '{}'", set, parameter),
                 did_you_mean(parameter, names_));
  sets_[set].push_back({found->second, fitting(entries_[found->second], std::move(value), place), place});
}

Value Choice::fitting(Entry const& entry, Value value, Text const& place) const {
  if (auto const* const integer = std::get_if<std::int64_t>(&value); integer && entry.type == 1)
    return static_cast<double>(*integer);
  if (value.index() == entry.type || (entry.type == 0 && std::holds_alternative<std::string>(value))) return value;
  throw refuse(place, fmt::format("parameter '{}' is {}", entry.name, types[entry.type]), "as its default is");
}

void Choice::choose(std::string const& text) {
  Text const place{{}, {"--set " + text, 0, 0}, {}};
  auto const equals = text.find('=');
  auto const name = text.substr(0, equals);
  if (equals == text.npos) {
    auto const set = sets_.find(name);
    if (set == sets_.end()) throw unknown(place, "set", name);
    for (auto const& [parameter, value, at] : set->second) {
      entries_[parameter].given = value;
      entries_[parameter].place = at;
    }
    return;
  }
  auto const found = index_.find(name);
  if (found == index_.end()) throw unknown(place, "parameter", name);
  Entry& entry = entries_[found->second];
  std::string word = text.substr(equals + 1);
  if (entry.type == 1) {
    auto const number = to_number<double>(word);
    if (!number) throw refuse(place, fmt::format("'{}' is not a number", word), "write for example 0.5 or 1e-9");
    entry.given = *number;
  } else {
    entry.given = std::move(word);
  }
  entry.place = place;
}

Error Choice::unknown(Text const& place, std::string_view what, std::string const& name) const {
  bool const is_set = what == "set";
  auto const list = [](std::string_view of, std::vector<std::string> const& names) {
    auto const shown = std::min(names.size(), max_names_shown);
    return names.empty() ? fmt::format("no {}", of)
                         : fmt::format("the {} {}{}", of, fmt::join(names.begin(), names.begin() + shown, ", "),
                                       shown < names.size() ? ", ..." : "");
  };
  auto const near = nearest(name, is_set ? set_names_ : names_);
  std::string hint;
  if (is_set && index_.contains(name))
    hint = fmt::format("write --set {}=VALUE; ", name);
  else if (!is_set && sets_.contains(name))
    hint = fmt::format("write --set {}; ", name);
  else if (!near.empty())
    hint = fmt::format("did you mean '{}'? ", fmt::join(near, "' or '"));
  return refuse(place, fmt::format("{} has no {} '{}'", path_, what, name),
                fmt::format("{}it has {} and {}", hint, list("parameters", names_), list("sets", set_names_)));
}

Parameters Choice::values() {
  Parameters result;
  for (auto& entry : entries_) {
    resolve(entry);
    result.push_back({entry.name, known_.at(entry.name)});
  }
  return result;
}

void Choice::resolve(Entry& entry) {
  if (entry.resolved) return;
  if (std::exchange(entry.resolving, true))
    throw refuse(entry.place, fmt::format("parameter '{}' depends on itself", entry.name),
                 "set one of the parameters that depend on each other to a value");
  Value value = entry.given;
  if (auto* const text = std::get_if<std::string>(&value)) {
    Text const whole{std::move(*text), entry.place.where, entry.place.line};
    auto const need = [&](std::string_view word) {
      if (word.front() >= '0' && word.front() <= '9') return;
      auto const other = index_.find(word);
      if (other == index_.end())
        throw refuse(whole, fmt::format("'{}': unknown parameter '{}'", whole.text, word), did_you_mean(word, names_));
      resolve(entries_[other->second]);
    };
    bool const braced = entry.type == 2 || whole.text.starts_with("${");
    for (std::size_t at = 0; braced && (at = whole.text.find("${", at)) != whole.text.npos;) {
      auto const end = std::min(whole.text.find('}', at), whole.text.size());
      for_each_word(std::string_view(whole.text).substr(at + 2, end - std::min(end, at + 2)), need);
      at = end;
    }
    if (!braced) for_each_word(whole.text, need);
    std::string filled = braced ? substitute(whole, known_).text : whole.text;
    if (entry.type == 0)
      value = evaluate(filled, known_, whole);
    else if (filled.size() > max_value_bytes)
      throw refuse(entry.place, fmt::format("parameter '{}' has more than {} KiB", entry.name, max_value_bytes >> 10),
                   "shorten it");
    else
      value = std::move(filled);
  }
  known_.emplace(entry.name, std::move(value));
  entry.resolved = true;
}

}  // namespace kernelcast::launch
