// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/pass_costs.h>

#include <draftscope/base/number.h>
#include <draftscope/speculation/measured_kernel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <string>

#include "calibration/pass_times.h"

namespace draftscope::engine {

namespace {

constexpr std::array<std::int32_t, 6> timed_rows{1, 2, 4, 8, 16, 32};
constexpr std::int32_t timings = 7;
constexpr const char* without_attention_key = "step_without_attention_ns";
constexpr const char* without_mlp_key = "step_without_mlp_ns";

std::string verification_key(std::int32_t rows) {
  return fmt::format("verification_{}_ns", rows);
}

double bytes_of(std::initializer_list<const TensorView*> tensors) {
  std::size_t bytes = 0;
  for (const TensorView* tensor : tensors) bytes += tensor->bytes();
  return static_cast<double>(bytes);
}

std::optional<std::int64_t> time_in(const Facts& machine, const std::string& key) {
  const auto place = machine.find(key);
  if (place == machine.end()) return std::nullopt;
  const auto time = parse_number<std::int64_t>(place->second);
  return time && *time > 0 ? time : std::nullopt;
}

std::int64_t median_of(const std::vector<double>& samples) {
  return std::max<std::int64_t>(std::llround(speculation::spread_of(samples).median), 1);
}

}  // namespace

double PassCosts::draft_step(std::span<const std::uint8_t> skipped) const {
  double cost = rest;
  for (std::size_t bit = 0; bit < sublayers.size(); ++bit)
    if ((skipped[bit / 8] >> (bit % 8) & 1U) == 0U) cost += sublayers[bit];
  return cost / step;
}

double PassCosts::draft_step(const speculation::SublayerMask& mask) const {
  return draft_step(mask.packed());
}

double PassCosts::draft_step(const speculation::SublayerMask& mask,
                             std::optional<speculation::WeightFormat> weights) const {
  return draft_step(mask) * weights_share(weights);
}

double PassCosts::weights_share(std::optional<speculation::WeightFormat> weights) const {
  return weights ? speculation::weight_format_row(*weights).bits / weight_bits : 1.0;
}

double PassCosts::verification(std::int32_t rows) const {
  const auto same_or_more = verifications.lower_bound(rows);
  if (verifications.size() == 1 || same_or_more == verifications.begin())
    return verifications.begin()->second / step;
  const auto upper = same_or_more == verifications.end() ? std::prev(same_or_more) : same_or_more;
  const auto lower = std::prev(upper);
  const double share = static_cast<double>(rows - lower->first) / (upper->first - lower->first);
  return (lower->second + share * (upper->second - lower->second)) / step;
}

double held_bits(const Backend& backend) {
  constexpr double plain_bits = 16.0;
  return speculation::leading_bits(backend.describe().weights).value_or(plain_bits);
}

PassCosts byte_costs(const Checkpoint& checkpoint, const Backend& backend) {
  PassCosts costs;
  costs.rest = bytes_of({&checkpoint.weights.final_norm, &checkpoint.weights.head});
  costs.sublayers.reserve(2 * checkpoint.weights.layers.size());
  for (const LayerWeights& layer : checkpoint.weights.layers) {
    costs.sublayers.push_back(bytes_of({&layer.attention_norm, &layer.q, &layer.k, &layer.v, &layer.q_bias,
                                        &layer.k_bias, &layer.v_bias, &layer.q_norm, &layer.k_norm, &layer.o,
                                        &layer.o_bias, &layer.attention_output_norm}));
    costs.sublayers.push_back(
        bytes_of({&layer.mlp_norm, &layer.gate, &layer.up, &layer.down, &layer.gate_bias, &layer.up_bias,
                  &layer.down_bias, &layer.mlp_output_norm}));
  }
  costs.step = std::accumulate(costs.sublayers.begin(), costs.sublayers.end(), costs.rest);
  costs.verifications = {{1, costs.step}};
  costs.weight_bits = held_bits(backend);
  return costs;
}

Result<PassTimes> time_passes(Backend& backend, std::int32_t context) {
  const std::int32_t layers = backend.shape().n_layers;
  const std::int32_t widest = std::min(backend.max_invariant_rows(), backend.max_rows());
  context = std::clamp(context, 1, backend.cache_rows() - 1);
  const auto form_of = [&](std::int32_t attentions, std::int32_t mlps, std::int32_t rows) {
    return speculation::KernelForm{.kind = speculation::KernelKind::target_pass,
                                   .sublayers = {attentions, mlps},
                                   .rows = rows,
                                   .context = static_cast<double>(context)};
  };
  std::vector<speculation::KernelForm> forms{form_of(0, layers, 1), form_of(layers, 0, 1)};
  for (const std::int32_t rows : timed_rows)
    if (rows <= widest && context + rows <= backend.cache_rows())
      forms.push_back(form_of(layers, layers, rows));
  std::vector<std::vector<double>> samples(forms.size());
  CalibrationPasses passes(backend);
  DRAFTSCOPE_TRY(passes.fill_cache(context));
  // Passes take turns, so that a machine that slows down slows all of them. The first round warms up.
  for (std::int32_t i = 0; i <= timings; ++i)
    for (std::size_t form = 0; form < forms.size(); ++form) {
      DRAFTSCOPE_TRY_ASSIGN(const double ns, passes.pass_ns(forms[form]));
      if (i > 0) samples[form].push_back(ns);
    }
  PassTimes times{.without_attention = median_of(samples[0]), .without_mlp = median_of(samples[1])};
  for (std::size_t form = 2; form < forms.size(); ++form)
    times.verifications[forms[form].rows] = median_of(samples[form]);
  return times;
}

PassCosts timed_costs(const PassTimes& times, std::int32_t n_layers, double weight_bits) {
  PassCosts costs{.weight_bits = weight_bits};
  for (const auto& [rows, ns] : times.verifications)
    costs.verifications.emplace_hint(costs.verifications.end(), rows, static_cast<double>(ns));
  costs.step = costs.verifications.begin()->second;
  // Noise may make a step without them take longer, but a sublayer's cost is never negative.
  const double attention =
      std::max(0.0, costs.step - static_cast<double>(times.without_attention)) / n_layers;
  const double mlp = std::max(0.0, costs.step - static_cast<double>(times.without_mlp)) / n_layers;
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    costs.sublayers.push_back(attention);
    costs.sublayers.push_back(mlp);
  }
  // The two times share the common work of both passes, so their savings may slightly exceed the step.
  costs.rest = std::max(0.0, costs.step - n_layers * (attention + mlp));
  return costs;
}

void add_pass_times(const PassTimes& times, Facts& machine) {
  machine[without_attention_key] = std::to_string(times.without_attention);
  machine[without_mlp_key] = std::to_string(times.without_mlp);
  for (const auto& [rows, ns] : times.verifications) machine[verification_key(rows)] = std::to_string(ns);
}

std::optional<PassTimes> pass_times_of(const Facts& machine) {
  const auto without_attention = time_in(machine, without_attention_key);
  const auto without_mlp = time_in(machine, without_mlp_key);
  if (!without_attention || !without_mlp) return std::nullopt;
  PassTimes times{.without_attention = *without_attention, .without_mlp = *without_mlp};
  for (const std::int32_t rows : timed_rows)
    if (const auto time = time_in(machine, verification_key(rows))) times.verifications[rows] = *time;
  if (!times.verifications.contains(1)) return std::nullopt;
  return times;
}

}  // namespace draftscope::engine
