// SPDX-License-Identifier: GPL-3.0-or-later
#include "benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "pass_bytes.h"
#include "prompts.h"
#include "quartiles.h"
#include "rounds.h"
#include "slow_one_row.h"

namespace draftscope::bench {

namespace {

using nlohmann::json;

constexpr std::int32_t gammas[] = {1, 2, 4, 7};  // All are verified by launches for eight rows.

/// Share of the pure read rate that is reached if `bytes` are read in `seconds`.
double share(double bytes, double seconds, const Rates& rates) {
  return bytes / seconds * 1e-9 / median(rates.read());
}

RoundFit fit_of(const Measured& measured, std::int32_t exit) {
  std::vector<double> drafts;
  for (const std::int32_t gamma : gammas) drafts.push_back(median(measured.drafts.at({exit, gamma})));
  return fit_rounds(gammas, drafts);
}

void add_rounds(json& step, const Measured& measured, std::int32_t exit, double bytes, const Rates& rates) {
  json rounds = json::array();
  for (const std::int32_t gamma : gammas)
    rounds.push_back({{"gamma", gamma},
                      {"draft_and_outside_seconds", spread(measured.drafts.at({exit, gamma}))},
                      {"verify_seconds", spread(measured.verifications.at({exit, gamma}))}});
  const RoundFit fit = fit_of(measured, exit);
  step["rounds"] = rounds;
  step["step_seconds"] = fit.draft_step_seconds;
  step["step_share_of_read_bandwidth"] = share(bytes, fit.draft_step_seconds, rates);
  step["outside_seconds_per_round"] = fit.outside_seconds;
  constexpr std::int32_t typical = 4;
  step["outside_share_of_round"] = fit.outside_seconds / (median(measured.drafts.at({exit, typical})) +
                                                          median(measured.verifications.at({exit, typical})));
}

}  // namespace

Benchmark::Benchmark(const engine::Checkpoint& checkpoint, engine::Backend& backend, const Options& options,
                     engine::CudaWeights rounded)
    : checkpoint_(checkpoint), backend_(backend), options_(options), rounded_(rounded), passes_(backend) {
  prompt_ = options.prompt.empty() ? some_tokens(backend.shape(), options.context)
                                   : tokens_in(options.prompt, options.context);
  widths_ = {1, 2};
  for (const std::int32_t width : options.widths)
    if (width <= backend.max_invariant_rows()) widths_.push_back(width);
  widths_.push_back(options.gamma + 1);  // layerskip verifies this width.
  std::sort(widths_.begin(), widths_.end());
  widths_.erase(std::unique(widths_.begin(), widths_.end()), widths_.end());
}

json Benchmark::run(Rates& rates) {
  expect(passes_.fill_cache(options_.context));
  Measured warming;
  measure_once(warming);  // It uploads programs, touches pages and raises the clocks.
  Measured measured;
  rates.forget();
  for (std::int32_t repeat = 0; repeat < options_.repeats; ++repeat) {
    rates.probe(backend_.describe().threads);
    measure_once(measured);
  }
  rates.probe(backend_.describe().threads);
  json result = describe();
  add_vanilla(result, measured, rates);
  add_passes(result, measured);
  add_drafts(result, measured, rates);
  add_speculation(result, measured);
  return result;
}

json Benchmark::sustain() {
  std::vector<double> tokens_per_s;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  while (tokens_per_s.empty() || elapsed() < options_.sustained_seconds)
    tokens_per_s.push_back(1.0 /
                           decode_once(backend_, "vanilla", prompt_, options_.tokens).seconds_per_token);
  json result = describe();
  result["sustained"] = {{"seconds", elapsed()},
                         {"tokens_per_s", spread(tokens_per_s)},
                         {"first_tokens_per_s", tokens_per_s.front()},
                         {"last_tokens_per_s", tokens_per_s.back()}};
  return result;
}

double Benchmark::pass_seconds(std::int32_t rows, std::int32_t context, std::int32_t n_layers) {
  const auto ns = passes_.pass_ns({.kind = speculation::KernelKind::target_pass,
                                   .sublayers = {n_layers, n_layers},
                                   .rows = rows,
                                   .context = static_cast<double>(context)});
  if (!ns) throw std::runtime_error(ns.error().message);
  return *ns * 1e-9;
}

void Benchmark::measure_once(Measured& measured) {
  const std::int32_t n_layers = backend_.shape().n_layers;
  for (const std::int32_t width : widths_)
    measured.by_width[width].push_back(pass_seconds(width, options_.context, n_layers));
  for (const std::int32_t context : options_.contexts)
    for (const std::int32_t rows : {1, 8})
      measured.by_context[{context, rows}].push_back(pass_seconds(rows, context, n_layers));
  for (const std::int32_t exit : options_.exits) {
    measured.by_exit[exit].push_back(pass_seconds(1, options_.context, exit));
    if (!backend_.has_chain_rounds()) continue;
    for (const std::int32_t gamma : gammas) {
      const RoundTime time = time_round(backend_, options_.context, exit, gamma);
      measured.drafts[{exit, gamma}].push_back(time.seconds - time.verify_seconds);
      measured.verifications[{exit, gamma}].push_back(time.verify_seconds);
    }
  }
  measured.vanilla.push_back(decode_once(backend_, "vanilla", prompt_, options_.tokens));
  for (const std::int32_t exit : options_.exits)
    measured.layerskip[exit].push_back(decode_once(
        backend_, fmt::format("layerskip:exit={},gamma={},verify=all-layers", exit, options_.gamma), prompt_,
        options_.tokens));
}

json Benchmark::describe() const {
  const engine::BackendDescription description = backend_.describe();
  return {{"model", options_.model},
          {"synthetic_weights", checkpoint_.synthetic},
          {"weights", rounded_ ? speculation::weight_format_name(*rounded_) : as_stored},
          {"device", description.device},
          {"processor", description.processor},
          {"kernels", description.kernels},
          {"context_tokens", options_.context},
          {"new_tokens", options_.tokens}};
}

void Benchmark::add_vanilla(json& result, const Measured& measured, const Rates& rates) const {
  std::vector<double> seconds, tokens_per_s;
  for (const Decoded& decoded : measured.vanilla) {
    seconds.push_back(decoded.seconds_per_token);
    tokens_per_s.push_back(1.0 / decoded.seconds_per_token);
  }
  // On average, half of the new tokens are in the cache.
  const auto bytes = static_cast<double>(
      pass_bytes(checkpoint_, rounded_, backend_.shape().n_layers, options_.context + options_.tokens / 2));
  result["read_gb_per_s"] = spread(rates.read());
  result["vanilla"] = {{"bytes_per_token", bytes},
                       {"tokens_per_s", spread(tokens_per_s)},
                       {"share_of_read_bandwidth", share(bytes, median(seconds), rates)}};
}

void Benchmark::add_passes(json& result, const Measured& measured) const {
  const std::vector<double>& one = measured.by_width.at(1);
  result["verify_widths"] = json::array();
  for (const auto& [width, seconds] : measured.by_width)
    result["verify_widths"].push_back(
        {{"rows", width}, {"seconds", spread(seconds)}, {"against_one_row", spread(ratios(seconds, one))}});
  const auto slow = slow_one_row(one, measured.by_width.at(2));
  result["slow_one_row"] = slow ? json(*slow) : json(nullptr);
  result["contexts"] = json::array();
  for (const auto& [key, seconds] : measured.by_context)
    result["contexts"].push_back({{"context_tokens", key.first},
                                  {"rows", key.second},
                                  {"seconds", spread(seconds)},
                                  {"against_one_row", spread(ratios(seconds, one))}});
}

void Benchmark::add_drafts(json& result, const Measured& measured, const Rates& rates) const {
  result["draft_steps"] = json::array();
  for (const auto& [exit, seconds] : measured.by_exit) {
    const auto bytes = static_cast<double>(pass_bytes(checkpoint_, rounded_, exit, options_.context));
    json step{{"exit", exit},
              {"bytes", bytes},
              {"pass_seconds", spread(seconds)},
              {"pass_share_of_read_bandwidth", share(bytes, median(seconds), rates)}};
    if (!measured.drafts.empty()) add_rounds(step, measured, exit, bytes, rates);
    result["draft_steps"].push_back(std::move(step));
  }
}

double Benchmark::draft_step_seconds(const Measured& measured, std::int32_t exit) const {
  return measured.drafts.empty() ? median(measured.by_exit.at(exit))
                                 : fit_of(measured, exit).draft_step_seconds;
}

void Benchmark::add_speculation(json& result, const Measured& measured) const {
  result["layerskip"] = json::array();
  for (const auto& [exit, decodes] : measured.layerskip) {
    // c and v come from steps and passes measured separately, not from the rounds that they predict.
    const double one = median(measured.by_width.at(1));
    const double c = draft_step_seconds(measured, exit) / one;
    const double v = median(ratios(measured.by_width.at(options_.gamma + 1), measured.by_width.at(1)));
    std::vector<double> speedups, against_prediction, tokens_per_s, rounds_against_prediction;
    bool same_text = true;
    double prediction = 0.0;
    for (std::size_t i = 0; i < decodes.size(); ++i) {
      const Decoded& vanilla = measured.vanilla[i];
      const Decoded& decoded = decodes[i];
      const auto rounds = static_cast<double>(decoded.rounds);
      const double tokens = static_cast<double>(decoded.emitted) / rounds;
      prediction = tokens / (static_cast<double>(decoded.drafted) / rounds * c + v);
      speedups.push_back(vanilla.seconds_per_token / decoded.seconds_per_token);
      against_prediction.push_back(speedups.back() / prediction);
      // A second prediction uses the costs of the rounds themselves, as a recording has them.
      const double unit = vanilla.round_seconds / static_cast<double>(vanilla.rounds);
      const double cost = (decoded.draft_seconds + decoded.verify_seconds) / rounds / unit;
      rounds_against_prediction.push_back(speedups.back() / (tokens / cost));
      tokens_per_s.push_back(1.0 / decoded.seconds_per_token);
      same_text = same_text && vanilla.tokens == decoded.tokens;
    }
    const Decoded& last = decodes.back();  // In greedy decoding all decodes have the same rounds.
    result["layerskip"].push_back(
        {{"exit", exit},
         {"gamma", options_.gamma},
         {"acceptance_rate",
          static_cast<double>(last.accepted) / static_cast<double>(std::max<std::int64_t>(last.drafted, 1))},
         {"emitted_tokens_per_round", static_cast<double>(last.emitted) / static_cast<double>(last.rounds)},
         {"draft_cost_coefficient", c},
         {"verify_cost", v},
         {"tokens_per_s", spread(tokens_per_s)},
         {"speedup", spread(speedups)},
         {"predicted_speedup", prediction},
         {"speedup_against_prediction", spread(against_prediction)},
         {"speedup_against_costs_of_its_rounds", spread(rounds_against_prediction)},
         {"same_text_as_vanilla", same_text}});
  }
}

}  // namespace draftscope::bench
