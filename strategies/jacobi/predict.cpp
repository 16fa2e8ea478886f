// SPDX-License-Identifier: GPL-3.0-or-later
// Jacobi decoding with another block or rule, from what recorded runs verified. After a sequence of guesses
// that any of them verified, the target's best token is known; on the text it is the text's own. After other
// guesses it is unknown, with two cases: none of them is ever right, or each is what the nearest recorded run
// had at the same position when it was last there.

#include <draftscope/base/to_size.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/round_sources.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

constexpr std::int32_t unknown_token = -1;  // a token that nobody computed

/// A round that was verified: the guesses after its root, and the target's best tokens after the root and
/// after each of them.
struct VerifiedRound {
  std::int32_t root_position = 0;
  const std::vector<std::int32_t>* guesses = nullptr;
  const std::vector<std::int32_t>* best = nullptr;
};

std::vector<VerifiedRound> verified_rounds(const TrainedRecording& trained, const RequestRows* rows) {
  std::vector<VerifiedRound> rounds;
  if (rows == nullptr) return rounds;
  for (const traces::Round& round : rows->rounds) {
    const auto noted = trained.noted_tokens.find(round.id);
    if (noted == trained.noted_tokens.end()) continue;
    const auto guesses = noted->second.find("guesses");
    const auto best = noted->second.find("best");
    if (guesses == noted->second.end() || best == noted->second.end() ||
        best->second.size() != guesses->second.size() + 1)
      continue;
    rounds.push_back({round.root_position, &guesses->second, &best->second});
  }
  return rounds;
}

/// The target's best tokens after one text and guesses, as far as they are known.
class KnownBest {
 public:
  KnownBest(const ShadowTable& table, const ReplayConditions& conditions)
      : table_(table), end_(end_token(table, conditions).value_or(unknown_token)) {}

  void add(const std::vector<VerifiedRound>& rounds) {
    for (const VerifiedRound& round : rounds) {
      Walk walk(round.root_position);
      for (std::size_t i = 0; i < round.guesses->size(); ++i)
        if (step(walk, (*round.guesses)[i])) known_.emplace(walk.key, (*round.best)[i + 1]);
    }
  }

  /// The best tokens after the root and after each guess, as far as they are known.
  void predict(std::int32_t root, std::span<const std::int32_t> guesses,
               std::vector<std::int32_t>& best) const {
    best.assign(1, at(root + 1));
    Walk walk(root);
    for (const std::int32_t guess : guesses) {
      if (!step(walk, guess)) {
        best.push_back(at(walk.position + 1));
        continue;
      }
      const auto found = walk.is_lost ? known_.end() : known_.find(walk.key);
      best.push_back(found == known_.end() ? unknown_token : found->second);
    }
  }

 private:
  /// A place after the text up to a position and the guesses that left it.
  struct Walk {
    explicit Walk(std::int32_t root) : position(root) {}
    std::int32_t position;
    std::uint64_t key = 0;  // of the position and the guesses since; 0 = none
    bool is_lost = false;   // An unknown guess is among them.
  };

  /// Moves on by a guess; returns whether the place is off the text.
  bool step(Walk& walk, std::int32_t guess) const {
    if (walk.key == 0 && guess != unknown_token && guess == at(walk.position + 1) &&
        walk.position + 1 < table_.end()) {
      ++walk.position;
      return false;
    }
    if (walk.key == 0) walk.key = mixed(1, walk.position);
    walk.key = mixed(walk.key, guess);
    walk.is_lost = walk.is_lost || guess == unknown_token;
    return true;
  }
  static std::uint64_t mixed(std::uint64_t key, std::int32_t value) {
    // A step of splitmix64.
    key = (key ^ static_cast<std::uint32_t>(value)) + 0x9e3779b97f4a7c15U;
    key = (key ^ key >> 30U) * 0xbf58476d1ce4e5b9U;
    key = (key ^ key >> 27U) * 0x94d049bb133111ebU;
    return (key ^ key >> 31U) | 1U;
  }
  [[nodiscard]] std::int32_t at(std::int32_t position) const {
    if (position < table_.end()) return table_.text[to_size(position)];
    return position == table_.end() ? end_ : unknown_token;
  }

  const ShadowTable& table_;
  std::int32_t end_;
  std::unordered_map<std::uint64_t, std::int32_t> known_;  // by place off the text
};

struct JacobiOptions {
  std::int32_t block = 0;
  bool is_published = false;
};

JacobiOptions jacobi_options(const speculation::StrategySpecification& jacobi) {
  return {.block = jacobi.integer("block"), .is_published = jacobi.text("rule") == "published"};
}

/// Jacobi decoding of one text, as the engine's strategies do it (engine.cpp).
class JacobiReplay {
 public:
  /// With `assumed`, unknown tokens are those of these rounds; null = they are right nowhere.
  JacobiReplay(const JacobiOptions& options, const KnownBest& known,
               const std::vector<VerifiedRound>* assumed, std::int32_t padding)
      : options_(options),
        known_(known),
        assumed_(assumed),
        padding_(padding),
        guesses_(to_size(options.block), padding),
        is_sure_(guesses_.size(), true) {}

  RoundGuesses guess(std::span<const std::int32_t> text, std::span<const LookupRound> earlier) {
    if (planned_ >= 0) end_round(earlier[to_size(planned_)]);
    planned_ = static_cast<std::int32_t>(earlier.size());
    root_ = static_cast<std::int32_t>(text.size()) - 1;
    chain_.clear();
    if (options_.is_published && !settled_) return {chain_, static_cast<std::int32_t>(guesses_.size()) - 1};
    for (const std::int32_t token : guesses_)
      chain_.push_back({token, static_cast<std::int32_t>(chain_.size()) - 1});
    return {chain_};
  }

  /// Ends the request; returns whether an unknown token never decided anything.
  bool finish(std::span<const LookupRound> rounds) {
    if (planned_ >= 0 && to_size(planned_) < rounds.size()) note_sureness(rounds[to_size(planned_)]);
    return is_exact_;
  }

 private:
  /// A guess decides if it was accepted, or the first that was not.
  void note_sureness(const LookupRound& round) {
    if (options_.is_published && !settled_) return;
    const auto decisive = to_size(round.outcome.accepted) + 1;
    for (std::size_t i = 0; i < std::min({decisive, round.guesses.size(), is_sure_.size()}); ++i)
      is_exact_ = is_exact_ && is_sure_[i];
  }

  void end_round(const LookupRound& round) {
    note_sureness(round);
    const bool is_settling = options_.is_published && !settled_;
    const std::size_t verified = is_settling ? guesses_.size() - 1 : round.guesses.size();
    known_.predict(root_, std::span(guesses_).first(verified), best_);
    std::vector<bool> is_sure(best_.size(), true);
    for (std::size_t i = 0; i < best_.size(); ++i)
      if (best_[i] == unknown_token) {
        is_sure[i] = false;
        best_[i] = assumed_at(root_ + 1 + static_cast<std::int32_t>(i));
      }
    if (!options_.is_published) {
      const std::size_t next = to_size(round.outcome.accepted) + 1;
      for (std::size_t i = 0; i < guesses_.size(); ++i) {
        const bool is_predicted = next + i < best_.size();
        guesses_[i] = is_predicted ? best_[next + i] : padding_;
        is_sure_[i] = !is_predicted || is_sure[next + i];
      }
      return;
    }
    if (settled_) return start_block();
    bool changed = best_.front() != guesses_.front();
    guesses_.erase(guesses_.begin());
    is_sure_.erase(is_sure_.begin());
    for (std::size_t i = 0; i < guesses_.size(); ++i) {
      changed = changed || guesses_[i] != best_[i + 1] || guesses_[i] == unknown_token;
      // Whether the block settles depends on every token of it.
      is_exact_ = is_exact_ && is_sure[i + 1];
      guesses_[i] = best_[i + 1];
      is_sure_[i] = is_sure[i + 1];
    }
    settled_ = !changed;
    if (guesses_.empty()) start_block();
  }

  void start_block() {
    guesses_.assign(to_size(options_.block), padding_);
    is_sure_.assign(guesses_.size(), true);
    settled_ = false;
  }

  /// The token that the assumed rounds had for a position when they were last at or before the root.
  [[nodiscard]] std::int32_t assumed_at(std::int32_t position) const {
    if (assumed_ == nullptr) return unknown_token;
    const auto after = std::ranges::upper_bound(*assumed_, root_, {}, &VerifiedRound::root_position);
    if (after == assumed_->begin()) return unknown_token;
    const VerifiedRound& round = *std::prev(after);
    const auto place = to_size(position - round.root_position - 1);
    return place < round.best->size() ? (*round.best)[place] : unknown_token;
  }

  JacobiOptions options_;
  const KnownBest& known_;
  const std::vector<VerifiedRound>* assumed_;
  std::int32_t padding_;
  std::vector<std::int32_t> guesses_;
  std::vector<bool> is_sure_;  // whether each guess is known
  bool settled_ = false;
  bool is_exact_ = true;
  std::int32_t planned_ = -1;  // index of the latest round with guesses; -1 = none
  std::int32_t root_ = 0;      // its root position
  std::vector<std::int32_t> best_;
  std::vector<speculation::TextGuess> chain_;
};

/// The recorded run whose rounds are assumed where nothing is known: of the same rule, then of the nearest
/// block. Null if none has any.
const RunRows* nearest_run(const TrainedRecording& trained, const JacobiOptions& asked) {
  const RunRows* nearest = nullptr;
  std::pair<bool, std::int32_t> least;
  for (const RunRows& run : trained.runs) {
    if (run.run->strategy != "jacobi") continue;
    const auto recorded = run_specification(*run.run, trained.n_layers());
    const bool has_notes = std::ranges::any_of(
        run.requests, [&](const RequestRows& rows) { return !verified_rounds(trained, &rows).empty(); });
    if (!recorded || !has_notes) continue;
    const JacobiOptions options = jacobi_options(*recorded);
    const std::pair distance(options.is_published != asked.is_published,
                             std::abs(options.block - asked.block));
    if (nearest != nullptr && least <= distance) continue;
    nearest = &run;
    least = distance;
  }
  return nearest;
}

Result<TextRounds> jacobi_rounds(const TrainedRecording& trained,
                                 const speculation::StrategySpecification& strategy, PricedGuard* guard) {
  const JacobiOptions asked = jacobi_options(strategy);
  const RunRows* const nearest = nearest_run(trained, asked);
  if (nearest == nullptr)
    return fail("strategy {}: {}; found no run that notes it, expected a run of jacobi", strategy.given(),
                strategy.no_replay());
  const auto& tables = trained.texts().tables;
  const std::vector<std::int32_t>& end_tokens = trained.conditions.end_tokens;
  const std::int32_t padding = end_tokens.empty() ? 0 : end_tokens.front();
  std::vector<KnownBest> known;
  known.reserve(tables.size());
  for (const ShadowTable& table : tables) known.emplace_back(table, trained.conditions);
  std::vector<std::vector<VerifiedRound>> assumed(tables.size());
  for (const RunRows& run : trained.runs) {
    if (run.run->strategy != "jacobi") continue;
    const std::vector<const RequestRows*> requests = requests_of_texts(trained, run);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      std::vector<VerifiedRound> rounds = verified_rounds(trained, requests[i]);
      known[i].add(rounds);
      if (&run == nearest) assumed[i] = std::move(rounds);
    }
  }
  TextRounds answer;
  bool is_exact = true;
  for (const bool is_assumed : {true, false}) {
    auto& all = is_assumed ? answer.requests : answer.fewest;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      JacobiReplay replay(asked, known[i], is_assumed ? &assumed[i] : nullptr, padding);
      all.push_back(replay_guesses(
          tables[i], trained.conditions, guard,
          [&](std::span<const std::int32_t> text, auto earlier) { return replay.guess(text, earlier); }));
      is_exact = replay.finish(all.back()) && is_exact;
    }
  }
  if (is_exact) {
    answer.fewest.clear();
    return answer;
  }
  answer.status = AnswerStatus::approximate;
  answer.notes.push_back(fmt::format(
      "after guesses that nobody verified, the target's best tokens are taken to be those of run {} at the "
      "same positions; in the second case never right",
      nearest->run->specification));
  return answer;
}

}  // namespace

StrategyPredictions predict_of_jacobi() {
  return {.strategies = {{.name = "jacobi", .text_rounds = jacobi_rounds}}};
}

}  // namespace draftscope::simulator
