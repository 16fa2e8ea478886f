// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/measure_calibration.h>

#include <draftscope/base/clock.h>
#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "calibration/kernel_samples.h"
#include "calibration/memory_probe.h"
#include "calibration/pass_times.h"

namespace draftscope::engine {

namespace {

using speculation::DraftSublayers;
using speculation::KernelForm;
using speculation::KernelKind;

/// Rounds of the decode loop itself. They give target steps, drafts and verifications as in recordings, and
/// the time of a round outside its passes.
struct CalibrationRounds {
  std::string strategy = "vanilla";  ///< a strategy with early exits, or vanilla
  std::int32_t draft_length = 0;     ///< rounds with another number of draft tokens are ignored
  std::int32_t max_tokens = 8;
};

class RoundTimes final : public DecodeListener {
 public:
  RoundTimes(std::int32_t n_layers, std::int32_t draft_length, KernelSamples& samples)
      : all_{n_layers, n_layers}, draft_length_(draft_length), samples_(samples) {}

  void on_round(const RoundReport& report) override {
    const traces::Round& round = report.round;
    if (round.index == 0 || round.drafted != draft_length_) return;
    const double root = round.root_position;
    const bool drafts = round.drafted > 0;
    samples_.add(
        {.kind = KernelKind::target_pass, .sublayers = all_, .rows = round.verify_rows, .context = root},
        static_cast<double>(round.verify_ns));
    if (drafts)
      samples_.add({.kind = KernelKind::draft_step,
                    .sublayers = {round.exit_layer, round.exit_layer},
                    .context = root + 0.5 * (round.drafted - 1)},
                   static_cast<double>(round.draft_ns) / round.drafted);
    const std::int64_t rest_ns =
        round.end_ns - round.start_ns - round.draft_ns - round.verify_ns - round.optimise_ns;
    samples_.add({.kind = drafts ? KernelKind::drafting_round : KernelKind::step_round},
                 static_cast<double>(std::max<std::int64_t>(rest_ns, 1)));
  }

 private:
  DraftSublayers all_;
  std::int32_t draft_length_;
  KernelSamples& samples_;
};

/// Decodes a short text and adds its rounds, except the first, which follows the prefill.
Result<void> time_rounds(Backend& backend, const CalibrationRounds& rounds, KernelSamples& samples) {
  DRAFTSCOPE_TRY_ASSIGN(const ConfiguredStrategy strategy, make_strategy(rounds.strategy, backend.shape()));
  RoundTimes listener(backend.shape().n_layers, rounds.draft_length, samples);
  SeededChooser chooser(0, 0);  // Greedy decoding draws nothing.
  const std::array<std::int32_t, 4> prompt{1, 2, 3, 4};
  DRAFTSCOPE_TRY(
      decode(backend, *strategy.strategy,
             {.prompt = prompt, .max_new_tokens = rounds.max_tokens, .sampling = {}, .eos_tokens = {}},
             chooser, listener));
  return {};
}

constexpr double short_pass_ns = 5e6;

/// Number of times that a pass is timed in one repeat.
int times_in_a_block(double ns) {
  constexpr double block_ns = 2e7;
  constexpr double most = 20.0;
  return static_cast<int>(std::clamp(block_ns / ns, 1.0, most));
}

class Measurement {
 public:
  Measurement(Backend& backend, const CalibrationPlan& plan, std::unique_ptr<MemoryProbe> memory)
      : backend_(backend),
        plan_(plan),
        passes_(backend),
        memory_(std::move(memory)),
        on_cpu_(backend.describe().device == "cpu") {
    plan_forms();
  }

  Result<CalibrationTimes> run() {
    DRAFTSCOPE_TRY(passes_.fill_cache(plan_.contexts.back()));
    DRAFTSCOPE_TRY(repeat());  // uploads programs, touches pages, raises the clocks
    samples_ = {};
    times_ = {};
    while (!cancelled() && (times_.repeats < plan_.min_repeats || now_ns() < plan_.end_ns)) {
      DRAFTSCOPE_TRY(repeat());
      ++times_.repeats;
    }
    times_.kernels = samples_.kernels();
    times_.cancelled = cancelled();
    return std::move(times_);
  }

 private:
  void plan_forms() {
    const std::int32_t n_layers = backend_.shape().n_layers;
    const DraftSublayers all{n_layers, n_layers};
    const auto add = [&](const DraftSublayers& sublayers, std::int32_t rows, std::int32_t context) {
      forms_.push_back({.kind = KernelKind::target_pass,
                        .sublayers = sublayers,
                        .rows = rows,
                        .context = static_cast<double>(context)});
    };
    std::set<std::int32_t> rows;
    for (const std::int32_t width : plan_.rows) rows.insert(std::min(width, backend_.max_invariant_rows()));
    rows.insert(1);
    for (const std::int32_t width : rows) add(all, width, plan_.contexts.front());
    // Attention is a small part of a pass, and needs one row and several at each further context.
    constexpr std::int32_t several = 8;
    for (const std::int32_t context : std::span(plan_.contexts).subspan(1))
      for (const std::int32_t width : {1, std::min(several, *rows.rbegin())}) add(all, width, context);
    if (on_cpu_) return;
    // Without separate operations, the times of kernels follow from passes that leave parts out.
    for (const std::int32_t width : {1, std::min(several, *rows.rbegin())}) {
      add({n_layers, 0}, width, plan_.contexts.front());
      add({0, n_layers}, width, plan_.contexts.front());
    }
    add({0, 0}, 1, plan_.contexts.front());
  }

  [[nodiscard]] bool cancelled() const {
    return plan_.cancelled != nullptr && plan_.cancelled->load(std::memory_order_relaxed);
  }

  template <typename Time>
  Result<void> block(Time time, std::vector<double>& into) {
    if (cancelled()) return {};
    DRAFTSCOPE_TRY_ASSIGN(const double first, time());
    if (first > short_pass_ns) {
      into.push_back(first);
    } else {
      for (int i = times_in_a_block(first); i > 0; --i) {
        DRAFTSCOPE_TRY_ASSIGN(const double ns, time());
        into.push_back(ns);
      }
    }
    plan_.progress();
    return {};
  }

  Result<void> repeat() {
    for (const KernelForm& form : forms_) {
      std::vector<double> passes;
      DRAFTSCOPE_TRY(block([&] { return passes_.pass_ns(form); }, passes));
      for (const double ns : passes) samples_.add(form, ns);
      if (!on_cpu_ || cancelled()) continue;
      for (std::size_t i = 0; i < passes.size(); ++i) DRAFTSCOPE_TRY(passes_.time_operations(form, samples_));
      plan_.progress();
    }
    DRAFTSCOPE_TRY(block([&] { return passes_.empty_ns(); }, times_.empty_pass_ns));
    DRAFTSCOPE_TRY(rounds());
    if (cancelled()) return {};
    DRAFTSCOPE_TRY_ASSIGN(const double rate, memory_->gb_per_s());
    times_.memory_gb_s.push_back(rate);
    plan_.progress();
    // The probe has emptied the caches.
    return passes_.pass_ns(forms_.front()).map([](double) {});
  }

  Result<void> rounds() {
    const std::int32_t n_layers = backend_.shape().n_layers;
    const auto time = [&](const CalibrationRounds& these) -> Result<void> {
      if (cancelled()) return {};
      DRAFTSCOPE_TRY(time_rounds(backend_, these, samples_));
      plan_.progress();
      return {};
    };
    DRAFTSCOPE_TRY(time({.max_tokens = 10}));
    if (n_layers < 2) return {};
    const std::int32_t early = std::max(n_layers / 4, 1);
    const std::int32_t late = std::max(n_layers / 2, 1);
    const auto draft = [&](std::int32_t exit, std::int32_t gamma) {
      constexpr std::int32_t rounds_at_least = 4;
      return CalibrationRounds{
          .strategy = fmt::format("layerskip:exit={},gamma={},verify=all-layers", exit, gamma),
          .draft_length = gamma,
          .max_tokens = gamma + 1 + rounds_at_least};
    };
    DRAFTSCOPE_TRY(time(draft(early, 7)));
    return time(draft(late, 3));
  }

  Backend& backend_;
  const CalibrationPlan& plan_;
  CalibrationPasses passes_;
  std::unique_ptr<MemoryProbe> memory_;
  bool on_cpu_;
  std::vector<KernelForm> forms_;
  KernelSamples samples_;
  CalibrationTimes times_;
};

}  // namespace

Result<CalibrationTimes> measure_calibration(Backend& backend, const CalibrationPlan& plan) {
  const BackendDescription description = backend.describe();
  std::unique_ptr<MemoryProbe> memory;
  if (description.device == "cpu") {
    memory = make_cpu_memory_probe(description.threads);
  } else {
    DRAFTSCOPE_TRY_ASSIGN(memory, make_cuda_memory_probe());
  }
  return Measurement(backend, plan, std::move(memory)).run();
}

}  // namespace draftscope::engine
