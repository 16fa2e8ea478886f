// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/tuner.h>

#include <algorithm>
#include <vector>

namespace draftscope::engine {

namespace {

/// Measurement of an earlier trial of the same setting, where measuring again would give the same.
std::optional<Measurement> known(const Tuning& tuning, const Policy& policy, const Proposed& proposed) {
  if (!tuning.same_every_time) return std::nullopt;
  const auto same = std::find_if(policy.trials.begin(), policy.trials.end(), [&](const Trial& trial) {
    return trial.setting == proposed.setting && trial.prompts == proposed.prompts;
  });
  return same == policy.trials.end() ? std::nullopt : std::optional(same->measured);
}

void adopt(const Trial& trial, Policy& policy) {
  policy.strategy = trial.setting;
  policy.skip_set = trial.candidate ? std::optional(trial.candidate->mask) : std::nullopt;
}

void adopt_best(const CandidateSource& source, Policy& policy) {
  if (const Trial* best = source.best(policy.trials)) adopt(*best, policy);
}

/// Work that remains to be done, in prompts.
struct Account {
  const Tuning& tuning;
  std::int64_t done = 0;
  std::int64_t all = 0;

  Account(const Tuning& of, const Policy& policy)
      : tuning(of), all(of.source.prompts_in_all() + finals(of.finalists)) {
    for (const Trial& trial : policy.trials) all -= trial.prompts;
  }
  /// Prompts of the finals, with so many finalists.
  [[nodiscard]] std::int64_t finals(std::int64_t count) const {
    return count * tuning.repeats * tuning.prompts;
  }
  void add(const Policy& policy, std::int32_t prompts) {
    done += prompts;
    if (tuning.progress) tuning.progress(policy, done, all);
  }
};

Result<bool> search(const Tuning& tuning, Policy& policy, Account& account) {
  while (auto proposed = tuning.source.next()) {
    std::optional<Measurement> measured = known(tuning, policy, *proposed);
    if (!measured) {
      DRAFTSCOPE_TRY_ASSIGN(measured, tuning.measure(proposed->setting, proposed->prompts));
    }
    if (!measured) return false;
    policy.trials.push_back(
        {std::move(proposed->setting), proposed->prompts, *measured, std::move(proposed->candidate)});
    DRAFTSCOPE_TRY(tuning.source.observe(policy.trials.back()));
    adopt_best(tuning.source, policy);
    DRAFTSCOPE_TRY(write_policy(tuning.output, policy));
    account.add(policy, policy.trials.back().prompts);
  }
  return true;
}

/// The best trials of different settings: those on more prompts first, then by score, the earlier of equals.
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

/// Measures the finalists in turn, another one first in each repeat: a machine that slows down slows all.
Result<bool> decide(const Tuning& tuning, Policy& policy, Account& account) {
  const std::vector<const Trial*> trials = best_trials(policy, tuning.finalists);
  const std::size_t count = trials.size();
  account.all = account.done + account.finals(static_cast<std::int64_t>(count));
  std::vector<Finalist> finalists;
  finalists.reserve(trials.size());
  for (const Trial* trial : trials) finalists.push_back({trial->setting, {}});
  for (std::int32_t repeat = 0; repeat < tuning.repeats; ++repeat)
    for (std::size_t turn = 0; turn < count; ++turn) {
      Finalist& finalist = finalists[(static_cast<std::size_t>(repeat) + turn) % count];
      DRAFTSCOPE_TRY_ASSIGN(const auto measured, tuning.measure(finalist.setting, tuning.prompts));
      if (!measured) return false;
      finalist.repeats.push_back(*measured);
      account.add(policy, tuning.prompts);
    }
  std::stable_sort(finalists.begin(), finalists.end(), [](const Finalist& a, const Finalist& b) {
    return score_spread(a.repeats)->median > score_spread(b.repeats)->median;
  });
  const auto winner = std::find_if(trials.begin(), trials.end(), [&](const Trial* trial) {
    return trial->setting == finalists.front().setting;
  });
  adopt(**winner, policy);
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
  adopt_best(tuning.source, policy);  // an earlier, shorter search may have ended with another
  // Before the first trial too: a file that can't be written is known before there is anything to lose.
  DRAFTSCOPE_TRY(write_policy(tuning.output, policy));

  Account account(tuning, policy);
  DRAFTSCOPE_TRY_ASSIGN(const bool searched, search(tuning, policy, account));
  if (!searched) return false;
  DRAFTSCOPE_TRY_ASSIGN(const bool decided, decide(tuning, policy, account));
  if (!decided) return false;
  policy.finished = true;
  DRAFTSCOPE_TRY(write_policy(tuning.output, policy));
  return true;
}

}  // namespace draftscope::engine
