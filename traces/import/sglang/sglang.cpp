// SPDX-License-Identifier: GPL-3.0-or-later
// Imports SGLang's answers, one JSON object per line, with meta_info or sglext.
#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

Result<Response> read_sglang(const json& object, const std::string& where, ResponseSums& sums) {
  Response response;
  DRAFTSCOPE_TRY_ASSIGN(const json* const meta, object_in(&object, "meta_info", where));
  DRAFTSCOPE_TRY_ASSIGN(const json* const extension, object_in(&object, "sglext", where));
  const json* const said = meta != nullptr ? meta : extension;
  if (said == nullptr)
    return fail("{}: has neither meta_info nor sglext, expected an answer of SGLang", where);
  const JsonFields fields(*said, where);
  DRAFTSCOPE_TRY(sums.add(fields, where));
  DRAFTSCOPE_TRY_ASSIGN(const json* const stats, object_in(said, "speculative_decoding_stats", where));
  if (stats != nullptr) {
    DRAFTSCOPE_TRY_ASSIGN(response.rounds, ordered_rounds(JsonFields(*stats, where), where));
  }
  DRAFTSCOPE_TRY_ASSIGN(const json* const usage, object_in(&object, "usage", where));
  const JsonFields counts = usage != nullptr ? JsonFields(*usage, where) : fields;
  DRAFTSCOPE_TRY_ASSIGN(response.tokens, tokens_in(counts, "completion_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(response.prompt_tokens, tokens_in(counts, "prompt_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(response.wall_ns, duration_in(said, "e2e_latency", response_second_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("text"));
  return response;
}

int sglang_sureness(const FileHead& head) {
  return head.is_json() && head.has_any_key({"meta_info", "sglext"}) ? 60 : 0;
}

}  // namespace

FormatRow format_of_sglang() {
  return {"sglang", "SGLang's answers a line, with meta_info or sglext", import_responses<read_sglang>,
          sglang_sureness};
}

}  // namespace draftscope::traces
