// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whole decodes through the decode loop, unrecorded, as a user runs them.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/strategy.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::bench {

struct Decoded {
  double seconds_per_token = 0.0;  ///< From the first token to the end.
  std::int64_t rounds = 0;
  std::int64_t emitted = 0;  ///< Tokens emitted by rounds.
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  double round_seconds = 0.0;  ///< Sums over rounds, as in a recording's rows.
  double draft_seconds = 0.0;
  double verify_seconds = 0.0;
  std::vector<std::int32_t> tokens;
};

[[nodiscard]] Decoded decode_once(engine::Backend& backend, const std::string& specification,
                                  std::span<const std::int32_t> prompt, std::int32_t tokens);

}  // namespace draftscope::bench
