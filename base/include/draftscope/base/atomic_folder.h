// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A folder of several files that appear together or not at all. Files are made in a folder beside the target,
// which is renamed to the target once all of them are complete. If the target already exists, they are moved
// into it one by one.

#include <draftscope/base/result.h>

#include <filesystem>
#include <vector>

namespace draftscope {

class AtomicFolder {
 public:
  /// Makes the folder beside `target`, and missing parent folders; replaces what an earlier crash left there.
  /// Errors: it can't be made; `target` is not a folder.
  [[nodiscard]] static Result<AtomicFolder> create(const std::filesystem::path& target);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  AtomicFolder& operator=(AtomicFolder&&) = delete;
  /// Without commit(), removes what was made, including parent folders.
  ~AtomicFolder();

  /// Folder in which to make the files.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  /// Moves the files to their place; an existing target keeps files of other names.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFolder(std::filesystem::path target, std::filesystem::path temporary,
               std::vector<std::filesystem::path> parents);

  std::filesystem::path target_;
  std::filesystem::path temporary_;             ///< Empty once there is nothing to remove.
  std::vector<std::filesystem::path> parents_;  ///< Parent folders that were made, the outermost first.
};

/// Removes a folder with its files; subfolders, and what can't be removed, stay. Needs no memory, since a
/// destructor calls it while an exception for lack of memory passes.
void remove_folder_of_files(const char* folder) noexcept;

}  // namespace draftscope
