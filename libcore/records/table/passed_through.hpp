// Columns of the inputs that a record does not have: a program whose rows map one to one passes them through.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "records/table/table.hpp"

namespace kernelcast::record {

class PassedThrough {
 public:
  // Call once for each input, before its rows.
  void begin(RowReader const& input);
  // Of the input's current row, in the order of names() so far.
  std::vector<std::string> cells(RowReader const& input) const;
  // The same with empty cells for columns that came later.
  std::vector<std::string> whole(std::vector<std::string> cells) const;

  std::vector<std::string> const& names() const { return names_; }  // in the order of their first appearance

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;  // in names_, of the current input's
};

// Rows of R, several for each row of the input, with the columns that are passed through; those of the first input that
// has rows count.
template <class R>
class PassingWriter {
 public:
  using Make = std::function<Writer<R>(std::vector<std::string> names)>;  // with these further columns
  explicit PassingWriter(Make make) : make_(std::move(make)) {}

  void begin(RowReader const& input) { columns_.begin(input); }
  // What is written next comes of the input's current row, or of the one that had these cells.
  void of(RowReader const& input) { cells_ = columns_.cells(input); }
  void of(std::vector<std::string> cells) { cells_ = std::move(cells); }
  std::vector<std::string> cells(RowReader const& input) const { return columns_.cells(input); }
  std::vector<std::string> const& cells() const { return cells_; }  // as of() has them
  void write(R const& row) {
    auto& out = writer();
    out.write(row, cells_);
  }
  void finish() { writer().finish(); }

  // For rows that are made into lines elsewhere: the columns that are passed through, the same from here on.
  std::vector<std::string> names() {
    writer();
    return {columns_.names().begin(), columns_.names().begin() + static_cast<std::ptrdiff_t>(names_)};
  }
  void write_lines(std::string_view text, std::uint64_t rows) { writer().write_csv_lines(text, rows); }

 private:
  Writer<R>& writer() {
    if (!out_) {
      names_ = columns_.names().size();
      out_.reset(new Writer<R>(make_(columns_.names())));
    }
    cells_.resize(names_);
    return *out_;
  }

  Make make_;
  PassedThrough columns_;
  std::vector<std::string> cells_;
  std::size_t names_ = 0;
  std::unique_ptr<Writer<R>> out_;
};

}  // namespace kernelcast::record
