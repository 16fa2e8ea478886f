// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording that was read and used for training.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/speculation/published_models.h>
#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "../../../temporary_folder.h"
#include "shadowed_recording.h"

namespace draftscope::simulator {

class Learnt {
 public:
  using Change = std::function<void(traces::Recording&)>;

  /// The recording is trained on after `change`.
  explicit Learnt(const ShadowedRecording& what, const Change& change = {}) {
    const test::TemporaryFolder folder;
    write_shadowed_recording(what, folder / "trace.dstrace");
    *this = from_file(folder / "trace.dstrace", change);
  }
  [[nodiscard]] static Learnt from_file(const std::filesystem::path& file, const Change& change = {}) {
    auto reader = traces::Reader::open(file).value();
    auto recording = std::make_unique<traces::Recording>(reader.recording().value());
    if (change) change(*recording);
    auto what_if = std::make_unique<WhatIf>(WhatIf::train(reader, *recording).value());
    return {std::move(recording), std::move(what_if)};
  }

  [[nodiscard]] const WhatIf& what_if() const { return *what_if_; }
  [[nodiscard]] const traces::Recording& recording() const { return *recording_; }
  [[nodiscard]] Machine machine() const { return {"as recorded", what_if_->recorded_scenario()}; }

 private:
  Learnt(std::unique_ptr<traces::Recording> recording, std::unique_ptr<WhatIf> what_if)
      : recording_(std::move(recording)), what_if_(std::move(what_if)) {}

  std::unique_ptr<traces::Recording> recording_;
  std::unique_ptr<WhatIf> what_if_;
};

/// The recorded engine on another GPU, with another model if one is named.
inline Machine on_gpu(const Learnt& learnt, const char* gpu, const char* model = nullptr) {
  Machine machine{gpu, learnt.what_if().recorded_scenario()};
  machine.scenario.gpu = find_gpu(gpu).value();
  if (model != nullptr) machine.scenario.shape = speculation::find_model_shape(model).value();
  return machine;
}

// Answers and predicted speedups of the tests' recordings. The rounds must have the machine's shape; those of
// a strategy are given it.

inline Answer answer_of(const Learnt& learnt, const StrategyRounds& rounds, const Machine& machine) {
  auto answer = ask(learnt.what_if().costs().model, rounds, machine, {.draws = 200});
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *std::move(answer) : Answer{};
}

inline Answer answer_of(const Learnt& learnt, const std::string& strategy, const Machine& machine) {
  auto rounds = learnt.what_if().rounds(strategy, machine);
  EXPECT_TRUE(rounds) << rounds.error().message;
  if (!rounds) return {};
  const ModelShape& recorded = learnt.what_if().costs().model.shape;
  return answer_of(learnt, for_shape(*std::move(rounds), recorded, machine.scenario.shape), machine);
}

inline double speedup(const Learnt& learnt, const StrategyRounds& rounds, const Machine& machine) {
  return answer_of(learnt, rounds, machine).speedup.min_drafted.value;
}

inline double speedup(const Learnt& learnt, const std::string& strategy) {
  const auto rounds = learnt.what_if().rounds(strategy);
  EXPECT_TRUE(rounds) << rounds.error().message;
  return rounds ? speedup(learnt, *rounds, learnt.machine()) : 0.0;
}

}  // namespace draftscope::simulator
