// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/replay_lookup.h"

#include <algorithm>
#include <optional>

#include "replay/draft_walk.h"
#include "replay/policy_settings.h"

namespace draftscope::simulator {

namespace {

using Text = std::span<const std::int32_t>;
using Match = LookupOptions::Match;

/// How many tokens before `behind` are those at the text's end, at most `most`.
std::int32_t matching(Text text, std::int32_t behind, std::int32_t most) {
  std::int32_t length = 0;
  while (length < std::min(behind, most) && text[static_cast<std::size_t>(behind - 1 - length)] ==
                                                text[text.size() - 1 - static_cast<std::size_t>(length)])
    ++length;
  return length;
}

/// The place behind the longest match that ends at `last` or before, the leftmost among equal ones.
std::optional<std::int32_t> find_longest(Text text, std::int32_t last, std::int32_t least) {
  std::int32_t best = 0;
  std::optional<std::int32_t> place;
  for (std::int32_t behind = 1; behind <= last; ++behind) {
    const std::int32_t length = matching(text, behind, static_cast<std::int32_t>(text.size()));
    if (length <= best) continue;
    best = length;
    place = behind;
  }
  return best >= least ? place : std::nullopt;
}

/// Of the last `size` tokens' leftmost occurrence, which must not end behind `last`, or of the latest that
/// does not.
std::optional<std::int32_t> find_ngram(Text text, std::int32_t size, std::int32_t last, Match match) {
  const auto tokens = static_cast<std::int32_t>(text.size());
  std::optional<std::int32_t> place;
  for (std::int32_t behind = size; behind < tokens; ++behind) {
    if (matching(text, behind, size) < size) continue;
    if (match == Match::leftmost) return behind <= last ? std::optional(behind) : std::nullopt;
    if (behind <= last) place = behind;
  }
  return place;
}

std::optional<std::int32_t> find_continuation(Text text, const LookupOptions& options) {
  const auto tokens = static_cast<std::int32_t>(text.size());
  const std::int32_t last = options.is_published ? tokens - options.length : tokens - 1;
  if (options.match == Match::longest) return find_longest(text, last, options.smallest_ngram);
  for (std::int32_t size = options.ngram; size >= options.smallest_ngram; --size) {
    // The published code's guard against the text's end matching itself.
    const std::int32_t guarded = options.is_published ? std::min(last, tokens - size - 1) : last;
    if (const auto place = find_ngram(text, size, guarded, options.match)) return place;
  }
  return std::nullopt;
}

bool contains(std::span<const std::int32_t> tokens, std::int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

/// The token that ended the text, if it is known.
std::optional<std::int32_t> end_token(const ShadowTable& table, const ReplayConditions& conditions) {
  if (!table.end_cells.empty()) return table.end_cells.back().token;
  if (conditions.end_tokens.size() == 1) return conditions.end_tokens.front();
  return std::nullopt;
}

}  // namespace

Result<LookupOptions> lookup_options(std::string_view specification) {
  constexpr std::string_view name = "prompt-lookup";
  const std::size_t colon = specification.find(':');
  const std::string_view text =
      colon == std::string_view::npos ? std::string_view() : specification.substr(colon + 1);
  DRAFTSCOPE_TRY_ASSIGN(PolicySettings settings, PolicySettings::of_text(name, text));
  for (const auto& [key, value] : settings.values())
    if (key != "ngram" && key != "smallest-ngram" && key != "length" && key != "match" && key != "reading")
      return fail(
          "strategy {}: unknown parameter \"{}\", expected one of: ngram, smallest-ngram, length, match, "
          "reading",
          name, key);
  for (const auto& [key, value] : {std::pair{"ngram", "3"},
                                   {"smallest-ngram", "1"},
                                   {"length", "10"},
                                   {"match", "leftmost"},
                                   {"reading", "published"}})
    settings.set_default(key, value);
  LookupOptions options;
  DRAFTSCOPE_TRY_ASSIGN(options.ngram, settings.integer("ngram", 1, 16));
  DRAFTSCOPE_TRY_ASSIGN(options.smallest_ngram, settings.integer("smallest-ngram", 1, options.ngram));
  DRAFTSCOPE_TRY_ASSIGN(options.length, settings.integer("length", 1, 63));
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t match, settings.one_of("match", {"leftmost", "latest", "longest"}));
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t reading, settings.one_of("reading", {"published", "transformers"}));
  options.match = static_cast<Match>(match);
  options.is_published = reading == 0;
  return options;
}

std::vector<std::int32_t> lookup_guesses(Text text, const LookupOptions& options,
                                         std::span<const std::int32_t> end_tokens, std::int32_t vocab) {
  std::vector<std::int32_t> guesses;
  const auto place = find_continuation(text, options);
  if (!place) {
    constexpr std::int32_t published_guess = 100;
    if (options.is_published) guesses.push_back(std::min(published_guess, vocab - 1));
    return guesses;
  }
  for (const std::int32_t token : text.subspan(static_cast<std::size_t>(*place))) {
    if (static_cast<std::int32_t>(guesses.size()) == options.length) break;
    if (!options.is_published && contains(end_tokens, token)) break;
    guesses.push_back(token);
  }
  return guesses;
}

std::vector<LookupRound> replay_lookup(const ShadowTable& table, const LookupOptions& options,
                                       const ReplayConditions& conditions, std::int32_t vocab) {
  std::vector<LookupRound> rounds;
  const std::optional<std::int32_t> end = end_token(table, conditions);
  for (std::int32_t root = table.first - 1; has_round(table, root);) {
    const RoundState state = state_at(table, conditions, static_cast<std::int32_t>(rounds.size()), root);
    LookupRound& round = rounds.emplace_back();
    round.root_position = root;
    round.guesses = lookup_guesses(Text(table.text).first(static_cast<std::size_t>(root) + 1), options,
                                   conditions.end_tokens, vocab);
    const PlannedRound plan{.exit = 1, .length = static_cast<std::int32_t>(round.guesses.size())};
    round.outcome.drafted = longest_draft(state, plan, conditions);
    std::int32_t& accepted = round.outcome.accepted;
    while (accepted < round.outcome.drafted) {
      const std::int32_t position = root + 1 + accepted;
      const std::int32_t guess = round.guesses[static_cast<std::size_t>(accepted)];
      const bool is_known = position < table.end() || (position == table.end() && end.has_value());
      if (!is_known) round.status = AnswerStatus::bounded;
      if (!is_known ||
          guess != (position < table.end() ? table.text[static_cast<std::size_t>(position)] : *end))
        break;
      ++accepted;
    }
    round.emitted = emitted_tokens(table, root, accepted);
    root += accepted + 1;
  }
  return rounds;
}

KnownRound known_round(const ShadowTable& table, const LookupRound& round, std::int32_t index) {
  KnownRound known;
  traces::Round& row = known.round;
  row.index = index;
  row.root_position = round.root_position;
  row.planned = static_cast<std::int32_t>(round.guesses.size());
  row.drafted = row.tree_depth = round.outcome.drafted;
  row.accepted = round.outcome.accepted;
  row.emitted = round.emitted;
  row.verify_rows = row.drafted + 1;
  const std::int32_t bonus = row.root_position + 1 + row.accepted;
  if (bonus < table.end())
    row.bonus_token = table.text[static_cast<std::size_t>(bonus)];
  else if (bonus == table.end() && !table.end_cells.empty())
    row.bonus_token = table.end_cells.back().token;
  row.draft_stop = row.planned == 0            ? traces::DraftStop::no_draft
                   : row.drafted < row.planned ? traces::DraftStop::budget
                                               : traces::DraftStop::length;
  for (std::int32_t k = 0; k < row.drafted; ++k)
    known.draft_tokens.push_back({.index = k,
                                  .parent = k - 1,
                                  .token = round.guesses[static_cast<std::size_t>(k)],
                                  .confidence = 1.0,
                                  .probability = 1.0,
                                  .accepted = k < row.accepted,
                                  .tested = k <= row.accepted});
  known.draft = row.drafted > 0 ? 1 : 0;
  return known;
}

RoundStatistics lookup_statistics(std::span<const LookupRound> rounds) {
  RoundStatistics statistics;
  for (const LookupRound& round : rounds)
    add_round(statistics, 1, round.root_position, round.outcome, round.emitted);
  for (DraftStatistics& draft : statistics.drafts) draft.steps = {};
  return statistics;
}

}  // namespace draftscope::simulator
