#include "records/cli/json_input.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "base/process/input.hpp"

namespace kernelcast::cli {

namespace {

using Json = nlohmann::ordered_json;

// Of the byte `offset`, counted from 1 as the parser counts.
Where place_of(std::string const& text, std::size_t offset, std::string const& file) {
  auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset > 0 ? offset - 1 : 0, text.size()));
  auto const line = static_cast<std::size_t>(std::count(text.begin(), end, '\n')) + 1;
  auto const begin = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return {file, line, static_cast<std::size_t>(end - begin) + 1};
}

std::string cell_of(Json const& value, std::string const& column, std::string const& file) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return value.dump();
  throw Error(Status::bad_data, Where{file}, fmt::format("'{}' is a list or an object, and not a value", column),
              "a row has texts, numbers, true, false and null");
}

}  // namespace

std::string csv_of_json(std::istream& in, std::string const& file) {
  auto const text = read_all(in, file);
  Json rows;
  try {
    rows = Json::parse(text);
  } catch (Json::parse_error const& error) {
    std::string const what = error.what();
    auto const reason = what.rfind(": ");
    throw Error(Status::bad_data, place_of(text, error.byte, file),
                fmt::format("no JSON: {}", reason == std::string::npos ? what : what.substr(reason + 2)),
                "an array of objects, as --format json writes it");
  } catch (Json::out_of_range const& error) {  // "… number overflow parsing '1e999'"
    std::string number = error.what();
    number = number.substr(number.find('\'') + 1);
    number.pop_back();
    throw Error(Status::bad_data, place_of(text, text.find(number) + 1, file),
                fmt::format("a number out of range: '{}'", number), "numbers below 1e308");
  }
  std::vector<std::string> header;
  std::unordered_map<std::string, std::size_t> places;
  for (auto const& row : rows) {
    if (!row.is_object())
      throw Error(Status::bad_data, Where{file}, "an element of the array is no object",
                  "an array of objects, as --format json writes it");
    for (auto const& [name, value] : row.items())
      if (places.try_emplace(name, header.size()).second) header.push_back(name);
  }
  if (header.empty())
    throw Error(Status::bad_data, Where{file}, "an array without rows", "its columns are not known; CSV has a header");
  std::ostringstream out;
  csv::Writer csv(out);
  csv.row(header);
  for (auto const& row : rows) {
    std::vector<std::string> cells(header.size());
    for (auto const& [name, value] : row.items()) cells[places[name]] = cell_of(value, name, file);
    csv.row(cells);
  }
  return out.str();
}

}  // namespace kernelcast::cli
