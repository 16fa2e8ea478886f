// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Requirements of the fuzz targets, and the way in which an input reaches code that reads files. A broken
// promise ends the process.

#include <draftscope/base/result.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace draftscope::fuzz {

inline void require(bool promise, std::string_view what = "see the stack") {
  if (promise) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(what.size()), what.data());
  __builtin_trap();
}

/// Requires that a terminal shows the error as one line, and executes nothing.
inline void require_one_line(const Error& error) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  };
  require(!error.message.empty() && std::none_of(error.message.begin(), error.message.end(), is_control),
          error.message);
}

template <typename T>
void require_value_or_line(const Result<T>& result) {
  if (!result) require_one_line(result.error());
}

/// Takes the input up to the next zero byte, which is removed with it.
inline std::string_view take_part(std::string_view& input) {
  const auto end = std::min(input.find('\0'), input.size());
  const std::string_view part = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return part;
}

/// A file of this process on the memory-backed file system; the destructor removes it.
class InputFile {
 public:
  InputFile(const std::string& ending, std::string_view bytes)
      : path_("/dev/shm/draftscope-fuzz-" + std::to_string(getpid()) + ending) {
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(file >= 0, "the input file");
    require(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "the input file");
    close(file);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace draftscope::fuzz
