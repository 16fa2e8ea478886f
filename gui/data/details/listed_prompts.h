// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompts of a recording to choose from, and where each was decoded.

#include <cstddef>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct ListedPrompt {
  traces::PromptId id;
  const traces::Prompt* prompt = nullptr;  ///< null = the file lacks it
};

/// Prompts that requests name, each once, in the order of their first request.
[[nodiscard]] std::vector<ListedPrompt> listed_prompts(const OpenedRecording& opened);

/// Requests in which a run decoded a prompt, in order of rising repeat, as indices into Recording::requests.
[[nodiscard]] std::vector<std::size_t> requests_of_prompt(const OpenedRecording& opened, traces::RunId run_id,
                                                          traces::PromptId prompt_id);

}  // namespace draftscope::gui
