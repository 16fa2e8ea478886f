// SPDX-License-Identifier: GPL-3.0-or-later
#include "listed_prompts.h"

#include <algorithm>
#include <unordered_set>

namespace draftscope::gui {

std::vector<ListedPrompt> listed_prompts(const OpenedRecording& opened) {
  std::vector<ListedPrompt> prompts;
  std::unordered_set<traces::PromptId> known;
  for (const traces::Request& request : opened.recording().requests)
    if (known.insert(request.prompt_id).second)
      prompts.push_back({request.prompt_id, opened.prompt_of(request)});
  return prompts;
}

std::vector<std::size_t> requests_of_prompt(const OpenedRecording& opened, traces::RunId run_id,
                                            traces::PromptId prompt_id) {
  const std::vector<traces::Request>& requests = opened.recording().requests;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (requests[i].run_id == run_id && requests[i].prompt_id == prompt_id) found.push_back(i);
  std::stable_sort(found.begin(), found.end(),
                   [&](std::size_t a, std::size_t b) { return requests[a].repeat < requests[b].repeat; });
  return found;
}

}  // namespace draftscope::gui
