// Findings that did not end their launch: each place once, with how often it was passed over.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

class PassedOver {
 public:
  struct Place {
    Finding finding;          // of the lowest group, whatever the number of threads
    std::uint64_t times = 0;  // that a work-item did this
  };
  // From any thread. `make` is called where this finding is to be kept.
  void add(Finding::Kind, std::uint32_t instruction, std::uint64_t group, std::function<Finding()> const& make);
  bool empty() const { return places_.empty(); }
  std::vector<Place> take();  // in the order of the kernel's instructions; empty from then on

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, Finding::Kind>, Place> places_;
};

// Adds those of a later launch: a place of a kernel's text is one, and its first finding is kept.
void add_places(std::vector<PassedOver::Place>& all, std::vector<PassedOver::Place> later);

// The finding's message, with how often it was passed over.
std::string message_of(PassedOver::Place const&);

}  // namespace kernelcast::emu
