// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/engine/tuning/grid_source.h>

namespace draftscope::engine {

std::optional<Proposed> GridSource::next() {
  const auto look = halving_.next();
  if (!look) return std::nullopt;
  return Proposed{settings_[look->setting], look->prompts, std::nullopt};
}

Result<void> GridSource::observe(const Trial& trial) {
  const auto look = halving_.next();
  if (!look)
    return fail("found trial {} behind the last one, expected those of this grid", quote(trial.setting));
  if (settings_[look->setting] != trial.setting || look->prompts != trial.prompts)
    return fail("found a trial of {} on {} prompts, expected one of {} on {}", quote(trial.setting),
                trial.prompts, quote(settings_[look->setting]), look->prompts);
  halving_.observe(trial.measured.score);
  return {};
}

const Trial* GridSource::best(std::span<const Trial> trials) const {
  const auto best = halving_.best();
  if (!best) return nullptr;
  // A setting's last look is the longest.
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial)
    if (trial->setting == settings_[*best]) return &*trial;
  return nullptr;
}

}  // namespace draftscope::engine
