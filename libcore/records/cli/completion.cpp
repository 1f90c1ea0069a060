#include "records/cli/completion.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "base/process/shell_words.hpp"

namespace kernelcast::cli {

namespace {

struct Completable {
  std::vector<std::string> names;  // with their dashes
  std::string text;
  bool takes_value = false, device = false;
  std::vector<std::string> choices;
};

// "FORMAT:{csv,json,table}", as CLI11 names the value of an option that has such a check.
std::vector<std::string> choices_of(std::string const& type) {
  auto const begin = type.find(":{"), end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> out;
  for (auto const word : split(std::string_view(type).substr(begin + 2, end - begin - 2), ',')) out.emplace_back(word);
  return out;
}

std::vector<Completable> completables(CLI::App const& app) {
  std::vector<Completable> out;
  for (auto const* const option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    Completable one;
    for (auto const& name : option->get_snames()) one.names.push_back("-" + name);
    for (auto const& name : option->get_lnames()) one.names.push_back("--" + name);
    one.text = option->get_description();
    one.takes_value = option->get_items_expected_max() != 0;
    one.choices = choices_of(option->get_type_name());
    one.device = std::ranges::any_of(
        one.names, [](auto const& name) { return name == "--device" || name == "--devices" || name == "--as"; });
    out.push_back(std::move(one));
  }
  return out;
}

// "kernelcast choose" -> "_kernelcast_choose".
std::string function_of(std::string const& program) {
  std::string out = "_kernelcast_" + program;
  for (char& c : out)
    if (c == ' ' || c == '-' || c == '+') c = '_';
  return out;
}

constexpr std::string_view devices = "kernelcast devices --format csv 2>/dev/null | tail -n +2 | cut -d, -f1";

// In single quotes of fish, in which a backslash protects.
std::string in_fish_quotes(std::string_view text) {
  std::string out = "'";
  for (char const c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The first sentence is enough beside an option.
std::string brief(std::string const& text) {
  return text.substr(0, std::min(text.find("; "), text.find(". ")));
}

std::string for_bash(std::vector<Completable> const& options, std::string const& program,
                     std::vector<std::string> const& words) {
  auto const function = function_of(program);
  std::string cases, names;
  for (auto const& one : options) {
    for (auto const& name : one.names) names += (names.empty() ? "" : " ") + name;
    if (!one.takes_value || (one.choices.empty() && !one.device)) continue;  // files, as otherwise
    cases += fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$word\"); return ;;\n",
                         fmt::join(one.names, "|"),
                         one.device ? fmt::format("$({})", devices) : fmt::format("{}", fmt::join(one.choices, " ")));
  }
  std::string first;
  if (!words.empty())
    first = fmt::format(R"(  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "{} --help --version" -- "$word")
    return
  fi
  local tool=${{COMP_WORDS[1]}} folder=${{BASH_SOURCE[0]%/*}} name file
  for file in "" "$folder/$tool" "$folder/{}-$tool"; do
    [ -f "$file" ] && . "$file"
    for name in "{}_${{tool//[-+]/_}}" "_kernelcast_${{tool//[-+]/_}}"; do
      if declare -F "$name" >/dev/null; then
        "$name"
        return
      fi
    done
  done
)",
                        fmt::join(words, " "), program, function);
  auto const registered = program.find(' ') == std::string::npos
                              ? fmt::format("complete -o filenames -F {} {}\n", function, program)
                              : std::string();
  return fmt::format(R"({}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
{}  case $before in
{}  esac
  case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "{}" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}}
{})",
                     function, first, cases, names, registered);
}

// In a spec of _arguments: brackets, colons and backslashes are its own.
std::string for_arguments(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string for_zsh(std::vector<Completable> const& options, std::string const& program,
                    std::vector<std::string> const& words, std::string const& of_verbs) {
  std::string specs;
  for (auto const& one : options)
    for (auto const& name : one.names) {
      auto spec = fmt::format("*{}{}[{}]", name, one.takes_value && name.starts_with("--") ? "=" : "",
                              for_arguments(brief(one.text)));
      if (one.takes_value)
        spec += one.device            ? fmt::format(":device:_values -s , device $({})", devices)
                : one.choices.empty() ? std::string(":value:_files")
                                      : fmt::format(":value:({})", fmt::join(one.choices, " "));
      specs += fmt::format(" \\\n    {}", in_single_quotes(spec));
    }
  auto const function = function_of(program);
  auto body = fmt::format("{}() {{\n  _arguments{} \\\n    '*:file:_files'\n}}\n", function, specs);
  if (program.find(' ') != std::string::npos) return body;
  if (words.empty()) return fmt::format("#compdef {}\n{}{} \"$@\"\n", program, body, function);
  return fmt::format(R"(#compdef {0}
{3}{1}_kernelcast_words() {{
  if (( CURRENT == 2 )); then
    compadd -- {2}
    return
  fi
  local tool=$words[2] own=_kernelcast_{0}_${{words[2]//[-+]/_}}
  shift words
  (( CURRENT-- ))
  if (( $+functions[$own] )); then $own; else _dispatch $tool $tool || _files; fi
}}
_kernelcast_words "$@"
)",
                     program, body, fmt::join(words, " "), of_verbs);
}

std::string for_fish(std::vector<Completable> const& options, std::string const& program,
                     std::vector<std::string> const& words) {
  auto const space = program.find(' ');
  auto const command = program.substr(0, space);
  auto const condition =
      space == std::string::npos
          ? words.empty() ? std::string() : std::string(" -n __fish_use_subcommand")
          : fmt::format(" -n {}", in_fish_quotes("__fish_seen_subcommand_from " + program.substr(space + 1)));
  std::string out;
  for (auto const& word : words)
    out += fmt::format("complete -c {} -n __fish_use_subcommand -x -a {}\n", command, in_fish_quotes(word));
  for (auto const& one : options) {
    out += fmt::format("complete -c {}{}", command, condition);
    for (auto const& name : one.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    out += " -d " + in_fish_quotes(brief(one.text));
    if (one.takes_value)
      out += one.device ? fmt::format(" -x -a {}", in_fish_quotes(fmt::format("({})", devices)))
             : one.choices.empty()
                 ? std::string(" -r -F")
                 : fmt::format(" -x -a {}", in_fish_quotes(fmt::format("{}", fmt::join(one.choices, " "))));
    out += '\n';
  }
  return out;
}

}  // namespace

std::string completion(CLI::App const& app, std::string const& program, std::string const& shell,
                       std::vector<std::string> const& words, std::string const& of_verbs) {
  auto const options = completables(app);
  if (shell == "bash") return of_verbs + for_bash(options, program, words);
  if (shell == "zsh") return for_zsh(options, program, words, of_verbs);
  if (shell == "fish") return for_fish(options, program, words) + of_verbs;
  throw Error(Status::usage, fmt::format("--completion: no shell '{}'", shell), "bash, zsh or fish");
}

}  // namespace kernelcast::cli
