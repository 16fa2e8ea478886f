// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// LoRA adapters as PEFT saves them: adapter_config.json and adapter_model.safetensors, which holds two
// matrices for each module, A [r][in] and B [out][r].
//
// Source: Hu et al. 2021, arXiv:2106.09685; Kalajdzievski 2023, arXiv:2312.03732 (rslora).

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <filesystem>

namespace draftscope::engine {

/// Adds an adapter to the matrices that it has: W + s · B · A, with s = lora_alpha / r, or / √r with
/// use_rslora, in fp32 and rounded once to W's type. Merged matrices are copies; the rest stays mapped. The
/// checkpoint's name and hash become those of the two together. Not thread-safe: before a backend is made.
/// Errors leave the checkpoint as it was: another kind of adapter than plain LoRA, a module that the model
/// lacks, another rank or shape than the files say, numbers that are not finite, too little memory.
[[nodiscard]] Result<void> merge_adapter(const std::filesystem::path& folder, Checkpoint& checkpoint);

}  // namespace draftscope::engine
