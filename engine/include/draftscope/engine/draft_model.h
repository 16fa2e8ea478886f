// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Another model of the same vocabulary that drafts for the target.

#include <draftscope/engine/backend.h>
#include <cstdint>

namespace draftscope::engine {

/// A model that drafts, with K/V of its own: rows [0, valid) hold the text's first positions; what the text
/// went beyond is fed before the next draft. A strategy sets `valid` to 0 when a request begins.
struct DraftModel {
  Backend* backend = nullptr;  ///< not owned
  std::int32_t valid = 0;      ///< rows of its K/V that hold the text
};

}  // namespace draftscope::engine
