// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/objections.h"

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "analysis/explain/slow_baseline.h"

namespace draftscope::simulator {

namespace {

std::string range(const Interval& interval) {
  return fmt::format("{:.2f} to {:.2f}", interval.low, interval.high);
}

/// Why there is no interval; never empty, since an empty reason is no objection.
std::string missing_interval(const RatioEstimate& estimate) {
  return estimate.no_interval_reason.empty() ? "there is no interval" : estimate.no_interval_reason;
}

std::string nothing_is_faster(const AdviceGrounds& of) {
  if (of.advice.speedup > 1.0) return {};
  std::string reason = fmt::format("no candidate of {} is faster than vanilla: the fastest, {}, gives {:.2f}",
                                   of.advice.considered, of.advice.fastest, of.advice.speedup);
  if (of.not_considered)
    reason += fmt::format("; {}, which is no candidate, was recorded with {:.2f}",
                          of.not_considered->strategy, of.not_considered->speedup);
  return reason;
}

std::string step_is_slow(const AdviceGrounds& of) {
  return of.slow_baseline;
}

std::string interval_is_below_1(const AdviceGrounds& of) {
  const auto& interval = of.advice.interval_95;
  if (!interval || interval->high > 1.0) return {};
  return fmt::format("{} gives {} (95 %)", of.advice.fastest, range(*interval));
}

std::string there_is_no_interval(const AdviceGrounds& of) {
  return of.advice.interval_95 ? std::string() : missing_interval(of.advice.answer.speedup.min_drafted.total);
}

std::string there_is_no_interval_elsewhere(const AdviceGrounds& of) {
  const RatioEstimate& held_out = of.advice.held_out.speedup;
  return held_out.interval_95 ? std::string() : missing_interval(held_out);
}

std::string gain_is_gone_elsewhere(const AdviceGrounds& of) {
  const RatioEstimate& held_out = of.advice.held_out.speedup;
  if (held_out.value > 1.0) return {};
  return fmt::format("chosen on some prompts and judged on others, the gain is gone: {:.2f}", held_out.value);
}

std::string model_is_another(const AdviceGrounds& of) {
  if (of.asked_model == of.recorded_model) return {};
  return fmt::format("what {} would accept is not in a recording of {}", of.asked_model, of.recorded_model);
}

std::string was_measured_otherwise(const AdviceGrounds& of) {
  const auto& measured = of.advice.measured;
  if (!measured || measured->run.speedup > 1.0) return {};
  return fmt::format("it was recorded, with {:.2f} in place of the predicted {:.2f}", measured->run.speedup,
                     of.advice.speedup);
}

std::string interval_includes_1(const AdviceGrounds& of) {
  const auto& interval = of.advice.interval_95;
  if (!interval || interval->low > 1.0) return {};
  return fmt::format("the gain's 95 % interval includes 1: {}", range(*interval));
}

std::string interval_includes_1_elsewhere(const AdviceGrounds& of) {
  const auto& interval = of.advice.held_out.speedup.interval_95;
  if (!interval || interval->low > 1.0) return {};
  return fmt::format("on prompts it was not chosen on, its 95 % interval includes 1: {}", range(*interval));
}

constexpr std::array objections{
    ObjectionRow{"nothing_is_faster", Verdict::do_not_speculate, nothing_is_faster},
    ObjectionRow{"step_is_slow", Verdict::measure_first, step_is_slow},
    ObjectionRow{"interval_is_below_1", Verdict::do_not_speculate, interval_is_below_1},
    ObjectionRow{"there_is_no_interval", Verdict::measure_first, there_is_no_interval},
    ObjectionRow{"there_is_no_interval_elsewhere", Verdict::measure_first, there_is_no_interval_elsewhere},
    ObjectionRow{"gain_is_gone_elsewhere", Verdict::do_not_speculate, gain_is_gone_elsewhere},
    ObjectionRow{"model_is_another", Verdict::measure_first, model_is_another},
    ObjectionRow{"was_measured_otherwise", Verdict::measure_first, was_measured_otherwise},
    ObjectionRow{"interval_includes_1", Verdict::measure_first, interval_includes_1},
    ObjectionRow{"interval_includes_1_elsewhere", Verdict::measure_first, interval_includes_1_elsewhere}};

}  // namespace

std::span<const ObjectionRow> objection_table() {
  return objections;
}

std::string slow_baseline_reason(const traces::Recording& recording, double speedup) {
  const std::vector<RunRows> runs = rows_by_run(recording);
  const RunRows* vanilla = baseline_of(runs);
  if (vanilla == nullptr) return {};
  Figures figures;
  figures.run = vanilla->run;
  const TargetPasses passes = target_passes(runs, &figures, recording.meta);
  if (!passes.is_step_slow()) return {};
  const TimedPasses& fast = *passes.cheapest();
  if (speedup * fast.by_itself_ns() > passes.step_ns.median) return {};
  return fmt::format("vanilla steps are slow here: one row takes {}, {} rows take {} under {}",
                     duration_text(passes.step_ns.median, Characters::ascii), fast.rows,
                     duration_text(fast.ns.median, Characters::ascii), fast.run->specification);
}

void judge(Advice& advice, const AdviceGrounds& grounds) {
  advice.verdict = Verdict::speculate;
  for (const ObjectionRow& row : objections) {
    advice.reason = row.reason(grounds);
    if (advice.reason.empty()) continue;
    advice.verdict = row.verdict;
    break;
  }
  if (advice.verdict == Verdict::speculate)
    advice.reason = fmt::format("faster than vanilla: {} (95 %)", range(*advice.interval_95));
  advice.strategy = advice.verdict == Verdict::speculate ? advice.fastest : "vanilla";
}

}  // namespace draftscope::simulator
