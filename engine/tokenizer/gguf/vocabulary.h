// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The keys tokenizer.ggml.* of a GGUF file that both of its kinds of tokenizer have.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "checkpoint/gguf/metadata.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"

namespace draftscope::engine::tokenizer {

/// tokenizer.ggml.token_type; the numbers are the format's.
enum class TokenType : std::int32_t {
  undefined = 0,
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

struct GgufVocabulary {
  std::vector<std::string_view> tokens;  ///< by id, valid UTF-8; they look into the file
  std::vector<TokenType> types;          ///< by id
  std::optional<std::int32_t> bos, eos, unknown;

  /// Tokens that are found in the text as a whole: control tokens and the unknown one, which are special, and
  /// what the user defined.
  [[nodiscard]] std::vector<AddedToken> added_tokens() const;
  [[nodiscard]] bool is_special(std::size_t token) const;
};

/// Errors: no tokens, lists of different lengths, ids beyond the vocabulary, text that is not UTF-8.
[[nodiscard]] Result<GgufVocabulary> read_vocabulary(const gguf::Metadata& metadata);

/// The ids of all tokens that have a text. Errors: a text occurs twice.
[[nodiscard]] Result<TokenIds> index_tokens(const GgufVocabulary& vocabulary, const gguf::Metadata& metadata);

}  // namespace draftscope::engine::tokenizer
