// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A folder of several files that appear together or not at all. Files are made in a folder beside the target
// and moved into it once all of them are whole.

#include <draftscope/base/result.h>
#include <filesystem>

namespace draftscope {

class AtomicFolder {
 public:
  /// Makes the folder beside `target`. Fails if it can't be made; what an earlier crash left there is
  /// replaced.
  [[nodiscard]] static Result<AtomicFolder> create(const std::filesystem::path& target);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  AtomicFolder& operator=(AtomicFolder&&) = delete;
  /// Without a commit, removes what was made.
  ~AtomicFolder();

  /// Where the files are to be made.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  /// Moves the files into the target, which is made if it is not there; files of other names stay in it.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFolder(std::filesystem::path target, std::filesystem::path temporary);

  std::filesystem::path target_;
  std::filesystem::path temporary_;  ///< empty once there is nothing to remove
};

}  // namespace draftscope
