// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/answers/responses.h"

#include <algorithm>

namespace draftscope::traces {
namespace {

using nlohmann::json;

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
    if (all_ns > max_response_ns) return;
  }
  if (response.wall_ns >= 0 && all_ns > response.wall_ns) return;  // rounding, or a stream that was read late
  for (std::size_t i = 0; i < rounds; ++i) {
    response.rounds[i].start_ns = now_ns;
    response.rounds[i].end_ns = now_ns += response.gaps_ns[i];
  }
}

/// The last round may have been cut at the budget or at the end of the sequence.
void cut_to_tokens(Response& response) {
  if (response.tokens < 0) return;
  std::int64_t emitted = 0;
  for (const ForeignRound& round : response.rounds)
    emitted += round.emitted >= 0 ? round.emitted : round.accepted + 1;
  ForeignRound& last = response.rounds.back();
  const std::int64_t yield = last.emitted >= 0 ? last.emitted : last.accepted + 1;
  if (emitted > response.tokens)
    last.emitted = std::max<std::int64_t>(yield - (emitted - response.tokens), 0);
}

}  // namespace

Responses::Responses(const std::filesystem::path& file, ImportContext& context)
    : context_(context), rows_(context.foreign), run_(run_name(file, context)) {
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

}  // namespace draftscope::traces
