// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/tune_text.h"

#include <algorithm>

namespace draftscope::cli {

namespace {

/// The repeat of the median score, for the figures that belong to it.
const engine::Measurement& middle(const engine::Policy& policy, std::vector<engine::Measurement>& sorted) {
  sorted = policy.repeats;
  std::sort(sorted.begin(), sorted.end(),
            [](const engine::Measurement& a, const engine::Measurement& b) { return a.score < b.score; });
  return sorted[sorted.size() / 2];
}

}  // namespace

std::string tune_text(const engine::Policy& policy, const std::string& file) {
  const engine::ScoreSpread spread = *engine::score_spread(policy.repeats);
  std::vector<engine::Measurement> sorted;
  const engine::Measurement& typical = middle(policy, sorted);
  const bool timed = typical.tokens_per_second > 0.0;
  std::string text = fmt::format("best      {}\n", policy.strategy);
  const bool pays = policy.strategy != "vanilla";
  if (!pays)
    text += "No setting that was tried decodes faster than vanilla here.\n";
  else if (timed)
    text += fmt::format(
        "speedup   {:.2f} over vanilla (median of {} repeats, {:.2f} to {:.2f}): {:.1f} tokens/s against "
        "{:.1f}\n",
        spread.median, policy.repeats.size(), spread.minimum, spread.maximum, typical.tokens_per_second,
        typical.vanilla_tokens_per_second);
  else
    text += fmt::format("speedup   {:.2f} over vanilla as predicted from weight bytes, not timed\n",
                        spread.median);
  if (pays)
    text += fmt::format("rounds    {:.2f} tokens each, {:.0f} % of the draft accepted\n",
                        typical.tokens_per_round, 100.0 * typical.acceptance_rate);
  for (std::size_t i = 1; i < policy.finalists.size(); ++i) {
    const engine::ScoreSpread other = *engine::score_spread(policy.finalists[i].repeats);
    text += fmt::format("{:10}{:.2f} ({:.2f} to {:.2f}) {}\n", i == 1 ? "then" : "", other.median,
                        other.minimum, other.maximum, policy.finalists[i].setting);
  }
  text += fmt::format("searched  {} trials ({})\n", policy.trials.size(), policy.settings.at("search"));
  return text + (pays ? fmt::format("use       --strategy tuned:policy={}\n", file)
                      : fmt::format("policy    {} says vanilla\n", file));
}

}  // namespace draftscope::cli
