// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One question to a simulator that has learnt what it may know, beside the measured answer.

#include <draftscope/simulator/answers/checked_answer.h>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// A measured run, perhaps only a part of its requests, with vanilla's on the same prompts.
struct AskedRun {
  QuestionKind kind = QuestionKind::recorded_again;
  RunRows baseline;
  RunRows run;
};

/// Where the question is about another model or machine than the learnt one.
struct Elsewhere {
  QuestionKind kind = QuestionKind::recorded_again;  ///< that, unseen_shape or unseen_machine
  std::optional<ModelShape> shape;
  std::optional<WeightType> weights;
  std::optional<GpuSpecification> gpu;
  std::vector<std::string> notes;  ///< what differs, a line each
};

/// Errors: no model shape in the asked recording's meta, another GPU that is not known, a CPU after a GPU.
[[nodiscard]] Result<Elsewhere> elsewhere_of(const traces::Meta& learnt, const traces::Meta& asked);

/// Absent if nothing was measured: no finished request that vanilla decoded too. What was not learnt is an
/// answer with a refusal. `learnt` is what `what_if` learnt from.
[[nodiscard]] std::optional<CheckedAnswer> ask_question(const Result<WhatIf>& what_if,
                                                        const traces::Recording& learnt,
                                                        const AskedRun& question, const Elsewhere& elsewhere,
                                                        const SweepOptions& draws);

}  // namespace draftscope::simulator
