// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Removing without memory.

namespace draftscope {

/// Removes a folder with the files in it; a folder in it, and what can't be removed, stays. Needs no memory:
/// a destructor calls it while an exception for the lack of memory passes.
void remove_folder_of_files(const char* folder) noexcept;

}  // namespace draftscope
