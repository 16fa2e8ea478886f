// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>

#include "checkpoint/gguf/architectures.h"
#include "checkpoint/gguf/gguf_file.h"

namespace draftscope::engine::gguf {

/// Numbers of the metadata, with what the tensors say: the vocabulary, biases, a head of its own,
/// frequencies. Its name is empty. Errors: a key that is missing or implausible, that contradicts another or
/// a tensor, or that asks for what no backend computes.
[[nodiscard]] Result<speculation::ModelShape> read_shape(const GgufModel& model,
                                                         const Architecture& architecture);

/// Windows, caps and multipliers, which some architectures have keys for; where a key is absent, what the
/// ggml project's readers take. `shape` has its sizes and the family's traits. Errors: a key out of range, a
/// window in layers at no fixed interval, a key that asks for what the architecture's layers lack.
[[nodiscard]] Result<void> read_particulars(const Metadata& metadata, const Architecture& architecture,
                                            speculation::ModelShape& shape);

/// Frequencies, by the keys rope.* and the tensors that hold their divisors. `shape` has its sizes, traits
/// and window. Errors: a key or tensor that is implausible, contradicts another, or asks for what no backend
/// computes.
[[nodiscard]] Result<speculation::RopeScaling> read_rope(const GgufModel& model,
                                                         const Architecture& architecture,
                                                         const speculation::ModelShape& shape);

}  // namespace draftscope::engine::gguf
