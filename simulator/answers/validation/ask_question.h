// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One question to a trained simulator, compared with the measured answer.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
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
                                                        const PredictionOptions& draws);

// Comparison of predicted rounds with recorded ones, per request, by their counts.

/// One request's predicted rounds: with the fewest draft tokens, and with the most. Both are equal where the
/// draft tokens are certain.
struct PredictedRequest {
  const traces::Prompt* prompt = nullptr;
  RoundStatistics least, most;
};

/// Compares requests of the same text, question and turn. Another recording may number its questions
/// otherwise: the text alone is sufficient where one prediction has it. Other requests are left out. The
/// result is not_compared if all are.
[[nodiscard]] RoundAgreement compare_rounds(std::span<const PredictedRequest> predicted,
                                            const RunRows& measured);

// A recording restricted to some of its requests, for training without the data that the prediction is
// checked against.

/// Selects requests, each with its run and prompt.
using RequestFilter = std::function<bool(const traces::Run&, const traces::Prompt&, const traces::Request&)>;

/// A copy with the requests that `keep` accepts, their rounds and draft tokens, and the runs that still have
/// a request; everything else is unchanged. Requests that refer to no run or prompt are left out. Readers of
/// spans, kernels or shadow tokens by this recording's requests leave out the others' too. O(rows).
[[nodiscard]] traces::Recording only_requests(const traces::Recording& recording, const RequestFilter& keep);

template <typename Keep>
[[nodiscard]] RunRows requests_where(const RunRows& run, const Keep& keep) {
  RunRows subset{run.run, {}, 0};
  std::copy_if(run.requests.begin(), run.requests.end(), std::back_inserter(subset.requests),
               [&](const RequestRows& rows) { return keep(*rows.request); });
  return subset;
}

[[nodiscard]] inline RunRows only_repeat(const RunRows& run, std::int32_t repeat) {
  return requests_where(run, [repeat](const traces::Request& request) { return request.repeat == repeat; });
}

}  // namespace draftscope::simulator
