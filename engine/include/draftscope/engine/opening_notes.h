// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opening a model and learning what its files have that the model is computed without or does not use as it
// is stored: each function does what its namesake in checkpoint.h does, and appends lines to `notes`, none of
// which names the file.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

[[nodiscard]] Result<Checkpoint> open_model(std::string_view argument, SyntheticMatrices matrices,
                                            BlockMatrices blocks, std::vector<std::string>& notes);
[[nodiscard]] Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder, BlockMatrices blocks,
                                                 std::vector<std::string>& notes);
[[nodiscard]] Result<Checkpoint> load_gguf(const std::filesystem::path& path, BlockMatrices blocks,
                                           std::vector<std::string>& notes);

}  // namespace draftscope::engine
