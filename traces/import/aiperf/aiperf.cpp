// SPDX-License-Identifier: GPL-3.0-or-later
// Imports AIPerf's profile_export.jsonl: one request per line.
#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// The value of {"value": 41.2, "unit": "ms"}; null where the metric or its value is absent.
Result<const json*> metric_in_ms(const json* metrics, const char* name, const std::string& where) {
  DRAFTSCOPE_TRY_ASSIGN(const json* const metric, object_in(metrics, name, where));
  const json* const value = metric == nullptr ? nullptr : JsonFields(*metric, where).find("value");
  if (value == nullptr) return value;
  const json* const unit = JsonFields(*metric, where).find("unit");
  if (unit == nullptr || *unit != "ms")
    return fail("{}: {} has the unit {}, expected ms", where, name, unit == nullptr ? "none" : unit->dump());
  return value;
}

Result<Response> read_aiperf(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  DRAFTSCOPE_TRY_ASSIGN(const json* const metadata, object_in(&object, "metadata", where));
  DRAFTSCOPE_TRY_ASSIGN(const json* const metrics, object_in(&object, "metrics", where));
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
  DRAFTSCOPE_TRY_ASSIGN(const json* const first, metric_in_ms(metrics, "time_to_first_token", where));
  if (first != nullptr) {
    DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns,
                          json_duration_ns(*first, response_ms_ns, where, "time_to_first_token"));
  }
  for (const auto& [name, target] : {std::pair{"output_sequence_length", &response.tokens},
                                     {"input_sequence_length", &response.prompt_tokens}}) {
    DRAFTSCOPE_TRY_ASSIGN(const json* const metric, object_in(metrics, name, where));
    if (metric != nullptr) {
      DRAFTSCOPE_TRY_ASSIGN(*target, tokens_in(JsonFields(*metric, where), "value"));
    }
  }
  DRAFTSCOPE_TRY_ASSIGN(const json* const gaps, metric_in_ms(metrics, "inter_chunk_latency", where));
  if (gaps != nullptr) {
    if (!gaps->is_array() || gaps->size() > static_cast<std::size_t>(max_answer_tokens))
      return unexpected_json(*gaps, where, "inter_chunk_latency",
                             fmt::format("a list of at most {} times", max_answer_tokens));
    for (std::size_t i = 0; i < gaps->size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(
          const std::int64_t ns,
          json_duration_ns((*gaps)[i], response_ms_ns, where, fmt::format("inter_chunk_latency[{}]", i)));
      response.gaps_ns.push_back(ns);
    }
  }
  DRAFTSCOPE_TRY_ASSIGN(const json* const acceptance, object_in(&object, "spec_decode_acceptance", where));
  if (acceptance != nullptr) {
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
