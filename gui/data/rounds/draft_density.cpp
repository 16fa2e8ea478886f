// SPDX-License-Identifier: GPL-3.0-or-later
#include "draft_density.h"

#include <algorithm>
#include <cmath>

namespace draftscope::gui {

namespace {

constexpr std::size_t calibration_bins = 10;

/// Adds a round's tokens to a row of counts.
auto adding(const DraftConfidences& drafts) {
  return [&drafts](std::size_t place, std::span<std::uint32_t> row) {
    for (std::size_t token = drafts.first[place]; token < drafts.first[place + 1]; ++token) {
      const float confidence = drafts.confidence[token];
      if (std::isnan(confidence)) continue;
      ++row[static_cast<std::size_t>(drafts.fate[token]) * confidence_bins + confidence_bin(confidence)];
    }
  };
}

}  // namespace

std::size_t confidence_bin(float confidence) {
  constexpr auto bins = static_cast<float>(confidence_bins);
  return std::min(confidence_bins - 1, static_cast<std::size_t>(std::clamp(confidence, 0.0F, 1.0F) * bins));
}

DraftDensity::DraftDensity(const DraftConfidences& drafts)
    : pyramid_(std::tuple_size_v<DensityCounts>, drafts.rounds(), block, adding(drafts)) {}

DensityCounts DraftDensity::count(const DraftConfidences& drafts, std::size_t first, std::size_t last) const {
  DensityCounts counts{};
  pyramid_.add(first, last, counts, adding(drafts));
  return counts;
}

std::vector<CalibrationBin> calibration(const DensityCounts& counts) {
  std::vector<CalibrationBin> all;
  constexpr std::size_t width = confidence_bins / calibration_bins;
  for (std::size_t first = 0; first < confidence_bins; first += width) {
    CalibrationBin sum{.from = static_cast<double>(first) / confidence_bins,
                       .to = static_cast<double>(first + width) / confidence_bins};
    for (std::size_t bin = first; bin < first + width; ++bin) {
      const std::int64_t accepted = count_of(counts, DraftFate::accepted, bin);
      const std::int64_t tested = accepted + count_of(counts, DraftFate::rejected, bin);
      sum.accepted += accepted;
      sum.tested += tested;
      sum.mean_confidence += static_cast<double>(tested) * (static_cast<double>(bin) + 0.5) / confidence_bins;
    }
    if (sum.tested == 0) continue;
    sum.mean_confidence /= static_cast<double>(sum.tested);
    all.push_back(sum);
  }
  return all;
}

}  // namespace draftscope::gui
