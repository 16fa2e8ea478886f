// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/replay_lookup.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "rounds/replay/priced_guard.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {

namespace {

/// A round's guesses as the engine uses them: those beyond the limits, and their children, are left out.
/// Extra rows come before guesses, but all are left out where they leave no row for the root.
void add_guesses(const RoundGuesses& planned, const RoundState& state, const ReplayConditions& conditions,
                 LookupRound& round) {
  const auto all = planned.guesses;
  const std::int32_t room = std::min(conditions.verify_rows, conditions.context_rows - state.root_position);
  round.extra_rows = planned.extra_rows < room ? planned.extra_rows : 0;
  std::vector<std::int32_t> depths;
  for (const speculation::TextGuess& guess : all) {
    depths.push_back(guess.parent < 0 ? 1 : depths[static_cast<std::size_t>(guess.parent)] + 1);
    round.planned = std::max(round.planned, depths.back());
  }
  const std::int32_t rows = room - round.extra_rows;
  const std::int32_t steps =
      std::min(longest_draft(state, {.exit = 1, .length = round.planned}, conditions), std::max(rows - 1, 0));
  std::vector<std::int32_t> place(all.size(), -1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int32_t parent = all[i].parent < 0 ? -1 : place[static_cast<std::size_t>(all[i].parent)];
    if ((all[i].parent >= 0 && parent < 0) || depths[i] > steps) continue;
    if (static_cast<std::int32_t>(round.guesses.size()) + 1 >= rows) break;
    place[i] = static_cast<std::int32_t>(round.guesses.size());
    round.guesses.push_back({all[i].token, parent, all[i].probability});
  }
  round.outcome.drafted = static_cast<std::int32_t>(round.guesses.size());
}

bool has_child(const LookupRound& round, std::int32_t node) {
  return std::ranges::any_of(round.guesses,
                             [&](const speculation::TextGuess& guess) { return guess.parent == node; });
}

/// Accepts guesses along the text.
void follow_text(const ShadowTable& table, std::optional<std::int32_t> end, LookupRound& round) {
  for (std::int32_t at = -1; has_child(round, at); at = round.path.back()) {
    const std::int32_t position = round.root_position + 1 + round.outcome.accepted;
    const bool finds_end = end.has_value() && !table.ended_at_string;
    const bool is_known = position < table.end() || (position == table.end() && finds_end);
    if (!is_known) {
      round.status = AnswerStatus::bounded;
      return;
    }
    const std::int32_t token = position < table.end() ? table.text[static_cast<std::size_t>(position)] : *end;
    const auto right = std::ranges::find_if(round.guesses, [&](const speculation::TextGuess& guess) {
      return guess.parent == at && guess.token == token;
    });
    if (right == round.guesses.end()) return;
    round.path.push_back(static_cast<std::int32_t>(right - round.guesses.begin()));
    ++round.outcome.accepted;
  }
}

}  // namespace

std::optional<std::int32_t> end_token(const ShadowTable& table, const ReplayConditions& conditions) {
  if (!table.end_cells.empty()) return table.end_cells.back().token;
  if (conditions.end_tokens.size() == 1) return conditions.end_tokens.front();
  return std::nullopt;
}

std::vector<LookupRound> replay_guesses(const ShadowTable& table, const ReplayConditions& conditions,
                                        PricedGuard* guard, const GuessAfter& guess_after) {
  std::vector<LookupRound> rounds;
  const std::optional<std::int32_t> end = end_token(table, conditions);
  if (guard != nullptr) guard->begin_request();
  for (std::int32_t root = table.first - 1; has_round(table, root);) {
    const RoundState state = state_at(table, conditions, root);
    LookupRound round{.root_position = root};
    if (guard == nullptr || guard->takes_strategy()) {
      add_guesses(guess_after(std::span(table.text).first(static_cast<std::size_t>(root) + 1), rounds), state,
                  conditions, round);
    }
    follow_text(table, end, round);
    round.emitted = emitted_tokens(table, root, round.outcome.accepted);
    if (guard != nullptr)
      guard->end_round(root, 1, 0, round.outcome.drafted + round.extra_rows, round.emitted, 0);
    root += round.outcome.accepted + 1;
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<LookupRound> replay_lookup(const ShadowTable& table, const speculation::LookupOptions& options,
                                       const ReplayConditions& conditions, std::int32_t vocab,
                                       PricedGuard* guard) {
  speculation::PromptLookup lookup(options, vocab);
  lookup.begin_request(table.text.size(), conditions.end_tokens);
  std::vector<speculation::TextGuess> chain;
  return replay_guesses(table, conditions, guard, [&](std::span<const std::int32_t> text, const auto&) {
    chain.clear();
    for (const std::int32_t token : lookup.guess(text))
      chain.push_back({token, static_cast<std::int32_t>(chain.size()) - 1});
    return RoundGuesses{chain};
  });
}

std::vector<std::vector<LookupRound>> replay_suffixes(std::span<const ShadowTable> tables,
                                                      const speculation::SuffixOptions& options,
                                                      const ReplayConditions& conditions,
                                                      PricedGuard* guard) {
  std::vector<std::vector<LookupRound>> requests;
  speculation::SuffixDecoding rule(options);
  for (const ShadowTable& table : tables) {
    rule.begin_request(std::span(table.text).first(static_cast<std::size_t>(table.prompt_tokens)),
                       table.text.size(), conditions.end_tokens);
    requests.push_back(replay_guesses(
        table, conditions, guard,
        [&](std::span<const std::int32_t> text, const auto&) { return RoundGuesses{rule.guess(text)}; }));
    // A strategy without a round has not seen the text.
    if (!requests.back().empty()) rule.extend(table.text);
  }
  return requests;
}

namespace {

/// Stored successors of each token, as assumed; changes are passed to the rule.
class TakenSuccessors {
 public:
  TakenSuccessors(const speculation::RecyclingOptions& options, std::int32_t vocab)
      : options_(options), rule_(options, vocab) {}

  void begin_request(std::span<const std::int32_t> end_tokens) {
    rule_.begin_request(end_tokens);
    if (options_.across_requests) return;
    behind_.clear();
    shown_.clear();
    verified_.clear();
  }
  /// Notes that a round verifies the root and its guesses, so that their successors are kept.
  void verify(std::int32_t root, std::span<const speculation::TextGuess> guesses) {
    if (options_.across_requests) return;
    verify(root);
    for (const speculation::TextGuess& guess : guesses) verify(guess.token);
  }
  /// Stores that `next` follows `token` in the text, which makes it the target's best there.
  void see(std::int32_t token, std::int32_t next) {
    std::vector<std::int32_t>& known = behind_[token];
    std::erase(known, next);
    known.insert(known.begin(), next);
    keep(token, known);
  }
  /// Stores the successors in a recorded tree; other known ones stay after them. Where nothing goes on from
  /// request to request, the recorded tree may be of an earlier one: it counts once the request has verified
  /// the token.
  void show(const KeptSuccessors& shown) {
    if (!options_.across_requests && !verified_.contains(shown.token)) {
      shown_[shown.token] = shown;
      return;
    }
    std::vector<std::int32_t>& known = behind_[shown.token];
    for (auto token = shown.successors.rbegin(); token != shown.successors.rend(); ++token) {
      std::erase(known, *token);
      known.insert(known.begin(), *token);
    }
    keep(shown.token, known);
  }
  [[nodiscard]] std::span<const speculation::TextGuess> guess(std::span<const std::int32_t> text) {
    return rule_.guess(text);
  }

 private:
  void verify(std::int32_t token) {
    if (!verified_.insert(token).second) return;
    if (const auto shown = shown_.find(token); shown != shown_.end()) show(shown->second);
  }
  void keep(std::int32_t token, std::vector<std::int32_t>& known) {
    known.resize(std::min(known.size(), static_cast<std::size_t>(options_.successors)));
    rule_.keep(token, known);
  }

  speculation::RecyclingOptions options_;
  speculation::TokenRecycling rule_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> behind_;
  // Recorded successors of a request's tokens, each to count once the token is verified.
  std::unordered_map<std::int32_t, KeptSuccessors> shown_;
  std::unordered_set<std::int32_t> verified_;  // tokens that the request verified
};

}  // namespace

std::vector<std::vector<LookupRound>> replay_recycling(std::span<const ShadowTable> tables,
                                                       std::span<const std::vector<KeptSuccessors>> kept,
                                                       const speculation::RecyclingOptions& options,
                                                       const ReplayConditions& conditions, std::int32_t vocab,
                                                       PricedGuard* guard) {
  std::vector<std::vector<LookupRound>> requests;
  TakenSuccessors taken(options, vocab);
  for (std::size_t request = 0; request < tables.size(); ++request) {
    const ShadowTable& table = tables[request];
    taken.begin_request(conditions.end_tokens);
    // Rows of the prompt are not verified; the first round's root is.
    auto seen = static_cast<std::size_t>(table.prompt_tokens);
    std::size_t shown = 0;
    const auto guess_after = [&](std::span<const std::int32_t> text, const auto&) {
      for (; seen + 1 < text.size(); ++seen) taken.see(text[seen], text[seen + 1]);
      const auto root = static_cast<std::int32_t>(text.size()) - 1;
      for (; shown < kept[request].size() && kept[request][shown].root_position <= root; ++shown)
        taken.show(kept[request][shown]);
      const auto guesses = taken.guess(text);
      taken.verify(text.back(), guesses);
      return RoundGuesses{guesses};
    };
    requests.push_back(replay_guesses(table, conditions, guard, guess_after));
    for (; seen + 1 < table.text.size() && !requests.back().empty(); ++seen)
      taken.see(table.text[seen], table.text[seen + 1]);
    for (LookupRound& round : requests.back()) round.status = AnswerStatus::approximate;
  }
  return requests;
}

KnownRound known_round(const ShadowTable& table, const LookupRound& round, std::int32_t index) {
  KnownRound known;
  traces::Round& row = known.round;
  row.index = index;
  row.root_position = round.root_position;
  row.planned = round.planned;
  row.drafted = round.outcome.drafted;
  row.accepted = round.outcome.accepted;
  row.emitted = round.emitted;
  row.verify_rows = row.drafted + round.extra_rows + 1;
  row.bonus_token = bonus_token(table, row);
  for (const speculation::TextGuess& guess : round.guesses) {
    const auto is_on_path = [&](std::int32_t node) {
      return std::ranges::find(round.path, node) != round.path.end();
    };
    const auto k = static_cast<std::int32_t>(known.draft_tokens.size());
    known.draft_tokens.push_back({.index = k,
                                  .parent = guess.parent,
                                  .token = guess.token,
                                  .confidence = 1.0,
                                  .probability = 1.0,
                                  .accepted = is_on_path(k),
                                  .tested = guess.parent < 0 || is_on_path(guess.parent)});
  }
  row.tree_depth = traces::tree_depth(known.draft_tokens);
  row.draft_stop = row.planned == 0               ? traces::DraftStop::no_draft
                   : row.tree_depth < row.planned ? traces::DraftStop::budget
                                                  : traces::DraftStop::length;
  known.draft = row.verify_rows > 1 ? 1 : 0;
  return known;
}

RoundStatistics lookup_statistics(std::span<const LookupRound> rounds) {
  RoundStatistics statistics;
  for (const LookupRound& round : rounds)
    add_round(statistics, 1, round.root_position, round.outcome, round.emitted, 0, round.extra_rows);
  for (DraftStatistics& draft : statistics.drafts) draft.steps = {};
  return statistics;
}

}  // namespace draftscope::simulator
