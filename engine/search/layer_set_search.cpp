// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/search.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "search_random.h"
#include "search_state.h"

namespace draftscope::engine {
namespace {

/// With this many, the Gaussian process takes half a gigabyte; the published searches end at a thousand.
constexpr std::size_t max_observations = 8192;

search::LayerSpace space_of(const SearchOptions& options) {
  const std::int32_t end = options.protect_ends ? 1 : 0;
  return {options.n_layers, end, options.n_layers - end};
}

Result<void> check_mask(const search::LayerSpace& space, const speculation::SublayerMask& mask) {
  if (mask.n_layers() != space.n_layers)
    return fail("the candidate has {} layers, expected {}", mask.n_layers(), space.n_layers);
  if (!search::is_within(space, mask))
    return fail("the candidate skips a sublayer of the first or last layer, expected that both run");
  return {};
}

}  // namespace

LayerSetSearch::State::State(const SearchOptions& chosen)
    : options(chosen),
      space(space_of(chosen)),
      observations(space),
      everything(chosen.n_layers),
      best_set(chosen.initial_set),
      best_score(chosen.initial_score) {
  // A stopped search that continues takes more.
  observations.reserve(
      std::min(static_cast<std::size_t>(chosen.max_iterations), std::size_t{max_observations}));
  if (chosen.max_iterations == 0) stopped = StopReason::iterations;
}

void LayerSetSearch::State::propose_random(Candidate& candidate) {
  const search::SearchStream stream{options.seed, static_cast<std::uint32_t>(observations.size())};
  if (options.skipped_sublayers) {
    search::choose_without_replacement(stream, space.dimension(), *options.skipped_sublayers, components);
    search::indicate(space, components, candidate.point);
  } else {
    const auto uniform = search::uniform_point(stream, search::SearchDraw::set, 0, space.dimension());
    candidate.point.assign(uniform.begin(), uniform.end());
    components = search::above_half(candidate.point);
  }
  candidate.mask = everything;
  search::skip(space, components, candidate.mask);
  candidate.origin = CandidateOrigin::random;
}

std::int32_t LayerSetSearch::State::candidates_before_model() const {
  return options.gp_interval - 1 - iterations % options.gp_interval;
}

std::size_t LayerSetSearch::State::observations_for_model() const {
  // Number when it is proposed.
  const std::size_t then = observations.size() + static_cast<std::size_t>(candidates_before_model());
  return then - std::min(then, static_cast<std::size_t>(lead()));
}

void LayerSetSearch::State::begin_model_candidate(std::launch policy) {
  const std::size_t n = observations_for_model();
  if (n == model_observations) return;
  const std::int32_t earlier_proposals = iterations / options.gp_interval;
  const bool has_fit = fit.observations > 0 && fit.observations <= n;
  const bool due = earlier_proposals % options.refit_interval == 0 && fit.observations != n;
  search::ModelInput input{
      .options = options,
      .space = space,
      .points = observations.points(0, n),
      .scores = observations.scores(0, n),
      .stream = {options.seed, static_cast<std::uint32_t>(n) + static_cast<std::uint32_t>(lead())},
      .fit = has_fit && !due ? std::optional(fit) : std::nullopt};
  model_candidate = std::async(policy, search::model_candidate, std::move(input)).share();
  model_observations = n;
}

void LayerSetSearch::State::look_ahead() {
  if (lead() == 0 || stopped || probes_scored < probes.size() || candidates_before_model() > lead() ||
      observations_for_model() == 0)
    return;
  begin_model_candidate(std::launch::async | std::launch::deferred);
}

void LayerSetSearch::State::propose_by_model(Candidate& candidate) {
  begin_model_candidate(std::launch::deferred);
  const search::ModelCandidate& made = model_candidate.get();
  candidate = made.candidate;
  fit = made.fit;
}

Result<void> LayerSetSearch::State::observe(const Candidate& candidate, double score) {
  if (observations.size() == max_observations)
    return fail("the search holds {} scores, expected no more: its memory grows with their square",
                max_observations);
  if (!std::isfinite(score)) return fail("the score is {}, expected a finite number", score);
  DRAFTSCOPE_TRY(check_mask(space, candidate.mask));
  if (candidate.point.size() != static_cast<std::size_t>(space.dimension()))
    return fail("the candidate's point has {} components, expected {}", candidate.point.size(),
                space.dimension());
  for (const double component : candidate.point)
    if (!(component >= 0.0 && component <= 1.0))
      return fail("the candidate's point holds {}, expected components from 0 to 1", component);
  observations.add(candidate, score);
  count(candidate, score);
  return {};
}

void LayerSetSearch::State::count(const Candidate& candidate, double score) {
  const bool better = score > best_score;
  const auto stop = [&](StopReason reason) {
    if (!stopped) stopped = reason;
  };
  if (better) {
    best_score = score;
    best_set = candidate.mask;
    tolerance = 0;
    if (options.max_score && best_score > *options.max_score) stop(StopReason::score);
  }
  if (candidate.origin == CandidateOrigin::single) return;  // It was not proposed by this search.
  if (candidate.origin == CandidateOrigin::probe) {
    ++probes_scored;
    return;
  }
  ++iterations;
  if (!better) ++tolerance;
  if (options.max_tolerance && tolerance >= *options.max_tolerance) stop(StopReason::tolerance);
  if (iterations >= options.max_iterations) stop(StopReason::iterations);
}

LayerSetSearch::LayerSetSearch(std::unique_ptr<State> state) : state_(std::move(state)) {}
LayerSetSearch::LayerSetSearch(LayerSetSearch&&) noexcept = default;
LayerSetSearch& LayerSetSearch::operator=(LayerSetSearch&&) noexcept = default;
LayerSetSearch::~LayerSetSearch() = default;

Result<LayerSetSearch> LayerSetSearch::create(const SearchOptions& options) {
  DRAFTSCOPE_TRY(check_options(options));
  return LayerSetSearch(std::make_unique<State>(options));
}

Result<void> LayerSetSearch::add_probe(const speculation::SublayerMask& mask) {
  DRAFTSCOPE_TRY(check_mask(state_->space, mask));
  state_->probes.push_back(mask);
  return {};
}

Candidate LayerSetSearch::propose() {
  Candidate candidate;
  propose(candidate);
  return candidate;
}

void LayerSetSearch::propose(Candidate& candidate) {
  State& state = *state_;
  if (state.probes_scored < state.probes.size()) {
    candidate.mask = state.probes[state.probes_scored];
    search::indicate(state.space, search::components_of(state.space, candidate.mask), candidate.point);
    candidate.origin = CandidateOrigin::probe;
    return;
  }
  const bool from_model = state.options.gp_interval > 0 && state.candidates_before_model() == 0 &&
                          state.observations_for_model() > 0;
  if (from_model)
    state.propose_by_model(candidate);
  else
    state.propose_random(candidate);
}

Result<void> LayerSetSearch::observe(const Candidate& candidate, double score) {
  DRAFTSCOPE_TRY(state_->observe(candidate, score));
  state_->look_ahead();
  return {};
}

const speculation::SublayerMask& LayerSetSearch::best_set() const {
  return state_->best_set;
}
double LayerSetSearch::best_score() const {
  return state_->best_score;
}
std::int32_t LayerSetSearch::iterations() const {
  return state_->iterations;
}
std::int32_t LayerSetSearch::tolerance() const {
  return state_->tolerance;
}
std::optional<StopReason> LayerSetSearch::stopped() const {
  return state_->stopped;
}

}  // namespace draftscope::engine
