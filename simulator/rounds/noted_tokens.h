// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Token lists that strategies note of their rounds, as decisions whose detail is an object of lists
// (traces/SCHEMA.md): what the target said about guesses of `jacobi`, and n-grams of `lookahead`.

#include <draftscope/base/result.h>
#include <draftscope/traces/ids.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

/// Token lists by round and name.
using NotedTokens =
    std::unordered_map<traces::RoundId, std::map<std::string, std::vector<std::int32_t>, std::less<>>>;

/// Reads the decisions of kind `guesses` and `n-grams`. Details that are no such objects are left out.
/// Errors: those of the reader.
[[nodiscard]] Result<NotedTokens> noted_tokens(traces::Reader& reader);

}  // namespace draftscope::simulator
