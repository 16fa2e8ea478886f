// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A request's text as it came: for each token its round, its origin and the time when it was known, and the
// rejected drafts before it.

#include <cstdint>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

enum class TokenOrigin : std::uint8_t {
  prefill,   ///< The first token, which the prefill predicts.
  accepted,  ///< A draft token that the target agreed with.
  bonus,     ///< The target's own token at the end of a round.
};

struct ReplayedToken {
  std::int32_t token = 0;
  std::string text;  ///< Part of the request's text; may be empty (a part of a character).
  TokenOrigin origin = TokenOrigin::bonus;
  std::uint32_t round_index = no_index;  ///< Index into Recording::rounds; no_index = from the prefill.
  std::uint32_t draft_index = no_index;  ///< Index into Recording::draft_tokens; no_index = not drafted.
  std::int64_t known_ns = 0;             ///< End of its round, or of the prefill.
};

/// Draft tokens of a round beyond the accepted ones. They stand after the first `after` tokens of the text.
struct RejectedDraft {
  std::size_t after = 0;  ///< Number of text tokens before it.
  std::uint32_t round_index = no_index;
  std::vector<std::uint32_t> drafts;  ///< Indices into Recording::draft_tokens.
};

struct ReplayedText {
  const traces::Request* request = nullptr;
  std::vector<ReplayedToken> tokens;
  std::vector<RejectedDraft> rejected;  ///< In the order of the rounds.
};

/// `request_index` is an index into Recording::requests. Linear in its tokens and drafts.
[[nodiscard]] ReplayedText replayed_text(const OpenedRecording& opened, std::size_t request_index);

}  // namespace draftscope::gui
