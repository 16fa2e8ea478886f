// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>

#include "checkpoint/gguf/architectures.h"
#include "checkpoint/gguf/gguf_file.h"

namespace draftscope::engine::gguf {

/// Frequencies, by the keys rope.* and the tensors that hold their divisors. `shape` has its sizes, traits
/// and window. Errors: a key or tensor that is implausible, contradicts another, or asks for what no backend
/// computes.
[[nodiscard]] Result<speculation::RopeScaling> read_rope(const GgufModel& model,
                                                         const Architecture& architecture,
                                                         const speculation::ModelShape& shape);

}  // namespace draftscope::engine::gguf
