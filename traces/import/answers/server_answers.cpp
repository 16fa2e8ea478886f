// SPDX-License-Identifier: GPL-3.0-or-later
// Answers of servers, a JSON object a line: SGLang's meta_info and sglext, llama.cpp's timings.
#include "import/answers/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

Result<Response> read_sglang(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  const json* const meta = object_in(&object, "meta_info");
  const json* const extension = object_in(&object, "sglext");
  const json* const said = meta != nullptr ? meta : extension;
  if (said == nullptr)
    return fail("{}: has neither meta_info nor sglext, expected an answer of SGLang", where);
  const JsonFields fields(*said, where);
  DRAFTSCOPE_TRY(sums.add(fields, where));
  const json* const stats = object_in(said, "speculative_decoding_stats");
  if (stats != nullptr) {
    DRAFTSCOPE_TRY_ASSIGN(response.rounds, ordered_rounds(JsonFields(*stats, where), where));
  }
  const json* const usage = object_in(&object, "usage");
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, (usage != nullptr ? JsonFields(*usage, where) : fields)
                                               .integer("completion_tokens", 0, max_answer_tokens));
  DRAFTSCOPE_TRY_ASSIGN(
      const auto prompt,
      (usage != nullptr ? JsonFields(*usage, where) : fields).integer("prompt_tokens", 0, max_answer_tokens));
  response.tokens = tokens.value_or(-1);
  response.prompt_tokens = prompt.value_or(-1);
  DRAFTSCOPE_TRY_ASSIGN(response.wall_ns, duration_in(said, "e2e_latency", response_second_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("text"));
  return response;
}

Result<Response> read_llama(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  const json* const timings = object_in(&object, "timings");
  if (timings == nullptr) return fail("{}: has no timings, expected an answer of llama-server", where);
  const JsonFields fields(*timings, where);
  DRAFTSCOPE_TRY(sums.add(fields, where));
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, fields.integer("predicted_n", 0, max_answer_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto prompt, fields.integer("prompt_n", 0, max_answer_tokens));
  response.tokens = tokens.value_or(-1);
  response.prompt_tokens = prompt.value_or(-1);
  DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns, duration_in(timings, "prompt_ms", response_ms_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t decode_ns,
                        duration_in(timings, "predicted_ms", response_ms_ns, where));
  if (response.first_token_ns >= 0 && decode_ns >= 0) response.wall_ns = response.first_token_ns + decode_ns;
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("content"));
  return response;
}

}  // namespace

Result<void> import_sglang(const std::filesystem::path& file, ImportContext& context) {
  return import_responses(file, context, read_sglang);
}

Result<void> import_llama_answers(const std::filesystem::path& file, ImportContext& context) {
  return import_responses(file, context, read_llama);
}

}  // namespace draftscope::traces
