// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that people give: small ones whole, as text; larger ones checked before they are read as a stream.

#include <draftscope/base/result.h>
#include <cstddef>
#include <filesystem>
#include <string>

namespace draftscope {

/// Maximum size of a file of settings: policies, predictions, calibrations, specifications.
inline constexpr std::size_t max_settings_bytes = std::size_t{64} << 20U;

/// A whole regular file of at most `max_bytes`. Never waits for a pipe. Errors: no such file, another kind of
/// file, a larger one, one that can't be read.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Refuses what is no regular file: a pipe would be waited for, a device may have no end, and a folder's
/// stream throws. Errors: no such file, another kind of file, one that can't be opened.
[[nodiscard]] Result<void> check_regular_file(const std::filesystem::path& path);

}  // namespace draftscope
