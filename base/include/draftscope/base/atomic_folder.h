// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A folder of several files that appear together or not at all. Files are made in a folder beside the target,
// which takes the target's name once all of them are whole; where the target is there already, they are moved
// into it one by one.

#include <draftscope/base/result.h>

#include <filesystem>
#include <vector>

namespace draftscope {

class AtomicFolder {
 public:
  /// Makes the folder beside `target`, and the folders above it that are missing; what an earlier crash left
  /// there is replaced. Errors: it can't be made; `target` is something other than a folder.
  [[nodiscard]] static Result<AtomicFolder> create(const std::filesystem::path& target);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  AtomicFolder& operator=(AtomicFolder&&) = delete;
  /// Without a commit, removes what was made, the folders above included.
  ~AtomicFolder();

  /// Where the files are to be made.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  /// Puts the files in their place; files of other names stay in a target that is there already.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFolder(std::filesystem::path target, std::filesystem::path temporary,
               std::vector<std::filesystem::path> parents);

  std::filesystem::path target_;
  std::filesystem::path temporary_;             ///< empty once there is nothing to remove
  std::vector<std::filesystem::path> parents_;  ///< that were made for it, the outermost first
};

/// Removes a folder with the files in it; a folder in it, and what can't be removed, stays. Needs no memory:
/// a destructor calls it while an exception for the lack of memory passes.
void remove_folder_of_files(const char* folder) noexcept;

}  // namespace draftscope
