// SPDX-License-Identifier: GPL-3.0-or-later
// Imports answers of llama.cpp's server, one JSON object per line, with timings.
#include <algorithm>

#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

Result<Response> read_llama(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  DRAFTSCOPE_TRY_ASSIGN(const json* const timings, object_in(&object, "timings", where));
  if (timings == nullptr) return fail("{}: has no timings, expected an answer of llama-server", where);
  const JsonFields fields(*timings, where);
  DRAFTSCOPE_TRY(sums.add(fields, where));
  DRAFTSCOPE_TRY_ASSIGN(response.tokens, tokens_in(fields, "predicted_n"));
  DRAFTSCOPE_TRY_ASSIGN(response.prompt_tokens, tokens_in(fields, "prompt_n"));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t cached, tokens_in(fields, "cache_n"));
  if (response.prompt_tokens >= 0 && cached > 0)
    response.prompt_tokens = std::min(response.prompt_tokens + cached, max_answer_tokens);
  DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns, duration_in(timings, "prompt_ms", response_ms_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t decode_ns,
                        duration_in(timings, "predicted_ms", response_ms_ns, where));
  if (response.first_token_ns >= 0 && decode_ns >= 0) response.wall_ns = response.first_token_ns + decode_ns;
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("content"));
  return response;
}

int llama_answers_sureness(const FileHead& head) {
  return head.is_json() && head.has_any_key({"predicted_ms"}) ? 45 : 0;
}

}  // namespace

FormatRow format_of_llama_answers() {
  return {"llama-answers", "its answers a line, with timings", import_responses<read_llama>,
          llama_answers_sureness};
}

}  // namespace draftscope::traces
