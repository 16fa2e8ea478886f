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

}  // namespace draftscope::engine::gguf
