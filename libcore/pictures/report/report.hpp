// One page about what the suite found: which device is the fastest, by how much, and why.
//
// Problem: the answer of a chain of programs is in several tables, which a reader would have to join. Method: each
// input is recognised by its header; the page has a section for everything that the inputs tell, and leaves out the
// others. It is one HTML file with its style and its drawings inside: it loads nothing and runs no script, which its
// content security policy enforces. What inputs contain is escaped where it becomes markup (html.hpp). Limits: one
// model's ranking is described in the answer, those of others are in the list of rankings.
//
// To add a section: NAME.cpp with `Html NAME_section(Page const&)`, its line in sections.hpp and in page.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "records/device/device.hpp"
#include "records/kernel.hpp"
#include "records/line.hpp"
#include "records/projection.hpp"
#include "records/queue.hpp"
#include "records/ranking.hpp"

namespace kernelcast::report {

// The rows of all inputs.
struct Inputs {
  struct File {
    std::string name, record;  // as a message would call the file, and the record's name
    std::size_t rows = 0;
  };
  std::vector<File> files;
  std::vector<record::Kernel> kernels;
  std::vector<record::Projection> projections;
  std::vector<record::Stations> stations;
  std::vector<record::PricedRanking> rankings;
  std::vector<record::Line> lines;
  std::vector<record::Assignment> assignments;

  // Recognises the record by the columns that it needs. Throws Error(bad_data) for a table that is none of these, with
  // the columns that the nearest one lacks.
  void read(csv::Reader&);
};

// The records that inputs may be.
std::vector<record::Layout const*> const& inputs();

struct Options {
  std::string title;    // empty: the page has its own
  std::string version;  // of the program
};

// The page, as UTF-8. `database`: names, peaks and sources of devices. Throws Error(bad_data) where there is no row at
// all.
std::string page(Inputs const&, device::DeviceDatabase const& database, Options const&);

}  // namespace kernelcast::report
