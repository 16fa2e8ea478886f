// SPDX-License-Identifier: GPL-3.0-or-later
// Another model drafts, and its K/V has to follow the text. The text is the target's.

#include <gtest/gtest.h>

#include <random>

#include "../backend/counted_drafts.h"
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

TEST(TwoModels, GreedyTextEqualsVanilla) {
  std::mt19937 random(5);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  struct Count final : DecodeListener {
    test::CountedDrafts counts;
    std::vector<bool> shared;
    void on_round(const RoundReport& report) override {
      for (const traces::DraftToken& node : report.draft_tokens)
        if (!shared.empty()) {
          ASSERT_LT(static_cast<std::size_t>(node.token), shared.size());
          ASSERT_TRUE(shared[static_cast<std::size_t>(node.token)]);
        }
      counts.on_round(report);
    }
  };
  for (int trial = 0; trial < 200; ++trial) {
    const ToyBackend::Options target{.vocab = pick(2, 10),
                                     .n_layers = pick(1, 5),
                                     .cache_rows = pick(8, 80),
                                     .max_rows = pick(2, 16),
                                     .seed = static_cast<std::uint32_t>(random()),
                                     .agreement = 0.8};
    ToyBackend::Options draft = target;
    draft.n_layers = 1;
    draft.cache_rows = pick(4, 100);
    draft.max_rows = pick(1, 16);
    // Every other draft has a table of its own height, and tokens that the target does not name so.
    std::vector<bool> shared;
    if (trial % 2 == 1) {
      draft.vocab = std::max(2, target.vocab + pick(-3, 3));
      for (int token = 0; token < std::min(draft.vocab, target.vocab); ++token)
        shared.push_back(pick(0, 9) > 0);
    }
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(1, 8)));
    for (std::int32_t& token : prompt) token = pick(0, target.vocab - 1);
    const std::string specification = "two-model:model=toy,gamma=" + std::to_string(pick(0, 8)) +
                                      ",threshold=0." + std::to_string(pick(0, 6)) +
                                      ",schedule=" + (pick(0, 1) == 0 ? "constant" : "heuristic") +
                                      ",stop=" + (pick(0, 1) == 0 ? "threshold" : "roc");
    const auto text = [&](const std::string& which, Count& count) {
      std::vector<std::int32_t> all;
      ToyBackend backend(target);
      const auto strategy = expect_strategy(which, backend.shape(), toys(draft, shared));
      // Decode twice: a request begins with an empty draft cache.
      for (int request = 0; request < 2; ++request) {
        const auto result =
            expect_decoded(backend, *strategy, {.prompt = prompt, .max_new_tokens = 50}, count);
        all.insert(all.end(), result.tokens.begin(), result.tokens.end());
      }
      return all;
    };
    Count speculative;
    speculative.shared = shared;
    Count plain;
    ASSERT_EQ(text(specification, speculative), text("vanilla", plain)) << trial << ' ' << specification;
    accepted += speculative.counts.accepted;
    rejected += speculative.counts.drafted - speculative.counts.accepted;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(rejected, 500);
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
