// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/engine/tuning/skip_set_source.h>

#include <draftscope/engine/skip_set.h>
#include <draftscope/speculation/strategy_text.h>

#include <algorithm>

namespace draftscope::engine {

std::string with_skip_set(const std::string& base, const speculation::SublayerMask& set) {
  const SkipSetText text = skip_set_text(set);
  return speculation::with_parameter(speculation::with_parameter(base, "skip-attention", text.attention),
                                     "skip-mlp", text.mlp);
}

Result<SkipSetSource> SkipSetSource::create(SkipSetSearch options, std::int32_t n_layers) {
  SearchOptions search = draft_verify_search(n_layers);
  search.seed = options.seed;
  DRAFTSCOPE_TRY_ASSIGN(LayerSetSearch made, LayerSetSearch::create(search));
  for (const speculation::SublayerMask& probe : options.probes) DRAFTSCOPE_TRY(made.add_probe(probe));
  return SkipSetSource(std::move(options), std::move(made));
}

std::optional<Proposed> SkipSetSource::next() {
  if (seen_ >= options_.trials) return std::nullopt;
  Candidate candidate = search_.propose();
  std::string setting = with_skip_set(options_.base, candidate.mask);
  return Proposed{std::move(setting), options_.prompts, std::move(candidate)};
}

// Whether the search would have proposed it is not asked: that takes a fit of the Gaussian process a trial.
Result<void> SkipSetSource::observe(const Trial& trial) {
  if (!trial.candidate || trial.setting != with_skip_set(options_.base, trial.candidate->mask))
    return fail("trial {} is {}, expected a skip set of this search", seen_, quote(trial.setting));
  DRAFTSCOPE_TRY(search_.observe(*trial.candidate, trial.measured.score));
  ++seen_;
  return {};
}

const Trial* SkipSetSource::best(std::span<const Trial> trials) const {
  if (trials.empty()) return nullptr;
  return &*std::max_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
    return a.measured.score < b.measured.score;
  });
}

std::int64_t SkipSetSource::prompts_in_all() const {
  return static_cast<std::int64_t>(std::max(seen_, options_.trials)) * options_.prompts;
}

}  // namespace draftscope::engine
