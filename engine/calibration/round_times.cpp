// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/round_times.h"

#include <draftscope/engine/decode.h>

#include <algorithm>
#include <array>

namespace draftscope::engine {

namespace {

using speculation::DraftSublayers;
using speculation::KernelKind;

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

}  // namespace

Result<void> time_rounds(Backend& backend, const CalibrationRounds& rounds, KernelSamples& samples) {
  DRAFTSCOPE_TRY_ASSIGN(const ConfiguredStrategy strategy, make_strategy(rounds.strategy, backend.shape()));
  RoundTimes listener(backend.shape().n_layers, rounds.draft_length, samples);
  SeededChooser chooser(0, 0);  // greedy: draws nothing
  const std::array<std::int32_t, 4> prompt{1, 2, 3, 4};
  DRAFTSCOPE_TRY(
      decode(backend, *strategy.strategy,
             {.prompt = prompt, .max_new_tokens = rounds.max_tokens, .sampling = {}, .eos_tokens = {}},
             chooser, listener));
  return {};
}

}  // namespace draftscope::engine
