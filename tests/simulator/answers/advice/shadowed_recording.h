// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small recordings with shadow tokens whose texts and times follow a rule, so that correct results are known.
// Passes take the time of planted_cpu(), to the nanosecond.

#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct ShadowedRecording {
  int prompts = 12;
  int tokens = 40;     ///< Output tokens, including the prefill's.
  double skill = 1.0;  ///< How often early layers predict the text, 0 to 1.
  std::vector<std::string> strategies{"vanilla", "layerskip:exit=3,gamma=4", "layerskip:exit=5,gamma=9"};
  bool with_shadow = true;
  /// Whether runs state their parameters, and shadow tokens begin with the prompt's second token.
  bool is_complete = false;
  unsigned seed = 7;
  double auxiliary_factor = 1.0;  ///< Factor of the time of auxiliary passes relative to the law.
  double host_us = 0.0;  ///< Host time outside auxiliary passes, for each round of a strategy that has some.
  int window_rows = 0;   ///< Rows that a run of guesses verifies besides root and guesses.
  double wait_us = 0.0;  ///< Time that another program takes between rounds, after one of four.
  /// Factors of the time of passes on prompts of the category "odd": of rounds that draft, and of others.
  double odd_draft_factor = 1.0;
  double odd_step_factor = 1.0;
  /// Adds a run of two models to the strategies, whose draft model has half of the layers. Its shape is only
  /// in the recording on request.
  bool with_two_models = false;
  bool with_draft_shape = true;
};

/// Specification of the run of two models.
inline constexpr const char* two_models = "two-model:model=small,gamma=4";

/// Layers of planted_cpu().
inline constexpr int shadowed_layers = 8;

/// Writes the recording. The file must be writable. A strategy that no policy replays drafts with its parts'
/// rules and the predictions of an exit, as a set without two layers in the middle, or without parts a chain
/// of guesses.
void write_shadowed_recording(const ShadowedRecording& recording, const std::filesystem::path& path);

}  // namespace draftscope::simulator
