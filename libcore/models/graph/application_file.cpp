// read_application(): TOML to an Application.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/toml/toml.hpp"
#include "models/graph/application.hpp"
#include "models/graph/application_names.hpp"

namespace kernelcast::graph {

namespace {

class ApplicationFile {
 public:
  explicit ApplicationFile(std::string const& path)
      : path_(path),
        file_(TomlFile::read(path, "the application file", "an application file is TOML 1.0")),
        root_(file_.root()) {}

  Application read() {
    check_keys(root_, {"summary", "assumed", "split", "memory_bytes", "before", "loop", "after"}, "an application");
    Application out;
    out.name = std::filesystem::path(path_).stem().string();
    out.file = path_;
    if (auto const* node = root_.get("summary")) out.summary = text(*node, "summary");
    if (auto const* node = root_.get("assumed")) out.assumed = text(*node, "assumed");
    auto const* split = root_.get("split");
    if (!split) throw refuse(root_.source(), "no split", "split = \"grid\" or \"line\"");
    auto const how = text(*split, "split");
    if (how != "grid" && how != "line")
      throw refuse(split->source(), fmt::format("unknown split '{}'", how), did_you_mean(how, {"grid", "line"}));
    out.split = how == "grid" ? Split::grid : Split::line;
    out.split_where = where(split->source());
    if (auto const* node = root_.get("memory_bytes")) out.memory_bytes = expression(*node, part_variables);
    out.before = steps("before", {StepKind::from_host, StepKind::kernel});
    out.loop = steps("loop", {StepKind::kernel, StepKind::to_neighbours, StepKind::to_all});
    out.after = steps("after", {StepKind::to_host});
    auto const is_kernel = [](Step const& s) { return s.kind == StepKind::kernel; };
    if (std::none_of(out.loop.begin(), out.loop.end(), is_kernel) &&
        std::none_of(out.before.begin(), out.before.end(), is_kernel))
      throw refuse(root_.source(), "no kernel", "write [[before]] or [[loop]] with kernel = \"name\"");
    return out;
  }

 private:
  Where where(toml::source_region const& source) const { return file_.where(source); }
  Error refuse(toml::source_region const& source, std::string const& message, std::string hint,
               std::size_t right = 0) const {
    auto at = where(source);
    at.column += right;
    return Error(Status::bad_data, at, message, std::move(hint), file_.line(at.line));
  }
  void check_keys(toml::table const& table, std::vector<std::string> const& known, std::string_view what) const {
    for (auto const& [key, value] : table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        throw refuse(key.source(), fmt::format("unknown key '{}' in {}", key.str(), what),
                     did_you_mean(key.str(), known));
  }
  std::string text(toml::node const& node, std::string_view what) const {
    if (auto const* const s = node.as_string()) return s->get();
    throw refuse(node.source(), fmt::format("{} must be a string", what), "put it in quotes");
  }
  // A number, or an expression in a string.
  Expression expression(toml::node const& node, std::span<std::string_view const> variables) const {
    try {
      if (auto const* const i = node.as_integer()) return Expression(fmt::format("{}", i->get()), variables);
      if (auto const* const f = node.as_floating_point()) return Expression(fmt::format("{}", f->get()), variables);
      return Expression(text(node, "a quantity"), variables);
    } catch (ExpressionError const& error) {
      throw refuse(node.source(), error.message, error.hint, error.column + 1);
    }
  }

  std::vector<Step> steps(std::string_view section, std::vector<StepKind> const& allowed) const {
    std::vector<Step> out;
    auto const* const node = root_.get(section);
    if (!node) return out;
    auto const* const array = node->as_array();
    if (!array)
      throw refuse(node->source(), fmt::format("{} must be a list", section), fmt::format("write [[{}]]", section));
    for (auto const& item : *array) {
      auto const* const table = item.as_table();
      if (!table)
        throw refuse(item.source(), fmt::format("{} must hold tables", section), fmt::format("write [[{}]]", section));
      out.push_back(step(*table, section));
      if (std::find(allowed.begin(), allowed.end(), out.back().kind) == allowed.end())
        throw refuse(item.source(), fmt::format("this step is not allowed in [[{}]]", section),
                     "before: copies from the host, kernels; loop: kernels, copies to neighbours or all; after: copies "
                     "to the host");
    }
    return out;
  }

  Step step(toml::table const& table, std::string_view section) const {
    Step out;
    out.where = where(table.source());
    auto const* const kernel = table.get("kernel");
    if (kernel) {
      std::vector<std::string> known{"kernel", "elements"};
      known.insert(known.end(), resource_names.begin(), resource_names.end());
      check_keys(table, known, "a kernel");
      out.name = text(*kernel, "kernel");
      out.elements = required(table, "elements", part_variables);
      for (std::size_t r = 0; r < resource_names.size(); ++r)
        if (auto const* const demand = table.get(resource_names[r]))
          out.demands[r] = expression(*demand, part_variables);
      return out;
    }
    check_keys(table, {"copy", "to", "bytes"}, "a copy");
    auto const* const copy = table.get("copy");
    if (!copy)
      throw refuse(table.source(), fmt::format("a step of [[{}]] has neither kernel nor copy", section),
                   "kernel = \"name\" or copy = \"name\"");
    out.name = text(*copy, "copy");
    auto const* const to = table.get("to");
    if (!to) throw refuse(table.source(), "no to", "to = \"part\", \"host\", \"neighbours\" or \"all\"");
    auto const target = text(*to, "to");
    static std::vector<std::pair<std::string, StepKind>> const targets{{"part", StepKind::from_host},
                                                                       {"host", StepKind::to_host},
                                                                       {"neighbours", StepKind::to_neighbours},
                                                                       {"all", StepKind::to_all}};
    auto const found = std::find_if(targets.begin(), targets.end(), [&](auto const& t) { return t.first == target; });
    if (found == targets.end())
      throw refuse(to->source(), fmt::format("unknown target '{}'", target),
                   did_you_mean(target, {"part", "host", "neighbours", "all"}));
    out.kind = found->second;
    out.bytes =
        required(table, "bytes", out.kind == StepKind::to_neighbours ? std::span(edge_variables) : part_variables);
    return out;
  }
  Expression required(toml::table const& table, std::string_view key,
                      std::span<std::string_view const> variables) const {
    if (auto const* const node = table.get(key)) return expression(*node, variables);
    throw refuse(table.source(), fmt::format("no {}", key), fmt::format("{} = \"…\"", key));
  }

  std::string path_;
  TomlFile file_;
  toml::table const& root_;
};

}  // namespace

Application read_application(std::string const& path) {
  return ApplicationFile(path).read();
}

}  // namespace kernelcast::graph
