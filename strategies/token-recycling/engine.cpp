// SPDX-License-Identifier: GPL-3.0-or-later
// Token recycling (rule.h) as a strategy: its tree becomes proposals. After every verified row, accepted or
// not, it stores the target's best tokens for the next round.
#include <draftscope/engine/backend.h>

#include <algorithm>

#include "strategies/engine.h"
#include "strategies/token-recycling/rule.h"

namespace draftscope::engine {

namespace {

class TokenRecycling final : public Strategy {
 public:
  TokenRecycling(const speculation::RecyclingOptions& options, std::int32_t vocab)
      : rule_(options, vocab), successors_(std::min(options.successors, vocab)) {
    proposals_.reserve(static_cast<std::size_t>(options.nodes));
    likeliest_.reserve(static_cast<std::size_t>(successors_));
  }

  void begin_request(const RequestView& request) override { rule_.begin_request(request.eos_tokens); }

  RoundPlan plan(const RoundView& round) override {
    root_ = round.text.back();
    proposals_.clear();
    for (const speculation::TextGuess& guess : rule_.guess(round.text))
      proposals_.push_back({guess.token, guess.parent});
    return {.origin = "token recycling", .proposals = proposals_, .top = successors_};
  }

  /// Where a token has several rows, the last one counts.
  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    const auto k = static_cast<std::size_t>(successors_);
    for (std::size_t row = 0; row <= outcome.nodes.size(); ++row) {
      const auto top = outcome.top.subspan(row * k, k);
      if (!has_distribution(top.front())) continue;
      likeliest_.clear();
      for (const TopToken& token : top) likeliest_.push_back(token.token);
      rule_.keep(row == 0 ? root_ : outcome.nodes[row - 1].token, likeliest_);
    }
  }

 private:
  speculation::TokenRecycling rule_;
  std::int32_t successors_;
  std::int32_t root_ = -1;
  std::vector<Proposal> proposals_;
  std::vector<std::int32_t> likeliest_;
};

Result<std::unique_ptr<Strategy>> make_token_recycling(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& /*resources*/) {
  return std::make_unique<TokenRecycling>(speculation::recycling_options(specification), shape.vocab);
}

}  // namespace

StrategyMakers engine_of_token_recycling() {
  return {.strategies = {{.name = "token-recycling", .make = make_token_recycling}}};
}

}  // namespace draftscope::engine
