// SPDX-License-Identifier: GPL-3.0-or-later
#include "draft_confidences.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftscope::gui {

double DraftConfidences::acceptance_rate(std::size_t begin, std::size_t end) const {
  const std::uint32_t drafted = first[end] - first[begin];
  if (drafted == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(accepted[end] - accepted[begin]) / drafted;
}

DraftConfidences draft_confidences(const OpenedRecording& opened, std::size_t run) {
  DraftConfidences drafts;
  const std::vector<std::uint32_t>& rounds = opened.runs()[run].rounds;
  drafts.first.reserve(rounds.size() + 1);
  drafts.accepted.reserve(rounds.size() + 1);
  std::uint32_t accepted = 0;
  for (const std::uint32_t index : rounds) {
    const traces::Round& round = opened.round(index);
    drafts.first.push_back(static_cast<std::uint32_t>(drafts.confidence.size()));
    drafts.accepted.push_back(accepted);
    for (const traces::DraftToken& token : opened.draft_tokens(index)) {
      drafts.confidence.push_back(static_cast<float>(token.confidence));
      drafts.fate.push_back(token.accepted ? DraftFate::accepted
                            : token.tested ? DraftFate::rejected
                                           : DraftFate::untested);
      accepted += token.accepted ? 1 : 0;
    }
    drafts.threshold.push_back(static_cast<float>(round.threshold));
    drafts.exit_layer.push_back(round.drafted > 0 ? round.exit_layer : 0);
    drafts.has_threshold = drafts.has_threshold || round.threshold >= 0.0;
    drafts.deepest_exit = std::max(drafts.deepest_exit, drafts.exit_layer.back());
  }
  drafts.first.push_back(static_cast<std::uint32_t>(drafts.confidence.size()));
  drafts.accepted.push_back(accepted);
  return drafts;
}

std::vector<CalibrationBin> calibration(const DraftConfidences& drafts, std::size_t first_round,
                                        std::size_t last_round, int bins) {
  std::vector<CalibrationBin> all(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].from = static_cast<double>(i) / bins;
    all[i].to = static_cast<double>(i + 1) / bins;
  }
  for (std::size_t token = drafts.first[first_round]; token < drafts.first[last_round]; ++token) {
    const double confidence = drafts.confidence[token];
    if (std::isnan(confidence) || drafts.fate[token] == DraftFate::untested) continue;
    const auto place = static_cast<std::size_t>(std::clamp(confidence * bins, 0.0, bins - 1.0));
    ++all[place].tested;
    all[place].accepted += drafts.fate[token] == DraftFate::accepted ? 1 : 0;
    all[place].mean_confidence += confidence;
  }
  std::erase_if(all, [](const CalibrationBin& bin) { return bin.tested == 0; });
  for (CalibrationBin& bin : all) bin.mean_confidence /= static_cast<double>(bin.tested);
  return all;
}

}  // namespace draftscope::gui
