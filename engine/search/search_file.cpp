// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/search.h>

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/text_file.h>
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "checkpoint/config_fields.h"
#include "search_state.h"
#include "skip_set_json.h"

namespace draftscope::engine {
namespace {

constexpr std::int32_t version = 1;
constexpr std::size_t max_bytes = std::size_t{256} << 20U;
constexpr std::array<const char*, 3> origin_names{"probe", "random", "model"};
constexpr Range<std::int32_t> any_integer{std::numeric_limits<std::int32_t>::min(),
                                          std::numeric_limits<std::int32_t>::max()};
constexpr Range<double> any_number{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};

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
          {"initial_set", search::skip_set_json(options.initial_set)},
          {"initial_score", options.initial_score},
          {"max_score", or_null(options.max_score)},
          {"max_iterations", options.max_iterations},
          {"max_tolerance", or_null(options.max_tolerance)},
          {"seed", options.seed}};
}

Result<std::optional<std::int32_t>> optional_integer(const ConfigFields& fields, const char* field) {
  if (fields.is_null_or_absent(field)) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const auto value, fields.integer(field, any_integer));
  return value;
}

Result<SearchOptions> parse_options(const nlohmann::json& json, std::string_view file) {
  const ConfigFields fields(json, file, "options.");
  SearchOptions options;
  DRAFTSCOPE_TRY_ASSIGN(options.n_layers, fields.integer("n_layers", {1, 4096}));
  DRAFTSCOPE_TRY_ASSIGN(options.protect_ends, fields.boolean_or("protect_ends", options.protect_ends));
  DRAFTSCOPE_TRY_ASSIGN(options.skipped_sublayers, optional_integer(fields, "skipped_sublayers"));
  DRAFTSCOPE_TRY_ASSIGN(options.gp_interval, fields.integer("gp_interval", any_integer));
  DRAFTSCOPE_TRY_ASSIGN(options.refit_interval, fields.integer("refit_interval", any_integer));
  DRAFTSCOPE_TRY_ASSIGN(options.kappa, fields.number("kappa", any_number));
  DRAFTSCOPE_TRY_ASSIGN(options.noise, fields.number("noise", any_number));
  DRAFTSCOPE_TRY_ASSIGN(options.random_points, fields.integer("random_points", any_integer));
  DRAFTSCOPE_TRY_ASSIGN(options.random_starts, fields.integer("random_starts", any_integer));
  if (!fields.has("initial_set")) return fields.wrong("initial_set", "a skip set");
  DRAFTSCOPE_TRY_ASSIGN(options.initial_set, search::parse_skip_set(json.at("initial_set"), options.n_layers,
                                                                    file, "options.initial_set"));
  DRAFTSCOPE_TRY_ASSIGN(options.initial_score, fields.number("initial_score", any_number));
  if (!fields.is_null_or_absent("max_score")) {
    DRAFTSCOPE_TRY_ASSIGN(options.max_score, fields.number("max_score", any_number));
  }
  DRAFTSCOPE_TRY_ASSIGN(options.max_iterations, fields.integer("max_iterations", any_integer));
  DRAFTSCOPE_TRY_ASSIGN(options.max_tolerance, optional_integer(fields, "max_tolerance"));
  if (!fields.has("seed") || !json.at("seed").is_number_unsigned())
    return fields.wrong("seed", "an integer from 0 to 2^64 - 1");
  options.seed = json.at("seed").get<std::uint64_t>();
  return options;
}

/// The point of a candidate, or that of its set where the file leaves it out.
Result<std::vector<double>> parse_point(const nlohmann::json& json, const speculation::SublayerMask& mask,
                                        const search::LayerSpace& space, std::string_view file,
                                        std::string_view path) {
  const auto place = json.find("point");
  if (place == json.end()) return search::indicator(space, search::components_of(space, mask));
  if (!place->is_array())
    return fail("{}: field {}.point is {}, expected a list", file, path, describe(*place));
  std::vector<double> point;
  for (const auto& component : *place) {
    if (!component.is_number())
      return fail("{}: field {}.point holds {}, expected numbers", file, path, describe(component));
    point.push_back(component.get<double>());
  }
  return point;
}

Result<Candidate> parse_candidate(const nlohmann::json& json, const search::LayerSpace& space,
                                  std::string_view file, const std::string& path) {
  const ConfigFields fields(json, file, path + ".");
  DRAFTSCOPE_TRY_ASSIGN(const auto origin, fields.text_or("origin", ""));
  const auto* const name = std::find(origin_names.begin(), origin_names.end(), origin);
  if (name == origin_names.end()) return fields.wrong("origin", R"("probe", "random" or "model")");
  if (!fields.has("skipped")) return fields.wrong("skipped", "a skip set");
  DRAFTSCOPE_TRY_ASSIGN(auto mask,
                        search::parse_skip_set(json.at("skipped"), space.n_layers, file, path + ".skipped"));
  DRAFTSCOPE_TRY_ASSIGN(auto point, parse_point(json, mask, space, file, path));
  return Candidate{std::move(mask), std::move(point),
                   static_cast<CandidateOrigin>(name - origin_names.begin())};
}

/// The list under `field`; absent is none.
Result<const nlohmann::json*> list_of(const nlohmann::json& json, const char* field, std::string_view file) {
  static const nlohmann::json none = nlohmann::json::array();
  const auto place = json.find(field);
  if (place == json.end()) return &none;
  if (!place->is_array()) return fail("{}: field {} is {}, expected a list", file, field, describe(*place));
  return &*place;
}

tl::unexpected<Error> in_file(std::string_view file, const std::string& path, const Error& error) {
  return fail("{}: {}{}{}", file, path, path.empty() ? "" : ": ", error.message);
}

}  // namespace

std::string LayerSetSearch::State::to_json() const {
  std::string text = fmt::format("{{\"draftscope_search\": {},\n\"options\": {},\n\"probes\": [", version,
                                 options_json(options).dump());
  for (const auto& probe : probes)
    text += (&probe == probes.data() ? "\n" : ",\n") + search::skip_set_json(probe).dump();
  text += fmt::format("],\n\"length_scale\": {},\n\"fitted_observations\": {},\n\"observations\": [",
                      nlohmann::json(length_scale).dump(), fitted_observations);
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const auto [mask, point, origin] = observations.candidate(i);
    nlohmann::ordered_json json{{"origin", origin_names[static_cast<std::size_t>(origin)]},
                                {"score", observations.score(i)},
                                {"skipped", search::skip_set_json(mask)}};
    if (point != search::indicator(space, search::components_of(space, mask))) json["point"] = point;
    text += (i == 0 ? "\n" : ",\n") + json.dump();
  }
  return text + "]}\n";
}

Result<LayerSetSearch> LayerSetSearch::State::from_json(const nlohmann::json& json, std::string_view file) {
  const ConfigFields fields(json, file);
  DRAFTSCOPE_TRY(fields.integer("draftscope_search", {version, version}));
  if (!fields.has("options") || !json.at("options").is_object()) return fields.wrong("options", "an object");
  DRAFTSCOPE_TRY_ASSIGN(const auto options, parse_options(json.at("options"), file));
  auto search = LayerSetSearch::create(options);
  if (!search) return in_file(file, "", search.error());
  State& state = *search->state_;

  DRAFTSCOPE_TRY_ASSIGN(const auto* const probes, list_of(json, "probes", file));
  for (std::size_t i = 0; i < probes->size(); ++i) {
    const auto path = fmt::format("probes[{}]", i);
    DRAFTSCOPE_TRY_ASSIGN(const auto mask,
                          search::parse_skip_set((*probes)[i], options.n_layers, file, path));
    if (const auto added = search->add_probe(mask); !added) return in_file(file, path, added.error());
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto* const observations, list_of(json, "observations", file));
  for (std::size_t i = 0; i < observations->size(); ++i) {
    const auto path = fmt::format("observations[{}]", i);
    const auto& observation = (*observations)[i];
    if (!observation.is_object())
      return fail("{}: field {} is {}, expected an object", file, path, describe(observation));
    DRAFTSCOPE_TRY_ASSIGN(const auto score,
                          ConfigFields(observation, file, path + ".").number("score", any_number));
    DRAFTSCOPE_TRY_ASSIGN(const auto candidate, parse_candidate(observation, state.space, file, path));
    if (const auto observed = search->observe(candidate, score); !observed)
      return in_file(file, path, observed.error());
  }
  DRAFTSCOPE_TRY_ASSIGN(state.length_scale, fields.number("length_scale", {1e-6, 1e6}));
  const auto scored = static_cast<std::int32_t>(state.observations.size());
  DRAFTSCOPE_TRY_ASSIGN(const auto fitted, fields.integer("fitted_observations", {0, scored}));
  state.fitted_observations = static_cast<std::size_t>(fitted);
  return search;
}

Result<void> LayerSetSearch::save(const std::filesystem::path& file) const {
  DRAFTSCOPE_TRY_ASSIGN(auto out, AtomicFile::create(file));
  out.write(state_->to_json());
  return out.commit();
}

Result<LayerSetSearch> LayerSetSearch::load(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_bytes));
  DRAFTSCOPE_TRY_ASSIGN(const auto json, parse_json_object(text, file.string()));
  return State::from_json(json, file.string());
}

}  // namespace draftscope::engine
