// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Generates the replies of one engine to a growing conversation. It keeps the K/V rows of tokens that the
// prompt shares with the last text. The text does not depend on the strategy, whether greedy or with coupled
// noise, so the cached rows do not either.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/recording/run_identity.h>
#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options/model_options.h"

namespace draftscope::cli {

/// Time of vanilla steps after a reply.
struct VanillaSteps {
  std::int32_t steps = 0;
  double ns_per_step = 0.0;
};

class ChatEngine {
 public:
  /// Owns none of its arguments.
  ChatEngine(engine::Backend& backend, const LoadedModel& model, const engine::DecodingOptions& decoding)
      : backend_(backend),
        model_(model),
        decoding_(decoding),
        text_end_(model.tokenizer, decoding.stop_strings) {}

  /// Decodes the reply to `prompt` and reports it to `listener`. Each reply has random numbers of its own.
  /// Errors: those of decode().
  [[nodiscard]] Result<engine::DecodeResult> reply(const std::vector<std::int32_t>& prompt,
                                                   engine::Strategy& strategy,
                                                   engine::DecodeListener& listener);

  /// Decodes some steps after the last reply without a listener, and discards them. None if the context has
  /// no room for them, or after an interruption.
  [[nodiscard]] Result<std::optional<VanillaSteps>> time_vanilla_steps();

 private:
  [[nodiscard]] engine::DecodeRequest request(std::span<const std::int32_t> prompt) const;

  engine::Backend& backend_;
  const LoadedModel& model_;
  const engine::DecodingOptions& decoding_;
  engine::TextEnd text_end_;
  std::vector<std::int32_t> text_;  // Last prompt and its reply.
  std::int32_t cached_tokens_ = 0;  // Tokens of text_ whose K/V is cached.
  std::uint64_t replies_ = 0;
};

}  // namespace draftscope::cli
