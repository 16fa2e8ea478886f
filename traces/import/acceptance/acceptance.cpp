// SPDX-License-Identifier: GPL-3.0-or-later
// Imports accepted lengths request by request: the lists that vLLM reports per request (its documentation,
// "Per-Request Acceptance Metrics"), by themselves or inside a whole response, and also plain lists.
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "foreign/json_fields.h"
#include "import/formats.h"
#include "import/responses.h"

namespace draftscope::traces {
namespace {

using Lengths = std::optional<std::vector<std::int64_t>>;

/// Reads the first of the names that is present.
Result<Lengths> first_of(const JsonFields& fields, std::initializer_list<const char*> names,
                         std::int64_t most) {
  for (const char* const name : names)
    if (fields.find(name) != nullptr) return fields.integers(name, 0, most);
  return Lengths{};
}

/// Reads `acceptance`: for each round its draft positions, with 1 where the token was accepted.
Result<std::vector<ForeignRound>> rounds_of_positions(const nlohmann::json& rows, const std::string& where) {
  if (!rows.is_array()) return unexpected_json(rows, where, "acceptance", "a list of lists of 0 and 1");
  std::vector<ForeignRound> rounds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string field = fmt::format("acceptance[{}]", i);
    if (!rows[i].is_array() || rows[i].size() > static_cast<std::size_t>(max_draft_tokens))
      return unexpected_json(rows[i], where, field,
                             fmt::format("a list of at most {} zeros and ones", max_draft_tokens));
    ForeignRound round{.drafted = static_cast<std::int64_t>(rows[i].size())};
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      DRAFTSCOPE_TRY_ASSIGN(const std::int64_t accepted,
                            json_integer(rows[i][k], 0, 1, where, fmt::format("{}[{}]", field, k)));
      if (accepted == 1 && round.accepted < static_cast<std::int64_t>(k))
        return fail("{}: {}[{}] is 1 after a 0, expected nothing accepted after a rejection", where, field,
                    k);
      round.accepted += accepted;
    }
    rounds.push_back(round);
  }
  return rounds;
}

Result<std::vector<ForeignRound>> read_rounds(const JsonFields& fields) {
  const std::string& where = fields.where();
  if (const nlohmann::json* const rows = fields.find("acceptance")) return rounds_of_positions(*rows, where);
  DRAFTSCOPE_TRY_ASSIGN(const Lengths accepted,
                        first_of(fields, {"per_step_accepted", "accepted"}, max_draft_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const Lengths yields, first_of(fields, {"accept_lengths"}, max_draft_tokens + 1));
  // vLLM omits the lists where nothing was verified.
  DRAFTSCOPE_TRY_ASSIGN(const auto steps, fields.integer("num_spec_steps", 0, max_answer_tokens));
  if (!accepted && !yields && (steps == 0 || (steps && fields.find("num_accepted_draft_tokens") != nullptr)))
    return std::vector<ForeignRound>{};
  if (!accepted && !yields)
    return fail(
        "{}: has none of per_step_accepted, accepted, accept_lengths, acceptance, expected the accepted "
        "lengths of a request",
        where);
  const std::vector<std::int64_t>& lengths = accepted ? *accepted : *yields;
  Lengths drafted;
  if (const nlohmann::json* const one = fields.find("drafted"); one != nullptr && one->is_number()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t length,
                          json_integer(*one, 0, max_draft_tokens, where, "drafted"));
    drafted.emplace(lengths.size(), length);
  } else {
    DRAFTSCOPE_TRY_ASSIGN(drafted, first_of(fields, {"per_step_drafted", "drafted"}, max_draft_tokens));
  }
  return rounds_of_lengths(lengths, !accepted, drafted, where);
}

/// Reads `wall_time` in seconds, or vLLM's two parts in milliseconds.
Result<void> read_times(const JsonFields& fields, const nlohmann::json* metrics, Answer& answer) {
  constexpr double second_ns = 1e9;
  constexpr double millisecond_ns = 1e6;
  if (const nlohmann::json* const wall = fields.find("wall_time")) {
    DRAFTSCOPE_TRY_ASSIGN(answer.wall_ns, json_duration_ns(*wall, second_ns, fields.where(), "wall_time"));
    return {};
  }
  if (metrics == nullptr) return {};
  const JsonFields times(*metrics, fields.where());
  const nlohmann::json* const first = times.find("time_to_first_token_ms");
  const nlohmann::json* const rest = times.find("generation_time_ms");
  if (first == nullptr || rest == nullptr) return {};
  DRAFTSCOPE_TRY_ASSIGN(answer.first_token_ns,
                        json_duration_ns(*first, millisecond_ns, fields.where(), "time_to_first_token_ms"));
  DRAFTSCOPE_TRY_ASSIGN(answer.wall_ns,
                        json_duration_ns(*rest, millisecond_ns, fields.where(), "generation_time_ms"));
  answer.wall_ns += answer.first_token_ns;
  return {};
}

/// Whether the object is a response of vLLM that has no metrics of its drafts: vLLM reports none for a
/// request of several sequences.
bool is_without_metrics(const nlohmann::json& object, const JsonFields& fields) {
  bool has_lengths = false;
  for (const char* const name :
       {"per_step_accepted", "accepted", "accept_lengths", "acceptance", "num_spec_steps"})
    has_lengths = has_lengths || fields.find(name) != nullptr;
  return !has_lengths && (object.contains("metrics") || object.contains("spec_decode_metrics"));
}

/// Adds to `sums` those of a request whose metrics have the level `summary`, without lists, and to `unsaid` a
/// response without metrics.
Result<Answer> read_request(const nlohmann::json& object, const std::string& where, ResponseSums& sums,
                            std::int64_t& unsaid) {
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json* const metrics, object_in(&object, "metrics", where));
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json* inner, object_in(metrics, "speculative_decoding", where));
  if (inner == nullptr) {  // the name in vLLM's offline outputs
    DRAFTSCOPE_TRY_ASSIGN(inner, object_in(&object, "spec_decode_metrics", where));
  }
  const JsonFields fields(object, where);
  Answer answer;
  DRAFTSCOPE_TRY_ASSIGN(const auto category, fields.text("category"));
  answer.category = category.value_or("");
  DRAFTSCOPE_TRY_ASSIGN(const auto text, fields.text("text"));
  answer.text = text.value_or("");
  DRAFTSCOPE_TRY_ASSIGN(auto tokens, fields.integer("new_tokens", 0, max_answer_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json* const usage, object_in(&object, "usage", where));
  if (usage != nullptr) {
    const JsonFields counts(*usage, where);
    DRAFTSCOPE_TRY_ASSIGN(answer.prompt_tokens, tokens_in(counts, "prompt_tokens"));
    if (!tokens) {
      DRAFTSCOPE_TRY_ASSIGN(tokens, counts.integer("completion_tokens", 0, max_answer_tokens));
    }
  }
  answer.new_tokens = tokens.value_or(-1);
  if (inner == nullptr && is_without_metrics(object, fields)) {
    ++unsaid;
  } else {
    const JsonFields of_rounds = inner != nullptr ? JsonFields(*inner, where) : fields;
    DRAFTSCOPE_TRY_ASSIGN(answer.rounds, read_rounds(of_rounds));
    if (inner != nullptr) cut_to_tokens(answer.rounds, answer.new_tokens);
    if (answer.rounds.empty()) DRAFTSCOPE_TRY(sums.add(of_rounds, where));
  }
  DRAFTSCOPE_TRY(read_times(fields, metrics, answer));
  return answer;
}

Result<void> import_acceptance(const std::filesystem::path& file, ImportContext& context) {
  const RunName name = run_name(file, context);
  DRAFTSCOPE_TRY(take_run(file, name, context));
  bool is_begun = false;
  bool has_rounds = false;
  ResponseSums sums;
  std::int64_t requests = 0;
  std::int64_t unsaid = 0;
  DRAFTSCOPE_TRY(read_json_lines(
      file, context.progress,
      [&](const nlohmann::json& object, std::int64_t line, const std::string& where) -> Result<void> {
        DRAFTSCOPE_TRY_ASSIGN(Answer answer, read_request(object, where, sums, unsaid));
        ++requests;
        const JsonFields fields(object, where);
        DRAFTSCOPE_TRY_ASSIGN(const auto question, question_of(fields, context));
        answer.question_id = question.value_or(line);
        DRAFTSCOPE_TRY_ASSIGN(const auto model, fields.text("model"));
        if (context.model.empty() && model) context.model = *model;
        answer.run = name.specification;
        answer.repeat = name.repeat;
        if (!std::exchange(is_begun, true)) context.answers.run(answer.run, context.is_baseline);
        has_rounds = has_rounds || !answer.rounds.empty();
        return context.answers.add(std::move(answer), where);
      }));
  if (unsaid == requests && unsaid > 0)
    return fail(
        "{}: no request has metrics.speculative_decoding, expected those of vllm serve "
        "--per-request-spec-decode-metrics detailed",
        file.string());
  if (unsaid > 0)
    context.target.remark(fmt::format("{}: {} of {} requests say nothing of drafts and have no rounds",
                                      file.string(), unsaid, requests));
  // What the rows of rounds give is not stated twice.
  if (!has_rounds && sums.counts["drafted_tokens"] > 0)
    context.stated_figures[name.specification] = sums.text();
  return {};
}

int acceptance_sureness(const FileHead& head) {
  if (!head.is_json()) return 0;
  if (head.has_any_key({"speculative_decoding", "spec_decode_metrics", "per_step_accepted"})) return 50;
  return head.has_any_key({"accept_lengths", "accepted", "acceptance"}) ? 30 : 0;
}

}  // namespace

FormatRow format_of_acceptance() {
  return {"acceptance", "JSONL with accepted lengths a request, such as vLLM's per-request metrics",
          import_acceptance, acceptance_sureness};
}

}  // namespace draftscope::traces
