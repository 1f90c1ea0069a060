#include "runtimes/attach/spool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

namespace kernelcast::attach {

std::string Spool::name(std::string_view kind, std::uint64_t number, std::string_view ending) const {
  return std::string(kind) + '-' + std::to_string(process_) + '-' + std::to_string(number) + std::string(ending);
}

bool Spool::open_counts() {
  process_ = getpid();
  used_ = 0;
  totals_.clear();
  auto const words = [&](char const* kind) {
    return reinterpret_cast<std::uint64_t*>(
        map(kind + std::to_string(process_), max_configurations * sizeof(std::uint64_t)));
  };
  allocated_ = words("allocated-");
  counts_ = words("counts-");
  return counts_ != nullptr;
}

void Spool::note_allocated(std::uint64_t const* counter, std::uint64_t bytes) {
  if (!allocated_) return;
  auto& most = allocated_[number_of(counter)];
  most = std::max(most, bytes);
}

double* Spool::totals(std::uint64_t number) {
  if (number >= used_) return nullptr;  // of another process
  constexpr std::size_t together = 256;
  for (std::size_t k = totals_.size(); k <= number / together; ++k)
    totals_.push_back(reinterpret_cast<double*>(map(name("totals", k, ""), together * max_totals * sizeof(double))));
  auto* const all = totals_[number / together];
  return all ? all + number % together * max_totals : nullptr;
}

std::uint64_t* Spool::next(std::uint64_t& number) {
  if (process_ != getpid() && !open_counts()) return nullptr;
  if (!counts_ || used_ == max_configurations) return nullptr;
  number = used_++;
  return counts_ + number;
}

std::byte* Spool::map(std::string const& name, std::size_t bytes) const {
  int const file = open((folder_ + '/' + name).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file == -1) return nullptr;
  void* content = MAP_FAILED;
  // Reserved, not just sized: a write to a mapped page that a full disk has no room for would end the application.
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0)
    content = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return content == MAP_FAILED ? nullptr : static_cast<std::byte*>(content);
}

void Spool::unmap(std::byte* content, std::size_t bytes) {
  munmap(content, bytes);
}

bool Spool::shorten(std::string const& name, std::size_t bytes) const {
  return truncate((folder_ + '/' + name).c_str(), static_cast<off_t>(bytes)) == 0;
}

bool Spool::link(std::string const& name, std::string const& second) const {
  return ::link((folder_ + '/' + name).c_str(), (folder_ + '/' + second).c_str()) == 0;
}

std::size_t Spool::names_of(std::string const& name) const {
  struct stat about{};
  return stat((folder_ + '/' + name).c_str(), &about) == 0 ? about.st_nlink : 0;
}

void Spool::remove(std::string const& name) const {
  unlink((folder_ + '/' + name).c_str());
}

namespace {

// Written beside, under a name that is this process's and this call's alone, and renamed.
bool write_whole(std::string const& path, std::string_view text) {
  static std::atomic<unsigned> calls{0};
  std::string const beside = path + '~' + std::to_string(getpid()) + '-' + std::to_string(calls++);
  std::FILE* const file = std::fopen(beside.c_str(), "we");
  if (!file) return false;
  bool const written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  bool const closed = std::fclose(file) == 0;
  if (written && closed && std::rename(beside.c_str(), path.c_str()) == 0) return true;
  unlink(beside.c_str());
  return false;
}

}  // namespace

bool Spool::publish(std::string const& name, std::string_view text) const {
  return write_whole(folder_ + '/' + name, text);
}

std::string Spool::place_of_program(std::string const& name) const {
  return (programs_.empty() ? folder_ : programs_) + '/' + name;
}

bool Spool::has_program(std::string const& name) const {
  auto const path = place_of_program(name);
  return utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0 || access(path.c_str(), F_OK) == 0;
}

bool Spool::publish_program(std::string const& name, std::string_view text) const {
  auto const path = place_of_program(name);
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    mkdir(place_of_program(name.substr(0, slash)).c_str(), 0700);
  return write_whole(path, text);
}

}  // namespace kernelcast::attach
