// SPDX-License-Identifier: GPL-3.0-or-later
#include "decoding.h"

#include <draftscope/engine/decode.h>

#include <stdexcept>
#include <utility>

namespace draftscope::bench {

namespace {

class Sums final : public engine::DecodeListener {
 public:
  explicit Sums(Decoded& decoded) : decoded_(decoded) {}
  void on_round(const engine::RoundReport& report) override {
    const traces::Round& round = report.round;
    ++decoded_.rounds;
    decoded_.emitted += round.emitted;
    decoded_.drafted += round.drafted;
    decoded_.accepted += round.accepted;
    decoded_.round_seconds += static_cast<double>(round.end_ns - round.start_ns) * 1e-9;
    decoded_.draft_seconds += static_cast<double>(round.draft_ns) * 1e-9;
    decoded_.verify_seconds += static_cast<double>(round.verify_ns) * 1e-9;
  }

 private:
  Decoded& decoded_;
};

}  // namespace

Decoded decode_once(engine::Backend& backend, const std::string& specification,
                    std::span<const std::int32_t> prompt, std::int32_t tokens) {
  auto strategy = engine::make_strategy(specification, backend.shape());
  if (!strategy) throw std::runtime_error(strategy.error().message);
  Decoded decoded;
  Sums listener(decoded);
  engine::SeededChooser chooser(0, 0);
  auto result = engine::decode(backend, *strategy->strategy, {.prompt = prompt, .max_new_tokens = tokens},
                               chooser, listener);
  if (!result) throw std::runtime_error(result.error().message);
  decoded.seconds_per_token = static_cast<double>(result->end_ns - result->first_token_ns) * 1e-9 /
                              static_cast<double>(result->tokens.size() - 1);
  decoded.tokens = std::move(result->tokens);
  return decoded;
}

}  // namespace draftscope::bench
