#include "seq/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernelcast::seq {

RowDescriptor const range_row{};
RowDescriptor const invocation_row{};

RowStream::RowStream(std::uint64_t granularity_bytes, std::uint64_t sample)
    : sample_(sample),
      threshold_(static_cast<std::uint32_t>(~std::uint32_t{0} / sample)),
      wide_(row_blocks()),
      counter_(static_cast<unsigned>(std::countr_zero(granularity_bytes))),
      blocks_(row_words_at_most + 8),
      row_(row_words_at_most + 8) {
  if (sample > 1) counter_.divide();
}

// The blocks of one access.
void RowStream::append(std::uint64_t address, std::uint64_t size) {
  auto const folded = address & address_mask;
  auto const granularity = granularity_bytes();
  irregular_.push_back(counter_.numbers()(folded));
  for (auto next = (folded & ~(granularity - 1)) + granularity; next < folded + size; next += granularity)
    irregular_.push_back(counter_.numbers()(next));
}

void RowStream::take(RowDescriptor const& descriptor, std::uint64_t const* addresses) {
  auto const n = descriptor.accesses;
  auto const kind =
      wide_.of_row(addresses, descriptor.sizes, n, counter_.numbers().numbering(), blocks_.data(), row_.data());
  if (kind == RowKind::same && &descriptor == descriptor_) {
    references_ += n;
    if (++repeated_ == 1U << 31) settle();
    return;
  }
  settle();
  if (kind == RowKind::irregular) return take_irregular(descriptor, addresses);
  references_ += n;
  if (sample_ > 1) {
    if (auto const chosen = wide_.sample(row_.data(), n, threshold_)) counter_.add(row_.data(), chosen, 1);
    return;
  }
  counter_.add(row_.data(), n, 1);
  descriptor_ = &descriptor;
  blocks_.swap(row_);
}

void RowStream::take_irregular(RowDescriptor const& descriptor, std::uint64_t const* addresses) {
  descriptor_ = nullptr;
  irregular_.clear();
  for (std::uint32_t i = 0; i < descriptor.accesses; ++i) append(addresses[i], descriptor.sizes[i]);
  references_ += irregular_.size();
  for (auto const block : irregular_)
    if (sample_ == 1 || hash_of(block) <= threshold_) counter_.add(block, 1);
}

// The row before, as often as it was repeated.
void RowStream::settle() {
  if (repeated_ == 0) return;
  counter_.add(blocks_.data(), descriptor_->accesses, repeated_);
  repeated_ = 0;
}

void RowStream::take_range(std::uint64_t source, std::uint64_t destination, std::uint64_t bytes) {
  settle();
  descriptor_ = nullptr;
  for (std::uint64_t done = 0; done < bytes; done += 8) {
    irregular_.clear();
    auto const size = std::min<std::uint64_t>(8, bytes - done);
    if (source != 0) append(source + done, size);
    append(destination + done, size);
    references_ += irregular_.size();
    for (auto const block : irregular_)
      if (sample_ == 1 || hash_of(block) <= threshold_) counter_.add(block, 1);
  }
}

void RowStream::end_part() {
  settle();
  counter_.mark();
  references_at_.push_back(references_);
}

void RowStream::finish() {
  settle();
  counter_.finish();
}

// Blocks are in the sample independently of each other, so the groups' counts are as many draws of the same variable.
RowStream::Error RowStream::error() const {
  Error largest;
  auto const& groups = counter_.divided();
  if (groups.empty()) return largest;
  auto const n = static_cast<double>(groups.size());
  std::vector<double> beyond(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) beyond[g] = static_cast<double>(groups[g].cold_count());
  for (auto bin = DistanceHistogram::bins; bin-- > 0;) {
    double sum = 0, squares = 0;
    bool any = false;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      any |= groups[g].count(bin) > 0;
      beyond[g] += static_cast<double>(groups[g].count(bin));
      sum += beyond[g];
      squares += beyond[g] * beyond[g];
    }
    if (!any || bin == 0) continue;
    auto const variance = (squares - sum * sum / n) * n / (n - 1) * (1 - 1 / static_cast<double>(sample_));
    auto const references = std::sqrt(std::max(0.0, variance)) * static_cast<double>(sample_);
    if (references > static_cast<double>(largest.references))
      largest = {static_cast<std::uint64_t>(std::llround(references)), DistanceHistogram::low_of(bin) * sample_};
  }
  return largest;
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
    if (&descriptor == &invocation_row) {
      for (auto& stream : streams_) stream.end_part();
      if (at_invocation) at_invocation(row[1]);
      row += 2;
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
