// What the application's kernels do wrong where that need not end their launch: findings that are passed over, and
// those of checks. They are left in the spool, after each launch with new ones:
//
//   findings-PID-0.txt   a line each: `passed`, `check`, `equal` (stores, which are no fault) or `ended` (a launch),
//   how
//                        often, and the text
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/check/check.hpp"
#include "emulator/passed_over.hpp"
#include "runtimes/attach/spool.hpp"

namespace kernelcast::cudart {

// "kernel 'k', k.cu:12: …; thread (0, 0, 0) of block (0, 0, 0)"
std::string text_of(emu::Finding const&, std::string const& message);

class Findings {
 public:
  struct Options {
    std::string spool;  // a folder; empty: what is found is not told
    bool goes_on = false;
    emu::CheckOptions checks;
  };
  Findings(Options const&, emu::Memory const&);

  // Before a launch: where its findings go (null: the first one ends it), and what checks it (null: nothing).
  emu::PassedOver* passed_over() { return goes_on_ ? &passed_over_ : nullptr; }
  emu::Checks* check(emu::Program const&, emu::Launch const&);
  // After it. True where what has ended the launch is in the spool, too.
  bool launched(emu::Outcome const&);

 private:
  struct Text {
    char const* kind;
    std::string text;
  };
  std::string named(emu::Finding const&, std::string const& message) const;
  void add(char const* kind, std::vector<emu::Finding> const& all, std::size_t& known);
  void publish() const;

  bool goes_on_;
  std::optional<attach::Spool> spool_;
  std::optional<emu::Checks> checks_;
  std::size_t known_findings_ = 0, known_equal_ = 0;  // of the checks, told already
  emu::PassedOver passed_over_;                       // of the launch that runs
  std::vector<emu::PassedOver::Place> places_;        // of all; the message names the launch
  std::vector<Text> texts_;
  std::uint64_t launches_ = 0;
  int process_ = 0;  // a child of fork() begins its own
};

}  // namespace kernelcast::cudart
