// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/verdict.h"

#include <fmt/format.h>

#include <utility>

namespace draftscope::simulator {

namespace {

struct Judgement {
  Verdict verdict = Verdict::speculate;
  std::string reason;
};

std::string range(const Interval& interval) {
  return fmt::format("{:.2f} to {:.2f}", interval.low, interval.high);
}

/// The first thing that speaks against it.
Judgement judgement(const Advice& advice, const ModelShape& recorded, const ModelShape& asked) {
  const std::string& fastest = advice.fastest;
  const RatioEstimate& held_out = advice.held_out.speedup;
  if (!(advice.speedup > 1.0))
    return {Verdict::do_not_speculate,
            fmt::format("nothing is faster than vanilla: the fastest of {} candidates, {}, gives {:.2f}",
                        advice.considered, fastest, advice.speedup)};
  if (advice.interval_95 && !(advice.interval_95->high > 1.0))
    return {Verdict::do_not_speculate,
            fmt::format("{} gives {} (95 %)", fastest, range(*advice.interval_95))};
  if (!advice.interval_95)
    return {Verdict::measure_first, advice.answer.speedup.min_drafted.total.no_interval_reason};
  if (!held_out.interval_95) return {Verdict::measure_first, held_out.no_interval_reason};
  if (!(held_out.value > 1.0))
    return {
        Verdict::do_not_speculate,
        fmt::format("chosen on some prompts and judged on others, the gain is gone: {:.2f}", held_out.value)};
  if (asked.name != recorded.name)
    return {Verdict::measure_first,
            fmt::format("what {} would accept is not in a recording of {}", asked.name, recorded.name)};
  if (!(advice.interval_95->low > 1.0))
    return {Verdict::measure_first,
            fmt::format("the gain's 95 % interval includes 1: {}", range(*advice.interval_95))};
  if (!(held_out.interval_95->low > 1.0))
    return {Verdict::measure_first,
            fmt::format("on prompts it was not chosen on, its 95 % interval includes 1: {}",
                        range(*held_out.interval_95))};
  return {Verdict::speculate, fmt::format("faster than vanilla: {} (95 %)", range(*advice.interval_95))};
}

}  // namespace

void judge(Advice& advice, const ModelShape& recorded, const ModelShape& asked) {
  Judgement judged = judgement(advice, recorded, asked);
  advice.verdict = judged.verdict;
  advice.reason = std::move(judged.reason);
  advice.strategy = advice.verdict == Verdict::speculate ? advice.fastest : "vanilla";
}

}  // namespace draftscope::simulator
