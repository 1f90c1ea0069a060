// read_launch_file(): TOML to a Plan. Loops are unrolled here, so that the plan is a plain list of calls.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/toml/toml.hpp"
#include "emulator/launch/arguments.hpp"
#include "emulator/launch/compiler_options.hpp"
#include "emulator/launch/parameters.hpp"
#include "records/table/histogram.hpp"

namespace kernelcast::launch {

namespace {

constexpr std::size_t max_calls = 1'000'000;
constexpr std::size_t max_rounds = 4 * max_calls;               // of loops, those that launch nothing included
constexpr std::size_t max_plan_bytes = std::size_t{256} << 20;  // of a plan's calls, with their texts and arguments
constexpr std::size_t max_points = 1'000'000;                   // of a sweep, before `where` leaves some out
constexpr std::size_t max_line_bytes = 1000;                    // of a line that errors show; each call keeps its own

std::vector<std::string> const launch_keys{"kernel", "global", "grid", "cluster", "local",
                                           "offset", "args",   "bind", "shared",  "touched_before"};

class LaunchFile {
 public:
  LaunchFile(std::string const& path, std::vector<std::string> const& options, std::vector<std::string> const& sets)
      : path_(path), file_(TomlFile::read(path, "the launch file", "a launch file is TOML 1.0")), root_(file_.root()) {
    folder_ = std::filesystem::path(path_).parent_path().string();
    plan_.case_name = std::filesystem::path(path_).stem().string();
    plan_.request.options = options;
    for (auto const& set : sets) plan_.case_name += "_" + set;
    read_parameters(sets);
  }

  Plan read() {
    check_keys(
        root_,
        {"file", "case", "options", "link", "parameters", "set", "sweep", "variants", "buffers", "images", "launch"},
        "a launch file");
    if (root_.get("case")) plan_.case_name = filled(string_in(root_, "case", "the launch file")).text;
    read_program();
    read_buffers();
    read_images();
    auto const* const launches = root_.get("launch");
    if (!launches)
      throw refuse(text_at(root_.source(), {}), "no [[launch]]", "a launch has kernel, global, local and args");
    read_launches(*launches, "launch");
    if (plan_.calls.empty())
      throw refuse(text_at(launches->source(), {}), "nothing is launched", "a range of `for` is empty");
    return std::move(plan_);
  }

  std::optional<Sweep> sweep(std::vector<std::string> const& sets, Points const* given) {
    Sweep out{points(sets, given), variants()};
    if (out.points.empty() && out.variants.empty()) return std::nullopt;
    if (out.points.empty()) out.points.emplace_back();
    return out;
  }

 private:
  std::vector<Sweep::Variant> variants() const {
    std::vector<Sweep::Variant> out;
    auto const* const variants = table_in("variants", "sm_90a = \"hopper\"");
    if (!variants) return out;
    for (auto const& [target, node] : in_order(*variants)) {
      if (!frontend::is_machine_target(target))
        throw wrong(*node, fmt::format("'{}' is no target", target), "sm_90a, sm_100f, gfx942");
      auto& variant = out.emplace_back(target);
      for (auto const& set : strings_of(*node, "a set")) variant.sets.push_back(set.text);
    }
    return out;
  }

  // None without a sweep.
  std::vector<std::vector<std::string>> points(std::vector<std::string> const& sets, Points const* given) {
    auto const* const sweep = table_in("sweep", "n = [256, 512]");
    if (!sweep && !given) return {};
    std::vector<Text> conditions;
    Points product;
    std::vector<Values> lists;
    if (sweep) {
      for (auto const& [name, node] : in_order(*sweep)) {
        if (name == "where")
          conditions = strings_of(*node, "a condition");
        else if (!given && !is_set(sets, name))
          product.names.push_back(name), lists.push_back(values_of(name, *node));
      }
      if (!given) product.values = combinations(lists, *sweep);
    }
    std::vector<std::vector<std::string>> out;
    Points const& all = given ? *given : product;
    for (auto const& values : all.values) {
      std::vector<std::string> point;
      for (std::size_t i = 0; i < all.names.size(); ++i) point.push_back(all.names[i] + "=" + values[i]);
      if (conditions.empty() || holds(conditions, point)) out.push_back(std::move(point));
    }
    if (out.empty())
      throw refuse(text_at(sweep ? sweep->source() : root_.source(), {}), "the sweep has no point",
                   "is its `where` true of any?");
    return out;
  }

  static bool is_set(std::vector<std::string> const& sets, std::string const& name) {
    return std::ranges::any_of(sets, [&](auto const& set) { return set.starts_with(name + "="); });
  }

  // One, or a list of them.
  std::vector<Text> strings_of(toml::node const& node, char const* what) const {
    std::vector<Text> out;
    if (auto const* const several = node.as_array())
      for (auto const& one : *several) out.push_back(string_of(one, what));
    else
      out.push_back(string_of(node, what));
    return out;
  }

  // [v, v, ...] or a range, which has no more values than a sweep has points.
  std::vector<std::string> values_of(std::string const& name, toml::node const& node) const {
    if (!variables_.contains(name))
      throw wrong(node, fmt::format("'{}' is no parameter", name),
                  "a sweep is over [parameters]; macros are given "
                  "as options = [\"-DTILE=${tile}\"]");
    std::vector<std::string> out;
    if (auto const* const list = node.as_array()) {
      for (auto const& item : *list)
        out.push_back(std::visit([](auto const& value) { return fmt::format("{}", value); }, value_of(item)));
    } else {
      Loop const loop = read_loop(node);
      for (std::int64_t value = loop.from; value < loop.to;) {
        out.push_back(std::to_string(value));
        if (loop.times ? __builtin_mul_overflow(value, loop.times, &value)
                       : __builtin_add_overflow(value, loop.step, &value))
          break;
      }
    }
    if (out.empty()) throw wrong(node, fmt::format("'{}' has no values", name), "n = [256, 512]");
    return out;
  }

  using Values = std::vector<std::string>;

  // A value of each list; the first list is outermost.
  std::vector<Values> combinations(std::vector<Values> const& lists, toml::table const& sweep) const {
    std::size_t count = 1;
    for (auto const& list : lists)
      if (__builtin_mul_overflow(count, list.size(), &count) || count > max_points)
        throw refuse(text_at(sweep.source(), {}), fmt::format("more than {} points", max_points),
                     "give the points of interest as a table: --points FILE");
    std::vector<Values> out(count, Values(lists.size()));
    for (std::size_t number = 0; number < count; ++number)
      for (std::size_t i = lists.size(), rest = number; i-- > 0; rest /= lists[i].size())
        out[number][i] = lists[i][rest % lists[i].size()];
    return out;
  }

  bool holds(std::vector<Text> const& conditions, std::vector<std::string> const& point) const {
    Choice choice = *choice_;
    for (auto const& set : point) choice.choose(set);
    Variables variables;
    for (auto& [name, value] : choice.values()) variables.emplace(name, std::move(value));
    return std::ranges::all_of(
        conditions, [&](Text const& condition) { return evaluate(condition.text, variables, condition) != 0; });
  }

  Text text_at(toml::source_region const& source, std::string text) const {
    Text result{std::move(text), file_.where(source), file_.line(source.begin.line)};
    if (result.line.size() > max_line_bytes) result.line.clear();
    return result;
  }
  Error wrong(toml::node const& node, std::string const& message, std::string hint) const {
    return refuse(text_at(node.source(), {}), message, std::move(hint));
  }

  void check_keys(toml::table const& table, std::vector<std::string> const& known, std::string_view what) const {
    for (auto const& [key, value] : table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        throw refuse(text_at(key.source(), {}), fmt::format("unknown key '{}' in {}", key.str(), what),
                     did_you_mean(key.str(), known));
  }

  // Keys in the order of the file; the TOML library sorts them by name.
  std::vector<std::pair<std::string, toml::node const*>> in_order(toml::table const& table) const {
    std::vector<std::pair<toml::source_position, std::pair<std::string, toml::node const*>>> entries;
    for (auto const& [key, value] : table) entries.push_back({key.source().begin, {std::string(key.str()), &value}});
    std::sort(entries.begin(), entries.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    std::vector<std::pair<std::string, toml::node const*>> result;
    for (auto& entry : entries) result.push_back(std::move(entry.second));
    return result;
  }

  Text string_of(toml::node const& node, std::string_view what) const {
    auto const* const text = node.as_string();
    if (!text) throw wrong(node, fmt::format("{} must be a string", what), "put it in quotes");
    return text_at(node.source(), text->get());
  }
  Text string_in(toml::table const& table, std::string_view key, std::string_view owner) const {
    auto const* const node = table.get(key);
    if (!node)
      throw refuse(text_at(table.source(), {}), fmt::format("{} has no '{}'", owner, key),
                   fmt::format("add {} = \"…\"", key));
    return string_of(*node, key);
  }
  // With its ${…} filled in. All that they make counts: a short file could make any length.
  Text filled(Text const& text) {
    Text result = substitute(text, variables_);
    plan_bytes_ += bytes_of(result);
    if (plan_bytes_ > max_plan_bytes)
      throw refuse(text, fmt::format("the launches take more than {} MiB", max_plan_bytes >> 20),
                   "make the ranges of `for` smaller, or the arguments shorter");
    return result;
  }
  Text filled_string(toml::node const& node, std::string_view what) { return filled(string_of(node, what)); }

  toml::array const& array_of(toml::node const& node, std::string_view what, std::string hint) const {
    auto const* const array = node.as_array();
    if (!array) throw wrong(node, fmt::format("{} must be an array", what), std::move(hint));
    return *array;
  }

  toml::table const* table_in(std::string_view key, std::string_view example) const {
    auto const* const node = root_.get(key);
    if (!node) return nullptr;
    if (auto const* const table = node->as_table()) return table;
    throw wrong(*node, fmt::format("{} must be a table", key), fmt::format("write [{}] and below it {}", key, example));
  }

  Value value_of(toml::node const& node) const {
    if (auto const* const integer = node.as_integer()) return integer->get();
    if (auto const* const number = node.as_floating_point()) return number->get();
    if (auto const* const text = node.as_string()) return text->get();
    throw wrong(node, "a parameter is a number or a string", "n = 1024");
  }

  // All sets are read, chosen or not: a mistake is refused whoever reads the file.
  void read_parameters(std::vector<std::string> const& chosen) {
    Choice choice(path_);
    if (auto const* const table = table_in("parameters", "n = 1024"))
      for (auto const& [name, value] : in_order(*table))
        choice.declare(name, value_of(*value), text_at(value->source(), {}));
    if (auto const* const sets = table_in("set", "small = { n = 16 }"))
      for (auto const& [name, node] : in_order(*sets)) {
        auto const* const table = node->as_table();
        if (!table) throw wrong(*node, fmt::format("set '{}' must be a table", name), "small = { n = 16 } below [set]");
        choice.declare_set(name, text_at(node->source(), {}));
        for (auto const& [parameter, value] : *table)
          choice.add_to_set(name, std::string(parameter.str()), value_of(value), text_at(parameter.source(), {}));
      }
    for (auto const& text : chosen) choice.choose(text);
    choice_ = choice;
    plan_.parameters = choice.values();
    for (auto const& [name, value] : plan_.parameters) variables_.emplace(name, value);
  }

  void read_program() {
    plan_.request.path = source_in(root_, "the launch file");
    read_options(root_, plan_.request.options);
    auto const* const link = root_.get("link");
    if (!link) return;
    for (auto const& item : array_of(*link, "link", "write [[link]]")) {
      auto const* const table = item.as_table();
      if (!table) throw wrong(item, "link must be a table", "write [[link]] and below it file = \"more.cl\"");
      check_keys(*table, {"file", "options"}, "a linked source");
      auto& unit = plan_.request.linked.emplace_back();
      unit.path = source_in(*table, "the linked source");
      read_options(*table, unit.options);
    }
  }

  std::string source_in(toml::table const& table, std::string_view owner) {
    return (std::filesystem::path(folder_) / filled(string_in(table, "file", owner)).text).string();
  }

  void read_options(toml::table const& table, std::vector<std::string>& out) {
    auto const* const options = table.get("options");
    if (!options) return;
    bool value_follows = false;
    for (auto const& option : array_of(*options, "options", "options = [\"-DN=4\"]")) {
      Text const text = filled_string(option, "an option");
      bool const is_value = std::exchange(value_follows, false);
      if (is_value ? !is_plain_value(text.text) : !is_harmless_option(text.text, value_follows))
        throw refuse(text, fmt::format("compiler option '{}' is not allowed in a launch file", text.text),
                     "a file of others must not start or write anything; if you trust it, give the option as "
                     "--compiler-option");
      out.push_back(text.text);
    }
    if (value_follows) throw wrong(*options, "the value of the last option is missing", "write -DNAME=VALUE");
  }

  void read_buffers() {
    auto const* const table = table_in("buffers", "name = \"f32:1024:random\"");
    if (!table) return;
    for (auto const& [name, value] : in_order(*table))
      plan_.buffers.push_back(parse_buffer(name, filled_string(*value, "a buffer"), folder_));
  }

  void read_images() {
    auto const* const table = table_in("images", "name = \"image2d:rgba8:64x64:random\"");
    if (!table) return;
    for (auto const& [name, value] : in_order(*table)) {
      Text const text = filled_string(*value, "an image");
      if (declared(name)) throw refuse(text, fmt::format("'{}' is a buffer too", name), "choose another name");
      add_image(name, text, plan_, folder_);
    }
  }

  bool declared(std::string_view name) const {
    return std::any_of(plan_.buffers.begin(), plan_.buffers.end(), [&](Buffer const& b) { return b.name == name; });
  }

  void read_launches(toml::node const& node, std::string_view what) {
    for (auto const& item : array_of(node, what, fmt::format("write [[{}]]", what))) {
      auto const* const table = item.as_table();
      if (!table) throw wrong(item, fmt::format("{} must be a table", what), fmt::format("write [[{}]]", what));
      auto keys = launch_keys;
      keys.insert(keys.end(), {"for", "each"});
      check_keys(*table, keys, "a launch");
      auto const* const loops = table->get("for");
      if (!loops) {
        read_launch(*table);
        continue;
      }
      auto const* const loop_table = loops->as_table();
      if (!loop_table) throw wrong(*loops, "for must be a table", "for = { k = [0, 192] }");
      unroll(*table, in_order(*loop_table), 0);
    }
  }

  void unroll(toml::table const& launch, std::vector<std::pair<std::string, toml::node const*>> const& loops,
              std::size_t level) {
    if (level == loops.size()) return read_launch(launch);
    auto const& [name, range] = loops[level];
    if (variables_.contains(name))
      throw wrong(*range, fmt::format("'{}' is a parameter, or a variable of an enclosing loop", name),
                  "choose another name");
    Loop const loop = read_loop(*range);
    auto const variable = variables_.emplace(name, loop.from).first;
    for (std::int64_t value = loop.from; value < loop.to;) {
      if (++rounds_ > max_rounds)
        throw wrong(*range, fmt::format("more than {} rounds of `for`", max_rounds), "make its ranges smaller");
      variable->second = value;
      unroll(launch, loops, level + 1);
      if (loop.times ? __builtin_mul_overflow(value, loop.times, &value)
                     : __builtin_add_overflow(value, loop.step, &value))
        break;
    }
    variables_.erase(variable);
  }

  struct Loop {
    std::int64_t from = 0, to = 0, step = 1, times = 0;
  };

  // A number, or an expression in a string: 192, "${n}", "n * 2".
  std::int64_t integer_of(toml::node const& node) const {
    if (auto const* const number = node.as_integer()) return number->get();
    Text text = string_of(node, "a number");
    if (text.text.starts_with("${")) text = substitute(text, variables_);
    return evaluate(text.text, variables_, text);
  }

  // A range is refused before it is walked through.
  Loop read_loop(toml::node const& node) const {
    Loop const loop = read_range(node);
    if (loop.from >= loop.to || loop.times) return loop;
    std::uint64_t const span = static_cast<std::uint64_t>(loop.to) - static_cast<std::uint64_t>(loop.from);
    if (span / static_cast<std::uint64_t>(loop.step) >= max_calls)
      throw wrong(node, fmt::format("more than {} launches", max_calls), "make the ranges of `for` smaller");
    return loop;
  }

  Loop read_range(toml::node const& node) const {
    Loop loop;
    if (auto const* const pair = node.as_array()) {
      if (pair->size() != 2)
        throw wrong(node, "a range is [from, to]", "k = { from = 1, to = 64, times = 2 } has steps");
      loop.from = integer_of(*pair->get(0));
      loop.to = integer_of(*pair->get(1));
      return loop;
    }
    auto const* const table = node.as_table();
    if (!table)
      throw wrong(node, "a range is [from, to] or a table", "k = [0, 192] or k = { from = 1, to = 64, times = 2 }");
    check_keys(*table, {"from", "to", "step", "times"}, "a range");
    for (auto const& [key, target] : {std::pair{"from", &loop.from}, std::pair{"to", &loop.to}}) {
      auto const* const value = table->get(key);
      if (!value) throw wrong(node, fmt::format("the range has no '{}'", key), "k = { from = 1, to = 64, times = 2 }");
      *target = integer_of(*value);
    }
    auto const *const step = table->get("step"), *const times = table->get("times");
    if (step && times) throw wrong(node, "both step and times", "a range has one of them");
    if (step && (loop.step = integer_of(*step)) < 1) throw wrong(*step, "step must be 1 or more", "ranges ascend");
    if (times) {
      loop.times = integer_of(*times);
      if (loop.times < 2 || loop.from < 1)
        throw wrong(node, "times must be 2 or more, and from 1 or more", "ranges ascend");
    }
    return loop;
  }

  Size read_size(toml::node const& node) { return parse_size(size_text(node)); }

  Text size_text(toml::node const& node) {
    Text text = text_at(node.source(), {});
    if (auto const* const array = node.as_array()) {
      for (auto const& item : *array) text.text += (text.text.empty() ? "" : ",") + std::to_string(integer_of(item));
      if (array->empty()) throw wrong(node, "an empty size", "global = [1024, 16]");
    } else if (auto const* const string = node.as_string()) {
      text = filled(text_at(node.source(), string->get()));
    } else {
      text.text = std::to_string(integer_of(node));
    }
    return text;
  }

  void read_launch(toml::table const& table) {
    if (auto const* const each = table.get("each")) {
      for (auto const& key : launch_keys)
        if (auto const* const node = table.get(key))
          throw wrong(*node, fmt::format("'{}' beside 'each'", key), "the launches of `each` have their own");
      return read_launches(*each, "each");
    }
    Call call;
    call.origin = text_at(table.source(), {});
    call.kernel = filled(string_in(table, "kernel", "the launch"));
    auto const *const global = table.get("global"), *const grid = table.get("grid");
    if (!global == !grid)
      throw refuse(call.origin, global ? "both global and grid" : "the launch has no 'global'",
                   "global is in work-items, grid in work-groups");
    call.in_groups = grid != nullptr;
    call.global = read_size(grid ? *grid : *global);
    if (auto const* const local = table.get("local")) call.local = read_size(*local);
    if (auto const* const cluster = table.get("cluster")) call.cluster = read_size(*cluster);
    if (auto const* const offset = table.get("offset")) {
      call.offset = parse_size(size_text(*offset), 0);
      plan_.request.global_offset = true;
    }
    if (auto const* const shared = table.get("shared")) {
      std::int64_t const bytes = integer_of(*shared);
      if (bytes < 0 || bytes > std::int64_t{1} << 30)
        throw wrong(*shared, "shared is out of range", "bytes, such as 4096");
      call.dynamic_shared_bytes = static_cast<std::uint64_t>(bytes);
    }
    if (auto const* const args = table.get("args"))
      for (auto const& item : array_of(*args, "args", "args = [\"a\", \"i32:1024\", \"local:4096\"]"))
        call.arguments.push_back(read_argument(filled_string(item, "an argument")));
    if (auto const* const bind = table.get("bind")) {
      auto const* const references = bind->as_table();
      if (!references) throw wrong(*bind, "bind must be a table", "bind = { tex = \"img\" }");
      for (auto const& [name, value] : in_order(*references)) {
        Text const text = filled_string(*value, "what a reference is bound to");
        call.bindings.emplace_back(Text{name, text.where, text.line}, read_argument(text));
      }
    }
    if (auto const* const touched = table.get("touched_before")) {
      Text const text = filled_string(*touched, "touched_before");
      if (record::Powers powers{}; !record::read_powers(text.text, powers))
        throw refuse(text, fmt::format("touched_before: '{}' is not a histogram", text.text), record::powers_hint);
      plan_.touched_before[plan_.calls.size()] = text.text;
    }
    if (plan_.calls.size() == max_calls)
      throw refuse(call.origin, fmt::format("more than {} launches", max_calls), "make the ranges of `for` smaller");
    plan_bytes_ += bytes_of(call);
    if (plan_bytes_ > max_plan_bytes)
      throw refuse(call.origin, fmt::format("the launches take more than {} MiB", max_plan_bytes >> 20),
                   "make the ranges of `for` smaller, or the arguments shorter");
    plan_.calls.push_back(std::move(call));
  }

  static std::size_t bytes_of(Text const& text) { return text.text.size() + text.line.size() + text.where.file.size(); }
  static std::size_t bytes_of(Argument const& argument) { return sizeof argument + argument.value.size(); }
  // But for the texts that filled() counted.
  static std::size_t bytes_of(Call const& call) {
    std::size_t bytes = sizeof call + bytes_of(call.origin);
    for (auto const& argument : call.arguments) bytes += bytes_of(argument);
    for (auto const& [name, argument] : call.bindings) bytes += sizeof name + bytes_of(name) + bytes_of(argument);
    return bytes;
  }

  static Argument declared_argument(Argument::Kind kind, std::size_t index, Text const& origin) {
    Argument argument;
    argument.kind = kind;
    argument.buffer = index;
    argument.origin = origin;
    return argument;
  }

  Argument read_argument(Text const& text) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      if (plan_.images[i].name == text.text) return declared_argument(Argument::Kind::image, i, text);
      names.push_back(plan_.images[i].name);
    }
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].name == text.text) return declared_argument(Argument::Kind::buffer, i, text);
      names.push_back(plan_.buffers[i].name);
    }
    if (text.text.starts_with("buf:"))
      throw refuse(text, fmt::format("argument '{}' declares a buffer", text.text),
                   "declare it once under [buffers] and give its name here");
    if (is_image(text.text))
      throw refuse(text, fmt::format("argument '{}' declares an image", text.text),
                   "declare it once under [images] and give its name here");
    if (auto const plus = text.text.rfind('+'); plus != std::string::npos)
      if (auto inside = read_place(text, plus)) return std::move(*inside);
    auto argument = parse_argument(text, plan_, folder_);
    if (!argument)
      throw refuse(text, fmt::format("argument '{}' is neither a buffer nor TYPE:VALUE", text.text),
                   names.empty() ? "declare buffers under [buffers]" : did_you_mean(text.text, names));
    return std::move(*argument);
  }

  // NAME+BYTES: a place in a buffer.
  std::optional<Argument> read_place(Text const& text, std::size_t plus) const {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].name != std::string_view(text.text).substr(0, plus)) continue;
      auto argument = declared_argument(Argument::Kind::buffer, i, text);
      std::int64_t const bytes = evaluate(std::string_view(text.text).substr(plus + 1), {}, text);
      if (bytes < 0 || static_cast<std::uint64_t>(bytes) > plan_.buffers[i].bytes())
        throw refuse(text, fmt::format("'{}' has {} bytes", plan_.buffers[i].name, plan_.buffers[i].bytes()),
                     "NAME+BYTES is a place in the buffer");
      argument.offset_bytes = static_cast<std::uint64_t>(bytes);
      return argument;
    }
    return std::nullopt;
  }

  std::string path_, folder_;
  TomlFile file_;
  toml::table const& root_;
  Plan plan_;
  std::optional<Choice> choice_;  // with what was set
  Variables variables_;           // parameters, and the loops around what is being read
  std::size_t plan_bytes_ = 0, rounds_ = 0;
};

}  // namespace

Plan read_launch_file(std::string const& path, std::vector<std::string> const& options,
                      std::vector<std::string> const& sets) {
  return LaunchFile(path, options, sets).read();
}

std::optional<Sweep> read_sweep(std::string const& path, std::vector<std::string> const& sets, Points const* table) {
  return LaunchFile(path, {}, sets).sweep(sets, table);
}

}  // namespace kernelcast::launch
