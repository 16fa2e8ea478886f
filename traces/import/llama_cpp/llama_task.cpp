// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/llama_cpp/llama_task.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "foreign/json_fields.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_rounds = std::int64_t{1} << 17U;

std::int32_t token_of(std::int64_t value) {
  const bool fits = value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(value) : -1;
}

void take_candidate(const LlamaLine& line, LlamaTask& task) {
  // The draft takes the best candidate of each position.
  if (line.values[1] != 0) return;
  if (line.values[2] == 0) task.draft.clear();
  if (line.values[2] == static_cast<std::int64_t>(task.draft.size()) && line.values[2] < max_draft_tokens)
    task.draft.push_back({token_of(line.values[3]), line.number});
}

void end_replay(const LlamaLine& line, LlamaTask& task) {
  task.rounds.back().end_ns = line.time_us;
  task.rounds.back().bonus_token = task.own_token;
  task.replayed = task.own_token = task.draft_tokens = task.drafted_us = -1;
  task.unsaid.reset();
}

/// Adds the draft tokens that were shown, if all of the round's were.
void add_draft(const LlamaTask& task, ForeignRound& round) {
  if (task.draft_tokens != round.drafted || static_cast<std::int64_t>(task.draft.size()) < round.drafted)
    return;
  for (std::int64_t i = 0; i < round.drafted; ++i) {
    const LlamaCandidate& one = task.draft[static_cast<std::size_t>(i)];
    round.tokens.push_back(one.token);
    round.confidences.push_back(one.probability >= 0.0 && one.probability <= 1.0
                                    ? one.probability
                                    : std::numeric_limits<double>::quiet_NaN());
  }
}

Result<void> add_round(const LlamaLine& line, LlamaTask& task, const std::string& where) {
  const auto [accepted, drafted] = std::pair{line.values[0], line.values[1]};
  if (accepted < 0 || drafted > max_draft_tokens || accepted > drafted)
    return fail(
        "{}: accepts {} of {} draft tokens, expected at most as many as were drafted, and these at most {}",
        where, accepted, drafted, max_draft_tokens);
  // LLAMA_TRACE and --verbose each log a line about the same round.
  if (line.event == LlamaEvent::verified && task.may_repeat && !task.rounds.empty() &&
      task.rounds.back().accepted == accepted && task.rounds.back().drafted == drafted) {
    task.may_repeat = false;
    return {};
  }
  if (line.event == LlamaEvent::verified && task.replayed >= 0 && accepted == drafted &&
      accepted == task.replayed) {
    end_replay(line, task);
    return {};
  }
  if (line.event == LlamaEvent::accepted && task.replayed >= 0) {
    // The context could not be cut, so the accepted tokens were computed again, as a draft that is entirely
    // correct.
    if (accepted != task.replayed || drafted != task.replayed)
      return fail(
          "{}: accepts {} of {} draft tokens, expected {} of {}, the replay of what was accepted before",
          where, accepted, drafted, task.replayed, task.replayed);
    end_replay(line, task);
    task.may_repeat = true;
    return {};
  }
  if (static_cast<std::int64_t>(task.rounds.size()) >= max_rounds)
    return fail("{}: task {} has more than {} rounds, expected fewer", where, task.id, max_rounds);
  ForeignRound round;
  round.accepted = accepted;
  round.drafted = drafted;
  round.bonus_token = task.own_token;
  round.end_ns = line.time_us;
  round.draft_ns = task.draft_tokens == drafted ? task.drafted_us : -1;
  add_draft(task, round);
  task.rounds.push_back(std::move(round));
  task.draft.clear();
  task.unsaid.reset();
  task.draft_tokens = task.drafted_us = task.own_token = -1;
  task.may_repeat = line.event == LlamaEvent::accepted;
  if (line.event == LlamaEvent::restored) task.replayed = accepted;
  return {};
}

Result<void> take_token(const LlamaLine& line, LlamaTask& task, const std::string& where) {
  if (task.unsaid) task.unsaid->time_us = line.time_us;
  if (static_cast<std::int64_t>(task.tokens.size()) >= max_answer_tokens)
    return fail("{}: task {} has more than {} tokens, expected fewer", where, task.id, max_answer_tokens);
  task.tokens.push_back(token_of(line.values[2]));
  if (task.tokens.size() == 1) {
    task.first_token_us = line.time_us;
  } else if (task.is_plain) {
    ForeignRound round;
    round.drafted = 0;
    round.bonus_token = task.tokens.back();
    round.end_ns = line.time_us;
    task.rounds.push_back(std::move(round));
    task.is_plain = false;
  }
  return {};
}

void take_own_token(const LlamaLine& line, LlamaTask& task) {
  // This line comes after LLAMA_TRACE's and before --verbose's, which is missing if the task ends in the
  // round.
  if (task.may_repeat && !task.rounds.empty()) {
    task.rounds.back().bonus_token = token_of(line.values[0]);
    return;
  }
  task.own_token = token_of(line.values[0]);
  task.unsaid = line;
  task.unsaid->event = LlamaEvent::verified;
  task.unsaid->values = {std::max<std::int64_t>(line.values[1], 0) - 1, line.values[2]};
}

/// Takes a sum of draft tokens of the whole task.
Result<void> take_stated_tokens(std::int64_t tokens, std::int64_t& sum, const std::string& where) {
  constexpr std::int64_t max_tokens = std::int64_t{1} << 40U;
  if (tokens < 0 || tokens > max_tokens)
    return fail("{}: its sum of draft tokens is {}, expected 0 to {}", where, tokens, max_tokens);
  sum = tokens;
  return {};
}

/// Reads ", mean acceptance length = 2.50, acceptance rate per position = (0.800, 0.500)", which newer builds
/// write after the sums.
Result<void> take_stated_shares(std::string_view text, LlamaTask& task, const std::string& where) {
  const auto after = [&](std::string_view words) {
    const std::size_t at = text.find(words);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + words.size());
  };
  const auto take = [](std::string_view& rest, double& value) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
  };
  std::string_view length = after("mean acceptance length = ");
  constexpr double max_length = static_cast<double>(max_draft_tokens) + 1.0;
  if (!length.empty() &&
      (!take(length, task.stated_length) || !(task.stated_length >= 0.0 && task.stated_length <= max_length)))
    return fail("{}: its mean acceptance length is {}, expected 0 to {}", where, task.stated_length,
                max_length);
  std::string_view shares = after("acceptance rate per position = (");
  task.stated_positions.clear();
  for (double share = 0.0; take(shares, share);) {
    if (!(share >= 0.0 && share <= 1.0) ||
        static_cast<std::int64_t>(task.stated_positions.size()) >= max_draft_tokens)
      return fail("{}: the acceptance of position {} is {}, expected 0 to 1 at fewer than {} positions",
                  where, task.stated_positions.size(), share, max_draft_tokens);
    task.stated_positions.push_back(share);
  }
  return {};
}

Result<void> add_unsaid(LlamaTask& task, const std::string& where) {
  if (!task.unsaid) return {};
  return add_round(LlamaLine(*task.unsaid), task, where);
}

}  // namespace

Result<void> take_line(const LlamaLine& line, LlamaTask& task, const std::string& where) {
  switch (line.event) {
    case LlamaEvent::candidate:
      take_candidate(line, task);
      return {};
    case LlamaEvent::prompt:
      task.prompt_tokens = std::clamp<std::int64_t>(line.values[2], 0, max_answer_tokens);
      return {};
    case LlamaEvent::drafted:
      task.drafted_us = line.time_us;
      task.draft_tokens = line.values[2];
      task.is_plain = false;
      return {};
    case LlamaEvent::plain_step:
      task.is_plain = true;
      return {};
    case LlamaEvent::own_token:
      take_own_token(line, task);
      return {};
    case LlamaEvent::accepted:
    case LlamaEvent::restored:
    case LlamaEvent::verified:
      return add_round(line, task, where);
    case LlamaEvent::program_round:
      task.own_token = token_of(line.values[2]);
      return add_round(line, task, where);
    case LlamaEvent::program_restored:
      return fail(
          "{}: a checkpoint is restored, after which the program drafts what it had accepted, expected the "
          "log "
          "of a model whose context can be cut",
          where);
    case LlamaEvent::token:
      return take_token(line, task, where);
    case LlamaEvent::prompt_time:
      task.prompt_ms = line.number;
      if (task.prompt_tokens < 0)
        task.prompt_tokens = std::clamp<std::int64_t>(line.values[0], 0, max_answer_tokens);
      return {};
    case LlamaEvent::decode_time:
      DRAFTSCOPE_TRY(add_unsaid(task, where));
      task.generated = line.values[0];
      task.decode_ms = line.number;
      task.end_us = line.time_us;
      return {};
    case LlamaEvent::program_prompt_time:
      task.prompt_tokens = std::clamp<std::int64_t>(line.values[0], 0, max_answer_tokens);
      task.prompt_ms = line.number * 1000.0;
      return {};
    case LlamaEvent::program_decode_time:
      task.generated = line.values[0];
      task.decode_ms = line.number * 1000.0;
      task.end_us = line.time_us;
      return {};
    case LlamaEvent::acceptance:
      DRAFTSCOPE_TRY(take_stated_tokens(line.values[0], task.stated_accepted, where));
      DRAFTSCOPE_TRY(take_stated_tokens(line.values[1], task.stated_drafted, where));
      return take_stated_shares(line.rest, task, where);
    case LlamaEvent::stated_drafted:
      return take_stated_tokens(line.values[0], task.stated_drafted, where);
    case LlamaEvent::stated_accepted:
      return take_stated_tokens(line.values[0], task.stated_accepted, where);
    default:
      return {};
  }
}

Result<void> take_end(const LlamaLine& line, LlamaTask& task, const std::string& where) {
  DRAFTSCOPE_TRY(add_unsaid(task, where));
  if (task.end_us < 0) task.end_us = line.time_us;
  // The prompt's time counts what the cache did not have. The last token is not in the slot.
  if (const auto [tokens, truncated] = std::pair{line.values[0], line.values[1]};
      tokens > 0 && truncated == 0 && task.generated > 0)
    task.prompt_tokens = std::clamp(tokens - task.generated + 1,
                                    std::max<std::int64_t>(task.prompt_tokens, 0), max_answer_tokens);
  return {};
}

}  // namespace draftscope::traces
