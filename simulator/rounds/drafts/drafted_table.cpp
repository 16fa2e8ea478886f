// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/drafted_table.h"

#include <draftscope/base/counter_random.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftscope::simulator {

namespace {

constexpr std::uint64_t seed = 20240301;
constexpr std::uint64_t rank_seed = 20261128;
constexpr std::int32_t no_token = -1;

/// The token ids if the file has them; otherwise zeros, of which only the number matters.
std::vector<std::int32_t> text_of_request(const RequestRows& rows, std::size_t prompt_tokens,
                                          std::size_t end) {
  std::vector<std::int32_t> text = rows.prompt->tokens;
  text.resize(prompt_tokens);
  text.insert(text.end(), rows.request->tokens.begin(), rows.request->tokens.end());
  text.resize(end);
  return text;
}

float drawn_confidence(const std::vector<float>& seen, CounterRandom& random) {
  return seen.empty() ? 1.0F : seen[random.index(seen.size())];
}

ShadowCell drafted_cell(std::int32_t rank, float confidence, std::int32_t token) {
  return {.token = rank == 0 ? token : no_token, .true_rank = rank, .probability = confidence};
}

/// Rank of the right token where `width` tokens were not it: that of a step that kept more; -1 = none had it.
std::int32_t drawn_rank(const SeenSteps& steps, std::int32_t width, CounterRandom& random) {
  const auto found = steps.ranks_beyond.find(width);
  if (found == steps.ranks_beyond.end() || found->second.empty()) return -1;
  return found->second[random.index(found->second.size())];
}

/// Width up to which it is known whether a step at this position keeps the right token.
std::int32_t known_width(const DraftedPosition& seen) {
  if (seen.bit == AcceptanceBit::unseen) return 0;
  if (seen.bit == AcceptanceBit::accepted || seen.rank > 0) return std::numeric_limits<std::int32_t>::max();
  return std::max(seen.width, 1);
}

}  // namespace

SeenSteps seen_steps(std::span<const DraftedPositions> requests) {
  SeenSteps seen;
  std::vector<DraftedPosition> with_siblings;  // Only those whose first token was wrong.
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions) {
      seen.ranks_beyond.try_emplace(position.width);
      if (position.bit == AcceptanceBit::unseen) continue;
      const bool is_right = position.bit == AcceptanceBit::accepted;
      seen.has_siblings = seen.has_siblings || position.width > 1;
      if (!is_right && position.width > 1) with_siblings.push_back(position);
      if (std::isnan(position.confidence)) continue;
      (is_right ? seen.right : seen.wrong).push_back(static_cast<float>(position.confidence));
    }
  for (auto& [width, ranks] : seen.ranks_beyond)
    for (const DraftedPosition& step : with_siblings)
      if (step.width > width && (step.rank < 0 || step.rank >= width)) ranks.push_back(step.rank);
  return seen;
}

DraftedTable drafted_table(const RequestRows& rows, const DraftedPositions& positions,
                           const AcceptanceModel& model, const SeenSteps& steps) {
  DraftedTable drafted;
  ShadowTable& table = drafted.table;
  table.request_id = rows.request->id;
  table.n_layers = drafted_layer + 1;
  table.prompt_tokens = rows.rounds.front().root_position;
  table.first = table.prompt_tokens + 1;
  table.ended_at_eos = rows.request->stop == traces::RequestStop::eos;
  table.ended_at_string = rows.request->stop == traces::RequestStop::stop_string;
  table.text = text_of_request(rows, static_cast<std::size_t>(table.prompt_tokens),
                               static_cast<std::size_t>(table.first) + positions.size());
  const std::vector<double> right = acceptance_at(model, bits_at(positions));
  CounterRandom random(seed, static_cast<std::uint64_t>(rows.request->id.value()));
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const DraftedPosition& seen = positions[i];
    const bool is_drawn = seen.bit == AcceptanceBit::unseen;
    // A number is drawn at each position, so that seen positions do not change the draws of others.
    const bool draws_right = random.uniform() < right[i];
    const bool is_right = is_drawn ? draws_right : seen.bit == AcceptanceBit::accepted;
    const float drawn = drawn_confidence(is_right ? steps.right : steps.wrong, random);
    CounterRandom ranks(rank_seed + i, static_cast<std::uint64_t>(rows.request->id.value()));
    const bool has_rank = is_right || (!is_drawn && seen.rank > 0);
    const std::int32_t known = is_right ? 0 : seen.rank;
    const std::int32_t rank = has_rank ? known : drawn_rank(steps, seen.width, ranks);
    const bool has_confidence = !is_drawn && !std::isnan(seen.confidence);
    const std::int32_t token = table.text[static_cast<std::size_t>(table.first) + i];
    table.cells.push_back(
        drafted_cell(rank, has_confidence ? static_cast<float>(seen.confidence) : drawn, token));
    table.cells.push_back(drafted_cell(0, 1.0F, token));
    drafted.is_drawn.push_back(is_drawn);
    drafted.known_width.push_back(known_width(seen));
  }
  return drafted;
}

}  // namespace draftscope::simulator
