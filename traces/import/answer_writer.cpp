// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/answer_writer.h"

#include <algorithm>
#include <limits>

#include "foreign/foreign_writer.h"
#include "foreign/json_fields.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

/// Makes the draft a chain of unknown tokens; the verifier gets one token beyond the accepted ones.
std::vector<DraftToken> chain(const Round& round) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<DraftToken> tokens;
  tokens.reserve(static_cast<std::size_t>(std::max(round.drafted, 0)));
  for (std::int32_t i = 0; i < round.drafted; ++i)
    tokens.push_back(
        {round.id, i, i - 1, unknown_token, unknown, unknown, i < round.accepted, i <= round.accepted});
  return tokens;
}

}  // namespace

RunId AnswerWriter::run(const std::string& specification, bool is_baseline, const std::string& parameters) {
  const auto [entry, is_new] = runs_.try_emplace(specification);
  if (is_new) {
    Run row = foreign_run(specification, is_baseline, parameters);
    const bool drafts = !row.is_baseline;
    entry->second = target_.writer().add(std::move(row));
    if (!drafts) baselines_.insert(entry->second);
    ++target_.counts().runs;
  }
  return entry->second;
}

PromptId AnswerWriter::prompt_of(const Answer& answer) {
  const auto [entry, is_new] = prompts_.try_emplace({answer.question_id, answer.turn, answer.category});
  if (is_new) {
    Prompt row;
    row.question_id = answer.question_id;
    row.category = answer.category;
    row.turn = answer.turn;
    // Runs are paired by their prompts' texts, so each prompt needs a different one.
    row.text = answer.turn == 0 ? fmt::format("[question {}]", answer.question_id)
                                : fmt::format("[question {}, turn {}]", answer.question_id, answer.turn);
    entry->second = target_.writer().add(std::move(row));
  }
  return entry->second;
}

Result<void> AnswerWriter::add_round(RunId run_id, const AnswerRound& row, Round& round,
                                     const std::string& where) {
  round.accepted = row.accepted;
  round.emitted = row.emitted;
  round.drafted = row.drafted;
  if (round.drafted < 0 && draft_length_ > 0 && !baselines_.contains(run_id)) round.drafted = draft_length_;
  if (round.drafted < 0) {
    round.drafted = row.accepted;
    if (row.accepted > 0) target_.note(MissingData::draft_lengths);
  }
  if (round.accepted > round.drafted)
    return fail("{}: a round accepts {} draft tokens, expected at most its draft length ({})", where,
                round.accepted, round.drafted);
  round.tree_depth = round.planned = round.drafted;
  round.draft_stop = round.drafted > 0 ? DraftStop::length : DraftStop::no_draft;
  round.id = target_.writer().next_round_id();
  target_.add(round, chain(round));
  ++round.index;
  const std::int64_t position = std::int64_t{round.root_position} + round.emitted;
  round.root_position =
      static_cast<std::int32_t>(std::min<std::int64_t>(position, std::numeric_limits<std::int32_t>::max()));
  return {};
}

Result<void> AnswerWriter::add(RunId run_id, const Answer& answer, const std::string& where) {
  Request request;
  request.id = target_.writer().next_request_id();
  request.run_id = run_id;
  request.prompt_id = prompt_of(answer);
  request.repeat = answer.repeat;
  request.start_ns = now_ns_;
  request.end_ns = now_ns_ + (answer.wall_ns >= 0 ? answer.wall_ns : 1);
  if (answer.first_token_ns >= 0) request.first_token_ns = request.start_ns + answer.first_token_ns;
  request.text = answer.text;
  if (request.end_ns > max_ns)
    return fail("{}: the wall times add up to more, expected at most 2^62 ns", where);
  now_ns_ = request.end_ns;

  Round round;
  round.request_id = request.id;
  round.start_ns = round.end_ns = request.start_ns;
  std::int64_t emitted = 0;
  for (const AnswerRound& row : answer.rounds) {
    DRAFTSCOPE_TRY(add_round(run_id, row, round, where));
    emitted += row.emitted;
  }
  const std::int64_t tokens = answer.new_tokens >= 0 ? answer.new_tokens : emitted;
  if (tokens > max_answer_tokens)
    return fail("{}: the answer has {} tokens, expected at most {}", where, tokens, max_answer_tokens);
  request.tokens.assign(static_cast<std::size_t>(tokens), unknown_token);
  target_.add(request);

  for (const MissingData missing :
       {MissingData::token_ids, MissingData::prompts, MissingData::round_times, MissingData::phase_times,
        MissingData::confidences, MissingData::layer_sets, MissingData::device})
    target_.note(missing);
  if (answer.rounds.empty()) target_.note(MissingData::rounds);
  if (answer.new_tokens < 0) target_.note(MissingData::output_lengths);
  if (answer.wall_ns < 0) target_.note(MissingData::wall_times);
  if (answer.first_token_ns < 0) target_.note(MissingData::first_token_times);
  if (answer.text.empty()) target_.note(MissingData::output_text);
  return {};
}

}  // namespace draftscope::traces
