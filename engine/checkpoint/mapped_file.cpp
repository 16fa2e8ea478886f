// SPDX-License-Identifier: GPL-3.0-or-later
#include "mapped_file.h"

#include <draftscope/base/descriptor.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace draftscope::engine {

Result<Mapping> Mapping::open_file(const std::filesystem::path& path) {
  // Non-blocking, so that opening a pipe of that name does not wait; the pipe is refused below.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return fail("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0)
    return fail("{}: cannot be examined: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail("{}: expected a regular file", path.string());
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return fail("{}: found an empty file, expected weights", path.string());
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) return fail("{}: cannot be mapped: {}", path.string(), std::strerror(errno));
  Mapping mapping(static_cast<std::byte*>(data), size);
  mapping.watch_.emplace(mapping.bytes(), path, file.release());
  return mapping;
}

Result<Mapping> Mapping::allocate(std::size_t bytes) {
  // Without this check the kernel would overcommit, and end the process later, half-way through the fill.
  const auto machine_bytes =
      static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > machine_bytes)
    return fail("{:.1f} GB of weights, expected at most this machine's memory of {:.1f} GB",
                static_cast<double>(bytes) / 1e9, static_cast<double>(machine_bytes) / 1e9);
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return fail("{:.1f} GB of memory for weights: {}", static_cast<double>(bytes) / 1e9,
                std::strerror(errno));
  // This is only a hint: a kernel without huge pages refuses it and still works.
  static_cast<void>(::madvise(data, bytes, MADV_HUGEPAGE));
  return Mapping(static_cast<std::byte*>(data), bytes);
}

Result<Mapping> Mapping::reserve(std::size_t bytes) {
  void* const data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return fail("{:.1f} GB of addresses for weights: {}", static_cast<double>(bytes) / 1e9,
                std::strerror(errno));
  // Samples of one page per tensor must not cost a huge page each. This is only a hint.
  static_cast<void>(::madvise(data, bytes, MADV_NOHUGEPAGE));
  return Mapping(static_cast<std::byte*>(data), bytes);
}

void Mapping::expect(Access access) const {
  // This is only a hint that a kernel may ignore.
  static_cast<void>(::madvise(data_, size_, access == Access::scattered ? MADV_RANDOM : MADV_NORMAL));
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      watch_(std::exchange(other.watch_, std::nullopt)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(watch_, other.watch_);
  return *this;
}

Mapping::~Mapping() {
  watch_.reset();  // Ends the watch before the addresses can be reused.
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace draftscope::engine
