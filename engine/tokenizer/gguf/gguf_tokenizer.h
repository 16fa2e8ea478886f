// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>

#include "checkpoint/gguf/metadata.h"
#include "tokenizer/implementation.h"

namespace draftscope::engine::tokenizer {

/// Fills all stages from the keys tokenizer.*: byte-level merges ("gpt2") or SentencePiece with scores
/// ("llama"), and the chat template. Errors: another tokenizer.ggml.model, an unknown tokenizer.ggml.pre, and
/// merges or a vocabulary that are malformed.
[[nodiscard]] Result<void> read_gguf_tokenizer(const gguf::Metadata& metadata,
                                               Tokenizer::Implementation& implementation);

}  // namespace draftscope::engine::tokenizer
