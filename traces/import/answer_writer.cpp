// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/answer_writer.h"

#include <fmt/format.h>

#include "foreign/json_fields.h"
#include "storage/schema.h"

namespace draftscope::traces {

void AnswerWriter::run(const std::string& specification, bool is_baseline, const std::string& parameters) {
  if (foreign_run(specification, is_baseline, parameters).is_baseline) baselines_.insert(specification);
  rows_.run(specification, is_baseline, parameters);
}

Result<void> AnswerWriter::add(Answer answer, const std::string& where) {
  const std::int64_t rows_before = rows_.counts().rows;
  // An unknown wall time is 1 ns.
  const std::int64_t wall_ns = answer.wall_ns >= 0 ? answer.wall_ns : 1;
  if (wall_ns > max_ns - now_ns_)
    return fail("{}: the wall times add up to more, expected at most 2^62 ns", where);
  const std::string key = fmt::format("answer {}", ++answers_);
  DRAFTSCOPE_TRY(rows_.begin(key,
                             {.run = answer.run,
                              .start_ns = now_ns_,
                              .n_prompt_tokens = answer.prompt_tokens,
                              .question_id = answer.question_id,
                              .category = answer.category,
                              .turn = answer.turn,
                              .repeat = answer.repeat},
                             where));
  std::int64_t emitted = 0;
  const std::int32_t drafted = baselines_.contains(answer.run) ? 0 : draft_length_;
  for (ForeignRound& round : answer.rounds) {
    if (round.drafted < 0 && drafted > 0) round.drafted = drafted;
    if (round.drafted < 0 && round.accepted == 0) round.drafted = 0;
    if (round.drafted >= 0 && round.accepted > round.drafted)
      return fail("{}: a round accepts {} draft tokens, expected at most its draft length ({})", where,
                  round.accepted, round.drafted);
    round.verify_rows = 0;  // No file says how many rows were verified.
    DRAFTSCOPE_TRY(rows_.round(key, round, where));
    emitted += round.emitted >= 0 ? round.emitted : round.accepted + 1;
  }
  const std::int64_t tokens = answer.new_tokens >= 0 ? answer.new_tokens : emitted;
  if (tokens > max_answer_tokens)
    return fail("{}: the answer has {} new tokens, expected at most {}", where, tokens, max_answer_tokens);
  ForeignEnd end{.n_tokens = answer.new_tokens};
  if (answer.wall_ns >= 0) end.end_ns = now_ns_ + answer.wall_ns;
  if (answer.first_token_ns >= 0) end.first_token_ns = now_ns_ + answer.first_token_ns;
  if (!answer.text.empty()) end.text = std::move(answer.text);
  DRAFTSCOPE_TRY(rows_.end(key, end, where));
  now_ns_ += wall_ns;
  for (const MissingData missing :
       {MissingData::token_ids, MissingData::round_times, MissingData::phase_times, MissingData::confidences})
    target_.note(missing);
  target_.took(rows_.counts().rows - rows_before);
  return {};
}

}  // namespace draftscope::traces
