// What the sections of the page share: the rows, joined once, and how a section looks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pictures/report/html.hpp"
#include "pictures/report/report.hpp"

namespace kernelcast::report {

// The devices of one model, kernel and case, in order.
struct Group {
  std::string model, kernel, case_name;
  std::vector<record::PricedRanking const*> rows;
};

// A kernel on one device, its cases added up; all that a compiler made of one region of OpenMP or OpenACC are one.
struct KernelTime {
  std::string kernel;
  std::string source, source_text;  // of its row
  double time_s = 0, launches = 0;
  std::size_t cases = 0, clones = 0;            // clones: kernels of the region
  record::Projection const* longest = nullptr;  // of its cases; one of the two is there
  record::Stations const* stations = nullptr;   // of the longest case
  std::string longest_case;
  std::string limiter;
};

struct Page {
  Inputs const& inputs;
  device::DeviceDatabase const& database;
  Options const& options;

  std::vector<Group> groups;        // in the order of the page: what the answer is about first
  bool whole = false;               // the first group is a sum over all kernels
  std::string best;                 // the first device of the first group; without rankings of the least time
  std::vector<KernelTime> kernels;  // on that device, the longest first
  double kernels_s = 0;             // the sum of their times

  device::Device const* device(std::string const& id) const;
  // False for what an application launches on devices of another vendor than the best one's.
  bool is_of_best(record::Kernel const&) const;
  // "NVIDIA L40" of "l40"; the id where the database does not have it.
  std::string device_name(std::string const& id) const;
};

Page page_of(Inputs const&, device::DeviceDatabase const&, Options const&);

// "matmul, 1024x1024" and what a sum is called.
std::string subject(Group const&);

// "time", or "cost" or "energy" where the rows are in that order.
std::string_view order_of(Group const&);

// For the costs of a ranking.
Runs runs_of(Group const&);

// "52.1 µs to 250 µs"; empty where it is not known.
std::string interval_text(record::Ranking const&);

// Each empty where the inputs do not tell. `id` is the place in the page.
Html answer_section(Page const&);
Html ranking_section(Page const&);
Html cost_section(Page const&);
Html kernels_section(Page const&);
Html roofline_section(Page const&);
Html lines_section(Page const&);
Html schedule_section(Page const&);
Html basis_section(Page const&);

Html section(std::string_view id, std::string_view title, std::string_view lead, Html const& body);

// Tick labels above a drawing in a table's cell, and the rule that puts its lines behind the cells of column `plot` of
// the element `id`.
Html axis_labels(Axis const&, std::string (*text)(double));
Html axis_lines(Axis const&, std::string_view id);
std::string tick_seconds(double);

}  // namespace kernelcast::report
