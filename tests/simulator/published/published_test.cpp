// SPDX-License-Identifier: GPL-3.0-or-later
#include "published.h"

#include <draftscope/base/csv_table.h>
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <utility>

namespace draftscope::simulator {
namespace {

/// A limit from simulator/data/backtest_limits.csv for a figure of some predictions. A limit that equals the
/// value first found guards against regressions and validates nothing; a new one is written down before its
/// data is looked at.
struct Limit {
  std::string test;      ///< "across_tasks"
  std::string quantity;  ///< "mean error"
  bool is_min = false;   ///< Otherwise the limit is a maximum.
  double limit = 0.0;
  /// 0 = compared without rounding. Otherwise the limit is a figure rounded to this step (0.001 for 2.0 %),
  /// and the found figure is rounded to it before the comparison.
  double digit = 0.0;
  std::string date;   ///< Date on which the limit was written down.
  std::string basis;  ///< Basis: a count, rounding, or the value first found (a regression test).

  /// Whether the limit holds; NaN does not satisfy it.
  [[nodiscard]] bool holds(double found) const {
    const double a = digit == 0.0 ? found : std::round(found / digit);
    const double b = digit == 0.0 ? limit : std::round(limit / digit);
    return is_min ? a >= b : a <= b;
  }
};

std::vector<Limit> dated_limits() {
  const std::string file = DRAFTSCOPE_SOURCE_DIR "/simulator/data/backtest_limits.csv";
  const CsvTable table =
      CsvTable::parse(read_text_file(file, max_settings_bytes).value(), "backtest_limits.csv").value();
  std::vector<Limit> limits;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto text = [&](const char* column) { return table.text(row, column).value(); };
    const auto number = [&](const char* column) { return table.number(row, column).value().value(); };
    limits.push_back({text("test"), text("quantity"), text("kind") == "at_least", number("limit"),
                      number("digit"), text("date"), text("basis")});
  }
  return limits;
}

/// Figures that have a limit, by test and quantity.
std::map<std::pair<std::string, std::string>, double> figures_of(const PublishedRows& rows) {
  const std::map<std::string, Predictions> tests{
      {"swift_expected", swift_predictions(rows, &PublishedRow::expected_speedup)},
      {"across_tasks", across_tasks_predictions(rows)},
      {"across_models", across_models_predictions(rows)},
      {"other_lengths", other_length_predictions(rows)},
      {"finite_state_lengths", finite_state_predictions(rows)},
      {"clasp_tasks", clasp_predictions(rows)},
      {"draft_verify_lengths", draft_verify_predictions(rows)},
      {"blog_ratios", blog_predictions(rows)}};
  std::map<std::pair<std::string, std::string>, double> figures;
  for (const auto& [name, cells] : tests) figures[{name, "cells"}] = static_cast<double>(cells.size());
  for (const std::string name : {"swift_expected", "blog_ratios"})
    figures[{name, "greatest difference"}] = errors_of(tests.at(name)).greatest_difference;
  for (const std::string name : {"across_tasks", "across_models", "clasp_tasks"}) {
    figures[{name, "mean error"}] = errors_of(tests.at(name)).mean_absolute;
    figures[{name, "greatest error"}] = errors_of(tests.at(name)).greatest;
  }
  const std::vector<bool> ordered = orderings(rows);
  figures[{"orderings", "cells"}] = static_cast<double>(ordered.size());
  figures[{"orderings", "DEL, FS, LayerSkip out of order"}] =
      static_cast<double>(std::ranges::count(ordered, false));
  return figures;
}

std::vector<Limit> missed_limits(const PublishedRows& rows) {
  auto figures = figures_of(rows);
  std::vector<Limit> limits = dated_limits();
  std::erase_if(limits, [&](const Limit& limit) {
    return limit.holds(figures[{limit.test, limit.quantity}]);
  });
  return limits;
}

TEST(PublishedTable, HoldsEveryPapersRows) {
  EXPECT_EQ(published_rows().size(), 808U);
  for (const std::string paper : {"CLaSp", "SWIFT", "DEL", "Draft&Verify", "HF LayerSkip blog"})
    EXPECT_TRUE(std::ranges::any_of(published_rows(), [&](const auto& row) { return row.paper == paper; }))
        << paper;
  for (const PublishedRow& row : published_rows()) {
    EXPECT_LE(row.exit_layer.value_or(0), row.n_layers.value_or(1000)) << row.paper << row.setting;
    const double skip_ratio = row.skip_ratio.value_or(0.0);
    EXPECT_TRUE(skip_ratio >= 0.0 && skip_ratio < 1.0) << skip_ratio;
  }
}

TEST(PublishedTable, NamesSettingsByWholeKeys) {
  const PublishedRow row{.setting = "T=0; tok_s=12.5; ms=4"};
  EXPECT_EQ(setting_number(row, "tok_s"), 12.5);
  EXPECT_EQ(setting_number(row, "ms"), 4.0);
  EXPECT_EQ(setting_number(row, "s"), std::nullopt);
}

FixedLengthCell cell_with(double h, std::int32_t n_layers, std::int32_t exit_layer, std::int32_t gamma,
                          double alpha) {
  FixedLengthCell cell{.n_layers = n_layers,
                       .exit_layer = exit_layer,
                       .gamma = gamma,
                       .mean_accepted_length = *expected_tokens(alpha, gamma)};
  cell.speedup = pass_overhead_speedup(cell, h);
  return cell;
}

TEST(PassOverhead, IsLayerCountingAtNone) {
  for (const std::int32_t gamma : {1, 4, 12})
    for (const double alpha : {0.1, 0.6, 0.95}) {
      const FixedLengthCell cell = cell_with(0.0, 32, 7, gamma, alpha);
      EXPECT_NEAR(cell.speedup, *tokens_per_loaded_layer(alpha, gamma, 7, 32) * 32, 1e-12);
      // In general it is the accounting formula with c = (E + h) / (L + h).
      const double h = 1.7;
      EXPECT_NEAR(pass_overhead_speedup(cell, h), *leviathan_speedup(alpha, gamma, (7 + h) / (32 + h)),
                  1e-12);
    }
}

TEST(PassOverhead, IsFoundAgainFromTheSpeedupsItMade) {
  for (const double h : {0.0, 0.9, 1.5, 2.2, 12.0}) {
    const std::vector<FixedLengthCell> cells{cell_with(h, 32, 7, 6, 0.8), cell_with(h, 32, 3, 6, 0.85),
                                             cell_with(h, 16, 3, 4, 0.7)};
    EXPECT_NEAR(fit_pass_overhead(cells), h, 1e-6);
    EXPECT_NEAR(fit_pass_overhead(std::span(cells).first(1)), h, 1e-6);
  }
}

TEST(Backtest, EveryLimitHoldsOnThePublishedRowsAndSaysWhenItWasSetAndOnWhat) {
  const auto figures = figures_of(published_rows());
  const std::vector<Limit> limits = dated_limits();
  EXPECT_EQ(limits.size(), figures.size());
  for (const Limit& limit : limits) {
    const std::string name = limit.test + ", " + limit.quantity;
    const auto found = figures.find({limit.test, limit.quantity});
    ASSERT_NE(found, figures.end()) << name;
    EXPECT_TRUE(limit.holds(found->second)) << name << ' ' << found->second;
    if (limit.quantity == "cells") {
      EXPECT_EQ(found->second, limit.limit) << name;
    }
    EXPECT_THAT(limit.date, testing::MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}")) << name;
    EXPECT_FALSE(limit.basis.empty()) << name;
    EXPECT_EQ(limit.digit != 0.0, limit.quantity == "mean error") << name << " is compared to a digit";
  }
}

TEST(Backtest, MissesItsLimitsOnRowsThatDoNotFit) {
  EXPECT_FALSE(Limit().holds(std::nan("")));
  PublishedRows changed = published_rows();
  for (PublishedRow& row : changed)
    if (row.expected_speedup) *row.expected_speedup += 0.01;
  EXPECT_EQ(missed_limits(changed).size(), 1U);
  for (PublishedRow& row : changed) {
    if (row.method == "DEL") *row.measured_speedup *= 0.8;
    if (row.method == "LS(E7-g6)") *row.measured_speedup *= row.task == "XSUM" ? 1.2 : 1.0;
    if (row.paper == "HF LayerSkip blog") *row.measured_speedup += 0.02;
    if (row.method == "CLaSp" && row.task == "WMT14") *row.measured_speedup *= 1.5;
  }
  std::map<std::string, int> missed;
  for (const Limit& limit : missed_limits(changed)) ++missed[limit.test];
  for (const char* name :
       {"swift_expected", "across_tasks", "across_models", "blog_ratios", "orderings", "clasp_tasks"})
    EXPECT_TRUE(missed.contains(name)) << name;
  EXPECT_EQ(missed_limits({}).size(), 9U) << "every count of cells";
}

// Across tasks of a model a constant is as good as the affine model: its form matters only across models.
TEST(Backtest, AConstantRatioCarriesOverBetweenTasksAsWell) {
  const double affine = errors_of(across_tasks_predictions(published_rows())).mean_absolute;
  const Predictions constant = constant_ratio_predictions(published_rows());
  EXPECT_EQ(constant.size(), 24U);
  EXPECT_NEAR(affine, errors_of(constant).mean_absolute, 5e-4);
}

// This recomputes one cell by hand: alpha from M = 0.072 (6·3 + 16), then S at length 3.
TEST(Backtest, PredictsAnotherLengthFromTheAcceptanceOfTheKnownOne) {
  const Predictions lengths = other_length_predictions(published_rows());
  EXPECT_EQ(lengths.size(), 16U);
  EXPECT_NEAR(errors_of(lengths).mean_absolute, 0.036, 5e-4);
  PublishedRows changed = published_rows();
  for (PublishedRow& row : changed)
    if (row.source == "DEL Table 3") *row.measured_speedup *= 1.3;
  const Predictions unseen = other_length_predictions(changed);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    EXPECT_EQ(lengths[i].predicted, unseen[i].predicted) << "a cell's own speedup is not looked at";
}

// Compares with the chain simulated step by step with random acceptance.
TEST(Backtest, FiniteStateLengthsFollowTheirChain) {
  const Predictions lengths = finite_state_predictions(published_rows());
  EXPECT_EQ(lengths.size(), 24U);
  EXPECT_LT(errors_of(lengths).mean, -0.05) << "acceptance that comes in runs favours FS";
  PublishedRows two;
  PublishedRow row{.paper = "DEL", .model = "m", .task = "a", .method = "LS(E2-g3)", .source = "DEL Table 1"};
  row.n_layers = 8;
  row.exit_layer = 2;
  row.gamma = 3;
  const double alpha = 0.7;
  const double tokens = (1.0 - std::pow(alpha, 4)) / (1.0 - alpha);
  row.etpl = tokens / (3 * 2 + 8);
  row.measured_speedup = 8 * *row.etpl;  // A pass costs only its layers.
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
  const Predictions found = finite_state_predictions(two);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].predicted, 8 * emitted / layers, 0.01);
}

// The law of a round carries a task's τ over where models are large. On 8B the speedups of all tasks are
// within a tenth, and the mean of the others is nearer.
TEST(Backtest, ClaspsRoundsFollowTheirLengthOnLargeModelsAlone) {
  const Predictions law = clasp_predictions(published_rows());
  const Predictions mean = other_clasp_tasks(published_rows());
  const auto error = [](const Predictions& cells, bool is_large) {
    Predictions some;
    std::ranges::copy_if(cells, std::back_inserter(some), [&](const PredictedCell& cell) {
      return cell.model.starts_with("LLaMA-3-70B") == is_large;
    });
    return errors_of(some).mean_absolute;
  };
  EXPECT_NEAR(errors_of(law).mean_absolute, 0.045, 5e-4);
  EXPECT_NEAR(errors_of(mean).mean_absolute, 0.042, 5e-4);
  EXPECT_LT(error(law, true), error(mean, true));
  EXPECT_GT(error(law, false), error(mean, false));
  PublishedRows changed = published_rows();
  const auto row = std::ranges::find_if(changed, [](const PublishedRow& candidate) {
    return candidate.method == "CLaSp" && candidate.mean_accepted_length;
  });
  *row->measured_speedup *= 1.3;
  EXPECT_EQ(clasp_predictions(changed).front().predicted, law.front().predicted)
      << "a cell's own speedup is not looked at";
}

// By hand: M = 1 + 2 · 0.924 = 2.848 gives c = (2.848 / 1.37 − 1) / 2 = 0.539 and a probability of 0.948,
// with which four tokens give 4.510 in 3.158 steps.
TEST(Backtest, DraftAndVerifysFourTokensFollowFromTwo) {
  const Predictions lengths = draft_verify_predictions(published_rows());
  ASSERT_EQ(lengths.size(), 1U);
  EXPECT_NEAR(lengths[0].predicted, 4.510 / 3.158, 1e-3);
  EXPECT_EQ(lengths[0].published, 1.44);
}

// This is the reason for the pass overhead: layer counting is always far too optimistic here.
TEST(Backtest, LayerCountingPromisesTooMuchOnEveryCell) {
  const Predictions counted = layer_count_predictions(published_rows());
  for (const PredictedCell& cell : counted) EXPECT_GT(cell.error(), 0.0) << cell.model;
  const ErrorSummary summary = errors_of(counted);
  EXPECT_NEAR(summary.mean_absolute, 0.114, 5e-4);
  EXPECT_NEAR(summary.greatest, 0.239, 5e-4);
  EXPECT_EQ(summary.mean, summary.mean_absolute);
}

TEST(Backtest, SwiftsEquationPromisesAboutATwentiethTooMuch) {
  const Predictions measured = swift_predictions(published_rows(), &PublishedRow::measured_speedup);
  EXPECT_EQ(measured.size(), 21U);
  EXPECT_NEAR(errors_of(measured).mean, 0.052, 5e-4);
}

// A cell's measured speedup must not influence its prediction.
TEST(Backtest, PredictsACellWithoutLookingAtIt) {
  const Predictions tasks = across_tasks_predictions(published_rows());
  const Predictions models = across_models_predictions(published_rows());
  PublishedRows changed = published_rows();
  const auto row = std::find_if(changed.begin(), changed.end(), [](const PublishedRow& candidate) {
    return candidate.method == "LS(E7-g6)" && candidate.etpl;
  });
  ASSERT_NE(row, changed.end());
  *row->measured_speedup *= 0.95;
  const auto compare = [&](const Predictions& before, const Predictions& after, bool whole_model_unseen) {
    ASSERT_EQ(before.size(), after.size());
    int moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool unseen =
          before[i].model == row->model && (whole_model_unseen || before[i].task == row->task);
      if (unseen) {
        EXPECT_EQ(before[i].predicted, after[i].predicted);
      }
      moved += before[i].predicted != after[i].predicted ? 1 : 0;
    }
    EXPECT_GT(moved, 0);
  };
  compare(tasks, across_tasks_predictions(changed), false);
  compare(models, across_models_predictions(changed), true);
}

}  // namespace
}  // namespace draftscope::simulator
