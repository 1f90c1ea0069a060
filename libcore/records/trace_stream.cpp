#include "records/trace_stream.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace kernelcast::record {

namespace {

std::size_t column_of(std::string_view name) {
  auto const& columns = Trace::schema().columns();
  return static_cast<std::size_t>(
      std::find_if(columns.begin(), columns.end(), [&](auto const& c) { return c.name == name; }) - columns.begin());
}

}  // namespace

TraceStream::TraceStream(csv::Reader& reader)
    : rows_(Trace::schema(), reader),
      kind_(column_of("kind")),
      block_(column_of("block")),
      group_(column_of("group")),
      warp_(column_of("warp")),
      seq_(column_of("seq")),
      mask_(column_of("mask")),
      addresses_(column_of("addresses")) {}

TraceStream::Kind TraceStream::next() {
  if (!rows_.advance()) return Kind::end;
  std::string_view const kind = rows_.cell(kind_);
  if (kind == "exec") {
    read_execution();
    return Kind::execution;
  }
  if (kind != "launch" && kind != "inst")
    throw error("kind", fmt::format("unknown kind '{}'", kind), did_you_mean(kind, {"launch", "inst", "exec"}));
  row_ = Trace{};
  rows_.parse(&row_);
  return kind == "launch" ? Kind::launch : Kind::instruction;
}

std::uint64_t TraceStream::number(std::size_t column, int base) const {
  std::string_view const text = rows_.cell(column);
  char const* const end = text.data() + text.size();
  std::uint64_t value = 0;
  auto const [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure == std::errc{} && stop == end) return value;
  auto const& name = Trace::schema().columns()[column].name;
  throw error(name,
              text.empty() ? std::string("empty in an exec row")
                           : fmt::format("expected {} integer, got '{}'", base == 16 ? "a hexadecimal" : "an",
                                         text.substr(0, 40)),
              Trace::schema().columns()[column].meaning);
}

void TraceStream::read_execution() {
  execution_.block = number(block_);
  execution_.group = number(group_);
  execution_.warp = number(warp_);
  execution_.seq = number(seq_);
  execution_.mask = number(mask_, 16);
  execution_.addresses = rows_.cell(addresses_);
}

}  // namespace kernelcast::record
