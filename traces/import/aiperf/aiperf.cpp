// SPDX-License-Identifier: GPL-3.0-or-later
// Imports AIPerf's profile_export.jsonl: one request per line.
#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// Reads {"value": 41.2, "unit": "ms"} as nanoseconds; -1 if absent.
Result<std::int64_t> metric_ns(const json* metrics, const char* name, const std::string& where) {
  const json* const metric = object_in(metrics, name);
  if (metric == nullptr) return -1;
  const auto unit = metric->find("unit");
  if (unit == metric->end() || *unit != "ms")
    return fail("{}: {} has the unit {}, expected ms", where, name,
                unit == metric->end() ? "none" : unit->dump());
  return duration_in(metric, "value", response_ms_ns, where);
}

Result<Response> read_aiperf(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  const json* const metadata = object_in(&object, "metadata");
  const json* const metrics = object_in(&object, "metrics");
  if (metadata == nullptr || metrics == nullptr)
    return fail("{}: has no metadata or no metrics, expected a record of AIPerf", where);
  const JsonFields times(*metadata, where);
  constexpr std::int64_t max_epoch_ns = std::int64_t{1} << 61U;
  DRAFTSCOPE_TRY_ASSIGN(const auto start, times.integer("request_start_ns", 0, max_epoch_ns));
  DRAFTSCOPE_TRY_ASSIGN(const auto end, times.integer("request_end_ns", 0, max_epoch_ns));
  response.start_ns = start.value_or(-1);
  if (start && end && *end < *start)
    return fail("{}: request_end_ns is {}, expected at least request_start_ns ({})", where, *end, *start);
  if (start && end) response.wall_ns = *end - *start;
  if (const json* const error = JsonFields(object, where).find("error"); error != nullptr)
    response.stop = RequestStop::error;
  if (const auto cancelled = metadata->find("was_cancelled");
      cancelled != metadata->end() && *cancelled == true)
    response.stop = RequestStop::cancelled;
  DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns, metric_ns(metrics, "time_to_first_token", where));
  for (const auto& [name, target] : {std::pair{"output_sequence_length", &response.tokens},
                                     {"input_sequence_length", &response.prompt_tokens}})
    if (const json* const metric = object_in(metrics, name)) {
      DRAFTSCOPE_TRY_ASSIGN(*target, tokens_in(JsonFields(*metric, where), "value"));
    }
  if (const json* const gaps = object_in(metrics, "inter_chunk_latency");
      gaps != nullptr && gaps->contains("value")) {
    const json& list = (*gaps)["value"];
    for (std::size_t i = 0;
         list.is_array() && i < list.size() && i < static_cast<std::size_t>(max_answer_tokens); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(
          const std::int64_t ns,
          json_duration_ns(list[i], response_ms_ns, where, fmt::format("inter_chunk_latency[{}]", i)));
      response.gaps_ns.push_back(ns);
    }
  }
  if (const json* const acceptance = object_in(&object, "spec_decode_acceptance")) {
    const JsonFields fields(*acceptance, where);
    DRAFTSCOPE_TRY(sums.add(fields, where));
    DRAFTSCOPE_TRY_ASSIGN(response.rounds, ordered_rounds(fields, where));
    DRAFTSCOPE_TRY_ASSIGN(const auto steps, first_of(fields, verify_step_names));
    if (steps && !response.rounds.empty() && *steps != static_cast<std::int64_t>(response.rounds.size()))
      return fail("{}: num_spec_steps is {}, expected as many as per_step_accepted has ({})", where, *steps,
                  response.rounds.size());
    DRAFTSCOPE_TRY_ASSIGN(const auto tokens, fields.integer("completion_tokens", 0, max_answer_tokens));
    if (tokens) response.tokens = *tokens;
  }
  return response;
}

int aiperf_sureness(const FileHead& head) {
  return head.is_json() && head.has_any_key({"spec_decode_acceptance", "request_start_ns"}) ? 70 : 0;
}

}  // namespace

FormatRow format_of_aiperf() {
  return {"aiperf", "AIPerf's profile_export.jsonl", import_responses<read_aiperf>, aiperf_sureness};
}

}  // namespace draftscope::traces
