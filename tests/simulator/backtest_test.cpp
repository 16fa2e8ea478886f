// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/backtest.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "answers/published/backtest_limits.h"
#include "answers/published/backtest_pass_overhead.h"

namespace draftscope::simulator {
namespace {

const std::vector<PublishedRow>& rows() {
  static const std::vector<PublishedRow> read = [] {
    auto result = published_rows();
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or(std::vector<PublishedRow>());
  }();
  return read;
}

bool all_held(const std::vector<BacktestBound>& bounds) {
  return std::all_of(bounds.begin(), bounds.end(), [](const BacktestBound& bound) { return bound.held(); });
}

constexpr std::string_view header =
    "paper,model,task,method,setting,L,layers_exit_or_skip_ratio,gamma,M_or_tau,alpha,eTPL,expected_speedup,"
    "measured_speedup,source_table\n";

TEST(PublishedTable, HoldsEveryPapersRows) {
  EXPECT_EQ(rows().size(), 808U);
  for (const std::string paper : {"CLaSp", "SWIFT", "DEL", "Draft&Verify", "HF LayerSkip blog"})
    EXPECT_TRUE(std::any_of(rows().begin(), rows().end(), [&](const auto& row) {
      return row.paper == paper;
    })) << paper;
}

TEST(PublishedTable, ReadsDraftsLengthsAndSettings) {
  const auto read = *read_published(std::string(header) +
                                        "P,m,t,LS,\"T=0; tok_s=12.5; ms=4\",32,E=7,6,,,0.064,,1.83,T1\n"
                                        "P,m,t,SWIFT,,40,r=0.45,max=25,4.34,0.99,,1.52,1.37,T2\n"
                                        "P,m,t,DEL,,32,E=dyn,max=18,,,,,,T1\n",
                                    "rows.csv");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].exit_layer, 7);
  EXPECT_EQ(read[0].gamma, 6);
  EXPECT_EQ(read[0].etpl, 0.064);
  EXPECT_EQ(read[0].skip_ratio, std::nullopt);
  EXPECT_EQ(*setting_number(read[0], "tok_s"), 12.5);
  EXPECT_EQ(*setting_number(read[0], "ms"), 4.0);
  EXPECT_EQ(*setting_number(read[0], "s"), std::nullopt) << "whole keys only";
  EXPECT_EQ(read[1].skip_ratio, 0.45);
  EXPECT_EQ(read[1].gamma, std::nullopt) << "a cap is no fixed length";
  EXPECT_EQ(read[2].exit_layer, std::nullopt);
}

TEST(PublishedTable, NamesTheFieldThatIsWrong) {
  const auto error = [](const std::string& line) {
    const auto read = read_published(std::string(header) + line + "\n", "rows.csv");
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error("P,m,t,LS,,32,X=7,6,,,,,,T1"),
            "rows.csv: row 1: column layers_exit_or_skip_ratio: found 'X=7', expected E=layers, E=dyn or "
            "r=skip ratio");
  EXPECT_EQ(error("P,m,t,LS,,32,E=7,max,,,,,,T1"),
            "rows.csv: row 1: column gamma: found 'max', expected a length from 1 or max=length");
  EXPECT_EQ(error("P,m,t,LS,,7,E=8,6,,,,,,T1"),
            "rows.csv: row 1: column L: found '7', expected at least the exit layer");
  for (const std::string line :
       {"P,m,t,LS,,zero,E=7,6,,,,,,T1", "P,m,t,LS,,32,E=,6,,,,,,T1", "P,m,t,LS,,32,E,6,,,,,,T1",
        "P,m,t,LS,,32,r=1.5,6,,,,,,T1", "P,m,t,LS,,32,E=7,0,,,,,,T1", "P,m,t,LS,,32,E=7,max=x,,,,,,T1",
        "P,m,t,LS,,32,E=7,6,x,,,,,T1", "P,m,t"})
    EXPECT_NE(error(line), "") << line;
  EXPECT_FALSE(read_published("", "rows.csv"));
  EXPECT_FALSE(setting_number({.setting = "tok_s=fast"}, "tok_s"));
}

FixedLengthCell cell_with(double h, std::int32_t n_layers, std::int32_t exit_layer, std::int32_t gamma,
                          double alpha) {
  FixedLengthCell cell{.n_layers = n_layers,
                       .exit_layer = exit_layer,
                       .gamma = gamma,
                       .mean_accepted_length = *expected_tokens(alpha, gamma)};
  cell.speedup = *pass_overhead_speedup(cell, h);
  return cell;
}

TEST(PassOverhead, IsLayerCountingAtNone) {
  for (const std::int32_t gamma : {1, 4, 12})
    for (const double alpha : {0.1, 0.6, 0.95}) {
      const FixedLengthCell cell = cell_with(0.0, 32, 7, gamma, alpha);
      EXPECT_NEAR(cell.speedup, *tokens_per_loaded_layer(alpha, gamma, 7, 32) * 32, 1e-12);
      // In general it is accounting with c = (E + h) / (L + h).
      const double h = 1.7;
      EXPECT_NEAR(*pass_overhead_speedup(cell, h), *leviathan_speedup(alpha, gamma, (7 + h) / (32 + h)),
                  1e-12);
    }
}

TEST(PassOverhead, FallsTowardsTokensOverPassesAsItGrows) {
  const FixedLengthCell cell = cell_with(0.0, 32, 7, 6, 0.8);
  double last = cell.speedup;
  for (const double h : {0.5, 1.0, 10.0, 1e3, 1e9}) {
    const double speedup = *pass_overhead_speedup(cell, h);
    EXPECT_LT(speedup, last);
    last = speedup;
  }
  EXPECT_NEAR(last, cell.mean_accepted_length / 7, 1e-6);
}

TEST(PassOverhead, IsFoundAgainFromTheSpeedupsItMade) {
  for (const double h : {0.0, 0.9, 1.5, 2.2, 12.0}) {
    const std::vector<FixedLengthCell> cells{cell_with(h, 32, 7, 6, 0.8), cell_with(h, 32, 3, 6, 0.85),
                                             cell_with(h, 16, 3, 4, 0.7)};
    EXPECT_NEAR(*fit_pass_overhead(cells), h, 1e-6);
    EXPECT_NEAR(*fit_pass_overhead(std::span(cells).first(1)), h, 1e-6);
  }
}

TEST(PassOverhead, FitsBetterThanAnyOtherOnAFineGrid) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0.0, 0.03);
  for (int i = 0; i < 20; ++i) {
    std::vector<FixedLengthCell> cells;
    for (const double alpha : {0.6, 0.7, 0.8, 0.9}) {
      cells.push_back(cell_with(1.5, 32, 7, 6, alpha));
      cells.back().speedup *= std::exp(noise(random));
    }
    const auto loss = [&](double h) {
      double sum = 0.0;
      for (const FixedLengthCell& cell : cells)
        sum += std::pow(std::log(*pass_overhead_speedup(cell, h) / cell.speedup), 2.0);
      return sum;
    };
    const double best = loss(*fit_pass_overhead(cells));
    for (double h = 0.0; h < 6.0; h += 0.01) EXPECT_GE(loss(h), best - 1e-12) << h;
  }
}

TEST(PassOverhead, RefusesWhatItCannotExplain) {
  EXPECT_FALSE(fit_pass_overhead({}));
  FixedLengthCell cell = cell_with(1.0, 32, 7, 6, 0.8);
  cell.speedup = cell.mean_accepted_length / 7;
  EXPECT_FALSE(fit_pass_overhead({&cell, 1})) << "slower than passes of equal length";
  cell = cell_with(1.0, 32, 7, 6, 0.8);
  cell.speedup *= 2.0;
  EXPECT_EQ(*fit_pass_overhead({&cell, 1}), 0.0) << "faster than layer counting: no overhead below none";
  EXPECT_FALSE(pass_overhead_speedup(cell, -1.0));
  cell.exit_layer = 32;
  EXPECT_FALSE(pass_overhead_speedup(cell, 1.0));
}

TEST(BacktestBound, IsHeldAsItIsUnlessItsLimitIsARoundedFigure) {
  BacktestBound bound{.found = 0.0201, .limit = 0.020};
  EXPECT_FALSE(bound.held());
  bound.digit = 0.001;
  for (const auto& [found, held] :
       {std::pair{0.0, true}, std::pair{0.0204, true}, std::pair{0.0206, false}}) {
    bound.found = found;
    EXPECT_EQ(bound.held(), held) << found;
    EXPECT_EQ(bound.held_strictly(), found <= 0.020) << found;
  }
  bound.found = std::nan("");
  EXPECT_FALSE(bound.held());
  const BacktestBound count{.kind = BoundKind::at_least, .found = 23, .limit = 24};
  EXPECT_FALSE(count.held());
}

TEST(Backtest, EveryBoundHoldsOnThePublishedRows) {
  const PublishedBacktests found = *backtest_published(rows());
  for (const Backtest& test : found.tables) {
    EXPECT_FALSE(test.cells.empty()) << test.name;
    for (const BacktestBound& bound : test.bounds)
      EXPECT_TRUE(bound.held()) << test.name << ' ' << bound.quantity << ' ' << bound.found;
  }
  EXPECT_TRUE(all_held(found.orderings.bounds));
  EXPECT_EQ(found.bounds().size(), 14U);
}

TEST(Backtest, EveryLimitSaysWhenItWasSetAndOnWhat) {
  const PublishedBacktests found = *backtest_published(rows());
  std::set<std::string> names{"orderings"};
  for (const Backtest& test : found.tables) names.insert(test.name);
  const auto limited = tests_with_limits();
  ASSERT_TRUE(limited) << limited.error().message;
  for (const std::string& name : *limited) EXPECT_TRUE(names.contains(name)) << name;
  for (const BacktestBound& bound : found.bounds()) {
    EXPECT_THAT(bound.date, testing::MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}")) << bound.quantity;
    EXPECT_FALSE(bound.basis.empty()) << bound.quantity;
  }
}

TEST(Backtest, NamesALimitWithoutAFigureAndAFigureWithoutALimit) {
  EXPECT_THAT(limits_of("blog_ratios", {{"cells", 18}}).error().message,
              testing::HasSubstr("blog_ratios has no quantity greatest difference"));
  EXPECT_THAT(limits_of("other_lengths", {{"cells", 16}, {"mean error", 0.1}}).error().message,
              testing::HasSubstr("expected one for each of 2 quantities"));
}

// Across tasks of a model a constant does what the affine model does: only across models its form matters.
TEST(Backtest, AConstantRatioCarriesOverBetweenTasksAsWell) {
  const double affine = error_summary(backtest_across_tasks(rows())->cells).mean_absolute;
  const double constant = error_summary(backtest_constant_ratio(rows())->cells).mean_absolute;
  EXPECT_NEAR(affine, constant, 5e-4);
}

// What the rows say, recomputed by hand for one cell: alpha from M = 0.072 (6·3 + 16), then S at length 3.
TEST(Backtest, PredictsAnotherLengthFromTheAcceptanceOfTheKnownOne) {
  const Backtest lengths = *backtest_other_lengths(rows());
  EXPECT_EQ(lengths.cells.size(), 16U);
  EXPECT_NEAR(error_summary(lengths.cells).mean_absolute, 0.036, 5e-4);
  std::vector<PublishedRow> changed = rows();
  for (PublishedRow& row : changed)
    if (row.source == "DEL Table 3") *row.measured_speedup *= 1.3;
  const Backtest unseen = *backtest_other_lengths(changed);
  for (std::size_t i = 0; i < lengths.cells.size(); ++i)
    EXPECT_EQ(lengths.cells[i].predicted, unseen.cells[i].predicted)
        << "a cell's own speedup is not looked at";
}

// Against the chain walked step by step with random acceptance.
TEST(Backtest, FiniteStateLengthsFollowTheirChain) {
  const Backtest lengths = *backtest_finite_state_lengths(rows());
  EXPECT_EQ(lengths.cells.size(), 24U);
  EXPECT_LT(error_summary(lengths.cells).mean, -0.05) << "acceptance that comes in runs favours FS";
  std::vector<PublishedRow> two;
  PublishedRow row{.paper = "DEL", .model = "m", .task = "a", .method = "LS(E2-g3)", .source = "DEL Table 1"};
  row.n_layers = 8;
  row.exit_layer = 2;
  row.gamma = 3;
  const double alpha = 0.7;
  const double tokens = (1.0 - std::pow(alpha, 4)) / (1.0 - alpha);
  row.etpl = tokens / (3 * 2 + 8);
  row.measured_speedup = 8 * *row.etpl;  // a pass costs its layers alone
  two.push_back(row);
  row.task = "b";
  two.push_back(row);
  row.task = "a";
  row.method = "FS(E2-g3)";
  two.push_back(row);
  std::mt19937 random(3);
  std::bernoulli_distribution accepts(alpha);
  double layers = 0.0;
  double emitted = 0.0;
  int gamma = 3;
  for (int i = 0; i < 400000; ++i) {
    int accepted = 0;
    while (accepted < gamma && accepts(random)) ++accepted;
    emitted += accepted + 1;
    layers += gamma * 2 + 8;
    gamma = accepted == gamma ? gamma + 1 : std::max(gamma - 1, 1);
  }
  const Backtest found = *backtest_finite_state_lengths(two);
  ASSERT_EQ(found.cells.size(), 1U);
  EXPECT_NEAR(found.cells[0].predicted, 8 * emitted / layers, 0.01);
}

TEST(Backtest, OnlyMeanErrorsAreComparedToADigit) {
  for (const BacktestBound& bound : backtest_published(rows())->bounds())
    if (bound.quantity != "mean error") {
      EXPECT_EQ(bound.digit, 0.0) << bound.quantity;
    }
}

// What the pass overhead is for: layer counting is always too optimistic here, by much.
TEST(Backtest, LayerCountingPromisesTooMuchOnEveryCell) {
  const Backtest counted = *backtest_layer_count(rows());
  for (const BacktestCell& cell : counted.cells) EXPECT_GT(cell.relative_error(), 0.0) << cell.model;
  const ErrorSummary summary = error_summary(counted.cells);
  EXPECT_NEAR(summary.mean_absolute, 0.114, 5e-4);
  EXPECT_NEAR(summary.greatest, 0.239, 5e-4);
  EXPECT_EQ(summary.mean, summary.mean_absolute);
}

TEST(Backtest, SwiftsEquationPromisesAboutATwentiethTooMuch) {
  const Backtest measured = *backtest_swift_measured(rows());
  EXPECT_EQ(measured.cells.size(), 21U);
  EXPECT_NEAR(error_summary(measured.cells).mean, 0.052, 5e-4);
}

// A cell's own speedup must not reach its prediction.
TEST(Backtest, PredictsACellWithoutLookingAtIt) {
  const Backtest tasks = *backtest_across_tasks(rows());
  const Backtest models = *backtest_across_models(rows());
  std::vector<PublishedRow> changed = rows();
  const auto row = std::find_if(changed.begin(), changed.end(), [](const PublishedRow& candidate) {
    return candidate.method == "LS(E7-g6)" && candidate.etpl;
  });
  ASSERT_NE(row, changed.end());
  *row->measured_speedup *= 0.95;
  const auto compare = [&](const Backtest& before, const Backtest& after, bool whole_model_unseen) {
    ASSERT_EQ(before.cells.size(), after.cells.size());
    int moved = 0;
    for (std::size_t i = 0; i < before.cells.size(); ++i) {
      const bool unseen =
          before.cells[i].model == row->model && (whole_model_unseen || before.cells[i].task == row->task);
      if (unseen) {
        EXPECT_EQ(before.cells[i].predicted, after.cells[i].predicted);
      }
      moved += before.cells[i].predicted != after.cells[i].predicted ? 1 : 0;
    }
    EXPECT_GT(moved, 0);
  };
  compare(tasks, *backtest_across_tasks(changed), false);
  compare(models, *backtest_across_models(changed), true);
}

TEST(Backtest, MissesItsBoundsOnRowsThatDoNotFit) {
  std::vector<PublishedRow> changed = rows();
  for (PublishedRow& row : changed) {
    if (row.expected_speedup) *row.expected_speedup += 0.02;
    if (row.method == "DEL") *row.measured_speedup *= 0.8;
    if (row.method == "LS(E7-g6)") *row.measured_speedup *= row.task == "XSUM" ? 1.2 : 1.0;
    if (row.paper == "HF LayerSkip blog") *row.measured_speedup += 0.02;
  }
  const PublishedBacktests found = *backtest_published(changed);
  for (const Backtest& test : found.tables) {
    const bool has_limits_on_values =
        std::any_of(test.bounds.begin(), test.bounds.end(),
                    [](const BacktestBound& bound) { return bound.quantity != "cells"; });
    EXPECT_EQ(all_held(test.bounds), !has_limits_on_values) << test.name;
  }
  EXPECT_FALSE(all_held(found.orderings.bounds));
}

TEST(Backtest, MissesItsBoundsWithoutRows) {
  for (const BacktestBound& bound : backtest_published({})->bounds())
    if (bound.kind == BoundKind::at_least) {
      EXPECT_FALSE(bound.held());
    }
}

TEST(Backtest, NamesTheRowThatAFormulaCannotTake) {
  std::vector<PublishedRow> changed = rows();
  for (PublishedRow& row : changed)
    if (row.method == "LS(E9-g6)" && row.etpl) row.exit_layer.reset();
  EXPECT_EQ(backtest_published(changed).error().message.substr(0, 40),
            "DEL Table 1, LLaMA-2-70B, AQuA-RAT, LS(E");
}

}  // namespace
}  // namespace draftscope::simulator
