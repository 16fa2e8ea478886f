// SPDX-License-Identifier: GPL-3.0-or-later
// Imports TensorRT-LLM's iteration statistics, one per line. An entry with one request in generation is a
// round, with the draft's time; entries with several requests give only sums. A request begins where a
// context is computed, and at a gap of the iterations.
//
// With attention data parallelism an iteration has a row a rank (adp_iter_stats.py). The scheduled requests
// are the rank's own; times and drafts are those of rank 0 in every row. So only the rows of rank 0 are read.
#include <algorithm>
#include <utility>

#include "import/responses.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

class Iterations {
 public:
  Iterations(const std::filesystem::path& file, ImportContext& context)
      : context_(context), responses_(file, context) {}

  Result<void> take(const json& object, const std::string& where) {
    DRAFTSCOPE_TRY_ASSIGN(const auto rank,
                          JsonFields(object, where).integer("attentionDpRank", 0, max_response_count));
    if (rank.value_or(0) > 0) {
      ++responses_.sums().counts["rows_of_other_ranks"];
      return {};
    }
    DRAFTSCOPE_TRY_ASSIGN(const bool is_gap, follow(JsonFields(object, where), where));
    DRAFTSCOPE_TRY_ASSIGN(const json* const batch, object_in(&object, "inflightBatchingStats", where));
    if (batch == nullptr) return fail("{}: inflightBatchingStats is missing, expected an object", where);
    const JsonFields counts(*batch, where);
    DRAFTSCOPE_TRY_ASSIGN(const auto contexts, counts.integer("numContextRequests", 0, max_response_count));
    DRAFTSCOPE_TRY_ASSIGN(const auto generations, counts.integer("numGenRequests", 0, max_response_count));
    if (is_gap || contexts.value_or(0) > 0) DRAFTSCOPE_TRY(end_request(where));
    if (is_gap) request_ = {};
    DRAFTSCOPE_TRY_ASSIGN(const auto completed,
                          JsonFields(object, where).integer("numCompletedRequests", 0, max_response_count));
    if (generations.value_or(0) == 0) {
      DRAFTSCOPE_TRY(take_context(object, contexts.value_or(0) == 1, where));
      if (contexts != 1 || completed != 1) return {};
      request_.tokens = 1;  // The context's token was all of it.
      return end_request(where);
    }
    if (*generations > 1 || contexts.value_or(0) > 0) {
      ++responses_.sums().counts["iterations_of_several_requests"];
      return {};
    }
    DRAFTSCOPE_TRY(take_round(object, where));
    return completed.value_or(0) > 0 ? end_request(where) : Result<void>();
  }

  Result<void> finish(const std::string& file, const std::string& where) {
    if (last_iteration_ < 0)
      return fail(
          "{}: found no row with attentionDpRank 0, expected one: its drafts and times are in all rows",
          file);
    DRAFTSCOPE_TRY(end_request(where));
    if (const auto& counts = responses_.sums().counts; counts.contains("rows_of_other_ranks"))
      context_.target.remark(
          fmt::format("{}: passed over {} rows of other ranks, whose drafts and times are those of rank 0",
                      file, counts.at("rows_of_other_ranks")));
    responses_.finish();
    return {};
  }

 private:
  /// Whether iterations are missing before this one.
  Result<bool> follow(const JsonFields& fields, const std::string& where) {
    DRAFTSCOPE_TRY_ASSIGN(const auto iteration, fields.integer("iter", 0, max_response_count));
    if (!iteration) return fail("{}: iter is missing, expected an iteration of TensorRT-LLM", where);
    if (*iteration <= last_iteration_)
      return fail("{}: iter is {}, expected more than that of the line before ({})", where, *iteration,
                  last_iteration_);
    const bool is_gap = last_iteration_ >= 0 && *iteration != last_iteration_ + 1;
    last_iteration_ = *iteration;
    return is_gap;
  }

  /// Takes a context, which may be computed in several parts; the last one gives the first token.
  Result<void> take_context(const json& object, bool is_one, const std::string& where) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t prefill_ns,
                          duration_in(&object, "iterLatencyMS", response_ms_ns, where));
    request_.first_token_ns =
        is_one && prefill_ns >= 0 ? std::max<std::int64_t>(request_.first_token_ns, 0) + prefill_ns : -1;
    if (request_.first_token_ns > max_response_ns) request_.first_token_ns = -1;
    return {};
  }

  Result<void> take_round(const json& object, const std::string& where) {
    ForeignRound round;
    round.drafted = 0;
    DRAFTSCOPE_TRY_ASSIGN(round.end_ns, duration_in(&object, "iterLatencyMS", response_ms_ns, where));
    if (round.end_ns < 0) return fail("{}: iterLatencyMS is missing, expected milliseconds", where);
    DRAFTSCOPE_TRY_ASSIGN(const json* const draft, object_in(&object, "specDecodingStats", where));
    if (draft != nullptr) {
      const JsonFields drafts(*draft, where);
      DRAFTSCOPE_TRY_ASSIGN(const auto drafted, drafts.integer("numDraftTokens", 0, max_draft_tokens));
      DRAFTSCOPE_TRY_ASSIGN(const auto accepted, drafts.integer("numAcceptedTokens", 0, max_draft_tokens));
      round.drafted = drafted.value_or(0);
      round.accepted = accepted.value_or(0);
      DRAFTSCOPE_TRY_ASSIGN(round.draft_ns, duration_in(draft, "iterLatencyMS", response_ms_ns, where));
      if (round.draft_ns > round.end_ns)
        return fail("{}: specDecodingStats.iterLatencyMS is {} ns, expected at most the iteration's ({} ns)",
                    where, round.draft_ns, round.end_ns);
    }
    // Only a drafter of its own is timed; other models' iterations have both parts in one time.
    if (round.drafted > 0 && round.draft_ns == 0) round.draft_ns = -1;
    if (round.drafted == 0) round.draft_ns = 0;
    if (round.draft_ns >= 0) round.verify_ns = round.end_ns - round.draft_ns;
    request_.rounds.push_back(round);
    return {};
  }

  Result<void> end_request(const std::string& where) {
    if (request_.rounds.empty() && request_.tokens != 1) return {};
    Response whole = std::exchange(request_, {});
    whole.wall_ns = 0;
    for (const ForeignRound& round : whole.rounds) {
      whole.wall_ns += round.end_ns;
      if (whole.wall_ns > max_response_ns)
        return fail("{}: the iterations take {} ns in all, expected at most 2^60", where, whole.wall_ns);
    }
    std::int64_t now_ns = context_.next_ns;
    whole.start_ns = now_ns;
    now_ns += std::max<std::int64_t>(whole.first_token_ns, 0);
    whole.wall_ns += std::max<std::int64_t>(whole.first_token_ns, 0);
    for (ForeignRound& round : whole.rounds) {
      round.start_ns = now_ns;
      round.end_ns = now_ns += round.end_ns;
    }
    context_.next_ns = now_ns;
    return responses_.add(whole, ++requests_, where);
  }

  ImportContext& context_;
  Responses responses_;
  Response request_;  ///< The request in progress; the ends of its rounds are still durations.
  std::int64_t requests_ = 0;
  std::int64_t last_iteration_ = -1;
};

Result<void> import_trtllm(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, run_name(file, context), context));
  Iterations iterations(file, context);
  std::string last_where = file.string();
  DRAFTSCOPE_TRY(read_json_lines(
      file, context.progress,
      [&](const json& object, std::int64_t /*number*/, const std::string& where) {
        last_where = where;
        return iterations.take(object, where);
      },
      context.options.partial));
  return iterations.finish(file.string(), last_where);
}

int trtllm_sureness(const FileHead& head) {
  return head.is_json() && head.has_any_key({"inflightBatchingStats"}) ? 65 : 0;
}

}  // namespace

FormatRow format_of_trtllm() {
  return {"trtllm", "TensorRT-LLM's iteration statistics, a line an iteration", import_trtllm,
          trtllm_sureness};
}

}  // namespace draftscope::traces
