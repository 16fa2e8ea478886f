// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/answer_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "foreign/json_fields.h"

namespace draftscope::traces {
namespace {

/// One element of `choices`.
struct ChoiceTurns {
  std::vector<Answer> turns;         ///< Answers with texts, counts, times and rounds.
  bool are_turns_told_apart = true;  ///< False = decoding_steps do not tell where a turn's rounds end.
};

constexpr std::int64_t max_steps = std::int64_t{1} << 31U;

/// Reads one text per turn; SWIFT has a single text in place of the list.
Result<std::vector<std::string>> read_texts(const JsonFields& fields) {
  const nlohmann::json* const turns = fields.find("turns");
  if (turns == nullptr) return fail("{}: turns is missing, expected a list of texts", fields.where());
  if (turns->is_string()) return std::vector<std::string>{turns->get<std::string>()};
  if (!turns->is_array()) return unexpected_json(*turns, fields.where(), "turns", "a list of texts");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < turns->size(); ++i) {
    if (!(*turns)[i].is_string())
      return unexpected_json((*turns)[i], fields.where(), fmt::format("turns[{}]", i), "text");
    texts.push_back((*turns)[i].get<std::string>());
  }
  if (texts.empty()) return fail("{}: turns is empty, expected at least one text", fields.where());
  return texts;
}

/// Number of rounds in each turn. Where the steps do not add up to the rounds (some methods count them from
/// 0), a turn's rounds end with the token that completes it.
std::vector<std::size_t> rounds_of_turns(const std::vector<std::int64_t>& steps,
                                         const std::vector<std::int64_t>& new_tokens,
                                         const std::vector<std::int64_t>& accept_lengths, bool& told_apart) {
  const std::size_t turns = new_tokens.size();
  const auto rounds = static_cast<std::int64_t>(accept_lengths.size());
  std::vector<std::size_t> counts(turns, 0);
  if (std::accumulate(steps.begin(), steps.end(), std::int64_t{0}) == rounds && steps.size() == turns) {
    std::copy(steps.begin(), steps.end(), counts.begin());
    return counts;
  }
  told_apart = turns == 1;
  std::size_t turn = 0;
  std::int64_t tokens = 0;
  for (const std::int64_t length : accept_lengths) {
    if (tokens >= new_tokens[turn] && turn + 1 < turns) {
      ++turn;
      tokens = 0;
    }
    ++counts[turn];
    tokens += length;
  }
  return counts;
}

Result<std::vector<std::int64_t>> required(Result<std::optional<std::vector<std::int64_t>>> list,
                                           const JsonFields& fields, const char* name, std::size_t turns) {
  if (!list) return tl::unexpected<Error>(std::move(list).error());
  if (!*list) return fail("{}: {} is missing, expected a list with an entry a turn", fields.where(), name);
  if ((*list)->size() != turns)
    return fail("{}: {} has {} entries, expected one a turn ({})", fields.where(), name, (*list)->size(),
                turns);
  return std::move(**list);
}

Result<ChoiceTurns> read_choice(const nlohmann::json& choice, const std::string& where) {
  if (!choice.is_object()) return unexpected_json(choice, where, "a choice", "a JSON object");
  const JsonFields fields(choice, where);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> texts, read_texts(fields));
  DRAFTSCOPE_TRY_ASSIGN(const auto new_tokens, required(fields.integers("new_tokens", 0, max_answer_tokens),
                                                        fields, "new_tokens", texts.size()));
  DRAFTSCOPE_TRY_ASSIGN(const auto steps, fields.integers("decoding_steps", 0, max_steps));
  DRAFTSCOPE_TRY_ASSIGN(const auto wall_times, fields.seconds("wall_time"));
  if (wall_times && wall_times->size() != texts.size())
    return fail("{}: wall_time has {} entries, expected one a turn ({})", where, wall_times->size(),
                texts.size());
  DRAFTSCOPE_TRY_ASSIGN(const auto lengths, fields.integers("accept_lengths", 0, max_draft_tokens + 1));

  ChoiceTurns result;
  const std::vector<std::int64_t> accept_lengths = lengths.value_or(std::vector<std::int64_t>{});
  const std::vector<std::size_t> counts = rounds_of_turns(
      steps.value_or(std::vector<std::int64_t>{}), new_tokens, accept_lengths, result.are_turns_told_apart);
  auto length = accept_lengths.begin();
  for (std::size_t turn = 0; turn < texts.size(); ++turn) {
    Answer answer;
    answer.turn = static_cast<std::int32_t>(turn);
    answer.text = texts[turn];
    answer.new_tokens = new_tokens[turn];
    if (wall_times) answer.wall_ns = (*wall_times)[turn];
    for (std::size_t i = 0; i < counts[turn]; ++i, ++length)
      answer.rounds.push_back({.accepted = std::max<std::int64_t>(*length - 1, 0), .emitted = *length});
    result.turns.push_back(std::move(answer));
  }
  return result;
}

}  // namespace

Result<void> add_choices(const JsonFields& fields, const Answer& asked, ImportContext& context,
                         bool tells_turns, const std::string& where) {
  const nlohmann::json* const choices = fields.find("choices");
  if (choices == nullptr || !choices->is_array() || choices->empty())
    return fail("{}: choices is {}, expected a list with at least one answer", where,
                choices == nullptr    ? "missing"
                : choices->is_array() ? "empty"
                                      : choices->type_name());
  for (std::size_t i = 0; i < choices->size(); ++i) {
    const std::string choice_where = fmt::format("{}: choices[{}]", where, i);
    DRAFTSCOPE_TRY_ASSIGN(ChoiceTurns turns, read_choice((*choices)[i], choice_where));
    if (tells_turns && !turns.are_turns_told_apart) context.target.note(MissingData::turns);
    for (Answer& answer : turns.turns) {
      answer.run = asked.run;
      answer.question_id = asked.question_id;
      answer.category = asked.category;
      answer.repeat = asked.repeat + static_cast<std::int32_t>(i);
      DRAFTSCOPE_TRY(context.answers.add(std::move(answer), choice_where));
    }
  }
  return {};
}

}  // namespace draftscope::traces
