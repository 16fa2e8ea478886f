// SPDX-License-Identifier: GPL-3.0-or-later
// What engines and load generators say of each request, a JSON object a line: SGLang's meta_info and sglext,
// llama.cpp's timings, AIPerf's profile_export.jsonl. And what TensorRT-LLM says of each iteration. Names
// move from version to version, so that each value has a list of them. Sums without an order fill no rounds:
// they go to stated_figures.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "foreign/foreign_writer.h"
#include "import/formats.h"
#include "import/json_fields.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

constexpr std::int64_t max_count = std::int64_t{1} << 40U;
constexpr double ms_ns = 1e6;
constexpr double second_ns = 1e9;
constexpr std::int64_t max_span_ns = std::int64_t{1} << 60U;

/// One value under the names that it has or had, the newest first.
using Names = std::span<const char* const>;
constexpr std::array verify_steps{"spec_verify_ct", "num_spec_steps", "num_verification_steps"};
constexpr std::array proposed_drafts{"spec_num_proposed_drafts",  "spec_proposed_drafts",
                                     "spec_draft_token_num",      "num_draft_tokens",
                                     "num_verified_draft_tokens", "draft_n"};
constexpr std::array correct_drafts{"spec_num_correct_drafts", "spec_accepted_drafts",
                                    "spec_accept_token_num", "num_accepted_draft_tokens", "draft_n_accepted"};
constexpr std::array histograms{"spec_correct_drafts_histogram", "spec_accept_histogram",
                                "acceptance_histogram"};

const json* object_in(const json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found != object->end() && found->is_object() ? &*found : nullptr;
}

Result<std::optional<std::int64_t>> first_of(const JsonFields& fields, Names names) {
  for (const char* const name : names) {
    DRAFTSCOPE_TRY_ASSIGN(const auto value, fields.integer(name, 0, max_count));
    if (value) return value;
  }
  return std::nullopt;
}

/// A duration in a field, -1 if absent.
Result<std::int64_t> duration(const json* object, const char* name, double unit_ns,
                              const std::string& where) {
  if (object == nullptr || !object->contains(name) || (*object)[name].is_null()) return -1;
  return json_duration_ns((*object)[name], unit_ns, where, name);
}

/// Whole-run sums of what has no order.
struct Sums {
  std::map<std::string, std::int64_t> counts;
  std::map<std::int64_t, std::int64_t> histogram;  ///< by accepted draft tokens, without the bonus token

  Result<void> add(const JsonFields& fields, const std::string& where) {
    ++counts["requests"];
    for (const auto& [name, names] : {std::pair{"verify_steps", Names(verify_steps)},
                                      {"drafted_tokens", Names(proposed_drafts)},
                                      {"accepted_tokens", Names(correct_drafts)}}) {
      DRAFTSCOPE_TRY_ASSIGN(const auto value, first_of(fields, names));
      if (value) counts[name] += *value;
    }
    DRAFTSCOPE_TRY_ASSIGN(const auto drafted, first_of(fields, proposed_drafts));
    DRAFTSCOPE_TRY_ASSIGN(const auto accepted, first_of(fields, correct_drafts));
    if (drafted && accepted && *accepted > *drafted)
      return fail("{}: {} draft tokens were accepted of {}, expected at most as many as were drafted", where,
                  *accepted, *drafted);
    for (const char* const name : histograms)
      if (const json* const list = fields.find(name)) return add_histogram(*list, name, where);
    return {};
  }

  /// A dense list, or an object by length.
  Result<void> add_histogram(const json& list, const std::string& name, const std::string& where) {
    if (!list.is_array() && !list.is_object())
      return tl::unexpected<Error>(unexpected_json(list, where, name, "a list or an object of counts"));
    std::int64_t place = 0;
    for (const auto& [key, value] : list.items()) {
      std::int64_t length = place++;
      if (list.is_object() &&
          (key.empty() || key.size() > 3 || key.find_first_not_of("0123456789") != std::string::npos))
        return fail("{}: {} has the key {}, expected a number of accepted draft tokens", where, name,
                    key.substr(0, 40));
      if (list.is_object()) length = std::stoll(key);
      if (length > max_draft_tokens) return fail("{}: {} is longer than {}", where, name, max_draft_tokens);
      DRAFTSCOPE_TRY_ASSIGN(const std::int64_t count,
                            json_integer(value, 0, max_count, where, fmt::format("{}[{}]", name, key)));
      histogram[length] += count;
    }
    return {};
  }

  [[nodiscard]] std::string text() const {
    json object(counts);
    if (!histogram.empty()) {
      object["accepted_histogram"] = json::array();
      for (std::int64_t length = 0; length <= histogram.rbegin()->first; ++length) {
        const auto found = histogram.find(length);
        object["accepted_histogram"].push_back(found == histogram.end() ? 0 : found->second);
      }
    }
    return object.dump();
  }
};

/// A request as the sources say it; -1 = unknown.
struct Response {
  std::int64_t start_ns = -1;  ///< of a clock; else requests stand one behind the other
  std::int64_t wall_ns = -1;
  std::int64_t first_token_ns = -1;  ///< after the start
  std::int64_t prompt_tokens = -1;
  std::int64_t tokens = -1;
  std::optional<std::string> text;
  std::optional<RequestStop> stop;
  std::vector<ForeignRound> rounds;
  std::vector<std::int64_t> gaps_ns;  ///< between chunks of the stream
};

/// Ordered lists of one request.
Result<std::vector<ForeignRound>> ordered_rounds(const JsonFields& fields, const std::string& where) {
  std::vector<ForeignRound> rounds;
  DRAFTSCOPE_TRY_ASSIGN(const auto plain, fields.integers("per_step_accepted", 0, max_draft_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto with_bonus, fields.integers("accept_lengths", 0, max_draft_tokens + 1));
  const auto& accepted = plain ? plain : with_bonus;
  if (!accepted) return rounds;
  DRAFTSCOPE_TRY_ASSIGN(auto drafted, fields.integers("per_step_drafted", 0, max_draft_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto rows, fields.integers("verify_lengths", 0, max_draft_tokens + 1));
  if (!drafted && rows) {  // the root's row is counted
    drafted.emplace();
    for (const std::int64_t row : *rows) drafted->push_back(std::max<std::int64_t>(row - 1, 0));
  }
  if (drafted && drafted->size() != accepted->size())
    return fail("{}: has draft lengths of {} rounds, expected as many as accepted lengths ({})", where,
                drafted->size(), accepted->size());
  for (std::size_t i = 0; i < accepted->size(); ++i) {
    ForeignRound round;
    round.accepted = plain ? (*accepted)[i] : std::max<std::int64_t>((*accepted)[i] - 1, 0);
    round.emitted = plain ? -1 : (*accepted)[i];
    if (drafted) round.drafted = (*drafted)[i];
    rounds.push_back(round);
  }
  return rounds;
}

Result<Response> read_sglang(const json& object, const std::string& where, Sums& sums) {
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
  DRAFTSCOPE_TRY_ASSIGN(response.wall_ns, duration(said, "e2e_latency", second_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("text"));
  return response;
}

Result<Response> read_llama(const json& object, const std::string& where, Sums& sums) {
  Response response;
  const json* const timings = object_in(&object, "timings");
  if (timings == nullptr) return fail("{}: has no timings, expected an answer of llama-server", where);
  const JsonFields fields(*timings, where);
  DRAFTSCOPE_TRY(sums.add(fields, where));
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, fields.integer("predicted_n", 0, max_answer_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto prompt, fields.integer("prompt_n", 0, max_answer_tokens));
  response.tokens = tokens.value_or(-1);
  response.prompt_tokens = prompt.value_or(-1);
  DRAFTSCOPE_TRY_ASSIGN(response.first_token_ns, duration(timings, "prompt_ms", ms_ns, where));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t decode_ns, duration(timings, "predicted_ms", ms_ns, where));
  if (response.first_token_ns >= 0 && decode_ns >= 0) response.wall_ns = response.first_token_ns + decode_ns;
  DRAFTSCOPE_TRY_ASSIGN(response.text, JsonFields(object, where).text("content"));
  return response;
}

/// {"value": 41.2, "unit": "ms"} as nanoseconds, -1 if absent.
Result<std::int64_t> metric_ns(const json* metrics, const char* name, const std::string& where) {
  const json* const metric = object_in(metrics, name);
  if (metric == nullptr) return -1;
  const auto unit = metric->find("unit");
  if (unit == metric->end() || *unit != "ms")
    return fail("{}: {} has the unit {}, expected ms", where, name,
                unit == metric->end() ? "none" : unit->dump());
  return duration(metric, "value", ms_ns, where);
}

Result<Response> read_aiperf(const json& object, const std::string& where, Sums& sums) {
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
      DRAFTSCOPE_TRY_ASSIGN(const auto count,
                            JsonFields(*metric, where).integer("value", 0, max_answer_tokens));
      *target = count.value_or(-1);
    }
  if (const json* const gaps = object_in(metrics, "inter_chunk_latency");
      gaps != nullptr && gaps->contains("value")) {
    const json& list = (*gaps)["value"];
    for (std::size_t i = 0;
         list.is_array() && i < list.size() && i < static_cast<std::size_t>(max_answer_tokens); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(
          const std::int64_t ns,
          json_duration_ns(list[i], ms_ns, where, fmt::format("inter_chunk_latency[{}]", i)));
      response.gaps_ns.push_back(ns);
    }
  }
  if (const json* const acceptance = object_in(&object, "spec_decode_acceptance")) {
    const JsonFields fields(*acceptance, where);
    DRAFTSCOPE_TRY(sums.add(fields, where));
    DRAFTSCOPE_TRY_ASSIGN(response.rounds, ordered_rounds(fields, where));
    DRAFTSCOPE_TRY_ASSIGN(const auto steps, first_of(fields, verify_steps));
    if (steps && !response.rounds.empty() && *steps != static_cast<std::int64_t>(response.rounds.size()))
      return fail("{}: num_spec_steps is {}, expected as many as per_step_accepted has ({})", where, *steps,
                  response.rounds.size());
    DRAFTSCOPE_TRY_ASSIGN(const auto tokens, fields.integer("completion_tokens", 0, max_answer_tokens));
    if (tokens) response.tokens = *tokens;
  }
  return response;
}

/// Gaps are rounds' times only where there are as many: a chunk may hold several steps, and a step several
/// chunks.
void place_rounds(Response& response) {
  const std::size_t rounds = response.rounds.size();
  if (rounds == 0 || response.gaps_ns.size() != rounds || response.first_token_ns < 0 ||
      response.start_ns < 0)
    return;
  std::int64_t now_ns = response.start_ns + response.first_token_ns;
  std::int64_t all_ns = response.first_token_ns;
  for (const std::int64_t gap_ns : response.gaps_ns) {
    all_ns += gap_ns;
    if (all_ns > max_span_ns) return;
  }
  if (response.wall_ns >= 0 && all_ns > response.wall_ns) return;  // rounding, or a stream that was read late
  for (std::size_t i = 0; i < rounds; ++i) {
    response.rounds[i].start_ns = now_ns;
    response.rounds[i].end_ns = now_ns += response.gaps_ns[i];
  }
}

class Responses {
 public:
  Responses(const std::filesystem::path& file, ImportContext& context)
      : context_(context), rows_(context.foreign), run_(run_name(file, context)) {
    rows_.run(run_.specification, context.is_baseline);
  }

  [[nodiscard]] Sums& sums() { return sums_; }

  Result<void> add(Response& response, std::int64_t number, const std::string& where) {
    const bool has_clock = response.start_ns >= 0;
    if (!has_clock && response.wall_ns >= 0) response.start_ns = now_ns_;
    place_rounds(response);
    ForeignStart start;
    start.run = run_.specification;
    start.repeat = run_.repeat;
    start.start_ns = response.start_ns;
    start.n_prompt_tokens = response.prompt_tokens;
    start.question_id = number;
    const std::string key = fmt::format("{}/{}/{}", run_.specification, run_.repeat, number);
    DRAFTSCOPE_TRY(rows_.begin(key, start, where));
    if (!response.rounds.empty()) cut_to_tokens(response);
    for (const ForeignRound& round : response.rounds) DRAFTSCOPE_TRY(rows_.round(key, round, where));
    ForeignEnd end;
    end.n_tokens = response.tokens;
    end.text = response.text;
    end.stop = response.stop;
    if (response.start_ns >= 0 && response.wall_ns >= 0) end.end_ns = response.start_ns + response.wall_ns;
    if (response.start_ns >= 0 && response.first_token_ns >= 0 &&
        (response.wall_ns < 0 || response.first_token_ns <= response.wall_ns))
      end.first_token_ns = response.start_ns + response.first_token_ns;
    DRAFTSCOPE_TRY(rows_.end(key, end, where));
    if (end.end_ns >= 0) now_ns_ = std::max(now_ns_, end.end_ns);
    context_.target.took(rows_.counts().rows - taken_rows_);
    taken_rows_ = rows_.counts().rows;
    return {};
  }

  void finish() {
    context_.stated_figures[run_.specification] = sums_.text();
    context_.next_ns = std::max(context_.next_ns, now_ns_);
  }

 private:
  /// The last round may have been cut at the budget or at the end of the sequence.
  static void cut_to_tokens(Response& response) {
    if (response.tokens < 0) return;
    std::int64_t emitted = 0;
    for (const ForeignRound& round : response.rounds)
      emitted += round.emitted >= 0 ? round.emitted : round.accepted + 1;
    ForeignRound& last = response.rounds.back();
    const std::int64_t yield = last.emitted >= 0 ? last.emitted : last.accepted + 1;
    if (emitted > response.tokens)
      last.emitted = std::max<std::int64_t>(yield - (emitted - response.tokens), 0);
  }

  ImportContext& context_;
  ForeignWriter& rows_;
  RunName run_;
  Sums sums_;
  std::int64_t now_ns_ = context_.next_ns;
  std::int64_t taken_rows_ = rows_.counts().rows;
};

using ReadResponse = Result<Response> (*)(const json&, const std::string&, Sums&);

Result<void> import_responses(const std::filesystem::path& file, ImportContext& context, ReadResponse read) {
  DRAFTSCOPE_TRY(take_run(file, run_name(file, context), context));
  Responses responses(file, context);
  DRAFTSCOPE_TRY(read_json_lines(
      file, context.progress,
      [&](const json& object, std::int64_t number, const std::string& where) -> Result<void> {
        DRAFTSCOPE_TRY_ASSIGN(Response response, read(object, where, responses.sums()));
        if (const auto model = object.find("model");
            context.model.empty() && model != object.end() && model->is_string())
          context.model = model->get<std::string>();
        return responses.add(response, number, where);
      },
      context.options.partial));
  responses.finish();
  return {};
}

}  // namespace

Result<void> import_sglang(const std::filesystem::path& file, ImportContext& context) {
  return import_responses(file, context, read_sglang);
}

Result<void> import_llama_answers(const std::filesystem::path& file, ImportContext& context) {
  return import_responses(file, context, read_llama);
}

Result<void> import_aiperf(const std::filesystem::path& file, ImportContext& context) {
  return import_responses(file, context, read_aiperf);
}

/// An entry with one request in generation is a round, with the draft's time; of several requests there are
/// sums alone. A request begins where a context is computed, and at a gap of the iterations.
Result<void> import_trtllm(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, run_name(file, context), context));
  Responses responses(file, context);
  Response response;
  std::int64_t requests = 0;
  std::int64_t last_iteration = -1;
  const auto flush = [&](const std::string& where) -> Result<void> {
    if (response.rounds.empty()) return {};
    Response whole = std::exchange(response, {});
    whole.wall_ns = 0;
    for (const ForeignRound& round : whole.rounds) {
      whole.wall_ns += round.end_ns;
      if (whole.wall_ns > max_span_ns)
        return fail("{}: the iterations take {} ns in all, expected at most 2^60", where, whole.wall_ns);
    }
    std::int64_t now_ns = context.next_ns;
    whole.start_ns = now_ns;
    now_ns += std::max<std::int64_t>(whole.first_token_ns, 0);
    whole.wall_ns += std::max<std::int64_t>(whole.first_token_ns, 0);
    for (ForeignRound& round : whole.rounds) {
      round.start_ns = now_ns;
      round.end_ns = now_ns += round.end_ns;
    }
    context.next_ns = now_ns;
    return responses.add(whole, ++requests, where);
  };
  std::string last_where = file.string();
  DRAFTSCOPE_TRY(read_json_lines(
      file, context.progress,
      [&](const json& object, std::int64_t /*number*/, const std::string& where) -> Result<void> {
        last_where = where;
        const JsonFields fields(object, where);
        DRAFTSCOPE_TRY_ASSIGN(const auto iteration, fields.integer("iter", 0, max_count));
        if (!iteration) return fail("{}: iter is missing, expected an iteration of TensorRT-LLM", where);
        if (*iteration <= last_iteration)
          return fail("{}: iter is {}, expected more than that of the line before ({})", where, *iteration,
                      last_iteration);
        const bool is_gap = last_iteration >= 0 && *iteration != last_iteration + 1;
        last_iteration = *iteration;
        const json* const batch = object_in(&object, "inflightBatchingStats");
        const json* const draft = object_in(&object, "specDecodingStats");
        if (batch == nullptr) return fail("{}: inflightBatchingStats is missing, expected an object", where);
        const JsonFields counts(*batch, where);
        DRAFTSCOPE_TRY_ASSIGN(const auto contexts, counts.integer("numContextRequests", 0, max_count));
        DRAFTSCOPE_TRY_ASSIGN(const auto generations, counts.integer("numGenRequests", 0, max_count));
        if (is_gap || contexts.value_or(0) > 0) DRAFTSCOPE_TRY(flush(where));
        if (is_gap) response = {};
        if (generations.value_or(0) == 0) {
          // A context may be computed in several parts; the last gives the first token.
          DRAFTSCOPE_TRY_ASSIGN(const std::int64_t prefill_ns,
                                duration(&object, "iterLatencyMS", ms_ns, where));
          const bool is_one = contexts.value_or(0) == 1 && prefill_ns >= 0;
          response.first_token_ns =
              is_one ? std::max<std::int64_t>(response.first_token_ns, 0) + prefill_ns : -1;
          if (response.first_token_ns > max_span_ns) response.first_token_ns = -1;
          return {};
        }
        if (*generations > 1 || contexts.value_or(0) > 0) {
          ++responses.sums().counts["iterations_of_several_requests"];
          return {};
        }
        ForeignRound round;
        round.drafted = 0;
        DRAFTSCOPE_TRY_ASSIGN(round.end_ns, duration(&object, "iterLatencyMS", ms_ns, where));
        if (round.end_ns < 0) return fail("{}: iterLatencyMS is missing, expected milliseconds", where);
        if (draft != nullptr) {
          const JsonFields drafts(*draft, where);
          DRAFTSCOPE_TRY_ASSIGN(const auto drafted, drafts.integer("numDraftTokens", 0, max_draft_tokens));
          DRAFTSCOPE_TRY_ASSIGN(const auto accepted,
                                drafts.integer("numAcceptedTokens", 0, max_draft_tokens));
          round.drafted = drafted.value_or(0);
          round.accepted = accepted.value_or(0);
          DRAFTSCOPE_TRY_ASSIGN(round.draft_ns, duration(draft, "iterLatencyMS", ms_ns, where));
          if (round.draft_ns > round.end_ns)
            return fail(
                "{}: specDecodingStats.iterLatencyMS is {} ns, expected at most the iteration's ({} ns)",
                where, round.draft_ns, round.end_ns);
        }
        if (round.drafted == 0) round.draft_ns = 0;
        if (round.draft_ns >= 0) round.verify_ns = round.end_ns - round.draft_ns;
        response.rounds.push_back(round);
        return {};
      },
      context.options.partial));
  DRAFTSCOPE_TRY(flush(last_where));
  responses.finish();
  return {};
}

}  // namespace draftscope::traces
