// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Replies of one engine to a growing conversation. K/V of the tokens that a prompt has in common with the
// last text is kept. The text does not depend on the strategy, greedy or with coupled noise: what is kept
// does not.

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

struct ChatReply {
  engine::DecodeResult result;
  std::int32_t kept_tokens = 0;  ///< of the prompt, whose K/V was there
};

/// Time of vanilla steps behind a reply.
struct VanillaSteps {
  std::int32_t steps = 0;
  double ns_per_step = 0.0;
};

class ChatEngine {
 public:
  /// Nothing is owned.
  ChatEngine(engine::Backend& backend, const LoadedModel& model, const engine::DecodingOptions& decoding)
      : backend_(backend),
        model_(model),
        decoding_(decoding),
        text_end_(model.tokenizer, decoding.stop_strings) {}

  /// Decodes the reply to `prompt`; `listener` hears of it. Each reply has random numbers of its own. Fails
  /// as decode() does.
  [[nodiscard]] Result<ChatReply> reply(const std::vector<std::int32_t>& prompt, engine::Strategy& strategy,
                                        engine::DecodeListener& listener);

  /// Decodes on behind the last reply, without telling anybody, and forgets what came of it. None if the
  /// context has no room for it, or after an interruption.
  [[nodiscard]] Result<std::optional<VanillaSteps>> time_vanilla_steps();

 private:
  [[nodiscard]] engine::DecodeRequest request(std::span<const std::int32_t> prompt) const;

  engine::Backend& backend_;
  const LoadedModel& model_;
  const engine::DecodingOptions& decoding_;
  engine::TextEnd text_end_;
  std::vector<std::int32_t> text_;  // of the last reply, its prompt in front
  std::int32_t cached_tokens_ = 0;  // of text_
  std::uint64_t replies_ = 0;
};

}  // namespace draftscope::cli
