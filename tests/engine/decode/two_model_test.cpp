// SPDX-License-Identifier: GPL-3.0-or-later
// Another model drafts: sampled text has the target's law. toy_walk_test.cpp holds greedy and coupled texts.

#include <gtest/gtest.h>

#include "exact_law.h"

namespace draftscope::engine {
namespace {

/// A second toy model as the draft. With the target's seed and few layers it is often right. `shared` says by
/// id which tokens both name; empty = the tables have the same rows.
StrategyResources toys(const ToyBackend::Options& options, const std::vector<bool>& shared = {}) {
  return {[options, shared](const std::string& /*model*/) -> Result<OpenedDraftModel> {
    return OpenedDraftModel(std::make_shared<ToyBackend>(options),
                            shared.empty() ? nullptr : std::make_shared<std::vector<bool>>(shared));
  }};
}

// A row without a token has probability 0 in the draft, however likely its model thinks it.
TEST(TwoModels, SampledTextHasTheTargetsLawWhateverTokensTheyShare) {
  const ToyBackend::Options target{.vocab = 3, .n_layers = 3, .seed = 2, .agreement = 0.3};
  const std::vector<std::int32_t> eos{2};
  for (const auto& [rows, shared] :
       std::vector<std::pair<int, std::vector<bool>>>{{3, {}},
                                                      {5, {true, true, true}},
                                                      {2, {true, true}},
                                                      {4, {false, true, true}},
                                                      {3, {true, false, true}}}) {
    ToyBackend::Options draft = target;
    draft.vocab = rows;
    draft.seed = 9;
    draft.n_layers = 1;
    for (const SamplingOptions& sampling :
         {SamplingOptions{.temperature = 0.9, .top_p = 0.95},
          SamplingOptions{.temperature = 0.7, .top_k = 2, .repetition_penalty = 1.3}}) {
      const Law expected = law_of(target, "vanilla", sampling, eos);
      const StrategyResources resources = toys(draft, shared);
      const Law found = law_of(
          target,
          [&](const speculation::ModelShape& shape) {
            return expect_strategy("two-model:model=toy,gamma=2", shape, resources);
          },
          sampling, eos);
      EXPECT_LT(total_variation(found, expected), 1e-9) << rows;
    }
  }
}

TEST(TwoModels, RefuseWhatCannotDraft) {
  const ToyBackend target({.vocab = 5});
  const auto error = [&](const std::string& specification, const StrategyResources& resources) {
    const auto made = make_strategy(specification, target.shape(), resources);
    return made ? std::string("made") : made.error().message;
  };
  EXPECT_EQ(error("two-model", toys({})),
            "strategy two-model: model is missing, expected a folder, a GGUF file or synthetic:NAME");
  EXPECT_EQ(error("two-model:model=toy", {}),
            "strategy two-model: no second model can be opened here, expected record or generate");
  EXPECT_EQ(error("two-model:model=toy", toys({.vocab = 7})),
            "strategy two-model: toy has a vocabulary of 7, expected the target's 5");
}

}  // namespace
}  // namespace draftscope::engine
