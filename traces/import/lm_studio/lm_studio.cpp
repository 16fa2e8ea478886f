// SPDX-License-Identifier: GPL-3.0-or-later
// Imports LM Studio's answers, one per line: those of its servers (/v1, /api/v0, /api/v1) with `stats` and
// `usage`, and the results of its libraries, with names like "acceptedDraftTokensCount".
#include <algorithm>
#include <utility>

#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

constexpr std::array output_names{"completion_tokens", "total_output_tokens", "predicted_tokens_count",
                                  "predictedTokensCount"};
constexpr std::array input_names{"prompt_tokens", "input_tokens", "prompt_tokens_count", "promptTokensCount"};
constexpr std::array first_token_names{"time_to_first_token", "time_to_first_token_seconds",
                                       "time_to_first_token_sec", "timeToFirstTokenSec"};
constexpr std::array stop_reasons{std::pair{"eosFound", RequestStop::eos},
                                  std::pair{"toolCalls", RequestStop::eos},
                                  std::pair{"stopStringFound", RequestStop::stop_string},
                                  std::pair{"maxPredictedTokensReached", RequestStop::length},
                                  std::pair{"contextLengthReached", RequestStop::context},
                                  std::pair{"userStopped", RequestStop::cancelled},
                                  std::pair{"modelUnloaded", RequestStop::error},
                                  std::pair{"failed", RequestStop::error}};

Result<Response> read_lm_studio(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  DRAFTSCOPE_TRY_ASSIGN(const json* const stats, object_in(&object, "stats", where));
  if (stats == nullptr) return fail("{}: has no stats, expected an answer of LM Studio", where);
  DRAFTSCOPE_TRY_ASSIGN(const json* const usage, object_in(&object, "usage", where));
  const JsonFields of_stats(*stats, where);
  const JsonFields of_usage(usage != nullptr ? *usage : *stats, where);
  // Versions differ in which of the two has the counts of drafts.
  const bool usage_drafts = usage != nullptr && of_usage.find("total_draft_tokens_count") != nullptr;
  DRAFTSCOPE_TRY(sums.add(usage_drafts ? of_usage : of_stats, where));
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, first_of(of_usage, output_names));
  DRAFTSCOPE_TRY_ASSIGN(const auto prompt, first_of(of_usage, input_names));
  for (const auto& [count, target] : {std::pair{tokens, &response.tokens}, {prompt, &response.prompt_tokens}})
    if (count && *count > max_answer_tokens)
      return fail("{}: an answer has {} tokens, expected at most {}", where, *count, max_answer_tokens);
    else
      *target = count.value_or(-1);
  for (const char* const name : first_token_names) {
    if (of_stats.find(name) == nullptr) continue;
    DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns, duration_in(stats, name, response_second_ns, where));
  }
  // It begins after the first token: the documented one is shorter than the time to that token.
  DRAFTSCOPE_TRY_ASSIGN(response.wall_ns, duration_in(stats, "generation_time", response_second_ns, where));
  if (response.wall_ns >= 0) response.wall_ns += std::max<std::int64_t>(response.first_token_ns, 0);
  for (const char* const name : {"stop_reason", "stopReason"}) {
    DRAFTSCOPE_TRY_ASSIGN(const auto reason, of_stats.text(name));
    for (const auto& [known, stop] : stop_reasons)
      if (reason == known) response.stop = stop;
  }
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("content"));
  return response;
}

int lm_studio_sureness(const FileHead& head) {
  return head.is_json() && head.has_any_key({"stats"}) &&
                 head.has_any_key({"accepted_draft_tokens_count", "acceptedDraftTokensCount",
                                   "tokens_per_second", "tokensPerSecond", "time_to_first_token"})
             ? 55
             : 0;
}

}  // namespace

FormatRow format_of_lm_studio() {
  return {"lm-studio", "LM Studio's answers a line, with stats", import_responses<read_lm_studio>,
          lm_studio_sureness};
}

}  // namespace draftscope::traces
