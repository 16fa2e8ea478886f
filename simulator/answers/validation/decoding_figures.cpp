// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/checked_answer.h>

#include <set>

#include "answers/validation/ask_question.h"

namespace draftscope::simulator {

namespace {

/// Sum of times and of their divisors.
struct Mean {
  double sum_ns = 0.0;
  std::int64_t count = 0;

  void add(std::int64_t ns, std::int64_t of = 1) {
    sum_ns += static_cast<double>(ns);
    count += of;
  }
  [[nodiscard]] double value() const { return count > 0 ? sum_ns / static_cast<double>(count) : 0.0; }
};

void fill_times(MeasuredDecoding& figures, const RunRows& baseline, const RunRows& run) {
  Mean draft;
  Mean verify;
  std::int64_t rounds = 0;
  std::int64_t tokens = 0;
  for (const RequestRows& rows : run.requests)
    for (const traces::Round& round : rows.rounds) {
      ++rounds;
      tokens += round.emitted;
      // Tokens that no model drafted have no step.
      if (round.layer_set_id != 0 && round.tree_depth > 0) draft.add(round.draft_ns, round.tree_depth);
      verify.add(round.verify_ns);
    }
  figures.vanilla_step_ns = baseline_step_ns(run, baseline).value_or(0.0);
  figures.draft_step_ns = draft.value();
  figures.verify_ns = verify.value();
  figures.tokens_per_round = rounds > 0 ? static_cast<double>(tokens) / static_cast<double>(rounds) : 0.0;
  figures.vanilla_tokens_per_second = throughput(baseline).decode_tokens_per_second.value_or(0.0);
  figures.tokens_per_second = throughput(run).decode_tokens_per_second.value_or(0.0);
}

}  // namespace

Result<MeasuredDecoding> measured_decoding(const RunRows& baseline, const RunRows& run) {
  const Pairing pairing = pair_requests(Baseline(baseline), Comparison(run));
  const std::optional<Speedup> all = speedup(pairing);
  if (!all || !all->decode_value)
    return fail(
        "run {}: found no request to compare, expected a finished one of two tokens or more that vanilla "
        "decoded too",
        run.run->specification);
  MeasuredDecoding figures{.speedup = *all->decode_value, .by_repeat = {}, .prompts = all->prompts};
  std::set<std::int32_t> repeats;
  std::set<traces::RequestId> paired;
  for (const RequestPair& pair : pairing.pairs) {
    repeats.insert(pair.comparison->repeat);
    paired.insert(pair.baseline->id);
    paired.insert(pair.comparison->id);
  }
  for (const std::int32_t repeat : repeats) {
    const RunRows left = only_repeat(baseline, repeat);
    const RunRows right = only_repeat(run, repeat);
    const std::optional<Speedup> one = speedup(pair_requests(Baseline(left), Comparison(right)));
    if (one && one->decode_value) figures.by_repeat.push_back(*one->decode_value);
  }
  const auto is_paired = [&](const traces::Request& request) { return paired.contains(request.id); };
  fill_times(figures, requests_where(baseline, is_paired), requests_where(run, is_paired));
  return figures;
}

std::optional<double> relative_error(double predicted, double measured) {
  if (!(predicted > 0.0) || !(measured > 0.0)) return std::nullopt;
  return predicted / measured - 1.0;
}

}  // namespace draftscope::simulator
