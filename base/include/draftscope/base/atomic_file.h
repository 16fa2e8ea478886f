// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file that is there whole or not at all: written beside its target under another name, synced and renamed.

#include <draftscope/base/result.h>
#include <filesystem>
#include <string>
#include <string_view>

namespace draftscope {

class AtomicFile {
 public:
  /// Creates the temporary file in the target's folder; an existing target stays until commit(). Errors: it
  /// can't be created; the target is something other than a regular file.
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& target);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();  ///< without commit() nothing remains

  /// Buffered. After a failure further writes do nothing; failed() tells, commit() returns the first error.
  void write(std::string_view bytes);
  [[nodiscard]] bool failed() const { return !error_.message.empty(); }

  [[nodiscard]] Result<void> commit();

 private:
  AtomicFile(std::filesystem::path target, std::filesystem::path temporary, int file);
  void flush();
  void keep_error(std::string_view what);

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int file_ = -1;
  std::string buffer_;
  Error error_;
};

}  // namespace draftscope
