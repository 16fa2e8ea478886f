// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "strategies/conflayers/rule.h"

namespace draftscope::speculation {
namespace {

TEST(ConfidenceSkips, AreThoseOfAnIndependentImplementation) {
  std::ifstream file(DRAFTSCOPE_SOURCE_DIR "/strategies/conflayers/rule_golden.csv");
  std::string line;
  std::getline(file, line);
  int rows = 0;
  int with_some = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string lambda;
    std::string n_layers;
    std::string confidences;
    std::string left_out;
    std::getline(fields, lambda, ',');
    std::getline(fields, n_layers, ',');
    std::getline(fields, confidences, ',');
    std::getline(fields, left_out, ',');
    std::vector<double> values;
    std::istringstream numbers(confidences);
    for (double value = 0.0; numbers >> value;) values.push_back(value);
    std::vector<std::int32_t> expected;
    std::istringstream places(left_out);
    for (std::int32_t place = 0; places >> place;) expected.push_back(place);
    EXPECT_EQ(low_confidences(values, std::stod(lambda), std::stoi(n_layers)), expected) << line;
    ++rows;
    with_some += expected.empty() ? 0 : 1;
  }
  EXPECT_EQ(rows, 40);
  EXPECT_GT(with_some, 20);
}

TEST(ConfidenceSkips, DoNotDependOnTheScaleOfConfidences) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> values(4 + random() % 20);
    for (double& value : values) value = std::uniform_real_distribution<double>(0.0, 1.0)(random);
    std::vector<double> moved;
    moved.reserve(values.size());
    for (const double value : values) moved.push_back(4.0 * value + 2.0);
    const auto n_layers = static_cast<std::int32_t>(values.size()) + 2;
    EXPECT_EQ(low_confidences(values, 0.05, n_layers), low_confidences(moved, 0.05, n_layers)) << trial;
    EXPECT_LE(low_confidences(values, 0.5, n_layers).size(), low_confidences(values, 0.0, n_layers).size());
  }
  EXPECT_TRUE(low_confidences(std::vector<double>{0.5}, 0.0, 3).empty());
  EXPECT_TRUE(low_confidences({}, 0.0, 2).empty());
}

TEST(ConfidenceSkips, AreSureOfOutputsWithOnePeak) {
  EXPECT_NEAR(output_confidence(std::vector<float>(7, 3.5F)), 0.0, 1e-12);
  EXPECT_NEAR(output_confidence(std::vector<float>{90.0F, 0.0F, 0.0F}), 1.0, 1e-12);
  // H of the probabilities 1/4 and 3/4, divided by ln 2.
  const double entropy = -(0.25 * std::log(0.25) + 0.75 * std::log(0.75));
  EXPECT_NEAR(output_confidence(std::vector<float>{0.0F, std::log(3.0F)}), 1.0 - entropy / std::log(2.0),
              1e-7);
  EXPECT_NEAR(output_confidence(std::vector<float>{50.0F, 50.0F + std::log(3.0F)}),
              1.0 - entropy / std::log(2.0), 1e-5);
  EXPECT_FALSE(std::isfinite(output_confidence(std::vector<float>{1.0F, NAN})));
  EXPECT_FALSE(std::isfinite(output_confidence(std::vector<float>{1.0F, INFINITY})));
}

/// Runs equal rounds and returns those after which a search followed.
std::vector<int> searched(ConfidenceSearches& searches, const ConfidenceSearches::Round& round, int rounds,
                          std::int32_t left_out) {
  std::vector<int> found;
  searches.begin_request();
  for (int i = 0; i < rounds; ++i)
    if (searches.follows(round, left_out)) {
      found.push_back(i);
      searches.found(left_out);
    }
  return found;
}

TEST(ConfidenceSearches, EndWithASetThatHardlyFails) {
  ConfidenceSearches searches({.n_layers = 12, .ratio = 0.4, .window = 4, .interval = 3, .max_score = 0.9});
  EXPECT_EQ(searches.least(), 5);
  // Each round accepts 5 of 5 draft tokens: the first set is tried for four rounds, and then the search has
  // ended.
  EXPECT_EQ(searched(searches, {.emitted = 6, .accepted = 5, .steps = 5}, 12, 5), (std::vector<int>{0}));
  EXPECT_TRUE(searches.has_ended());
  EXPECT_TRUE(searched(searches, {.emitted = 6, .accepted = 5, .steps = 5}, 12, 5).empty());
}

TEST(ConfidenceSearches, GoOnAtOnceWhereTooFewLayersAreLeftOut) {
  ConfidenceSearches searches({.n_layers = 12, .ratio = 0.4, .window = 4, .interval = 30});
  EXPECT_EQ(searched(searches, {.emitted = 2, .accepted = 1, .steps = 2}, 5, 2), (std::vector<int>{2, 3, 4}));
  EXPECT_NEAR(searches.lambda(), -3 * 0.05, 1e-12) << "the bar is lowered each time";
  ConfidenceSearches many({.n_layers = 12, .ratio = 0.4, .window = 4, .interval = 30});
  EXPECT_EQ(searched(many, {.emitted = 2, .accepted = 1, .steps = 2}, 5, 8), (std::vector<int>{2}));
  EXPECT_NEAR(many.lambda(), 0.05, 1e-12);
}

TEST(ConfidenceSearches, KnowTheBestSet) {
  ConfidenceSearches searches({.n_layers = 12, .ratio = 0.4, .window = 4, .interval = 1});
  searches.begin_request();
  EXPECT_TRUE(searches.follows({.emitted = 9, .accepted = 1, .steps = 4}, 5));
  searches.found(5);
  std::vector<bool> best;
  for (const std::int32_t accepted : {2, 3, 3, 1, 4}) {
    for (int i = 0; i < 2; ++i)
      if (searches.follows({.emitted = accepted + 1, .accepted = accepted, .steps = 6}, 5)) {
        best.push_back(searches.is_best());
        searches.found(5);
      }
  }
  EXPECT_EQ(best, (std::vector<bool>{true, true, false, false, true}));
}

}  // namespace
}  // namespace draftscope::speculation
