// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tokenizer.h>

#include "tokenizer/implementation.h"

namespace draftscope::engine {

struct StreamDecoder::State {
  tokenizer::PieceDecoder decoder;
};

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens)
    : tokenizer_(tokenizer),
      skip_special_tokens_(skip_special_tokens),
      state_(std::make_unique<State>(State{tokenizer::PieceDecoder(tokenizer_.implementation_->decoder)})) {}

StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;

std::string StreamDecoder::next(std::int32_t token) {
  std::string text;
  const auto& pieces = tokenizer_.implementation_->pieces;
  const bool known = token >= 0 && token < tokenizer_.vocab_size();
  if (!known || (skip_special_tokens_ && tokenizer_.is_special(token))) return text;
  state_->decoder.feed(pieces[static_cast<std::size_t>(token)], text);
  return text;
}

std::string StreamDecoder::finish() {
  std::string text;
  state_->decoder.finish(text);
  return text;
}

}  // namespace draftscope::engine
