// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the writer and the reader of policies must agree on.

#include <array>
#include <cstdint>

namespace draftscope::policy_format {

inline constexpr const char* marker = "draftscope_policy";
inline constexpr std::int32_t version = 1;
/// By CandidateOrigin.
inline constexpr std::array<const char*, 3> origins{"probe", "random", "model"};

}  // namespace draftscope::policy_format
