// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The two ways in which a GGUF file says which pieces merge.

#include <draftscope/base/result.h>
#include <vector>

#include "tokenizer/gguf/vocabulary.h"

namespace draftscope::engine::tokenizer {

/// Byte-level: tokenizer.ggml.merges, "left right" each, the first first. Errors: another form, a piece that
/// is no token.
[[nodiscard]] Result<std::vector<BpeMerge>> listed_merges(const TokenIds& ids,
                                                          const gguf::Metadata& metadata);

/// SentencePiece: two pieces merge where their text is a token, the highest of tokenizer.ggml.scores first,
/// the leftmost of equals. Errors: no scores or too few, a token of more than 512 bytes.
[[nodiscard]] Result<std::vector<BpeMerge>> scored_merges(const GgufVocabulary& vocabulary,
                                                          const TokenIds& ids,
                                                          const gguf::Metadata& metadata);

}  // namespace draftscope::engine::tokenizer
