// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/search.h>

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/skip_set_json.h>
#include <utility>

#include "search_state.h"

namespace draftscope::engine {
namespace {

constexpr std::int32_t version = 1;
constexpr std::size_t max_search_bytes = std::size_t{256} << 20U;
template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json options_json(const SearchOptions& options) {
  return {{"n_layers", options.n_layers},
          {"protect_ends", options.protect_ends},
          {"skipped_sublayers", or_null(options.skipped_sublayers)},
          {"gp_interval", options.gp_interval},
          {"refit_interval", options.refit_interval},
          {"kappa", options.kappa},
          {"noise", options.noise},
          {"random_points", options.random_points},
          {"random_starts", options.random_starts},
          {"initial_set", speculation::skip_set_json(options.initial_set)},
          {"initial_score", options.initial_score},
          {"max_score", or_null(options.max_score)},
          {"max_iterations", options.max_iterations},
          {"max_tolerance", or_null(options.max_tolerance)},
          {"seed", options.seed}};
}

Result<std::optional<std::int32_t>> optional_integer(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const auto value, field.integer<std::int32_t>());
  return value;
}

Result<SearchOptions> parse_options(const JsonField& fields) {
  SearchOptions options;
  DRAFTSCOPE_TRY_ASSIGN(options.n_layers, fields["n_layers"].integer(Range<std::int32_t>{1, 4096}));
  DRAFTSCOPE_TRY_ASSIGN(options.protect_ends, fields["protect_ends"].boolean_or(options.protect_ends));
  DRAFTSCOPE_TRY_ASSIGN(options.skipped_sublayers, optional_integer(fields["skipped_sublayers"]));
  DRAFTSCOPE_TRY_ASSIGN(options.gp_interval, fields["gp_interval"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(options.refit_interval, fields["refit_interval"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(options.kappa, fields["kappa"].number());
  DRAFTSCOPE_TRY_ASSIGN(options.noise, fields["noise"].number());
  DRAFTSCOPE_TRY_ASSIGN(options.random_points, fields["random_points"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(options.random_starts, fields["random_starts"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(options.initial_set,
                        speculation::parse_skip_set(fields["initial_set"], options.n_layers));
  DRAFTSCOPE_TRY_ASSIGN(options.initial_score, fields["initial_score"].number());
  if (!fields["max_score"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(options.max_score, fields["max_score"].number());
  }
  DRAFTSCOPE_TRY_ASSIGN(options.max_iterations, fields["max_iterations"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(options.max_tolerance, optional_integer(fields["max_tolerance"]));
  DRAFTSCOPE_TRY_ASSIGN(options.seed, fields["seed"].integer(Range<std::uint64_t>{}));
  return options;
}

Result<Candidate> parse_candidate(const JsonField& fields, const search::LayerSpace& space) {
  Candidate candidate;
  DRAFTSCOPE_TRY_ASSIGN(candidate.origin,
                        fields["origin"].named(speculation::candidate_origin_name, CandidateOrigin::single));
  DRAFTSCOPE_TRY_ASSIGN(candidate.mask, speculation::parse_skip_set(fields["skipped"], space.n_layers));
  if (fields.has("point")) {
    DRAFTSCOPE_TRY_ASSIGN(candidate.point, fields["point"].numbers());
  } else {  // The file omits a point that equals the set's indicator.
    candidate.point = search::indicator(space, search::components_of(space, candidate.mask));
  }
  return candidate;
}

/// The elements of a list; empty if the list is absent.
Result<std::vector<JsonField>> list_of(const JsonField& field) {
  if (field.is_missing()) return std::vector<JsonField>{};
  return field.list();
}

tl::unexpected<Error> in_file(const JsonField& field, const Error& error) {
  return fail("{}: {}", field.name(), error.message);
}

}  // namespace

std::string LayerSetSearch::State::to_json() const {
  std::string text = fmt::format("{{\"draftscope_search\": {},\n\"options\": {},\n\"probes\": [", version,
                                 options_json(options).dump());
  for (const auto& probe : probes)
    text += (&probe == probes.data() ? "\n" : ",\n") + speculation::skip_set_json(probe).dump();
  text += fmt::format("],\n\"length_scale\": {},\n\"fitted_observations\": {},\n\"observations\": [",
                      nlohmann::json(fit.length_scale).dump(), fit.observations);
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const auto [mask, point, origin] = observations.candidate(i);
    nlohmann::ordered_json json{{"origin", speculation::candidate_origin_name(origin)},
                                {"score", observations.score(i)},
                                {"skipped", speculation::skip_set_json(mask)}};
    if (point != search::indicator(space, search::components_of(space, mask))) json["point"] = point;
    text += (i == 0 ? "\n" : ",\n") + json.dump();
  }
  return text + "]}\n";
}

Result<LayerSetSearch> LayerSetSearch::State::from_json(const nlohmann::json& json, std::string_view file) {
  const JsonField fields(json, file);
  DRAFTSCOPE_TRY(fields["draftscope_search"].integer(Range<std::int32_t>{version, version}));
  DRAFTSCOPE_TRY_ASSIGN(const JsonField stored_options, fields["options"].object());
  DRAFTSCOPE_TRY_ASSIGN(const auto options, parse_options(stored_options));
  auto search = LayerSetSearch::create(options);
  if (!search) return in_file(fields, search.error());
  State& state = *search->state_;

  DRAFTSCOPE_TRY_ASSIGN(const auto probes, list_of(fields["probes"]));
  for (const JsonField& probe : probes) {
    DRAFTSCOPE_TRY_ASSIGN(const auto mask, speculation::parse_skip_set(probe, options.n_layers));
    if (const auto added = search->add_probe(mask); !added) return in_file(probe, added.error());
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto observations, list_of(fields["observations"]));
  for (const JsonField& observation : observations) {
    DRAFTSCOPE_TRY(observation.object());
    DRAFTSCOPE_TRY_ASSIGN(const auto score, observation["score"].number());
    DRAFTSCOPE_TRY_ASSIGN(const auto candidate, parse_candidate(observation, state.space));
    if (const auto observed = state.observe(candidate, score); !observed)
      return in_file(observation, observed.error());
  }
  DRAFTSCOPE_TRY_ASSIGN(state.fit.length_scale, fields["length_scale"].number({1e-6, 1e6}));
  const auto scored = static_cast<std::int32_t>(state.observations.size());
  DRAFTSCOPE_TRY_ASSIGN(const auto fitted,
                        fields["fitted_observations"].integer(Range<std::int32_t>{0, scored}));
  state.fit.observations = static_cast<std::size_t>(fitted);
  return search;
}

Result<void> LayerSetSearch::save(const std::filesystem::path& file) const {
  const std::string text = state_->to_json();
  DRAFTSCOPE_TRY_ASSIGN(auto out, AtomicFile::create(file));
  out.write(text);
  return out.commit();
}

Result<LayerSetSearch> LayerSetSearch::load(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_search_bytes));
  DRAFTSCOPE_TRY_ASSIGN(const auto json, parse_json_object(text, file.string()));
  return State::from_json(json, file.string());
}

}  // namespace draftscope::engine
