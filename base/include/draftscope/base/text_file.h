// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that users provide: small ones are read as text; larger ones are checked before they are read as a
// stream.

#include <draftscope/base/result.h>
#include <cstddef>
#include <filesystem>
#include <string>

namespace draftscope {

/// Max size of a settings file: policies, predictions, calibrations, specifications.
inline constexpr std::size_t max_settings_bytes = std::size_t{64} << 20U;

/// Reads a whole regular file of at most `max_bytes`, unpacked if it is compressed (text_stream.h). Never
/// waits for a pipe. Errors: no such file, another kind of file, a larger file or text, a read error, a
/// packing that can't be read.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Refuses anything except a regular file: reading a pipe would block, a device may be endless, and a
/// folder's stream throws. Errors: no such file, another kind of file, one that can't be opened.
[[nodiscard]] Result<void> check_regular_file(const std::filesystem::path& path);

}  // namespace draftscope
