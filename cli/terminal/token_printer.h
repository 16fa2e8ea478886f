// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prints tokens as rounds yield them. With colour: accepted draft tokens green, bonus tokens plain
// and bold, rejected draft tokens red and struck through. Without: the text alone.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/tokenizer.h>
#include <cstdio>
#include <string_view>

namespace draftscope::cli {

class TokenPrinter final : public engine::DecodeListener {
 public:
  TokenPrinter(const engine::Tokenizer& tokenizer, bool colour)
      : tokenizer_(tokenizer), decoder_(tokenizer), colour_(colour) {}

  void on_first_token(std::int32_t token) override;
  void on_round(const engine::RoundReport& report) override;
  /// Flushes what waits for the end of a character.
  void finish();

  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  [[nodiscard]] std::int64_t drafted() const { return drafted_; }
  [[nodiscard]] std::int64_t accepted() const { return accepted_; }
  [[nodiscard]] std::int64_t emitted() const { return emitted_; }  ///< by rounds, without the prefill's token

 private:
  void print(std::string_view text, std::string_view style) const;

  const engine::Tokenizer& tokenizer_;
  engine::StreamDecoder decoder_;
  bool colour_;
  std::int64_t rounds_ = 0;
  std::int64_t drafted_ = 0;
  std::int64_t accepted_ = 0;
  std::int64_t emitted_ = 0;
};

}  // namespace draftscope::cli
