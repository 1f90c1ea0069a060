// Local memory of a group's work-items: the kernel's own frame, and for calls a stack above it. Internal to emu.
//
// A call pushes the callee's frame, zeroed, with the arguments copied into it, and a record (who called, the caller's
// frame, the registers it needs afterwards); a return copies the results back and takes both off. Records lie in memory
// of their own, which no address of the kernel reaches, but count towards the size of the stack. Of records, the same
// word of all lanes lies together.
//
// A lane may access what lies below its stack's top: its own frame and, through pointers, those of its callers. The
// windows of local accesses end at the lowest top of the running lanes; where one of them is beyond,
// Machine::access_elsewhere() tries each lane's own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/decode/program.hpp"

namespace kernelcast::emu {

class CallStacks {
 public:
  // For the work-items of so many warps: bytes of the kernel's own frame, and of the stack, if it has one.
  void fit(std::uint32_t warps, std::uint64_t frame_bytes, std::optional<std::uint64_t> stack_bytes);
  std::uint64_t bytes() const { return stride_ * lanes_; }  // of all
  std::uint64_t item_bytes() const { return item_bytes_; }  // of one
  std::uint64_t stride() const { return stride_; }
  void allocate();
  void begin();  // of a group

  Window window(ptx::StateSpace reported_as) const {
    return {0, item_bytes_, memory_.get(), 0, stride_, reported_as, nullptr};
  }
  // An access whose window ends where the stacks of the running lanes do.
  void follow(Access* access) { followed_.push_back(access); }
  std::uint32_t limit() const { return limit_; }  // there: no running lane's top is lower
  void set_limit(std::uint32_t bytes) {
    if (limit_ == bytes) return;
    limit_ = bytes;
    for (Access* x : followed_) x->window.size = bytes;
  }

  std::byte* memory(std::uint32_t thread) const { return memory_.get() + stride_ * thread; }
  std::byte* frame(std::uint32_t thread) const { return memory(thread) + base(thread); }  // the running one
  std::uint32_t base(std::uint32_t thread) const { return frames_.empty() ? 0 : frames_[thread].base; }
  // What the work-item may access: the frames of the functions that run.
  std::uint64_t top(std::uint32_t thread) const { return frames_.empty() ? item_bytes_ : frames_[thread].top; }

  // The frame that runs then. `missing` bytes: a call does not fit.
  struct Running {
    std::uint32_t base = 0, top = 0;
    std::uint64_t missing = 0;
  };
  // A call of the number `site`.
  Running push(std::uint32_t thread, std::uint32_t site, CallSite const&, std::uint32_t callable, CallableCode const&);
  // The words of registers in the newest record, each so many further on.
  std::uint32_t* saved(std::uint32_t thread) { return record_word(thread, frames_[thread].record + first_saved_word); }
  std::uint64_t saved_step() const { return lanes_; }
  // The newest call.
  struct Called {
    std::uint32_t site, callable;
  };
  Called called(std::uint32_t thread) {
    std::uint32_t const* const record = record_word(thread, frames_[thread].record);
    return {record[site_word * lanes_], record[callable_word * lanes_]};
  }
  Running pop(std::uint32_t thread, CallSite const&, CallableCode const&);

  // alloca: where it begins; empty where it does not fit.
  std::optional<std::uint64_t> grow(std::uint32_t thread, std::uint64_t bytes, std::uint64_t alignment);
  void shrink(std::uint32_t thread, std::uint64_t top) { frames_[thread].top = static_cast<std::uint32_t>(top); }
  bool in_call(std::uint32_t thread) const { return frames_[thread].records_top != 0; }

 private:
  static constexpr std::uint64_t frame_alignment = 32;
  static std::uint64_t multiple_above(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  struct Frame {
    std::uint32_t base = 0, top = 0;            // the running frame, and the first free byte
    std::uint32_t record = 0, records_top = 0;  // of the call that made it, and the first free word; 0 in the kernel
  };
  // Words of a record, before the saved registers. The caller's own records end where it begins.
  enum RecordWord : std::uint32_t { site_word, callable_word, base_word, top_word, record_word_, first_saved_word };
  // The same word of the next lane lies beside it, the next word of this lane lanes_ words on.
  std::uint32_t* record_word(std::uint32_t thread, std::uint64_t word) {
    return records_.data() + word * lanes_ + thread;
  }

  // Pages that are not touched cost nothing.
  struct Unmap {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte[], Unmap> memory_;
  std::uint64_t frame_bytes_ = 0, item_bytes_ = 0, stride_ = 0, lanes_ = 0;
  std::vector<Frame> frames_;           // by work-item; none without stacks
  std::vector<std::uint32_t> records_;  // of calls
  std::vector<Access*> followed_;
  std::uint32_t limit_ = 0;
};

// Here, for each lane calls them.
inline CallStacks::Running CallStacks::push(std::uint32_t thread, std::uint32_t site_number, CallSite const& site,
                                            std::uint32_t callable, CallableCode const& callee) {
  Frame& frame = frames_[thread];
  std::byte* const own = memory(thread);
  std::uint64_t const base = multiple_above(frame.top, frame_alignment), top = base + callee.frame_bytes;
  std::uint64_t const records_top = frame.records_top + first_saved_word + site.saved_bytes / 4;
  if (top + 4 * records_top > item_bytes_) return {0, 0, top - frame.top + 4 * (records_top - frame.records_top)};
  if (records_top * lanes_ > records_.size()) records_.resize(2 * records_top * lanes_);
  std::uint32_t* const record = record_word(thread, frame.records_top);
  record[site_word * lanes_] = site_number;
  record[callable_word * lanes_] = callable;
  record[base_word * lanes_] = frame.base;
  record[top_word * lanes_] = frame.top;
  record[record_word_ * lanes_] = frame.record;
  std::memset(own + frame.top, 0, top - frame.top);
  for (std::size_t k = 0; k < site.arguments.size(); ++k)
    std::memcpy(own + base + callee.parameters[k].offset, own + frame.base + site.arguments[k].offset,
                std::min(callee.parameters[k].bytes, site.arguments[k].bytes));
  frame = {static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(top), frame.records_top,
           static_cast<std::uint32_t>(records_top)};
  return {frame.base, frame.top, 0};
}

inline CallStacks::Running CallStacks::pop(std::uint32_t thread, CallSite const& site, CallableCode const& callee) {
  Frame& frame = frames_[thread];
  std::byte* const own = memory(thread);
  std::uint32_t const* const record = record_word(thread, frame.record);
  std::uint32_t const base = record[base_word * lanes_];
  for (std::size_t k = 0; k < site.results.size(); ++k)
    std::memcpy(own + base + site.results[k].offset, own + frame.base + callee.results[k].offset,
                std::min(callee.results[k].bytes, site.results[k].bytes));
  frame = {base, record[top_word * lanes_], record[record_word_ * lanes_], frame.record};
  return {frame.base, frame.top, 0};
}

}  // namespace kernelcast::emu
