// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A new trace in the place of an old one, which comes back unless the new one is kept.

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/result.h>
#include <sys/types.h>
#include <filesystem>

namespace draftscope::traces {

class PlacedFile {
 public:
  /// Puts the file in its target's place. Where an old one stands there and the file system has hard links,
  /// that stays under another name until keep(). Errors: there is a file that was not there before; it can't
  /// be put there.
  [[nodiscard]] static Result<PlacedFile> put(AtomicFile file, const std::filesystem::path& target,
                                              bool replaces);
  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&&) = delete;
  ~PlacedFile();  ///< without keep() all is as it was before

  void keep();

  /// Whether the file of that name is still the one that was put there.
  [[nodiscard]] bool is_in_place() const;

 private:
  PlacedFile(std::filesystem::path target, std::filesystem::path old, dev_t device, ino_t inode);

  std::filesystem::path target_;  // absolute
  std::filesystem::path old_;     // the old file's other name; empty if there is none
  dev_t device_;
  ino_t inode_;
  bool is_kept_ = false;
};

}  // namespace draftscope::traces
