// SPDX-License-Identifier: GPL-3.0-or-later
// Checks the K/V of the text after every round, with masks, trees, thresholds and probes that change from
// round to round. States and logits of the root equal, bit for bit, those of a backend that only ever saw the
// text.

#include <gtest/gtest.h>

#include "decoded.h"
#include "kept_decode.h"
#include "small_model.h"
#include "strategies/clasp/engine.h"
#include "strategies/swift/engine.h"

namespace draftscope::engine {
namespace {

/// Decodes and compares after every round. Returns the number of accepted tokens.
std::int32_t decode_and_look(const Checkpoint& checkpoint, Strategy& strategy, const DecodeRequest& request,
                             std::uint64_t seed) {
  const auto used = cpu_backend(checkpoint, 1, 256);
  const auto fresh = cpu_backend(checkpoint, 1, 256);
  KeptDecode kept(request.prompt);
  std::size_t seen = 0;  // rows of the fresh backend
  kept.after_round = [&] {
    // The fresh backend runs each token once, alone and in order. The root is only looked at, and runs later.
    for (; seen + 1 < kept.text.size(); ++seen)
      (void)run_target(*fresh, std::span(kept.text).subspan(seen, 1), static_cast<std::int32_t>(seen));
    const Outputs expected = look_at_root(*fresh, kept.text);
    const Outputs found = look_at_root(*used, kept.text);
    EXPECT_EQ(found.hidden, expected.hidden) << "round " << kept.rounds.size();
    EXPECT_EQ(found.logits, expected.logits) << "round " << kept.rounds.size();
  };
  expect_decoded(*used, strategy, request, kept, seed);
  std::int32_t accepted = 0;
  for (const KeptRound& one : kept.rounds) accepted += one.round.accepted;
  return accepted;
}

/// Plans another mask, length, threshold and tree in every round, layer 0 included, with probes of all kinds
/// between.
class Changing final : public Strategy {
 public:
  Changing(const speculation::ModelShape& shape, std::uint32_t seed) : shape_(shape), random_(seed) {}

  RoundPlan plan(const RoundView& /*round*/) override {
    RoundPlan plan;
    boundaries_ = all_boundaries(shape_);
    if (up_to(4) == 0) {
      mask_ = speculation::SublayerMask::early_exit(shape_.n_layers, up_to(shape_.n_layers));
      if (up_to(1) == 0) plan.verification = Verification::above_exit;
    } else {
      mask_ = random_mask(0.1 + 0.1 * up_to(4));
    }
    plan.mask = &mask_;
    plan.draft_length = up_to(9);
    if (up_to(1) == 0) plan.threshold = 0.1 * up_to(9);
    if (plan.verification == Verification::above_exit) return plan;
    branches_ = {{0.6, 1 + up_to(1)}, {0.3, 1 + up_to(3)}, {-1.0, 1 + up_to(6)}};
    if (up_to(1) == 0) plan.branches = branches_;
    if (up_to(1) == 0) plan.states = boundaries_;
    return plan;
  }
  bool wants_to_optimise() const override { return true; }

  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* /*log*/) override {
    if (up_to(1) == 0) {
      const std::int32_t from = up_to(probe.committed() - 1);
      const std::int32_t window = std::min(1 + up_to(20), probe.committed() - from);
      DRAFTSCOPE_TRY_ASSIGN(const auto score, matchness(probe, random_mask(0.3), view.text, from, window,
                                                        rows_, outputs_, hits_));
      scores += static_cast<std::int32_t>(score.has_value());
    }
    if (up_to(1) == 0) {
      anchor_.resize(static_cast<std::size_t>(shape_.n_layers + 1) *
                     static_cast<std::size_t>(shape_.d_model));
      for (float& value : anchor_) value = 0.1F * static_cast<float>(up_to(20) - 10);
      DRAFTSCOPE_TRY_ASSIGN(const auto layers, clasp_.run({up_to(probe.committed() - 1), anchor_},
                                                          up_to(shape_.n_layers), probe));
      searches += static_cast<std::int32_t>(!layers.empty());
    }
    return {};
  }

  std::int32_t scores = 0;
  std::int32_t searches = 0;

 private:
  std::int32_t up_to(std::int32_t most) {
    return static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(most + 1));
  }
  speculation::SublayerMask random_mask(double skipped) {
    speculation::SublayerMask mask(shape_.n_layers);
    for (std::int32_t layer = 0; layer < shape_.n_layers; ++layer) {
      if (up_to(999) < 1000 * skipped) mask.skip_attention(layer);
      if (up_to(999) < 1000 * skipped) mask.skip_mlp(layer);
    }
    return mask;
  }

  speculation::ModelShape shape_;
  std::mt19937 random_;
  speculation::SublayerMask mask_;
  std::vector<std::int32_t> boundaries_;
  std::vector<speculation::BranchWidth> branches_;
  ClaspSearch clasp_;
  std::vector<float> anchor_;
  std::vector<Row> rows_;
  Outputs outputs_;
  std::string hits_;
};

const SamplingOptions samplings[] = {{}, {.temperature = 0.8}, {.temperature = 0.8, .coupled = true}};

TEST(CacheAfterEveryRound, IsTheTextsUnderPlansAndProbesThatChange) {
  std::mt19937 random(31);
  std::int32_t accepted = 0;
  std::int32_t scores = 0;
  std::int32_t searches = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const Checkpoint checkpoint = random_checkpoint(random);
    const auto prompt = random_tokens(random, 1 + random() % 40, checkpoint.shape.vocab);
    Changing changing(checkpoint.shape, static_cast<std::uint32_t>(random()));
    accepted += decode_and_look(checkpoint, changing,
                                {.prompt = prompt, .max_new_tokens = 200, .sampling = samplings[trial % 3]},
                                random());
    scores += changing.scores;
    searches += changing.searches;
    if (testing::Test::HasFailure()) FAIL() << "trial " << trial;
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(scores, 300);
  EXPECT_GT(searches, 300);
}

}  // namespace
}  // namespace draftscope::engine
