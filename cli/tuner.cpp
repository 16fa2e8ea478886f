// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner.h"

#include <algorithm>
#include <vector>

namespace draftscope::cli {

namespace {

/// What an earlier trial of the same setting found, where measuring again would give the same.
std::optional<engine::Measurement> known(const Tuning& tuning, const engine::Policy& policy,
                                         const Proposed& proposed) {
  if (!tuning.same_every_time) return std::nullopt;
  const auto same = std::find_if(policy.trials.begin(), policy.trials.end(), [&](const engine::Trial& trial) {
    return trial.setting == proposed.setting && trial.prompts == proposed.prompts;
  });
  return same == policy.trials.end() ? std::nullopt : std::optional(same->measured);
}

void adopt(const engine::Trial& trial, engine::Policy& policy) {
  policy.strategy = trial.setting;
  policy.skip_set = trial.candidate ? std::optional(trial.candidate->mask) : std::nullopt;
}

void adopt_best(const CandidateSource& source, engine::Policy& policy) {
  if (const engine::Trial* best = source.best(policy.trials)) adopt(*best, policy);
}

/// What remains to be done, in prompts.
struct Account {
  const Tuning& tuning;
  std::int64_t done = 0;
  std::int64_t all = 0;

  Account(const Tuning& of, const engine::Policy& policy)
      : tuning(of), all(of.source.prompts_in_all() + finals(of.finalists)) {
    for (const engine::Trial& trial : policy.trials) all -= trial.prompts;
  }
  /// Of so many finalists.
  [[nodiscard]] std::int64_t finals(std::int64_t count) const {
    return count * tuning.repeats * tuning.prompts;
  }
  void add(const engine::Policy& policy, std::int32_t prompts) {
    done += prompts;
    if (tuning.progress) tuning.progress(policy, done, all);
  }
};

Result<bool> search(const Tuning& tuning, engine::Policy& policy, Account& account) {
  while (auto proposed = tuning.source.next()) {
    std::optional<engine::Measurement> measured = known(tuning, policy, *proposed);
    if (!measured) {
      DRAFTSCOPE_TRY_ASSIGN(measured, tuning.measure(proposed->setting, proposed->prompts));
    }
    if (!measured) return false;
    policy.trials.push_back(
        {std::move(proposed->setting), proposed->prompts, *measured, std::move(proposed->candidate)});
    DRAFTSCOPE_TRY(tuning.source.observe(policy.trials.back()));
    adopt_best(tuning.source, policy);
    DRAFTSCOPE_TRY(engine::write_policy(tuning.output, policy));
    account.add(policy, policy.trials.back().prompts);
  }
  return true;
}

/// The best trials of different settings: those on more prompts first, then by score, the earlier of equals.
std::vector<const engine::Trial*> best_trials(const engine::Policy& policy, std::int32_t count) {
  std::vector<const engine::Trial*> sorted;
  for (const engine::Trial& trial : policy.trials) sorted.push_back(&trial);
  std::stable_sort(sorted.begin(), sorted.end(), [](const engine::Trial* a, const engine::Trial* b) {
    return a->prompts != b->prompts ? a->prompts > b->prompts : a->measured.score > b->measured.score;
  });
  std::vector<const engine::Trial*> best;
  for (const engine::Trial* trial : sorted) {
    if (best.size() == static_cast<std::size_t>(count)) break;
    if (std::none_of(best.begin(), best.end(),
                     [&](const engine::Trial* other) { return other->setting == trial->setting; }))
      best.push_back(trial);
  }
  return best;
}

/// Measures the finalists in turn, another one first in each repeat: a machine that slows down slows all.
Result<bool> decide(const Tuning& tuning, engine::Policy& policy, Account& account) {
  const std::vector<const engine::Trial*> trials = best_trials(policy, tuning.finalists);
  const std::size_t count = trials.size();
  account.all = account.done + account.finals(static_cast<std::int64_t>(count));
  std::vector<engine::Finalist> finalists;
  finalists.reserve(trials.size());
  for (const engine::Trial* trial : trials) finalists.push_back({trial->setting, {}});
  for (std::int32_t repeat = 0; repeat < tuning.repeats; ++repeat)
    for (std::size_t turn = 0; turn < count; ++turn) {
      engine::Finalist& finalist = finalists[(static_cast<std::size_t>(repeat) + turn) % count];
      DRAFTSCOPE_TRY_ASSIGN(const auto measured, tuning.measure(finalist.setting, tuning.prompts));
      if (!measured) return false;
      finalist.repeats.push_back(*measured);
      account.add(policy, tuning.prompts);
    }
  std::stable_sort(finalists.begin(), finalists.end(),
                   [](const engine::Finalist& a, const engine::Finalist& b) {
                     return engine::spread_of(a.repeats)->median > engine::spread_of(b.repeats)->median;
                   });
  const auto winner = std::find_if(trials.begin(), trials.end(), [&](const engine::Trial* trial) {
    return trial->setting == finalists.front().setting;
  });
  adopt(**winner, policy);
  policy.repeats = finalists.front().repeats;
  policy.finalists = std::move(finalists);
  return true;
}

}  // namespace

Result<bool> tune(const Tuning& tuning, engine::Policy& policy) {
  for (const engine::Trial& trial : policy.trials) {
    if (const auto seen = tuning.source.observe(trial); !seen)
      return fail("{}: {}", tuning.output.string(), seen.error().message);
  }
  if (policy.finished && !tuning.source.next()) return true;
  policy.finished = false;
  policy.repeats.clear();
  policy.finalists.clear();
  adopt_best(tuning.source, policy);  // an earlier, shorter search may have ended with another
  // Before the first trial too: a file that can't be written is known before there is anything to lose.
  DRAFTSCOPE_TRY(engine::write_policy(tuning.output, policy));

  Account account(tuning, policy);
  DRAFTSCOPE_TRY_ASSIGN(const bool searched, search(tuning, policy, account));
  if (!searched) return false;
  DRAFTSCOPE_TRY_ASSIGN(const bool decided, decide(tuning, policy, account));
  if (!decided) return false;
  policy.finished = true;
  DRAFTSCOPE_TRY(engine::write_policy(tuning.output, policy));
  return true;
}

}  // namespace draftscope::cli
