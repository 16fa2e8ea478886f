// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One question to a trained simulator, compared with the measured answer.

#include <draftscope/simulator/answers/checked_answer.h>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// A measured run, possibly only a part of its requests, with vanilla's on the same prompts.
struct AskedRun {
  QuestionKind kind = QuestionKind::recorded_again;
  RunRows baseline;
  RunRows run;
};

/// Difference of a question's model or machine from the trained one.
struct Elsewhere {
  QuestionKind kind = QuestionKind::recorded_again;  ///< One of recorded_again, unseen_shape, unseen_machine.
  std::optional<ModelShape> shape;
  std::optional<WeightType> weights;
  std::optional<GpuSpecification> gpu;
  std::optional<HostTime> host;    ///< The engine of the asked recording, if it is of another GPU.
  std::vector<std::string> notes;  ///< Differences, one line each.
};

/// Errors: no model shape in the asked recording's meta, another GPU that is not known, a CPU after a GPU.
[[nodiscard]] Result<Elsewhere> elsewhere_of(const traces::Meta& learnt, const traces::Meta& asked);

/// Absent if nothing was measured: no finished request that vanilla decoded too. If training failed, the
/// answer is a refusal. `learnt` is the recording that `what_if` was trained on.
[[nodiscard]] std::optional<CheckedAnswer> ask_question(const Result<WhatIf>& what_if,
                                                        const traces::Recording& learnt,
                                                        const AskedRun& question, const Elsewhere& elsewhere,
                                                        const SweepOptions& draws);

}  // namespace draftscope::simulator
