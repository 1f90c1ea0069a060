// From rows of addresses to stack distances.
//
// Problem: most references of a loop hit the blocks that its last iteration hit.
// Method: a row that references the same blocks as the row before, from the same place of the program, is counted and
// not processed; the distances of its references are those of its first repetition.
// Limits: at most 8 granularities, powers of two from 8 to 4096 bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sequential/abi.hpp"
#include "sequential/distance.hpp"

namespace kernelcast::seq {

// Rows with this descriptor are {descriptor, source, destination, bytes}: memory that was copied; source 0: filled.
extern RowDescriptor const range_row;
// {descriptor, number}: a call of the kernel ends here.
extern RowDescriptor const invocation_row;

class RowStream {
 public:
  // With `sample` above 1 only references to one block in that many are followed (chosen by a hash of its address), and
  // all counts and distances are multiplied by it at the end.
  RowStream(std::uint64_t granularity_bytes, std::uint64_t sample);

  // Rows of one descriptor; each is a word of its own and then its addresses.
  void take(RowDescriptor const&, std::uint64_t const* rows, std::uint32_t count);
  // Instead, in a sample: any whole rows, which hold so many accesses, none of more than `largest` bytes.
  void take_sample(std::uint64_t const* begin, std::uint64_t const* end, std::uint64_t accesses, std::uint64_t largest);
  void take_range(std::uint64_t source, std::uint64_t destination, std::uint64_t bytes);
  void end_part();  // of the stream: a call of the kernel
  void finish();

  std::uint64_t granularity_bytes() const { return std::uint64_t{1} << counter_.shift(); }
  std::uint64_t references() const { return references_; }  // followed ones, that of a spanned block included
  DistanceHistogram& histogram() { return counter_.histogram(); }
  std::vector<DistancePart> const& parts() const { return counter_.parts(); }
  std::vector<std::uint64_t> const& references_at() const { return references_at_; }  // the ends of parts
  // Of a sample: the largest standard error of the number of references beyond some distance, and that distance.
  struct Error {
    std::uint64_t references = 0, distance = 0;
  };
  Error error() const;
  std::uint64_t sample() const { return sample_; }
  std::size_t memory_bytes() const { return counter_.memory_bytes(); }

 private:
  void append(std::uint64_t address, std::uint64_t size);
  void settle();
  void take(Rows const&);
  void take_irregular(Rows const&);
  void take_access(std::uint64_t address, std::uint64_t size);

  std::uint64_t sample_;
  std::uint32_t threshold_;  // of hashes in the sample
  RowBlocks wide_;
  DistanceCounter counter_;
  std::uint64_t references_ = 0;
  std::vector<std::uint64_t> references_at_;
  RowDescriptor const* descriptor_ = nullptr;  // of the rows before
  bool follows_ = false;                       // the last row before stands at the end of the blocks
  std::vector<std::uint32_t> blocks_;          // of the row before, then of these
  std::vector<std::uint64_t> different_;
  std::vector<std::uint32_t> places_, irregular_;
  std::uint32_t repeated_ = 0;
  std::uint64_t spanned_ = 0;  // blocks of the last access
};

// All granularities of a run. Also counts how often each row was executed.
class RowConsumer {
 public:
  RowConsumer(std::vector<std::uint64_t> const& granularities_bytes, std::uint64_t sample);
  // The largest access of all rows that will come.
  std::uint64_t largest = 8;
  // Called, by the thread that takes the rows, for each end of a call of the kernel.
  std::function<void(std::size_t number)> at_invocation;
  void take(std::uint64_t const* begin, std::uint64_t const* end);
  void finish();
  std::vector<RowStream>& streams() { return streams_; }
  std::uint64_t range_loads() const { return range_loads_; }    // references that copies and fills stand for, of
  std::uint64_t range_stores() const { return range_stores_; }  // 8 bytes each
  std::uint64_t range_bytes() const { return range_bytes_; }

 private:
  std::uint64_t const* take_exact(std::uint64_t const* row, std::uint64_t const* end);
  std::uint64_t const* take_sample(std::uint64_t const* row, std::uint64_t const* end);

  std::uint64_t sample_;
  std::vector<RowStream> streams_;
  std::uint64_t range_loads_ = 0, range_stores_ = 0, range_bytes_ = 0;
};

}  // namespace kernelcast::seq
