// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt lookup (rule.h) as a strategy: its guesses become a chain of proposals.
#include <algorithm>

#include "strategies/engine.h"
#include "strategies/prompt-lookup/rule.h"

namespace draftscope::engine {

namespace {

class PromptLookup final : public Strategy {
 public:
  PromptLookup(const speculation::LookupOptions& options, const speculation::ModelShape& shape)
      : lookup_(options, shape.vocab), context_(static_cast<std::size_t>(shape.max_positions)) {
    proposals_.reserve(static_cast<std::size_t>(options.length));
  }

  void begin_request(const RequestView& request) override {
    const std::size_t tokens = std::max(
        request.prompt.size(),
        std::min(context_, request.prompt.size() + static_cast<std::size_t>(request.max_new_tokens)));
    lookup_.begin_request(tokens, request.eos_tokens);
    lookup_.extend(request.prompt);
  }

  RoundPlan plan(const RoundView& round) override {
    proposals_.clear();
    for (const std::int32_t token : lookup_.guess(round.text))
      proposals_.push_back({token, static_cast<std::int32_t>(proposals_.size()) - 1});
    return {.origin = "prompt lookup", .proposals = proposals_};
  }

 private:
  speculation::PromptLookup lookup_;
  std::size_t context_;
  std::vector<Proposal> proposals_;
};

Result<std::unique_ptr<Strategy>> make_prompt_lookup(const speculation::StrategySpecification& specification,
                                                     const speculation::ModelShape& shape,
                                                     const StrategyResources& /*resources*/) {
  return std::make_unique<PromptLookup>(speculation::lookup_options(specification), shape);
}

}  // namespace

StrategyMakers engine_of_prompt_lookup() {
  return {.strategies = {{.name = "prompt-lookup", .make = make_prompt_lookup}}};
}

}  // namespace draftscope::engine
