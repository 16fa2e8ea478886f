// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/policy_history.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace draftscope::speculation {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double score(const Trial& trial) {
  return trial.measured.score;
}
double agreement(const Trial& trial) {
  return trial.agreement.value_or(none);
}
double acceptance_rate(const Trial& trial) {
  return trial.measured.acceptance_rate;
}
double tokens_per_round(const Trial& trial) {
  return trial.measured.tokens_per_round;
}
double prompts(const Trial& trial) {
  return trial.prompts;
}

double skipped(const Trial& trial, bool (SublayerMask::*runs)(std::int32_t) const) {
  if (!trial.candidate) return none;
  const SublayerMask& mask = trial.candidate->mask;
  double count = 0.0;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer)
    if (!(mask.*runs)(layer)) count += 1.0;
  return count;
}
double skipped_attentions(const Trial& trial) {
  return skipped(trial, &SublayerMask::runs_attention);
}
double skipped_mlps(const Trial& trial) {
  return skipped(trial, &SublayerMask::runs_mlp);
}

struct SeriesRow {
  std::string_view key;
  std::string_view title;
  double (*value_of)(const Trial&);
};

constexpr std::array rows{
    SeriesRow{"score", "score, speedup over vanilla", score},
    SeriesRow{"agreement", "agreement, share of tokens", agreement},
    SeriesRow{"acceptance_rate", "acceptance, share of draft tokens", acceptance_rate},
    SeriesRow{"tokens_per_round", "tokens per round", tokens_per_round},
    SeriesRow{"skipped_attentions", "attentions skipped", skipped_attentions},
    SeriesRow{"skipped_mlps", "MLPs skipped", skipped_mlps},
    SeriesRow{"prompts", "prompts scored on", prompts},
};

/// A score on few prompts does not beat one on many, since its trial was stopped early or was a first look.
TrialSeries best_so_far(const std::vector<Trial>& trials) {
  TrialSeries series{"best_score", "best score so far", {}};
  std::pair<std::int32_t, double> best{0, 0.0};
  series.values.reserve(trials.size());
  for (const Trial& trial : trials) {
    best = std::max(best, {trial.prompts, trial.measured.score});
    series.values.push_back(best.second);
  }
  return series;
}

}  // namespace

std::vector<TrialSeries> policy_history(const PolicyFile& policy) {
  std::vector<TrialSeries> history;
  for (const SeriesRow& row : rows) {
    TrialSeries series{row.key, row.title, {}};
    series.values.reserve(policy.trials.size());
    for (const Trial& trial : policy.trials) series.values.push_back(row.value_of(trial));
    const bool any = std::any_of(series.values.begin(), series.values.end(),
                                 [](double value) { return !std::isnan(value); });
    if (any) history.push_back(std::move(series));
    if (any && row.key == rows.front().key) history.push_back(best_so_far(policy.trials));
  }
  return history;
}

std::string_view trial_origin(const Trial& trial) {
  return trial.candidate ? candidate_origin_name(trial.candidate->origin) : "grid";
}

}  // namespace draftscope::speculation
