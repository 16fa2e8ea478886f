// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Folders whose layers may stay packed for the CUDA backend.

#include <draftscope/engine/checkpoint.h>

#include <filesystem>

namespace draftscope::engine {

/// Throws with its error.
[[nodiscard]] Checkpoint opened(const std::filesystem::path& folder, BlockMatrices blocks);

/// Opens the folder widened and as stored, expects the same model with the same numbers of both, and that
/// none or all of the layers' matrices stay as they are, with a head that is packed so; says whether they do.
[[nodiscard]] bool keeps_layers(const std::filesystem::path& folder, bool packs_head);

/// Expects that a CPU refuses the folder as stored.
void expect_none_for_the_cpu(const std::filesystem::path& folder);

}  // namespace draftscope::engine
