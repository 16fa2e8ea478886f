// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// At which layers each token of a request's text was already the first choice, and its rank at the others:
// the shadow tokens of one request. Memory: 2 bytes a token and layer. Immutable once read.

#include <functional>
#include <span>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct ShadowRanks {
  /// A rank that was not recorded; a recorded one is -1 if it is beyond the ranked, 0 for the first choice.
  static constexpr std::int16_t missing = -2;

  std::vector<std::int32_t> layers;  ///< recorded boundaries, rising; the last is the target, if recorded
  std::vector<std::int16_t> ranks;   ///< [token of the output][layer of `layers`]

  [[nodiscard]] bool empty() const { return layers.empty(); }
  /// Ranks of a token of the output by layer of `layers`; empty if none was recorded for it.
  [[nodiscard]] std::span<const std::int16_t> of_token(std::size_t token_index) const;
};

/// Ranks of Recording::requests[request_index]; empty where the recording has no shadow tokens of it.
/// `should_continue` is asked now and then; false cancels. O(shadow tokens of this request and those before).
/// Errors: unreadable tables; "cancelled".
[[nodiscard]] Result<ShadowRanks> read_shadow_ranks(traces::Reader& reader, const OpenedRecording& opened,
                                                    std::size_t request_index,
                                                    const std::function<bool()>& should_continue);

/// Consecutive layers of one rank, as people read them: "1 to 3".
struct RankedLayers {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int16_t rank = ShadowRanks::missing;
};
/// Groups from the lowest layer up; layers without a rank are left out.
[[nodiscard]] std::vector<RankedLayers> ranked_layers(const ShadowRanks& ranks, std::size_t token_index);

}  // namespace draftscope::gui
