// SPDX-License-Identifier: GPL-3.0-or-later
// Compares levels of detail of rounds and draft tokens with plain computations over all rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "data/rounds/draft_confidences.h"
#include "data/rounds/round_times.h"
#include "data/sum_pyramid.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// A random stretch of this many items, which may be empty, a single item or the whole.
Stretch random_stretch(std::mt19937_64& random, std::size_t items) {
  if (items == 0 || random() % 20 == 0) return {0, items};
  const std::size_t first = random() % items;
  const std::size_t longest = random() % 3 == 0 ? std::min<std::size_t>(items - first, 3) : items - first;
  return {first, first + random() % (longest + 1)};
}

class Sizes : public testing::TestWithParam<std::size_t> {
 protected:
  std::mt19937_64 random_{GetParam() + 7};
};

TEST_P(Sizes, SumsOfRowsAreThoseOfTheItems) {
  constexpr std::size_t width = 3;
  std::vector<std::array<std::uint32_t, width>> items(GetParam());
  for (auto& item : items)
    for (std::uint32_t& number : item) number = static_cast<std::uint32_t>(random_() % 100);
  const auto add_item = [&](std::size_t place, std::span<std::uint32_t> row) {
    for (std::size_t i = 0; i < width; ++i) row[i] += items[place][i];
  };
  for (const std::size_t block : {1U, 5U, 64U}) {
    const SumPyramid<std::uint32_t> pyramid(width, items.size(), block, add_item);
    for (int trial = 0; trial < 100; ++trial) {
      const Stretch stretch = random_stretch(random_, items.size());
      std::array<std::uint32_t, width> expected{};
      for (std::size_t place = stretch.first; place < stretch.last; ++place) add_item(place, expected);
      std::array<std::uint32_t, width> sum{};
      pyramid.add(stretch.first, stretch.last, sum, add_item);
      EXPECT_EQ(sum, expected);
    }
  }
}

TEST_P(Sizes, SmallestLargestAndMeanAreThoseOfTheValues) {
  std::vector<float> values(GetParam());
  for (float& value : values)
    value = random_() % 4 == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : static_cast<float>(random_() % 1000) / 1000.0F;
  const ValuePyramid pyramid(values);
  for (int trial = 0; trial < 300; ++trial) {
    const Stretch stretch = random_stretch(random_, values.size());
    std::vector<float> within(values.begin() + static_cast<std::ptrdiff_t>(stretch.first),
                              values.begin() + static_cast<std::ptrdiff_t>(stretch.last));
    std::erase_if(within, [](float value) { return std::isnan(value); });
    const ValueSummary summary = pyramid.summarise(stretch.first, stretch.last);
    ASSERT_EQ(summary.values, within.size());
    if (within.empty()) continue;
    EXPECT_EQ(summary.min, *std::min_element(within.begin(), within.end()));
    EXPECT_EQ(summary.max, *std::max_element(within.begin(), within.end()));
    EXPECT_NEAR(summary.mean(),
                std::accumulate(within.begin(), within.end(), 0.0) / static_cast<double>(within.size()),
                1e-12);
  }
}

TEST_P(Sizes, RankedDurationsAreWithinTheStatedErrorOfTheSortedOnes) {
  std::vector<std::int64_t> durations(GetParam());
  for (std::int64_t& duration : durations) {
    // Draw durations of every magnitude, from below 1 ns up to years.
    duration = static_cast<std::int64_t>(random_() >> (1 + random_() % 63));
    if (random_() % 10 == 0) duration = -duration;
  }
  const Quantiles quantiles(durations);
  ASSERT_EQ(quantiles.size(), durations.size());
  for (int trial = 0; trial < 300 && !durations.empty(); ++trial) {
    const Stretch stretch = random_stretch(random_, durations.size());
    if (stretch.first == stretch.last) continue;
    std::vector<std::int64_t> sorted(durations.begin() + static_cast<std::ptrdiff_t>(stretch.first),
                                     durations.begin() + static_cast<std::ptrdiff_t>(stretch.last));
    std::sort(sorted.begin(), sorted.end());
    const std::size_t rank = random_() % sorted.size();
    const std::int64_t expected = std::max<std::int64_t>(sorted[rank], 0);
    const std::int64_t ranked = quantiles.ranked_ns(stretch.first, stretch.last, rank);
    EXPECT_LE(std::abs(static_cast<double>(ranked - expected)),
              quantile_error * static_cast<double>(expected));
    if (expected < 128) {
      EXPECT_EQ(ranked, expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Items, Sizes, testing::Values(0, 1, 2, 15, 63, 64, 65, 128, 1000, 4097, 9000));

class Runs : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { open({.seed = GetParam(), .runs = 3, .requests_per_run = 4, .max_rounds = 400}); }

  std::mt19937_64 random_{GetParam()};
};

TEST_P(Runs, CountEveryDraftTokenByItsFateAndItsConfidence) {
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    const DraftConfidences drafts = draft_confidences(*opened_, run);
    const DraftDensity density(drafts);
    for (int trial = 0; trial < 30; ++trial) {
      const Stretch stretch = random_stretch(random_, rounds.size());
      DensityCounts expected{};
      for (std::size_t place = stretch.first; place < stretch.last; ++place)
        for (const traces::DraftToken& token : opened_->draft_tokens(rounds[place])) {
          if (std::isnan(token.confidence)) continue;
          const DraftFate fate = token.accepted ? DraftFate::accepted
                                 : token.tested ? DraftFate::rejected
                                                : DraftFate::untested;
          ++count_of(expected, fate, confidence_bin(static_cast<float>(token.confidence)));
        }
      EXPECT_EQ(density.count(drafts, stretch.first, stretch.last), expected);
    }
  }
}

TEST_P(Runs, CalibrateEveryTestedDraftTokenOnce) {
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const DraftConfidences drafts = draft_confidences(*opened_, run);
    std::array<std::int64_t, 10> tested{};
    std::array<std::int64_t, 10> accepted{};
    std::array<double, 10> confidence{};
    for (const std::uint32_t round : opened_->runs()[run].rounds)
      for (const traces::DraftToken& token : opened_->draft_tokens(round)) {
        if (std::isnan(token.confidence) || !(token.tested || token.accepted)) continue;
        const std::size_t bin = confidence_bin(static_cast<float>(token.confidence)) / 10;
        ++tested[bin];
        accepted[bin] += token.accepted ? 1 : 0;
        confidence[bin] += token.confidence;
      }
    const std::vector<CalibrationBin> bins =
        calibration(DraftDensity(drafts).count(drafts, 0, drafts.rounds()));
    std::size_t filled = 0;
    for (const CalibrationBin& bin : bins) {
      const auto place = static_cast<std::size_t>(std::lround(bin.from * 10));
      EXPECT_EQ(bin.tested, tested[place]);
      EXPECT_EQ(bin.accepted, accepted[place]);
      EXPECT_NEAR(bin.mean_confidence, confidence[place] / static_cast<double>(tested[place]), 0.005 + 1e-6);
      ++filled;
    }
    EXPECT_EQ(filled, std::count_if(tested.begin(), tested.end(), [](std::int64_t n) { return n > 0; }));
  }
}

TEST_P(Runs, SummariseThresholdsAndExitsOfTheRoundsThatHaveThem) {
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    const DraftConfidences drafts = draft_confidences(*opened_, run);
    std::uint32_t thresholds = 0;
    std::uint32_t exits = 0;
    for (const std::uint32_t round : rounds) {
      thresholds += opened_->round(round).threshold >= 0.0 ? 1 : 0;
      exits += opened_->round(round).drafted > 0 && opened_->round(round).exit_layer > 0 ? 1 : 0;
    }
    EXPECT_EQ(drafts.threshold.summarise(0, rounds.size()).values, thresholds);
    EXPECT_EQ(drafts.exit_layer.summarise(0, rounds.size()).values, exits);
    EXPECT_EQ(drafts.has_threshold, thresholds > 0);
  }
}

TEST_P(Runs, HavePercentilesOfSingleRounds) {
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    const RoundTimes times(*opened_, run);
    for (int trial = 0; trial < 20; ++trial) {
      const Stretch stretch = random_stretch(random_, rounds.size());
      if (stretch.first == stretch.last) continue;
      const RoundPercentiles percentiles = times.percentiles(stretch.first, stretch.last);
      std::vector<std::int64_t> durations;
      for (std::size_t place = stretch.first; place < stretch.last; ++place)
        durations.push_back(opened_->round(rounds[place]).end_ns - opened_->round(rounds[place]).start_ns);
      std::sort(durations.begin(), durations.end());
      const auto at = [&](double share) {
        return durations[static_cast<std::size_t>(
            std::llround(share * static_cast<double>(durations.size() - 1)))];
      };
      EXPECT_EQ(percentiles.back().p50_ns, at(0.5));
      EXPECT_EQ(percentiles.back().p95_ns, at(0.95));
      EXPECT_EQ(percentiles.back().p99_ns, at(0.99));
      EXPECT_EQ(percentiles.back().max_ns, durations.back());
      EXPECT_NEAR(percentiles.back().mean_ns,
                  static_cast<double>(std::accumulate(durations.begin(), durations.end(), std::int64_t{0})) /
                      static_cast<double>(durations.size()),
                  1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Runs, testing::Range(1U, 5U));

TEST(RoundTimes, OfManyRoundsHavePercentilesWithinTheStatedError) {
  const traces::TestFolder folder;
  traces::make_sample_file(
      folder / "many.dstrace",
      {.seed = 3, .runs = 2, .requests_per_run = 6, .max_rounds = 4000, .kernels = false});
  const auto opened = OpenedRecording::open(folder / "many.dstrace");
  ASSERT_TRUE(opened) << opened.error().message;
  const std::vector<std::uint32_t>& rounds = (*opened)->runs()[1].rounds;
  ASSERT_GT(rounds.size(), RoundTimes::max_exact);
  const RoundTimes times(**opened, 1);
  std::vector<std::int64_t> draft;
  for (const std::uint32_t round : rounds) draft.push_back((*opened)->round(round).draft_ns);
  std::sort(draft.begin(), draft.end());
  const PartPercentiles percentiles = times.percentiles(0, rounds.size())[0];
  const auto last = static_cast<double>(draft.size() - 1);
  for (const auto& [share, answer] :
       {std::pair(0.5, percentiles.p50_ns), std::pair(0.95, percentiles.p95_ns),
        std::pair(0.99, percentiles.p99_ns), std::pair(1.0, percentiles.max_ns)}) {
    const auto expected = static_cast<double>(draft[static_cast<std::size_t>(std::llround(share * last))]);
    EXPECT_NEAR(static_cast<double>(answer), expected, quantile_error * expected);
  }
}

}  // namespace
}  // namespace draftscope::gui
