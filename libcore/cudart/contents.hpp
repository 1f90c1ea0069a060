// What allocations and variables hold, as numbers: where two have the same number, they hold the same bytes.
//
// Method: numbering of values. What a command makes of the numbers that it reads has a number of its own, which is the
// same each time: a fill is its value, a copy from the host the hash of the bytes, a launch its kernel, sizes,
// arguments and the numbers of all that it touches. Nothing is compared byte by byte. Limits: memory that the host can
// write without a call (managed, pinned, registered) has no number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace kernelcast::cudart {

class Contents {
 public:
  using Number = std::uint64_t;

  Number of(std::uint64_t begin) {  // of what begins there
    auto const [at, is_new] = now_.try_emplace(begin, next_);
    next_ += is_new;
    return at->second;
  }
  void set(std::uint64_t begin, Number number) { now_[begin] = number; }
  void forget(std::uint64_t begin) { now_.erase(begin); }
  void forget_all() { now_.clear(); }

  Number fresh() { return next_++; }
  // What such a command makes: the same for the same text.
  Number made_by(std::string const& command) {
    if (made_.size() >= max_remembered) made_.clear();
    auto const [at, is_new] = made_.try_emplace(command, next_);
    next_ += is_new;
    return at->second;
  }
  // The same command on what it has made makes `number`, too.
  void is_made_by(std::string const& command, Number number) { made_[command] = number; }

 private:
  static constexpr std::size_t max_remembered = 1 << 16;
  Number next_ = 0;
  std::unordered_map<std::uint64_t, Number> now_;
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
