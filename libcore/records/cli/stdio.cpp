#include "records/cli/stdio.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::cli {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

std::string reason() {
  return std::generic_category().message(errno);
}

}  // namespace

std::array<bool, 3> reserve_standard_streams() {
  std::array<bool, 3> closed{};
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    closed[static_cast<std::size_t>(fd)] = true;
    if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) == -1) continue;  // takes the lowest free number: fd
  }
  signal(SIGPIPE, SIG_DFL);
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigprocmask(SIG_UNBLOCK, &pipe_signal, nullptr);
  return closed;
}

bool colour_on_stderr() {
  char const* const no_color = std::getenv("NO_COLOR");
  char const* const term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return isatty(2) == 1;
}

struct ContentHash::Hasher {
  XXH3_state_t* state = XXH3_createState();
  Hasher() {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(state);
  }
  ~Hasher() { XXH3_freeState(state); }
};

ContentHash::ContentHash() : hasher_(std::make_unique<Hasher>()) {}
ContentHash::~ContentHash() = default;
void ContentHash::add(char const* data, std::size_t size) {
  XXH3_64bits_update(hasher_->state, data, size);
  bytes_ += size;
}
std::string ContentHash::hex() const {
  return fmt::format("{:016x}", XXH3_64bits_digest(hasher_->state));
}

InputBuffer::InputBuffer(int descriptor, std::string name, bool hashed)
    : descriptor_(descriptor), name_(std::move(name)), hashed_(hashed), buffer_(buffer_bytes) {}

InputBuffer::~InputBuffer() {
  if (descriptor_ > 2) close(descriptor_);
}

std::size_t InputBuffer::read_some(char* to, std::size_t size) {
  while (!at_end_) {
    auto const got = read(descriptor_, to, size);
    at_end_ = got == 0;
    if (got > 0) return static_cast<std::size_t>(got);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd waiting{descriptor_, POLLIN, 0};
      poll(&waiting, 1, -1);
    } else if (got < 0 && errno != EINTR) {
      throw Error(Status::io, Where{name_}, "cannot read: " + reason(),
                  errno == EISDIR ? "name a file, not a directory" : "check the file and the disk");
    }
  }
  return 0;
}

void InputBuffer::begin() {
  begun_ = true;
  std::size_t size = 0;
  do {
    std::size_t const got = read_some(buffer_.data() + size, buffer_.size() - size);
    if (got == 0) break;
    size += got;
  } while (Decompressor::could_be({buffer_.data(), size}));
  decompressor_ = Decompressor::of({buffer_.data(), size}, name_);
  if (decompressor_) {
    compressed_.swap(buffer_);
    buffer_.resize(buffer_bytes);
    pending_ = {compressed_.data(), size};
  } else {
    plain_bytes_ = size;
  }
}

std::size_t InputBuffer::fill() {
  if (!begun_) {
    begin();
    if (!decompressor_) return plain_bytes_;
  }
  if (!decompressor_) return read_some(buffer_.data(), buffer_.size());
  for (;;) {
    if (std::size_t const got = decompressor_->next(pending_, buffer_.data(), buffer_.size()); got > 0) return got;
    if (!pending_.empty()) continue;
    std::size_t const more = read_some(compressed_.data(), compressed_.size());
    pending_ = {compressed_.data(), more};
    if (more > 0) continue;
    if (!decompressor_->complete())
      throw Error(Status::bad_data, Where{name_}, fmt::format("{} data that ends too early", decompressor_->format()),
                  "was it copied, or written, to its end?");
    return 0;
  }
}

InputBuffer::int_type InputBuffer::underflow() {
  if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
  std::size_t const got = fill();
  if (got == 0) return traits_type::eof();
  if (hashed_) hash_.add(buffer_.data(), got);
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(*gptr());
}

void InputBuffer::drain() {
  do setg(nullptr, nullptr, nullptr);
  while (underflow() != traits_type::eof());
}

OutputBuffer::OutputBuffer(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), buffer_(buffer_bytes) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

void OutputBuffer::write_all(char const* data, std::size_t size) {
  while (size > 0) {
    auto const put = ::write(descriptor_, data, size);
    if (put >= 0) {
      data += put;
      size -= static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd waiting{descriptor_, POLLOUT, 0};
      poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      throw Error(Status::io, fmt::format("cannot write {}: {}", name_, reason()),
                  errno == ENOSPC || errno == EDQUOT ? "free some space; the output is incomplete"
                                                     : "the output is incomplete");
    }
  }
}

void OutputBuffer::send() {
  auto const size = static_cast<std::size_t>(pptr() - pbase());
  setp(buffer_.data(), buffer_.data() + buffer_.size());  // first: what failed once is not tried again
  write_all(buffer_.data(), size);
}

OutputBuffer::int_type OutputBuffer::overflow(int_type c) {
  send();
  if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

std::streamsize OutputBuffer::xsputn(char const* data, std::streamsize size) {
  if (size > epptr() - pptr()) send();
  if (size >= static_cast<std::streamsize>(buffer_.size())) {
    write_all(data, static_cast<std::size_t>(size));
  } else {
    std::memcpy(pptr(), data, static_cast<std::size_t>(size));
    pbump(static_cast<int>(size));
  }
  return size;
}

int OutputBuffer::sync() {
  send();
  return 0;
}

}  // namespace kernelcast::cli
