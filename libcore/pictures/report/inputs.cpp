// Which record an input is, and its rows.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pictures/report/report.hpp"
#include "records/table/table.hpp"

namespace kernelcast::report {

namespace {

template <class R, std::vector<R> Inputs::* rows>
std::size_t read_rows(csv::Reader& csv, Inputs& to) {
  record::Reader<R> reader(csv);
  std::size_t n = 0;
  for (R row; reader.next(row); row = R{}) {
    (to.*rows).push_back(std::move(row));
    ++n;
  }
  return n;
}

struct Kind {
  record::Layout const& (*layout)();
  std::size_t (*read)(csv::Reader&, Inputs&);
};

template <class R>
record::Layout const& layout() {
  return R::schema();
}

// The first of these whose columns are there: rankings and stations have what a projection needs and more.
constexpr std::array kinds{
    Kind{layout<record::Kernel>, read_rows<record::Kernel, &Inputs::kernels>},
    Kind{layout<record::Stations>, read_rows<record::Stations, &Inputs::stations>},
    Kind{layout<record::PricedRanking>, read_rows<record::PricedRanking, &Inputs::rankings>},
    Kind{layout<record::Projection>, read_rows<record::Projection, &Inputs::projections>},
    Kind{layout<record::Line>, read_rows<record::Line, &Inputs::lines>},
    Kind{layout<record::Assignment>, read_rows<record::Assignment, &Inputs::assignments>},
};

// A ranking with prices is a ranking, too.
std::string name_of(record::Layout const& layout) {
  return &layout == &record::PricedRanking::schema() ? record::Ranking::schema().name() : layout.name();
}

std::vector<std::string> missing_columns(record::Layout const& layout, std::vector<std::string> const& header) {
  auto const has = [&](std::string const& name) { return std::ranges::find(header, name) != header.end(); };
  std::vector<std::string> out;
  for (auto const& column : layout.columns())
    if (column.required && !has(column.name) && std::ranges::none_of(column.aliases, has)) out.push_back(column.name);
  return out;
}

}  // namespace

std::vector<record::Layout const*> const& inputs() {
  static auto const all = [] {
    std::vector<record::Layout const*> out;
    for (auto const& kind : kinds) out.push_back(&kind.layout());
    return out;
  }();
  return all;
}

void Inputs::read(csv::Reader& csv) {
  std::string nearest;
  std::vector<std::string> lacks;
  for (auto const& kind : kinds) {
    auto missing = missing_columns(kind.layout(), csv.header());
    if (missing.empty()) {
      auto const n = kind.read(csv, *this);
      files.push_back({csv.file(), name_of(kind.layout()), n});
      return;
    }
    if (nearest.empty() || missing.size() < lacks.size()) nearest = name_of(kind.layout()), lacks = std::move(missing);
  }
  std::vector<std::string> names;
  for (auto const* const layout : report::inputs()) names.push_back(name_of(*layout));
  throw csv.header_error(0, fmt::format("no record that a report is made of: {}", fmt::join(names, ", ")),
                         fmt::format("the nearest is '{}', which also has '{}'", nearest, fmt::join(lacks, "', '")));
}

}  // namespace kernelcast::report
