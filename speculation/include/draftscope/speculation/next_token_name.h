// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The name that a checkpoint's next-token layer has in recordings.

#include <string_view>

namespace draftscope::speculation {

/// Name of the layer as a drafter of `auto`, and as a draft model in the metadata.
inline constexpr std::string_view next_token_layer_name = "next-token layer";
/// Key of the metadata that describes the layer of the recorded checkpoint; absent where it has none.
inline constexpr const char* next_token_layer_key = "next_token_layer";

}  // namespace draftscope::speculation
