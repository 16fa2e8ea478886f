// SPDX-License-Identifier: GPL-3.0-or-later
// SuffixDecoding (rule.h) as a strategy: its guesses become proposals.
#include <algorithm>

#include "strategies/engine.h"
#include "strategies/suffix-decoding/rule.h"

namespace draftscope::engine {

namespace {

class SuffixDecoding final : public Strategy {
 public:
  SuffixDecoding(const speculation::SuffixOptions& options, const speculation::ModelShape& shape)
      : rule_(options), context_(static_cast<std::size_t>(shape.max_positions)) {
    proposals_.reserve(static_cast<std::size_t>(options.length));
  }

  void begin_request(const RequestView& request) override {
    const std::size_t longest = request.prompt.size() + static_cast<std::size_t>(request.max_new_tokens);
    rule_.begin_request(request.prompt, std::max(request.prompt.size(), std::min(context_, longest)),
                        request.eos_tokens);
  }

  RoundPlan plan(const RoundView& round) override {
    proposals_.clear();
    for (const speculation::TextGuess& guess : rule_.guess(round.text))
      proposals_.push_back({guess.token, guess.parent});
    return {.origin = "suffix decoding", .proposals = proposals_};
  }

  /// Appends the round's tokens. No further plan's text contains the last round's, but later requests search
  /// them.
  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override { rule_.append(outcome.emitted); }

 private:
  speculation::SuffixDecoding rule_;
  std::size_t context_;
  std::vector<Proposal> proposals_;
};

Result<std::unique_ptr<Strategy>> make_suffix_decoding(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& /*resources*/) {
  return std::make_unique<SuffixDecoding>(speculation::suffix_options(specification), shape);
}

}  // namespace

StrategyMakers engine_of_suffix_decoding() {
  return {.strategies = {{.name = "suffix-decoding", .make = make_suffix_decoding}}};
}

}  // namespace draftscope::engine
