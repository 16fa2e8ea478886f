// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/tpt_ladder.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace draftscope::simulator {

namespace {

constexpr auto modelled_rungs = static_cast<std::size_t>(Rung::recorded_run);
constexpr std::size_t rung_count = modelled_rungs + 1;

double layers_of(const LayerCounts& layers, std::int32_t exit) {
  if (layers.drafts.empty()) return exit;
  const auto place = static_cast<std::size_t>(exit);
  return place < layers.drafts.size() ? layers.drafts[place] : 0.0;
}

/// Prices with only the corrections up to `rung`.
Prices prices_at(Rung rung, const LadderInput& input) {
  const Prices& full = input.prices;
  if (rung == Rung::overhead) return full;
  const double parts_ns = input.parts.head_ns + input.parts.choice_ns;
  double kept_parts_ns = 0.0;
  if (rung >= Rung::head) kept_parts_ns += input.parts.head_ns;
  if (rung >= Rung::choice) kept_parts_ns += input.parts.choice_ns;
  const auto part_of = [&](const AffineTime& time) {
    return AffineTime{.ns = rung >= Rung::choice ? time.ns : time.ns - parts_ns + kept_parts_ns,
                      .ns_per_context_row = rung >= Rung::context ? time.ns_per_context_row : 0.0};
  };
  Prices prices;
  prices.target_step = part_of(full.target_step);
  prices.auxiliary.resize(full.auxiliary.size());
  prices.host_ratio = 0.0;
  const double model_layers = input.layers.model;
  for (std::size_t exit = 0; exit < full.drafts.size(); ++exit) {
    DraftPrices& draft = prices.drafts.emplace_back();
    draft.step = part_of(full.drafts[exit].step);
    if (rung == Rung::layer_count)
      draft.step.ns =
          prices.target_step.ns * layers_of(input.layers, static_cast<std::int32_t>(exit)) / model_layers;
    for (const AffineTime& verify : full.drafts[exit].verify)
      draft.verify.push_back(rung >= Rung::width ? part_of(verify) : prices.target_step);
    if (rung >= Rung::width) draft.planned_ns = full.drafts[exit].planned_ns;
  }
  return prices;
}

Result<void> check(const LadderInput& input) {
  const RoundStatistics& statistics = input.statistics;
  if (statistics.tokens < 1)
    return fail("tokens of the rounds: found {}, expected at least 1", statistics.tokens);
  // There is one step per token, and one for each text that ended at an end-of-sequence token.
  if (input.vanilla.passes < statistics.tokens || input.vanilla.passes > 2 * statistics.tokens)
    return fail("vanilla steps: found {}, expected one a token, {}, and at most one more for each text's end",
                input.vanilla.passes, statistics.tokens);
  DRAFTSCOPE_TRY(check_covered(statistics, input.prices));
  if (input.layers.model < 1)
    return fail("layers of the model: found {}, expected at least 1", input.layers.model);
  const PassParts& parts = input.parts;
  const double parts_ns = parts.head_ns + parts.choice_ns;
  const double target_ns = input.prices.target_step.ns;
  if (!(parts.head_ns >= 0.0 && parts.choice_ns >= 0.0 && parts_ns < target_ns && std::isfinite(target_ns)))
    return fail("head and choice of a pass: found {} and {} ns, expected both in a target step of {} ns",
                parts.head_ns, parts.choice_ns, target_ns);
  for (const DraftStatistics& draft : statistics.drafts) {
    const double layers = layers_of(input.layers, draft.exit);
    if (!(layers > 0.0 && layers <= input.layers.model))
      return fail("layers of a draft step at exit {}: found {}, expected above 0, to {}", draft.exit, layers,
                  input.layers.model);
    const double step_ns = input.prices.drafts[static_cast<std::size_t>(draft.exit)].step.ns;
    if (draft.steps.passes > 0 && !(step_ns >= parts_ns))
      return fail("draft step at exit {}: found {} ns, expected at least the {} ns of head and choice",
                  draft.exit, step_ns, parts_ns);
  }
  return {};
}

void add_shares(Ladder& ladder) {
  const double whole = std::log(ladder.back().speedup / ladder.front().speedup);
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    ladder[i].change = ladder[i].speedup - ladder[i - 1].speedup;
    ladder[i].factor = ladder[i].speedup / ladder[i - 1].speedup;
  }
  double largest = 0.0;
  for (const LadderRung& rung : ladder) largest = std::max(largest, std::abs(std::log(rung.factor)));
  // A share of a negligible change is meaningless.
  constexpr double min_change = 0.01;
  constexpr double max_shares = 2.0;
  if (std::abs(whole) < min_change || largest > max_shares * std::abs(whole)) return;
  for (LadderRung& rung : ladder) rung.share = std::log(rung.factor) / whole;
}

}  // namespace

Result<double> time_true_speedup(const RoundStatistics& statistics, double vanilla_ns, const Prices& prices) {
  DRAFTSCOPE_TRY(check_covered(statistics, prices));
  const double rounds_ns = time_ns(statistics, prices);
  for (const double ns : {rounds_ns, vanilla_ns})
    if (!(ns > 0.0 && std::isfinite(ns)))
      return fail("time of the rounds and of vanilla decoding: found {} and {} ns, expected both above 0",
                  rounds_ns, vanilla_ns);
  return vanilla_ns / rounds_ns;
}

std::string_view rung_name(Rung rung) {
  constexpr std::array<std::string_view, rung_count> names{
      "layer count", "layer time", "head", "choice", "width", "context", "overhead", "recorded run"};
  return names[static_cast<std::size_t>(rung)];
}

std::string_view rung_meaning(Rung rung) {
  constexpr std::array<std::string_view, rung_count> meanings{"time is loaded layers",
                                                              "layers take their own time",
                                                              "every pass reads the head",
                                                              "and chooses a token",
                                                              "verification is wider than a step",
                                                              "passes read the context",
                                                              "rounds do more than draft and verify",
                                                              "with what prices miss of it"};
  return meanings[static_cast<std::size_t>(rung)];
}

Result<Ladder> correction_ladder(const LadderInput& input) {
  DRAFTSCOPE_TRY(check(input));
  Ladder ladder;
  for (std::size_t i = 0; i < modelled_rungs; ++i) {
    const auto rung = static_cast<Rung>(i);
    const Prices prices = prices_at(rung, input);
    DRAFTSCOPE_TRY_ASSIGN(
        const double speedup,
        time_true_speedup(input.statistics, vanilla_time_ns(input.vanilla, prices), prices));
    ladder.push_back({.rung = rung, .speedup = speedup});
  }
  if (input.own_ratio)
    ladder.push_back({.rung = Rung::recorded_run, .speedup = ladder.back().speedup / *input.own_ratio});
  add_shares(ladder);
  return ladder;
}

std::optional<double> fixed_pass_ns(const Prices& prices, const LayerCounts& layers) {
  struct Point {
    double layers = 0.0;
    double ns = 0.0;
  };
  std::vector<Point> points{{static_cast<double>(layers.model), prices.target_step.ns}};
  for (std::size_t exit = 1; exit < prices.drafts.size(); ++exit) {
    const double count = layers_of(layers, static_cast<std::int32_t>(exit));
    if (count > 0.0) points.push_back({count, prices.drafts[exit].step.ns});
  }
  Point mean;
  for (const Point& point : points) {
    mean.layers += point.layers / static_cast<double>(points.size());
    mean.ns += point.ns / static_cast<double>(points.size());
  }
  double square = 0.0;
  double product = 0.0;
  for (const Point& point : points) {
    square += (point.layers - mean.layers) * (point.layers - mean.layers);
    product += (point.layers - mean.layers) * (point.ns - mean.ns);
  }
  if (square <= 0.0) return std::nullopt;
  return std::max(mean.ns - product / square * mean.layers, 0.0);
}

}  // namespace draftscope::simulator
