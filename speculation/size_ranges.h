// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Plausible sizes: several times the largest published model of these families, and small enough that
// products fit in 64 bits.

#include <draftscope/base/json_field.h>
#include <cstdint>

namespace draftscope::speculation {

inline constexpr Range<std::int32_t> layers_range{1, 1024};
inline constexpr Range<std::int32_t> width_range{1, 1 << 20};
inline constexpr Range<std::int32_t> heads_range{1, 1024};
inline constexpr Range<std::int32_t> head_dim_range{1, 1024};
inline constexpr Range<std::int32_t> vocab_range{1, 1 << 24};
inline constexpr Range<std::int32_t> positions_range{1, 1 << 30};

}  // namespace draftscope::speculation
