// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file that appears complete or not at all: it is written beside its target under another name, synced and
// renamed.

#include <draftscope/base/result.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace draftscope {

enum class Replacing { allowed, refused };

class AtomicFile {
 public:
  /// Creates the temporary file in the target's folder; an existing target stays until commit(). Errors: the
  /// file can't be created; the target has no name, or is not a regular file.
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& target);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();  ///< Without commit(), the destructor removes the file.

  /// Writes through a buffer. After a failure further writes do nothing; failed() tells, and commit() returns
  /// the first error.
  void write(std::string_view bytes);
  [[nodiscard]] bool failed() const { return !error_.message.empty(); }

  /// Path of the temporary file.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// Syncs the content to disk under the temporary name, so that a lack of room shows here.
  [[nodiscard]] Result<void> sync();
  /// Syncs the file and renames it to the target.
  [[nodiscard]] Result<void> commit(Replacing replacing = Replacing::allowed);

 private:
  AtomicFile(std::filesystem::path target, std::filesystem::path temporary);
  void flush();
  void keep_error(std::string_view what);

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int file_ = -1;
  std::string buffer_;
  Error error_;
};

/// Waits until the file is on disk. Errors: it can't be opened; the disk could not take it.
[[nodiscard]] Result<void> sync_file(const std::filesystem::path& file);

/// Renames `file` to `target`, in the same folder, and waits until that is on disk. Errors, which name
/// `target`: it exists and may not be replaced (file systems that can't tell replace it); the rename fails.
[[nodiscard]] Result<void> put_in_place(const std::filesystem::path& file,
                                        const std::filesystem::path& target, Replacing replacing);

}  // namespace draftscope
