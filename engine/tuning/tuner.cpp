// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/tuner.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::engine {

namespace {

bool is_teacher_forced(const Proposed& proposed) {
  return proposed.scored_by == ScoredBy::teacher_forced;
}

/// An earlier trial of the same setting, if another one would give the same; null = none. A trial that was
/// stopped early would be stopped again, since the floor only rises. A ranking's trial tells too little.
const Trial* known(const Tuning& tuning, const Policy& policy, const Proposed& proposed) {
  if (!tuning.same_every_time && !is_teacher_forced(proposed)) return nullptr;
  const auto same = std::find_if(policy.trials.begin(), policy.trials.end(), [&](const Trial& trial) {
    const bool ranked = trial.candidate && trial.candidate->origin == CandidateOrigin::single;
    return trial.setting == proposed.setting && trial.scored_by == proposed.scored_by &&
           (trial.prompts == proposed.prompts || (is_teacher_forced(proposed) && !ranked));
  });
  return same == policy.trials.end() ? nullptr : &*same;
}

/// Another process's trial of the proposal; null = none.
const Trial* taken(const Tuning& tuning, const Proposed& proposed) {
  const auto same = std::find_if(tuning.taken.begin(), tuning.taken.end(), [&](const Trial& trial) {
    return trial.setting == proposed.setting && trial.scored_by == proposed.scored_by &&
           trial.prompts == proposed.prompts;
  });
  return same == tuning.taken.end() ? nullptr : &*same;
}

/// The lowest score among the current finalists: a candidate must reach it to become one.
double floor_of(const Tuning& tuning, const Policy& policy) {
  std::map<std::string_view, double> scores;
  for (const Trial& trial : policy.trials)
    if (trial.prompts == tuning.prompts) scores.emplace(trial.setting, trial.measured.score);
  std::vector<double> sorted;
  sorted.reserve(scores.size());
  for (const auto& [setting, score] : scores) sorted.push_back(score);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const auto finalists = static_cast<std::size_t>(tuning.finalists);
  return sorted.size() < finalists ? -std::numeric_limits<double>::infinity() : sorted[finalists - 1];
}

/// The proposal's trial; none = interrupted.
Result<std::optional<Trial>> trial_of(const Tuning& tuning, const Policy& policy, Proposed proposed) {
  Trial trial{.setting = proposed.setting, .prompts = proposed.prompts, .scored_by = proposed.scored_by};
  if (is_teacher_forced(proposed)) {
    DRAFTSCOPE_TRY_ASSIGN(const auto scored, tuning.score(proposed, floor_of(tuning, policy)));
    if (!scored) return std::nullopt;
    trial.measured = scored->measured;
    trial.prompts = scored->prompts;
    trial.agreement = scored->agreement;
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const auto measured, tuning.measure(trial.setting, trial.prompts));
    if (!measured) return std::nullopt;
    trial.measured = *measured;
  }
  trial.candidate = std::move(proposed.candidate);
  return trial;
}

void adopt(const Trial& trial, Policy& policy) {
  policy.strategy = trial.setting;
  policy.skip_set = trial.candidate ? std::optional(trial.candidate->mask) : std::nullopt;
}

void adopt_best(const CandidateSource& source, Policy& policy) {
  if (const Trial* best = source.best(policy.trials)) adopt(*best, policy);
}

/// Work that remains, in prompts of the search. A prompt of the finals decodes its text, which may take many
/// times as long as scoring it; the first final shows how long.
struct Account {
  using Clock = std::chrono::steady_clock;

  const Tuning& tuning;
  std::int64_t done = 0;
  std::int64_t all = 0;
  std::int64_t weight_of_finals = 1;  ///< prompts of the search that one prompt of the finals counts as
  Clock::time_point begin = Clock::now();
  Clock::time_point searched;  ///< when the finals began

  Account(const Tuning& of, const Policy& policy)
      : tuning(of), all(of.source.prompts_in_all() + (of.has_finals ? finals(of.finalists) : 0)) {
    // A trial that was stopped early had been counted with all prompts.
    for (const Trial& trial : policy.trials)
      all -= trial.scored_by == ScoredBy::teacher_forced ? of.prompts : trial.prompts;
  }
  /// Number of prompts of the finals with `count` finalists.
  [[nodiscard]] std::int64_t finals(std::int64_t count) const {
    return count * tuning.repeats * tuning.prompts;
  }
  void begin_finals(std::int64_t count) {
    searched = Clock::now();
    all = done + finals(count);
  }
  /// Updates the weight after the first finalist of `count` was measured.
  void weigh_finals(std::int64_t count) {
    if (done == 0) return;
    const double searching = std::chrono::duration<double>(searched - begin).count();
    const double final = std::chrono::duration<double>(Clock::now() - searched).count();
    const double ratio = final / tuning.prompts / std::max(searching / static_cast<double>(done), 1e-9);
    constexpr double max_weight = 1e6;
    weight_of_finals = std::llround(std::clamp(ratio, 1.0, max_weight));
    all = done + weight_of_finals * finals(count);
  }
  void add_final(const Policy& policy) { add(policy, weight_of_finals * tuning.prompts); }
  void add(const Policy& policy, std::int64_t prompts) {
    done += prompts;
    if (tuning.progress) tuning.progress(policy, done, all);
  }
};

Result<bool> search(const Tuning& tuning, Policy& policy, Account& account) {
  while (auto proposed = tuning.source.next()) {
    const std::int32_t prompts = proposed->prompts;
    std::optional<Trial> trial;
    const Trial* same = known(tuning, policy, *proposed);
    if (same == nullptr) same = taken(tuning, *proposed);
    if (same != nullptr) {
      trial = *same;
      trial->candidate = std::move(proposed->candidate);
    } else {
      DRAFTSCOPE_TRY_ASSIGN(trial, trial_of(tuning, policy, *std::move(proposed)));
    }
    if (!trial) return false;
    policy.trials.push_back(*std::move(trial));
    DRAFTSCOPE_TRY(tuning.source.observe(policy.trials.back()));
    adopt_best(tuning.source, policy);
    DRAFTSCOPE_TRY(write_policy(tuning.output, policy));
    account.add(policy, prompts);
  }
  return true;
}

/// The best trials of different settings: more prompts first, then the higher score; ties go to the earlier.
std::vector<const Trial*> best_trials(const Policy& policy, std::int32_t count) {
  std::vector<const Trial*> sorted;
  for (const Trial& trial : policy.trials) sorted.push_back(&trial);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Trial* a, const Trial* b) {
    return a->prompts != b->prompts ? a->prompts > b->prompts : a->measured.score > b->measured.score;
  });
  std::vector<const Trial*> best;
  for (const Trial* trial : sorted) {
    if (best.size() == static_cast<std::size_t>(count)) break;
    if (std::none_of(best.begin(), best.end(),
                     [&](const Trial* other) { return other->setting == trial->setting; }))
      best.push_back(trial);
  }
  return best;
}

/// Vanilla as a finalist: its speedup is 1 by definition, its speed is the one measured together with `best`.
Finalist vanilla_beside(const Finalist& best) {
  Finalist vanilla{"vanilla", {}};
  vanilla.repeats.reserve(best.repeats.size());
  for (const Measurement& repeat : best.repeats)
    vanilla.repeats.push_back({.score = 1.0,
                               .tokens_per_second = repeat.vanilla_tokens_per_second,
                               .vanilla_tokens_per_second = repeat.vanilla_tokens_per_second,
                               .tokens_per_round = 1.0});
  return vanilla;
}

/// Measures the finalists in turn; each repeat begins with another one, so that a machine that slows down
/// slows all.
Result<bool> decide(const Tuning& tuning, Policy& policy, Account& account) {
  const std::vector<const Trial*> trials = best_trials(policy, tuning.finalists);
  const std::size_t count = trials.size();
  account.begin_finals(static_cast<std::int64_t>(count));
  std::vector<Finalist> finalists;
  finalists.reserve(trials.size());
  for (const Trial* trial : trials) finalists.push_back({trial->setting, {}});
  for (std::int32_t repeat = 0; repeat < tuning.repeats; ++repeat)
    for (std::size_t turn = 0; turn < count; ++turn) {
      Finalist& finalist = finalists[(static_cast<std::size_t>(repeat) + turn) % count];
      DRAFTSCOPE_TRY_ASSIGN(const auto measured, tuning.measure(finalist.setting, tuning.prompts));
      if (!measured) return false;
      finalist.repeats.push_back(*measured);
      if (repeat == 0 && turn == 0) account.weigh_finals(static_cast<std::int64_t>(count));
      account.add_final(policy);
    }
  std::stable_sort(finalists.begin(), finalists.end(), [](const Finalist& a, const Finalist& b) {
    return score_spread(a.repeats)->median > score_spread(b.repeats)->median;
  });
  if (score_spread(finalists.front().repeats)->median <= 1.0) {
    finalists.insert(finalists.begin(), vanilla_beside(finalists.front()));
    adopt({.setting = finalists.front().setting}, policy);
  } else {
    const auto winner = std::find_if(trials.begin(), trials.end(), [&](const Trial* trial) {
      return trial->setting == finalists.front().setting;
    });
    adopt(**winner, policy);
  }
  policy.repeats = finalists.front().repeats;
  policy.finalists = std::move(finalists);
  return true;
}

}  // namespace

Result<bool> tune(const Tuning& tuning, Policy& policy) {
  for (const Trial& trial : policy.trials) {
    if (const auto seen = tuning.source.observe(trial); !seen)
      return fail("{}: {}", tuning.output.string(), seen.error().message);
  }
  if (policy.finished && !tuning.source.next()) return true;
  policy.finished = false;
  policy.repeats.clear();
  policy.finalists.clear();
  adopt_best(tuning.source, policy);  // An earlier, shorter search may have ended with another best.
  // Written before the first trial too, so that a file that can't be written is reported before any result
  // can be lost.
  DRAFTSCOPE_TRY(write_policy(tuning.output, policy));

  Account account(tuning, policy);
  DRAFTSCOPE_TRY_ASSIGN(const bool searched, search(tuning, policy, account));
  if (!searched) return false;
  if (!tuning.has_finals) return true;
  DRAFTSCOPE_TRY_ASSIGN(const bool decided, decide(tuning, policy, account));
  if (!decided) return false;
  policy.finished = true;
  DRAFTSCOPE_TRY(write_policy(tuning.output, policy));
  return true;
}

}  // namespace draftscope::engine
