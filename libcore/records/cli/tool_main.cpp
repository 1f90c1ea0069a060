#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/diag/ending.hpp"
#include "base/diag/text.hpp"
#include "base/process/input.hpp"
#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "base/version/version.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/completion.hpp"
#include "records/cli/help.hpp"
#include "records/cli/json_input.hpp"
#include "records/cli/output_file.hpp"
#include "records/cli/stdio.hpp"

namespace kernelcast::cli {

namespace {

std::string utc_now() {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

void say(std::string const& text) {
  // stderr is the last resort: when it fails there is nowhere left to say so.
  if (write(2, text.data(), text.size()) == -1) return;
}

void print_error(Error const& error, std::string const& program) {
  auto text = error.text(program);
  if (auto const at = text.find("error: "); at != std::string::npos && colour_on_stderr())
    text.replace(at, 6, "\x1b[1;31merror:\x1b[0m");
  say(text);
}

// --config as CLI11 reads it, but neither without end nor nested without end: it holds a name for each level of each
// key.
class Configuration : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
    std::string const name = "the configuration file";
    auto text = read_all(in, name, max_configuration_bytes);
    refuse_deep_nesting(text, name);
    std::istringstream bounded(std::move(text));
    return CLI::ConfigTOML::from_config(bounded);
  }
};

[[gnu::init_priority(101)]] EndsInOrder const ends_in_order(remove_what_is_noted);

struct PrintAndEnd {  // thrown by options such as --columns, as CLI11 does for --help
  std::function<std::string()> text;
};

}  // namespace

struct CommonOptions {
  std::vector<std::string> inputs;
  std::string output = "-";
  std::string format = "csv";
  std::string meta;
  std::uint64_t seed = 0;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::string threads_word;
  bool quiet = false;
};

struct Streams::State {
  struct OpenInput {
    OpenInput(int descriptor, std::string const& name, bool hashed)
        : buffer(descriptor, name, hashed), stream(&buffer) {
      stream.exceptions(std::ios::badbit);
    }
    InputBuffer buffer;
    std::istream stream;
  };
  struct NotedInput {
    std::string name, hash;
    std::uint64_t bytes;
  };

  About const& about;
  CommonOptions const& options;
  std::array<bool, 3> closed;
  std::deque<OpenInput> open_inputs;
  std::vector<NotedInput> noted_inputs;
  std::deque<std::istringstream> texts;
  std::unique_ptr<OutputFile> file;
  std::unique_ptr<OutputBuffer> standard_buffer;
  std::unique_ptr<std::ostream> standard_output;
  std::uint64_t rows = 0;
  std::string device;
  std::string started = utc_now();

  void refuse_closed(int number) const;
  void open_output();
  void finish_output();
  void abandon_output();
  std::string meta(std::vector<std::string> const& argv);
};

// Closed streams stand open on /dev/null, where output would be lost without an error.
void Streams::State::refuse_closed(int number) const {
  if (closed.at(static_cast<std::size_t>(number)))
    throw Error(Status::io, fmt::format("cannot write standard {}: it is closed", number == 2 ? "error" : "output"),
                "redirect it, or name a file with -o FILE");
}

void Streams::State::open_output() {
  if (options.output != "-") {
    if (int const number = named_descriptor(options.output); number == 1 || number == 2) refuse_closed(number);
    file = std::make_unique<OutputFile>(options.output);
    return;
  }
  refuse_closed(1);
  standard_buffer = std::make_unique<OutputBuffer>(1, "standard output");
  standard_output = std::make_unique<std::ostream>(standard_buffer.get());
  standard_output->exceptions(std::ios::badbit);
}

void Streams::State::finish_output() {
  if (file) {
    file->commit();
    return;
  }
  standard_buffer->send();
  // Some file systems report a failed write only on close.
  int const copy = dup(1);
  if (copy != -1 && close(copy) == -1)
    throw Error(Status::io, "cannot write standard output: " + std::generic_category().message(errno),
                "the output is incomplete");
}

// After an error: rows that were already written by then reach a pipe or terminal, never a file of -o.
void Streams::State::abandon_output() {
  try {
    if (standard_buffer) standard_buffer->send();
  } catch (Error const&) {
    return;  // the first error is the one to report
  }
}

std::string Streams::State::meta(std::vector<std::string> const& argv) {
  auto out = nlohmann::ordered_json::object();  // one that becomes an object later crashes when memory runs out
  out["tool"] = about.name;
  out["version"] = version();
  out["commit"] = commit().empty() ? nlohmann::json() : nlohmann::json(commit());
  out["schema_versions"] = nlohmann::ordered_json::object();
  for (auto const* layout : about.output) out["schema_versions"][layout->name()] = layout->version();
  out["argv"] = argv;
  out["inputs"] = nlohmann::json::array();
  for (auto& input : open_inputs) {
    input.buffer.drain();
    noted_inputs.push_back({input.buffer.name(), input.buffer.hash().hex(), input.buffer.hash().bytes()});
  }
  for (auto const& input : noted_inputs)
    out["inputs"].push_back({{"file", input.name}, {"bytes", input.bytes}, {"xxh3_64", input.hash}});
  out["output"] = options.output == "-" ? "<stdout>" : options.output;
  out["device"] = device.empty() ? nlohmann::json() : nlohmann::json(device);
  utsname host{};
  uname(&host);
  out["host"] = {
      {"name", host.nodename}, {"system", host.sysname}, {"release", host.release}, {"machine", host.machine}};
  out["seed"] = options.seed;
  out["threads"] = options.threads;
  out["utc"] = started;
  out["rows"] = rows;
  // argv may hold any bytes; what is not UTF-8 is replaced rather than fatal.
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<std::string> const& Streams::inputs() const {
  return state_->options.inputs;
}

std::istream& Streams::input(std::string const& path) {
  int descriptor = 0;
  if (path == "-") {
    if (state_->closed[0])
      throw Error(Status::io, "cannot read standard input: it is closed", "name a file, or redirect standard input");
    if (isatty(0) == 1) note("reads standard input from the terminal; end with Ctrl-D");
  } else {
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor == -1)
      throw Error(Status::io, Where{path}, "cannot open: " + std::generic_category().message(errno),
                  errno == ENOENT ? "check the name; - is standard input" : "check its permissions");
  }
  return state_->open_inputs.emplace_back(descriptor, input_name(path), !state_->options.meta.empty()).stream;
}

csv::Reader Streams::csv(std::string const& path) {
  auto& in = input(path);
  int const first = in.peek();
  if (first == '[')  // as --format json writes it; no header of CSV begins so
    return csv::Reader(state_->texts.emplace_back(csv_of_json(in, input_name(path))), input_name(path));
  if (first == '{')
    throw Error(Status::bad_data, Where{input_name(path), 1, 1}, "this is JSON Lines, an object a line, and not CSV",
                "an array of objects is read: jq -s . FILE");
  if (first == std::istream::traits_type::eof()) in.clear();
  return csv::Reader(in, input_name(path));
}

csv::Reader Streams::csv_of_interrupted(std::string const& path) {
  std::string text(std::istreambuf_iterator<char>(input(path)), {});
  auto const whole = text.rfind('\n') + 1;
  if (whole < text.size()) note(fmt::format("{}: its last row is incomplete and is made again", path));
  text.resize(whole);
  return csv::Reader(state_->texts.emplace_back(std::move(text)), input_name(path));
}

void Streams::note_input(std::string const& path, std::string_view content) {
  ContentHash hash;
  hash.add(content.data(), content.size());
  state_->noted_inputs.push_back({path, hash.hex(), hash.bytes()});
}

void Streams::note_input_file(std::string const& path) {
  if (!state_->options.meta.empty()) input(path);  // hashed when the meta file is written
}

std::ostream& Streams::output() {
  return state_->file ? state_->file->stream() : *state_->standard_output;
}

void Streams::publish() {
  if (state_->file)
    state_->file->publish();
  else
    state_->standard_buffer->send();
}

bool Streams::would_replace(std::string const& path) const {
  if (!state_->file || !state_->file->waits() || path.empty()) return false;
  auto const& output = state_->options.output;
  std::error_code error;
  bool const same = std::filesystem::equivalent(path, output, error);
  // Where there is no such file yet its name tells.
  return error ? std::filesystem::absolute(path, error).lexically_normal() ==
                     std::filesystem::absolute(output, error).lexically_normal()
               : same;
}

bool Streams::can_start_over() const {
  return state_->file && state_->file->can_be_replaced();
}

void Streams::start_over() {
  if (!can_start_over()) return;
  state_->file = nullptr;
  state_->file = std::make_unique<OutputFile>(state_->options.output);
  state_->rows = 0;
}

std::string const& Streams::output_path() const {
  return state_->options.output;
}

bool Streams::to_standard_output() const {
  return output_path() == "-";
}

record::Format Streams::format() const {
  auto const& name = state_->options.format;
  return name == "json" ? record::Format::json : name == "table" ? record::Format::table : record::Format::csv;
}

unsigned Streams::threads() const {
  return state_->options.threads;
}
std::string const& Streams::threads_word() const {
  return state_->options.threads_word;
}
std::uint64_t Streams::seed() const {
  return state_->options.seed;
}
bool Streams::quiet() const {
  return state_->options.quiet;
}
void Streams::note(std::string_view text) {
  if (!quiet()) warn(text);
}
void Streams::warn(std::string_view text) {
  say(fmt::format("{}: {}\n", state_->about.name, text));
}
Status Streams::complain(Error const& error) {
  print_error(error, state_->about.name);
  return error.status();
}
void Streams::print_message(std::string_view text) {
  if (!quiet()) say(std::string(text));
}
void Streams::progress(std::string_view text) {
  static bool const shown = isatty(2) == 1 && colour_on_stderr();
  if (shown && !quiet()) say(fmt::format("\r\x1b[K{}", text));
}
void Streams::set_device(std::string device) {
  state_->device = std::move(device);
}
std::uint64_t* Streams::row_counter() {
  return &state_->rows;
}

struct Tool::State {
  CLI::App app;
  std::function<std::vector<record::Layout const*>()> columns;  // empty: those of About
  std::function<Status(Streams&)> body;
};

CLI::App& Tool::app() {
  return state_->app;
}

CLI::Option* Tool::list(std::string const& names, std::vector<std::string>& values, std::string const& text,
                        std::string const& value_name) {
  return state_->app.add_option(names, values, text)->delimiter(',')->allow_extra_args(false)->type_name(value_name);
}

CLI::Option* database_option(CLI::App& app, std::string& folder, std::string const& text) {
  // By the environment, so that programs which this one starts have the same devices.
  app.add_option_function<std::vector<std::string>>(
         "--devdb-add",
         [](std::vector<std::string> const& files) {
           char const* const before = std::getenv(variables::devdb_add);
           auto all = before && *before ? std::vector<std::string>{before} : std::vector<std::string>{};
           for (auto const& file : files) all.push_back(std::filesystem::absolute(file).string());
           setenv(variables::devdb_add, fmt::format("{}", fmt::join(all, ":")).c_str(), 1);
         },
         "more devices, or other figures of those that there are: rows with some of the columns of devices.csv, and a "
         "column like, the device that all else is taken from; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  return app.add_option("--devdb", folder, text)->type_name("DIR");
}

void Tool::columns(std::function<std::vector<record::Layout const*>()> columns) {
  state_->columns = std::move(columns);
}

void Tool::set_body(std::function<Status(Streams&)> body) {
  state_->body = std::move(body);
}

namespace {

// A number, or one of the program's words.
void declare_threads(CLI::App& app, CommonOptions& options, About const& about, std::string const& group) {
  auto const& [words, meaning] = about.threads_words;
  std::string text = "threads to use (default all); the output does not depend on it";
  if (words.empty()) {
    app.add_option("--threads", options.threads, text)->type_name("N")->check(CLI::Range(1, 4096))->group(group);
    return;
  }
  CLI::Validator const valid(
      [known = words](std::string& value) {
        bool const word = std::find(known.begin(), known.end(), value) != known.end();
        return word ? std::string{} : CLI::Range(1, 4096)(value);
      },
      "");
  auto const take = [&options](std::string const& value) {
    if (!CLI::detail::lexical_cast(value, options.threads)) options.threads_word = value;
  };
  app.add_option_function<std::string>("--threads", take, text + "; " + meaning)
      ->type_name(fmt::format("N|{}", fmt::join(words, "|")))
      ->check(valid)
      ->group(group);
}

std::string columns_text(About const& about, Tool::State const& tool) {
  std::ostringstream out;
  record::describe(out, tool.columns ? tool.columns() : about.output.empty() ? about.input : about.output);
  return out.str();
}

// With the scripts of the verbs, each of which is a run of this program.
std::string completion_text(CLI::App const& app, About const& about, std::string const& shell) {
  std::string of_verbs;
  for (auto const& verb : about.verbs)
    of_verbs += run_process({program_path().string(), verb, "--completion", shell}, 60).output;
  auto words = about.verbs;
  words.insert(words.end(), about.words.begin(), about.words.end());
  return completion(app, about.name, shell, words, of_verbs);
}

void declare_common(Tool::State& tool, CommonOptions& options, About const& about) {
  auto& app = tool.app;
  std::string const group = "Common options";
  if (about.operands == Operands::csv_files)
    app.add_option("FILE", options.inputs, "CSV to read; - or none is standard input");
  app.set_help_flag("-h,--help", "print this text and end")->group(group);
  auto const printing = [&](std::string const& name, std::string const& text, std::function<std::string()> content) {
    return app.add_flag_callback(
                  name, [content = std::move(content)] { throw PrintAndEnd{content}; }, text)
        ->configurable(false);
  };
  printing("--version", "print the version and end", [&] {
    return fmt::format("{} (kernelcast) {}\n", about.name, version_and_commit());
  })->group(group);
  printing("--columns",
           fmt::format("print the columns of the {} with unit and meaning, as CSV, and end",
                       about.output.empty() ? "input" : "output"),
           [&] { return columns_text(about, tool); })
      ->group(group);
  printing("--man-options", "", [&] { return options_scdoc(app); })->group("");
  printing("--man-columns", "", [&] { return columns_scdoc(about); })->group("");
  printing("--man-statuses", "", [&] { return statuses_scdoc(about); })->group("");
  app.add_option_function<std::string>("--completion",
                                       [&](std::string const& shell) {
                                         throw PrintAndEnd{[&, shell] { return completion_text(app, about, shell); }};
                                       })
      ->configurable(false)
      ->group("");
  app.add_option("-o,--output", options.output,
                 "write to this file instead of standard output: complete or not at all; where the program measures, "
                 "attaches or sweeps, row by row")
      ->type_name("FILE")
      ->group(group);
  if (!about.output.empty())
    app.add_option("--format", options.format, "csv (default), json, or table, which is for people and scales units")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"csv", "json", "table"}))
        ->group(group);
  app.add_option("--meta", options.meta, "also write how the output came about: versions, arguments, hashes of inputs")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--seed", options.seed, "seed of everything random (default 0)")->type_name("N")->group(group);
  declare_threads(app, options, about, group);
  app.add_flag("--quiet", options.quiet, "no notes on standard error, errors only")->group(group);
  app.set_config("--config", "", "read options from this file, in TOML or INI form; unknown keys are errors")
      ->type_name("FILE")
      ->group(group);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.config_formatter(std::make_shared<Configuration>());
}

std::string first_unknown_option(CLI::App const& app) {
  for (auto const& argument : app.remaining())
    if (argument == "--")
      break;  // what follows are not options
    else if (argument.size() > 1 && argument.front() == '-')
      return argument.substr(0, argument.find('='));
  return {};
}

Error usage_error(CLI::App const& app, About const& about, CLI::ParseError const& error) {
  std::string const help = fmt::format("{} --help lists the options", about.name);
  auto const hint_for = [&](std::string const& name, std::vector<std::string> const& names) {
    auto const near = nearest(name, names);
    return near.empty() ? help : did_you_mean(name, names);
  };
  if (auto const option = first_unknown_option(app); !option.empty())
    return Error(Status::usage, fmt::format("unknown option '{}'", option), hint_for(option, option_names(app)));
  if (dynamic_cast<CLI::ExtrasError const*>(&error) != nullptr && app.remaining_size() > 0)
    return Error(Status::usage, fmt::format("unexpected operand '{}'", app.remaining().front()), help);
  if (dynamic_cast<CLI::FileError const*>(&error) != nullptr)
    return Error(Status::io, fmt::format("cannot read the configuration: {}", error.what()), "check the name");
  if (dynamic_cast<CLI::ConfigError const*>(&error) != nullptr) {
    std::string const text = error.what();
    if (auto const end = text.find(": This option is not allowed"); end != std::string::npos)
      return Error(Status::usage, fmt::format("'{}' is not allowed in a configuration file", text.substr(0, end)),
                   "give it on the command line");
    std::string key = text.substr(text.rfind(' ') + 1);
    if (key.ends_with(".++")) key.resize(key.size() - 3);  // how CLI11 names the begin of a section
    std::vector<std::string> keys;
    for (auto const& name : option_names(app))
      if (name.starts_with("--")) keys.push_back(name.substr(2));
    return Error(Status::usage, fmt::format("unknown key '{}' in the configuration file", key), hint_for(key, keys));
  }
  // "--format: jsonn not in {csv,json,table}", as CLI11 says it.
  std::string const text = error.what();
  auto const colon = text.find(": "), in = text.find(" not in {", colon), end = text.rfind('}');
  if (dynamic_cast<CLI::ValidationError const*>(&error) && colon != std::string::npos && in != std::string::npos &&
      end > in) {
    auto const value = text.substr(colon + 2, in - colon - 2);
    std::vector<std::string> known;
    for (auto const name : split(std::string_view(text).substr(in + 9, end - in - 9), ',')) known.emplace_back(name);
    return Error(Status::usage, fmt::format("{}: no value '{}'", text.substr(0, colon), value),
                 did_you_mean(value, known, known.size()));
  }
  return Error(Status::usage, text, help);
}

void print(std::string const& text, bool closed) {
  if (closed) throw Error(Status::io, "cannot write standard output: it is closed", "redirect it");
  OutputBuffer out(1, "standard output");
  out.sputn(text.data(), static_cast<std::streamsize>(text.size()));
  out.send();
}

// CLI11 reads -1 as the largest number of an unsigned option.
void refuse_negative_counts(CLI::App& app) {
  CLI::Validator const at_least_zero(
      [](std::string& value) {
        return value.starts_with('-') ? fmt::format("expected a whole number, 0 or more, got {}", value) : "";
      },
      "");
  for (auto* const option : app.get_options())
    if (option->get_type_name() == "N") option->check(at_least_zero);
}

// What no option can check by itself.
void check_names(CommonOptions const& options) {
  if (options.output.empty()) throw Error(Status::usage, "--output needs a name", "- is standard output");
  if (std::count(options.inputs.begin(), options.inputs.end(), "-") > 1)
    throw Error(Status::usage, "standard input is named twice", "it can be read once; name - once");
  if (options.meta == "-") throw Error(Status::usage, "--meta needs a file", "standard output is for the data");
  if (!options.meta.empty() && options.meta == options.output && !options.meta.starts_with("/dev/"))
    throw Error(Status::usage, "--meta and --output name the same file", "give each its own");
}

Status run(About const& about, CommonOptions& options, Tool::State& tool, int argc, char** argv,
           std::array<bool, 3> closed) {
  try {
    tool.app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    print(help_text(tool.app, about), closed[1]);
    return Status::done;
  } catch (PrintAndEnd const& request) {
    print(request.text(), closed[1]);
    return Status::done;
  } catch (CLI::ParseError const& error) {
    throw usage_error(tool.app, about, error);
  }
  check_names(options);
  if (options.inputs.empty()) options.inputs.emplace_back("-");
  Streams::State state{about, options, closed, {}, {}, {}, {}, {}, {}, 0, {}, utc_now()};
  state.open_output();
  std::unique_ptr<OutputFile> meta;
  if (!options.meta.empty()) meta = std::make_unique<OutputFile>(options.meta);
  Streams io(state);
  Status status = Status::done;
  try {
    status = tool.body(io);
  } catch (...) {
    state.abandon_output();
    throw;
  }
  state.finish_output();
  if (meta) {
    meta->stream() << state.meta({argv, argv + argc});
    meta->commit();
  }
  return status;
}

}  // namespace

int tool_main(int argc, char** argv, About const& about, std::function<void(Tool&)> const& declare) {
  auto const closed = reserve_standard_streams();
  clean_up_at_signals();
  remove_abandoned();
  try {
    CommonOptions options;
    Tool::State state;
    state.app.name(about.name);
    Tool tool(state);
    state.app.set_help_flag();
    declare(tool);
    declare_common(state, options, about);
    refuse_negative_counts(state.app);
    auto const status = run(about, options, state, argc, argv, closed);
    if (int const signal = stop_signal()) end_by_signal(signal);
    return static_cast<int>(status);
  } catch (Error const& error) {
    print_error(error, about.name);
    return static_cast<int>(error.status());
  } catch (...) {
    return report_exception(about.name);
  }
}

}  // namespace kernelcast::cli
