// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/slow_baseline.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explain/evidence.h"
#include "analysis/explain/phrases.h"
#include "analysis/explain/thresholds.h"

namespace draftscope::simulator {

namespace {

/// Kind of target passes: number of rows, and whether a device gets them together with a draft.
using TargetPassKind = std::pair<std::int32_t, bool>;

/// Times of a run's target passes; passes that were not measured are left out.
std::map<TargetPassKind, std::vector<double>> passes_by_kind(const RunRows& run, bool on_device) {
  std::map<TargetPassKind, std::vector<double>> passes;
  for (const RequestRows& request : run.requests)
    for (const traces::Round& round : request.rounds)
      if (round.verify_rows > 0 && round.verify_ns > 0)
        passes[{round.verify_rows, on_device && !round.layer_set_id.is_none()}].push_back(
            static_cast<double>(round.verify_ns));
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

}  // namespace

TargetPasses target_passes(std::span<const RunRows> runs, const Figures* vanilla, const traces::Meta& meta) {
  const bool on_device = is_gpu_recording(meta);
  const double launch_ns = idle_device_ns(vanilla).value_or(thresholds::device_launch_ns);
  TargetPasses found;
  for (const RunRows& run : runs) {
    const bool is_vanilla = vanilla != nullptr && run.run == vanilla->run;
    if (is_vanilla) found.vanilla = &run;
    for (auto& [kind, times] : passes_by_kind(run, on_device)) {
      if (times.size() < thresholds::min_rounds_of_kind) continue;
      const auto [rows, is_with_draft] = kind;
      const CheapestVerification of{run.run, rows, speculation::spread_of(std::move(times)),
                                    is_with_draft ? launch_ns : 0.0};
      if (rows > 1 && (!found.cheapest || of.by_itself_ns() < found.cheapest->by_itself_ns()))
        found.cheapest = of;
      if (rows == 1 && is_vanilla) found.step_ns = of.ns;
    }
  }
  return found;
}

bool TargetPasses::is_step_slow() const {
  return cheapest && cheapest->ns.high + cheapest->launch_ns < step_ns.low &&
         cheapest->by_itself_ns() < (1.0 - thresholds::min_cost_share) * step_ns.median;
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
  if (passes.vanilla == nullptr) return unjudged("there is no finished vanilla run to compare it with");
  if (passes.step_ns.samples == 0 || !passes.cheapest)
    return unjudged(fmt::format("it has no {} verifications over equally many rows beside {} vanilla steps",
                                thresholds::min_rounds_of_kind, thresholds::min_rounds_of_kind));
  if (!passes.is_step_slow()) return {};
  const CheapestVerification& cheapest = *passes.cheapest;
  const std::string whose =
      cheapest.run == of.figures.run ? std::string() : " under " + cheapest.run->specification;
  return {.outcome = Judgement::Outcome::found,
          .figure = cheapest.ns.median / passes.step_ns.median,
          .threshold = 1.0 - thresholds::min_cost_share - cheapest.launch_ns / passes.step_ns.median,
          .speedup_instead = speedup_over_fast_steps(of, cheapest.by_itself_ns()),
          .values = {{"ratio", amount_text(cheapest.ns.median / passes.step_ns.median)},
                     {"rows", std::to_string(cheapest.rows)},
                     {"pass", duration_text(cheapest.ns.median, Characters::ascii)},
                     {"run", whose},
                     {"step", duration_text(passes.step_ns.median, Characters::ascii)}}};
}

}  // namespace draftscope::simulator
