#include "sequential/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernelcast::seq {

RowDescriptor const range_row{};
RowDescriptor const invocation_row{};

namespace {

constexpr std::uint32_t words_at_once = 4096;  // of rows of one descriptor

}  // namespace

RowStream::RowStream(std::uint64_t granularity_bytes, std::uint64_t sample)
    : sample_(sample),
      threshold_(static_cast<std::uint32_t>(~std::uint32_t{0} / sample)),
      wide_(row_blocks()),
      counter_(static_cast<unsigned>(std::countr_zero(granularity_bytes)), sample > 1),
      blocks_(row_words_at_most + words_at_once + 64),
      different_(words_at_once / 64 + 1),
      places_(words_at_once + 8) {}

void RowStream::take(RowDescriptor const& descriptor, std::uint64_t const* words, std::uint32_t count) {
  auto const stride = descriptor.accesses + 1;
  if (&descriptor != descriptor_) {
    settle();
    descriptor_ = &descriptor;
    follows_ = false;
  }
  references_ += std::uint64_t{count} * descriptor.accesses;
  if (std::uint64_t{count} * stride <= words_at_once) return take({words, count, stride, descriptor.sizes});
  for (auto const most = words_at_once / stride; count > 0;) {
    auto const now = std::min(count, most);
    take({words, now, stride, descriptor.sizes});
    words += now * stride;
    count -= now;
  }
}

// Rows that reference the blocks of the row before are counted; stretches of others are passed on.
void RowStream::take(Rows const& rows) {
  auto const n = rows.stride - 1;
  auto* const now = blocks_.data() + n;  // the row before stands before
  if (!wide_.of_rows(rows, counter_.numbers().numbering(), now)) {
    for (std::uint32_t row = 0; row < rows.count; ++row)
      for (std::uint32_t i = 1; i <= n; ++i) counter_.numbers()(rows.words[row * rows.stride + i] & address_mask);
    if (!wide_.of_rows(rows, counter_.numbers().numbering(), now)) return take_irregular(rows);
  }
  if (rows.count == 1 && !follows_) {
    counter_.add(now, n);
    std::copy_n(now, n, blocks_.data());
    follows_ = true;
    return;
  }
  wide_.compare(now, rows.count * n, n, different_.data());
  auto const same = [&](std::uint32_t row) {
    auto const first = row * n, last = first + n - 1;
    auto const from = ~std::uint64_t{0} << (first % 64), to = ~std::uint64_t{0} >> (63 - last % 64);
    if (first / 64 == last / 64) return (different_[first / 64] & from & to) == 0;
    for (auto word = first / 64 + 1; word < last / 64; ++word)
      if (different_[word] != 0) return false;
    return ((different_[first / 64] & from) | (different_[last / 64] & to)) == 0;
  };
  std::uint32_t begin = 0;  // of the stretch
  for (std::uint32_t row = 0; row < rows.count; ++row) {
    if ((row > 0 || follows_) && same(row)) {
      counter_.add(now + begin * n, (row - begin) * n);
      begin = row + 1;
      if (++repeated_ == 1U << 31) {
        counter_.add(now + row * n, n, repeated_);
        repeated_ = 0;
      }
    } else if (repeated_ > 0) {
      counter_.add(now + row * n - n, n, repeated_);
      repeated_ = 0;
    }
  }
  counter_.add(now + begin * n, (rows.count - begin) * n);
  std::copy_n(now + (rows.count - 1) * n, n, blocks_.data());
  follows_ = true;
}

void RowStream::take_sample(std::uint64_t const* begin, std::uint64_t const* end, std::uint64_t accesses,
                            std::uint64_t largest) {
  references_ += accesses;
  for (auto const* words = begin; words < end;) {
    auto const n = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(end - words, words_at_once));
    auto const chosen = wide_.choose(words, n, counter_.shift(), threshold_, largest, places_.data());
    for (std::uint32_t i = 0; i < chosen; ++i) {
      auto const* const place = words + places_[i];
      auto const* row = place;
      while ((*row & row_tag) == 0) --row;
      take_access(*place, row_of(*row).sizes[place - row]);
    }
    words += n;
  }
}

void RowStream::take_irregular(Rows const& rows) {
  settle();
  follows_ = false;
  for (std::uint32_t row = 0; row < rows.count; ++row)
    for (std::uint32_t i = 1; i < rows.stride; ++i) take_access(rows.words[row * rows.stride + i], rows.sizes[i]);
}

// All blocks of an access, as far as they are in the sample. The first one is counted as a reference already.
void RowStream::take_access(std::uint64_t address, std::uint64_t size) {
  irregular_.clear();
  append(address, size);
  references_ += spanned_ - 1;
  counter_.add(irregular_.data(), static_cast<std::uint32_t>(irregular_.size()));
}

void RowStream::append(std::uint64_t address, std::uint64_t size) {
  auto const granularity = granularity_bytes();
  auto const first = address & address_mask & ~(granularity - 1), end = (address & address_mask) + size;
  spanned_ = 0;
  for (auto at = first; at < end; at += granularity, ++spanned_)
    if (sample_ == 1 || hash_of(static_cast<std::uint32_t>(at >> counter_.shift())) <= threshold_)
      irregular_.push_back(counter_.numbers()(at & address_mask));
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
    auto const size = std::min<std::uint64_t>(8, bytes - done);
    ++references_;
    if (source != 0) take_access(source + done, size), ++references_;
    take_access(destination + done, size);
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

RowConsumer::RowConsumer(std::vector<std::uint64_t> const& granularities_bytes, std::uint64_t sample)
    : sample_(sample) {
  for (auto const bytes : granularities_bytes) streams_.emplace_back(bytes, sample);
}

void RowConsumer::take(std::uint64_t const* begin, std::uint64_t const* end) {
  for (auto const* row = begin; row < end;) {
    auto const& descriptor = row_of(*row);
    if (&descriptor == &range_row) {
      for (auto& stream : streams_) stream.take_range(row[1], row[2], row[3]);
      auto const words = (row[3] + 7) / 8;
      if (row[1] != 0) range_loads_ += words;
      range_stores_ += words;
      range_bytes_ += row[1] != 0 ? 2 * row[3] : row[3];
      row += 4;
    } else if (&descriptor == &invocation_row) {
      for (auto& stream : streams_) stream.end_part();
      if (at_invocation) at_invocation(row[1]);
      row += 2;
    } else {
      row = sample_ > 1 ? take_sample(row, end) : take_exact(row, end);
    }
  }
}

// All rows that follow with the same descriptor.
std::uint64_t const* RowConsumer::take_exact(std::uint64_t const* row, std::uint64_t const* end) {
  auto& descriptor = row_of(*row);
  auto const stride = descriptor.accesses + 1;
  std::uint32_t count = 1;
  while (row + count * stride < end && row[count * stride] == *row) ++count;
  descriptor.executed += count;
  for (auto& stream : streams_) stream.take(descriptor, row, count);
  return row + count * stride;
}

// All ordinary rows that follow.
std::uint64_t const* RowConsumer::take_sample(std::uint64_t const* row, std::uint64_t const* end) {
  auto const* const begin = row;
  std::uint64_t rows = 0;
  while (row < end) {
    auto& descriptor = row_of(*row);
    if (descriptor.accesses == 0) break;
    auto const header = *row;
    auto const before = rows;
    for (auto const stride = descriptor.accesses + 1; row < end && *row == header; row += stride) ++rows;
    descriptor.executed += rows - before;
  }
  auto const accesses = static_cast<std::uint64_t>(row - begin) - rows;
  for (auto& stream : streams_) stream.take_sample(begin, row, accesses, largest);
  return row;
}

void RowConsumer::finish() {
  for (auto& stream : streams_) stream.finish();
}

}  // namespace kernelcast::seq
