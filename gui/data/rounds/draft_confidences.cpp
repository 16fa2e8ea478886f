// SPDX-License-Identifier: GPL-3.0-or-later
#include "draft_confidences.h"

#include <draftscope/traces/text_share.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftscope::gui {

namespace {

constexpr float no_confidence = std::numeric_limits<float>::quiet_NaN();

}  // namespace

double DraftConfidences::acceptance_rate(std::size_t begin, std::size_t end) const {
  const std::uint32_t drafted = first[end] - first[begin];
  if (drafted == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(accepted[end] - accepted[begin]) / drafted;
}

DraftFate fate_of(const traces::DraftToken& token) {
  if (token.accepted) return DraftFate::accepted;
  return token.tested ? DraftFate::rejected : DraftFate::untested;
}

DraftConfidences draft_confidences(const OpenedRecording& opened, std::size_t run_index) {
  DraftConfidences drafts;
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  drafts.first.reserve(rounds.size() + 1);
  drafts.accepted.reserve(rounds.size() + 1);
  std::vector<float> thresholds;
  std::vector<float> exits;
  thresholds.reserve(rounds.size());
  exits.reserve(rounds.size());
  std::uint32_t accepted = 0;
  for (const std::uint32_t round_index : rounds) {
    const traces::Round& round = opened.round(round_index);
    drafts.first.push_back(static_cast<std::uint32_t>(drafts.confidence.size()));
    drafts.accepted.push_back(accepted);
    const std::span<const traces::DraftToken> tokens = opened.draft_tokens(round_index);
    // Tokens after the text's end count as if verification had not reached them.
    const std::int64_t in_text = traces::tokens_of(round).in_text(opened.request_of(round_index).stop);
    std::vector<std::int32_t> depths;
    if (in_text <= round.accepted) depths = traces::token_depths(tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool is_beyond = !depths.empty() && depths[i] >= in_text;
      drafts.confidence.push_back(static_cast<float>(tokens[i].confidence));
      drafts.fate.push_back(is_beyond ? DraftFate::untested : fate_of(tokens[i]));
      accepted += drafts.fate.back() == DraftFate::accepted ? 1 : 0;
    }
    const bool has_threshold = round.threshold >= 0.0;
    thresholds.push_back(has_threshold ? static_cast<float>(round.threshold) : no_confidence);
    drafts.has_threshold = drafts.has_threshold || has_threshold;
    const std::int32_t exit = round.drafted > 0 ? round.exit_layer : 0;
    exits.push_back(exit > 0 ? static_cast<float>(exit) : no_confidence);
    drafts.deepest_exit = std::max(drafts.deepest_exit, exit);
  }
  drafts.threshold = ValuePyramid(std::move(thresholds));
  drafts.exit_layer = ValuePyramid(std::move(exits));
  drafts.first.push_back(static_cast<std::uint32_t>(drafts.confidence.size()));
  drafts.accepted.push_back(accepted);
  return drafts;
}

namespace {

constexpr std::size_t calibration_bins = 10;

/// Returns an adder of a round's tokens to a row of counts.
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

namespace {

constexpr std::size_t acceptance_rounds_per_block = 64;
constexpr std::size_t counts_per_position = 3;

}  // namespace

AcceptanceByPosition::AcceptanceByPosition(const OpenedRecording& opened, std::size_t run_index) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  paths_.reserve(rounds.size());
  std::size_t deepest = 0;
  for (const std::uint32_t round_index : rounds) {
    const traces::Round& round = opened.round(round_index);
    const auto counted = [](std::int64_t tokens) {
      return static_cast<std::uint8_t>(std::clamp<std::int64_t>(tokens, 0, max_positions));
    };
    const traces::RequestStop stop = opened.request_of(round_index).stop;
    const traces::RoundTokens tokens = traces::tokens_of(round);
    paths_.push_back(
        {counted(round.tree_depth), counted(tokens.accepted_in_text(stop)), counted(tokens.in_text(stop))});
    deepest = std::max<std::size_t>(deepest, paths_.back().steps);
  }
  pyramid_ = SumPyramid<std::uint32_t>(
      counts_per_position * deepest, paths_.size(), acceptance_rounds_per_block,
      [this](std::size_t place, std::span<std::uint32_t> row) { add_round(place, row); });
}

void AcceptanceByPosition::add_round(std::size_t place, std::span<std::uint32_t> row) const {
  const Path& path = paths_[place];
  for (std::size_t position = 0; position < path.steps; ++position) {
    ++row[counts_per_position * position];
    row[counts_per_position * position + 1] += position < path.reached ? 1 : 0;
    row[counts_per_position * position + 2] += position < path.accepted ? 1 : 0;
  }
}

std::vector<simulator::PositionAcceptance> AcceptanceByPosition::count(std::size_t first,
                                                                       std::size_t last) const {
  std::vector<std::uint32_t> row(pyramid_.width());
  pyramid_.add(first, last, row,
               [this](std::size_t place, std::span<std::uint32_t> into) { add_round(place, into); });
  std::vector<simulator::PositionAcceptance> counts(row.size() / counts_per_position);
  for (std::size_t position = 0; position < counts.size(); ++position)
    counts[position] = {.drafted = row[counts_per_position * position],
                        .reached = row[counts_per_position * position + 1],
                        .accepted = row[counts_per_position * position + 2]};
  return counts;
}

}  // namespace draftscope::gui
