// What allocations and variables hold, as numbers: where two have the same number, they hold the same bytes.
//
// Method: numbering of values. What a command makes of the numbers that it reads has a number of its own, which is the
// same each time: a fill is its value, a copy from the host the hash of the bytes, a launch its kernel, sizes,
// arguments and the numbers of all that it touches. Where parts were written one after another the number is that of
// the parts, in the order of their places, so that a program that writes the same parts again, as one with a stream for
// each does, gets the same number. Nothing is compared byte by byte. Limits: memory that the host can write without a
// call (managed, pinned, registered) has no number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace kernelcast::cudart {

class Contents {
 public:
  using Number = std::uint64_t;

  // Bytes that a command has written: all of a range, or rows of it.
  struct Part {
    std::uint64_t begin, end;
    std::uint64_t row_bytes, pitch;  // alike: all of it
    std::string command;
    bool operator==(Part const&) const = default;
    bool is_all() const { return row_bytes == pitch; }
    bool overwrites(Part const& other) const {
      if (is_all()) return begin <= other.begin && other.end <= end;
      return begin == other.begin && end == other.end && row_bytes == other.row_bytes && pitch == other.pitch;
    }
  };
  struct State {
    State(Number held = 0) : number(held), base(held) {}
    Number number;
    Number base;              // of what the parts were written to; 0: they cover all
    std::vector<Part> parts;  // by place, apart from each other
  };

  Number of(std::uint64_t begin) { return state(begin).number; }
  void set(std::uint64_t begin, State state) { now_[begin] = std::move(state); }
  void forget(std::uint64_t begin) { now_.erase(begin); }
  void forget_all() { now_.clear(); }

  // What `bytes` that begin there hold once a part is written.
  State with(std::uint64_t begin, std::uint64_t bytes, Part part);

  Number fresh() { return next_++; }
  // What such a command makes: the same for the same text.
  Number made_by(std::string const& command) {
    if (made_.size() >= max_remembered) made_.clear();
    auto const [at, is_new] = made_.try_emplace(command, next_);
    next_ += is_new;
    return at->second;
  }

 private:
  static constexpr std::size_t max_remembered = 1 << 16;
  static constexpr std::size_t max_parts = 64;

  State& state(std::uint64_t begin) {
    auto const [at, is_new] = now_.try_emplace(begin);
    if (is_new) at->second = next_++;
    return at->second;
  }

  Number next_ = 1;
  std::unordered_map<std::uint64_t, State> now_;
  std::unordered_map<std::string, Number> made_;
};

// A command's text, of its kind and of numbers.
class CommandText {
 public:
  explicit CommandText(char kind) : text_(1, kind) {}
  template <class Value>
  CommandText& add(Value const& value) {
    static_assert(std::is_trivially_copyable_v<Value> && std::has_unique_object_representations_v<Value>);
    text_.append(reinterpret_cast<char const*>(&value), sizeof value);
    return *this;
  }
  CommandText& add_bytes(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  std::string const& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace kernelcast::cudart
