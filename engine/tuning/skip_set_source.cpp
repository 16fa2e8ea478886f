// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/engine/tuning/skip_set_source.h>

#include <draftscope/speculation/skip_set_text.h>
#include <draftscope/speculation/strategy_text.h>
#include "tuning/light_sets.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace draftscope::engine {

std::string with_skip_set(const std::string& base, const speculation::SublayerMask& set) {
  const speculation::SkipSetText text = speculation::skip_set_text(set);
  return speculation::with_parameter(speculation::with_parameter(base, "skip-attention", text.attention),
                                     "skip-mlp", text.mlp);
}

Result<SkipSetSource> SkipSetSource::create(SkipSetSearch options, std::int32_t n_layers) {
  SearchOptions search = draft_verify_search(n_layers);
  search.seed = options.seed;
  DRAFTSCOPE_TRY_ASSIGN(LayerSetSearch made, LayerSetSearch::create(search));
  SkipSetSource source(std::move(options), std::move(made), n_layers);
  if (!source.is_ranking()) DRAFTSCOPE_TRY(source.add_probes(source.options_.probes));
  return source;
}

SkipSetSource::SkipSetSource(SkipSetSearch options, LayerSetSearch search, std::int32_t n_layers)
    : options_(std::move(options)), search_(std::move(search)) {
  if (options_.ranks_sublayers) singles_ = single_sublayers(n_layers);
}

Result<void> SkipSetSource::add_probes(std::span<const speculation::SublayerMask> probes) {
  for (const speculation::SublayerMask& probe : probes) DRAFTSCOPE_TRY(search_.add_probe(probe));
  return {};
}

std::optional<Proposed> SkipSetSource::next() {
  Candidate candidate;
  if (is_ranking()) {
    const std::size_t index = agreements_.size();
    candidate = {.mask = singles_[index], .point = std::vector<double>(singles_.size(), 0.0)};
    candidate.point[index] = 1.0;  // attentions first, then MLPs, as in the search
    candidate.origin = CandidateOrigin::single;
  } else if (seen_ < options_.trials) {
    candidate = search_.propose();
  } else {
    return std::nullopt;
  }
  const bool single = candidate.origin == CandidateOrigin::single;
  std::string setting = with_skip_set(options_.base, candidate.mask);
  return Proposed{.setting = std::move(setting),
                  .prompts = options_.prompts,
                  .candidate = std::move(candidate),
                  .scored_by = options_.scored_by,
                  .one_pass = single};
}

// It does not check whether the search would have proposed the trial: that takes a fit of the Gaussian
// process per trial.
Result<void> SkipSetSource::observe(const Trial& trial) {
  if (!trial.candidate || trial.setting != with_skip_set(options_.base, trial.candidate->mask))
    return fail("trial {} is {}, expected a skip set of this search",
                agreements_.size() + static_cast<std::size_t>(seen_), quote(trial.setting));
  if (trial.scored_by != options_.scored_by)
    return fail("the trial of {} is {}, expected {}", quote(trial.setting), scored_by_name(trial.scored_by),
                scored_by_name(options_.scored_by));
  DRAFTSCOPE_TRY(search_.observe(*trial.candidate, trial.measured.score));
  if (!is_ranking()) {
    ++seen_;
    return {};
  }
  if (trial.candidate->mask != singles_[agreements_.size()] || !trial.agreement)
    return fail("the trial of {} is not that of sublayer {}, expected its agreement in the ranking",
                quote(trial.setting), agreements_.size());
  agreements_.push_back(*trial.agreement);
  if (is_ranking()) return {};
  DRAFTSCOPE_TRY(add_probes(light_sets(agreements_)));
  return add_probes(options_.probes);
}

const Trial* SkipSetSource::best(std::span<const Trial> trials) const {
  if (trials.empty()) return nullptr;
  return &*std::max_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
    return std::tie(a.prompts, a.measured.score) < std::tie(b.prompts, b.measured.score);
  });
}

std::int64_t SkipSetSource::prompts_in_all() const {
  return (static_cast<std::int64_t>(singles_.size()) + std::max(seen_, options_.trials)) * options_.prompts;
}

}  // namespace draftscope::engine
