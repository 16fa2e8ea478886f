// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <filesystem>
#include <string>

namespace draftscope::engine {

/// Sizes in a GGUF file's metadata as a JSON object, of any architecture, whether a backend runs it or not:
/// the architecture's integers, lists of integers and booleans, without its name before them; `architecture`
/// and `vocab_size`. Of a split file the first part has them. Only the metadata is read. Thread-safe.
/// Errors: no GGUF file of version 2 or 3, damaged metadata, no architecture.
[[nodiscard]] Result<std::string> gguf_sizes(const std::filesystem::path& path);

}  // namespace draftscope::engine
