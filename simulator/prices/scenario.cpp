// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "prices/fit/engine_law.h"

namespace draftscope::simulator {

namespace {

/// [Regime]
constexpr std::array<std::string_view, 6> regime_names{"as-fitted", "eager-python", "eager-cpp",
                                                       "graph",     "device-loop",  "persistent"};

Result<void> check_range(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    return fail("scenario: {} is {}, expected {} to {}", field, value, least, most);
  return {};
}

std::string draft_cost_name(const DraftCostInput& cost) {
  if (cost.kind == DraftCostInput::Kind::share) return fmt::format("draft cost {}", cost.share);
  if (cost.kind == DraftCostInput::Kind::next_token) return "drafts of the next-token layer";
  return cost.kind == DraftCostInput::Kind::free ? "free drafts" : "drafts of one layer";
}

const std::array<HostTime, 5>& known_hosts() {
  static const std::array<HostTime, 5> hosts{
      {{.name = "graph", .min_share = -0.05, .max_share = 0.05, .is_per_pass = true},
       {.name = "serving", .min_share = 0.15, .max_share = 0.27},
       {.name = "eager", .min_share = 0.53, .max_share = 0.68, .is_per_pass = true},
       {.name = "draftscope",
        .min_share = -0.04,
        .max_share = 0.04,
        .is_per_pass = true,
        .law = &current_engine()},
       {.name = "draftscope-0.2",
        .min_share = -0.05,
        .max_share = 0.05,
        .is_per_pass = true,
        .law = &former_engine()}}};
  return hosts;
}

/// Reads both ends of a range, or none.
Result<void> read_range(const JsonField& object, const char* min_key, const char* max_key,
                        Range<double> range, double unit, double& min, double& max) {
  if (object[min_key].is_null() && object[max_key].is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(min, object[min_key].number(range));
  DRAFTSCOPE_TRY_ASSIGN(max, object[max_key].number(range));
  if (max < min)
    return fail("{} is {}, expected at least {} ({})", object[max_key].name(), max, min_key, min);
  min *= unit;
  max *= unit;
  return {};
}

}  // namespace

std::string_view regime_name(Regime regime) {
  return regime_names[static_cast<std::size_t>(regime)];
}

Result<Regime> parse_regime(std::string_view text) {
  for (std::size_t i = 0; i < regime_names.size(); ++i)
    if (regime_names[i] == text) return static_cast<Regime>(i);
  return fail("regime is '{}', expected as-fitted, eager-python, eager-cpp, graph, device-loop or persistent",
              text);
}

Scenario fitted_scenario(const CostModel& model) {
  Scenario scenario;
  scenario.shape = model.shape;
  scenario.weights = model.weights;
  if (model.from_trace) scenario.context = model.largest_context;
  return scenario;
}

std::string scenario_name(const Scenario& scenario, const Scenario& recorded, std::string place) {
  std::vector<std::string> parts;
  if (place.empty()) place = scenario.gpu ? scenario.gpu->name : "as recorded";
  parts.push_back(std::move(place));
  if (scenario.shape.name != recorded.shape.name) parts.push_back(scenario.shape.name);
  if (scenario.weights != recorded.weights) parts.emplace_back(weight_type_name(scenario.weights));
  if (scenario.regime != recorded.regime) parts.emplace_back(regime_name(scenario.regime));
  if (scenario.host) parts.push_back("host " + scenario.host->name);
  if (scenario.draft_cost) parts.push_back(draft_cost_name(*scenario.draft_cost));
  if (scenario.batch != 1) parts.push_back(fmt::format("batch {}", scenario.batch));
  if (scenario.tensor_parallel != 1)
    parts.push_back(scenario.gpu ? fmt::format("{} GPUs", scenario.tensor_parallel)
                                 : fmt::format("tensor-parallel {}", scenario.tensor_parallel));
  return fmt::format("{}", fmt::join(parts, " "));
}

namespace {

Result<DraftCostInput> parse_draft_cost_kind(std::string_view text, std::int32_t vocabulary) {
  if (text == "free") return DraftCostInput{.kind = DraftCostInput::Kind::free};
  if (text == "one-layer")
    return DraftCostInput{.kind = DraftCostInput::Kind::one_layer, .vocabulary = vocabulary};
  // A cost has the name of the strategy that drafts at it.
  constexpr std::string_view next_token = "mtp";
  if (text == next_token)
    return DraftCostInput{.kind = DraftCostInput::Kind::next_token, .vocabulary = vocabulary};
  const auto share = parse_number<double>(text);
  if (!share || !(*share >= 0.0))
    return fail("found {}, expected a share of a vanilla step, mtp, free or one-layer", quote(text));
  return DraftCostInput{.kind = DraftCostInput::Kind::share, .share = *share};
}

}  // namespace

Result<DraftCostInput> parse_draft_cost(std::string_view text, std::int32_t vocabulary) {
  DRAFTSCOPE_TRY_ASSIGN(const DraftCostInput cost, parse_draft_cost_kind(text, vocabulary));
  if (vocabulary != 0 && !cost.is_priced())
    return fail("found {} with a head of {} rows, expected that only with mtp or one-layer", quote(text),
                vocabulary);
  return cost;
}

Result<void> check_scenario(const Scenario& scenario) {
  DRAFTSCOPE_TRY(speculation::check_sizes(scenario.shape, "scenario"));
  constexpr std::int32_t max_layers = 4096;
  constexpr std::int32_t max_auxiliary_rows = 1 << 24;
  DRAFTSCOPE_TRY(check_range("n_layers", scenario.shape.n_layers, 1, max_layers));
  DRAFTSCOPE_TRY(check_range("batch", scenario.batch, 1, 4096));
  DRAFTSCOPE_TRY(check_range("widths", scenario.widths, 2, 1024));
  DRAFTSCOPE_TRY(check_range("tensor_parallel", scenario.tensor_parallel, 1, scenario.shape.n_heads));
  if (scenario.shape.n_heads % scenario.tensor_parallel != 0)
    return fail("scenario: tensor_parallel is {}, expected a divisor of n_heads ({})",
                scenario.tensor_parallel, scenario.shape.n_heads);
  if (!(scenario.context >= 0.0) || !std::isfinite(scenario.context))
    return fail("scenario: context is {}, expected at least 0", scenario.context);
  if (scenario.gpu && (!(scenario.gpu->bandwidth_gb_s > 0.0) || !(scenario.gpu->bf16_tflops > 0.0) ||
                       !(scenario.gpu->efficiency > 0.0) || !(scenario.gpu->t0_us >= 0.0)))
    return fail("scenario: GPU '{}' has rates that are not positive, expected a checked specification",
                scenario.gpu->name);
  for (const speculation::DraftSublayers& draft : scenario.drafts) {
    DRAFTSCOPE_TRY(
        check_range("attention sublayers of a draft", draft.attention, 0, scenario.shape.n_layers));
    DRAFTSCOPE_TRY(check_range("MLP sublayers of a draft", draft.mlp, 0, scenario.shape.n_layers));
    if (scenario.verified_layers == VerifiedLayers::above_exit && draft.attention != draft.mlp)
      return fail(
          "scenario: a draft of {} attention and {} MLP sublayers is no exit, expected one to verify above",
          draft.attention, draft.mlp);
  }
  if (scenario.draft_cost) {
    constexpr std::int32_t max_vocabulary = 1 << 24;
    if (!(scenario.draft_cost->share >= 0.0) || !std::isfinite(scenario.draft_cost->share))
      return fail("scenario: draft cost is {}, expected at least 0", scenario.draft_cost->share);
    if (scenario.draft_cost->kind == DraftCostInput::Kind::next_token && !scenario.has_next_token_layer &&
        !(scenario.plan && scenario.plan->next_token))
      return fail("scenario: draft cost is mtp and {} names no next-token layer, expected a model with one",
                  scenario.shape.name.empty() ? "the model" : scenario.shape.name);
    DRAFTSCOPE_TRY(
        check_range("rows of the draft's head", scenario.draft_cost->vocabulary, 0, max_vocabulary));
  }
  if (scenario.host && scenario.host->law != nullptr && scenario.plan &&
      (scenario.plan->has_experts() || scenario.plan->has_states()))
    return fail("scenario: host is {}, which runs no experts and no states, expected another engine",
                quote(scenario.host->name));
  if (scenario.draft_model) DRAFTSCOPE_TRY(speculation::check_sizes(*scenario.draft_model, "draft model"));
  DRAFTSCOPE_TRY(
      check_range("rows of the widest own pass", scenario.widest_auxiliary_pass, 1, max_auxiliary_rows));
  for (const AuxiliaryPass& pass : scenario.auxiliary_passes) {
    const bool is_other = pass.kind == AuxiliaryPassKind::draft_model && scenario.draft_model;
    const std::int32_t layers = is_other ? scenario.draft_model->n_layers : scenario.shape.n_layers;
    DRAFTSCOPE_TRY(check_range("rows of an own pass", pass.rows, 1, max_auxiliary_rows));
    DRAFTSCOPE_TRY(check_range("attention sublayers of an own pass", pass.attention, 0, layers));
    DRAFTSCOPE_TRY(check_range("MLP sublayers of an own pass", pass.mlp, 0, layers));
  }
  return {};
}

std::span<const HostTime> known_host_times() {
  return known_hosts();
}

const HostTime& graph_host() {
  return known_hosts().front();
}

const HostTime& host_of_engine(const EngineLaw& engine) {
  return *std::ranges::find(known_hosts(), &engine, &HostTime::law);
}

Result<HostTime> find_host_time(std::string_view name) {
  for (const HostTime& host : known_hosts())
    if (host.name == name) return host;
  std::vector<std::string_view> names;
  for (const HostTime& host : known_hosts()) names.push_back(host.name);
  return fail("host is {}, expected {} or a JSON file", quote(name), fmt::join(names, ", "));
}

Result<HostTime> parse_host_time(std::string_view text, std::string_view file) {
  constexpr std::array<const char*, 6> keys{"name", "min_share", "max_share", "min_us", "max_us", "per_pass"};
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  const JsonField object(parsed, file);
  DRAFTSCOPE_TRY(object.knows_only(keys, fmt::format("{}", fmt::join(keys, ", "))));
  const bool has_share = !object["min_share"].is_null() || !object["max_share"].is_null();
  const bool has_time = !object["min_us"].is_null() || !object["max_us"].is_null();
  if (!has_share && !has_time)
    return fail("{}: has no time, expected min_share and max_share, or min_us and max_us", file);
  HostTime host;
  DRAFTSCOPE_TRY_ASSIGN(host.name, object["name"].text_or(std::string(file)));
  DRAFTSCOPE_TRY_ASSIGN(host.is_per_pass, object["per_pass"].boolean_or(false));
  constexpr Range<double> shares{-0.5, 100.0};
  constexpr Range<double> times_us{0.0, 1e9};
  DRAFTSCOPE_TRY(read_range(object, "min_share", "max_share", shares, 1.0, host.min_share, host.max_share));
  DRAFTSCOPE_TRY(read_range(object, "min_us", "max_us", times_us, 1e3, host.min_ns, host.max_ns));
  return host;
}

}  // namespace draftscope::simulator
