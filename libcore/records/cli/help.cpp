#include "records/cli/help.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::cli {

namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t text_column = 26;

std::string wrapped(std::string const& text, std::size_t indent) {
  std::istringstream words(text);
  std::string out, word;
  std::size_t column = indent;
  while (words >> word) {
    if (column > indent && column + 1 + word.size() > line_width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// The value's name without CLI11's list of validators.
std::string value_name(CLI::Option const& option) {
  if (option.get_items_expected_max() == 0) return {};
  auto name = option.get_type_name();
  return name.substr(0, name.find(':'));
}

std::vector<std::string> names_of(CLI::Option const& option) {
  std::vector<std::string> names;
  for (auto const& name : option.get_snames()) names.push_back("-" + name);
  for (auto const& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> groups_of(CLI::App const& app) {
  std::vector<std::string> groups;
  for (auto const* option : app.get_options())
    if (!option->get_positional() && !option->get_group().empty() &&
        std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  // What all programs have in common comes last.
  auto const common = std::find(groups.begin(), groups.end(), "Common options");
  if (common != groups.end()) std::rotate(common, common + 1, groups.end());
  return groups;
}

std::vector<CLI::Option const*> options_of(CLI::App const& app, std::string const& group) {
  std::vector<CLI::Option const*> options;
  for (auto const* option : app.get_options())
    if (!option->get_positional() && option->get_group() == group) options.push_back(option);
  return options;
}

std::vector<CLI::Option const*> operands_of(CLI::App const& app) {
  std::vector<CLI::Option const*> operands;
  for (auto const* option : app.get_options())
    if (option->get_positional()) operands.push_back(option);
  return operands;
}

std::string entry(std::string const& left, std::string const& text) {
  std::string out = "  " + left;
  if (out.size() + 2 > text_column)
    out += '\n' + std::string(text_column, ' ');
  else
    out += std::string(text_column - out.size(), ' ');
  return out + wrapped(text, text_column) + '\n';
}

std::vector<std::pair<Status, std::string>> statuses_of(About const& about) {
  std::vector<std::pair<Status, std::string>> all{{Status::done, "done"},
                                                  {Status::usage, "an error on the command line"},
                                                  {Status::bad_data, "an error in the content of an input"},
                                                  {Status::io, "a file or stream cannot be opened, read or written"},
                                                  {Status::limit, "out of memory"}};
  for (auto const& own : about.statuses) {
    auto const same = [&](auto const& status) { return status.first == own.first; };
    all.erase(std::remove_if(all.begin(), all.end(), same), all.end());
    all.push_back(own);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string usage(CLI::App const& app, About const& about) {
  std::string out = fmt::format("Usage: {} [OPTION]...", about.name);
  for (auto const* operand : operands_of(app)) {
    auto const name = operand->get_name(true, false);
    bool const many = operand->get_items_expected_max() > 1;
    out += operand->get_required() ? " " + name : " [" + name + "]";
    if (many) out += "...";
  }
  return out + '\n';
}

std::string scdoc(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '_' || c == '*' || c == '\\' || c == '#' || c == '[' || c == '|') out += '\\';
    out += c;
  }
  return out;
}

// The same for the beginning of a line, where a dash would open a list.
std::string scdoc_line(std::string_view text) {
  auto const escaped = scdoc(text);
  return text.starts_with('-') ? '\\' + escaped : escaped;
}

}  // namespace

std::vector<std::string> option_names(CLI::App const& app) {
  std::vector<std::string> names;
  for (auto const* option : app.get_options())
    if (!option->get_positional() && !option->get_group().empty())
      for (auto& name : names_of(*option)) names.push_back(std::move(name));
  return names;
}

std::string help_text(CLI::App const& app, About const& about) {
  std::string out = usage(app, about) + wrapped(about.summary, 0) + "\n";
  if (!about.description.empty()) out += '\n' + wrapped(about.description, 0) + '\n';
  auto const operands = operands_of(app);
  if (!operands.empty()) out += "\nOperands:\n";
  for (auto const* operand : operands) out += entry(operand->get_name(true, false), operand->get_description());
  for (auto const& group : groups_of(app)) {
    out += fmt::format("\n{}:\n", group);
    for (auto const* option : options_of(app, group)) {
      auto const value = value_name(*option);
      out += entry(fmt::format("{}{}{}", fmt::join(names_of(*option), ", "), value.empty() ? "" : " ", value),
                   option->get_description());
    }
  }
  out += "\nExit status:\n";
  for (auto const& [status, text] : statuses_of(about)) out += entry(std::to_string(static_cast<int>(status)), text);
  if (!about.examples.empty()) out += "\nExamples:\n";
  for (auto const& [command, text] : about.examples) out += fmt::format("  {}\n      {}\n", command, wrapped(text, 6));
  auto see_also = about.see_also;
  see_also.insert(see_also.end(), {"kernelcast-records(5)", "kernelcast(7)"});
  return out + wrapped(fmt::format("\nSee also: {}", fmt::join(see_also, ", ")), 0).insert(0, "\n") + '\n';
}

std::string options_scdoc(CLI::App const& app) {
  std::string out;
  for (auto const* operand : operands_of(app))
    out += fmt::format("_{}_\n\t{}\n", scdoc(operand->get_name(true, false)), scdoc_line(operand->get_description()));
  for (auto const& group : groups_of(app))
    for (auto const* option : options_of(app, group)) {
      std::vector<std::string> names;
      for (auto const& name : names_of(*option)) names.push_back("*" + scdoc(name) + "*");
      auto const value = value_name(*option);
      out += fmt::format("{}{}\n\t{}\n", fmt::join(names, ", "), value.empty() ? "" : " _" + scdoc(value) + "_",
                         scdoc_line(option->get_description()));
    }
  return out;
}

std::string columns_scdoc(About const& about) {
  std::ostringstream out;
  for (auto const* layout : about.output) {
    out << "## " << layout->name() << ": " << scdoc(layout->summary()) << "\n";
    record::describe_scdoc(out, *layout);
  }
  return out.str();
}

std::string statuses_scdoc(About const& about) {
  std::string out;
  for (auto const& [status, text] : statuses_of(about))
    out += fmt::format("*{}*\n\t{}\n", static_cast<int>(status), scdoc_line(text));
  return out;
}

}  // namespace kernelcast::cli
