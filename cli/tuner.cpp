// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner.h"

#include <algorithm>

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

void adopt_best(const CandidateSource& source, engine::Policy& policy) {
  const engine::Trial* best = source.best(policy.trials);
  if (best == nullptr) return;
  policy.strategy = best->setting;
  policy.skip_set = best->candidate ? std::optional(best->candidate->mask) : std::nullopt;
}

/// What remains to be done, in prompts.
struct Account {
  const Tuning& tuning;
  std::int64_t done = 0;
  std::int64_t all = 0;

  Account(const Tuning& of, const engine::Policy& policy)
      : tuning(of), all(of.source.prompts_in_all() + std::int64_t{of.repeats} * of.prompts) {
    for (const engine::Trial& trial : policy.trials) all -= trial.prompts;
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

}  // namespace

Result<bool> tune(const Tuning& tuning, engine::Policy& policy) {
  for (const engine::Trial& trial : policy.trials) {
    if (const auto seen = tuning.source.observe(trial); !seen)
      return fail("{}: {}", tuning.output.string(), seen.error().message);
  }
  if (policy.finished && !tuning.source.next()) return true;
  policy.finished = false;
  policy.repeats.clear();
  // Before the first trial too: a file that can't be written is known before there is anything to lose.
  DRAFTSCOPE_TRY(engine::write_policy(tuning.output, policy));

  Account account(tuning, policy);
  DRAFTSCOPE_TRY_ASSIGN(const bool searched, search(tuning, policy, account));
  if (!searched) return false;
  std::vector<engine::Measurement> repeats;
  for (std::int32_t repeat = 0; repeat < tuning.repeats; ++repeat) {
    DRAFTSCOPE_TRY_ASSIGN(const auto measured, tuning.measure(policy.strategy, tuning.prompts));
    if (!measured) return false;
    repeats.push_back(*measured);
    account.add(policy, tuning.prompts);
  }
  policy.repeats = std::move(repeats);
  policy.finished = true;
  DRAFTSCOPE_TRY(engine::write_policy(tuning.output, policy));
  return true;
}

}  // namespace draftscope::cli
