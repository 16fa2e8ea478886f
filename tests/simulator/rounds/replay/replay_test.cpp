// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "rounds/replay/known_round.h"
#include "rounds/replay/policy.h"
#include "rounds/replay/shadow_table.h"
#include "toy_model.h"

namespace draftscope::simulator {
namespace {

/// Widths of a wide tree, and of one whose narrowest steps are chains'.
constexpr std::array<speculation::BranchWidth, 2> wide{{{0.5, 3}, {-1.0, 7}}};
constexpr std::array<speculation::BranchWidth, 3> narrow{{{0.7, 1}, {0.3, 2}, {-1.0, 4}}};

/// A policy with any exit, length and threshold, and of trees any widths, which depend on the root's position
/// only.
class ErraticPolicy final : public Policy {
 public:
  ErraticPolicy(unsigned seed, bool has_thresholds, bool has_trees = false)
      : seed_(seed), has_thresholds_(has_thresholds), has_trees_(has_trees) {}
  void plan(const RoundState& state, PlannedRound& plan) override {
    std::minstd_rand random(seed_ + 7919U * static_cast<unsigned>(state.root_position));
    random.discard(3);
    plan.exit = std::uniform_int_distribution(0, state.table->n_layers - 1)(random);
    plan.length = std::uniform_int_distribution(0, 9)(random);
    // These are even millionths; no confidence of the toy equals one.
    if (has_thresholds_) plan.threshold = std::uniform_int_distribution(0, 4)(random) * 0.2;
    if (has_trees_ && random() % 3 != 0)
      plan.widths = random() % 2 == 0 ? std::span<const speculation::BranchWidth>(wide) : narrow;
  }

 private:
  unsigned seed_;
  bool has_thresholds_;
  bool has_trees_;
};

struct Case {
  ToyModel model;
  std::vector<std::int32_t> prompt;
  ReplayConditions conditions;
};

/// A case whose text ends at an end token, the budget or the context, each with a probability of about a
/// third.
Case random_case(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  Case made;
  made.model = {.seed = seed, .n_layers = draw(2, 6), .vocab = draw(3, 60)};
  made.prompt.assign(static_cast<std::size_t>(draw(1, 9)), 1);
  made.conditions = {.max_new_tokens = draw(1, 60), .context_rows = draw(12, 70)};
  if (draw(0, 2) > 0) made.conditions.end_tokens = {0};
  if (draw(0, 2) == 0) made.conditions.verify_rows = draw(2, 20);
  return made;
}

/// Checks a round as a row: its draft tokens make a tree of that size and depth with so many accepted.
void expect_row(const KnownRound& known, const DraftOutcome& outcome) {
  EXPECT_EQ(known.round.drafted, outcome.drafted);
  EXPECT_EQ(known.round.tree_depth, outcome.steps());
  EXPECT_EQ(static_cast<std::int32_t>(known.draft_tokens.size()), outcome.drafted);
  std::int32_t index = 0;
  std::int32_t accepted = 0;
  for (const traces::DraftToken& token : known.draft_tokens) {
    const auto parent = static_cast<std::size_t>(token.parent);
    EXPECT_EQ(token.index, index++);
    EXPECT_LT(token.parent, token.index);
    EXPECT_EQ(token.tested, token.parent < 0 || known.draft_tokens[parent].accepted);
    EXPECT_TRUE(token.tested || !token.accepted);
    accepted += token.accepted ? 1 : 0;
  }
  EXPECT_EQ(accepted, outcome.accepted);
  EXPECT_EQ(traces::tree_depth(known.draft_tokens), outcome.steps());
}

/// Whether the last accepted token was not the first of its step.
bool accepts_sibling(const ShadowTable& table, const ReplayedRound& round) {
  const std::int32_t last = round.root_position + round.least.accepted;
  return round.least.accepted > 0 && last < table.end() && table.cell(last, round.plan.exit).true_rank > 0;
}

TEST(Replay, IsWhatDecodingStepByStepDoes) {
  std::int64_t bounded = 0;
  std::int64_t exact = 0;
  std::int64_t accepted_siblings = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    Case made = random_case(seed);
    const bool has_trees = seed % 4 >= 2;
    // A step keeps as many tokens as its width says, which takes as large a vocabulary.
    if (has_trees) made.model.vocab = std::max(made.model.vocab, wide.back().width + 1);
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions, seed % 2 == 0);
    if (table.end() < table.first) continue;  // The prefill ended it.
    ErraticPolicy policy(seed, seed % 3 == 0, has_trees);
    const ToyDecoding decoded = decode(made.model, made.prompt, policy, made.conditions);
    ASSERT_EQ(decoded.text, table.text) << "seed " << seed;
    const auto replayed = replay_rounds(table, policy, made.conditions);
    ASSERT_EQ(replayed.size(), decoded.rounds.size()) << "seed " << seed;
    for (std::size_t i = 0; i < replayed.size(); ++i) {
      const ReplayedRound& round = replayed[i];
      const ToyRound& real = decoded.rounds[i];
      ASSERT_EQ(round.root_position, real.root_position) << "seed " << seed;
      EXPECT_EQ(round.emitted, real.emitted) << "seed " << seed;
      EXPECT_LE(real.outcome.drafted, round.most.drafted) << "seed " << seed << " round " << i;
      if (round.least.accepted == round.most.accepted) {
        EXPECT_EQ(round.least.accepted, real.outcome.accepted) << "seed " << seed;
      }
      accepted_siblings += real.outcome.siblings > 0 && accepts_sibling(table, round) ? 1 : 0;
      EXPECT_NE(round.status, AnswerStatus::approximate);
      bounded += round.status == AnswerStatus::bounded ? 1 : 0;
      // Such a draft may have stopped at an end token that the text does not have.
      if (round.may_end_early && real.outcome.drafted < round.least.drafted) continue;
      EXPECT_GE(real.outcome.drafted, round.least.drafted) << "seed " << seed << " round " << i;
      if (round.status == AnswerStatus::exact) {
        EXPECT_EQ(round.least, real.outcome) << "seed " << seed;
        expect_row(known_round(table, made.conditions, round, static_cast<std::int32_t>(i)), real.outcome);
        ++exact;
      }
    }
  }
  EXPECT_GT(bounded, 50);
  EXPECT_GT(exact, 500);
  EXPECT_GT(accepted_siblings, 50);
}

TEST(Replay, OfFixedLengthsIsExactWhereNothingEndsTheText) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    Case made = random_case(seed);
    made.conditions.end_tokens.clear();
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions);
    ErraticPolicy policy(seed, false);
    const auto replayed = replay_rounds(table, policy, made.conditions);
    EXPECT_EQ(totals(replayed).status, AnswerStatus::exact);
  }
}

TEST(Replay, EmitsTheTextAndSumsItsRounds) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Case made = random_case(seed);
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions);
    if (table.end() < table.first) continue;
    ErraticPolicy policy(seed, true, seed % 2 == 0);
    const auto rounds = replay_rounds(table, policy, made.conditions);
    const ReplayTotals sum = totals(rounds);
    EXPECT_EQ(sum.least.tokens, table.end() - table.first) << "seed " << seed;
    EXPECT_EQ(sum.most.tokens, sum.least.tokens);
    EXPECT_EQ(sum.least.rounds, static_cast<std::int64_t>(rounds.size()));
    std::int64_t drafted = 0;
    std::int64_t draft_steps = 0;
    std::int64_t context = 0;
    std::int64_t step_context = 0;
    for (const ReplayedRound& round : rounds) {
      drafted += round.most.drafted;
      draft_steps += round.most.steps();
      context += round.root_position;
      for (std::int32_t k = 0; k < round.most.steps(); ++k) step_context += round.root_position + k;
    }
    std::int64_t passes = sum.most.target_steps.passes;
    std::int64_t contexts = sum.most.target_steps.context;
    std::int64_t steps = 0;
    std::int64_t step_contexts = 0;
    for (const DraftStatistics& draft : sum.most.drafts) {
      steps += draft.steps.passes;
      step_contexts += draft.steps.context;
      for (std::size_t rows = 0; rows < draft.verify.size(); ++rows) {
        passes += draft.verify[rows].passes;
        contexts += draft.verify[rows].context;
        if (rows < 2) {
          EXPECT_EQ(draft.verify[rows].passes, 0);
        }
      }
    }
    EXPECT_EQ(sum.most.drafted, drafted);
    EXPECT_EQ(steps, draft_steps);
    EXPECT_EQ(step_contexts, step_context);
    EXPECT_EQ(passes, sum.most.rounds);
    EXPECT_EQ(contexts, context);
  }
}

/// Prices under which rows that were only planned take time.
RoundPrices prices_with_planned_rows(std::int32_t n_layers) {
  RoundPrices prices;
  prices.prices = {.target_step = {1000.0, 1.0}, .drafts = {}, .round_ns = 50.0, .step_round_ns = 20.0};
  prices.prices.drafts.resize(static_cast<std::size_t>(n_layers));
  for (std::size_t exit = 1; exit < prices.prices.drafts.size(); ++exit) {
    DraftPrices& draft = prices.prices.drafts[exit];
    draft = {.step = {100.0 * static_cast<double>(exit), 0.1}, .start_ns = 7.0, .planned_ns = {300.0, 500.0}};
    for (int rows = 0; rows < 128; ++rows) draft.verify.push_back({1000.0 + 20.0 * rows, 1.0});
  }
  return prices;
}

TEST(Replay, OneByOneRoundsTakeTheTimeOfTheirTotals) {
  std::int64_t planned_beyond = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const Case made = random_case(seed);
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions);
    if (table.end() < table.first) continue;
    const RoundPrices prices = prices_with_planned_rows(made.model.n_layers);
    ErraticPolicy policy(seed, true, seed % 2 == 0);
    const auto rounds = replay_rounds(table, policy, made.conditions);
    double sum_ns = 0.0;
    for (const ReplayedRound& round : rounds) {
      const RoundTimes times = round_times(known_round(table, made.conditions, round, 0), prices);
      sum_ns += times.control_ns + times.draft_ns + times.verify_ns + times.accept_ns + times.optimise_ns;
    }
    const RoundStatistics statistics = totals(rounds).least;
    EXPECT_NEAR(time_ns(statistics, prices.prices), sum_ns, 1e-9 * sum_ns) << "seed " << seed;
    for (const DraftStatistics& draft : statistics.drafts) planned_beyond += draft.planned_beyond[0];
  }
  EXPECT_GT(planned_beyond, 100);
}

TEST(Replay, PlansAsManyRowsAsItsRoundSaysAsARow) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Case made = random_case(seed);
    made.conditions.context_rows = 200;
    made.conditions.verify_rows = 200;
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions);
    if (table.end() < table.first) continue;
    ErraticPolicy policy(seed, true, seed % 2 == 0);
    const auto rounds = replay_rounds(table, policy, made.conditions);
    for (const ReplayedRound& round : rounds) {
      traces::Round row = known_round(table, made.conditions, round, 0).round;
      row.layer_set_id = traces::LayerSetId{1};
      const std::int32_t planned =
          planned_rows(row, rounds.front().root_position, made.conditions.max_new_tokens);
      EXPECT_EQ(planned, round.least.siblings > 0 ? row.verify_rows : round.planned_rows) << "seed " << seed;
      row.layer_set_id = {};
      EXPECT_EQ(planned_rows(row, rounds.front().root_position, made.conditions.max_new_tokens),
                row.verify_rows);
    }
  }
}

/// Number of rounds for every fixed exit with every fixed length from `first` to 11; the lengths of an exit
/// are adjacent.
std::vector<std::int64_t> rounds_of_each(const ShadowTable& table, std::int32_t first,
                                         const ReplayConditions& conditions) {
  std::vector<std::int64_t> rounds;
  for (std::int32_t exit = 1; exit < table.n_layers; ++exit)
    for (std::int32_t length = first; length < 12; ++length) {
      std::vector<std::unique_ptr<Policy>> parts;
      parts.push_back(std::make_unique<FixedExit>(exit));
      parts.push_back(std::make_unique<LengthPolicy>(speculation::FixedLength(length)));
      MixedPolicy policy(std::move(parts));
      const RoundStatistics least = totals(replay_rounds(table, policy, conditions)).least;
      if (length == 0) {
        EXPECT_EQ(least.rounds, least.target_steps.passes) << "without drafts every round is a step";
      }
      rounds.push_back(least.rounds);
    }
  return rounds;
}

TEST(Replay, NeedsNoMoreRoundsForLongerDrafts) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Case made = random_case(seed);
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions);
    if (table.end() < table.first) continue;
    const std::vector<std::int64_t> rounds = rounds_of_each(table, 0, made.conditions);
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      if (i % 12 == 0)
        EXPECT_EQ(rounds[i], rounds[0]) << "without drafts every exit has the same rounds";
      else
        EXPECT_LE(rounds[i], rounds[i - 1]) << "seed " << seed;
    }
  }
}

TEST(NearTies, BoundTheRoundsOfEveryWayTheyCouldFall) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Case made = random_case(seed);
    const ShadowTable table = shadow_table(made.model, made.prompt, made.conditions);
    if (table.end() < table.first) continue;
    constexpr float epsilon = 0.2F;
    const auto risky = near_ties(table, epsilon);
    ShadowTable some = table;  // This is one of several possible outcomes.
    std::mt19937 random(seed);
    for (const std::int32_t position : risky) {
      const bool accepts = random() % 2 == 0;
      for (std::int32_t layer = 1; layer < table.n_layers; ++layer) {
        ShadowCell& cell = some.cells[static_cast<std::size_t>(position - table.first) *
                                          static_cast<std::size_t>(table.n_layers) +
                                      static_cast<std::size_t>(layer - 1)];
        cell.true_rank = accepts ? 0 : 1;
        cell.token = accepts ? table.text[static_cast<std::size_t>(position)] : -1;
      }
    }
    const auto rounds_where = [&](TieOutcome outcome) {
      return rounds_of_each(with_near_ties(table, epsilon, outcome), 1, made.conditions);
    };
    const auto worst = rounds_where(TieOutcome::rejected);
    const auto best = rounds_where(TieOutcome::accepted);
    for (const ShadowTable& one : {table, some}) {
      const auto rounds = rounds_of_each(one, 1, made.conditions);
      for (std::size_t i = 0; i < rounds.size(); ++i) {
        EXPECT_LE(best[i], rounds[i]) << "seed " << seed;
        EXPECT_GE(worst[i], rounds[i]) << "seed " << seed;
      }
    }
  }
}

TEST(NearTies, AreThePositionsBelowTheMargin) {
  ShadowTable table{.n_layers = 2, .prompt_tokens = 1, .first = 2, .text = {5, 6, 7, 8, 9}};
  table.cells = {{7, 0, 0.5F, 1.0F}, {7, 0, 0.5F, 0.5F},   //
                 {1, 4, 0.5F, 0.1F}, {8, 0, 0.5F, 0.01F},  //
                 {9, 0, 0.5F, 0.1F}, {9, 0, 0.5F, 2.0F}};
  EXPECT_EQ(near_ties(table, 0.02F), (std::vector<std::int32_t>{3}));
  EXPECT_EQ(near_ties(table, 0.0F), std::vector<std::int32_t>{});
  EXPECT_EQ(run_lengths(table, 1), (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(run_lengths(with_near_ties(table, 0.02F, TieOutcome::accepted), 1),
            (std::vector<std::int32_t>{3, 2, 1}));
  EXPECT_EQ(run_lengths(with_near_ties(table, 3.0F, TieOutcome::rejected), 1),
            (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_EQ(with_near_ties(table, 0.02F, TieOutcome::rejected).cell(3, 1).true_rank, -1)
      << "a rejected position has no right sibling";
}

TEST(Replay, SaysWhenAConfidenceIsTooCloseToTheThreshold) {
  ShadowTable table{.n_layers = 2, .prompt_tokens = 1, .first = 2, .text = {5, 6, 7, 8, 9}};
  table.cells.assign(6, {0, 0, 0.9F, 1.0F});
  table.cells[0].probability = 0.5F;
  const ReplayConditions conditions{.max_new_tokens = 4, .context_rows = 100};
  for (const auto& [threshold, status] :
       {std::pair{0.5, AnswerStatus::approximate}, std::pair{0.500001, AnswerStatus::approximate},
        std::pair{0.49, AnswerStatus::exact}}) {
    std::vector<std::unique_ptr<Policy>> parts;
    parts.push_back(std::make_unique<FixedExit>(1));
    parts.push_back(std::make_unique<LengthPolicy>(speculation::FixedLength(4)));
    parts.push_back(std::make_unique<ThresholdPolicy>(speculation::FixedThreshold(threshold)));
    MixedPolicy policy(std::move(parts));
    EXPECT_EQ(totals(replay_rounds(table, policy, conditions)).status, status) << threshold;
  }
}

TEST(Replay, OfAPolicyThatHeardSomethingUncertainIsApproximate) {
  // The first draft token is wrong and confident, so the number of tokens after the next is unknown, and so
  // is the threshold.
  ShadowTable table{.n_layers = 2, .prompt_tokens = 1, .first = 2, .text = {5, 6, 7, 8, 9, 10}};
  table.cells.assign(8, {0, 1, 0.9F, 1.0F});
  const ReplayConditions conditions{.max_new_tokens = 5, .context_rows = 100};
  std::vector<std::unique_ptr<Policy>> parts;
  parts.push_back(std::make_unique<FixedExit>(1));
  parts.push_back(std::make_unique<LengthPolicy>(speculation::FixedLength(4)));
  parts.push_back(std::make_unique<ThresholdPolicy>(speculation::AdaptiveThreshold({})));
  MixedPolicy policy(std::move(parts));
  const auto rounds = replay_rounds(table, policy, conditions);
  ASSERT_EQ(rounds.size(), 4U);
  EXPECT_EQ(rounds[0].status, AnswerStatus::bounded);
  EXPECT_EQ(rounds[0].least, (DraftOutcome{2, 0}));
  EXPECT_EQ(rounds[0].most, (DraftOutcome{3, 0}));
  EXPECT_EQ(rounds[1].status, AnswerStatus::approximate);
}

}  // namespace
}  // namespace draftscope::simulator
