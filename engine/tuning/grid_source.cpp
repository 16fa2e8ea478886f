// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/grid_source.h>

#include <draftscope/base/quote.h>
#include <algorithm>

namespace draftscope::engine {

namespace {

constexpr std::int32_t eta = 3;

}  // namespace

std::optional<Proposed> GridSource::next() {
  const auto look = halving_.next();
  if (!look) return std::nullopt;
  return Proposed{settings_[look->setting], look->prompts, std::nullopt};
}

Result<void> GridSource::observe(const Trial& trial) {
  const auto look = halving_.next();
  if (!look)
    return fail("found trial {} after the last one, expected those of this grid", quote(trial.setting));
  if (settings_[look->setting] != trial.setting || look->prompts != trial.prompts)
    return fail("found a trial of {} on {} prompts, expected one of {} on {}", quote(trial.setting),
                trial.prompts, quote(settings_[look->setting]), look->prompts);
  halving_.observe(trial.measured.score);
  return {};
}

const Trial* GridSource::best(std::span<const Trial> trials) const {
  const auto best = halving_.best();
  if (!best) return nullptr;
  // A setting's last measurement has the most prompts.
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial)
    if (trial->setting == settings_[*best]) return &*trial;
  return nullptr;
}

Halving::Halving(std::size_t settings, std::int32_t prompts, std::int32_t rungs) : settings_(settings) {
  for (std::int32_t rung = 0; rung < rungs && prompts > 0; ++rung) {
    prompts_.push_back(prompts);
    if (prompts == 1) break;
    prompts = std::max(1, prompts / eta);
  }
  std::reverse(prompts_.begin(), prompts_.end());
  for (std::size_t setting = settings; setting-- > 0;) remaining_.push_back(setting);
}

std::size_t Halving::survivors(std::size_t settings) {
  return (settings + eta - 1) / eta;
}

std::optional<Halving::Scoring> Halving::next() const {
  if (remaining_.empty()) return std::nullopt;
  return Scoring{remaining_.back(), prompts_[rung_]};
}

void Halving::observe(double score) {
  const auto better = [](const Scored& a, const Scored& b) { return a.score > b.score; };
  scored_.push_back({remaining_.back(), score});
  remaining_.pop_back();
  std::stable_sort(scored_.begin(), scored_.end(), better);
  best_ = scored_.front().setting;
  if (!remaining_.empty() || rung_ + 1 == prompts_.size()) return;
  ++rung_;
  scored_.resize(survivors(scored_.size()));
  // The best comes first, so that a search that is stopped early has measured the most promising ones.
  for (auto one = scored_.rbegin(); one != scored_.rend(); ++one) remaining_.push_back(one->setting);
  scored_.clear();
}

std::optional<std::size_t> Halving::best() const {
  return best_;
}

std::int64_t Halving::prompts_in_all() const {
  std::int64_t sum = 0;
  std::size_t settings = settings_;
  for (const std::int32_t prompts : prompts_) {
    sum += static_cast<std::int64_t>(settings) * prompts;
    settings = survivors(settings);
  }
  return sum;
}

}  // namespace draftscope::engine
