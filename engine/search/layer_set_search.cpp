// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/search.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "search_random.h"
#include "search_state.h"
#include "upper_confidence.h"

namespace draftscope::engine {
namespace {

/// The Gaussian process then takes half a gigabyte; the published searches end at a thousand.
constexpr std::size_t max_observations = 8192;

search::LayerSpace space_of(const SearchOptions& options) {
  const std::int32_t end = options.protect_ends ? 1 : 0;
  return {options.n_layers, end, options.n_layers - end};
}

/// Components of the `count` largest values; among equals, whom the draw favours.
std::vector<std::int32_t> largest(const std::vector<double>& values, std::int32_t count,
                                  const search::SearchStream& stream) {
  struct Ranked {
    double value;
    std::uint32_t lot;
    std::int32_t component;
  };
  std::vector<Ranked> ranked;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto component = static_cast<std::int32_t>(i);
    const auto lot = search::words(stream, search::SearchDraw::tie, 0, static_cast<std::uint32_t>(i))[0];
    ranked.push_back({values[i], lot, component});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(b.value, b.lot, a.component) < std::tie(a.value, a.lot, b.component);
  });
  ranked.resize(static_cast<std::size_t>(count));
  std::vector<std::int32_t> components;
  components.reserve(ranked.size());
  for (const Ranked& one : ranked) components.push_back(one.component);
  return components;
}

std::vector<std::int32_t> above_half(const std::vector<double>& values) {
  std::vector<std::int32_t> components;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > 0.5) components.push_back(static_cast<std::int32_t>(i));
  return components;
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
      best_score(chosen.initial_score),
      process(space.dimension(), chosen.noise) {
  // One more than it takes to stop; a stopped search that goes on takes more.
  observations.reserve(
      std::min(static_cast<std::size_t>(chosen.max_iterations) + 1, std::size_t{max_observations}));
}

void LayerSetSearch::State::propose_random(Candidate& candidate) {
  const search::SearchStream stream{options.seed, static_cast<std::uint32_t>(observations.size())};
  if (options.skipped_sublayers) {
    search::choose_without_replacement(stream, space.dimension(), *options.skipped_sublayers, components);
    search::indicate(space, components, candidate.point);
  } else {
    const auto uniform = search::uniform_point(stream, search::SearchDraw::set, 0, space.dimension());
    candidate.point.assign(uniform.begin(), uniform.end());
    components = above_half(candidate.point);
  }
  candidate.mask = everything;
  search::skip(space, components, candidate.mask);
  candidate.origin = CandidateOrigin::random;
}

void LayerSetSearch::State::propose_by_model(Candidate& candidate) {
  bring_process_up_to_date();
  const search::SearchStream stream{options.seed, static_cast<std::uint32_t>(observations.size())};
  const search::Acquisition acquisition{&process, options.kappa};
  const std::size_t best = observations.best();
  Eigen::MatrixXd starts(space.dimension(), 2 + options.random_starts);
  starts.col(0) = search::best_of_random(acquisition, options.random_points, stream);
  starts.col(1) = observations.points(best, best + 1);
  for (std::int32_t i = 0; i < options.random_starts; ++i)
    starts.col(2 + i) = search::uniform_point(stream, search::SearchDraw::start,
                                              static_cast<std::uint32_t>(i), space.dimension());
  const auto maximum = search::ascend(
      [&](const Eigen::MatrixXd& points) { return search::upper_confidence(acquisition, points); }, starts);
  candidate.point.assign(maximum.point.begin(), maximum.point.end());
  const auto chosen = options.skipped_sublayers ? largest(candidate.point, *options.skipped_sublayers, stream)
                                                : above_half(candidate.point);
  candidate.mask = search::mask_of(space, chosen);
  candidate.origin = CandidateOrigin::model;
}

void LayerSetSearch::State::bring_process_up_to_date() {
  const std::size_t n = observations.size();
  const std::int32_t earlier_proposals = (iterations + 1) / options.gp_interval - 1;
  const bool due = fitted_observations == 0 || earlier_proposals % options.refit_interval == 0;
  if (due && fitted_observations != n) {
    process.assign(observations.points(0, n), observations.scores(0, n), std::nullopt);
    length_scale = process.length_scale();
    fitted_observations = n;
    return;
  }
  // A loaded search takes the same way to its factor as the one that was saved: whole at the last fit, then
  // row by row.
  if (process.size() == 0)
    process.assign(observations.points(0, fitted_observations), observations.scores(0, fitted_observations),
                   length_scale);
  if (const auto known = static_cast<std::size_t>(process.size()); known < n)
    process.add(observations.points(known, n), observations.scores(known, n));
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
  if (candidate.origin == CandidateOrigin::single) return;  // it was not this search that proposed it
  if (candidate.origin == CandidateOrigin::probe) {
    ++probes_scored;
    return;
  }
  ++iterations;
  if (!better) ++tolerance;
  if (options.max_tolerance && tolerance > *options.max_tolerance) stop(StopReason::tolerance);
  if (iterations > options.max_iterations) stop(StopReason::iterations);
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
  const std::int32_t interval = state.options.gp_interval;
  const bool from_model =
      interval > 0 && (state.iterations + 1) % interval == 0 && state.observations.size() > 0;
  if (from_model)
    state.propose_by_model(candidate);
  else
    state.propose_random(candidate);
}

Result<void> LayerSetSearch::observe(const Candidate& candidate, double score) {
  if (state_->observations.size() == max_observations)
    return fail("the search holds {} scores, expected no more: its memory grows with their square",
                max_observations);
  if (!std::isfinite(score)) return fail("the score is {}, expected a finite number", score);
  DRAFTSCOPE_TRY(check_mask(state_->space, candidate.mask));
  if (candidate.point.size() != static_cast<std::size_t>(state_->space.dimension()))
    return fail("the candidate's point has {} components, expected {}", candidate.point.size(),
                state_->space.dimension());
  for (const double component : candidate.point)
    if (!(component >= 0.0 && component <= 1.0))
      return fail("the candidate's point holds {}, expected components from 0 to 1", component);
  state_->observations.add(candidate, score);
  state_->count(candidate, score);
  return {};
}

const SearchOptions& LayerSetSearch::options() const {
  return state_->options;
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
