// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the writer and the reader of policies must agree on.

#include <cstdint>

namespace draftscope::speculation::policy_format {

inline constexpr const char* marker = "draftscope_policy";
inline constexpr std::int32_t version = 1;

}  // namespace draftscope::speculation::policy_format
