#include "base/diag/ending.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast {

namespace {

// One write, without memory of its own. When standard error fails there is nowhere left to say so.
void say(std::initializer_list<std::string_view> parts) {
  std::array<iovec, 4> pieces{};
  int count = 0;
  for (auto const part : parts)
    pieces.at(static_cast<std::size_t>(count++)) = {const_cast<char*>(part.data()), part.size()};
  if (writev(2, pieces.data(), count) == -1) return;
}

int report_no_memory(std::string_view program) {
  say({program, ": error: out of memory\nhint: give it more memory, or less input\n"});
  return static_cast<int>(Status::limit);
}

// What a caller of the system is refused that it may have later: a thread, a process.
bool is_out_of_resources(std::system_error const& error) {
  return error.code() == std::errc::resource_unavailable_try_again;
}

int report_out_of_resources(std::string_view program) {
  say({program,
       ": error: the system refuses another thread\nhint: try fewer --threads, or raise the limit (ulimit -u)\n"});
  return static_cast<int>(Status::limit);
}

int report(std::string_view program) {
  try {
    throw;
  } catch (Error const& error) {
    say({error.text(program)});
    return static_cast<int>(error.status());
  } catch (std::bad_alloc const&) {
    return report_no_memory(program);
  } catch (std::system_error const& error) {  // also those of streams and of std::filesystem
    if (is_out_of_resources(error)) return report_out_of_resources(program);
    say({program, ": error: ", error.what(), "\nhint: check the file and the disk\n"});
    return static_cast<int>(Status::io);
  } catch (std::exception const& error) {
    say({fmt::format("{0}: internal error: {1}\nhint: this is a defect of {0}; please report it with the command\n",
                     program, error.what())});
  } catch (...) {
    say({program, ": internal error\n"});
  }
  return internal_error;
}

// In a function of the standard library that must not throw, an exception ends the process before anything catches it:
// then nothing but this says that there was one, and which.
std::atomic<bool> memory_was_refused{false};

void refuse_memory() {
  memory_was_refused = true;
  throw std::bad_alloc();
}

// Where there was none for the exception either.
bool memory_is_exhausted() {
  void* const volatile some = std::malloc(4096);  // volatile: a compiler may take it for given
  std::free(some);
  return some == nullptr;
}

void (*cleans_up)() = nullptr;
std::terminate_handler handler_before = nullptr;

[[noreturn]] void end() {
  static std::atomic_flag ending;
  if (ending.test_and_set())
    for (;;) pause();  // another thread ends the process
  if (cleans_up) cleans_up();
  if (std::current_exception()) {
    try {
      throw;
    } catch (std::bad_alloc const&) {
      _exit(report_no_memory(program_invocation_short_name));
    } catch (std::system_error const& error) {
      if (is_out_of_resources(error)) _exit(report_out_of_resources(program_invocation_short_name));
    } catch (...) {  // a defect: the handler before says what it is
    }
  } else if ((std::uncaught_exceptions() > 0 && memory_was_refused) || memory_is_exhausted()) {
    _exit(report_no_memory(program_invocation_short_name));
  }
  handler_before();
  std::abort();
}

}  // namespace

int report_exception(std::string_view program) noexcept {
  try {
    return report(program);
  } catch (...) {  // no memory for the message
    return report_no_memory(program);
  }
}

EndsInOrder::EndsInOrder(void (*clean_up)()) noexcept {
  cleans_up = clean_up;
  handler_before = std::set_terminate(end);
  std::set_new_handler(refuse_memory);
}

}  // namespace kernelcast
