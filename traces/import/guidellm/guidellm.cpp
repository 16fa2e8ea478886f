// SPDX-License-Identifier: GPL-3.0-or-later
// Imports GuideLLM's benchmarks.json: a run a benchmark, with its requests; those of 0.2 to 0.6.

#include "import/responses.h"
#include "import/stated_sums.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// The first of the times that is there, in nanoseconds; -1 if none is.
Result<std::int64_t> guide_time(const JsonFields& fields, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (const json* const found = fields.find(name))
      return json_time_ns(*found, response_second_ns, fields.where(), name);
  return -1;
}

Result<Response> guide_request(const json& object, std::optional<RequestStop> stop,
                               const std::string& where) {
  if (!object.is_object()) return unexpected_json(object, where, "a request", "a JSON object");
  Response response;
  response.stop = stop;
  const JsonFields fields(object, where);
  DRAFTSCOPE_TRY_ASSIGN(response.tokens, tokens_in(fields, "output_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(response.prompt_tokens, tokens_in(fields, "prompt_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(response.start_ns, guide_time(fields, {"request_start_time", "start_time"}));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t end_ns, guide_time(fields, {"request_end_time", "end_time"}));
  if (response.start_ns >= 0 && end_ns >= 0 && end_ns < response.start_ns)
    return fail("{}: request_end_time is {} ns, expected at least request_start_time ({} ns)", where, end_ns,
                response.start_ns);
  if (response.start_ns >= 0 && end_ns >= 0) response.wall_ns = end_ns - response.start_ns;
  DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns,
                        duration_in(&object, "time_to_first_token_ms", response_ms_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(response.text, fields.text("output"));
  return response;
}

struct GuideList {
  const char* name;
  std::optional<RequestStop> stop;
};

Result<void> add_benchmark(const json& benchmark, const RunName& name, const std::filesystem::path& file,
                           const std::string& where, ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, name, context));
  Responses responses(name, context);
  std::int64_t number = 0;
  DRAFTSCOPE_TRY_ASSIGN(const json* const lists, object_in(&benchmark, "requests", where));
  for (const auto& [list, stop] :
       {GuideList{"successful", std::nullopt}, GuideList{"incomplete", RequestStop::cancelled},
        GuideList{"errored", RequestStop::error}}) {
    const json* const requests = lists == nullptr ? nullptr : JsonFields(*lists, where).find(list);
    if (requests == nullptr) continue;
    if (!requests->is_array()) return unexpected_json(*requests, where, list, "a list of requests");
    for (std::size_t i = 0; i < requests->size(); ++i) {
      const std::string at = fmt::format("{}: {}[{}]", where, list, i);
      DRAFTSCOPE_TRY_ASSIGN(Response response, guide_request((*requests)[i], stop, at));
      ++responses.sums().counts["requests"];
      DRAFTSCOPE_TRY(responses.add(response, ++number, at));
    }
  }
  if (number == 0)
    return fail(
        "{}: has no requests, expected those of a benchmark (GuideLLM writes them to benchmarks.json)",
        where);
  responses.finish();
  return {};
}

Result<void> import_guidellm(const std::filesystem::path& file, ImportContext& context) {
  const RunName first = run_name(file, context);
  return read_json_objects(
      file, context.progress,
      [&](const json& object, std::int64_t /*number*/, const std::string& where) -> Result<void> {
        const json* const benchmarks = JsonFields(object, where).find("benchmarks");
        if (benchmarks == nullptr || !benchmarks->is_array() || benchmarks->empty())
          return fail("{}: has no benchmarks, expected a file of GuideLLM", where);
        DRAFTSCOPE_TRY_ASSIGN(const json* const arguments, object_in(&object, "args", where));
        if (arguments != nullptr) {
          DRAFTSCOPE_TRY_ASSIGN(const auto model, JsonFields(*arguments, where).text("model"));
          if (context.model.empty() && model) context.model = *model;
        }
        for (std::size_t i = 0; i < benchmarks->size(); ++i) {
          RunName name = first;
          if (i > 0) name.specification += fmt::format(" {}", i + 1);
          DRAFTSCOPE_TRY(add_benchmark((*benchmarks)[i], name, file,
                                       fmt::format("{}: benchmarks[{}]", where, i), context));
        }
        return {};
      });
}

int guidellm_sureness(const FileHead& head) {
  return head.is_object() && head.has_any_key({"benchmarks"}) &&
                 head.has_any_key({"guidellm_version", "scheduler_state", "request_totals", "requests"})
             ? 59
             : 0;
}

}  // namespace

FormatRow format_of_guidellm() {
  return {"guidellm", "GuideLLM's benchmarks.json: a run a benchmark", import_guidellm, guidellm_sureness};
}

}  // namespace draftscope::traces
