// SPDX-License-Identifier: GPL-3.0-or-later
#include "chat/chat_engine.h"

#include <algorithm>

#include "terminal/process.h"

namespace draftscope::cli {

namespace {

constexpr std::int32_t vanilla_steps = 8;

std::int32_t size_of(std::span<const std::int32_t> tokens) {
  return static_cast<std::int32_t>(tokens.size());
}

}  // namespace

engine::DecodeRequest ChatEngine::request(std::span<const std::int32_t> prompt) const {
  const auto same = std::mismatch(prompt.begin(), prompt.end(), text_.begin(), text_.end()).first;
  const auto common = static_cast<std::int32_t>(same - prompt.begin());
  return {.prompt = prompt,
          .cached_tokens = std::max(0, std::min({common, cached_tokens_, size_of(prompt) - 1})),
          .max_new_tokens = decoding_.max_tokens,
          .sampling = decoding_.sampling,
          .cancelled = &InterruptScope::flag()};
}

Result<engine::DecodeResult> ChatEngine::reply(const std::vector<std::int32_t>& prompt,
                                               engine::Strategy& strategy, engine::DecodeListener& listener) {
  engine::SeededChooser chooser(decoding_.seed, replies_++);
  engine::DecodeRequest asked = request(prompt);
  asked.eos_tokens = model_.checkpoint->shape.eos_tokens;
  asked.text_end = &text_end_;
  DRAFTSCOPE_TRY(engine::check_request(backend_, asked, chooser));
  // Decoding overwrites all later rows, even if it fails.
  cached_tokens_ = asked.cached_tokens;
  DRAFTSCOPE_TRY_ASSIGN(engine::DecodeResult result,
                        engine::decode(backend_, strategy, asked, chooser, listener));
  text_ = prompt;
  text_.insert(text_.end(), result.tokens.begin(), result.tokens.end());
  cached_tokens_ = result.cached_tokens;
  return result;
}

Result<std::optional<VanillaSteps>> ChatEngine::time_vanilla_steps() {
  const std::int32_t steps = std::min(vanilla_steps, backend_.cache_rows() - size_of(text_));
  if (text_.empty() || steps < 2 || InterruptScope::flag()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const engine::ConfiguredStrategy vanilla,
                        engine::make_strategy("vanilla", model_.checkpoint->shape));
  engine::SeededChooser chooser(decoding_.seed, replies_);
  engine::DecodeListener nobody;
  engine::DecodeRequest asked = request(text_);
  asked.max_new_tokens = steps + 1;  // The prefill makes the first one.
  DRAFTSCOPE_TRY_ASSIGN(const engine::DecodeResult result,
                        engine::decode(backend_, *vanilla.strategy, asked, chooser, nobody));
  const std::int32_t taken = size_of(result.tokens) - 1;
  if (taken < 1) return std::nullopt;
  return VanillaSteps{taken, static_cast<double>(result.end_ns - result.first_token_ns) / taken};
}

}  // namespace draftscope::cli
