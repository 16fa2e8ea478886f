// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/acceptance_models.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <tuple>
#include <vector>

#include "advice/learnt.h"

namespace draftscope::simulator {
namespace {

/// All counts that are multiplied with prices.
using Counts = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>;

void add_counts(const RoundStatistics& request, Counts& counts) {
  counts.emplace_back(request.tokens, request.rounds, request.drafted);
  counts.emplace_back(request.accepted, request.target_steps.passes, request.target_steps.context);
  for (const DraftStatistics& draft : request.drafts) {
    counts.emplace_back(draft.exit, draft.steps.passes, draft.steps.context);
    for (const PassCount& verify : draft.verify)
      counts.emplace_back(draft.verify.size(), verify.passes, verify.context);
  }
}

Counts counts_of(const StrategyRounds& rounds) {
  Counts counts;
  for (const RoundStatistics& request : rounds.setting.min_drafted) add_counts(request, counts);
  return counts;
}

std::string setting(std::int32_t exit, std::int32_t gamma) {
  return fmt::format("layerskip:exit={},gamma={}", exit, gamma);
}

/// Counts from a copy that has fitted nothing yet.
Counts fitted_anew(const ShadowedRecording& what, const std::string& strategy) {
  const Learnt learnt(what);
  return counts_of(learnt.what_if().rounds(strategy).value());
}

TEST(FittedAcceptance, FitsEachRunOnceHoweverManyAskAtOnce) {
  FittedAcceptance fitted;
  constexpr std::size_t runs = 3;
  std::array<std::atomic<int>, runs> fits{};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> askers;
  for (int asker = 0; asker < 8; ++asker)
    askers.emplace_back([&] {
      for (std::size_t question = 0; question < 300; ++question) {
        const std::size_t run = question % runs;
        const auto& model = fitted.of(traces::RunId::from(run), [&]() -> std::optional<AcceptanceModel> {
          ++fits[run];
          if (run == 0) return std::nullopt;
          return AcceptanceModel{.acceptance = {0.1 * static_cast<double>(run), 0.0}};
        });
        const bool is_right =
            run == 0 ? !model : model && model->acceptance[0] == 0.1 * static_cast<double>(run);
        if (!is_right) ++wrong;
      }
    });
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(wrong, 0);
  for (const std::atomic<int>& count : fits) EXPECT_EQ(count, 1);
}

TEST(FittedAcceptance, ChangesNoAnswer) {
  const ShadowedRecording what{.with_shadow = false};
  const Learnt learnt(what);
  for (const int pass : {0, 1})  // The first pass fits, the second uses the cache.
    for (const std::int32_t exit : {3, 5})
      for (const std::int32_t gamma : {1, 2, 7, 12}) {
        const auto rounds = learnt.what_if().rounds(setting(exit, gamma));
        ASSERT_TRUE(rounds) << rounds.error().message;
        ASSERT_EQ(rounds->source, RoundSource::modelled);
        EXPECT_EQ(counts_of(*rounds), fitted_anew(what, setting(exit, gamma)))
            << setting(exit, gamma) << ", pass " << pass;
      }
}

TEST(FittedAcceptance, GivesQuestionsFromSeveralThreadsTheSameRounds) {
  const ShadowedRecording what{.with_shadow = false};
  const Learnt learnt(what);
  const Counts expected = fitted_anew(what, setting(3, 6));
  std::array<Counts, 6> found;
  std::vector<std::thread> askers;
  for (Counts& counts : found)
    askers.emplace_back([&] { counts = counts_of(learnt.what_if().rounds(setting(3, 6)).value()); });
  for (std::thread& asker : askers) asker.join();
  for (const Counts& counts : found) EXPECT_EQ(counts, expected);
}

}  // namespace
}  // namespace draftscope::simulator
