// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/drafted_positions.h"

#include <algorithm>
#include <span>

namespace draftscope::simulator {

namespace {

using traces::DraftToken;

/// The tokens that extend `parent`: the first, and the accepted one if there is any.
struct Siblings {
  const DraftToken* first = nullptr;
  const DraftToken* accepted = nullptr;
  std::int32_t width = 0;
  std::int32_t rank = -1;  ///< Rank of the accepted token.
};

Siblings siblings_behind(std::span<const DraftToken> tokens, std::int32_t parent) {
  Siblings siblings;
  for (const DraftToken& token : tokens) {
    if (token.parent != parent) continue;
    if (siblings.first == nullptr) siblings.first = &token;
    if (token.accepted && siblings.accepted == nullptr) {
      siblings.accepted = &token;
      siblings.rank = siblings.width;
    }
    ++siblings.width;
  }
  return siblings;
}

void add_from_tokens(const traces::Round& round, std::span<const DraftToken> tokens,
                     DraftedPositions& positions) {
  std::int32_t parent = -1;
  for (std::int32_t depth = 0; depth <= round.accepted; ++depth) {
    const Siblings siblings = siblings_behind(tokens, parent);
    DraftedPosition& position = positions.emplace_back();
    if (siblings.first == nullptr) return;
    position.bit = siblings.first == siblings.accepted ? AcceptanceBit::accepted : AcceptanceBit::rejected;
    // The best of all tokens has a probability above 0, so 0 means that the file has none.
    if (siblings.first->confidence > 0.0) position.confidence = siblings.first->confidence;
    position.width = siblings.width;
    position.depth = depth + 1;
    position.rank = siblings.rank;
    if (siblings.accepted == nullptr) return;
    parent = siblings.accepted->index;
  }
}

void add_from_counts(std::int32_t accepted, std::int32_t length, DraftedPositions& positions) {
  for (std::int32_t depth = 1; depth <= accepted; ++depth)
    positions.push_back({.bit = AcceptanceBit::accepted, .depth = depth});
  if (accepted < length)
    positions.push_back({.bit = AcceptanceBit::rejected, .depth = std::max(accepted, 0) + 1});
  else
    positions.push_back({});
}

}  // namespace

DraftedPositions drafted_positions(const traces::Recording& recording, const RequestRows& rows,
                                   std::optional<std::int32_t> length_of_all) {
  DraftedPositions positions;
  std::size_t emitted = 0;
  for (const traces::Round& round : rows.rounds) {
    const auto tokens = draft_tokens_of(recording, round.id);
    if (!length_of_all && round.drafted > 0 && tokens.size() == static_cast<std::size_t>(round.drafted))
      add_from_tokens(round, tokens, positions);
    else
      add_from_counts(round.accepted, length_of_all.value_or(round.tree_depth), positions);
    // A round that was cut at the end of the text accepted tokens that are not in it.
    emitted += static_cast<std::size_t>(std::max(round.emitted, 0));
    positions.resize(emitted);
  }
  return positions;
}

std::vector<float> confidences_off_text(const traces::Recording& recording, const RunRows& run) {
  std::vector<float> confidences;
  for (const RequestRows& rows : run.requests)
    for (const traces::Round& round : rows.rounds) {
      const auto tokens = draft_tokens_of(recording, round.id);
      const DraftToken* first = siblings_behind(tokens, -1).first;
      for (bool is_on_text = true; first != nullptr; first = siblings_behind(tokens, first->index).first) {
        if (!is_on_text && first->confidence > 0.0)
          confidences.push_back(static_cast<float>(first->confidence));
        is_on_text = is_on_text && first->accepted;
      }
    }
  return confidences;
}

AcceptanceBits bits_at(const DraftedPositions& positions) {
  AcceptanceBits bits(positions.size());
  std::ranges::transform(positions, bits.begin(), &DraftedPosition::bit);
  return bits;
}

void fill_unseen(const DraftedPositions& other, DraftedPositions& positions) {
  const std::size_t both = std::min(other.size(), positions.size());
  for (std::size_t i = 0; i < both; ++i)
    if (positions[i].bit == AcceptanceBit::unseen) positions[i] = other[i];
}

std::span<const traces::DraftToken> draft_tokens_of(const traces::Recording& recording,
                                                    traces::RoundId round_id) {
  struct ByRound {
    bool operator()(const traces::DraftToken& token, traces::RoundId id) const { return token.round_id < id; }
    bool operator()(traces::RoundId id, const traces::DraftToken& token) const { return id < token.round_id; }
  };
  const auto [begin, end] =
      std::equal_range(recording.draft_tokens.begin(), recording.draft_tokens.end(), round_id, ByRound{});
  return {begin, end};
}

}  // namespace draftscope::simulator
