// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file's bytes or fresh zeroed memory, mapped for as long as the object lives.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "file_watch.h"

namespace draftscope::engine {

/// How the bytes will be read next. Scattered reads go one page at a time; the kernel would otherwise fetch
/// megabytes around each.
enum class Access : std::uint8_t { scattered, streamed };

class Mapping {
 public:
  /// Maps a regular file, read-only and watched (file_watch.h). The pages are the file's own: nothing is
  /// copied.
  [[nodiscard]] static Result<Mapping> open_file(const std::filesystem::path& path);
  /// Allocates zeroed writable memory, in huge pages if the system has them. Fails if the machine has too
  /// little.
  [[nodiscard]] static Result<Mapping> allocate(std::size_t bytes);

  /// Reserves only addresses: they read as zeros, and take memory once they are written.
  [[nodiscard]] static Result<Mapping> reserve(std::size_t bytes);

  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  void expect(Access access) const;

  /// Only for allocated memory; a file's pages are not writable.
  [[nodiscard]] std::span<std::byte> writable_bytes() { return {data_, size_}; }

 private:
  Mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<FileWatch> watch_;  ///< watch over a file; none for memory
};

}  // namespace draftscope::engine
