// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/validation/hold_out.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

namespace draftscope::simulator {

namespace {

template <typename Row, typename Keep>
std::vector<Row> rows_where(const std::vector<Row>& rows, const Keep& keep) {
  std::vector<Row> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), keep);
  return kept;
}

}  // namespace

traces::Recording only_requests(const traces::Recording& recording, const RequestFilter& keep) {
  std::unordered_map<traces::RunId, const traces::Run*> runs;
  for (const traces::Run& run : recording.runs) runs.emplace(run.id, &run);
  std::unordered_map<traces::PromptId, const traces::Prompt*> prompts;
  for (const traces::Prompt& prompt : recording.prompts) prompts.emplace(prompt.id, &prompt);

  traces::Recording kept{.path = recording.path,
                         .meta = recording.meta,
                         .closed_cleanly = recording.closed_cleanly,
                         .runs = {},
                         .prompts = recording.prompts,
                         .requests = {},
                         .layer_sets = recording.layer_sets,
                         .rounds = {},
                         .draft_tokens = {},
                         .tracks = recording.tracks};
  std::unordered_set<traces::RunId> kept_runs;
  std::unordered_set<traces::RequestId> kept_requests;
  for (const traces::Request& request : recording.requests) {
    const auto run = runs.find(request.run_id);
    const auto prompt = prompts.find(request.prompt_id);
    if (run == runs.end() || prompt == prompts.end() || !keep(*run->second, *prompt->second, request))
      continue;
    kept_runs.insert(request.run_id);
    kept_requests.insert(request.id);
    kept.requests.push_back(request);
  }
  kept.runs = rows_where(recording.runs, [&](const traces::Run& run) { return kept_runs.contains(run.id); });
  std::unordered_set<traces::RoundId> kept_rounds;
  for (const traces::Round& round : recording.rounds)
    if (kept_requests.contains(round.request_id)) {
      kept_rounds.insert(round.id);
      kept.rounds.push_back(round);
    }
  kept.draft_tokens = rows_where(recording.draft_tokens, [&](const traces::DraftToken& token) {
    return kept_rounds.contains(token.round_id);
  });
  return kept;
}

}  // namespace draftscope::simulator
