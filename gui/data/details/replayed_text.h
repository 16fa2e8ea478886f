// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A request's text as it came: which round brought each token, whether it was drafted and accepted or the
// target's own, when it was there, and what was drafted in vain before it.

#include <cstdint>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

enum class TokenOrigin : std::uint8_t {
  prefill,   ///< the first token, which the prefill predicts
  accepted,  ///< drafted, and the target agreed
  bonus,     ///< the target's own, at the end of a round
};

struct ReplayedToken {
  std::int32_t token = 0;
  std::string text;  ///< its share of the request's text; may be empty (a part of a character)
  TokenOrigin origin = TokenOrigin::bonus;
  std::uint32_t round_index = no_index;  ///< index into Recording::rounds; none for the prefill's
  std::uint32_t draft_index = no_index;  ///< index into Recording::draft_tokens, if it was drafted
  std::int64_t known_ns = 0;             ///< when its round ended, or the prefill
};

/// Draft tokens of a round beyond the accepted ones; stands after the text up to `after`.
struct RejectedDraft {
  std::size_t after = 0;  ///< tokens of the text before it
  std::uint32_t round_index = no_index;
  std::vector<std::uint32_t> drafts;  ///< indices into Recording::draft_tokens
};

struct ReplayedText {
  const traces::Request* request = nullptr;
  std::vector<ReplayedToken> tokens;
  std::vector<RejectedDraft> rejected;  ///< in the order of the rounds
};

/// `request_index` is an index into Recording::requests. Linear in its tokens and drafts.
[[nodiscard]] ReplayedText replayed_text(const OpenedRecording& opened, std::size_t request_index);

}  // namespace draftscope::gui
