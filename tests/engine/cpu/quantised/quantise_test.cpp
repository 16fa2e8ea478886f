// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "quantised/quantise.h"
#include "random_packed.h"

namespace draftscope::engine::cpu::test {
namespace {

using Weights = std::array<float, block_depth>;

std::vector<const PackedLayout*> made_layouts() {
  std::vector<const PackedLayout*> layouts;
  for (const PackedLayout& layout : packed_layouts)
    if (speculation::makes(speculation::MadeBy::cpu, speculation::weight_format_row(layout.format)))
      layouts.push_back(&layout);
  return layouts;
}

/// Normal weights of any size, some with one large weight, some of one sign.
Weights random_weights(Random& random) {
  std::normal_distribution<float> normal;
  Weights weights{};
  const float size = std::exp2(static_cast<float>(pick(random, -9, 3)));
  const bool positive = chance(random, 0.2);
  for (float& weight : weights) weight = size * (positive ? std::abs(normal(random)) : normal(random));
  if (chance(random, 0.3)) weights[static_cast<std::size_t>(pick(random, 0, 31))] *= 8.0F;
  return weights;
}

double weighted_error(const PackedLayout& layout, const Weights& weights, const Weights& importance,
                      const QuantisedBlock& block) {
  Weights found{};
  dequantise(layout, block, found.data());
  double error = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double missed = static_cast<double>(weights[k]) - static_cast<double>(found[k]);
    error += static_cast<double>(importance[k]) * missed * missed;
  }
  return error;
}

/// Default importance, without knowledge of the columns.
Weights importance_of_size(const PackedLayout& layout, const Weights& weights) {
  Weights importance{};
  for (std::size_t k = 0; k < weights.size(); ++k)
    importance[k] = layout.has_minima ? 1.0F : weights[k] * weights[k];
  return importance;
}

/// The importance of inputs of language models, where a few columns are far above the others.
Weights random_importance(Random& random) {
  std::lognormal_distribution<float> spread(0.0F, 2.0F);
  Weights importance{};
  for (float& value : importance) value = spread(random);
  return importance;
}

TEST(QuantisedBlocks, MissTheWeightsByNoMoreThanThoseOfAbsmax) {
  Random random(29);
  ASSERT_FALSE(made_layouts().empty());
  for (const PackedLayout* layout : made_layouts()) {
    double all = 0.0;
    double plain = 0.0;
    for (int round = 0; round < 300; ++round) {
      const Weights weights = random_weights(random);
      const Weights importance = importance_of_size(*layout, weights);
      const double error =
          weighted_error(*layout, weights, importance, quantise_block(*layout, weights.data(), 32));
      const double of_plain =
          weighted_error(*layout, weights, importance, quantise_plainly(*layout, weights.data(), 32));
      ASSERT_LE(error, of_plain * (1 + 1e-4) + 1e-20);
      all += error / (of_plain + 1e-30);
      plain += 1.0;
    }
    if (layout->format == speculation::WeightFormat::q8_0) continue;
    EXPECT_LT(all, 0.95 * plain) << speculation::weight_format_name(layout->format);
  }
}

TEST(QuantisedBlocks, MissLessWhereItCountsIfTheyAreToldWhere) {
  Random random(41);
  for (const PackedLayout* layout : made_layouts()) {
    double told = 0.0;
    double untold = 0.0;
    for (int round = 0; round < 300; ++round) {
      const Weights weights = random_weights(random);
      const Weights importance = random_importance(random);
      const auto error = [&](const QuantisedBlock& block) {
        return weighted_error(*layout, weights, importance, block);
      };
      const double own = error(quantise_block(*layout, weights.data(), 32, importance.data()));
      const double plain = error(quantise_plainly(*layout, weights.data(), 32));
      ASSERT_LE(own, plain * (1 + 1e-4) + 1e-20);
      told += own / (plain + 1e-30);
      untold += error(quantise_block(*layout, weights.data(), 32)) / (plain + 1e-30);
    }
    if (weighs_columns(*layout))
      EXPECT_LT(told, 0.9 * untold) << speculation::weight_format_name(layout->format);
    else
      EXPECT_EQ(told, untold);
  }
}

TEST(QuantisedBlocks, OfAbsmaxMissNoWeightByMoreThanAStep) {
  Random random(31);
  for (const PackedLayout* layout : made_layouts())
    for (int round = 0; round < 100; ++round) {
      const Weights weights = random_weights(random);
      const QuantisedBlock block = quantise_plainly(*layout, weights.data(), 32);
      Weights found{};
      dequantise(*layout, block, found.data());
      const float step = std::abs(f16_to_float(block.scale));
      for (std::size_t k = 0; k < weights.size(); ++k)
        // The bound is half a step, or a whole step at the end with the shorter range, and the rounding of
        // fp16.
        ASSERT_LE(std::abs(found[k] - weights[k]), 1.03F * step) << k;
    }
}

TEST(QuantisedBlocks, OfZerosAreZeros) {
  const Weights zeros{};
  for (const PackedLayout* layout : made_layouts()) {
    Weights found{};
    dequantise(*layout, quantise_block(*layout, zeros.data(), 7), found.data());
    for (const float value : found) EXPECT_EQ(value, 0.0F);
  }
}

TEST(QuantisedBlocks, OfOtherThanNumbersAreNone) {
  Random random(37);
  for (const PackedLayout* layout : made_layouts())
    for (const float value :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      Weights weights = random_weights(random);
      weights[9] = value;
      EXPECT_TRUE(std::isnan(f16_to_float(quantise_block(*layout, weights.data(), 32).scale)));
    }
}

}  // namespace
}  // namespace draftscope::engine::cpu::test
