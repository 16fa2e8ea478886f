// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The shadow tokens of one request: at each recorded layer, the rank of each token of its text. Memory: 2
// bytes per token and layer. Immutable once read.

#include <functional>
#include <span>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct ShadowRanks {
  /// A rank that was not recorded. A recorded rank is 0 for the first choice, and -1 if it is beyond the
  /// ranked.
  static constexpr std::int16_t missing = -2;

  std::vector<std::int32_t> layers;  ///< Recorded boundaries, rising; the last is the target, if recorded.
  std::vector<std::int16_t> ranks;   ///< [token of the output][layer of `layers`]

  [[nodiscard]] bool empty() const { return layers.empty(); }
  /// Ranks of a token of the output by layer of `layers`; empty if none was recorded for it.
  [[nodiscard]] std::span<const std::int16_t> of_token(std::size_t token_index) const;
};

/// Ranks of Recording::requests[request_index]; empty where the recording has no shadow tokens of it.
/// `should_continue` is polled; false cancels. O(shadow tokens of this request and of those before it).
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
