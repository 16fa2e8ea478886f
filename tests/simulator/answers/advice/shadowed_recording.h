// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small recordings with shadow tokens whose texts and times follow a rule, so that what they teach is known:
// passes take what planted_cpu() says, to the nanosecond.

#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct ShadowedRecording {
  int prompts = 12;
  int tokens = 40;     ///< of output, the prefill's included
  double skill = 1.0;  ///< how often early layers predict the text, 0 to 1
  std::vector<std::string> strategies{"vanilla", "layerskip:exit=3,gamma=4", "layerskip:exit=5,gamma=9"};
  bool with_shadow = true;
  unsigned seed = 7;
  double auxiliary_factor = 1.0;  ///< of auxiliary passes, which the law says otherwise
  double host_us = 0.0;           ///< that each round of a strategy with auxiliary passes takes beside them
  /// A run of two models beside the strategies, whose draft model has half of the layers; its shape is in the
  /// recording only if that is said.
  bool with_two_models = false;
  bool with_draft_shape = true;
};

/// The run of two models.
inline constexpr const char* two_models = "two-model:model=small,gamma=4";

/// Layers of planted_cpu().
inline constexpr int shadowed_layers = 8;

/// Expects that the file can be written, and strategies whose rounds are replayed exactly.
void write_shadowed_recording(const ShadowedRecording& recording, const std::filesystem::path& path);

}  // namespace draftscope::simulator
