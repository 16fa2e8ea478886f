// SPDX-License-Identifier: GPL-3.0-or-later
// Imports results of `vllm bench serve` and of SGLang's bench_serving, which grew from one program: JSON
// objects, each a run. Lists of requests are there with --save-detailed and
// --output-details.
#include <array>

#include "import/responses.h"
#include "import/stated_sums.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// Reads a number of at least 0; absent where the field is, or is NaN.
Result<std::optional<double>> bench_number(const JsonFields& fields, const char* name) {
  const json* const value = fields.find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !(value->get<double>() >= 0.0 && value->get<double>() <= 0x1p60))
    return unexpected_json(*value, fields.where(), name, "a number from 0 to 2^60");
  return value->get<double>();
}

Result<StatedSums> bench_sums(const JsonFields& fields) {
  StatedSums sums;
  for (const auto& [name, target] : {std::pair{"completed", &sums.requests},
                                     {"spec_decode_num_drafts", &sums.verify_steps},
                                     {"spec_decode_draft_tokens", &sums.drafted_tokens},
                                     {"spec_decode_accepted_tokens", &sums.accepted_tokens},
                                     {"total_output_tokens", &sums.output_tokens}}) {
    DRAFTSCOPE_TRY_ASSIGN(*target, bench_number(fields, name));
  }
  constexpr double percent = 0.01;
  constexpr double second_ns = 1e9;
  constexpr double millisecond_ns = 1e6;
  struct Stated {
    const char* field;
    const char* name;
    double factor;
  };
  for (const Stated& row :
       {Stated{"spec_decode_acceptance_rate", "acceptance_rate", percent},
        Stated{"spec_decode_acceptance_length", "mean_accepted_length", 1.0},
        Stated{"accept_length", "mean_accepted_length", 1.0},
        Stated{"output_throughput", "tokens_per_second", 1.0},
        Stated{"mean_ttft_ms", "time_to_first_token_ns", millisecond_ns},
        Stated{"duration", "duration_ns", second_ns}, Stated{"max_concurrency", "max_concurrency", 1.0}}) {
    DRAFTSCOPE_TRY_ASSIGN(const auto value, bench_number(fields, row.field));
    if (value) sums.others[row.name] = *value * row.factor;
  }
  const json* const shares = fields.find("spec_decode_per_position_acceptance_rates");
  if (shares == nullptr) return sums;
  if (!shares->is_array() || shares->size() > static_cast<std::size_t>(max_draft_tokens))
    return unexpected_json(*shares, fields.where(), "spec_decode_per_position_acceptance_rates",
                           fmt::format("a list of at most {} shares", max_draft_tokens));
  sums.acceptance_by_position.reserve(shares->size());
  for (const json& share : *shares) {
    if (!share.is_number())
      return unexpected_json(share, fields.where(), "spec_decode_per_position_acceptance_rates",
                             "a list of numbers");
    sums.acceptance_by_position.push_back(share.get<double>());
  }
  return sums;
}

constexpr std::array request_lists{"ttfts",           "output_lens", "input_lens", "itls",
                                   "generated_texts", "errors",      "start_times"};

/// Number of requests in the lists; none where `ttfts`, which alone must be there, is absent.
Result<std::optional<std::size_t>> bench_requests(const JsonFields& fields) {
  const json* const firsts = fields.find("ttfts");
  if (firsts == nullptr) return std::nullopt;
  for (const char* const name : request_lists) {
    const json* const list = fields.find(name);
    if (list == nullptr) continue;
    if (!list->is_array())
      return unexpected_json(*list, fields.where(), name, "a list with an entry a request");
    if (list->size() != firsts->size())
      return fail("{}: {} has {} entries, expected as many as ttfts has ({})", fields.where(), name,
                  list->size(), firsts->size());
  }
  return firsts->size();
}

/// Reads one request from the lists.
Result<Response> bench_request(const JsonFields& fields, std::size_t i) {
  const std::string& where = fields.where();
  const auto entry = [&](const char* name) -> const json* {
    const json* const list = fields.find(name);
    return list == nullptr || (*list)[i].is_null() ? nullptr : &(*list)[i];
  };
  Response response;
  for (const auto& [name, target] :
       {std::pair{"output_lens", &response.tokens}, {"input_lens", &response.prompt_tokens}})
    if (const json* const count = entry(name)) {
      DRAFTSCOPE_TRY_ASSIGN(
          *target, json_integer(*count, 0, max_answer_tokens, where, fmt::format("{}[{}]", name, i)));
    }
  if (const json* const first = entry("ttfts")) {
    DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns,
                          json_duration_ns(*first, response_second_ns, where, fmt::format("ttfts[{}]", i)));
  }
  if (const json* const error = entry("errors");
      error != nullptr && error->is_string() && !error->get_ref<const std::string&>().empty())
    response.stop = RequestStop::error;
  if (const json* const text = entry("generated_texts"); text != nullptr && text->is_string())
    response.text = text->get<std::string>();
  if (const json* const start = entry("start_times")) {
    DRAFTSCOPE_TRY_ASSIGN(response.start_ns,
                          json_time_ns(*start, response_second_ns, where, fmt::format("start_times[{}]", i)));
  }
  const json* const gaps = entry("itls");
  if (gaps == nullptr || response.first_token_ns < 0) return response;
  if (!gaps->is_array())
    return unexpected_json(*gaps, where, fmt::format("itls[{}]", i), "a list of seconds");
  response.wall_ns = response.first_token_ns;
  for (const json& gap : *gaps) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t ns,
                          json_duration_ns(gap, response_second_ns, where, fmt::format("itls[{}]", i)));
    response.wall_ns = std::min(response.wall_ns + ns, max_response_ns);
  }
  return response;
}

Result<void> add_bench_run(const json& object, const RunName& name, const std::filesystem::path& file,
                           const std::string& where, ImportContext& context) {
  const JsonFields fields(object, where);
  if (!object.contains("completed") || !object.contains("output_throughput"))
    return fail("{}: has no completed or no output_throughput, expected a result of a serving benchmark",
                where);
  DRAFTSCOPE_TRY_ASSIGN(const StatedSums sums, bench_sums(fields));
  DRAFTSCOPE_TRY_ASSIGN(const auto model, fields.text("model_id"));
  if (context.model.empty() && model) context.model = *model;
  DRAFTSCOPE_TRY_ASSIGN(const auto requests, bench_requests(fields));
  if (!requests) return state_run(file, name, sums, context);
  DRAFTSCOPE_TRY(take_run(file, name, context));
  Responses responses(name, context);
  for (std::size_t i = 0; i < *requests; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(Response response, bench_request(fields, i));
    DRAFTSCOPE_TRY(responses.add(response, static_cast<std::int64_t>(i) + 1, where));
  }
  responses.finish();
  if (*requests == 0) note_no_requests(context);
  DRAFTSCOPE_TRY_ASSIGN(const json stated, stated_figures_of(sums, where));
  context.stated_figures[name.specification] = stated.dump(-1, ' ', false, json::error_handler_t::replace);
  return {};
}

Result<void> import_serve_bench(const std::filesystem::path& file, ImportContext& context) {
  const RunName first = run_name(file, context);
  std::int64_t number = 0;
  return read_json_lines(
      file, context.progress,
      [&](const json& object, std::int64_t /*line*/, const std::string& where) -> Result<void> {
        RunName name = first;
        if (++number > 1) name.specification += fmt::format(" {}", number);
        return add_bench_run(object, name, file, where, context);
      });
}

int serve_bench_sureness(const FileHead& head) {
  return head.is_json() && head.has_all_keys({"completed", "output_throughput", "request_throughput"}) ? 58
                                                                                                       : 0;
}

}  // namespace

FormatRow format_of_serve_bench() {
  return {"serve-bench", "results of vllm bench serve and of SGLang's bench_serving", import_serve_bench,
          serve_bench_sureness};
}

}  // namespace draftscope::traces
