// SPDX-License-Identifier: GPL-3.0-or-later
#include "replayed_text.h"

#include <algorithm>
#include <utility>

namespace draftscope::gui {

namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Gives each token its share of the text. Where a token differs from the text that follows (a part of a
/// character, a space that decoding drops), the token before the next match gets the text up to it.
void share_text(const OpenedRecording& opened, std::string_view text, std::vector<ReplayedToken>& tokens) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string own = opened.token_text(tokens[i].token);
    // Some models drop the space of a text's first word.
    if (i == 0 && own.starts_with(' ') && !text.starts_with(' ')) own.erase(0, 1);
    if (!own.empty() && own.find(replacement_character) == std::string::npos) {
      // Up to four tokens make a character; a match further ahead is another word.
      const std::string_view near = text.substr(at, 4 * replacement_character.size() + own.size());
      if (const std::size_t found = near.find(own); found != std::string_view::npos) {
        if (found > 0 && i > 0) tokens[i - 1].text += near.substr(0, found);
        at += found + own.size();
        tokens[i].text = std::move(own);
      }
    }
  }
  if (!tokens.empty() && at < text.size()) tokens.back().text += text.substr(at);
}

}  // namespace

ReplayedText replayed_text(const OpenedRecording& opened, std::size_t request_index) {
  const traces::Recording& recording = opened.recording();
  const traces::Request& request = recording.requests[request_index];
  ReplayedText replayed{.request = &request, .tokens = {}, .rejected = {}};
  replayed.tokens.reserve(request.tokens.size());
  for (const std::int32_t token : request.tokens) replayed.tokens.push_back({.token = token});
  if (!replayed.tokens.empty()) {
    replayed.tokens.front().origin = TokenOrigin::prefill;
    replayed.tokens.front().known_ns = request.first_token_ns;
  }
  // The prefill yields the first token, rounds yield all others.
  std::size_t at = 1;
  const auto first =
      std::partition_point(recording.rounds.begin(), recording.rounds.end(),
                           [&](const traces::Round& round) { return round.request_id < request.id; });
  for (auto round = first; round != recording.rounds.end() && round->request_id == request.id; ++round) {
    const auto round_index = static_cast<std::uint32_t>(round - recording.rounds.begin());
    const std::span<const traces::DraftToken> drafts = opened.draft_tokens(round_index);
    RejectedDraft rejected{.round_index = round_index, .drafts = {}};
    std::vector<std::uint32_t> accepted;
    for (const traces::DraftToken& draft : drafts) {
      const auto draft_index = static_cast<std::uint32_t>(&draft - recording.draft_tokens.data());
      (draft.accepted ? accepted : rejected.drafts).push_back(draft_index);
    }
    const std::size_t start = at;
    for (std::int32_t emitted = 0; emitted < round->emitted && at < replayed.tokens.size(); ++emitted, ++at) {
      ReplayedToken& token = replayed.tokens[at];
      token.round_index = round_index;
      token.known_ns = round->end_ns;
      token.origin = emitted < round->accepted ? TokenOrigin::accepted : TokenOrigin::bonus;
      if (const auto drafted = static_cast<std::size_t>(emitted); drafted < accepted.size())
        token.draft_index = accepted[drafted];
    }
    // Rejected drafts stand after the accepted tokens, before the target's own token.
    rejected.after = std::min(at, start + static_cast<std::size_t>(std::max(round->accepted, 0)));
    if (!rejected.drafts.empty()) replayed.rejected.push_back(std::move(rejected));
  }
  if (opened.has_token_texts())
    share_text(opened, request.text, replayed.tokens);
  else
    for (ReplayedToken& token : replayed.tokens) token.text = opened.token_text(token.token);
  return replayed;
}

}  // namespace draftscope::gui
