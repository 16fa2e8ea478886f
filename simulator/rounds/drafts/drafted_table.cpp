// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/drafted_table.h"

#include <draftscope/base/counter_random.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

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

constexpr std::uint64_t seed_of_places = 20261130;

struct Judged {
  double right = 0.0;
  double all = 0.0;

  [[nodiscard]] std::optional<double> share() const {
    return all > 0.0 ? std::optional(right / all) : std::nullopt;
  }
};

/// Whether a token that is right or wrong with share `from` is right with share `to`. `draw` is in [0, 1).
bool is_right_at(bool is_right, double from, double to, double draw) {
  if (is_right) return from <= to || draw * from < to;
  return to > from && draw * (1.0 - from) < to - from;
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

PlaceShares place_shares(std::span<const DraftedPositions> requests) {
  Judged first;
  Judged further;
  Judged all;
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions) {
      if (position.bit == AcceptanceBit::unseen) continue;
      const double right = position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
      for (Judged* const of : {position.depth > 1 ? &further : &first, &all}) {
        of->right += right;
        of->all += 1.0;
      }
    }
  return {first.share(), further.share(), all.share().value_or(0.0)};
}

void put_places(const DraftedPositions& positions, const PlaceShares& shares, const SeenSteps& seen,
                DraftedTable& drafted) {
  ShadowTable& table = drafted.table;
  const std::array<double, 2> asked{shares.first.value_or(shares.all), shares.further.value_or(shares.all)};
  CounterRandom random(seed_of_places, static_cast<std::uint64_t>(table.request_id.value()));
  std::vector<ShadowCell> cells;
  cells.reserve(3 * positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const DraftedPosition& position = positions[i];
    const bool is_seen = position.bit != AcceptanceBit::unseen;
    const double recorded = !is_seen ? shares.all : asked[position.depth > 1 ? 1U : 0U];
    const std::int32_t at = table.first + static_cast<std::int32_t>(i);
    const ShadowCell known = table.cell(at, drafted_layer);
    const ShadowCell target = table.cell(at, drafted_layer + 1);
    const double draw = random.uniform();
    for (const double share : asked) {
      ShadowCell cell = known;
      const bool was_right = known.true_rank == 0;
      const bool is_right = is_right_at(was_right, recorded, share, draw);
      const std::vector<float>& confidences = is_right ? seen.right : seen.wrong;
      if (is_right != was_right) {
        cell.token = is_right ? target.token : -1;
        cell.true_rank = is_right ? 0 : -1;
        if (!confidences.empty()) cell.probability = confidences[random.index(confidences.size())];
      }
      cells.push_back(cell);
    }
    cells.push_back(target);
  }
  table.cells = std::move(cells);
  table.n_layers = drafted_layer + 2;
  table.has_further_layer = true;
}

}  // namespace draftscope::simulator
