// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_details.h"

#include <draftscope/base/statistics.h>

#include <fmt/format.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

std::vector<DraftedToken> drafted_tokens(const OpenedRecording& opened, const traces::Round& round,
                                         std::uint32_t round_index) {
  std::vector<DraftedToken> tokens;
  for (const traces::DraftToken& token : opened.draft_tokens(round_index)) {
    tokens.push_back(
        {opened.token_text(token.token), token.confidence, token.parent, fate_of(token), std::nullopt});
    if (round.threshold >= 0.0) tokens.back().is_confident = token.confidence >= round.threshold;
  }
  return tokens;
}

}  // namespace

SkippedLayers skipped_layers(const traces::LayerSet& set) {
  SkippedLayers skipped;
  skipped.n_layers = set.n_layers;
  const std::size_t known =
      std::min(8 * set.skipped.size(), 2 * static_cast<std::size_t>(std::max(set.n_layers, 0)));
  for (std::size_t bit = 0; bit < known; ++bit)
    if (((set.skipped[bit / 8] >> (bit % 8)) & 1) != 0)
      (bit % 2 == 0 ? skipped.attention : skipped.mlp).push_back(static_cast<std::int32_t>(bit / 2));
  return skipped;
}

std::string ranges_text(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}–{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string skipped_text(const SkippedLayers& skipped) {
  std::string which;
  if (!skipped.attention.empty()) which = "attention " + ranges_text(skipped.attention);
  if (!skipped.mlp.empty()) which += (which.empty() ? "MLP " : "; MLP ") + ranges_text(skipped.mlp);
  return fmt::format("{} (of {} layers)", which.empty() ? "nothing" : which, skipped.n_layers);
}

std::optional<RoundDetails> round_details(const OpenedRecording& opened, std::uint32_t round_index,
                                          const std::function<bool()>& should_continue) {
  const traces::Round& round = opened.round(round_index);
  RoundDetails details;
  details.round_index = round_index;
  details.run_index = opened.run_of(round_index);
  details.place = opened.place_in_run(round_index);
  details.round = &round;
  details.request = &opened.request_of(round_index);
  details.tokens = drafted_tokens(opened, round, round_index);
  if (round.bonus_token >= 0) details.bonus_text = opened.token_text(round.bonus_token);
  if (const traces::LayerSet* set = opened.layer_set(round_index)) details.skipped = skipped_layers(*set);
  details.parts = part_times(round);

  std::array<std::vector<std::int64_t>, round_parts + 1> times;
  constexpr std::size_t rounds_per_question = 1 << 16;
  const std::vector<std::uint32_t>& rounds = opened.runs()[details.run_index].rounds;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (i % rounds_per_question == 0 && !should_continue()) return std::nullopt;
    const traces::Round& other = opened.round(rounds[i]);
    if (other.verify_rows != round.verify_rows) continue;
    const PartTimes parts = part_times(other);
    for (std::size_t part = 0; part < round_parts; ++part) times[part].push_back(parts[part]);
    times[round_parts].push_back(other.end_ns - other.start_ns);
  }
  details.like_rounds = times[round_parts].size();
  details.rank = 1 + static_cast<std::size_t>(std::count_if(
                         times[round_parts].begin(), times[round_parts].end(),
                         [&](std::int64_t other) { return other > round.end_ns - round.start_ns; }));
  for (std::size_t part = 0; part < round_parts; ++part)
    details.like_medians[part] = lower_median(times[part]);
  details.like_median_ns = lower_median(times[round_parts]);
  return details;
}

}  // namespace draftscope::gui
