// One body on several threads, this one among them. What one of them throws is thrown when all have ended; threads that
// the system refuses are done without.
#pragma once

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace kernelcast::forest {

template <class Body>
void on_threads(std::size_t count, Body const& body) {
  std::exception_ptr failure;
  std::mutex failing;
  auto const guarded = [&] {
    try {
      body();
    } catch (...) {
      std::lock_guard const lock(failing);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < count; ++i) threads.emplace_back(guarded);
    } catch (std::system_error const&) {
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kernelcast::forest
