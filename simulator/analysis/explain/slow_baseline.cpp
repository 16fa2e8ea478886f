// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/slow_baseline.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/what_is_traced.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/explain/evidence.h"
#include "analysis/explain/thresholds.h"
#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

/// Kind of target passes: number of rows, whether a device gets them together with a draft, first layer.
using TargetPassKind = std::tuple<std::int32_t, bool, std::int32_t>;

/// Times of a run's target passes; passes that were not measured are left out.
std::map<TargetPassKind, std::vector<double>> passes_by_kind(const RunRows& run, bool on_device) {
  std::map<TargetPassKind, std::vector<double>> passes;
  const bool above_exit = verifies_above_exit(*run.run);
  for (const RequestRows& request : run.requests)
    for (const traces::Round& round : request.rounds)
      if (round.verify_rows > 0 && round.verify_ns > 0)
        passes[{round.verify_rows, on_device && !round.layer_set_id.is_none(),
                above_exit ? round.exit_layer : 0}]
            .push_back(static_cast<double>(round.verify_ns));
  return passes;
}

/// The run's speedup if no pass over one row took longer than the cheapest verification, both in vanilla
/// decoding and in the run's rounds. Draft steps stay unchanged. Absent where there is no speedup.
std::optional<double> speedup_over_fast_steps(const Evidence& of, double limit_ns) {
  const RoundAccount& round = of.round;
  if (!round.speedup || !(round.unit_ns > 0.0)) return std::nullopt;
  const double step_ns = round.unit_ns - excess_ns_per_round(*of.passes.vanilla, limit_ns);
  const double round_ns = *round.takes * round.unit_ns - excess_ns_per_round(of.rows, limit_ns);
  if (!(step_ns > 0.0) || !(round_ns > 0.0)) return std::nullopt;
  return *round.yields * step_ns / round_ns;
}

/// The values of both sentences about a verification of `ns` that took less than a step.
std::vector<std::pair<std::string, std::string>> values_of(const Evidence& of, double rows, double ns,
                                                           double step_ns) {
  const std::string launched = how_launched(of.meta);
  const bool is_whole = rows == std::floor(rows);
  return {{"ratio", amount_text(ns / step_ns)},
          {"rows", is_whole ? fmt::format("{:.0f}", rows) : amount_text(rows)},
          {"pass", duration_text(ns, Characters::ascii)},
          {"step", duration_text(step_ns, Characters::ascii)},
          {"launched", launched.empty() ? launched : " (launched: " + launched + ")"}};
}

/// Steps that a round took beside a fair baseline at least, but for what repeats differ by.
constexpr double min_fair_takes = 1.0 - thresholds::min_cost_share;

}  // namespace

TargetPasses target_passes(std::span<const RunRows> runs, const traces::Run* vanilla,
                           const DeviceTime& vanilla_device, const traces::Meta& meta) {
  const bool on_device = is_gpu_recording(meta);
  const double launch_ns = idle_device_ns(vanilla_device).value_or(thresholds::device_launch_ns);
  TargetPasses found;
  for (const RunRows& run : runs) {
    const bool is_vanilla = run.run == vanilla;
    if (is_vanilla) found.vanilla = &run;
    for (auto& [kind, times] : passes_by_kind(run, on_device)) {
      if (times.size() < thresholds::min_rounds_of_kind) continue;
      const auto [rows, is_with_draft, first_layer] = kind;
      const auto passes = static_cast<std::int64_t>(times.size());
      const TimedPasses of{.run = run.run,
                           .rows = rows,
                           .first_layer = first_layer,
                           .passes = passes,
                           .ns = speculation::spread_of(std::move(times)),
                           .launch_ns = is_with_draft ? launch_ns : 0.0};
      if (rows > 1) found.verifications.push_back(of);
      if (rows == 1 && is_vanilla) found.step_ns = of.ns;
    }
  }
  return found;
}

const TimedPasses* TargetPasses::cheapest() const {
  const auto found = std::ranges::min_element(verifications, {}, &TimedPasses::by_itself_ns);
  return found == verifications.end() ? nullptr : &*found;
}

double TimedPasses::launch_ns_beside(const TimedPasses& other) const {
  return other.launch_ns > 0.0 ? 0.0 : launch_ns;
}

const TimedPasses* TargetPasses::cheaper_than(const TimedPasses& narrow) const {
  const TimedPasses* cheapest = nullptr;
  double cheapest_ns = narrow.ns.median;
  for (const TimedPasses& pass : verifications) {
    const double ns = pass.ns.median + pass.launch_ns_beside(narrow);
    if (pass.rows <= narrow.rows || pass.first_layer > narrow.first_layer || !(ns < cheapest_ns)) continue;
    cheapest = &pass;
    cheapest_ns = ns;
  }
  return cheapest;
}

bool TargetPasses::is_step_slow() const {
  const TimedPasses* fastest = cheapest();
  return fastest != nullptr && fastest->ns.high + fastest->launch_ns < step_ns.low &&
         fastest->by_itself_ns() < (1.0 - thresholds::min_cost_share) * step_ns.median;
}

double excess_ns_per_round(const RunRows& run, double limit_ns) {
  double excess_ns = 0.0;
  double rounds = 0.0;
  for (const RequestRows& request : run.requests)
    for (const traces::Round& round : request.rounds) {
      rounds += 1.0;
      if (round.verify_rows == 1) excess_ns += std::max(0.0, static_cast<double>(round.verify_ns) - limit_ns);
    }
  return rounds > 0.0 ? excess_ns / rounds : 0.0;
}

Judgement judge_slow_baseline(const Evidence& of) {
  const TargetPasses& passes = of.passes;
  if (passes.vanilla == nullptr) return no_vanilla_step(of);
  const TimedPasses* const cheapest = passes.cheapest();
  if (passes.step_ns.samples == 0 || cheapest == nullptr)
    return unjudged(fmt::format("it has no {} verifications over equally many rows beside {} vanilla steps",
                                thresholds::min_rounds_of_kind, thresholds::min_rounds_of_kind));
  if (!passes.is_step_slow()) return {};
  const double step_ns = passes.step_ns.median;
  Judgement found{.outcome = Judgement::Outcome::found,
                  .figure = cheapest->ns.median / step_ns,
                  .threshold = min_fair_takes - cheapest->launch_ns / step_ns,
                  .speedup_instead = speedup_over_fast_steps(of, cheapest->by_itself_ns()),
                  .values = values_of(of, static_cast<double>(cheapest->rows), cheapest->ns.median, step_ns)};
  const bool is_own = cheapest->run == of.figures.run;
  found.values.emplace_back("run", is_own ? std::string() : " under " + cheapest->run->specification);
  return found;
}

Judgement judge_slow_baseline_mean(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.speedup) return no_vanilla_step(of);
  if (!round.parts) return unjudged("how a round's time splits is not in the recording");
  if (!round.rows) return unjudged("the rows of a verification are not in the recording");
  const bool is_found =
      *round.rows > 1.0 && round.rounds >= thresholds::min_rounds && *round.takes < min_fair_takes;
  if (!is_found) return {};
  return {.outcome = Judgement::Outcome::found,
          .figure = *round.takes,
          .threshold = min_fair_takes,
          .speedup_instead = *round.speedup * round.parts->verify,
          .values = values_of(of, *round.rows, round.parts->verify * round.unit_ns, round.unit_ns)};
}

bool is_slowed_by_interruptions(const Evidence& of) {
  const std::optional<double> takes = uninterrupted_takes(of);
  return takes && *takes >= min_fair_takes;
}

bool is_slow_by_itself(const Evidence& of) {
  return !is_slowed_by_interruptions(of);
}

Judgement judge_narrow_pass_slow(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.parts || !(round.unit_ns > 0.0))
    return unjudged("how a round's time splits is not in the recording");
  const TimedPasses* narrow = nullptr;
  const TimedPasses* wide = nullptr;
  double cost = 0.0;
  double most = 0.0;
  for (const TimedPasses& pass : of.passes.verifications) {
    if (pass.run != of.figures.run) continue;
    const TimedPasses* const wider = of.passes.cheaper_than(pass);
    if (wider == nullptr) continue;
    const double launch_ns = wider->launch_ns_beside(pass);
    if (!(wider->ns.high + launch_ns < pass.ns.low)) continue;
    const double share = static_cast<double>(pass.passes) / static_cast<double>(round.rounds);
    const double steps = share * (pass.ns.median - wider->ns.median - launch_ns) / round.unit_ns;
    cost += steps;
    if (steps <= most) continue;
    most = steps;
    narrow = &pass;
    wide = wider;
  }
  if (narrow == nullptr || !(cost >= thresholds::min_cost_share * *round.takes)) return {};
  const bool is_own = wide->run == of.figures.run;
  return {.outcome = Judgement::Outcome::found,
          .figure = narrow->ns.median / wide->ns.median,
          .threshold = 1.0,
          .cost = cost,
          .values = {{"rows", std::to_string(narrow->rows)},
                     {"pass", duration_text(narrow->ns.median, Characters::ascii)},
                     {"wide", std::to_string(wide->rows)},
                     {"less", duration_text(wide->ns.median, Characters::ascii)},
                     {"run", is_own ? std::string() : " under " + wide->run->specification}}};
}

}  // namespace draftscope::simulator
