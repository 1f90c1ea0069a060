// Memory that is read before it is written: one byte of shadow for each byte, which holds the number of the group that
// wrote it (modulo 255, from 1), so that a new group begins without clearing.
#pragma once

#include <map>
#include <memory>

#include "emulator/check/report.hpp"
#include "emulator/check/shadow.hpp"

namespace kernelcast::emu {

class UninitCheck {
 public:
  UninitCheck(Memory const& memory, Reporter& reporter) : memory_(memory), reporter_(reporter) {}

  void begin(Facts const&, std::uint32_t items);  // work-items that have local memory
  void begin_group();
  void share(UninitCheck const& other) { global_ = other.global_; }  // what is known of buffers
  void access(MemoryAccess const&);
  void frame(FrameChange const&);

 private:
  using Byte = std::uint8_t;
  // Byte `offset` of work-item i's memory stands at offset * pitch + i (local), else at offset.
  struct Shadow {
    std::uint64_t bytes = 0;
    ShadowBytes written;
  };
  struct Place {
    MemoryAccess const& access;
    Facts::Site const& site;
    Byte* shadow;
    std::uint64_t pitch;  // local memory: work-items; else 0
    Byte mark;
  };

  void regular(Place const&);
  void lane(Place const&, std::uint32_t lane, std::uint64_t offset);
  bool uniform_local(Place const&, std::uint32_t first);
  Shadow* undefined_buffer(std::uint64_t address);
  void resize(Shadow&, std::uint64_t bytes);

  Memory const& memory_;
  Reporter& reporter_;
  Facts const* facts_ = nullptr;
  std::uint32_t items_ = 0;
  Byte mark_ = 0;
  Shadow shared_, local_;
  std::shared_ptr<std::map<std::uint64_t, Shadow>> global_ =
      std::make_shared<std::map<std::uint64_t, Shadow>>();  // undefined buffers, by address
};

}  // namespace kernelcast::emu
