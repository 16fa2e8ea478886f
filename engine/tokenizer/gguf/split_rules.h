// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The meaning of the names in tokenizer.ggml.pre. A GGUF file only names its rule and does not contain it, so
// the table is closed: another name is refused, never guessed.

#include <draftscope/base/result.h>

#include "checkpoint/gguf/metadata.h"
#include "tokenizer/split/normalizer.h"
#include "tokenizer/split/pre_tokenizer.h"

namespace draftscope::engine::tokenizer {

/// The stages of a byte-level tokenizer that depend on its rule.
struct SplitStages {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  bool ignore_merges = false;  ///< whether a piece that is a token as a whole becomes that token
  bool add_bos = false;        ///< default of tokenizer.ggml.add_bos_token
};

/// The stages of the file's rule. Errors: no name, or one that is not in the table.
[[nodiscard]] Result<SplitStages> split_stages(const gguf::Metadata& metadata);

}  // namespace draftscope::engine::tokenizer
