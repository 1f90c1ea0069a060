#include "seq/rows.hpp"

#include <algorithm>
#include <bit>

namespace kernelcast::seq {

RowDescriptor const range_row{};

RowStream::RowStream(std::uint64_t granularity_bytes, std::uint64_t sample)
    : sample_(sample), counter_(static_cast<unsigned>(std::countr_zero(granularity_bytes))) {}

// One block in sample_, spread evenly.
bool RowStream::chosen(std::uint32_t block) const {
  auto hash = block * 0x9E3779B1U;
  hash = (hash ^ hash >> 15) * 0x85EBCA6BU;
  hash ^= hash >> 13;
  return hash <= ~std::uint32_t{0} / sample_;
}

// The blocks of one access.
inline void RowStream::append(std::uint64_t address, std::uint64_t size) {
  auto const folded = address & address_mask;
  auto const granularity = granularity_bytes();
  row_.push_back(counter_.numbers()(folded));
  for (auto next = (folded & ~(granularity - 1)) + granularity; next < folded + size; next += granularity)
    row_.push_back(counter_.numbers()(next));
}

void RowStream::take(RowDescriptor const& descriptor, std::uint64_t const* addresses) {
  row_.clear();
  for (std::uint32_t i = 0; i < descriptor.accesses; ++i) append(addresses[i], descriptor.sizes[i]);
  references_ += row_.size();
  if (sample_ > 1) {
    std::erase_if(row_, [this](std::uint32_t block) { return !chosen(block); });
    for (auto const block : row_) counter_.add(block, 1);
    return;
  }
  if (&descriptor == descriptor_ && row_ == blocks_) {
    if (++repeated_ == 1U << 31) settle();
    return;
  }
  settle();
  for (auto const block : row_) counter_.add(block, 1);
  descriptor_ = &descriptor;
  blocks_.swap(row_);
}

// The row before, as often as it was repeated.
void RowStream::settle() {
  if (repeated_ == 0) return;
  for (auto const block : blocks_) counter_.add(block, repeated_);
  repeated_ = 0;
}

void RowStream::take_range(std::uint64_t source, std::uint64_t destination, std::uint64_t bytes) {
  settle();
  descriptor_ = nullptr;
  for (std::uint64_t done = 0; done < bytes; done += 8) {
    row_.clear();
    auto const size = std::min<std::uint64_t>(8, bytes - done);
    if (source != 0) append(source + done, size);
    append(destination + done, size);
    references_ += row_.size();
    for (auto const block : row_)
      if (sample_ == 1 || chosen(block)) counter_.add(block, 1);
  }
}

void RowStream::finish() {
  settle();
  counter_.finish();
}

RowConsumer::RowConsumer(std::vector<std::uint64_t> const& granularities_bytes, std::uint64_t sample) {
  for (auto const bytes : granularities_bytes) streams_.emplace_back(bytes, sample);
}

void RowConsumer::take(std::uint64_t const* begin, std::uint64_t const* end) {
  for (auto const* row = begin; row < end;) {
    auto& descriptor = *reinterpret_cast<RowDescriptor*>(*row);  // NOLINT: rows are written by instrumented code
    if (&descriptor == &range_row) {
      for (auto& stream : streams_) stream.take_range(row[1], row[2], row[3]);
      auto const words = (row[3] + 7) / 8;
      if (row[1] != 0) range_loads_ += words;
      range_stores_ += words;
      range_bytes_ += row[1] != 0 ? 2 * row[3] : row[3];
      row += 4;
      continue;
    }
    ++descriptor.executed;
    for (auto& stream : streams_) stream.take(descriptor, row + 1);
    row += 1 + descriptor.accesses;
  }
}

void RowConsumer::finish() {
  for (auto& stream : streams_) stream.finish();
}

}  // namespace kernelcast::seq
