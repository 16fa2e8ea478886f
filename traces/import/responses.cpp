// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/responses.h"

#include <algorithm>
#include <utility>

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// Uses gaps between chunks as rounds' times. This holds only where their numbers agree, because a chunk may
/// contain several steps, and a step several chunks.
void place_rounds(Response& response) {
  const std::size_t rounds = response.rounds.size();
  if (rounds == 0 || response.gaps_ns.size() != rounds || response.first_token_ns < 0 ||
      response.start_ns < 0)
    return;
  std::int64_t now_ns = response.start_ns + response.first_token_ns;
  std::int64_t all_ns = response.first_token_ns;
  for (const std::int64_t gap_ns : response.gaps_ns) {
    all_ns += gap_ns;
    if (all_ns > max_response_ns) return;
  }
  if (response.wall_ns >= 0 && all_ns > response.wall_ns) return;  // rounding, or a stream that was read late
  for (std::size_t i = 0; i < rounds; ++i) {
    response.rounds[i].start_ns = now_ns;
    response.rounds[i].end_ns = now_ns += response.gaps_ns[i];
  }
}

}  // namespace

void cut_to_tokens(std::vector<ForeignRound>& rounds, std::int64_t tokens) {
  if (rounds.empty() || tokens < 0) return;
  std::int64_t surplus = 1 - std::max<std::int64_t>(tokens, 1);
  for (const ForeignRound& round : rounds) surplus += round.emitted >= 0 ? round.emitted : round.accepted + 1;
  ForeignRound& last = rounds.back();
  const std::int64_t yield = last.emitted >= 0 ? last.emitted : last.accepted + 1;
  if (surplus > 0) last.emitted = std::max<std::int64_t>(yield - surplus, 0);
}

Responses::Responses(RunName run, ImportContext& context)
    : context_(context), rows_(context.foreign), run_(std::move(run)) {
  rows_.run(run_.specification, context.is_baseline);
}

Result<void> Responses::add(Response& response, std::int64_t number, const std::string& where) {
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
  cut_to_tokens(response.rounds, response.tokens);
  for (const ForeignRound& round : response.rounds) DRAFTSCOPE_TRY(rows_.round(key, round, where));
  ForeignEnd end;
  end.n_tokens = response.tokens;
  end.tokens = response.token_ids;
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

void Responses::finish() {
  context_.stated_figures[run_.specification] = sums_.text();
  context_.next_ns = std::max(context_.next_ns, now_ns_);
}

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

namespace {

constexpr std::array proposed_drafts{"spec_num_proposed_drafts",  "spec_proposed_drafts",
                                     "spec_draft_token_num",      "num_draft_tokens",
                                     "num_verified_draft_tokens", "draft_n",
                                     "total_draft_tokens_count",  "totalDraftTokensCount"};
constexpr std::array correct_drafts{"spec_num_correct_drafts", "spec_accepted_drafts",
                                    "spec_accept_token_num",   "num_accepted_draft_tokens",
                                    "draft_n_accepted",        "accepted_draft_tokens_count",
                                    "acceptedDraftTokensCount"};
constexpr std::array histograms{"spec_correct_drafts_histogram", "spec_accept_histogram",
                                "acceptance_histogram"};

/// Adds a histogram: a dense list, or an object by length. It may count at most `steps` verifications.
Result<void> add_histogram(const json& list, const std::string& name, std::optional<std::int64_t> steps,
                           const std::string& where, std::map<std::int64_t, std::int64_t>& histogram) {
  if (!list.is_array() && !list.is_object())
    return unexpected_json(list, where, name, "a list or an object of counts");
  std::int64_t place = 0;
  std::int64_t verifications = 0;
  for (const auto& [key, value] : list.items()) {
    std::int64_t length = place++;
    if (list.is_object() &&
        (key.empty() || key.size() > 3 || key.find_first_not_of("0123456789") != std::string::npos))
      return fail("{}: {} has the key {}, expected a number of accepted draft tokens", where, name,
                  key.substr(0, 40));
    if (list.is_object() && value.is_null()) continue;
    if (list.is_object()) length = std::stoll(key);
    if (length > max_draft_tokens)
      return fail("{}: {} counts {} accepted draft tokens, expected at most {}", where, name, length,
                  max_draft_tokens);
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t count, json_integer(value, 0, max_response_count, where,
                                                                 fmt::format("{}[{}]", name, key)));
    histogram[length] += count;
    verifications += count;
  }
  if (steps && verifications > *steps)
    return fail("{}: {} counts {} verifications, expected at most as many as there were ({})", where, name,
                verifications, *steps);
  return {};
}

}  // namespace

Result<const json*> object_in(const json* object, const char* name, const std::string& where) {
  const json* const found = object == nullptr ? nullptr : JsonFields(*object, where).find(name);
  if (found != nullptr && !found->is_object()) return unexpected_json(*found, where, name, "an object");
  return found;
}

Result<std::optional<std::int64_t>> first_of(const JsonFields& fields, FieldNames names) {
  for (const char* const name : names) {
    DRAFTSCOPE_TRY_ASSIGN(const auto value, fields.integer(name, 0, max_response_count));
    if (value) return value;
  }
  return std::nullopt;
}

Result<std::int64_t> duration_in(const json* object, const char* name, double unit_ns,
                                 const std::string& where) {
  const json* const value = object == nullptr ? nullptr : JsonFields(*object, where).find(name);
  if (value == nullptr) return -1;
  return json_duration_ns(*value, unit_ns, where, name);
}

Result<std::int64_t> tokens_in(const JsonFields& fields, const char* name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, fields.integer(name, 0, max_answer_tokens));
  return tokens.value_or(-1);
}

Result<std::vector<ForeignRound>> rounds_of_lengths(const std::vector<std::int64_t>& lengths, bool have_bonus,
                                                    const std::optional<std::vector<std::int64_t>>& drafted,
                                                    const std::string& where) {
  if (drafted && drafted->size() != lengths.size())
    return fail("{}: has draft lengths of {} rounds, expected as many as accepted lengths ({})", where,
                drafted->size(), lengths.size());
  std::vector<ForeignRound> rounds(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    rounds[i].accepted = have_bonus ? std::max<std::int64_t>(lengths[i] - 1, 0) : lengths[i];
    if (have_bonus) rounds[i].emitted = lengths[i];
    if (drafted) rounds[i].drafted = (*drafted)[i];
  }
  return rounds;
}

Result<std::vector<ForeignRound>> ordered_rounds(const JsonFields& fields, const std::string& where) {
  DRAFTSCOPE_TRY_ASSIGN(const auto plain, fields.integers("per_step_accepted", 0, max_draft_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto with_bonus, fields.integers("accept_lengths", 0, max_draft_tokens + 1));
  const auto& accepted = plain ? plain : with_bonus;
  if (!accepted) return std::vector<ForeignRound>{};
  DRAFTSCOPE_TRY_ASSIGN(auto drafted, fields.integers("per_step_drafted", 0, max_draft_tokens));
  DRAFTSCOPE_TRY_ASSIGN(const auto rows, fields.integers("verify_lengths", 0, max_draft_tokens + 1));
  if (!drafted && rows) {  // The root's row is counted.
    drafted.emplace();
    for (const std::int64_t row : *rows) drafted->push_back(std::max<std::int64_t>(row - 1, 0));
  }
  return rounds_of_lengths(*accepted, !plain, drafted, where);
}

Result<void> ResponseSums::add(const JsonFields& fields, const std::string& where) {
  ++counts["requests"];
  DRAFTSCOPE_TRY_ASSIGN(const auto steps, first_of(fields, verify_step_names));
  DRAFTSCOPE_TRY_ASSIGN(const auto drafted, first_of(fields, proposed_drafts));
  DRAFTSCOPE_TRY_ASSIGN(const auto accepted, first_of(fields, correct_drafts));
  if (drafted && accepted && *accepted > *drafted)
    return fail("{}: {} draft tokens were accepted of {}, expected at most as many as were drafted", where,
                *accepted, *drafted);
  for (const auto& [name, value] :
       {std::pair{"verify_steps", steps}, {"drafted_tokens", drafted}, {"accepted_tokens", accepted}})
    if (value) counts[name] += *value;
  for (const char* const name : histograms)
    if (const json* const list = fields.find(name))
      return add_histogram(*list, name, steps, where, histogram);
  return {};
}

std::string ResponseSums::text() const {
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

}  // namespace draftscope::traces
