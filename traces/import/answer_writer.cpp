// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/answer_writer.h"

#include <fmt/format.h>

namespace draftscope::traces {

void AnswerWriter::run(const std::string& specification, bool is_baseline, const std::string& parameters) {
  if (foreign_run(specification, is_baseline, parameters).is_baseline) baselines_.insert(specification);
  rows_.run(specification, is_baseline, parameters);
}

Result<void> AnswerWriter::add(Answer answer, const std::string& where) {
  const std::int64_t rows_before = rows_.counts().rows;
  const std::string key = fmt::format("answer {}", ++answers_);
  DRAFTSCOPE_TRY(rows_.begin(key,
                             {.run = answer.run,
                              .start_ns = now_ns_,
                              .question_id = answer.question_id,
                              .category = answer.category,
                              .turn = answer.turn,
                              .repeat = answer.repeat},
                             where));
  const std::int32_t drafted = baselines_.contains(answer.run) ? 0 : draft_length_;
  for (ForeignRound& round : answer.rounds) {
    if (round.drafted < 0 && drafted > 0) round.drafted = drafted;
    if (round.drafted < 0 && round.accepted == 0) round.drafted = 0;
    round.verify_rows = 0;  // No file says how many rows were verified.
    DRAFTSCOPE_TRY(rows_.round(key, round, where));
  }
  ForeignEnd end{.n_tokens = answer.new_tokens};
  if (answer.wall_ns >= 0) end.end_ns = now_ns_ + answer.wall_ns;
  if (answer.first_token_ns >= 0) end.first_token_ns = now_ns_ + answer.first_token_ns;
  if (!answer.text.empty()) end.text = std::move(answer.text);
  DRAFTSCOPE_TRY(rows_.end(key, end, where));
  // An unknown wall time is 1 ns.
  now_ns_ += answer.wall_ns >= 0 ? answer.wall_ns : 1;
  for (const MissingData missing :
       {MissingData::token_ids, MissingData::round_times, MissingData::phase_times, MissingData::confidences})
    target_.note(missing);
  target_.took(rows_.counts().rows - rows_before);
  return {};
}

}  // namespace draftscope::traces
