// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/rule_confidences.h"

#include <algorithm>
#include <cmath>

namespace draftscope::speculation {

namespace {

constexpr double curve_half_life = 400.0;     // tokens
constexpr double follower_half_life = 200.0;  // tokens
constexpr double curve_prior = 6.0;           // tokens per confidence
constexpr double follower_prior = 12.0;       // tokens per sureness
constexpr double bits_deviation = 1.0;        // log odds, across models
constexpr double part_deviation = 1.75;       // log odds, across parts of the model
constexpr double text_deviation = 0.75;       // log odds, across texts

/// Share of correct tokens by confidence, for drafts in so many bits. The values lie between those that small
/// models trained in bf16 show, which differ by about bits_deviation. Eight bits without scales per block
/// (fp8) keep no more than five bits with them.
struct BitsCurve {
  double min_bits = 0.0;
  std::array<double, 8> right;
};
constexpr std::array<BitsCurve, 4> curves{{{8.25, {0.95, 0.985, 0.994, 0.998, 0.998, 0.999, 0.999, 0.999}},
                                           {5.0, {0.85, 0.94, 0.98, 0.993, 0.996, 0.998, 0.998, 0.999}},
                                           {4.0, {0.68, 0.84, 0.93, 0.98, 0.99, 0.995, 0.997, 0.998}},
                                           {0.0, {0.5, 0.74, 0.87, 0.95, 0.98, 0.99, 0.993, 0.995}}}};

/// Confidences after a token of low, middle and high confidence, and after any token. They are about the same
/// in all formats and texts.
constexpr std::array<std::array<double, 8>, 4> expected_followers{
    {{0.44, 0.18, 0.13, 0.09, 0.05, 0.04, 0.03, 0.04},
     {0.25, 0.19, 0.15, 0.12, 0.09, 0.07, 0.06, 0.07},
     {0.13, 0.11, 0.12, 0.12, 0.14, 0.13, 0.11, 0.14},
     {0.24, 0.15, 0.13, 0.11, 0.10, 0.09, 0.08, 0.10}}};

double odds_of(double share) {
  return std::log(share / (1.0 - share));
}
double share_of(double odds) {
  return 1.0 / (1.0 + std::exp(-odds));
}

/// Shift of the log odds at all confidences that makes tokens correct as often as was measured.
double shift_to(double acceptance, const std::array<double, DraftConfidences::thresholds.size()>& odds) {
  constexpr int halvings = 40;
  double low = -12.0;
  double high = 12.0;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2.0;
    double right = 0.0;
    for (std::size_t bin = 0; bin < odds.size(); ++bin)
      right += expected_followers.back()[bin] * share_of(odds[bin] + middle);
    (right < acceptance ? low : high) = middle;
  }
  return low;
}

std::size_t bin_of(double confidence) {
  const auto& edges = DraftConfidences::thresholds;
  return static_cast<std::size_t>(std::upper_bound(edges.begin() + 1, edges.end(), confidence) -
                                  edges.begin()) -
         1;
}

constexpr std::array<Sureness, 8> sureness_of_bin{Sureness::low,  Sureness::middle, Sureness::middle,
                                                  Sureness::high, Sureness::high,   Sureness::high,
                                                  Sureness::high, Sureness::high};

}  // namespace

Sureness sureness_of(double confidence) {
  return sureness_of_bin[bin_of(confidence)];
}

DraftConfidences::DraftConfidences(const ExpectedDrafter& expected)
    : counts_(bins, curve_half_life),
      followers_(classes * bins, follower_half_life),
      expected_deviation_(expected.is_measured  ? text_deviation
                          : expected.bits > 0.0 ? bits_deviation
                                                : part_deviation),
      deviation_(expected_deviation_) {
  if (expected.bits > 0.0) {
    const auto* const known = std::find_if(curves.begin(), curves.end() - 1, [&](const BitsCurve& curve) {
      return expected.bits >= curve.min_bits;
    });
    std::transform(known->right.begin(), known->right.end(), expected_.begin(), odds_of);
  } else {
    // Confidences of another part of the model have another meaning, so its curve is centred at the expected
    // acceptance.
    for (std::size_t i = 0; i < bins; ++i)
      expected_[i] = odds_of(expected.acceptance) + (static_cast<double>(i) - 3.0) / 3.0;
  }
  if (!expected.is_measured) return;
  const double shift = shift_to(expected.acceptance, expected_);
  for (double& odds : expected_) odds += shift;
}

void DraftConfidences::add(Sureness before, std::span<const JudgedToken> tokens) {
  for (const JudgedToken& token : tokens) {
    const std::size_t bin = bin_of(token.confidence);
    counts_.fade();
    counts_.add(bin, token.right);
    followers_.fade();
    followers_.add(static_cast<std::size_t>(before) * bins + bin, true);
    before = sureness_of_bin[bin];
  }
  if (!tokens.empty()) move_curve();
}

/// Finds the likeliest shift by Newton's method, starting from the last one.
void DraftConfidences::move_curve() {
  for (int i = 0; i < 4; ++i) {
    const double precision = 1.0 / (expected_deviation_ * expected_deviation_);
    double slope = -shift_ * precision;
    double curvature = precision;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double all = counts_.weight(bin);
      const double share = share_of(expected_[bin] + shift_);
      slope += counts_.right(bin) - all * share;
      curvature += all * share * (1.0 - share);
    }
    shift_ += std::clamp(slope / curvature, -1.0, 1.0);
    deviation_ = 1.0 / std::sqrt(curvature);
  }
}

DraftConfidences::Curve DraftConfidences::curve(double hope) const {
  // Pool adjacent violators.
  struct Block {
    double right = 0.0;
    double weight = 0.0;
    std::size_t size = 0;
  };
  std::array<Block, bins> blocks;
  std::size_t count = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double prior = share_of(expected_[bin] + shift_ + hope * deviation_);
    blocks[count++] = {counts_.share(bin, prior, curve_prior), counts_.weight(bin) + curve_prior, 1};
    while (count > 1 && blocks[count - 1].right < blocks[count - 2].right) {
      Block& below = blocks[count - 2];
      const Block& top = blocks[count - 1];
      below.right = (below.right * below.weight + top.right * top.weight) / (below.weight + top.weight);
      below.weight += top.weight;
      below.size += top.size;
      --count;
    }
  }
  Curve curve;
  std::size_t bin = 0;
  for (std::size_t block = 0; block < count; ++block)
    for (std::size_t end = bin + blocks[block].size; bin < end; ++bin) curve[bin] = blocks[block].right;
  return curve;
}

DraftConfidences::Followers DraftConfidences::next_confidences() const {
  Followers followers;
  for (std::size_t before = 0; before < classes; ++before) {
    double all = follower_prior;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double weight = followers_.weight(before * bins + bin);
      followers[before][bin] = weight + expected_followers[before][bin] * follower_prior;
      all += weight;
    }
    for (double& share : followers[before]) share /= all;
  }
  return followers;
}

DraftConfidences::Steps DraftConfidences::steps_of(const Curve& right, const Followers& followers,
                                                   double threshold) {
  Steps steps;
  for (std::size_t before = 0; before < classes; ++before)
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double share = followers[before][bin];
      Step& step = steps[before];
      step.right += share * right[bin];
      if (thresholds[bin] < threshold) continue;
      const auto to = static_cast<std::size_t>(sureness_of_bin[bin]);
      step.goes_on[to] += share;
      step.right_there[to] += share * right[bin];
    }
  return steps;
}

}  // namespace draftscope::speculation
