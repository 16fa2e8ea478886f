// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbered_picture.h"

#include <draftscope/speculation/policy_history.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace draftscope::gui {

NumberedPicture gaps_picture(const simulator::RunDecisions& run) {
  NumberedPicture made;
  made.x_title = "tokens between the two choices";
  NumberedLine line{"in common (|A ∩ B| / |A ∪ B|)", {}};
  for (const simulator::Persistence& gap : run.persistence) {
    made.labels.push_back(gap.min_gap == gap.max_gap ? fmt::format("{}", gap.min_gap)
                                                     : fmt::format("{}–{}", gap.min_gap, gap.max_gap));
    made.details.push_back(fmt::format("{} tokens apart: {:.0f} % in common, mean of {} pairs of sets",
                                       made.labels.back(), 100.0 * gap.jaccard, gap.pairs));
    line.values.push_back(gap.jaccard);
  }
  made.lines.push_back(std::move(line));
  return made;
}

NumberedPicture search_picture(const speculation::PolicyFile& policy) {
  NumberedPicture made;
  made.x_title = "trial";
  double top = 0.0;
  for (speculation::TrialSeries& series : speculation::policy_history(policy)) {
    if (series.key != "score" && series.key != "best_score") continue;
    for (const double value : series.values)
      if (std::isfinite(value)) top = std::max(top, value);
    made.lines.push_back({std::string(series.title), std::move(series.values)});
  }
  if (top > 0.0) made.top = top;
  for (std::size_t i = 0; i < policy.trials.size(); ++i) {
    const speculation::Trial& trial = policy.trials[i];
    const std::string origin(speculation::trial_origin(trial));
    const auto known = std::find(made.words.begin(), made.words.end(), origin);
    made.word.push_back(static_cast<std::uint32_t>(known - made.words.begin()));
    if (known == made.words.end()) made.words.push_back(origin);
    made.labels.push_back(fmt::format("{}", i + 1));
    std::string details = fmt::format("trial {} ({}): {}", i + 1, origin, trial.setting);
    for (const NumberedLine& line : made.lines)
      if (!std::isnan(line.values[i])) details += fmt::format("; {} {:.3g}", line.name, line.values[i]);
    made.details.push_back(details + fmt::format("; {} prompts", trial.prompts));
  }
  return made;
}

}  // namespace draftscope::gui
