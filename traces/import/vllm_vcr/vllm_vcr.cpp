// SPDX-License-Identifier: GPL-3.0-or-later
// Imports vllm-vcr's recordings (crates/sim-trace/src/trace.rs): a line of metadata, then a request a line
// with the time and the tokens of each of its steps.
#include <limits>

#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// Reads the steps after the first token: times in `itl_ms`, tokens in `itl_tokens`, else one token each.
Result<void> read_steps(const JsonFields& fields, std::int64_t draft_length, Response& response) {
  const json* const times = fields.find("itl_ms");
  if (times == nullptr) return {};
  if (!times->is_array() || times->size() > static_cast<std::size_t>(max_answer_tokens))
    return unexpected_json(*times, fields.where(), "itl_ms",
                           fmt::format("a list of at most {} times", max_answer_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, fields.integers("itl_tokens", 0, max_draft_tokens + 1));
  if (tokens && tokens->size() != times->size())
    return fail("{}: itl_tokens has {} entries, expected as many as itl_ms has ({})", fields.where(),
                tokens->size(), times->size());
  response.gaps_ns.reserve(times->size());
  response.rounds.reserve(times->size());
  for (std::size_t i = 0; i < times->size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t ns, json_duration_ns((*times)[i], response_ms_ns, fields.where(),
                                                                  fmt::format("itl_ms[{}]", i)));
    response.gaps_ns.push_back(ns);
    ForeignRound round;
    round.emitted = tokens ? (*tokens)[i] : 1;
    round.accepted = std::max<std::int64_t>(round.emitted - 1, 0);
    if (!tokens) round.drafted = 0;
    if (tokens && draft_length > 0) round.drafted = draft_length;
    response.rounds.push_back(std::move(round));
  }
  return {};
}

Result<void> read_end(const JsonFields& fields, Response& response) {
  DRAFTSCOPE_TRY_ASSIGN(const auto reason, fields.text("finish_reason"));
  if (!reason) return {};
  if (*reason == "stop" || *reason == "repetition") response.stop = RequestStop::eos;
  if (*reason == "length") response.stop = RequestStop::length;
  if (*reason == "abort") response.stop = RequestStop::cancelled;
  if (*reason == "error") response.stop = RequestStop::error;
  if (!response.stop)
    return fail("{}: finish_reason is '{}', expected stop, length, abort, error or repetition",
                fields.where(), reason->substr(0, 40));
  return {};
}

Result<Response> read_recorded(const json& object, std::int64_t draft_length, const std::string& where) {
  constexpr std::int64_t max_token = std::numeric_limits<std::int32_t>::max();
  Response response;
  const JsonFields fields(object, where);
  DRAFTSCOPE_TRY_ASSIGN(response.tokens, tokens_in(fields, "output_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(response.prompt_tokens, tokens_in(fields, "prompt_tokens"));
  if (response.tokens < 0 || !object.contains("ttft_ms"))
    return fail("{}: has no output_tokens or no ttft_ms, expected a request of vllm-vcr", where);
  if (const json* const arrival = fields.find("arrival_ms")) {
    DRAFTSCOPE_TRY_ASSIGN(response.start_ns, json_time_ns(*arrival, response_ms_ns, where, "arrival_ms"));
  }
  DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns, duration_in(&object, "ttft_ms", response_ms_ns, where));
  DRAFTSCOPE_TRY(read_steps(fields, draft_length, response));
  DRAFTSCOPE_TRY(read_end(fields, response));
  std::int64_t emitted = 0;
  for (const ForeignRound& round : response.rounds) emitted += round.emitted;
  if (emitted > response.tokens)
    return fail("{}: its steps give {} tokens, expected at most output_tokens ({})", where, emitted,
                response.tokens);
  DRAFTSCOPE_TRY_ASSIGN(const auto ids, fields.integers("output_token_ids", 0, max_token));
  if (ids && static_cast<std::int64_t>(ids->size()) != response.tokens)
    return fail("{}: output_token_ids has {} entries, expected output_tokens ({})", where, ids->size(),
                response.tokens);
  if (ids) response.token_ids.emplace(ids->begin(), ids->end());
  DRAFTSCOPE_TRY_ASSIGN(const json* const summary, object_in(&object, "itl_summary", where));
  if (response.first_token_ns < 0 || (response.rounds.empty() && summary == nullptr && response.tokens > 1))
    return response;
  response.wall_ns = response.first_token_ns;
  for (const std::int64_t ns : response.gaps_ns)
    response.wall_ns = std::min(response.wall_ns + ns, max_response_ns);
  if (!response.rounds.empty() || summary == nullptr) return response;
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t mean_ns, duration_in(summary, "mean_ms", response_ms_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(const auto count, JsonFields(*summary, where).integer("count", 0, max_answer_tokens));
  constexpr double max_ns_of_steps = 0x1p59;
  const double steps_ns =
      static_cast<double>(std::max<std::int64_t>(mean_ns, 0)) * static_cast<double>(count.value_or(0));
  response.wall_ns += static_cast<std::int64_t>(std::min(steps_ns, max_ns_of_steps));
  return response;
}

Result<void> import_vllm_vcr(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, run_name(file, context), context));
  Responses responses(file, context);
  std::int64_t requests = 0;
  DRAFTSCOPE_TRY(read_json_lines(
      file, context.progress,
      [&](const json& object, std::int64_t /*line*/, const std::string& where) -> Result<void> {
        DRAFTSCOPE_TRY_ASSIGN(const json* const meta, object_in(&object, "meta", where));
        if (meta != nullptr && requests == 0) {
          DRAFTSCOPE_TRY_ASSIGN(const auto model, JsonFields(*meta, where).text("model"));
          if (context.model.empty() && model) context.model = *model;
          return {};
        }
        DRAFTSCOPE_TRY_ASSIGN(Response response, read_recorded(object, context.options.draft_length, where));
        ++responses.sums().counts["requests"];
        return responses.add(response, ++requests, where);
      },
      context.options.partial));
  context.target.writer().set_meta("engine", "vLLM");
  responses.finish();
  return {};
}

int vllm_vcr_sureness(const FileHead& head) {
  return head.is_json() && head.has_all_keys({"ttft_ms", "output_tokens", "prompt_tokens"}) ? 62 : 0;
}

}  // namespace

FormatRow format_of_vllm_vcr() {
  return {"vllm-vcr", "recordings of vllm-vcr: each step's time and tokens", import_vllm_vcr,
          vllm_vcr_sureness};
}

}  // namespace draftscope::traces
