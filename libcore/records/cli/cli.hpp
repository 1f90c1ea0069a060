// One main for every program: options, streams, errors, exit status.
//
// Problem: a dozen programs must behave alike: the same common options, output that is complete or absent, errors in
// one form, documented exit statuses.
// Method: a program describes itself (About), declares its own options on tool.app() (CLI11) without any I/O, and hands
// over a body that gets Streams. tool_main alone parses, opens, catches, prints and returns the exit status.
//
//   int main(int argc, char** argv) {
//     return kernelcast::cli::tool_main(argc, argv, {.name = "rank", .summary = "rank devices by projected time",
//         .input = {&Projection::schema()}, .output = {&Ranking::schema()}},
//       [](kernelcast::cli::Tool& tool) {
//         auto options = std::make_shared<Options>();
//         tool.app().add_flag("--share", options->share, "…");
//         tool.list("--device", options->devices, "only these devices", "NAME");   // repeated or comma-separated
//         tool.run([options](kernelcast::cli::Streams& io) { run(*options, io); });
//       });
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "records/table/schema.hpp"
#include "records/table/table.hpp"

namespace kernelcast::cli {

// What a program takes as operands.
enum class Operands {
  csv_files,  // [FILE]…, CSV; standard input when there is none
  none        // nothing, or what the program declares itself as positionals on app()
};

struct About {
  std::string name;
  std::string summary;      // one line, lower case, no full stop
  std::string description;  // for --help: a few sentences
  Operands operands = Operands::csv_files;
  std::vector<record::Layout const*> input;
  // All that the program may write; --columns lists them. A program that writes no records lists `input` instead, and
  // gives --format a meaning of its own.
  std::vector<record::Layout const*> output;
  std::vector<std::pair<Status, std::string>> statuses;       // what 1, 5, 6 mean here; the general ones are added
  std::vector<std::string> see_also;                          // "perfcast(1)"
  std::vector<std::pair<std::string, std::string>> examples;  // command, what it does
  // What may stand first, for completion: verbs of the program's own, which are programs with options of theirs, and
  // other words; none for most programs.
  std::vector<std::string> verbs = {}, words = {};
  // Words that --threads takes beside a number, and what they mean; none for most programs.
  std::pair<std::vector<std::string>, std::string> threads_words = {};
};

// What the body works with.
class Streams {
 public:
  // Operands: files to read, "-" is standard input; {"-"} when none is given.
  std::vector<std::string> const& inputs() const;

  // A CSV reader on an input ("-" allowed); the file's hash goes into --meta. Stays open until the program ends.
  csv::Reader csv(std::string const& path);
  csv::Reader csv() { return csv(inputs().front()); }
  // Rows of an earlier run that was interrupted: a last line that is not complete is left out, with a note.
  csv::Reader csv_of_interrupted(std::string const& path);
  // The same for other formats.
  std::istream& input(std::string const& path);
  std::istream& input() { return input(inputs().front()); }
  static std::string input_name(std::string const& path) { return path == "-" ? "<stdin>" : path; }
  // For inputs opened elsewhere: the content's hash goes into --meta.
  void note_input(std::string const& path, std::string_view content);
  void note_input_file(std::string const& path);  // reads it, with --meta only

  // Standard output or the file of -o. Failures to write throw Error(io).
  std::ostream& output();
  std::string const& output_path() const;  // as -o names it; "-" is standard output
  bool to_standard_output() const;         // no -o was given
  // What is written so far is delivered, also if the program fails later: for programs that measure, after each row.
  void publish();
  // Whether publishing now would put fewer rows in the place of those of `path`: it is the file of -o, and has not been
  // replaced yet.
  bool would_replace(std::string const& path) const;
  // For programs whose final output replaces an earlier one: what is written from here on takes the place of what was
  // published, when the program ends well. True where the output is a regular file; does nothing elsewhere.
  bool can_start_over() const;
  void start_over();

  // Rows in the chosen --format, counted for --meta. Call finish() on the writer.
  template <class R>
  record::Writer<R> writer(std::vector<std::string> extra_names = {}) {
    return record::Writer<R>(output(), format(), row_counter(), std::move(extra_names));
  }

  // All rows of a program that writes one record.
  template <class R>
  void write(std::vector<R> const& rows) {
    auto out = writer<R>();
    for (auto const& row : rows) out.write(row);
    out.finish();
  }

  record::Format format() const;
  unsigned threads() const;                 // at least 1
  std::string const& threads_word() const;  // of About::threads_words, if one was given
  std::uint64_t seed() const;
  bool quiet() const;

  // A line on stderr, prefixed by the program's name; nothing with --quiet.
  void note(std::string_view text);
  void warn(std::string_view text);  // also with --quiet
  // An error after which the output is complete all the same, as tool_main prints errors. Its status is to be returned.
  Status complain(Error const&);
  void print_message(std::string_view text);  // to stderr as it is; nothing with --quiet
  // One line that takes the place of the one before, on a terminal; empty: clears it. Nothing anywhere else.
  void progress(std::string_view text);

  void set_device(std::string device);  // for --meta

  struct State;
  explicit Streams(State& state) : state_(&state) {}

 private:
  std::uint64_t* row_counter();
  State* state_;
};

class Tool {
 public:
  CLI::App& app();

  // An option that takes several values: repeated or comma-separated, never variadic.
  CLI::Option* list(std::string const& names, std::vector<std::string>& values, std::string const& text,
                    std::string const& value_name = "VALUE");

  // What --columns lists where the program's options or operands decide; they have their values when this is called.
  void columns(std::function<std::vector<record::Layout const*>()>);

  // The body; returns nothing (done) or a Status (finding).
  template <class Body>
  void run(Body body) {
    if constexpr (std::is_same_v<std::invoke_result_t<Body, Streams&>, Status>)
      set_body(std::move(body));
    else
      set_body([body = std::move(body)](Streams& io) {
        body(io);
        return Status::done;
      });
  }

  struct State;
  explicit Tool(State& state) : state_(&state) {}

 private:
  void set_body(std::function<Status(Streams&)>);
  State* state_;
};

// --devdb DIR, for device::find_database(). `text`: where a program takes less than all from it.
CLI::Option* database_option(
    CLI::App&, std::string& folder,
    std::string const& text = "the device database; else KERNELCAST_DEVDB, else the one that belongs to the program");

int tool_main(int argc, char** argv, About const& about, std::function<void(Tool&)> const& declare);

}  // namespace kernelcast::cli
