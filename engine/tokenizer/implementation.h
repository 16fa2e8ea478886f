// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/tokenizer.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/chat_template.h"
#include "tokenizer/piece_decoder.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/split/normalizer.h"
#include "tokenizer/split/pre_tokenizer.h"

namespace draftscope::engine {

/// The stages of a tokenizer.json, in the order of encoding.
class Tokenizer::Implementation {
 public:
  bool raw_bytes = false;  ///< Tokenizer::bytes; encoding then uses no stage below
  tokenizer::AddedTokenFinder unnormalized_tokens;
  tokenizer::Normalizer normalizer;
  tokenizer::AddedTokenFinder normalized_tokens;
  tokenizer::PreTokenizer pre_tokenizer;
  tokenizer::BpeModel model;
  tokenizer::PostProcessor post_processor;
  std::vector<tokenizer::DecoderStep> decoder;

  std::vector<std::string> pieces;  ///< by token
  std::vector<bool> special;        ///< by token
  tokenizer::TokenIds token_ids;    ///< tokens of the model and added ones
  tokenizer::ChatTemplate chat;
  std::int32_t model_vocab_size = 0;  ///< Tokenizer::model_vocab_size(); 0 = all are the model's
  std::vector<std::string> notes;
};

namespace tokenizer {

/// Makes the tokens searchable in a text. Their pieces must already have their numbers. `budget` is that of
/// the whole file.
[[nodiscard]] Result<void> index_added_tokens(const std::vector<AddedToken>& added, StepBudget& budget,
                                              Tokenizer::Implementation& implementation);

/// Checks that no piece is longer than 64 KiB, or becomes longer when it is decoded.
[[nodiscard]] Result<void> check_piece_lengths(std::string_view label, const Tokenizer::Implementation& it);

/// Fills everything except the chat template. `label` names the file in errors.
[[nodiscard]] Result<void> parse_tokenizer(std::string_view text, const std::string& label,
                                           Tokenizer::Implementation& implementation);

}  // namespace tokenizer
}  // namespace draftscope::engine
