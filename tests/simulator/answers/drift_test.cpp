// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/decode_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>
#include <vector>

namespace draftscope::simulator {
namespace {

int nine_tokens(int /*repeat*/) {
  return 9;
}

/// Runs over the same prompts, with one round per request, whose verification takes half of the time.
class Repeats {
 public:
  explicit Repeats(int prompts) {
    for (int i = 0; i < prompts; ++i) prompts_.push_back({.id = traces::PromptId::from(i + 1)});
  }

  /// A run that takes `ns(repeat)` on each prompt, and writes `tokens(repeat)`.
  template <typename Time>
  void add(bool is_baseline, int repeats, const Time& ns, int (*tokens)(int) = nine_tokens) {
    runs_.push_back({.is_baseline = is_baseline});
    RunRows& rows = rows_.emplace_back(RunRows{&runs_.back(), {}, 0});
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto taken = static_cast<std::int64_t>(std::llround(ns(repeat)));
      rounds_.push_back({.emitted = tokens(repeat), .verify_ns = taken / 2});
      for (const traces::Prompt& prompt : prompts_) {
        requests_.push_back({.repeat = repeat, .start_ns = 0, .first_token_ns = 10, .end_ns = 10 + taken});
        rows.requests.push_back(
            {.request = &requests_.back(), .prompt = &prompt, .rounds = std::span(&rounds_.back(), 1)});
      }
    }
  }

  [[nodiscard]] double drift() const { return drift_between_repeats(rows_).sigma; }
  [[nodiscard]] DecodeTimes times_of_last() const { return decode_times(rows_.back()); }

 private:
  std::vector<traces::Prompt> prompts_;
  std::deque<traces::Run> runs_;
  std::deque<traces::Request> requests_;
  std::deque<traces::Round> rounds_;
  std::vector<RunRows> rows_;
};

TEST(Drift, IsNoneWhereTheMachineOnlyChangesForAllAlike) {
  Repeats repeats(4);
  const auto hour = [](int repeat) { return 1.0 + 0.5 * repeat; };
  repeats.add(true, 3, [&](int repeat) { return 1e9 * hour(repeat); });
  repeats.add(false, 3, [&](int repeat) { return 7e8 * hour(repeat); });
  EXPECT_NEAR(repeats.drift(), 0.0, 1e-8);
}

/// Texts that were sampled differ between repeats, as do those of two runs.
TEST(Drift, IsNoneWhereOnlyTextsDifferInLength) {
  Repeats repeats(4);
  const auto of_vanilla = [](int repeat) { return 10 * (3 - repeat); };
  const auto of_run = [](int repeat) { return 20 + 30 * repeat; };
  const auto vanilla_ns = [&](int repeat) { return 1e7 * of_vanilla(repeat); };
  const auto run_ns = [&](int repeat) { return 7e6 * of_run(repeat); };
  repeats.add(true, 3, vanilla_ns, of_vanilla);
  repeats.add(false, 3, run_ns, of_run);
  EXPECT_NEAR(repeats.drift(), 0.0, 1e-8);
  const DecodeTimes times = repeats.times_of_last();
  EXPECT_NEAR(times.all_ns, 4.0 * run_ns(0), 1.0);
  EXPECT_NEAR(times.verify_ns, 2.0 * run_ns(0), 1.0);
}

TEST(Drift, IsTheSpreadOfTheRatioBetweenRepeats) {
  Repeats repeats(2);
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0.0, 0.1);
  repeats.add(true, 400, [](int) { return 1e9; });
  repeats.add(false, 400, [&](int) { return 7e8 * std::exp(noise(random)); });
  repeats.add(false, 400, [&](int) { return 3e8 * std::exp(noise(random)); });
  EXPECT_NEAR(repeats.drift(), 0.1, 0.01);
}

TEST(Drift, IsUnknownWithoutRepeatsOrVanilla) {
  Repeats once(2);
  once.add(true, 1, [](int) { return 1e9; });
  once.add(false, 1, [](int) { return 5e8; });
  EXPECT_EQ(once.drift(), 0.0);
  Repeats alone(2);
  alone.add(false, 3, [](int repeat) { return 5e8 * (1 + repeat); });
  EXPECT_EQ(alone.drift(), 0.0);
}

TEST(Drift, OfASingleRepeatIsTheErrorOfBothTimesByTheirRequests) {
  const auto id = [](int i) { return traces::RunId::from(i); };
  const std::vector<MeasuredRun> runs{{id(1), 0.03, 12.0}, {id(2), 0.04, 12.0}, {id(3), 0.04, 12.0}};
  const Drift drift = drift_within_repeat(runs, id(1));
  EXPECT_DOUBLE_EQ(drift.sigma, 0.05);
  EXPECT_EQ(drift.freedom, 22.0);
  EXPECT_EQ(drift.repeats, 1.0);
  // One request says nothing of another.
  EXPECT_EQ(drift_within_repeat({{{id(1), 0.03, 12.0}, {id(2), 0.0, 1.0}}}, id(1)).sigma, 0.0);
  EXPECT_EQ(drift_within_repeat({{{id(1), 0.0, 1.0}, {id(2), 0.04, 12.0}}}, id(1)).sigma, 0.0);
}

/// Blocks are slow or fast for all runs, and each run has noise of its own. With two runs, either is the only
/// measure of the other's blocks.
TEST(Drift, CountsTheNoiseOfEachRunOnceForAnyNumberOfRuns) {
  constexpr int blocks = 1000;
  constexpr double noise = 0.1;
  for (const int runs : {2, 3, 6}) {
    std::mt19937 random(static_cast<unsigned>(runs));
    std::normal_distribution<double> normal;
    PassTimes times;
    for (int block = 0; block < blocks; ++block) {
      const double slowness = std::exp(0.3 * normal(random));
      for (int run = 1; run <= runs; ++run)
        times[{.is_vanilla = run == 1, .rows = run}].push_back(
            {.ns = 1e6 * slowness * std::exp(noise * normal(random)),
             .run_id = traces::RunId::from(run),
             .block = block});
    }
    const MeasuredPasses measured =
        measure(times, 1e12, [](const MeasuredPassKind&, double, double) { return CostVector{}; });
    const Drift drift = drift_within_repeat(measured.runs, traces::RunId::from(1));
    const double of_a_run = noise / std::sqrt(static_cast<double>(blocks));
    EXPECT_NEAR(drift.sigma, std::sqrt(2.0) * of_a_run, 0.12 * of_a_run) << runs;
    for (const MeasuredPass& pass : measured.passes)
      EXPECT_NEAR(pass.relative_error, of_a_run, 0.1 * of_a_run) << runs;
  }
}

}  // namespace
}  // namespace draftscope::simulator
