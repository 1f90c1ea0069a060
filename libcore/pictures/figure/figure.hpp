// The suite's CSV as pictures.
//
// Problem: every record of the suite has a customary drawing: a ranking as bars, a roofline in log-log
// axes, a schedule as a Gantt chart.
// Method: a kind reads rows of one record type and writes a gnuplot script that holds its data; gnuplot draws it. One
// kind per file, listed in kinds.cpp. The script itself is an output too, for users who change its style.
// Limits: gnuplot 5.2 or newer must be installed for all but the script.
//
// To add a kind: NAME.cpp with `void draw_NAME(Rows&, Script&)`, one line in kinds.cpp, its golden script in
// tests/golden/figure, its row in man/figure.1.scd.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "pictures/figure/script.hpp"
#include "records/table/table.hpp"

namespace kernelcast::figure {

// The rows to draw: of all inputs, one after the other, those that pass the selection.
class Rows {
 public:
  using Open = std::function<csv::Reader(std::string const& path)>;
  using Selection = std::map<std::string, std::vector<std::string>>;  // column -> the values to keep

  // Of texts COLUMN=VALUE. Throws Error(usage).
  static Selection selection_of(std::vector<std::string> const& conditions);

  Rows(std::vector<std::string> paths, Open open, Selection selection)
      : paths_(std::move(paths)), open_(std::move(open)), selection_(std::move(selection)) {}

  // All rows. Throws Error(bad_data) when there is none, and for a selected column that an input lacks.
  template <class R>
  std::vector<R> all() {
    std::vector<R> out;
    each<R>([&](record::Reader<R> const&, R&& row) { out.push_back(std::move(row)); });
    return out;
  }

  // The same with the reader, for errors about a cell: visit(reader, row).
  template <class R, class Visit>
  void each(Visit visit) {
    bool none = true;
    for (auto const& path : paths_) {
      auto csv = open_(path);
      auto const places = places_of(csv);
      record::Reader<R> reader(csv);
      for (R row; reader.next(row);)
        if (selected(csv, places)) {
          none = false;
          visit(std::as_const(reader), std::move(row));
        }
    }
    if (none) refuse_nothing();
  }

 private:
  using Places = std::vector<std::pair<std::size_t, std::vector<std::string> const*>>;
  Places places_of(csv::Reader const&) const;
  static bool selected(csv::Reader const&, Places const&);
  [[noreturn]] void refuse_nothing() const;

  std::vector<std::string> paths_;
  Open open_;
  Selection selection_;
};

struct Kind {
  std::string_view name;
  std::string_view summary;          // what it shows, lower case, no full stop
  record::Layout const& (*input)();  // the record that it reads
  void (*draw)(Rows&, Script&);
};

std::span<Kind const> kinds();
Kind const& kind(std::string_view name);  // throws Error(usage) with near names

// The records that all kinds read, each once.
std::vector<record::Layout const*> inputs();

enum class Format { svg, png, pdf, gnuplot };

// The picture's bytes, or the script's text. Throws Error(unavailable) without gnuplot, Error(bad_data) with gnuplot's
// words when it refuses the script.
std::string render(Script const&, Format);

}  // namespace kernelcast::figure
