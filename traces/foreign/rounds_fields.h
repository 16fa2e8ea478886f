// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The names of the lines and fields of the neutral format (docs/rounds-format.md), for its readers and
// writers.

#include <array>
#include <string_view>

namespace draftscope::traces {

inline constexpr std::string_view rounds_format = "draftscope-rounds";
inline constexpr int rounds_version = 1;

/// Keys of `meta` that a header's `settings` may set, because reports know them; others are stored together.
inline constexpr std::array<std::string_view, 21> settings_in_meta{"checkpoint_hash",
                                                                   "model_shape",
                                                                   "device",
                                                                   "processor",
                                                                   "kernels",
                                                                   "threads",
                                                                   "dtype",
                                                                   "weights",
                                                                   "stored_as",
                                                                   "weight_bytes",
                                                                   "seed",
                                                                   "temperature",
                                                                   "top_k",
                                                                   "top_p",
                                                                   "coupling",
                                                                   "max_tokens",
                                                                   "repeats",
                                                                   "level",
                                                                   "repetition_penalty",
                                                                   "bytes_a_step",
                                                                   "synthetic"};

}  // namespace draftscope::traces
