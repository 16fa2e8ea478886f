// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>

#include "checkpoint/gguf/architectures.h"
#include "checkpoint/gguf/gguf_file.h"

namespace draftscope::engine::gguf {

/// Reads the shape from the metadata and from properties of the tensors: the vocabulary, biases, a separate
/// head, frequencies. Its name is empty. Errors: a key that is missing or implausible, that contradicts
/// another one or a tensor, or that asks for something no backend computes.
[[nodiscard]] Result<speculation::ModelShape> read_shape(const GgufModel& model,
                                                         const Architecture& architecture);

/// Reads windows, caps and multipliers, for which some architectures have keys. An absent key gets the
/// default of the ggml project's readers. `shape` already has its sizes and the family's traits. Errors: a
/// key out of range, windows in layers without a fixed interval, a key for something that the architecture's
/// layers lack.
[[nodiscard]] Result<void> read_particulars(const Metadata& metadata, const Architecture& architecture,
                                            speculation::ModelShape& shape);

/// Reads the rotary frequencies from the keys rope.* and the tensors that contain their divisors. `shape`
/// already has its sizes, traits and window. Errors: a key or tensor that is implausible, contradicts
/// another, or asks for something no backend computes.
[[nodiscard]] Result<speculation::RopeScaling> read_rope(const GgufModel& model,
                                                         const Architecture& architecture,
                                                         const speculation::ModelShape& shape);

}  // namespace draftscope::engine::gguf
