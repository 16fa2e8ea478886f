// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include "import/llama_cpp/llama_task.h"

namespace draftscope::traces {
namespace {

constexpr double us_per_ms = 1000.0;
constexpr double max_ms = 1e12;

/// Converts ms to µs; none where the log has no time, or an impossible one.
std::int64_t us_of(double ms) {
  return ms >= 0.0 && ms < max_ms ? static_cast<std::int64_t>(std::llround(ms * us_per_ms)) : -1;
}

Result<void> check_sums(const LlamaTask& task, const std::string& where) {
  // llama-speculative logs no rounds, and a server none at its default verbosity.
  if (task.rounds.empty()) {
    if (task.stated_accepted <= std::max<std::int64_t>(task.stated_drafted, 0)) return {};
    return fail("{}: task {} says that {} of {} draft tokens were accepted, expected at most all of them",
                where, task.id, task.stated_accepted, task.stated_drafted);
  }
  std::int64_t accepted = 0, drafted = 0;
  for (const ForeignRound& round : task.rounds) {
    accepted += round.accepted;
    drafted += round.drafted;
  }
  if (task.stated_drafted < 0 || (accepted == task.stated_accepted && drafted == task.stated_drafted))
    return {};
  return fail("{}: task {} says that {} of {} draft tokens were accepted, expected {} of {} as in its lines",
              where, task.id, task.stated_accepted, task.stated_drafted, accepted, drafted);
}

/// Begin of the first round: the time of the first token, which belongs to the prefill. In a log without a
/// clock the task begins where the one before it ended.
std::int64_t place_in_time(LlamaTask& task, std::int64_t begin_us) {
  const std::int64_t prompt_us = us_of(task.prompt_ms);
  const std::int64_t decode_us = us_of(task.decode_ms);
  if (task.start_us < 0 && task.rounds.empty() && prompt_us >= 0 && decode_us >= 0) {
    task.start_us = begin_us;
    task.end_us = begin_us + prompt_us + decode_us;
  }
  if (task.first_token_us < 0 && task.start_us >= 0 && prompt_us >= 0)
    task.first_token_us = task.start_us + prompt_us;
  if (!task.rounds.empty() && task.first_token_us > task.rounds.front().end_ns)
    task.first_token_us = -1;  // rounding, or another clock
  if (task.first_token_us > task.end_us && task.rounds.empty()) task.first_token_us = -1;
  return task.first_token_us >= 0 ? task.first_token_us : task.start_us;
}

/// Places the task of a command-line program, which reports the duration of each part at its end. Its first
/// round gives the first token, which counts as the prefill's, as everywhere, so that no time is both prefill
/// and round.
std::int64_t place_program_in_time(LlamaTask& task) {
  const std::int64_t prompt_us = us_of(task.prompt_ms);
  const std::int64_t decode_us = us_of(task.decode_ms);
  if (prompt_us < 0 || decode_us < 0) return -1;
  if (task.end_us < 0) task.end_us = prompt_us + decode_us;  // a log without a clock
  std::int64_t decoding_us = std::max<std::int64_t>(task.end_us - decode_us, 0);
  const bool has_clock = task.rounds.empty() || task.rounds.front().end_ns >= 0;
  if (has_clock && !task.rounds.empty()) {
    decoding_us = std::min(decoding_us, task.rounds.front().end_ns);
    task.first_token_us = decoding_us;
  }
  task.start_us = std::max<std::int64_t>(decoding_us - prompt_us, 0);
  return has_clock ? decoding_us : -1;
}

/// Fills in the task's tokens if the log shows every draft.
void add_tokens(LlamaTask& task) {
  std::vector<std::int32_t> tokens;
  for (const ForeignRound& round : task.rounds) {
    if (static_cast<std::int64_t>(round.tokens.size()) != round.drafted || round.bonus_token < 0) return;
    tokens.insert(tokens.end(), round.tokens.begin(),
                  round.tokens.begin() + static_cast<std::ptrdiff_t>(round.accepted));
    tokens.push_back(static_cast<std::int32_t>(round.bonus_token));
  }
  task.tokens = std::move(tokens);
}

/// Places the round after `last_us`; returns when it ended.
std::int64_t place_round(ForeignRound& round, std::int64_t last_us, std::int64_t offset_ns) {
  const auto ns = [&](std::int64_t us) { return us < 0 ? -1 : offset_ns + us * 1000; };
  const std::int64_t end_us = last_us < 0 ? -1 : round.end_ns;
  const std::int64_t drafted_us = round.draft_ns;
  round.start_ns = end_us < 0 ? -1 : ns(last_us);
  round.end_ns = ns(end_us);
  round.draft_ns = drafted_us >= last_us && end_us >= 0 ? (drafted_us - last_us) * 1000 : -1;
  if (round.draft_ns >= 0) round.verify_ns = (end_us - drafted_us) * 1000;
  if (round.drafted == 0 && end_us >= 0) {
    round.draft_ns = 0;
    round.verify_ns = (end_us - last_us) * 1000;
  }
  return end_us >= 0 ? end_us : last_us;
}

ForeignStart start_of(const LlamaTask& task, const LlamaPlace& place) {
  ForeignStart start;
  start.run = place.run;
  start.start_ns = task.start_us < 0 ? -1 : place.offset_ns + task.start_us * 1000;
  start.n_prompt_tokens = task.prompt_tokens;
  start.question_id = place.number;
  start.repeat = place.repeat;
  return start;
}

ForeignEnd end_of(const LlamaTask& task, bool is_cut, std::int64_t last_us, const LlamaPlace& place) {
  ForeignEnd end;
  const auto ns = [&](std::int64_t us) { return us < 0 ? -1 : place.offset_ns + us * 1000; };
  end.end_ns = task.start_us < 0 ? -1 : ns(std::max(task.end_us, last_us));
  end.first_token_ns = task.start_us < 0 ? -1 : ns(task.first_token_us);
  if (is_cut) end.stop = RequestStop::cancelled;
  const auto tokens = static_cast<std::int64_t>(task.tokens.size());
  if (tokens > 0 && (task.generated < 0 || tokens == task.generated))
    end.tokens = task.tokens;
  else if (task.generated >= 0)
    end.n_tokens = task.generated;
  return end;
}

}  // namespace

Result<LlamaWritten> write_task(LlamaTask& task, bool is_cut, const LlamaPlace& place,
                                const std::string& where) {
  if (!is_cut) DRAFTSCOPE_TRY(check_sums(task, where));
  std::int64_t last_us =
      task.is_of_a_program ? place_program_in_time(task) : place_in_time(task, place.begin_us);
  if (task.end_us > max_llama_us)
    return fail("{}: task {} ends at {} us, expected at most {} us", where, task.id, task.end_us,
                max_llama_us);
  if (task.is_of_a_program) add_tokens(task);
  const std::string key = fmt::format("{}/{}/{}", place.run, place.repeat, place.number);
  DRAFTSCOPE_TRY(place.rows.begin(key, start_of(task, place), where));
  std::int64_t emitted = 0;
  for (const ForeignRound& round : task.rounds) emitted += round.accepted + 1;
  // A server's prefill gives the first token. Only --verbose logs its steps without a draft, and its last
  // round may give more tokens than requested.
  const std::int64_t of_prefill = task.is_of_a_program ? 0 : 1;
  const std::int64_t wanted =
      task.generated >= 0 ? std::max<std::int64_t>(task.generated - of_prefill, 0) : emitted;
  if (task.is_of_a_program && !task.rounds.empty() && wanted != emitted)
    return fail("{}: says that {} tokens were decoded, expected {}, which its rounds give", where,
                task.generated, emitted);
  std::int64_t surplus = std::max<std::int64_t>(emitted - wanted, 0);
  for (std::size_t i = 0; i < task.rounds.size(); ++i) {
    ForeignRound& round = task.rounds[i];
    round.emitted = round.accepted + 1;
    if (i + 1 == task.rounds.size()) {
      round.emitted = std::max<std::int64_t>(round.emitted - surplus, 0);
      surplus -= round.accepted + 1 - round.emitted;
    }
    last_us = place_round(round, last_us, place.offset_ns);
    DRAFTSCOPE_TRY(place.rows.round(key, round, where));
  }
  if (surplus > 0)
    return fail("{}: task {} says that {} tokens were generated, expected {}, which its rounds give", where,
                task.id, task.generated, emitted + of_prefill);
  const ForeignEnd end = end_of(task, is_cut, last_us, place);
  DRAFTSCOPE_TRY(place.rows.end(key, end, where));
  const bool has_rounds = !task.rounds.empty() || (!task.is_of_a_program && task.stated_drafted <= 0);
  return LlamaWritten{std::max<std::int64_t>(end.end_ns, 0),
                      has_rounds ? std::max<std::int64_t>(wanted - emitted, 0) : 0};
}

}  // namespace draftscope::traces
