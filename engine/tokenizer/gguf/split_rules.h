// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the names in tokenizer.ggml.pre stand for. A GGUF file names its rule and does not hold it, so the
// table is closed: another name is refused, never guessed.

#include <draftscope/base/result.h>

#include "checkpoint/gguf/metadata.h"
#include "tokenizer/split/normalizer.h"
#include "tokenizer/split/pre_tokenizer.h"

namespace draftscope::engine::tokenizer {

/// The stages of a byte-level tokenizer that its rule decides.
struct SplitStages {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  bool ignore_merges = false;  ///< a piece that is a token as a whole is that token
  bool add_bos = false;        ///< where tokenizer.ggml.add_bos_token is absent
};

/// Errors: no name, or one that the table lacks.
[[nodiscard]] Result<SplitStages> split_stages(const gguf::Metadata& metadata);

}  // namespace draftscope::engine::tokenizer
