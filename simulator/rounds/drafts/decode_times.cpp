// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/decode_times.h"

#include <map>

namespace draftscope::simulator {

namespace {

DecodeTimes times_of(const RequestRows& request) {
  DecodeTimes times{.all_ns = static_cast<double>(request.request->end_ns - request.request->first_token_ns)};
  for (const traces::Round& round : request.rounds) {
    if (round.tree_depth > 0) times.draft_ns += static_cast<double>(round.draft_ns);
    if (round.drafted > 0 || round.verify_rows > 1) times.verify_ns += static_cast<double>(round.verify_ns);
  }
  return times;
}

}  // namespace

DecodeTimes decode_times(const RunRows& run) {
  struct Sum {
    DecodeTimes times;
    double repeats = 0.0;
  };
  std::map<traces::PromptId, Sum> prompts;
  for (const RequestRows& request : run.requests) {
    if (request.rounds.empty() || request.request->first_token_ns <= 0) continue;
    Sum& sum = prompts[request.prompt->id];
    const DecodeTimes times = times_of(request);
    sum.times.all_ns += times.all_ns;
    sum.times.draft_ns += times.draft_ns;
    sum.times.verify_ns += times.verify_ns;
    sum.repeats += 1.0;
  }
  DecodeTimes all;
  for (const auto& [prompt, sum] : prompts) {
    all.all_ns += sum.times.all_ns / sum.repeats;
    all.draft_ns += sum.times.draft_ns / sum.repeats;
    all.verify_ns += sum.times.verify_ns / sum.repeats;
  }
  return all;
}

}  // namespace draftscope::simulator
